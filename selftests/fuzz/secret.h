// SPDX-License-Identifier: GPL-2.0-only
// Bytes that are nowhere but where nobody may look: found elsewhere, they were carried away.
#pragma once

#include <span>

#include <verbs/buffer.h>

namespace fuzz {

// Fills memory with them; what stands where depends on the address alone.
void FillSecret(verbs::Bytes bytes);
// Whether memory that was filled is as it was.
bool IsUntouched(verbs::Bytes bytes);
// Whether any eight bytes in a row come from such memory.
bool HoldsSecret(std::span<const uint8_t> bytes);
inline bool HoldsSecret(verbs::Bytes bytes) {
  return HoldsSecret(std::span(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()));
}

}  // namespace fuzz
