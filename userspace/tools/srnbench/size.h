// SPDX-License-Identifier: GPL-2.0-only
// Sizes of messages, and what they are called.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace srnbench {

// "2 B", "64 KiB", "1 MiB"; bytes, where it is no whole number of more.
std::string SizeName(size_t bytes);

// What SizeName() gave that name to, if it did.
std::optional<size_t> SizeOf(const std::string& name);

// Those of a curve: 2 bytes, and eight times as much each time as long as it fits into `most`,
// which is the last one. `most` is at least 2.
std::vector<size_t> CurveSizes(size_t most);

}  // namespace srnbench
