// SPDX-License-Identifier: GPL-2.0-only
#include "input_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <fstream>

#include <result/must.h>

namespace fuzz {
namespace {

constexpr uint32_t kLongest = 1 << 20;  // no input is

}  // namespace

InputLog::InputLog(const std::filesystem::path& directory) : directory_(directory) {
  if (directory_.empty()) return;
  std::filesystem::create_directories(directory_);
  fd_ = net::UniqueFd(
      open((directory_ / kName).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!fd_) throw result::SetupFailure("can't write " + directory_.string());
}

// It shall have left the kernel that is about to be attacked, whose cache dies with it. What lies
// below is the host's and stays, so that no disk need be waited for.
void InputLog::Append(const Input& input) {
  if (!fd_) return;
  const auto length = static_cast<uint32_t>(input.size());
  Input record(sizeof(length));
  std::memcpy(record.data(), &length, sizeof(length));
  record.insert(record.end(), input.begin(), input.end());
  if (pwrite(fd_.get(), record.data(), record.size(), static_cast<off_t>(size_)) < 0) return;
  size_ += record.size();
  (void)sync_file_range(
      fd_.get(), 0, 0,
      SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
}

void InputLog::Clear() {
  if (fd_ && ftruncate(fd_.get(), 0) == 0) size_ = 0;
}

void InputLog::Close() {
  if (!fd_ || size_ > 0) return;
  std::error_code error;
  std::filesystem::remove(directory_ / kName, error);
  std::filesystem::remove(directory_, error);
}

std::vector<Input> InputLog::Load(const std::filesystem::path& path) {
  std::vector<Input> inputs;
  std::ifstream file(path, std::ios::binary);
  for (uint32_t length; file.read(reinterpret_cast<char*>(&length), sizeof(length));) {
    if (length > kLongest) break;
    Input input(length);
    if (!file.read(reinterpret_cast<char*>(input.data()), static_cast<std::streamsize>(length)))
      break;
    inputs.push_back(std::move(input));
  }
  return inputs;
}

}  // namespace fuzz
