// SPDX-License-Identifier: GPL-2.0-only
#include "nth.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include <gmock/gmock.h>

#include "objects.h"

namespace fault {
namespace {

constexpr char kFile[] = "/proc/thread-self/fail-nth";
// More than any operation here asks for.
constexpr int kMost = 2000;

void Arm(int nth) {
  std::ofstream file(kFile);
  file << nth << std::flush;
  ASSERT_TRUE(file.good()) << kFile;
}

// Ends it. True if there was a fault.
bool Disarm() {
  int left = -1;
  std::ifstream(kFile) >> left;
  Arm(0);
  EXPECT_GE(left, 0) << kFile;
  return left == 0;
}

bool TellsOfAFault(int error) {
  // What an allocation, a charge, and a copy to or from the program fail with; and what write(2)
  // and mmap(2) make of that; ENFILE is what the kernel says when there is no memory for a socket.
  return error == 0 || error == ENOMEM || error == EFAULT || error == EAGAIN || error == ENOBUFS ||
         error == ENFILE;
}

void DoAndUndo(const Operation& operation) {
  const int error = operation.act();
  EXPECT_EQ(error, 0) << std::strerror(error) << " without a fault";
  if (!error) operation.undo();
}

// True if there was an N-th allocation.
bool FailOne(const Operation& operation, int nth) {
  SCOPED_TRACE(testing::Message() << "fault " << nth);
  Arm(nth);
  const int error = operation.act();
  const bool fault = Disarm();

  EXPECT_TRUE(TellsOfAFault(error)) << std::strerror(error);
  EXPECT_TRUE(fault || !error) << std::strerror(error) << " without a fault";
  if (!error) operation.undo();
  return fault;
}

// To the next one. Of hundreds that are alike, the pages of a queue, a few will do.
int After(int nth) {
  static const bool each = std::getenv("SRN_LONG") && *std::getenv("SRN_LONG");
  return nth + (each || nth < 64 ? 1 : nth / 8);
}

}  // namespace

void FailEach(const Operation& operation, int least, std::source_location where) {
  testing::ScopedTrace trace(where.file_name(), static_cast<int>(where.line()), "operation");
  int nth = 1, met = 0;

  DoAndUndo(operation);
  const std::string before = CountObjects();
  while (nth < kMost && FailOne(operation, nth)) {
    EXPECT_EQ(CountObjects(), before) << "after fault " << nth;
    DoAndUndo(operation);
    if (testing::Test::HasFailure()) return;
    nth = After(nth);
    met++;
  }
  EXPECT_EQ(CountObjects(), before);
  EXPECT_LT(nth, kMost) << "it never came to an end";
  EXPECT_GE(met, least) << "faults met";
  testing::Test::RecordProperty("faults", met);
}

}  // namespace fault
