// SPDX-License-Identifier: GPL-2.0-only
// KCOV: Documentation/dev-tools/kcov.rst of the kernel.
#include <fcntl.h>
#include <linux/kcov.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include <unordered_map>

#include <net/fd.h>

#include "coverage.h"

namespace fuzz {
namespace {

constexpr size_t kWords = 256 << 10;

class Kcov : public Coverage {
 public:
  Kcov(net::UniqueFd fd, uint64_t* words) : fd_(std::move(fd)), words_(words) {}
  ~Kcov() override { munmap(words_, kWords * sizeof(*words_)); }

  const char* unit() const override { return "edges"; }
  int batch() const override { return 1; }
  size_t total() const override { return edges_.size(); }
  void Begin() override { __atomic_store_n(&words_[0], 0, __ATOMIC_RELAXED); }
  bool End() override {
    const uint64_t count = __atomic_load_n(&words_[0], __ATOMIC_RELAXED);
    std::unordered_map<uint64_t, uint32_t> times;
    uint64_t from = 0;
    for (uint64_t i = 1; i <= count; ++i) {
      ++times[from * 31 ^ words_[i]];
      from = words_[i];
    }
    bool fresh = false;
    for (const auto& [edge, often] : times) {
      uint32_t& buckets = edges_[edge];
      fresh |= !(buckets & CountBucket(often));
      buckets |= CountBucket(often);
    }
    return fresh;
  }
  // Begin() forgets it.
  void Discard() override {}

 private:
  net::UniqueFd fd_;
  uint64_t* words_;
  std::unordered_map<uint64_t, uint32_t> edges_;  // the buckets that were seen of each
};

class None : public Coverage {
 public:
  const char* unit() const override { return "(not measured)"; }
  int batch() const override { return 16; }
  size_t total() const override { return 0; }
  void Begin() override {}
  bool End() override { return false; }
  void Discard() override {}
};

}  // namespace

std::unique_ptr<Coverage> OpenKcov() {
  net::UniqueFd fd(open("/sys/kernel/debug/kcov", O_RDWR | O_CLOEXEC));
  if (fd.get() < 0 || ioctl(fd.get(), KCOV_INIT_TRACE, kWords) != 0) return nullptr;
  void* words =
      mmap(nullptr, kWords * sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (words == MAP_FAILED) return nullptr;
  if (ioctl(fd.get(), KCOV_ENABLE, KCOV_TRACE_PC) != 0) return nullptr;
  return std::make_unique<Kcov>(std::move(fd), static_cast<uint64_t*>(words));
}

std::unique_ptr<Coverage> NoCoverage() { return std::make_unique<None>(); }

}  // namespace fuzz
