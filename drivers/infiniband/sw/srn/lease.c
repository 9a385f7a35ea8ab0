// SPDX-License-Identifier: GPL-2.0-only
/* Leases of memory that packets on their way name. */
#include "lease.h"

#include <kunit/visibility.h>
#include <linux/moduleparam.h>
#include <linux/rcupdate.h>

#include "device.h"
#include "mem.h"
#include "qp.h"
#include "qpn.h"
#include "stats.h"
#include "wire.h"

static bool leases;
module_param(leases, bool, 0644);
MODULE_PARM_DESC(leases, "answer READs by reference where nothing cuts the answer (default: no)");

bool srn_lease_may(const struct srn_mem *mem)
{
	return mem->type == SRN_MEM_USER && READ_ONCE(leases);
}

void srn_lease_make(struct srn_lease *lease, const struct srn_mem *mem, u32 qpn)
{
	*lease = (struct srn_lease){
		.serial = mem->serial,
		.key = mem->key,
		.qpn = qpn,
		.device = mem->dev->ibdev.index,
	};
}
EXPORT_SYMBOL_IF_KUNIT(srn_lease_make);

static void count_orphan(u32 index)
{
	struct srn_dev *dev;

	rcu_read_lock();
	dev = srn_dev_find(index);
	if (dev)
		srn_count(dev, SRN_CNT_STALE_ANSWERS);
	rcu_read_unlock();
}

struct srn_mem *srn_lease_get(const struct srn_lease *lease)
{
	/* It stands in a packet, which may have been forged: numbers have 24 bits. */
	struct srn_qp_ref *ref = lease->qpn <= SRN_QPN_MASK ? srn_qpn_get(lease->qpn) : NULL;
	struct srn_mem *mem;

	if (!ref) {
		count_orphan(lease->device);
		return NULL;
	}
	mem = srn_mem_get_same(ref->qp->dev, lease->key, lease->serial);
	if (!mem)
		srn_count(ref->qp->dev, SRN_CNT_STALE_ANSWERS);
	srn_qp_ref_put(ref);
	return mem;
}
EXPORT_SYMBOL_IF_KUNIT(srn_lease_get);
