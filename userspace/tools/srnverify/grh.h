// SPDX-License-Identifier: GPL-2.0-only
// What a receiver is told of the IP header that a UD message came with: 40 bytes in front of it,
// and `sl`.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <string>

#include <verbs/buffer.h>

namespace srnverify {

inline constexpr uint32_t kGrhSize = 40;

// What is wrong with it, empty if nothing is: of a message of `size` bytes from `from` to `to`.
// Over IPv4 the first 20 bytes mean nothing.
std::string WrongInGrh(verbs::ConstBytes grh, const ibv_gid& from, const ibv_gid& to, uint32_t size,
                       bool imm);

// What Mellanox adapters have in `sl` of a datagram's completion, as UCX wants it: over UDP, and
// which IP version.
int ServiceLevel(const ibv_gid& to);

}  // namespace srnverify
