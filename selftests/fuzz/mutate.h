// SPDX-License-Identifier: GPL-2.0-only
// Makes new inputs of old ones.
#pragma once

#include <random>

#include "source.h"

namespace fuzz {

class Mutator {
 public:
  Mutator(uint64_t seed, size_t piece, size_t max_pieces)
      : random_(seed), piece_(piece), max_pieces_(max_pieces) {}

  uint32_t Below(size_t count) { return static_cast<uint32_t>(random_() % count); }
  // An input of random pieces.
  Input Fresh();
  // `input` after a few changes; some take pieces of `other`.
  Input Mutate(Input input, const Input& other);

 private:
  void Step(Input& input, const Input& other);
  void ChangeByte(Input& input);
  void CopyPieces(Input& input, const Input& from);
  void DropPieces(Input& input);
  void Append(Input& input, size_t size);

  std::mt19937_64 random_;
  size_t piece_;
  size_t max_pieces_;
};

}  // namespace fuzz
