/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of verbs, and the verbs that only answer questions. */
#ifndef SRN_VERBS_H
#define SRN_VERBS_H

#include <rdma/ib_verbs.h>

/* What ibv_devinfo shows as firmware version. */
#define SRN_VERSION		"1.0"
#define SRN_VERSION_MAJOR	1
#define SRN_VERSION_MINOR	0

extern const struct ib_device_ops srn_dev_ops;

#endif
