/* SPDX-License-Identifier: GPL-2.0-only */
/* Atomics on keyed memory, atomic towards the CPUs too. */
#ifndef SRN_ATOMIC_H
#define SRN_ATOMIC_H

#include "mem.h"

/* @addr is proven, 8-byte aligned in memory and by address. Return the old value, host order. */
u64 srn_atomic_cmp_swap(const struct srn_mem *mem, u64 addr, u64 compare, u64 swap);
u64 srn_atomic_fetch_add(const struct srn_mem *mem, u64 addr, u64 add);
/* One 8-byte store that no reader sees half done; @value as on the wire (not swapped). */
void srn_atomic_write(const struct srn_mem *mem, u64 addr, u64 value);

#endif
