// SPDX-License-Identifier: GPL-2.0-only
// What an arena should look like, byte by byte: the gaps too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <verbs/buffer.h>

#include "layout.h"
#include "plan.h"

namespace srnverify {

using verbs::Bytes;
using verbs::ConstBytes;

// What the message of a step has in it.
std::vector<std::byte> Payload(const Step& step);

// The first `length` bytes behind `skip` of those in `extents` of an arena.
std::vector<std::byte> Gather(ConstBytes arena, const std::vector<Extent>& extents, uint64_t skip,
                              uint64_t length);

class Image {
 public:
  // As it is before the round begins: the gaps have a pattern of their own, so have places that
  // will be written; what is sent or read is in place.
  Image(const Round& round, const Layout& layout, int side);

  ConstBytes bytes() const { return bytes_; }
  void Put(Extent extent, ConstBytes what);
  // Over the elements, `skip` bytes behind their beginning.
  void Scatter(const std::vector<Extent>& extents, uint64_t skip, ConstBytes what);
  // Takes what is there, of the elements from `skip` on: nothing is known of it.
  void Accept(const std::vector<Extent>& extents, uint64_t skip, uint64_t length, ConstBytes arena);

  // The first place where the arena is not as it should be.
  std::optional<uint64_t> FirstDifference(ConstBytes arena) const;

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace srnverify
