/* SPDX-License-Identifier: GPL-2.0-only */
/* Leases: the answer to a READ that crosses the stack uncut has the pages of its region, not their
 * bytes, and a name for the registration that it has them by. Who takes it, or cuts it, looks
 * whether that still stands, and keeps it for as long as the bytes are copied. If it does not, the
 * answer is lost, and what the owner has written since is nobody's to see. So it is when the QP has
 * gone that answered: who takes a peer's connection away takes its right to read.
 */
#ifndef SRN_LEASE_H
#define SRN_LEASE_H

#include <linux/build_bug.h>
#include <linux/types.h>

struct srn_mem;

/* Numbers, not pointers: a packet may wait longer than there are key, QP or module. Never on a wire,
 * hence as the CPU has it. Whoever forges one can learn no more than whether the number stands:
 * the bytes are those of the packet.
 */
struct srn_lease {
	u64 serial;		/* srn_mem.serial */
	u32 key;
	u32 qpn;		/* of who answers, which leads to the table of keys */
	u32 device;		/* likewise, which counts what is lost when the QP is gone */
	u32 zero;		/* captures see it */
};

static_assert(sizeof(struct srn_lease) == 24);

/**
 * srn_lease_may() - whether bytes of @mem may leave by reference
 *
 * A program's region may, which nobody takes back but its owner. What a peer may invalidate, a
 * window or a region of a kernel user, is copied: the SEND that invalidates would overtake what
 * was answered before it.
 */
bool srn_lease_may(const struct srn_mem *mem);

/** srn_lease_make() - of a referenced mem, by the QP @qpn */
void srn_lease_make(struct srn_lease *lease, const struct srn_mem *mem, u32 qpn);

/**
 * srn_lease_get() - a reference on the registration, if it stands
 *
 * BH disabled until the caller has put it (srn_mem_put()). NULL: the answer is lost, which the
 * device of who answered counts, if there still is one.
 */
struct srn_mem *srn_lease_get(const struct srn_lease *lease);

#endif
