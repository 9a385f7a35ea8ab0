// SPDX-License-Identifier: GPL-2.0-only
/* Notifications to a rate. */
#include "dcqcn.h"

#include <kunit/visibility.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/export.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "cc.h"
#include "rate.h"

/* rp_dce_tcp_g and rp_initial_alpha_value are of 1024. */
#define PARAM_SHIFT	10
#define ALPHA_SHIFT	20
static_assert(SRN_DCQCN_ONE == 1 << ALPHA_SHIFT);
/* Steps by bytes for each by time, at most. */
#define BYTE_STEPS	8
/* How far a target moves in a step, at most: this part of the rate, */
#define PART_SHIFT	5
/* a part that grows with the square of the rate from here on, until that is twice as much, */
#define SLOW		srn_rate_of_mbps(18)
/* and a tenth of a Mb/s, where that is more. */
#define LEAST_MOVE	(srn_rate_of_mbps(1) / 10)
/* Nobody sends more, and products with what it is multiplied by here fit. */
#define MOST		(U64_MAX >> (ALPHA_SHIFT + 4))

static u64 nanos_of(u32 micros)
{
	return micros * (u64)NSEC_PER_USEC;
}

static u64 least_of(const struct srn_cc_params *p)
{
	return srn_rate_of_mbps(READ_ONCE(p->rp_min_rate));
}

static void restart_steps(struct srn_dcqcn *d, u64 now_ns)
{
	d->time_ns = 0;
	d->byte_ns = now_ns;
	d->time_steps = 0;
	d->bytes = 0;
	d->byte_steps = 0;
}

/* By alpha, divided: with rp_gd 11 by half of it. Cuts in a row are of one congestion, and the way
 * back is to where it began.
 */
static void cut(struct srn_dcqcn *d, const struct srn_cc_params *p, u64 now_ns)
{
	u64 less = (d->rate * d->alpha >> ALPHA_SHIFT) >> (READ_ONCE(p->rp_gd) - PARAM_SHIFT);
	u64 rest = div_u64(d->rate * READ_ONCE(p->rp_min_dec_fac), 100);

	if (d->time_steps || d->byte_steps)
		d->target = d->rate;
	d->rate = max3(d->rate - less, rest, least_of(p));
	d->target = max(d->target, d->rate);
	d->cut_ns = now_ns;
	d->tried = false;
	restart_steps(d, now_ns);
}

static void begin(struct srn_dcqcn *d, const struct srn_cc_params *p, u64 now_ns, u64 rate)
{
	d->rate = clamp(rate, least_of(p), MOST);
	d->target = d->rate;
	d->alpha = READ_ONCE(p->rp_initial_alpha_value) << (ALPHA_SHIFT - PARAM_SHIFT);
	d->alpha_ns = 0;
	d->marked = false;
	d->seen_ns = now_ns;
	restart_steps(d, now_ns);
	cut(d, p, now_ns);
}

/* What left since measuring began, and what was on its way then, since that is what was marked, a
 * second. 0: it is not known yet, nor does a queue that drains while nothing leaves tell of it.
 */
static u64 measured(struct srn_dcqcn *d, u64 now_ns, u32 sent, u32 out)
{
	u64 ns = now_ns - d->cut_ns;

	if (!d->cut_ns || ns > SRN_DCQCN_STALE_NS || sent == d->seen_bytes) {
		d->cut_ns = now_ns;
		d->seen_bytes = sent - out;
		return 0;
	}
	if (ns < SRN_DCQCN_MEASURE_NS)
		return 0;
	return max(div64_u64((u64)(sent - d->seen_bytes) * NSEC_PER_SEC, ns), 1);
}

/* What has left since the last look left just after it. */
static void see(struct srn_dcqcn *d, u32 sent)
{
	if (sent == d->seen_bytes)
		return;
	d->bytes += sent - d->seen_bytes;
	d->seen_bytes = sent;
	d->tried = true;
	d->time_ns = d->time_ns ?: d->seen_ns;
	d->alpha_ns = d->alpha_ns ?: d->seen_ns;
}

/* Whether what left at @since_ns has had @micros to be marked. */
static bool is_due(u64 since_ns, u64 now_ns, u32 micros)
{
	return since_ns && now_ns - since_ns >= nanos_of(micros);
}

