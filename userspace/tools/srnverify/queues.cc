// SPDX-License-Identifier: GPL-2.0-only
#include "queues.h"

#include <fmt/format.h>

#include "fault.h"

namespace srnverify {

Queues::Queues(const Device& device, const Features& features, int entries)
    : channel_(Need(verbs::CompChannel::Create(device.context), "completion channel")) {
  AddSet(device, entries, /*by_calls=*/false);
  if (features.Has("cq-ex")) AddSet(device, entries, /*by_calls=*/true);
}

void Queues::AddSet(const Device& device, int entries, bool by_calls) {
  const auto make = [&](const verbs::CompChannel* channel) {
    return Need(
        verbs::Cq::Create(device.context, entries, {.channel = channel, .by_calls = by_calls}),
        by_calls ? "ibv_cq_ex" : "CQ");
  };
  sets_.push_back({make(nullptr), make(&channel_), make(&channel_)});
}

void Queues::Arm() const {
  for (const Set& set : sets_) {
    Need(set.events.Arm(), "arm a CQ");
    Need(set.solicited.Arm(/*solicited_only=*/true), "arm a CQ");
  }
}

bool Queues::Drain(const verbs::Cq& cq, const std::function<void(const ibv_wc&)>& take) {
  bool any = false;
  for (;;) {
    ibv_wc wc[16] = {};  // providers leave out what they have nothing to say of
    const int n = cq.PollRaw(wc, 16);
    if (n < 0) throw Fault("ibv_poll_cq: the CQ is broken");
    for (int i = 0; i < n; ++i) take(wc[i]);
    if (n == 0) return any;
    any = true;
  }
}

// Armed before it is drained, or what comes between would be announced by nobody.
bool Queues::DrainAnnounced(const ibv_cq* cq,
                            const std::function<void(const ibv_wc&)>& take) const {
  for (const Set& set : sets_) {
    const bool solicited = cq == set.solicited.get();
    if (!solicited && cq != set.events.get()) continue;
    const verbs::Cq& announced = solicited ? set.solicited : set.events;
    Need(announced.Arm(solicited), "arm a CQ");
    return Drain(announced, take);
  }
  throw Fault("a notification of a CQ that is not there");
}

bool Queues::Poll(const std::function<void(const ibv_wc&)>& take,
                  std::chrono::milliseconds timeout) const {
  bool any = false;
  for (const Set& set : sets_) any = Drain(set.polled, take) || any;
  for (;;) {
    verbs::Result<verbs::CompChannel::Event> event =
        channel_.Wait(any ? std::chrono::milliseconds(0) : timeout);
    if (!event.ok() && event.error() == ETIMEDOUT) return any;
    any = DrainAnnounced(Need(std::move(event), "notification").cq, take) || any;
    timeout = std::chrono::milliseconds(0);
  }
}

std::string Queues::Unannounced() const {
  int events = 0, solicited = 0;
  for (const Set& set : sets_) {
    Drain(set.events, [&](const ibv_wc&) { ++events; });
    Drain(set.solicited, [&](const ibv_wc&) { ++solicited; });
  }
  if (events + solicited == 0) return {};
  return fmt::format(
      "\n  there without a notification: {} completions, {} of receives that wait for a "
      "solicited one",
      events, solicited);
}

}  // namespace srnverify
