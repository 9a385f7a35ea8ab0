// SPDX-License-Identifier: GPL-2.0-only
// What takes several packets in the right order, written as inputs of `packets`.
#pragma once

#include <vector>

#include "source.h"

namespace fuzz {

// Each piece of an input of `packets`.
inline constexpr size_t kPacketsPiece = 40;

std::vector<Input> PacketsSeeds();

}  // namespace fuzz
