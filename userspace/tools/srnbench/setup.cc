// SPDX-License-Identifier: GPL-2.0-only
#include "setup.h"

#include <malloc.h>

#include <thread>
#include <vector>

#include "memory.h"
#include "posting.h"

namespace srnbench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint32_t kRequests = 16;
constexpr std::chrono::milliseconds kGrace{200};

verbs::Qp SmallQp(const End& end) {
  return Must(verbs::Qp::Create(end.pd, end.cq, end.cq,
                                {.max_send_wr = kRequests,
                                 .max_recv_wr = kRequests,
                                 .max_send_sge = 1,
                                 .max_recv_sge = 1}),
              "QP");
}

struct Connection {
  verbs::Qp a, b;

  explicit Connection(Pair& pair) : a(SmallQp(pair.a())), b(SmallQp(pair.b())) {
    Check(verbs::Connect(a, pair.a().port, b, pair.b().port));
  }
};

// Calls `once` for `time`; how often a second.
template <typename F>
double PerSecond(Duration time, F once) {
  const auto start = Clock::now();
  long rounds = 0;
  Duration elapsed{0};

  do {
    once();
    ++rounds;
    elapsed = Clock::now() - start;
  } while (elapsed < time);
  return rounds / elapsed.count();
}

}  // namespace

double Connections(Pair& pair, Duration time) {
  return PerSecond(time, [&] { Connection connection(pair); });
}

double Registrations(Pair& pair, Duration time) {
  return PerSecond(time, [&] { Must(verbs::Mr::Register(pair.a().pd, pair.a().bytes), "MR"); }) *
         kHugePage;
}

double IdleQp(Pair& pair, int count) {
  const int first = count / 20;
  std::vector<Connection> connections;
  connections.reserve(first + count / 2);
  // What was freed before is given back, by the kernel after a grace period; and what is left of
  // that, in slabs that are partly used, goes to QPs that are not counted.
  malloc_trim(0);
  std::this_thread::sleep_for(kGrace);
  for (int i = 0; i < first; ++i) connections.emplace_back(pair);
  const double before = MemoryInUse();
  for (int i = 0; i < count / 2; ++i) connections.emplace_back(pair);
  return (MemoryInUse() - before) / count;
}

}  // namespace srnbench
