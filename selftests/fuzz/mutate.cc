// SPDX-License-Identifier: GPL-2.0-only
#include "mutate.h"

#include <algorithm>
#include <iterator>

namespace fuzz {

void Mutator::Append(Input& input, size_t size) {
  std::generate_n(std::back_inserter(input), size,
                  [this] { return static_cast<uint8_t>(random_()); });
}

Input Mutator::Fresh() {
  Input input;
  Append(input, piece_ * (1 + Below(max_pieces_)));
  return input;
}

void Mutator::ChangeByte(Input& input) {
  static constexpr uint8_t kBytes[] = {0, 1, 0x7f, 0x80, 0xfe, 0xff};
  uint8_t& byte = input[Below(input.size())];
  switch (Below(4)) {
    case 0:
      byte = kBytes[Below(std::size(kBytes))];
      break;
    case 1:
      byte = static_cast<uint8_t>(byte ^ 1u << Below(8));
      break;
    case 2:
      byte = static_cast<uint8_t>(byte + (Below(2) ? 1 : -1));
      break;
    default:
      byte = static_cast<uint8_t>(random_());
  }
}

// Some pieces of `from`, inserted at the border of a piece.
void Mutator::CopyPieces(Input& input, const Input& from) {
  const size_t pieces = from.size() / piece_;
  if (pieces == 0) return;
  const size_t first = Below(pieces);
  const size_t count = 1 + Below(std::min<size_t>(pieces - first, 4));
  const Input copy(from.begin() + static_cast<ptrdiff_t>(first * piece_),
                   from.begin() + static_cast<ptrdiff_t>((first + count) * piece_));
  const size_t at = Below(input.size() / piece_ + 1) * piece_;
  input.insert(input.begin() + static_cast<ptrdiff_t>(at), copy.begin(), copy.end());
}

void Mutator::DropPieces(Input& input) {
  const size_t pieces = input.size() / piece_;
  if (pieces < 2) return;
  const auto at = input.begin() + static_cast<ptrdiff_t>(Below(pieces) * piece_);
  input.erase(at, at + static_cast<ptrdiff_t>(piece_));
}

void Mutator::Step(Input& input, const Input& other) {
  switch (Below(8)) {
    case 0:
      return CopyPieces(input, other);
    case 1:
      return CopyPieces(input, Input(input));
    case 2:
      return DropPieces(input);
    case 3:
      input.resize(input.size() / piece_ * piece_);
      return Append(input, piece_);
    default:
      return ChangeByte(input);
  }
}

Input Mutator::Mutate(Input input, const Input& other) {
  if (input.empty()) return Fresh();
  for (uint32_t steps = 1u << Below(5); steps > 0; --steps) Step(input, other);
  if (input.size() > max_pieces_ * piece_) input.resize(max_pieces_ * piece_);
  return input;
}

}  // namespace fuzz
