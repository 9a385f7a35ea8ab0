// SPDX-License-Identifier: GPL-2.0-only
#include "channel.h"

namespace verbs {

Result<CompChannel> CompChannel::Create(const Context& context) {
  errno = 0;
  return Adopt<CompChannel>(ibv_create_comp_channel(context.get()), "ibv_create_comp_channel");
}

Result<CompChannel::Event> CompChannel::Wait(Timeout timeout) const {
  Status status = WaitReadable(get()->fd, timeout);
  if (!status.ok()) return status.failure();

  Event event = {};
  if (ibv_get_cq_event(get(), &event.cq, &event.cq_context))
    return result::FromErrno("ibv_get_cq_event");
  ibv_ack_cq_events(event.cq, 1);
  return event;
}

}  // namespace verbs
