// SPDX-License-Identifier: GPL-2.0-only
#include "queues.h"

#include <fmt/format.h>

#include "fault.h"

namespace srnverify {

Queues::Queues(const Device& device, int entries)
    : channel_(Need(verbs::CompChannel::Create(device.context), "completion channel")),
      polled_(Need(verbs::Cq::Create(device.context, entries), "CQ")),
      events_(Need(verbs::Cq::Create(device.context, entries, {.channel = &channel_}), "CQ")),
      solicited_(Need(verbs::Cq::Create(device.context, entries, {.channel = &channel_}), "CQ")) {}

void Queues::Arm() const {
  Need(events_.Arm(), "arm a CQ");
  Need(solicited_.Arm(/*solicited_only=*/true), "arm a CQ");
}

bool Queues::Drain(const verbs::Cq& cq, const std::function<void(const ibv_wc&)>& take) {
  bool any = false;
  for (;;) {
    ibv_wc wc[16];
    const int n = cq.PollRaw(wc, 16);
    if (n < 0) throw Fault("ibv_poll_cq: the CQ is broken");
    for (int i = 0; i < n; ++i) take(wc[i]);
    if (n == 0) return any;
    any = true;
  }
}

bool Queues::Poll(const std::function<void(const ibv_wc&)>& take,
                  std::chrono::milliseconds timeout) const {
  bool any = Drain(polled_, take);
  for (;;) {
    verbs::Result<verbs::CompChannel::Event> event =
        channel_.Wait(any ? std::chrono::milliseconds(0) : timeout);
    if (!event.ok() && event.error() == ETIMEDOUT) return any;
    const ibv_cq* cq = Need(std::move(event), "notification").cq;
    const bool solicited = cq == solicited_.get();
    const verbs::Cq& announced = solicited ? solicited_ : events_;
    // Armed before it is drained, or what comes between would be announced by nobody.
    Need(announced.Arm(solicited), "arm a CQ");
    any = Drain(announced, take) || any;
    timeout = std::chrono::milliseconds(0);
  }
}

std::string Queues::Unannounced() const {
  int events = 0, solicited = 0;
  Drain(events_, [&](const ibv_wc&) { ++events; });
  Drain(solicited_, [&](const ibv_wc&) { ++solicited; });
  if (events + solicited == 0) return {};
  return fmt::format(
      "\n  there without a notification: {} completions, {} of receives that wait for a "
      "solicited one",
      events, solicited);
}

}  // namespace srnverify
