/* SPDX-License-Identifier: GPL-2.0-only */
/* Address handles. Programs name them by number in UD WQEs; the vector behind
 * has a life of its own, since ib_core frees the handle at once.
 */
#ifndef SRN_AH_H
#define SRN_AH_H

#include <linux/refcount.h>
#include <rdma/ib_verbs.h>

#include "path.h"

struct srn_dev;
struct srn_who;

struct srn_av {
	refcount_t refs;
	struct rcu_head rcu;
	struct ib_pd *pd;
	u32 index;
	struct srn_path path;
	struct rdma_ah_attr attr;	/* for query_ah; sgid_attr not referenced here */
};

struct srn_ah {
	struct ib_ah ibah;
	struct srn_av *av;
};

static inline struct srn_ah *to_srn_ah(struct ib_ah *ah)
{
	return container_of(ah, struct srn_ah, ibah);
}

/** srn_av_get() - by the number in a WQE; NULL if unknown or of another PD. BH disabled. */
struct srn_av *srn_av_get(const struct srn_who *who, u32 index);
/** srn_av_hold() - by the handle of a kernel user's WR */
struct srn_av *srn_av_hold(struct ib_ah *ah);
void srn_av_put(struct srn_av *av);
/**
 * srn_av_number() - gives @av the number that WQEs name it by
 * @user: for a program, whose numbers end before the kernel's
 *
 * Any context that @gfp allows. Return: 0 or -ENOMEM: there is none left, or no memory.
 */
int srn_av_number(struct srn_dev *dev, struct srn_av *av, bool user, gfp_t gfp);

/* ib_device_ops */
int srn_create_ah(struct ib_ah *ah, struct rdma_ah_init_attr *init, struct ib_udata *udata);
int srn_modify_ah(struct ib_ah *ah, struct rdma_ah_attr *attr);
int srn_query_ah(struct ib_ah *ah, struct rdma_ah_attr *attr);
int srn_destroy_ah(struct ib_ah *ah, u32 flags);

#endif
