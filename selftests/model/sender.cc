// SPDX-License-Identifier: GPL-2.0-only
#include "sender.h"

#include <algorithm>
#include <utility>

namespace model {
namespace {

// requester.c, ACKREQ_EVERY and TIMED_FROM
constexpr uint32_t kAskEvery = 32;
constexpr uint32_t kTimedFrom = SRN_WINDOW_FEW;
// Packets of a message.
constexpr uint64_t kMessage = 64;
// Code 14, which is what programs ask for.
constexpr uint64_t kTimeout = 4096ull << 14;
// retry.c, PROBE_SHIFT_MAX
constexpr uint32_t kProbeShiftMax = 10;

}  // namespace

Sender::Sender(Events& events, srn_lately& known, uint32_t psn, const Program& program,
               std::function<void(const Request&)> sends)
    : events_(events),
      known_(known),
      sends_(std::move(sends)),
      board_(window_, rtt_),
      program_(program),
      gap_(events, [this] { Run(); }),
      silence_(events, [this] { Silent(); }),
      tick_(events, [this] { Tick(); }) {
  srn_window_start(&window_, psn, kMtu);
  srn_window_set_reach(&window_, SRN_HOLD_WIDE);
  Post();
}

// A message is posted for each that is complete.
void Sender::Post() {
  if (!finished_ && !program_.every)
    posted_ = (acked_ / kMessage + static_cast<uint64_t>(program_.depth)) * kMessage;
}

void Sender::Start() {
  if (program_.every) Tick();
  Run();
}

void Sender::Tick() {
  if (finished_) return;
  ++posted_;
  if (!more_ && program_.more && events_.now() >= program_.more_at) {
    posted_ += program_.more;
    more_ = true;
  }
  tick_.Set(program_.every);
  Run();
}

void Sender::Transmit(uint32_t psn, bool asked) {
  const auto ahead = static_cast<uint64_t>(srn_psn_diff(psn, window_.una));
  sends_({.psn = psn, .serial = acked_ + ahead, .asked = asked});
}

void Sender::Run() {
  if (board_.is_open()) SendLost();
  SendNew();
}

// Each run of what is lost behind the other; the last packet of a run asks, and the last that the
// window lets go.
void Sender::SendLost() {
  const uint64_t now = events_.now();
  uint32_t psn, len;
  while ((len = board_.Next(now, &psn)) > 0) {
    Transmit(psn, len == 1 || !srn_window_takes_two(&window_));
    board_.Sent(now, psn);
  }
  const uint64_t due = board_.Due(now);
  if (due != UINT64_MAX) gap_.Set(due);
}

bool Sender::MayGo() const {
  return Left() && !srn_window_is_full(&window_, 1) && !(probing_ && !is_idle());
}

bool Sender::WantsAck() const {
  const uint32_t every = std::min(window_.cwnd / 2, kAskEvery);
  const bool first = !rtt_.srtt_ns && !window_.timed && is_idle();
  return Left() == 1 || window_.unasked + 1 >= every || probing_ || first ||
         srn_window_is_full(&window_, 2);
}

void Sender::SendNew() {
  while (MayGo()) {
    const uint32_t psn = window_.at.psn;
    const bool asked = WantsAck();
    Transmit(psn, asked);
    if (!srn_window_sent(&window_, 1, asked, false) && asked) TimeIt();
    board_.SentNew();
    if (!silence_.is_set()) Restart();
  }
}

void Sender::TimeIt() {
  const bool queue = srn_window_inflight(&window_) >= kTimedFrom;
  if (window_.timed) return;
  if (queue || srn_window_is_narrow(&window_) || srn_rtt_wants(&rtt_))
    srn_window_time(&window_, srn_psn_add(window_.at.psn, -1), events_.now(), queue);
}

void Sender::Answered(const Answer& answer) {
  if (answer.num) srn_window_guilty(&window_);
  if (srn_psn_diff(answer.expected, window_.una) > 0) Progress(answer.expected);
  if (answer.num && board_.Heard(answer, events_.now())) {
    probes_ = 0;
    if (window_.timed && board_.Has(window_.timed_psn)) LookAtDelay();
    Restart();
  }
  Run();
}

void Sender::Progress(uint32_t una) {
  acked_ += static_cast<uint64_t>(srn_psn_diff(una, window_.una));
  srn_window_acked(&window_, una);
  Post();
  probing_ = false;
  probes_ = 0;
  used_ = 0;
  board_.Acked(events_.now());
  if (srn_window_is_timed(&window_)) LookAtDelay();
  if (srn_psn_diff(una, window_.at.psn) > 0) Seek(srn_window_spare(&window_, true));
  Restart();
}

void Sender::LookAtDelay() {
  const uint64_t now = events_.now();
  const uint64_t took = now - window_.timed_ns;
  if (window_.timed_again) {
    srn_rtt_bound(&rtt_, took, kTimeout);
    srn_window_answered_again(&window_, took, kTimeout);
    return;
  }
  srn_rtt_sample(&rtt_, took);
  const uint64_t least = srn_lately_least(&known_, took, now);
  const uint64_t delay = srn_window_delay(&window_, least, now);
  srn_window_mind(&window_);
  if (srn_window_is_late(&window_, delay, kTimeout)) srn_window_late(&window_);
}

uint64_t Sender::AckTimeout() const { return srn_rtt_patience_ns(&rtt_, kTimeout, used_); }

void Sender::Await() {
  const uint64_t all = AckTimeout(), probe = srn_rtt_probe_ns(&rtt_, all);
  const uint32_t shift = std::clamp(probes_, 1u, kProbeShiftMax + 1) - 1;
  step_ = std::min(all - std::min(all, waited_), probe << shift);
  silence_.Set(step_);
}

void Sender::Restart() {
  silence_.Clear();
  waited_ = 0;
  if (!is_idle()) Await();
}

void Sender::Silent() {
  if (is_idle()) return;
  waited_ += step_;
  if (waited_ < AckTimeout())
    Probe();
  else
    TimedOut();
}

// The last packet, or the oldest one: if one of them is lost again and again, the other may not be.
void Sender::Probe() {
  ++probes_;
  Await();
  const bool oldest = board_.is_open() || probes_ % 3 == 0;
  const uint32_t psn = oldest ? window_.una : srn_psn_add(window_.at.psn, -1);
  if (probes_ > 1) srn_window_time_again(&window_, psn, 1);
  Transmit(psn, true);
  Run();
}

// Nobody gives up here: a real one does after so many retries.
void Sender::TimedOut() {
  ++timeouts_;
  srn_window_silent(&window_, used_++ > 0);
  Seek(window_.una);
  probing_ = true;
  Run();
}

// Back after silence, forward where the peer has more than was sent again.
void Sender::Seek(uint32_t psn) {
  board_.Drop();
  srn_window_seek(&window_, {.index = 0, .psn = psn});
  probing_ = false;
  silence_.Clear();
}

}  // namespace model
