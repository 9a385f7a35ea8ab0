// SPDX-License-Identifier: GPL-2.0-only
#include "setup.h"

#include <fstream>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "posting.h"

namespace srnbench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint32_t kRequests = 16;

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

// Of all that runs here, in bytes.
double MemoryInUse() {
  std::ifstream file("/proc/meminfo");
  double total = 0, available = 0, value;

  for (std::string key; file >> key >> value;
       file.ignore(std::numeric_limits<std::streamsize>::max(), '\n')) {
    if (key == "MemTotal:") total = value;
    if (key == "MemAvailable:") available = value;
  }
  if (total == 0 || available == 0) throw std::runtime_error("/proc/meminfo: cannot read");
  return (total - available) * 1024;
}

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
  std::vector<Connection> connections;
  connections.reserve(count / 2);
  const double before = MemoryInUse();
  for (int i = 0; i < count / 2; ++i) connections.emplace_back(pair);
  return (MemoryInUse() - before) / count;
}

}  // namespace srnbench
