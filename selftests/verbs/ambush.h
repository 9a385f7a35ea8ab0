// SPDX-License-Identifier: GPL-2.0-only
// Loses exactly the packets that it is told to, where they come out of a netdev's wire: by a BPF
// program there, so that the module is the one that users have, and its clock is not stopped.
// IPv4, packets by themselves.
#pragma once

#include <cstdint>
#include <string>

#include <net/fd.h>

namespace verbs_test {

enum class Prey : uint8_t { kRequest = 1, kReadRequest, kResponse, kAck, kNak, kSack };

class Ambush {
 public:
  // At `dev` of the namespace `netns` ("" is this one). Throws SetupFailure.
  Ambush(const std::string& netns, const std::string& dev);

  static constexpr uint32_t kAnyPsn = 0xffffff;
  // Loses the next `times` packets of this PSN behind the next `skip`. What has a PSN of its own
  // among those that are waited for does not count as any.
  void Lose(Prey prey, uint32_t psn = kAnyPsn, uint32_t times = 1, uint32_t skip = 0);
  // So many of them were lost; and from now on none is.
  uint32_t Lost(Prey prey, uint32_t psn = kAnyPsn);

 private:
  net::UniqueFd map_, program_, link_;
};

}  // namespace verbs_test
