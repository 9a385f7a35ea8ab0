// SPDX-License-Identifier: GPL-2.0-only
#include "sender.h"

#include <algorithm>
#include <utility>

namespace model {
namespace {

// asking.c, ACKREQ_EVERY
constexpr uint32_t kAskEvery = 32;
// shift.c, RELEASED
constexpr int kReleased = 16;
// Of a local ACK timeout (9.7.6.1.3), of which the code is the logarithm, ns.
constexpr uint64_t kTimeoutUnit = 4096;

}  // namespace

Sender::Sender(Events& events, Domain& domain, uint32_t psn, int timeout, const Program& program,
               std::function<void(const Request&)> sends)
    : events_(events),
      domain_(domain),
      sends_(std::move(sends)),
      board_(window_, rtt_),
      retry_(
          events, window_, rtt_, domain.known, kTimeoutUnit << timeout,
          [this](uint32_t nth) { Probe(nth); },
          [this] {
            Seek(window_.una);
            Run();
          }),
      program_(program),
      gap_(events, [this] { Run(); }),
      tick_(events, [this] { Tick(); }),
      pace_(events, [this] { Run(); }) {
  member_.sender = this;
  srn_window_start(&window_, psn, kMtu);
  if (domain.when == SRN_ROTA_LOSSY && domain.users > SRN_ROTA_PLACES)
    srn_window_start_in_crowd(&window_);
  srn_window_set_reach(&window_, SRN_HOLD_WIDE);
  srn_window_set_spread(&window_, domain.spreads);
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

uint64_t Sender::Serial(uint32_t psn) const {
  return acked_ + static_cast<uint64_t>(srn_psn_diff(psn, window_.una));
}

void Sender::Transmit(uint32_t psn, bool asked) {
  sends_({.psn = psn, .serial = Serial(psn), .asked = asked || IsRead(psn)});
}

void Sender::Run() {
  if (board_.is_open()) SendLost();
  SendNew();
  EndRound();
}

// Each run of what is lost behind the other; the last packet of a run asks, and the last that the
// window lets go.
void Sender::SendLost() {
  const uint64_t now = events_.now();
  uint32_t psn, len;
  while ((len = board_.Next(now, &psn)) > 0) {
    Transmit(psn, len == 1 || !srn_window_takes_two(&window_));
    board_.Sent(now, psn);
    if (domain_.users > SRN_ROTA_PLACES && srn_rota_is_news(&domain_.rota, &window_.crowd, now))
      srn_rota_lost(&domain_.rota, now);
    if (srn_spread_is_on(&window_)) srn_spread_sent(&window_, rtt_.srtt_ns, 1);
  }
  const uint64_t due = board_.Due(now);
  if (due != UINT64_MAX) gap_.Set(due);
}

bool Sender::MayGo() {
  return Left() && !srn_window_is_full(&window_, 1) && !(retry_.probing() && !is_idle()) &&
         HasPlace() && IsItsTime();
}

// shift.c, srn_shift_ask(). Who asks after silence needs no place, nor does who is far.
bool Sender::HasPlace() {
  srn_shift& shift = member_.shift;
  srn_rota& rota = domain_.rota;
  if (!domain_.has_rota) return true;
  if (srn_rota_is_free(&rota, domain_.when)) {
    if (shift.on) Disband();
    return true;
  }
  bool over = shift.due || srn_rota_is_over(&rota, &shift, 0, window_.cwnd * kMtu);
  if (shift.on && over && !srn_rota_is_wanted(&rota)) {
    shift.sent = 0;
    over = shift.due = false;
  }
  const bool may = shift.on ? !over : !TakesPart() || GetsPlace();
  stopped_ = !may;
  if (may && shift.on && shift.begins) {
    shift.begins = false;
    if (is_idle()) srn_window_inherit(&window_, &rota.legacy);
  }
  return may;
}

// shift.c, gets_place().
bool Sender::GetsPlace() {
  if (retry_.probes() && !is_idle()) return false;
  srn_rota_calm(&domain_.rota, events_.now());
  if (!TakesPart()) {
    srn_rota_excuse(&domain_.rota, &member_.shift);
    return true;
  }
  return srn_rota_ask(&domain_.rota, &member_.shift);
}

// shift.c, give_up().
void Sender::GiveUp() {
  if (srn_shift* const next = srn_rota_yield(&domain_.rota, &member_.shift))
    reinterpret_cast<Member*>(next)->sender->Wake();
}

// shift.h, srn_shift_share().
void Sender::Share() {
  if (domain_.when == SRN_ROTA_LOSSY && domain_.users > SRN_ROTA_PLACES &&
      !srn_rota_is_far(&domain_.rota))
    srn_window_share(&window_, SRN_ROTA_PLACES, domain_.users);
}

// shift.c, disband().
void Sender::Disband() {
  const auto wake = [](const srn_shift* shift) {
    reinterpret_cast<const Member*>(shift)->sender->Wake();
  };

  GiveUp();
  for (int i = 0; i < kReleased && srn_rota_release(&domain_.rota, wake); ++i) {
  }
  srn_window_widen(&window_);
  Share();
}

bool Sender::TakesPart() const {
  return !retry_.probing() && !srn_rota_is_free(&domain_.rota, domain_.when);
}

// shift.c, srn_shift_yield().
void Sender::EndRound() {
  srn_shift& shift = member_.shift;
  const bool more = std::exchange(stopped_, false);
  if (!shift.on || (more && shift.begins)) return;
  if (is_idle())
    Yield(more);
  else if (retry_.probes() >= SRN_ROTA_SILENT || IsLong())
    Yield(false);
}

bool Sender::IsLong() {
  const uint64_t kept = srn_rota_kept_ns(&domain_.rota, &member_.shift, events_.now());
  member_.shift.due = kept >= srn_rota_due_ns(rtt_.srtt_ns);
  return kept >= srn_rota_last_ns(rtt_.srtt_ns);
}

void Sender::Yield(bool more) {
  srn_shift& shift = member_.shift;
  if (is_idle() && !shift.begins && !retry_.probing())
    srn_window_leave(&window_, &domain_.rota.legacy);
  srn_rota_calm(&domain_.rota, events_.now());
  if (srn_rota_is_wanted(&domain_.rota)) Share();
  GiveUp();
  if (more && (!TakesPart() || srn_rota_ask(&domain_.rota, &shift))) Wake();
}

void Sender::Wake() {
  events_.After(0, [this] { Run(); });
}

bool Sender::IsItsTime() {
  const uint64_t now = events_.now();
  if (!srn_spread_is_on(&window_) || srn_spread_ask(&window_, rtt_.srtt_ns, now)) return true;
  if (!pace_.is_set()) pace_.Set(srn_spread_wait(&window_, rtt_.srtt_ns, now));
  return false;
}

bool Sender::WantsAck() const {
  const uint32_t every = std::min(window_.cwnd / 2, kAskEvery);
  const bool first = !rtt_.srtt_ns && !window_.timed && is_idle();
  return Left() == 1 || window_.unasked + 1 >= every || retry_.probing() || first ||
         srn_window_is_full(&window_, 2);
}

void Sender::SendNew() {
  while (MayGo()) {
    const uint32_t psn = window_.at.psn;
    const bool asked = WantsAck();
    Transmit(psn, asked);
    if (member_.shift.on) member_.shift.sent += kMtu;
    if (!srn_window_sent(&window_, 1, asked, false) && asked) retry_.Time(psn);
    if (srn_spread_is_on(&window_)) srn_spread_sent(&window_, rtt_.srtt_ns, 1);
    board_.SentNew();
    retry_.Sent();
  }
}

void Sender::Answered(const Answer& answer) {
  if (answer.num) srn_window_guilty(&window_);
  if (srn_psn_diff(answer.expected, window_.una) > 0) Progress(answer.expected);
  if (answer.num && board_.Heard(answer, events_.now())) {
    if (window_.timed && board_.Has(window_.timed_psn)) LookAtDelay();
    retry_.Heard();
  }
  Run();
}

void Sender::Progress(uint32_t una) {
  acked_ += static_cast<uint64_t>(srn_psn_diff(una, window_.una));
  srn_window_acked(&window_, una);
  Post();
  retry_.Progress();
  board_.Acked(events_.now());
  if (srn_window_is_timed(&window_)) LookAtDelay();
  if (srn_psn_diff(una, window_.at.psn) > 0) Seek(srn_window_spare(&window_, true));
  retry_.Restart();
}

void Sender::LookAtDelay() {
  const bool again = window_.timed_again;
  retry_.LookAtDelay();
  if (!again) LookAtMany();
  if (again)
    srn_rota_look_again(&domain_.rota);
  else if (srn_rota_may_see(&domain_.rota, &window_.crowd, domain_.when))
    srn_rota_look(&domain_.rota, &window_.crowd);
}

// retry.c, look_at_many().
void Sender::LookAtMany() {
  if (!srn_window_is_of_many(&window_)) return;
  const bool free = srn_rota_is_free(&domain_.rota, domain_.when);
  if (!free && !srn_rota_has_few(&domain_.rota, &member_.shift, events_.now())) return;
  const uint32_t was = window_.cwnd;
  srn_window_widen(&window_);
  if (free && window_.cwnd != was && !member_.shift.on) Share();
}

uint32_t Sender::NewestPlain() const {
  uint32_t psn = srn_psn_add(window_.at.psn, -1);
  while (psn != window_.una && IsRead(psn)) psn = srn_psn_add(psn, -1);
  return psn;
}

// The last packet that is no READ, or the oldest one: if one of them is lost again and again, the
// other may not be. What the peer had and let go of it no longer has.
void Sender::Probe(uint32_t nth) {
  board_.Missed();
  const bool oldest = board_.is_open() || nth % 3 == 0;
  const uint32_t psn = oldest ? window_.una : NewestPlain();
  if (nth > 1) srn_window_time_again(&window_, psn, 1);
  Transmit(psn, true);
  Run();
}

// Back after silence, forward where the peer has more than was sent again.
void Sender::Seek(uint32_t psn) {
  board_.Drop();
  srn_window_seek(&window_, {.index = 0, .psn = psn});
  retry_.Stop();
}

}  // namespace model
