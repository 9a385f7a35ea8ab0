/* SPDX-License-Identifier: GPL-2.0-only */
/* The port counters that monitoring tools know: sysfs ports/1/counters. */
#ifndef SRN_PMA_H
#define SRN_PMA_H

#include <rdma/ib_mad.h>

/* ib_device_ops */
int srn_process_mad(struct ib_device *ibdev, int flags, u32 port, const struct ib_wc *in_wc,
		    const struct ib_grh *in_grh, const struct ib_mad *in, struct ib_mad *out,
		    size_t *out_size, u16 *out_pkey_index);

#endif
