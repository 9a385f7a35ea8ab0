// SPDX-License-Identifier: GPL-2.0-only
/* Atomics by the CPU's own instructions on the program's memory: no lock that
 * other devices, QPs and the program's threads would have to share.
 */
#include "atomic.h"

#include <kunit/visibility.h>
#include <linux/atomic.h>

static atomic64_t *word(const struct srn_mem *mem, u64 addr)
{
	u64 len;

	return srn_mem_span(mem, addr, &len);
}

u64 srn_atomic_cmp_swap(const struct srn_mem *mem, u64 addr, u64 compare, u64 swap)
{
	return atomic64_cmpxchg(word(mem, addr), compare, swap);
}
EXPORT_SYMBOL_IF_KUNIT(srn_atomic_cmp_swap);

u64 srn_atomic_fetch_add(const struct srn_mem *mem, u64 addr, u64 add)
{
	return atomic64_fetch_add(add, word(mem, addr));
}
EXPORT_SYMBOL_IF_KUNIT(srn_atomic_fetch_add);

void srn_atomic_write(const struct srn_mem *mem, u64 addr, u64 value)
{
	/* Release: what was written before is seen by who sees the value. */
	atomic64_set_release(word(mem, addr), value);
}
EXPORT_SYMBOL_IF_KUNIT(srn_atomic_write);
