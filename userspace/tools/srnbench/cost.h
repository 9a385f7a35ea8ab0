// SPDX-License-Identifier: GPL-2.0-only
// What messages take beside time: system calls, doorbells, time of processors.
#pragma once

#include <istream>
#include <string>

#include "row.h"

namespace srnbench {

// How often this thread has called the kernel since the object was made, by the tracepoint
// raw_syscalls:sys_enter, which makes each call a little dearer.
class SystemCalls {
 public:
  SystemCalls();
  ~SystemCalls();
  SystemCalls(const SystemCalls&) = delete;
  SystemCalls& operator=(const SystemCalls&) = delete;

  // Without the call that asks for it.
  Figure Count();

 private:
  int fd_ = -1;
  std::string why_not_;
  double asked_ = 0;
};

// What a device counts by this name, of all its ports or of its first. The kernel may have read it
// up to 10 ms ago.
Figure HwCounter(const std::string& device, const std::string& name);

// Seconds that all processors together were idle, by /proc/stat, in whole 10 ms for each of them.
// Throws std::runtime_error for what is no such file.
double IdleSeconds(std::istream& stat);

// Seconds that the processors of this machine did anything.
class BusyTime {
 public:
  BusyTime();
  double Since() const;

 private:
  double started_;
  double idle_;
};

// How much of what grew from `before` to `after` each of `messages` took.
Figure Each(const Figure& before, const Figure& after, double messages);

}  // namespace srnbench
