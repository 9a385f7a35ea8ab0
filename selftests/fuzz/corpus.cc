// SPDX-License-Identifier: GPL-2.0-only
#include "corpus.h"

#include <algorithm>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include "input_log.h"

namespace fuzz {
namespace {

// FNV-1a.
uint64_t Hash(const Input& input) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const uint8_t byte : input) hash = (hash ^ byte) * 0x100000001b3;
  return hash;
}

}  // namespace

std::vector<Input> LoadCorpus(const std::filesystem::path& directory) {
  // One after the other, as they ran when it broke.
  if (std::filesystem::exists(directory / InputLog::kName))
    return InputLog::Load(directory / InputLog::kName);
  std::vector<Input> inputs;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    std::ifstream file(entry.path(), std::ios::binary);
    inputs.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  std::ranges::sort(inputs, [](const Input& a, const Input& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  });
  return inputs;
}

void SaveInput(const std::filesystem::path& directory, const Input& input) {
  std::filesystem::create_directories(directory);
  std::ofstream file(directory / fmt::format("{:016x}", Hash(input)), std::ios::binary);
  file.write(reinterpret_cast<const char*>(input.data()),
             static_cast<std::streamsize>(input.size()));
}

}  // namespace fuzz
