/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory regions: of a process, of a fast registration, and all of the kernel's. */
#ifndef SRN_MR_H
#define SRN_MR_H

#include "mem.h"

struct srn_mr {
	struct ib_mr ibmr;
	struct srn_mem mem;
};

/**
 * srn_mem_fast_reg() - execute REG_MR
 * @who: the QP it was posted on
 * @mr: of srn_alloc_mr() and srn_map_mr_sg()
 * @iova: address of the first byte for the key's user, whatever the pages' addresses are
 * @key: the key from now on; only its key byte may differ from the last one
 * @access: IB_ACCESS_*
 *
 * BH disabled, no mem reference held. SRN_OK or SRN_V_MW_BIND.
 */
enum srn_verdict srn_mem_fast_reg(const struct srn_who *who, struct ib_mr *mr, u64 iova, u32 key,
				  int access);

/* ib_device_ops */
struct ib_mr *srn_get_dma_mr(struct ib_pd *pd, int access);
struct ib_mr *srn_reg_user_mr(struct ib_pd *pd, u64 start, u64 length, u64 iova, int access,
			      struct ib_udata *udata);
struct ib_mr *srn_rereg_user_mr(struct ib_mr *mr, int flags, u64 start, u64 length, u64 iova,
				int access, struct ib_pd *pd, struct ib_udata *udata);
struct ib_mr *srn_alloc_mr(struct ib_pd *pd, enum ib_mr_type type, u32 max_sg);
int srn_map_mr_sg(struct ib_mr *mr, struct scatterlist *sg, int nents, unsigned int *offset);
int srn_dereg_mr(struct ib_mr *mr, struct ib_udata *udata);

#endif
