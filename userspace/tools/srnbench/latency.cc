// SPDX-License-Identifier: GPL-2.0-only
#include "latency.h"

#include <stdexcept>
#include <utility>

#include "posting.h"

namespace srnbench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMostSamples = 1 << 20;

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

void Expect(const End& end, const Message& message) {
  Check(end.qp.Post(verbs::RecvWr(2, {end.mr.Slice(0, message.bytes)})));
  if (message.wake == Wake::kEvent) Check(end.cq.Arm());
}

// From the post on one end to the completion of the receive on the other.
void Pass(const End& from, const End& to, const Message& message, bool signaled) {
  verbs::SendWr send = verbs::SendWr::Send(1, from.mr.Slice(0, message.bytes));

  if (!signaled) send.Unsignaled();
  Check(from.qp.Post(std::move(send)));
  Await(to, message.wake);
}

// Calls `pass(from, to, signaled)` for one direction and the other, until `time` is over or it says
// that it has enough.
template <typename F>
Done BackAndForth(Pair& pair, Duration time, F pass) {
  const auto start = Clock::now();
  long rounds = 0;
  Duration elapsed{0};
  bool more;

  do {
    // An unsignalled send frees its slot only when a later one completes.
    const bool signaled = ++rounds % (kDepth / 2) == 0;
    more = pass(pair.a(), pair.b(), signaled);
    more = pass(pair.b(), pair.a(), signaled) && more;
    elapsed = Clock::now() - start;
  } while (more && elapsed < time);
  // Who measures next finds the queues empty.
  pass(pair.a(), pair.b(), true);
  pass(pair.b(), pair.a(), true);
  return {2 * rounds, elapsed};
}

}  // namespace

Done OneWay(Pair& pair, size_t bytes, Wake wake, Duration time) {
  const Message message{bytes, wake};

  return BackAndForth(pair, time, [&](const End& from, const End& to, bool signaled) {
    Expect(to, message);
    Pass(from, to, message, signaled);
    if (signaled) Reap(from.cq);
    return true;
  });
}

std::vector<double> EachWay(Pair& pair, size_t bytes, Wake wake, Duration time) {
  const Message message{bytes, wake};
  std::vector<double> each;

  each.reserve(kMostSamples + 4);
  BackAndForth(pair, time, [&](const End& from, const End& to, bool signaled) {
    Expect(to, message);
    const auto start = Clock::now();
    Pass(from, to, message, signaled);
    each.push_back(Duration(Clock::now() - start).count());
    if (signaled) Reap(from.cq);
    return each.size() < kMostSamples;
  });
  return each;
}

}  // namespace srnbench
