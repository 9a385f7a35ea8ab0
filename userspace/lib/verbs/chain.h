// SPDX-License-Identifier: GPL-2.0-only
// Linking work requests into the lists that the post calls take.
#pragma once

#include <cstddef>
#include <span>

namespace verbs {

// Links the requests of `list` in order; the head, or null for none.
template <typename Raw, typename Wr>
Raw* Chain(std::span<Wr> list) {
  for (size_t i = 0; i < list.size(); i++)
    list[i].raw()->next = i + 1 < list.size() ? list[i + 1].raw() : nullptr;
  return list.empty() ? nullptr : list[0].raw();
}

// How many requests stand before `bad`; all of them if it is null.
template <typename Raw, typename Wr>
size_t CountBefore(std::span<Wr> list, const Raw* bad) {
  for (size_t i = 0; i < list.size(); i++)
    if (bad && list[i].raw() == bad) return i;
  return list.size();
}

}  // namespace verbs
