/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of verbs, and the verbs that only answer questions. */
#ifndef SRN_VERBS_H
#define SRN_VERBS_H

#include <linux/stringify.h>
#include <rdma/ib_verbs.h>

/* The only place that has it: the module's version, and what programs and sysfs show as
 * the firmware's. The provider prints the three numbers that the kernel tells it.
 */
#define SRN_VERSION_MAJOR	1
#define SRN_VERSION_MINOR	0
#define SRN_VERSION_PATCH	0
#define SRN_VERSION		__stringify(SRN_VERSION_MAJOR) "." \
				__stringify(SRN_VERSION_MINOR) "." \
				__stringify(SRN_VERSION_PATCH)

extern const struct ib_device_ops srn_dev_ops;

#endif
