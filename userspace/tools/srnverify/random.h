// SPDX-License-Identifier: GPL-2.0-only
// Numbers from a seed, the same on every machine: the distributions of the standard library may
// differ from one to the next, and both ends must plan alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace srnverify {

// SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014).
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t Next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  uint32_t Next32() { return static_cast<uint32_t>(Next() >> 32); }
  // 0 to n - 1; n is small beside 2^64, so that the remainder is fair enough.
  uint32_t Below(uint32_t n) { return static_cast<uint32_t>(Next() % n); }
  // From `low` to `high`, both included.
  uint32_t Within(uint32_t low, uint32_t high) { return low + Below(high - low + 1); }
  bool Chance(uint32_t percent) { return Below(100) < percent; }

 private:
  uint64_t state_;
};

// Deals values in random order, each once before any comes again.
template <typename T>
class Deck {
 public:
  Deck() = default;
  explicit Deck(std::vector<T> cards) : cards_(std::move(cards)) {}

  bool empty() const { return cards_.empty(); }
  T Draw(Random& random) {
    if (left_ == 0) left_ = cards_.size();
    std::swap(cards_[random.Below(static_cast<uint32_t>(left_))], cards_[left_ - 1]);
    return cards_[--left_];
  }

 private:
  std::vector<T> cards_;
  size_t left_ = 0;
};

}  // namespace srnverify
