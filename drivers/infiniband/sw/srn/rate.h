/* SPDX-License-Identifier: GPL-2.0-only */
/* Rates as verbs name them, in bytes per second. */
#ifndef SRN_RATE_H
#define SRN_RATE_H

#include <linux/types.h>

/** srn_rate_of_kbps() - of an IB_QP_RATE_LIMIT */
static inline u64 srn_rate_of_kbps(u32 kbps)
{
	return kbps * 125ull;
}

/** srn_rate_of_mbps() - of a static rate, or one among srn_cc_params */
static inline u64 srn_rate_of_mbps(u32 mbps)
{
	return mbps * 125000ull;
}

/** srn_rate_to_kbps() - at most U32_MAX */
u32 srn_rate_to_kbps(u64 rate);

/** srn_rate_is_static() - whether @code is one of enum ib_rate */
bool srn_rate_is_static(u8 code);

/**
 * srn_rate_of_static() - of an address vector's static rate, one of enum ib_rate
 * @link_mbps: of the netdev; 0: nobody knows
 *
 * Return: 0, no limit, for IB_RATE_PORT_CURRENT, and for what is as fast as the link.
 */
u64 srn_rate_of_static(u8 code, u32 link_mbps);

#endif
