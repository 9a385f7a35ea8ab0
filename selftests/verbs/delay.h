// SPDX-License-Identifier: GPL-2.0-only
// The module's delay points (drivers/infiniband/sw/srn/fault.h).
#pragma once

#include <string>
#include <utility>

#include <share/parameter.h>

namespace verbs_test {

// Makes the window of a race as long as @p ms, where the kernel is one for debugging.
class Delay {
 public:
  Delay(std::string point, int ms) : point_(std::move(point)) { Set(ms); }
  ~Delay() { Set(0); }
  Delay(const Delay&) = delete;
  Delay& operator=(const Delay&) = delete;

  bool works() const { return works_; }

 private:
  void Set(int ms) { works_ = share::SetParameter("delay", point_ + '=' + std::to_string(ms)); }

  std::string point_;
  bool works_ = false;
};

}  // namespace verbs_test
