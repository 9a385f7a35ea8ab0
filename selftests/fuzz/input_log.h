// SPDX-License-Identifier: GPL-2.0-only
// The inputs since the last check that was good, in their order, in one file that is there whatever
// becomes of the kernel: each is written down before it runs.
#pragma once

#include <filesystem>
#include <vector>

#include <net/fd.h>

#include "source.h"

namespace fuzz {

class InputLog {
 public:
  // In this directory; without one nothing is written.
  explicit InputLog(const std::filesystem::path& directory);

  void Append(const Input& input);
  // All was well: they need not be kept.
  void Clear();
  // The last word: without inputs there is no file, nor the directory.
  void Close();

  // The inputs of such a file, nothing of one that was written in part.
  static std::vector<Input> Load(const std::filesystem::path& file);
  // What it is called.
  static constexpr char kName[] = "inputs";

 private:
  std::filesystem::path directory_;
  net::UniqueFd fd_;
  size_t size_ = 0;  // of the file
};

}  // namespace fuzz
