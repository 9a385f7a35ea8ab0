// SPDX-License-Identifier: GPL-2.0-only
#include "size.h"

#include <sstream>

#include <fmt/format.h>

namespace srnbench {

std::string SizeName(size_t bytes) {
  constexpr size_t kKibi = 1024, kMebi = kKibi * kKibi;

  if (bytes >= kMebi && bytes % kMebi == 0) return fmt::format("{} MiB", bytes / kMebi);
  if (bytes >= kKibi && bytes % kKibi == 0) return fmt::format("{} KiB", bytes / kKibi);
  return fmt::format("{} B", bytes);
}

std::optional<size_t> SizeOf(const std::string& name) {
  std::istringstream words(name);
  size_t bytes;
  std::string unit;

  if (!(words >> bytes >> unit)) return std::nullopt;
  bytes *= unit == "MiB" ? 1 << 20 : unit == "KiB" ? 1 << 10 : 1;
  // Neither another unit nor anything behind it.
  if (SizeName(bytes) != name) return std::nullopt;
  return bytes;
}

std::vector<size_t> CurveSizes(size_t most) {
  std::vector<size_t> sizes;

  for (size_t bytes = 2; bytes < most; bytes *= 8) sizes.push_back(bytes);
  sizes.push_back(most);
  return sizes;
}

}  // namespace srnbench
