// SPDX-License-Identifier: GPL-2.0-only
#include "cost.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <stdexcept>

#include <fmt/format.h>

namespace srnbench {
namespace {

constexpr char kTracepoint[] = "/sys/kernel/tracing/events/raw_syscalls/sys_enter/id";

int OpenTracepoint(uint64_t id) {
  perf_event_attr attr = {};

  attr.size = sizeof(attr);
  attr.type = PERF_TYPE_TRACEPOINT;
  attr.config = id;
  return syscall(SYS_perf_event_open, &attr, /*pid=*/0, /*cpu=*/-1, /*group=*/-1, /*flags=*/0);
}

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double IdleNow() {
  std::ifstream stat("/proc/stat");
  return IdleSeconds(stat);
}

}  // namespace

SystemCalls::SystemCalls() {
  uint64_t id;
  if (!(std::ifstream(kTracepoint) >> id)) {
    why_not_ = fmt::format("{}: cannot read", kTracepoint);
    return;
  }
  fd_ = OpenTracepoint(id);
  if (fd_ < 0) why_not_ = fmt::format("perf_event_open: {}", std::strerror(errno));
}

SystemCalls::~SystemCalls() {
  if (fd_ >= 0) close(fd_);
}

Figure SystemCalls::Count() {
  uint64_t count;
  if (fd_ < 0) return Figure::None(why_not_);
  if (read(fd_, &count, sizeof(count)) != sizeof(count)) return Figure::None("cannot read");
  // It has entered the kernel itself.
  return static_cast<double>(count) - ++asked_;
}

Figure HwCounter(const std::string& device, const std::string& name) {
  for (const char* where : {"ports/1/hw_counters", "hw_counters"}) {
    double value;
    if (std::ifstream(fmt::format("/sys/class/infiniband/{}/{}/{}", device, where, name)) >> value)
      return value;
  }
  return Figure::None(fmt::format("{} has no counter '{}'", device, name));
}

double IdleSeconds(std::istream& stat) {
  std::string name;
  double user, nice, system, idle, iowait;
  if (!(stat >> name >> user >> nice >> system >> idle >> iowait) || name != "cpu")
    throw std::runtime_error("/proc/stat: no line of all processors");
  return (idle + iowait) / sysconf(_SC_CLK_TCK);
}

BusyTime::BusyTime() : started_(Now()), idle_(IdleNow()) {}

double BusyTime::Since() const {
  return (Now() - started_) * sysconf(_SC_NPROCESSORS_ONLN) - (IdleNow() - idle_);
}

Figure Each(const Figure& before, const Figure& after, double messages) {
  if (!before.why_not.empty()) return before;
  if (!after.why_not.empty()) return after;
  if (messages <= 0) return Figure::None("no message went");
  return (after.value - before.value) / messages;
}

}  // namespace srnbench
