// SPDX-License-Identifier: GPL-2.0-only
// What has to hold: else the program dies, and libFuzzer keeps the input.
#pragma once

#include <cstdio>
#include <cstdlib>

inline void Require(bool right, const char* what) {
  if (right) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}
