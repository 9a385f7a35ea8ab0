/* SPDX-License-Identifier: GPL-2.0-only */
/* Making and unmaking QPs: ib_device_ops. */
#ifndef SRN_QP_CREATE_H
#define SRN_QP_CREATE_H

#include <rdma/ib_verbs.h>

int srn_create_qp(struct ib_qp *qp, struct ib_qp_init_attr *attr, struct ib_udata *udata);
int srn_destroy_qp(struct ib_qp *qp, struct ib_udata *udata);

#endif
