/* SPDX-License-Identifier: GPL-2.0-only */
/* Attributes and states that a user changes and asks for: ib_device_ops. */
#ifndef SRN_QP_MODIFY_H
#define SRN_QP_MODIFY_H

#include <rdma/ib_verbs.h>

int srn_modify_qp(struct ib_qp *qp, struct ib_qp_attr *attr, int mask, struct ib_udata *udata);
int srn_query_qp(struct ib_qp *qp, struct ib_qp_attr *attr, int mask,
		 struct ib_qp_init_attr *init);

#endif
