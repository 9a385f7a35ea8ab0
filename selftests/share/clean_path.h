// SPDX-License-Identifier: GPL-2.0-only
// RC repairs what is lost, so a fault that loses packets passes every test that compares bytes.
// Here the counters say it: those of damage may not move in a test that means no damage.
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "counters.h"

namespace share {

// Tests that mean damage, and the counters that it may move.
struct Allowance {
  std::string tests;     // names as GoogleTest has them, with * and ?
  std::string counters;  // names, with blanks between; * for all
};

// True if the name matches the pattern, in which * stands for any characters and ? for one.
bool Matches(const std::string& pattern, const std::string& name);

// By how much the counters of damage grew that no allowance for the test covers.
CounterValues Damage(const CounterValues& before, const CounterValues& after,
                     const std::vector<Allowance>& allowances, const std::string& test);

// Whether a counter of damage may tell of the machine alone, where that has so many CPUs: with more
// than one packets overtake each other, and CPUs are fought for.
bool Excused(const std::string& counter, unsigned cpus);

// Takes out probes, two in all at most, of requests that the peer had: a machine that stands still
// for a while asks what became of the last one, and of a path that loses nothing this is all that
// is seen. Not if anything else is damaged, or if the peer knew one of them not: that one was lost.
// (A lost ACK looks the same.) `damage`: of each device; what is taken out is returned.
std::vector<CounterValues> TakeProbes(std::vector<CounterValues>& damage);

// Looks at the devices' counters before and after each test. Probes are taken out of a few tests
// alone: a machine stands still now and then, but what loses the ACK of each connection damages
// most of them.
class CleanPath : public testing::EmptyTestEventListener {
 public:
  CleanPath(std::vector<std::string> devices, std::vector<Allowance> allowances)
      : devices_(std::move(devices)), allowances_(std::move(allowances)) {}

  void OnTestProgramStart(const testing::UnitTest& all) override;
  void OnTestStart(const testing::TestInfo& test) override;
  void OnTestEnd(const testing::TestInfo& test) override;

 private:
  std::vector<std::string> devices_;
  std::vector<Allowance> allowances_;
  std::vector<CounterValues> before_;
  int asked_ = 0;  // tests of which probes were taken out
};

}  // namespace share
