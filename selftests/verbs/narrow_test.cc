// SPDX-License-Identifier: GPL-2.0-only
// A wire that many share, and that queues 200 KB, or as the system has it: what it drops is little,
// and costs little.
#include <algorithm>
#include <numeric>
#include <ostream>
#include <string>

#include <share/parameter.h>

#include "dumbbell.h"

namespace verbs_test {
namespace {

// What messages moved, in bytes per second: what is sent twice does not count.
double Goodput(const Course& course) {
  return std::accumulate(course.bytes.begin(), course.bytes.end(), 0.0) / course.Seconds();
}

double Lost(const Course& course) {
  return double(course.Drops()) / std::max(course.Drops() + course.Packets(), 1u);
}

// A wire that queues 200 KB, and what Linux has by default.
constexpr char kFifo[] = "bfifo limit 200000", kCodel[] = "fq_codel";

// The goals. What is missed is looked after by a bound against becoming worse.
constexpr double kPart = 0.9, kLost = 0.01;

struct Cell {
  const char* recovery;
  Load load;
  int count;
  const char* leaf = kFifo;
  double part = kPart;  // of what one QP moves, at least
  double lost = kLost;  // of the packets, at most
};

std::string Name(const Cell& cell) {
  return std::string(cell.recovery) + ToString(cell.load) + std::to_string(cell.count) +
         (cell.leaf == kCodel ? "Codel" : "");
}

void PrintTo(const Cell& cell, std::ostream* os) { *os << Name(cell); }

class Narrow : public Dumbbell, public testing::WithParamInterface<Cell> {
 protected:
  void SetUp() override {
    Dumbbell::SetUp();
    if (!testing::Test::IsSkipped()) Set("recovery", GetParam().recovery);
  }

  double Alone() {
    Flows flows(from_, to_, {.load = GetParam().load, .count = 1, .message = 65536, .depth = 8});
    flows.Start();
    Run(flows, 0.3);
    const double rate = Goodput(Run(flows, 0.5));
    Drain(flows);
    return rate;
  }

  const share::ScopedParameter recovery_{"recovery"};
};

TEST_P(Narrow, KeepsItsRate) {
  const Cell& cell = GetParam();
  Wire(cell.leaf);
  const double alone = Alone();
  Flows flows(from_, to_, {.load = cell.load, .count = cell.count, .message = 65536, .depth = 4});
  flows.Start();
  const Course begin = Run(flows, 0.5), course = Run(flows, 2);
  const double part = Goodput(course) / alone;
  printf(
      "# %s: messages %.3f of one QP's (goal 0.9), who moves %.3f of the wire, lost %.2f "
      "%% "
      "(goal 1 %%; in the first half second %.2f %%), Jain %.4f, queue mean %.1f KB\n",
      Name(cell).c_str(), part, alone / kWire, 100 * Lost(course), 100 * Lost(begin),
      Jain(course.bytes), course.MeanBacklog() / 1e3);
  EXPECT_EQ(flows.errors(), 0);
  EXPECT_GE(part, cell.part);
  EXPECT_LE(Lost(course), cell.lost);
}
INSTANTIATE_TEST_SUITE_P(
    Of, Narrow,
    testing::Values(
        Cell{"hold", Load::kWrite, 16}, Cell{"hold", Load::kSend, 16},
        Cell{"hold", Load::kRead, 16}, Cell{"hold", Load::kWrite, 64},
        Cell{"hold", Load::kSend, 64}, Cell{"hold", Load::kRead, 64},
        Cell{"sack", Load::kWrite, 16}, Cell{"sack", Load::kSend, 16},
        Cell{"sack", Load::kRead, 16}, Cell{"sack", Load::kWrite, 64},
        Cell{"sack", Load::kSend, 64}, Cell{"sack", Load::kRead, 64},
        // One packet each is more than the wire queues: 3 and 6 % are lost.
        Cell{"sack", Load::kWrite, 256, kFifo, kPart, 0.06},
        Cell{"sack", Load::kRead, 256, kFifo, kPart, 0.1}, Cell{"sack", Load::kWrite, 16, kCodel},
        Cell{"sack", Load::kWrite, 64, kCodel}, Cell{"sack", Load::kRead, 64, kCodel},
        // What begins fills its 10,240 packets, which is 0.44 s of the wire. It was 0.84, 4 % lost
        // (0.28 and 70 % while what goes again and again told nothing of the path).
        Cell{"sack", Load::kWrite, 256, kCodel, 0.7, 0.12}),
    [](const auto& info) { return Name(info.param); });

}  // namespace
}  // namespace verbs_test
