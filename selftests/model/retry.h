// SPDX-License-Identifier: GPL-2.0-only
// How long answers take, and what follows from silence, as retry.c has it for a QP. Nobody gives up
// here: a real one does after so many retries.
#pragma once

#include <cstdint>
#include <functional>

#include "events.h"
#include "rooms.h"

namespace model {

class Retry {
 public:
  // `timeout`: the local ACK timeout that is asked for, ns. `probes` asks, for the `nth` time since
  // the last progress; `goes_back` sends all again from the oldest on.
  Retry(Events& events, srn_window& window, srn_rtt& rtt, srn_lately& known, uint64_t timeout,
        std::function<void(uint32_t nth)> probes, std::function<void()> goes_back);

  // The packet with `psn` left: is it timed?
  void Time(uint32_t psn);
  // A packet left, and is waited for.
  void Sent();
  // The window's una has moved.
  void Progress();
  // It has not, but the peer is there.
  void Heard();
  // What was timed is here.
  void LookAtDelay();
  // Progress is waited for anew, if anything is in flight.
  void Restart();
  // Nothing is waited for.
  void Stop() { silence_.Clear(); }

  // After a timeout, one packet at a time.
  bool probing() const { return probing_; }
  // Times that it asked since the last answer, and heard nothing.
  uint32_t probes() const { return probed_; }
  // Times that it went back.
  uint64_t timeouts() const { return timeouts_; }

 private:
  uint64_t Timeout() const;
  void Await();
  void Silent();

  Events& events_;
  srn_window& window_;
  srn_rtt& rtt_;
  srn_lately& known_;
  const uint64_t timeout_;
  const std::function<void(uint32_t nth)> probes_;
  const std::function<void()> goes_back_;
  Alarm silence_;
  bool probing_ = false;
  uint32_t probed_ = 0;  // times since the last answer
  uint32_t used_ = 0;    // retries, likewise
  uint64_t waited_ = 0;  // ns, towards the timeout,
  uint64_t step_ = 0;    // and what is being waited
  uint64_t timeouts_ = 0;
};

}  // namespace model
