// SPDX-License-Identifier: GPL-2.0-only
#include "stream.h"

#include <vector>

#include "posting.h"

namespace srnbench {
namespace {

using Clock = std::chrono::steady_clock;

verbs::SendWr Make(Pair& pair, const Requests& requests) {
  const ibv_sge here = pair.a().mr.Slice(0, requests.bytes);
  switch (requests.verb) {
    case Verb::kWrite:
      return verbs::SendWr::Write(1, here, pair.b().mr.At(0));
    case Verb::kRead:
      return verbs::SendWr::Read(1, here, pair.b().mr.At(0));
    default:
      return verbs::SendWr::Send(1, here);
  }
}

// The receives of the other end: one for each SEND, posted before it, so that none is left over.
class Receives {
 public:
  Receives(End& end, const Requests& requests)
      : end_(end),
        wanted_(requests.verb == Verb::kSend),
        request_(2, {end.mr.Slice(0, requests.bytes)}) {}

  void Post(int n) {
    for (; wanted_ && n > 0; --n, ++posted_) srnbench::Post(end_.qp, request_);
  }

  // Those that completed, if `n` SENDs more did.
  void Reap(int n) {
    for (sent_ += n; wanted_ && reaped_ < sent_;) reaped_ += srnbench::Reap(end_.cq);
  }

 private:
  End& end_;
  const bool wanted_;
  verbs::RecvWr request_;
  long posted_ = 0, sent_ = 0, reaped_ = 0;
};

}  // namespace

Done Stream(Pair& pair, const Requests& requests, Duration time) {
  std::vector<verbs::SendWr> list(requests.list, Make(pair, requests));
  Receives receives(pair.b(), requests);
  long posted = 0, done = 0;
  Duration elapsed{0};

  const auto start = Clock::now();
  do {
    while (elapsed < time && posted - done + requests.list <= requests.depth) {
      receives.Post(requests.list);
      Post(pair.a().qp, list);
      posted += requests.list;
    }
    const int n = Reap(pair.a().cq);
    receives.Reap(n);
    done += n;
    elapsed = Clock::now() - start;
  } while (done < posted || elapsed < time);
  return {done, elapsed};
}

}  // namespace srnbench
