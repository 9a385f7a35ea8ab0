// SPDX-License-Identifier: GPL-2.0-only
// Both sides of a connection that READs: around the module's rooms what requester.c, completer.c,
// gaps.c and again.c do with them, and of the peer what responder.c and answer.c do.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>

#include "board.h"
#include "events.h"
#include "packets.h"
#include "rooms.h"

namespace model {

// A READ request: for so many packets from the one with `psn` on.
struct Ask {
  uint32_t psn;
  uint32_t num;
};

// Who answers, in order. What is asked for behind a request that is missing waits for that.
class Answerer {
 public:
  Answerer(Events& events, uint32_t psn, std::function<void(uint32_t psn)> sends,
           std::function<void(const Answer&)> tells);

  void Arrived(const Ask& ask);

 private:
  void Tell();
  void Send(const Ask& ask);

  Events& events_;
  const std::function<void(uint32_t psn)> sends_;
  const std::function<void(const Answer&)> tells_;
  Alarm tell_;
  uint64_t tells_at_ = 0;  // not before
  uint32_t expected_;
  std::map<uint64_t, Ask> held_;  // by the place behind the first PSN
  uint64_t place_ = 0;            // of the expected one
};

// What is missing of answers, as gaps.c has it.
class Gaps {
 public:
  Gaps(srn_window& window, srn_rtt& rtt, srn_reorder& reorder)
      : window_(window), rtt_(rtt), reorder_(reorder) {}

  void Reached(uint32_t psn, uint64_t now);
  void Came(uint32_t psn, uint64_t now);
  void Twice();
  void Acked(uint64_t now);
  void Drop();
  uint32_t Next(uint64_t now, uint32_t* psn);
  // Return: whether that is the oldest one, for the first time.
  bool Sent(uint64_t now, uint32_t psn, uint32_t len);
  void SentNew(uint32_t len) {
    if (score_) srn_score_used(score_.get(), len);
  }
  bool is_open() const { return score_ != nullptr; }
  uint64_t Due(uint64_t now) const;

 private:
  void NoteTook(uint64_t now);
  srn_score* Get(uint32_t psn);
  srn_score_wait Wait() const;
  void NoteOut() { srn_window_set_coming(&window_, srn_score_out(score_.get(), window_.at.psn)); }

  srn_window& window_;
  srn_rtt& rtt_;
  srn_reorder& reorder_;
  std::unique_ptr<srn_score> score_;
};

struct Reads {
  int depth = 16;           // READs that are posted at a time
  uint32_t message = 1024;  // packets of each
  uint32_t most = 16;       // requests that may be in flight
};

class Reader {
 public:
  Reader(Events& events, srn_lately& known, uint32_t psn, const Reads& reads,
         std::function<void(const Ask&)> asks);

  void Start() { Run(); }
  void Finish() { finished_ = true; }
  void Arrived(uint32_t psn);         // a packet of an answer
  void Answered(const Answer& sack);  // a request is missing

  const srn_window& window() const { return window_; }
  uint64_t done() const { return done_; }
  uint64_t undone() const { return posted_ - done_; }

 private:
  struct Message {
    uint32_t first;
    uint32_t chunk;
  };

  void Run();
  void SendMissing();
  void SendNew();
  uint32_t LeftOf(uint32_t psn) const;  // of its request, from there on
  void TimeIt(uint32_t psn);
  void Progress(uint32_t una);
  void LookAtDelay();
  void Await();
  void Restart();
  void Silent();
  void Probe();
  void Seek(uint32_t psn);
  uint64_t Timeout() const;

  Events& events_;
  srn_lately& known_;
  const Reads reads_;
  const std::function<void(const Ask&)> asks_;
  srn_window window_ = {};
  srn_rtt rtt_ = {};
  srn_reorder reorder_ = {};
  Board lost_;
  Gaps gaps_;
  Alarm gap_, silence_;
  std::deque<Message> messages_;  // that have begun and are not done
  std::bitset<SRN_PSNS> early_;
  std::array<uint32_t, 128> rd_last_ = {};
  bool finished_ = false, probing_ = false;
  uint32_t probes_ = 0, used_ = 0;
  uint64_t waited_ = 0, step_ = 0;
  uint64_t done_ = 0, posted_ = 0;
};

}  // namespace model
