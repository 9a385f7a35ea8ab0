/* SPDX-License-Identifier: GPL-2.0-only */
/* A program's context: its QPs by doorbell index, the doorbell descriptor, and the poller if it wants one. */
#ifndef SRN_UCONTEXT_H
#define SRN_UCONTEXT_H

#include <rdma/ib_verbs.h>

struct srn_doorbell;
struct srn_poller;

struct srn_ucontext {
	struct ib_ucontext ibuc;
	struct srn_doorbell *db;	/* shared with the descriptor and the poller, refcounted */
	struct srn_poller *poller;	/* NULL: it has none */
};

static inline struct srn_ucontext *to_srn_ucontext(struct ib_ucontext *uc)
{
	return container_of(uc, struct srn_ucontext, ibuc);
}

/* ib_device_ops; a task that is refused is not held any more */
int srn_alloc_ucontext(struct ib_ucontext *uc, struct ib_udata *udata);
void srn_dealloc_ucontext(struct ib_ucontext *uc);
void srn_disassociate_ucontext(struct ib_ucontext *uc);

#endif
