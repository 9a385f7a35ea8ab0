// SPDX-License-Identifier: GPL-2.0-only
// This thread, for a while in another network namespace.
#pragma once

#include <fcntl.h>
#include <sched.h>

#include <string>

#include <net/fd.h>
#include <result/must.h>

namespace verbs_test {

class Inside {
 public:
  // As `ip netns` names it. Throws SetupFailure.
  explicit Inside(const std::string& netns)
      : back_(::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC)) {
    const net::UniqueFd there(::open(("/run/netns/" + netns).c_str(), O_RDONLY | O_CLOEXEC));
    if (setns(there.get(), CLONE_NEWNET)) throw result::SetupFailure("no namespace " + netns);
  }
  ~Inside() { (void)setns(back_.get(), CLONE_NEWNET); }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  net::UniqueFd back_;
};

}  // namespace verbs_test
