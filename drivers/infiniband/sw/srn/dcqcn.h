/* SPDX-License-Identifier: GPL-2.0-only */
/* The reaction point of DCQCN (Zhu et al., SIGCOMM 2015): from congestion notifications, and from
 * what is sent without any, to a rate. Pure arithmetic.
 *
 * A NIC has timers for each QP. Here steps are taken when something is about to be sent, from the
 * time since what was sent before: who does not send costs nothing. And no step goes without a
 * packet: where few are sent, that no notification came for a while says nothing.
 */
#ifndef SRN_DCQCN_H
#define SRN_DCQCN_H

#include <linux/compiler.h>
#include <linux/time64.h>
#include <linux/types.h>

struct srn_cc_params;

/* Alpha's 1. */
#define SRN_DCQCN_ONE		(1u << 20)
/* After so many steps by time without a notification there is no limit any more. */
#define SRN_DCQCN_CALM		256
/* Nor when nothing was sent for so long: what was known of the path is old. */
#define SRN_DCQCN_OLD_NS	(500ull * NSEC_PER_MSEC)
/* From the first notification on, what leaves is measured for so long at least, */
#define SRN_DCQCN_MEASURE_NS	(1ull * NSEC_PER_MSEC)
/* and for so long at most: what is measured over a pause of the program is no rate of the path. */
#define SRN_DCQCN_STALE_NS	(10ull * NSEC_PER_MSEC)

/* Times are those of ktime_get_ns(), rates bytes per second. */
struct srn_dcqcn {
	u64 rate;		/* 0: no limit */
	u64 target;		/* where the rate goes: after a cut, back */
	u64 seen_ns;		/* the last look, and what it let go left then; without a limit */
	u64 cut_ns;		/* when measuring began, 0: it did not; the last cut */
	u64 time_ns;		/* since the last step by time something left, first then; or 0 */
	u64 alpha_ns;		/* as time_ns, since alpha's last change */
	u32 alpha;		/* how much is marked: of SRN_DCQCN_ONE */
	u32 seen_bytes;		/* that had left by then, */
	u32 bytes;		/* and since the last step by bytes */
	u16 time_steps;		/* since the last cut */
	u16 byte_steps;
	u32 byte_ns;		/* the last step by bytes, or cut: as much of the time as fits */
	bool tried;		/* something left since the last cut */
	bool marked;		/* a notification came since alpha's last change */
};

/** srn_dcqcn_limits() - whether there is a limit */
static inline bool srn_dcqcn_limits(const struct srn_dcqcn *d)
{
	return d->rate;
}

/** srn_dcqcn_alpha() - alpha, of 1024, as rp_initial_alpha_value; any context */
static inline u32 srn_dcqcn_alpha(const struct srn_dcqcn *d)
{
	return READ_ONCE(d->alpha) / (SRN_DCQCN_ONE >> 10);
}

/**
 * srn_dcqcn_cnp() - a notification has come
 * @p: parameters, each in its bounds; others may change them meanwhile
 * @now_ns: not before that of an earlier call
 * @sent: bytes that have left so far, free-running
 * @out: of these, so many at most are on their way; 0 if that is not known
 *
 * Begins a limit where there is none: at the rate that the parameters name, or, if they name none,
 * at that of what really leaves. A soft NIC has no line rate, and a netdev's says little of the
 * path. So the first one starts to measure, and the next one after a millisecond limits.
 */
void srn_dcqcn_cnp(struct srn_dcqcn *d, const struct srn_cc_params *p, u64 now_ns, u32 sent,
		   u32 out);

/**
 * srn_dcqcn_look() - something is about to leave, under a limit: takes the steps that are due
 *
 * Arguments as above.
 */
void srn_dcqcn_look(struct srn_dcqcn *d, const struct srn_cc_params *p, u64 now_ns, u32 sent);

#endif
