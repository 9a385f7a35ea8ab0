// SPDX-License-Identifier: GPL-2.0-only
#include "aimd.h"

#include <algorithm>
#include <utility>

namespace model {
namespace {

// One that was overtaken by so many is lost.
constexpr uint64_t kOvertaken = 3;
// After so long nothing is on its way any more: RFC 6298 has no less.
constexpr uint64_t kSilence = 1'000'000'000;

}  // namespace

Aimd::Aimd(Events& events, std::function<void(uint64_t)> sends)
    : sends_(std::move(sends)), silence_(events, [this] { Silent(); }) {}

void Aimd::Run() {
  while (!finished_ && static_cast<double>(flying_ + 1) <= window_) {
    out_.push_back({next_, false});
    ++flying_;
    sends_(next_++);
  }
  if (flying_ && !silence_.is_set()) silence_.Set(kSilence);
}

void Aimd::Grow() { window_ += window_ < threshold_ ? 1 : 1 / window_; }

void Aimd::GiveUp(uint64_t serial) {
  --flying_;
  if (serial < cut_end_) return;
  window_ = std::max(window_ / 2, 2.0);
  threshold_ = window_;
  cut_end_ = next_;
}

// What comes after it was given up was late, which none is here.
void Aimd::Answered(uint64_t serial) {
  if (out_.empty() || serial < out_.front().serial) return;
  Out& one = out_[serial - out_.front().serial];
  if (one.here) return;
  one.here = true;
  --flying_;
  ++acked_;
  Grow();
  for (; !out_.empty() && (out_.front().here || out_.front().serial + kOvertaken <= serial);
       out_.pop_front())
    if (!out_.front().here) GiveUp(out_.front().serial);
  silence_.Clear();
  Run();
}

void Aimd::Silent() {
  threshold_ = std::max(window_ / 2, 2.0);
  window_ = 1;
  cut_end_ = next_;
  flying_ = 0;
  out_.clear();
  Run();
}

}  // namespace model
