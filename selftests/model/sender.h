// SPDX-License-Identifier: GPL-2.0-only
// The requester's side of a connection: around the module's window and RTT what requester.c and
// again.c do with them.
#pragma once

#include <cstdint>
#include <functional>

#include "events.h"
#include "lost.h"
#include "packets.h"
#include "retry.h"
#include "rooms.h"

namespace model {

// What is posted: so many WRITEs of 64 KiB at a time, each with a READ behind it, if it reads, in
// the place of its last packet. Or a packet each so many ns, and once, beside them, so many more.
struct Program {
  int depth = 4;
  bool reads = false;
  uint64_t every = 0;
  uint64_t more_at = 0;
  uint64_t more = 0;
};

// What the connections of a domain know together, and who of them may have data out, if that is
// asked; and whether they spread that over very long paths.
struct Domain {
  srn_lately known;
  srn_rota rota;
  bool has_rota = false;
  uint32_t users = 0;
  srn_rota_when when = SRN_ROTA_ALWAYS;
  bool spreads = false;
};

class Sender {
 public:
  // `timeout`: the code of the local ACK timeout that is asked for.
  Sender(Events& events, Domain& domain, uint32_t psn, int timeout, const Program& program,
         std::function<void(const Request&)> sends);

  void Start();
  // Nothing is posted from now on.
  void Finish() { finished_ = true; }
  void Answered(const Answer& answer);

  const srn_window& window() const { return window_; }
  // Packets that were acknowledged: una, without wrapping.
  uint64_t acked() const { return acked_; }
  bool is_idle() const { return srn_window_inflight(&window_) == 0; }
  uint64_t unacked() const { return posted_ - acked_; }
  // Times that it gave up waiting, and began anew.
  uint64_t timeouts() const { return retry_.timeouts(); }
  bool has_place() const { return member_.shift.on; }

 private:
  // What the rota knows of it; shift is first.
  struct Member {
    srn_shift shift;
    Sender* sender;
  };
  // Packets of a message.
  static constexpr uint64_t kMessage = 64;

  // What leaves.
  void Run();
  void SendLost();
  void SendNew();
  uint64_t Left() const { return unacked() - srn_window_inflight(&window_); }
  bool MayGo();
  bool HasPlace();
  bool TakesPart() const;
  bool GetsPlace();
  void GiveUp();
  void Share();
  void Disband();
  void EndRound();
  bool IsLong();
  void Yield(bool more);
  void Wake();
  bool IsItsTime();
  bool WantsAck() const;
  void Transmit(uint32_t psn, bool asked);

  // What comes, and what does not.
  void Post();
  void Tick();
  void Progress(uint32_t una);
  void LookAtDelay();
  void LookAtMany();
  void Probe(uint32_t nth);
  // Of the packet: whether it is a READ. And the newest in flight that is none, or the oldest.
  bool IsRead(uint32_t psn) const {
    return program_.reads && Serial(psn) % kMessage == kMessage - 1;
  }
  uint32_t NewestPlain() const;
  uint64_t Serial(uint32_t psn) const;
  void Seek(uint32_t psn);

  Events& events_;
  Domain& domain_;
  Member member_ = {};
  const std::function<void(const Request&)> sends_;
  srn_window window_ = {};
  srn_rtt rtt_ = {};
  Lost board_;
  Retry retry_;
  const Program program_;
  Alarm gap_, tick_, pace_;
  bool more_ = false;  // what is posted once was
  bool finished_ = false;
  bool stopped_ = false;  // by the rota, in this round
  uint64_t acked_ = 0;    // packets,
  uint64_t posted_ = 0;   // and all that are known of
};

}  // namespace model
