// SPDX-License-Identifier: GPL-2.0-only
// What is fuzzed: something that does as an input says, and knows what must hold whatever it says.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "source.h"

namespace fuzz {

// Something that must hold does not.
struct Broken : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Target {
 public:
  virtual ~Target() = default;

  // Inputs are made of pieces of this many bytes, so that a piece can be moved or left out without
  // the others getting another meaning.
  virtual size_t piece() const = 0;
  virtual size_t max_pieces() const { return 24; }
  // Inputs written by hand, to begin with: what takes several pieces in the right order.
  virtual std::vector<Input> Seeds() const { return {}; }
  virtual void Run(const Input& input) = 0;
  // After many inputs: throws Broken, or what a test's assertion throws.
  virtual void Check() = 0;
};

// How a target is asked for on the command line.
struct TargetInfo {
  const char* name;
  const char* what;
  // Runs in this thread, where KCOV sees it; else gcov's counters are read.
  bool in_task;
  std::unique_ptr<Target> (*create)();
};

// All there are.
const std::vector<TargetInfo>& Targets();

std::unique_ptr<Target> CreatePackets();
std::unique_ptr<Target> CreateMads();
std::unique_ptr<Target> CreateUverbs();
std::unique_ptr<Target> CreateWords();
std::unique_ptr<Target> CreateNetlink();

}  // namespace fuzz
