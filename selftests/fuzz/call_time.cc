// SPDX-License-Identifier: GPL-2.0-only
#include "call_time.h"

#include <cerrno>
#include <cstdlib>
#include <mutex>

#include <fmt/format.h>

#include "target.h"

namespace fuzz {
namespace {

constexpr double kMost = 2;  // seconds

std::mutex mutex;
double longest = 0;  // seconds
const char* longest_name = "";

timespec Now() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now;
}

double Limit() {
  const char* slow = std::getenv("SRN_FUZZ_SLOW");
  return kMost * (slow ? std::atof(slow) : 1);
}

}  // namespace

CallTime::CallTime(const char* name, double times) : name_(name), times_(times), began_(Now()) {}

// The caller looks at errno behind it.
CallTime::~CallTime() {
  const int error = errno;
  const timespec now = Now();
  const double took = static_cast<double>(now.tv_sec - began_.tv_sec) +
                      static_cast<double>(now.tv_nsec - began_.tv_nsec) * 1e-9;
  {
    const std::scoped_lock lock(mutex);
    if (took / times_ > longest) {
      longest = took / times_;
      longest_name = name_;
    }
  }
  errno = error;
}

void CallTime::Check() {
  static const double limit = Limit();
  const std::scoped_lock lock(mutex);
  if (longest > limit)
    throw Broken(fmt::format("{} kept the kernel busy for too long: {:.1f} times {:.1f} s",
                             longest_name, longest / limit, limit));
}

}  // namespace fuzz
