// SPDX-License-Identifier: GPL-2.0-only
#include "secret.h"

#include <algorithm>
#include <array>

namespace fuzz {
namespace {

// Any eight bytes in a row are these, rotated.
constexpr std::array<uint8_t, 8> kSecret = {0x5e, 0xc4, 0x37, 0xe1, 0x9d, 0x02, 0x6b, 0xf8};

uint8_t SecretAt(const std::byte* place) {
  return kSecret[reinterpret_cast<uintptr_t>(place) % kSecret.size()];
}

}  // namespace

void FillSecret(verbs::Bytes bytes) {
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(SecretAt(&byte));
}

bool IsUntouched(verbs::Bytes bytes) {
  return std::ranges::all_of(
      bytes, [](const std::byte& byte) { return static_cast<uint8_t>(byte) == SecretAt(&byte); });
}

// No byte is in the secret twice, so where a row breaks off another can only begin.
bool HoldsSecret(std::span<const uint8_t> bytes) {
  size_t same = 0;  // of the bytes before this one, in a row
  size_t next = 0;  // the place in the secret that would go on with them
  for (const uint8_t byte : bytes) {
    if (same > 0 && byte == kSecret[next]) {
      next = (next + 1) % kSecret.size();
      if (++same == kSecret.size()) return true;
      continue;
    }
    const auto found = std::ranges::find(kSecret, byte);
    same = found == kSecret.end() ? 0 : 1;
    next = (static_cast<size_t>(found - kSecret.begin()) + 1) % kSecret.size();
  }
  return false;
}

}  // namespace fuzz
