/* SPDX-License-Identifier: GPL-2.0-only */
/* What `rdma resource show` tells beyond the core's own columns. ib_device_ops. */
#ifndef SRN_RESTRACK_H
#define SRN_RESTRACK_H

#include <linux/skbuff.h>
#include <rdma/ib_verbs.h>

int srn_fill_res_qp(struct sk_buff *msg, struct ib_qp *qp);
int srn_fill_res_cq(struct sk_buff *msg, struct ib_cq *cq);
int srn_fill_res_mr(struct sk_buff *msg, struct ib_mr *mr);
int srn_fill_res_srq(struct sk_buff *msg, struct ib_srq *srq);

#endif
