// SPDX-License-Identifier: GPL-2.0-only
// Page-aligned memory to register, and the byte patterns that tests put there.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "result.h"

namespace verbs {

using Bytes = std::span<std::byte>;
using ConstBytes = std::span<const std::byte>;

// An anonymous mapping.
class Buffer {
 public:
  Buffer() = default;
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer();

  // `flags`: added to MAP_PRIVATE | MAP_ANONYMOUS (MAP_HUGETLB, ...).
  static Result<Buffer> Map(size_t size, int prot = PROT_READ | PROT_WRITE, int flags = 0);

  std::byte* data() const { return data_; }
  size_t size() const { return size_; }
  uint64_t addr() const { return reinterpret_cast<uint64_t>(data_); }
  Bytes bytes() const { return {data_, size_}; }
  Bytes Slice(size_t offset, size_t length) const { return bytes().subspan(offset, length); }

 private:
  Buffer(std::byte* data, size_t size) : data_(data), size_(size) {}

  std::byte* data_ = nullptr;
  size_t size_ = 0;
};

// Fills `bytes` with a pattern in which every byte depends on `seed` and on
// its position: a shifted, repeated or foreign piece does not verify.
void FillPattern(Bytes bytes, uint32_t seed);

// The position of the first byte that differs from FillPattern(seed).
std::optional<size_t> FirstMismatch(ConstBytes bytes, uint32_t seed);

// The position of the first byte that is not `value`.
std::optional<size_t> FirstOther(ConstBytes bytes, std::byte value);

}  // namespace verbs
