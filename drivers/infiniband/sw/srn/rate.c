// SPDX-License-Identifier: GPL-2.0-only
/* Rates of verbs. */
#include "rate.h"

#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <rdma/ib_verbs.h>

u32 srn_rate_to_kbps(u64 rate)
{
	return min_t(u64, div_u64(rate, 125), U32_MAX);
}
EXPORT_SYMBOL_IF_KUNIT(srn_rate_to_kbps);

bool srn_rate_is_static(u8 code)
{
	return code == IB_RATE_PORT_CURRENT || ib_rate_to_mbps(code) > 0;
}
EXPORT_SYMBOL_IF_KUNIT(srn_rate_is_static);

u64 srn_rate_of_static(u8 code, u32 link_mbps)
{
	int mbps = code == IB_RATE_PORT_CURRENT ? 0 : ib_rate_to_mbps(code);

	if (mbps <= 0 || (link_mbps && mbps >= link_mbps))
		return 0;
	return srn_rate_of_mbps(mbps);
}
EXPORT_SYMBOL_IF_KUNIT(srn_rate_of_static);