/* So that alpha becomes 0, and almost 1. */
static void take_alpha(struct srn_dcqcn *d, const struct srn_cc_params *p, u64 now_ns)
{
	u32 keep = READ_ONCE(p->rp_dce_tcp_g);

	if (!is_due(d->alpha_ns, now_ns, READ_ONCE(p->rp_dce_tcp_rtt)))
		return;
	d->alpha = (u64)d->alpha * keep >> PARAM_SHIFT;
	if (d->marked)
		d->alpha += SRN_DCQCN_ONE - (keep << (ALPHA_SHIFT - PARAM_SHIFT));
	d->alpha_ns = 0;
	d->marked = false;
}

void srn_dcqcn_cnp(struct srn_dcqcn *d, const struct srn_cc_params *p, u64 now_ns, u32 sent,
		   u32 out)
{
	u64 rate;

	if (!d->rate) {
		rate = srn_rate_of_mbps(READ_ONCE(p->rp_rate_to_set_on_first_cnp)) ?:
		       measured(d, now_ns, sent, out);
		if (rate)
			begin(d, p, now_ns, rate);
		d->seen_bytes = rate ? sent : d->seen_bytes;
		return;
	}
	see(d, sent);
	d->marked = true;
	take_alpha(d, p, now_ns);
	/* While nothing left at the new rate it is the queue of the former one that is marked. */
	if (d->tried && is_due(d->cut_ns, now_ns, READ_ONCE(p->rp_rate_reduce_monitor_period)))
		cut(d, p, now_ns);
}
EXPORT_SYMBOL_IF_KUNIT(srn_dcqcn_cnp);

/* Many that share a link, each slow, would together rise by as much as one alone does in many steps, and the
 * queue with them. But who has little beside a flow that rises by a packet in a round trip, as TCP's do, would keep
 * little.
 */
static u64 part_of(u64 rate)
{
	u64 by = clamp(rate, SLOW, 2 * SLOW);

	if (by == 2 * SLOW)	/* and of slower ones products fit */
		return rate >> (PART_SHIFT - 2);
	return div_u64(div_u64((rate >> PART_SHIFT) * by, SLOW) * by, SLOW);
}

static u64 move_of(const struct srn_dcqcn *d, u32 mbps)
{
	return min(srn_rate_of_mbps(mbps), max(part_of(d->rate), LEAST_MOVE));
}

/* Half of the way to the target, which moves: first not at all, then a little, and, where steps by
 * time and by bytes are many, more.
 */
static void step(struct srn_dcqcn *d, const struct srn_cc_params *p)
{
	u32 fast = READ_ONCE(p->rp_threshold);

	if (min(d->time_steps, d->byte_steps) > fast)
		d->target += move_of(d, READ_ONCE(p->rp_hai_rate));
	else if (max(d->time_steps, d->byte_steps) > fast)
		d->target += move_of(d, READ_ONCE(p->rp_ai_rate));
	d->target = min(d->target, MOST);
	d->rate = (d->rate + d->target + 1) / 2;
}

static void take_time(struct srn_dcqcn *d, const struct srn_cc_params *p, u64 now_ns)
{
	if (!is_due(d->time_ns, now_ns, READ_ONCE(p->rp_time_reset)))
		return;
	d->time_ns = 0;
	d->time_steps++;
	step(d, p);
}

/* Where bytes are many, time is what counts: with many steps between two cuts the rate is back at the target
 * before each, and no cut ever moves that. What is too many by then is not made up for later.
 */
static void take_bytes(struct srn_dcqcn *d, const struct srn_cc_params *p, u64 now_ns)
{
	u32 each = READ_ONCE(p->rp_byte_reset);

	if (d->bytes < each ||
	    (u32)now_ns - d->byte_ns < nanos_of(READ_ONCE(p->rp_time_reset)) / BYTE_STEPS)
		return;
	d->bytes %= each;
	d->byte_ns = now_ns;
	d->byte_steps = min(d->byte_steps + 1, U16_MAX);
	step(d, p);
}

/* As if there had never been one. */
static void end(struct srn_dcqcn *d)
{
	d->rate = 0;
	d->cut_ns = 0;
}

void srn_dcqcn_look(struct srn_dcqcn *d, const struct srn_cc_params *p, u64 now_ns, u32 sent)
{
	see(d, sent);
	take_alpha(d, p, now_ns);
	take_time(d, p, now_ns);
	take_bytes(d, p, now_ns);
	if (d->time_steps >= SRN_DCQCN_CALM || now_ns - d->seen_ns > SRN_DCQCN_OLD_NS)
		end(d);
	d->seen_ns = now_ns;
}
EXPORT_SYMBOL_IF_KUNIT(srn_dcqcn_look);
