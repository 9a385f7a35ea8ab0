/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory windows, and the invalidation of keys. */
#ifndef SRN_MW_H
#define SRN_MW_H

#include "mem.h"

struct srn_mw {
	struct ib_mw ibmw;
	struct srn_mem *mem;		/* own allocation: ib_core frees ib_mw itself */
};

/* Whose windows of type 2 are: a QP's. Embedded in it. */
struct srn_mw_owner {
	const struct srn_who *who;
	spinlock_t lock;		/* taken after the lock of a window */
	struct list_head bound;
};

/** srn_mw_owner_init() - of a new QP, which has @who; its number may follow, before a bind */
void srn_mw_owner_init(struct srn_mw_owner *owner, const struct srn_who *who);

struct srn_mw_bind {
	u64 addr;
	u64 length;		/* 0 unbinds (type 1) */
	u32 mr_lkey;
	u32 mw_rkey;
	u32 new_rkey;
	int access;
};

/**
 * srn_mem_bind() - execute a bind
 * @owner: the QP it was posted on
 *
 * Of @bind->new_rkey the key byte counts, the rest stays as it is (as with adapters).
 * BH disabled, no mem reference held. SRN_OK or SRN_V_MW_BIND.
 */
enum srn_verdict srn_mem_bind(struct srn_mw_owner *owner, const struct srn_mw_bind *bind);

/**
 * srn_mem_invalidate() - LOCAL_INV or, @remote, SEND with invalidate
 *
 * BH disabled, no mem reference held. SRN_OK, or SRN_V_REM_ACCESS if @remote, else SRN_V_MW_BIND.
 */
enum srn_verdict srn_mem_invalidate(struct srn_mw_owner *owner, u32 rkey, bool remote);

/** srn_mem_unbind_qp() - windows of type 2 die with their QP; nothing binds any more. Sleeps. */
void srn_mem_unbind_qp(struct srn_mw_owner *owner);

/* ib_device_ops */
int srn_alloc_mw(struct ib_mw *mw, struct ib_udata *udata);
int srn_dealloc_mw(struct ib_mw *mw);

#endif
