// SPDX-License-Identifier: GPL-2.0-only
// The counters that a module built with GCOV_PROFILE shows in debugfs, in the format of gcc 12.
#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <span>
#include <utility>
#include <vector>

#include <net/fd.h>

#include "coverage.h"

namespace fuzz {
namespace {

constexpr char kRoot[] = "/sys/kernel/debug/gcov";
constexpr size_t kHeaderWords = 4;  // magic, version, stamp, checksum
constexpr uint32_t kTagArcs = 0x01a10000;

// One object's data. It is read whole each time: seq_file makes all of it at the open.
class Object {
 public:
  explicit Object(std::string path) : path_(std::move(path)) {}

  // Adds to `total` the arcs that were run through for the first time; true if there are some, or
  // if one was run through more or less often, since the last look, than ever between two.
  bool Look(std::span<uint32_t> scratch, size_t& total) {
    const Words words = Read(scratch);
    bool fresh = false;
    size_t arc = 0;
    for (size_t at = kHeaderWords; at + 2 <= words.size();) {
      const uint32_t tag = words[at], size = words[at + 1] / sizeof(uint32_t);
      at += 2;
      if (size > words.size() - at) break;
      if (tag == kTagArcs) fresh |= LookAtArcs(words.subspan(at, size), arc, total);
      at += size;
    }
    return fresh;
  }

 private:
  using Words = std::span<const uint32_t>;

  struct Arc {
    uint64_t count = 0;
    uint32_t buckets = 0;  // that were seen
  };

  // A counter is two words.
  bool LookAtArcs(Words counters, size_t& at, size_t& total) {
    bool fresh = false;
    for (size_t i = 0; i + 1 < counters.size(); i += 2, ++at) {
      if (arcs_.size() <= at) arcs_.resize(at + 1);
      Arc& arc = arcs_[at];
      const uint64_t count = counters[i] | uint64_t{counters[i + 1]} << 32;
      const uint64_t before = std::exchange(arc.count, count);
      if (count == before) continue;
      total += arc.buckets == 0;
      const uint32_t bucket = CountBucket(count - before);
      fresh |= !(arc.buckets & bucket);
      arc.buckets |= bucket;
    }
    return fresh;
  }
  Words Read(std::span<uint32_t> scratch) const {
    const net::UniqueFd fd(open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    const auto bytes = std::as_writable_bytes(scratch);
    size_t size = 0;
    for (ssize_t got; (got = read(fd.get(), bytes.data() + size, bytes.size() - size)) > 0;)
      size += static_cast<size_t>(got);
    return scratch.first(size / sizeof(uint32_t));
  }

  std::string path_;
  std::vector<Arc> arcs_;
};

class Gcov : public Coverage {
 public:
  explicit Gcov(std::vector<Object> objects) : objects_(std::move(objects)), scratch_(1 << 18) {}

  const char* unit() const override { return "arcs"; }
  int batch() const override { return 8; }
  size_t total() const override { return total_; }
  void Begin() override {}
  bool End() override {
    bool fresh = false;
    for (Object& object : objects_) fresh |= object.Look(scratch_, total_);
    return fresh;
  }
  void Discard() override { (void)End(); }

 private:
  std::vector<Object> objects_;
  std::vector<uint32_t> scratch_;  // no object has more
  size_t total_ = 0;
};

}  // namespace

std::unique_ptr<Coverage> OpenGcov() {
  std::vector<Object> objects;
  std::error_code error;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kRoot, error)) {
    const std::string path = entry.path();
    if (path.find("/sw/srn/") != std::string::npos && path.ends_with(".gcda"))
      objects.emplace_back(path);
  }
  if (objects.empty()) return nullptr;
  std::ofstream(std::string(kRoot) + "/reset") << 0;  // what loading and others have reached
  return std::make_unique<Gcov>(std::move(objects));
}

}  // namespace fuzz
