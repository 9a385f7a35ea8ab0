// SPDX-License-Identifier: GPL-2.0-only
#include "local.h"

#include "mr.h"
#include "mw.h"
#include "qp.h"
#include "wqe.h"

enum srn_verdict srn_local_run(struct srn_qp *qp, struct srn_wqe *wqe)
{
	struct srn_mw_bind bind;

	switch (wqe->opcode) {
	case IB_WR_LOCAL_INV:
		return srn_mem_invalidate(&qp->windows, wqe->inv_rkey, false);
	case IB_WR_REG_MR:
		return srn_mem_fast_reg(&qp->who, wqe->reg.mr, wqe->reg.iova, wqe->reg.key,
					wqe->reg.access);
	default:
		bind.addr = wqe->bind.addr;
		bind.length = wqe->bind.length;
		bind.mr_lkey = wqe->bind.mr_lkey;
		bind.mw_rkey = wqe->bind.mw_rkey;
		bind.new_rkey = wqe->bind.new_rkey;
		bind.access = wqe->bind.access;
		return srn_mem_bind(&qp->windows, &bind);
	}
}
