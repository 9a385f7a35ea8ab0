// SPDX-License-Identifier: GPL-2.0-only
// A device's hw_counters as they are now. What sysfs shows may be as old as a tick: the core keeps
// it for a while; netlink asks the driver each time.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>

#include <result/result.h>
#include <verbs/context.h>

#include "nl.h"

namespace verbs_test {

// All of them at one time.
class HwCounts {
 public:
  explicit HwCounts(std::map<std::string, uint64_t> values) : values_(std::move(values)) {}
  // The sum of these; a counter that is not there ends the test.
  uint64_t Sum(std::initializer_list<const char*> names) const;

 private:
  std::map<std::string, uint64_t> values_;
};

class HwCounters {
 public:
  // Of port 1.
  static result::Result<HwCounters> Open(const verbs::Context& context);

  HwCounters() = default;
  HwCounts Read() const;
  // One of them, now.
  uint64_t operator[](const char* name) const { return Read().Sum({name}); }

 private:
  NlSocket socket_;
  uint32_t device_ = 0;
};

}  // namespace verbs_test
