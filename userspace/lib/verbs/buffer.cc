// SPDX-License-Identifier: GPL-2.0-only
#include "buffer.h"

#include <utility>

namespace verbs {
namespace {

// One round of a 32-bit mixing function: neighbours get unrelated values.
std::byte PatternAt(uint32_t seed, size_t position) {
  uint32_t x = seed * 0x9e3779b9u + static_cast<uint32_t>(position);
  x ^= x >> 16;
  x *= 0x85ebca6bu;
  x ^= x >> 13;
  return static_cast<std::byte>(x);
}

}  // namespace

Buffer::Buffer(Buffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

Buffer::~Buffer() {
  if (data_) munmap(data_, size_);
}

Result<Buffer> Buffer::Map(size_t size, int prot, int flags) {
  void* p = mmap(nullptr, size, prot, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

  if (p == MAP_FAILED) return result::FromErrno("mmap");
  return Buffer(static_cast<std::byte*>(p), size);
}

void FillPattern(Bytes bytes, uint32_t seed) {
  for (size_t i = 0; i < bytes.size(); i++) bytes[i] = PatternAt(seed, i);
}

std::optional<size_t> FirstMismatch(ConstBytes bytes, uint32_t seed) {
  for (size_t i = 0; i < bytes.size(); i++)
    if (bytes[i] != PatternAt(seed, i)) return i;
  return std::nullopt;
}

std::optional<size_t> FirstOther(ConstBytes bytes, std::byte value) {
  for (size_t i = 0; i < bytes.size(); i++)
    if (bytes[i] != value) return i;
  return std::nullopt;
}

}  // namespace verbs
