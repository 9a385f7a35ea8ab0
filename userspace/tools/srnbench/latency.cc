// SPDX-License-Identifier: GPL-2.0-only
#include "latency.h"

#include <stdexcept>
#include <utility>

#include "posting.h"

namespace srnbench {
namespace {

using Clock = std::chrono::steady_clock;

struct Message {
  size_t bytes;
  Wake wake;
};

void Await(const End& end, Wake wake) {
  if (wake == Wake::kEvent) {
    const auto event = end.channel.Wait(kStuck);
    if (!event.ok()) throw std::runtime_error(event.message());
  }
  Reap(end.cq);
}

// From the post on one end to the completion of the receive on the other.
void Pass(const End& from, const End& to, const Message& message, bool signaled) {
  verbs::SendWr send = verbs::SendWr::Send(1, from.mr.Slice(0, message.bytes));

  Check(to.qp.Post(verbs::RecvWr(2, {to.mr.Slice(0, message.bytes)})));
  if (message.wake == Wake::kEvent) Check(to.cq.Arm());
  if (!signaled) send.Unsignaled();
  Check(from.qp.Post(std::move(send)));
  Await(to, message.wake);
  if (signaled) Reap(from.cq);
}

}  // namespace

double OneWay(Pair& pair, size_t bytes, Wake wake, Duration time) {
  const Message message{bytes, wake};
  const auto start = Clock::now();
  long rounds = 0;
  Duration elapsed{0};

  do {
    // An unsignalled send frees its slot only when a later one completes.
    const bool signaled = ++rounds % (kDepth / 2) == 0;
    Pass(pair.a(), pair.b(), message, signaled);
    Pass(pair.b(), pair.a(), message, signaled);
    elapsed = Clock::now() - start;
  } while (elapsed < time);
  // Who measures next finds the queues empty.
  Pass(pair.a(), pair.b(), message, true);
  Pass(pair.b(), pair.a(), message, true);
  return elapsed.count() / (2 * rounds);
}

}  // namespace srnbench
