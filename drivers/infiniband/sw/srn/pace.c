// SPDX-License-Identifier: GPL-2.0-only
/* Debt, in time: each packet puts off the end of what has left by what it takes at the rate. */
#include "pace.h"

#include <kunit/visibility.h>
#include <linux/bits.h>
#include <linux/export.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>

static u64 effective(const struct srn_pace *p)
{
	u64 rate = 0;
	int i;

	for (i = 0; i < SRN_PACE_LIMITS; i++)
		rate = min_not_zero(rate, p->limit[i]);
	return rate;
}

/* Whether a packet takes longer than two quanta. Such go one by one: of two that leave at once one mark is
 * enough for both, and who is told of marked pairs takes them for as many marked packets, which are nearly half
 * as many.
 */
static bool is_slow(const struct srn_pace *p)
{
	return div_u64(p->rate, NSEC_PER_SEC / (2 * SRN_PACE_QUANTUM_NS)) < p->packet;
}

/* Of packets that go one by one there is half of one more, so that in front of a whole one short ones go that
 * come to half of it: each wait is an alarm.
 */
static u32 quantum(const struct srn_pace *p)
{
	u64 bytes = div_u64(p->rate, NSEC_PER_SEC / SRN_PACE_QUANTUM_NS);
	u32 least = is_slow(p) ? 3 * p->packet / 2 : 2 * p->packet;

	return clamp_t(u64, bytes, least, SRN_PACE_QUANTUM_MAX);
}

/* What may go at once takes so long. Where both sides wait for the one packet there is one for each: else
 * who asks first would have them all.
 */
static u64 may_ns(const struct srn_pace *p)
{
	bool both = p->waits == (BIT(SRN_PACE_REQUESTS) | BIT(SRN_PACE_ANSWERS));

	return p->quantum_ns + (both && is_slow(p) ? p->quantum_ns / 3 + 1 : 0) + p->late_ns;
}

/* What is owed stays owed, as the time that it was to take. */
static void update(struct srn_pace *p)
{
	p->rate = effective(p);
	p->rest = 0;
	if (!p->rate)
		p->closed = false;
	else
		p->quantum_ns = DIV64_U64_ROUND_UP((u64)quantum(p) * NSEC_PER_SEC, p->rate);
}

void srn_pace_reset(struct srn_pace *p)
{
	*p = (struct srn_pace){ .packet = SRN_PACE_HEADERS };
}
EXPORT_SYMBOL_IF_KUNIT(srn_pace_reset);

void srn_pace_set_mtu(struct srn_pace *p, u32 mtu)
{
	p->packet = mtu + SRN_PACE_HEADERS;
	update(p);
}
EXPORT_SYMBOL_IF_KUNIT(srn_pace_set_mtu);

void srn_pace_limit(struct srn_pace *p, enum srn_pace_limit who, u64 rate)
{
	p->limit[who] = rate;
	update(p);
}
EXPORT_SYMBOL_IF_KUNIT(srn_pace_limit);

/* What was sent at a lower rate is not to be waited for at that rate. */
static void forgive(struct srn_pace *p, u64 now_ns)
{
	if (p->next_ns > now_ns + 2 * p->quantum_ns)
		p->next_ns = now_ns + p->quantum_ns;
}

/* Nothing was owed for a while. Time that passed while it waited, or since it began to make up
 * for that, is made up for; if it had nothing to send, it has had its chance.
 */
static void catch_up(struct srn_pace *p, u64 now_ns)
{
	u64 idle = now_ns - p->next_ns;

	if (now_ns <= p->next_ns)
		return;
	if (p->closed)
		p->late_ns = idle;
	else if (p->late_ns && idle <= SRN_PACE_QUANTUM_NS)
		p->late_ns += idle;
	else
		p->late_ns = 0;
	p->late_ns = min_t(u64, p->late_ns, SRN_PACE_LATE_NS);
	p->next_ns = now_ns;
}

/* What goes in @ns. */
static u32 bytes_in(const struct srn_pace *p, u64 ns)
{
	return min_t(u64, div_u64(ns * p->rate, NSEC_PER_SEC), U32_MAX / 2);
}

static void open(struct srn_pace *p, u64 now_ns)
{
	catch_up(p, now_ns);
	p->left = bytes_in(p, may_ns(p));
	p->closed = false;
}

/* Of what has left a part has had its time meanwhile. That much is free again, if it is much: who is
 * slow would else go on packet by packet, and be slower for that.
 */
static void renew(struct srn_pace *p, u64 now_ns)
{
	u64 owed = p->next_ns - now_ns, may = may_ns(p);
	u64 free_ns = may - min(may, owed);
	u32 bytes = bytes_in(p, free_ns);

	p->left = 2 * free_ns >= p->quantum_ns ? bytes : min(p->left, bytes);
}

u32 srn_pace_ask(struct srn_pace *p, enum srn_pace_side side, u64 now_ns)
{
	u32 num;

	forgive(p, now_ns);
	if (now_ns >= p->next_ns)
		open(p, now_ns);
	else if (p->closed)
		return 0;
	else
		renew(p, now_ns);
	num = p->left / p->packet;
	return num > 1 && p->waits & ~BIT(side) ? num / 2 : num;
}
EXPORT_SYMBOL_IF_KUNIT(srn_pace_ask);

u64 srn_pace_woken(struct srn_pace *p, u64 now_ns)
{
	if (!p->closed)
		return 0;
	if (now_ns < p->next_ns)
		return p->next_ns - now_ns;
	open(p, now_ns);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(srn_pace_woken);

u32 srn_pace_run(const struct srn_pace *p)
{
	return max(p->left / p->packet, 1u);
}
EXPORT_SYMBOL_IF_KUNIT(srn_pace_run);

u64 srn_pace_wait(struct srn_pace *p, enum srn_pace_side side, u64 now_ns)
{
	if (!p->closed)
		p->waits = 0;
	p->closed = true;
	p->waits |= BIT(side);
	return srn_pace_opens_in(p, now_ns);
}
EXPORT_SYMBOL_IF_KUNIT(srn_pace_wait);

void srn_pace_charge(struct srn_pace *p, u32 bytes)
{
	u64 ns = div64_u64_rem(bytes * (u64)NSEC_PER_SEC + p->rest, p->rate, &p->rest);
	u64 made_up = min(ns, p->late_ns);

	p->late_ns -= made_up;
	p->next_ns += ns - made_up;
	p->left -= min(p->left, bytes);
}
EXPORT_SYMBOL_IF_KUNIT(srn_pace_charge);
