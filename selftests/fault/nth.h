// SPDX-License-Identifier: GPL-2.0-only
// An operation with its first allocation failing, then with its second, and so on until it has no
// more: what the kernel calls fail-nth. Which allocations, and copies from and to the program,
// count is the suite's choice (faults.sh): those of the module and of whom it calls.
#pragma once

#include <functional>
#include <source_location>

namespace fault {

struct Operation {
  // Does it, once. 0 or an errno.
  std::function<int()> act;
  // Takes back what a successful act() did.
  std::function<void()> undo = [] {};
};

// Runs the operation with its N-th fault, N = 1, 2, ... After each: it said an errno that tells of
// a fault, or succeeded in spite of it; as many objects are there as before; done again, without a
// fault, it succeeds. The test fails where less than `least` faults were met: nothing was tested.
void FailEach(const Operation& operation, int least,
              std::source_location where = std::source_location::current());

}  // namespace fault
