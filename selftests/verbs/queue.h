// SPDX-License-Identifier: GPL-2.0-only
// What a queueing discipline of another network namespace says of itself, by netlink: often, and
// without a program for each time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "nl.h"

namespace verbs_test {

struct QueueStats {
  uint64_t bytes = 0;  // that have left, of Ethernet frames
  uint32_t packets = 0;
  uint32_t backlog = 0;  // bytes that wait
  uint32_t drops = 0;
  uint32_t marked = 0;  // CE; 0 where the discipline does not mark
};

class QueueWatch {
 public:
  // Of the discipline `handle` (the number before the colon) at `dev` in the namespace `netns`.
  // Throws SetupFailure.
  QueueWatch(const std::string& netns, const std::string& dev, uint16_t handle);

  QueueStats Read();

 private:
  NlSocket socket_;
  int index_ = 0;
  uint32_t handle_;
};

}  // namespace verbs_test
