// SPDX-License-Identifier: GPL-2.0-only
// How long the kernel works on one call. A program may wait as long as it likes, but what it can
// have the kernel do at a stretch holds up all others.
//
// User-Mode Linux takes what its host gives to others for the time of whoever runs: the limit is
// far above what any call needs, and for a host that is very busy there is SRN_FUZZ_SLOW.
#pragma once

#include <ctime>

namespace fuzz {

// Counts from here to the end of its life as one call of this thread. The time is that of the
// thread, so that a busy machine makes no difference.
class CallTime {
 public:
  // `times`: how much more than others it may take.
  explicit CallTime(const char* name, double times = 1);
  ~CallTime();
  CallTime(const CallTime&) = delete;

  // Throws Broken if a call of any thread took more than two seconds; SRN_FUZZ_SLOW multiplies
  // them.
  static void Check();

 private:
  const char* name_;
  double times_;
  timespec began_;
};

}  // namespace fuzz
