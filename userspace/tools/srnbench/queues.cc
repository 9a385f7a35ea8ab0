// SPDX-License-Identifier: GPL-2.0-only
#include "queues.h"

#include <algorithm>
#include <deque>
#include <numeric>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

#include "posting.h"

namespace srnbench {
namespace {

using Clock = std::chrono::steady_clock;

template <typename T>
T IfAble(verbs::Result<T> result, const std::string& what) {
  if (!result.ok()) throw Unable(fmt::format("{}: {}", what, result.message()));
  return *std::move(result);
}

verbs::Qp SomeQp(const End& end, const verbs::Cq& cq, uint32_t sends, const std::string& what) {
  return IfAble(verbs::Qp::Create(
                    end.pd, cq, cq,
                    {.max_send_wr = sends, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1}),
                what);
}

// Connections whose turn it is to post, those first that wait longest.
class Waiting {
 public:
  Waiting(size_t connections, int times) {
    for (int i = 0; i < times; ++i)
      for (size_t c = 0; c < connections; ++c) waiting_.push_back(c);
  }

  bool empty() const { return waiting_.empty(); }
  void Add(size_t connection) { waiting_.push_back(connection); }
  size_t Take() {
    const size_t first = waiting_.front();
    waiting_.pop_front();
    return first;
  }

 private:
  std::deque<size_t> waiting_;
};

}  // namespace

int PostedLists(int connections, int list) {
  return std::max(list == 1 ? 2 : 1, kDepth / (connections * list));
}

RandomTurns::RandomTurns(size_t connections, size_t active, int times)
    : times_(times), idle_(connections), left_(connections) {
  std::iota(idle_.begin(), idle_.end(), 0);
  for (size_t i = 0; i < active; ++i) Begin();
}

void RandomTurns::Begin() {
  std::swap(idle_[random_() % idle_.size()], idle_.back());
  const size_t next = idle_.back();
  idle_.pop_back();
  left_[next] = times_;
  for (int i = 0; i < times_; ++i) waiting_.push_back(next);
}

void RandomTurns::Add(size_t connection) {
  if (--left_[connection] > 0) return;
  Begin();
  idle_.push_back(connection);
}

size_t RandomTurns::Take() {
  const size_t first = waiting_.front();
  waiting_.pop_front();
  return first;
}

Queues::Queues(Pair& pair, int connections) : pair_(pair) {
  const int requests =
      std::max(PostedLists(connections, kMostInList) * kMostInList, PostedLists(connections, 1));

  cq_ = IfAble(verbs::Cq::Create(pair.a().context, PostedLists(connections, 1) * connections),
               "their CQ");
  for (int i = 0; i < connections; ++i) {
    const std::string what = fmt::format("QP {} of {}", i + 1, connections);
    from_.push_back(SomeQp(pair.a(), cq_, requests, what));
    to_.push_back(SomeQp(pair.b(), pair.b().cq, 1, what));
    try {
      links_.push_back(pair.Connect(from_.back(), to_.back()));
    } catch (const std::runtime_error& why) {
      throw Unable(fmt::format("{}: {}", what, why.what()));
    }
  }
}

template <typename Turns>
double Queues::Keep(size_t bytes, int list, Duration time, Turns& turns) const {
  // Posts between two polls.
  constexpr int kTurn = 16;
  std::vector<verbs::SendWr> requests(
      list, verbs::SendWr::Write(0, pair_.a().mr.Slice(0, bytes), pair_.b().mr.At(0)));
  long posted = 0, done = 0;
  Duration elapsed{0};

  for (int i = 0; i + 1 < list; ++i) requests[i].Unsignaled();
  const auto start = Clock::now();
  while (done < posted || !turns.empty()) {
    for (int i = 0; i < kTurn && !turns.empty(); ++i, posted += list) {
      const size_t connection = turns.Take();
      requests.back().raw()->wr_id = connection;
      Post(from_[connection], requests);
    }
    const auto completed = [&](const ibv_wc& wc) {
      done += list;
      if (elapsed < time) turns.Add(wc.wr_id);
    };
    if (turns.empty()) {
      Reap(cq_, completed);
    } else {
      ReapSome(cq_, completed);
    }
    elapsed = Clock::now() - start;
  }
  return done / elapsed.count();
}

double Queues::Stream(size_t bytes, int list, Duration time) const {
  Waiting turns(from_.size(), PostedLists(from_.size(), list));
  return Keep(bytes, list, time, turns);
}

double Queues::StreamRandom(size_t bytes, int list, int active, Duration time) const {
  RandomTurns turns(from_.size(), active, PostedLists(active, list));
  return Keep(bytes, list, time, turns);
}

}  // namespace srnbench
