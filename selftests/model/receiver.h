// SPDX-License-Identifier: GPL-2.0-only
// The responder's side of a connection, as ack.c and hold.c have it, but for limits of memory: what
// comes early is held, and told with SACKs, no more often than every 50 us.
#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "events.h"
#include "packets.h"
#include "rooms.h"

namespace model {

class Receiver {
 public:
  Receiver(Events& events, uint32_t psn, std::function<void(const Answer&)> answers);

  void Arrived(const Request& request);
  // Gives up what it holds, and says nothing.
  void Shed();

  uint64_t delivered() const { return delivered_; }
  // Packets that were delivered out of turn, or came where nobody may send.
  uint64_t faults() const { return faults_; }

 private:
  void Take(const Request& request);
  void Hold(const Request& request);
  void Deliver(uint64_t serial);
  void Conclude();
  void Tell();

  Events& events_;
  const std::function<void(const Answer&)> answers_;
  Alarm tell_;
  uint64_t tells_at_ = 0;  // not before
  uint32_t expected_;
  uint32_t high_;  // behind the highest that came
  srn_psns held_ = {};
  std::array<uint64_t, SRN_PSNS> serials_ = {};  // of those
  uint32_t twice_ = 0;
  bool ack_ = false;   // is owed
  bool news_ = false;  // of what is held
  uint64_t delivered_ = 0;
  uint64_t faults_ = 0;
};

}  // namespace model
