// SPDX-License-Identifier: GPL-2.0-only
// The RDMA objects that the kernel knows, of all devices.
#pragma once

#include <string>

namespace fault {

// What `rdma resource` prints: how many of each kind each device has. The test ends without it.
std::string CountObjects();

}  // namespace fault
