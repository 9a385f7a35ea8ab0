// SPDX-License-Identifier: GPL-2.0-only
// Where the bytes of a round are: all of a thread's memory is one arena on each end, with gaps of
// odd lengths between what is used.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan.h"

namespace srnverify {

// More than a round needs on one end.
uint64_t ArenaSize(const Recipe& recipe);

struct Extent {
  uint64_t offset = 0;
  uint32_t length = 0;
};

class Layout {
 public:
  explicit Layout(const Round& round);

  // Of steps, by their index: elements in the arena of the end that posts, and the range in the
  // other's that they reach by address.
  const std::vector<Extent>& local(size_t step) const { return local_[step]; }
  Extent remote(size_t step) const { return remote_[step]; }
  // By their index as well.
  const std::vector<Extent>& receive(size_t receive) const { return receives_[receive]; }
  Extent word(size_t word) const { return words_[word]; }
  Extent window(size_t window) const { return windows_[window]; }
  // Used bytes of an end's arena, the gap behind the last included.
  uint64_t size(int side) const { return size_[side]; }

  // What is at that place.
  struct Area {
    enum Kind { kLocal, kRemote, kReceive, kWord } kind;
    size_t index;
    Extent extent;
    // Of the bytes before in the same message.
    uint64_t position;
  };
  // The area that has the byte, or else the last one before it, or null if it is the first gap.
  const Area* Find(int side, uint64_t offset) const;

 private:
  Extent Place(int side, uint32_t length, Area::Kind kind, size_t index, uint64_t align = 1,
               uint64_t position = 0);
  std::vector<Extent> PlaceAll(int side, const std::vector<uint32_t>& lengths, Area::Kind kind,
                               size_t index);
  void PlaceWindows(const Round& round);
  void PlaceSteps(const Round& round);

  Random random_;
  uint64_t size_[kSides];
  std::vector<std::vector<Extent>> local_;
  std::vector<Extent> remote_;
  std::vector<std::vector<Extent>> receives_;
  std::vector<Extent> words_;
  std::vector<Extent> windows_;
  // In the order of their places.
  std::vector<Area> areas_[kSides];
};

}  // namespace srnverify
