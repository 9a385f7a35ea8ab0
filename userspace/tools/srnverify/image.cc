// SPDX-License-Identifier: GPL-2.0-only
#include "image.h"

#include <algorithm>
#include <cstring>

namespace srnverify {
namespace {

// Calls `use` with each contiguous part of `length` bytes from `skip` on, and with its place among
// them.
template <typename Use>
void ForParts(const std::vector<Extent>& extents, uint64_t skip, uint64_t length, Use use) {
  uint64_t done = 0;
  for (const Extent& extent : extents) {
    if (skip >= extent.length) {
      skip -= extent.length;
      continue;
    }
    const uint64_t part = std::min(extent.length - skip, length - done);
    use(extent.offset + skip, done, part);
    done += part;
    skip = 0;
    if (done == length) return;
  }
}

ConstBytes AsBytes(const uint64_t& word) { return std::as_bytes(std::span(&word, 1)); }

}  // namespace

std::vector<std::byte> Payload(const Step& step) {
  std::vector<std::byte> payload(step.size);
  verbs::FillPattern(payload, step.pattern);
  return payload;
}

std::vector<std::byte> Gather(ConstBytes arena, const std::vector<Extent>& extents, uint64_t skip,
                              uint64_t length) {
  std::vector<std::byte> out(length);
  ForParts(extents, skip, length, [&](uint64_t offset, uint64_t place, uint64_t part) {
    std::copy_n(arena.begin() + offset, part, out.begin() + place);
  });
  return out;
}

Image::Image(const Round& round, const Layout& layout, int side) : bytes_(layout.size(side)) {
  verbs::FillPattern(bytes_, round.fill + 1 + side);
  for (size_t i = 0; i < round.words.size(); ++i)
    if (round.words[i].side == side) Put(layout.word(i), AsBytes(round.words[i].before));
  for (size_t i = 0; i < round.steps.size(); ++i) {
    const Step& step = round.steps[i];
    if (IsAtomic(step.op)) continue;
    if (step.op == Op::kRead) {
      if (step.from != side) Put(layout.remote(i), Payload(step));
    } else if (step.from == side && step.echo < 0) {
      Scatter(layout.local(i), 0, Payload(step));
    }
  }
}

void Image::Put(Extent extent, ConstBytes what) {
  std::copy(what.begin(), what.end(), bytes_.begin() + extent.offset);
}

void Image::Scatter(const std::vector<Extent>& extents, uint64_t skip, ConstBytes what) {
  ForParts(extents, skip, what.size(), [&](uint64_t offset, uint64_t place, uint64_t part) {
    std::copy_n(what.begin() + place, part, bytes_.begin() + offset);
  });
}

void Image::Accept(const std::vector<Extent>& extents, uint64_t skip, uint64_t length,
                   ConstBytes arena) {
  ForParts(extents, skip, length, [&](uint64_t offset, uint64_t, uint64_t part) {
    std::copy_n(arena.begin() + offset, part, bytes_.begin() + offset);
  });
}

std::optional<uint64_t> Image::FirstDifference(ConstBytes arena) const {
  const size_t size = std::min(arena.size(), bytes_.size());
  if (std::memcmp(arena.data(), bytes_.data(), size) == 0) return std::nullopt;
  const auto [mine, theirs] = std::mismatch(bytes_.begin(), bytes_.begin() + size, arena.begin());
  return static_cast<uint64_t>(mine - bytes_.begin());
}

}  // namespace srnverify
