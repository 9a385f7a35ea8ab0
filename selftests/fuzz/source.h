// SPDX-License-Identifier: GPL-2.0-only
// An input read as choices: any bytes are a lawful input, and one that has come to its end says 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace fuzz {

using Input = std::vector<uint8_t>;

class Source {
 public:
  explicit Source(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  bool empty() const { return bytes_.empty(); }

  // The next `size` bytes as an input of their own: what is read of them moves nothing behind them.
  Source Part(size_t size) {
    size = std::min(size, bytes_.size());
    const Source part(bytes_.first(size));
    bytes_ = bytes_.subspan(size);
    return part;
  }

  template <typename T>
  T Take() {
    T value = {};
    const size_t size = std::min(sizeof(T), bytes_.size());
    std::memcpy(&value, bytes_.data(), size);
    bytes_ = bytes_.subspan(size);
    return value;
  }
  uint8_t Byte() { return Take<uint8_t>(); }
  uint32_t Word() { return Take<uint32_t>(); }
  // One byte decides: `count` is at most 256.
  uint32_t Below(uint32_t count) { return Byte() % count; }
  bool OneIn(uint32_t count) { return Below(count) == count - 1; }
  template <typename T, size_t N>
  T Pick(const T (&from)[N]) {
    static_assert(N <= 256);
    return from[Below(N)];
  }
  template <typename T>
  const T& Pick(const std::vector<T>& from) {
    return from[Take<uint16_t>() % from.size()];
  }
  // A number that is interesting to whoever checks bounds, now and then any.
  uint32_t Edge() {
    static constexpr uint32_t kEdges[] = {
        0,      1,       2,        3,         4,          7,          8,          15,
        16,     31,      32,       33,        63,         64,         127,        128,
        255,    256,     1023,     1024,      4095,       4096,       4097,       0x7fff,
        0xffff, 0x10000, 0xffffff, 0x1000000, 0x7fffffff, 0x80000000, 0xfffffff8, 0xffffffff};
    const uint8_t choice = Byte();
    return choice < 192 ? kEdges[choice % std::size(kEdges)] : Word();
  }

 private:
  std::span<const uint8_t> bytes_;
};

}  // namespace fuzz
