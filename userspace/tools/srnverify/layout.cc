// SPDX-License-Identifier: GPL-2.0-only
#include "layout.h"

#include <algorithm>

namespace srnverify {
namespace {

constexpr uint32_t kLeastGap = 16;
constexpr uint32_t kMostGap = 96;
constexpr uint32_t kAtomicSize = 8;

// Most of it is a shared queue's receives, of which each has room for its largest message.
constexpr uint64_t kArena = 3 << 20, kArenaOfLane = 1 << 19;

int Peer(int side) { return 1 - side; }

// Of what a step reaches in the other end's memory.
uint64_t AlignOf(const Step& step) { return step.op == Op::kAtomicWrite ? kAtomicSize : 1; }

}  // namespace

uint64_t ArenaSize(const Recipe& recipe) {
  return kArena + recipe.max_size + static_cast<uint64_t>(recipe.qps) * kArenaOfLane;
}

Layout::Layout(const Round& round)
    : random_(round.fill),
      size_{kMostGap, kMostGap},
      local_(round.steps.size()),
      remote_(round.steps.size()) {
  for (size_t i = 0; i < round.words.size(); ++i)
    words_.push_back(Place(round.words[i].side, kAtomicSize, Area::kWord, i, kAtomicSize));
  PlaceWindows(round);
  PlaceSteps(round);
  for (size_t i = 0; i < round.receives.size(); ++i)
    receives_.push_back(
        PlaceAll(round.receives[i].side, round.receives[i].pieces, Area::kReceive, i));
  for (uint64_t& size : size_) size += kMostGap;
}

Extent Layout::Place(int side, uint32_t length, Area::Kind kind, size_t index, uint64_t align,
                     uint64_t position) {
  uint64_t& at = size_[side];
  at += random_.Within(kLeastGap, kMostGap);
  at = (at + align - 1) / align * align;
  const Extent extent{at, length};
  at += length;
  areas_[side].push_back({kind, index, extent, position});
  return extent;
}

std::vector<Extent> Layout::PlaceAll(int side, const std::vector<uint32_t>& lengths,
                                     Area::Kind kind, size_t index) {
  std::vector<Extent> extents;
  uint64_t position = 0;
  for (uint32_t length : lengths) {
    extents.push_back(Place(side, length, kind, index, /*align=*/1, position));
    position += length;
  }
  return extents;
}

// What goes through a window is within one range.
void Layout::PlaceWindows(const Round& round) {
  for (const Window& window : round.windows) {
    const uint64_t begin = size_[window.side];
    for (size_t i = 0; i < round.steps.size(); ++i) {
      const Step& step = round.steps[i];
      if (step.window && step.lane == window.lane && step.from == Peer(window.side))
        remote_[i] = Place(window.side, step.size, Area::kRemote, i, AlignOf(step));
    }
    size_[window.side] += kLeastGap;
    windows_.push_back({begin, static_cast<uint32_t>(size_[window.side] - begin)});
  }
}

void Layout::PlaceSteps(const Round& round) {
  for (size_t i = 0; i < round.steps.size(); ++i) {
    const Step& step = round.steps[i];
    local_[i] =
        step.echo >= 0 ? local_[step.echo] : PlaceAll(step.from, step.pieces, Area::kLocal, i);
    if (!IsRdma(step.op) || step.window) continue;
    if (!IsAtomic(step.op)) {
      remote_[i] = Place(Peer(step.from), step.size, Area::kRemote, i, AlignOf(step));
      continue;
    }
    for (size_t w = 0; w < round.words.size(); ++w)
      if (round.words[w].side == Peer(step.from) &&
          round.words[w].lane == (step.shared ? -1 : step.lane))
        remote_[i] = words_[w];
  }
}

const Layout::Area* Layout::Find(int side, uint64_t offset) const {
  const std::vector<Area>& areas = areas_[side];
  const auto after =
      std::upper_bound(areas.begin(), areas.end(), offset,
                       [](uint64_t value, const Area& area) { return value < area.extent.offset; });
  return after == areas.begin() ? nullptr : &*(after - 1);
}

}  // namespace srnverify
