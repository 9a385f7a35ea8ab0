// SPDX-License-Identifier: GPL-2.0-only
// The module's reader of SACK packets, as C and C++ may call it.
#pragma once

#include "sack.h"

// BTH and AETH; the ICRC.
#define SACK_HEADERS 16
#define SACK_ICRC 4

// `bth`: `size` bytes from there on, without pad; the first `linear` of them, 12 or more, are in
// the skb's head. What is not set of `sack` and `map` is not zero.
bool read_sack(const u8* bth, size_t size, size_t linear, struct srn_sack* sack,
               struct srn_sack_map* map);
