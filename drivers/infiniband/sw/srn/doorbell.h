/* SPDX-License-Identifier: GPL-2.0-only */
/* A program's QPs by doorbell index, and the descriptor that rings them. */
#ifndef SRN_DOORBELL_H
#define SRN_DOORBELL_H

#include <linux/refcount.h>
#include <linux/types.h>
#include <linux/xarray.h>

#include "round.h"
#include "stats.h"

struct file;
struct srn_dev;
struct srn_poller;
struct srn_qp_ref;

/* Doorbell indices that are found in an array as well. */
#define SRN_DOORBELL_FIRST	32

struct srn_doorbell {
	refcount_t refs;		/* the context, the descriptor, the poller */
	struct srn_dev __rcu *dev;	/* NULL once the context is gone */
	struct srn_poller __rcu *poller; /* likewise; or if there is none */
	bool polled;			/* there was one from the beginning */
	struct xarray links;		/* doorbell index -> struct srn_qp_ref, RCU */
	struct srn_qp_ref __rcu *first[SRN_DOORBELL_FIRST];	/* the first of these again, RCU */
};

/** srn_doorbell_create() - one with one reference, and no QPs; NULL without memory; may sleep */
struct srn_doorbell *srn_doorbell_create(struct srn_dev *dev);

/** srn_doorbell_get() - another reference, of who has one */
static inline void srn_doorbell_get(struct srn_doorbell *db)
{
	refcount_inc(&db->refs);
}

/** srn_doorbell_put() - a reference is given back */
void srn_doorbell_put(struct srn_doorbell *db);

/** srn_doorbell_open() - a file that no program sees yet, with a reference of its own, or an ERR_PTR(); may sleep */
struct file *srn_doorbell_open(struct srn_doorbell *db);

/**
 * srn_doorbell_add() - a bit in the bitmap, which rings nothing before @ref is published
 *
 * May sleep. 0, -ENOMEM or -ENOSPC.
 */
int srn_doorbell_add(struct srn_doorbell *db, struct srn_qp_ref *ref, u32 *index);
/** srn_doorbell_del() - give the bit back; after it returns no doorbell reaches the QP; may sleep */
void srn_doorbell_del(struct srn_doorbell *db, u32 index);

/** srn_doorbell_ring() - @how for the QP of this index; SRN_HEARD_NO_POST: there is none */
enum srn_heard srn_doorbell_ring(struct srn_doorbell *db, unsigned long index,
				 enum srn_heard (*how)(struct srn_qp *qp));
/** srn_doorbell_ring_to_end() - likewise, and all parts of a flush; may sleep; not SRN_HEARD_PART */
enum srn_heard srn_doorbell_ring_to_end(struct srn_doorbell *db, unsigned long index,
					enum srn_heard (*how)(struct srn_qp *qp));

/** srn_doorbell_count() - counts for the device; false once there is none */
bool srn_doorbell_count(struct srn_doorbell *db, enum srn_counter c);

/** srn_doorbell_end() - the context or its device goes: it counts nothing any more, and rings with EIO */
void srn_doorbell_end(struct srn_doorbell *db);

/** srn_doorbell_set_poller() - who rings has it look after what follows, from now on; NULL: there is none any more */
void srn_doorbell_set_poller(struct srn_doorbell *db, struct srn_poller *poller);

#endif
