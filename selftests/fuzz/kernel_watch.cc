// SPDX-License-Identifier: GPL-2.0-only
#include "kernel_watch.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>

#include <fmt/format.h>

#include <result/must.h>

#include "target.h"

namespace fuzz {
namespace {

// KASAN keeps freed memory for a while: up to a 32nd of all.
constexpr long kMayGo = 160 << 10;  // KiB
constexpr size_t kLongestLine = 8192;

std::string Taint() {
  std::string taint;
  std::ifstream("/proc/sys/kernel/tainted") >> taint;
  return taint;
}

long Available() {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    long kib = 0;
    if (sscanf(line.c_str(), "MemAvailable: %ld", &kib) == 1) return kib;
  }
  return 0;
}

std::optional<regex_t> Compile(const std::string& words) {
  if (words.empty()) return std::nullopt;
  regex_t compiled;
  if (regcomp(&compiled, words.c_str(), REG_EXTENDED | REG_NOSUB) != 0)
    throw result::SetupFailure("no regular expression: " + words);
  return compiled;
}

bool Matches(const std::optional<regex_t>& words, const char* line) {
  return words && regexec(&*words, line, 0, nullptr, 0) == 0;
}

}  // namespace

KernelWatch::KernelWatch(const LogWords& words)
    : taint_(Taint()),
      log_(open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC)),
      bad_(Compile(words.bad)),
      allowed_(Compile(words.allowed)) {
  (void)lseek(log_.get(), 0, SEEK_END);
}

KernelWatch::~KernelWatch() {
  for (std::optional<regex_t>* words : {&bad_, &allowed_})
    if (*words) regfree(&**words);
}

bool KernelWatch::IsBad(const char* line) const {
  return Matches(bad_, line) && !Matches(allowed_, line);
}

// One read is one record. Of those that are gone before they were read, EPIPE tells.
void KernelWatch::CheckReports() {
  char line[kLongestLine + 1];
  for (;;) {
    const ssize_t got = read(log_.get(), line, kLongestLine);
    if (got < 0 && (errno == EPIPE || errno == EINTR)) continue;
    if (got <= 0) break;
    line[got] = '\0';
    if (IsBad(line)) throw Broken(fmt::format("the kernel reported something: {}", line));
  }
  const std::string now = Taint();
  if (now != taint_)
    throw Broken(fmt::format("the kernel reported something: taint {}, was {}", now, taint_));
}

void KernelWatch::CheckMemory() {
  const long now = Available();
  if (available_ == 0) available_ = now;
  if (now < available_ - kMayGo)
    throw Broken(fmt::format("memory goes: {} KiB available, were {}", now, available_));
}

}  // namespace fuzz
