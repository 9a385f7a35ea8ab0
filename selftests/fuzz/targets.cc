// SPDX-License-Identifier: GPL-2.0-only
#include "target.h"

namespace fuzz {

const std::vector<TargetInfo>& Targets() {
  static const std::vector<TargetInfo> targets = {
      {"packets", "requests and answers of a connected peer", false, CreatePackets},
      {"mads", "datagrams to QP1, connection management above all", false, CreateMads},
      {"uverbs", "commands of any shape to the device", true, CreateUverbs},
      {"words", "garbage in the mapped queues while the kernel works on them", true, CreateWords},
      {"netlink", "RDMA netlink messages", true, CreateNetlink},
  };
  return targets;
}

}  // namespace fuzz
