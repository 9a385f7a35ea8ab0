// SPDX-License-Identifier: GPL-2.0-only
// The hosts and the queue of congestion.sh, and what is seen of them while messages go.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "flows.h"
#include "queue.h"

namespace verbs_test {

// Bytes per second that the queue lets go.
constexpr double kWire = 200e6 / 8;

// One look at the queue, in seconds of the steady clock.
struct Sample {
  double at;
  QueueStats queue;
};

// What happened in a time.
struct Course {
  std::vector<Sample> samples;
  std::vector<uint64_t> bytes;  // by connection

  double Seconds() const { return samples.back().at - samples.front().at; }
  // That left the queue, in bytes per second.
  double Rate() const;
  double MeanBacklog() const;
  // What `part` of all looks at the queue, 0 to 1, found no more than.
  uint32_t Backlog(double part) const;
  uint32_t Drops() const;
  uint32_t Packets() const;
  uint32_t Marked() const;
};

class Dumbbell : public testing::Test {
 protected:
  void SetUp() override;

  // A parameter of the module, for connections that come.
  static void Set(const char* parameter, const char* value);
  // The wire: kWire, with the queueing discipline `leaf` ("red limit ..."). Each test begins with
  // it.
  void Wire(const std::string& leaf);
  // Marks from 5 KB on, up to a half at 120 KB, all from there on.
  void MarkingWire(uint32_t limit = 400'000);

  // Lets messages go on for so long, looking at the queue each millisecond.
  Course Run(Flows& flows, double seconds);
  // The same, and ends when `until` says so.
  Course RunUntil(Flows& flows, double seconds, const std::function<bool()>& until);
  // Lets what is under way end.
  void Drain(Flows& flows);

  static double Now();

  std::vector<Host> from_;
  Host to_;
  std::optional<QueueWatch> queue_;
};

// Runs a program whose words have blanks between them.
void Shell(const std::string& line);

}  // namespace verbs_test
