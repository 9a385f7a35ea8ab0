// SPDX-License-Identifier: GPL-2.0-only
// What may arrive at the peer beside packets for it.
#pragma once

#include <cstdint>
#include <span>

namespace wire {

// What the host of the device says at any time, whatever RDMA does: ARP, IPv6 neighbour and
// router discovery, membership of multicast groups.
bool IsHousekeeping(std::span<const uint8_t> frame);

}  // namespace wire
