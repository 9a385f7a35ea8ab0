/* SPDX-License-Identifier: GPL-2.0-only */
/* Posts of kernel users: ib_device_ops. */
#ifndef SRN_POST_KERNEL_H
#define SRN_POST_KERNEL_H

#include <rdma/ib_verbs.h>

int srn_post_send(struct ib_qp *qp, const struct ib_send_wr *wr,
		  const struct ib_send_wr **bad_wr);
int srn_post_recv(struct ib_qp *qp, const struct ib_recv_wr *wr,
		  const struct ib_recv_wr **bad_wr);

#endif
