// SPDX-License-Identifier: GPL-2.0-only
// Whether the kernel is still well: it has reported nothing, and its memory does not go.
#pragma once

#include <regex.h>

#include <optional>
#include <string>

#include <net/fd.h>

namespace fuzz {

// What in the kernel's log is a report, and which of these lines mean no harm: extended regular
// expressions as in selftests/lib/dmesg.sh, which has them. Empty: none is looked for.
struct LogWords {
  std::string bad;
  std::string allowed;
};

class KernelWatch {
 public:
  explicit KernelWatch(const LogWords& words);
  ~KernelWatch();
  KernelWatch(const KernelWatch&) = delete;

  // Throws Broken if the kernel got a taint since, as by KASAN's reports, warnings and oopses, or
  // has said something bad: UBSAN and lockdep leave no taint.
  void CheckReports();
  // Throws Broken if memory goes. What the first inputs took is not counted: caches fill.
  void CheckMemory();

 private:
  bool IsBad(const char* line) const;

  std::string taint_;
  net::UniqueFd log_;
  std::optional<regex_t> bad_, allowed_;
  long available_ = 0;  // KiB, 0 before the first look
};

}  // namespace fuzz
