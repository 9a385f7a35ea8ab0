// SPDX-License-Identifier: GPL-2.0-only
// Where random tests begin: elsewhere each time, and where SRN_SEED says.
#pragma once

#include <cstdint>

namespace share {

// SRN_SEED, or a random number if that is not set. The same during the whole program; each call
// prints it, so that a failed test shows it.
uint64_t Seed();

// The same for a test whose name is a part of the seed: rows of a table are not alike.
uint64_t SeedOfTest();

}  // namespace share
