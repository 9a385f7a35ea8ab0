// SPDX-License-Identifier: GPL-2.0-only
/* Delays and losses, and what follows. */
#include "crowd.h"

#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/limits.h>
#include <linux/math.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>

/* A delay of less than this, or than a part of what the path takes, is no queue: CPUs that are
 * elsewhere cost as much. On a path that takes some milliseconds the bursts of who may have so many out do,
 * too: up to so much a larger part of it is none. (Who has few may take a queue that is never empty for a path.)
 */
#define NOISE_NS	(500 * NSEC_PER_USEC)
#define NOISE_PART	8
#define BURSTS_NS	(2500 * NSEC_PER_USEC)
#define BURSTS_PART	4
#define BURSTS_FROM	64
/* Half of the noise is enough of a queue, and so many times sqrt(2 / cwnd) of it more: who has little
 * grows until all have the same.
 */
#define ENOUGH_FEW	6
/* Samples without much of a queue, after which none is minded. */
#define STAY		256
/* A path that needs much in flight to be used at all, where a loss by chance costs most: while nothing
 * queues, less goes by half of what was lost, and more by a part.
 */
#define LONG_NS		(2 * NSEC_PER_MSEC)
#define LONG_PART	16
/* From here on one packet at a time would take too long. */
#define BLIND_NS	(20 * NSEC_PER_MSEC)
/* So many times in a row more than a quarter lost is no chance; fewer that were sent count as this many. */
#define HEAVY		2
#define HEAVY_MIN	16
/* A delay that is older says nothing of a loss. But behind a full queue the next answer is as late as the last. */
#define OLD_NS		(100 * NSEC_PER_MSEC)
#define OLD_ANSWERS	4
/* So many answers in a row that are late though no fewer may be out: not by its fault. */
#define VAIN		256
/* Nor are queues minded for longer than this after the last one that was full. */
#define LONGEST_NS	(32 * (u64)NSEC_PER_SEC)
/* So often, and after so many round trips, the path is looked at without one's own packets. */
#define LOOK_NS		NSEC_PER_SEC
#define LOOK_PATHS	400
/* Where more is out than fills a short path, so much may queue, by bursts of one's own first of all; less by
 * the square root the more is out, so that who has less grows until all have the same. Of twice as much the
 * rest is taken off.
 */
#define WIDE_NS		(4 * NSEC_PER_MSEC)
#define WIDE_LEAST_NS	(2 * NSEC_PER_MSEC)
/* Parts of what is out that come in a round trip: fewer once a quarter of that queues. */
#define WIDE_PART	16
#define WIDE_SLOW	32
/* One of so many lost is no chance: what grows by a part of itself in spite of it goes on losing. */
#define WIDE_MUCH	50
#define ONE		1024	/* of fixed point */

void srn_crowd_start(struct srn_crowd *c)
{
	*c = (struct srn_crowd){ .least_ns = U64_MAX, .enough_ns = U64_MAX, .path_ns = U32_MAX };
}
EXPORT_SYMBOL_IF_KUNIT(srn_crowd_start);

static u64 noise(const struct srn_crowd *c)
{
	u64 bursts = min_t(u64, c->least_ns / BURSTS_PART, BURSTS_NS);

	return max3((u64)NOISE_NS, c->least_ns / NOISE_PART, c->bursts ? bursts : 0);
}

/* At most three quarters of what was too much, if that is known; and noise is no queue. */
static u64 enough(const struct srn_crowd *c, u32 cwnd)
{
	u64 root = int_sqrt(2 * ONE * ONE / max_t(u32, cwnd, 1));
	u64 some = noise(c) / 2 * (ONE + 2 * ENOUGH_FEW * root) / ONE;

	if (c->most_ns)
		some = min(some, c->most_ns / 4 * 3);
	return max(some, noise(c));
}

/* A queue that stays though as good as nothing is put into it is another one's, or none at all: the
 * peer is slow, or this path is longer than those it is compared with.
 */
static bool is_in_vain(struct srn_crowd *c, bool few)
{
	c->vain = few && c->delay_ns >= c->enough_ns ? c->vain + 1 : 0;
	return c->vain >= VAIN;
}

/* Until queues are minded no more. */
static void count_down(struct srn_crowd *c, bool few)
{
	bool vain = is_in_vain(c, few), over = c->now_ns >= c->full_ns + LONGEST_NS;

	c->left = c->delay_ns >= c->enough_ns / 2 ? STAY : c->left - 1;
	if (!vain && !over && c->left)
		return;
	c->left = 0;
	c->most_ns = 0;
	c->vain = 0;
}

u64 srn_crowd_sample(struct srn_crowd *c, u64 took_ns, u64 least_ns, u64 now_ns, u32 cwnd,
		     bool few)
{
	c->least_ns = min(least_ns, took_ns);
	c->delay_ns = took_ns - c->least_ns;
	c->now_ns = now_ns;
	c->bursts = cwnd >= BURSTS_FROM;
	c->enough_ns = enough(c, cwnd);
	c->stale = false;
	if (c->left)
		count_down(c, few);
	return c->delay_ns;
}
EXPORT_SYMBOL_IF_KUNIT(srn_crowd_sample);

static bool is_known(const struct srn_crowd *c)
{
	return c->least_ns != U64_MAX;
}

bool srn_crowd_is_old(const struct srn_crowd *c, u64 now_ns)
{
	return is_known(c) && now_ns > c->now_ns + OLD_NS + OLD_ANSWERS * (c->least_ns + c->delay_ns);
}
EXPORT_SYMBOL_IF_KUNIT(srn_crowd_is_old);

/* One that was lost while much less was queued was not lost by that. */
static bool is_full(const struct srn_crowd *c, u64 now_ns)
{
	return !is_known(c) ||
	       (c->delay_ns >= max(noise(c), c->most_ns / 2) && !srn_crowd_is_old(c, now_ns));
}

static bool is_empty(const struct srn_crowd *c)
{
	return is_known(c) && c->delay_ns < noise(c) / 2;
}

/* By chance a small part is lost now and then; by a full queue much, time after time. */
static void end_period(struct srn_crowd *c, u32 sent)
{
	c->was_lost = c->lost;
	c->was_sent = sent;
	c->lost = 0;
	c->heavy = c->was_lost * 4 > max_t(u32, sent, HEAVY_MIN) ? c->heavy + 1 : 0;
}

static void look_again_later(struct srn_crowd *c)
{
	c->look_ns = c->now_ns + LOOK_NS + (is_known(c) ? LOOK_PATHS * c->least_ns : 0);
}

enum srn_crowd_loss srn_crowd_lost(struct srn_crowd *c, u32 sent, u64 now_ns)
{
	bool blind;

	end_period(c, sent);
	blind = c->heavy >= HEAVY;
	if (!is_full(c, now_ns) && !blind)
		return SRN_CROWD_CHANCE;
	blind |= c->now_ns >= c->look_ns;
	blind &= c->least_ns < BLIND_NS;
	c->most_ns = max(c->most_ns, c->delay_ns);
	c->full_ns = now_ns;
	c->left = STAY;
	if (!blind)
		return SRN_CROWD_FULL;
	c->heavy = 0;
	look_again_later(c);
	return SRN_CROWD_BLIND;
}
EXPORT_SYMBOL_IF_KUNIT(srn_crowd_lost);

/* Much has to be in flight. */
static bool is_long(const struct srn_crowd *c)
{
	return is_known(c) && c->least_ns >= LONG_NS;
}

bool srn_crowd_has_room(const struct srn_crowd *c)
{
	return c->delay_ns < max(noise(c), c->left ? c->enough_ns : 0) / 2;
}
EXPORT_SYMBOL_IF_KUNIT(srn_crowd_has_room);

static bool is_long_and_empty(const struct srn_crowd *c)
{
	return is_long(c) && srn_crowd_has_room(c);
}

/* What stands in the queue: with so many less the path is still filled. */
static u32 queued(const struct srn_crowd *c, u32 cwnd)
{
	return div64_u64(c->delay_ns * cwnd, c->least_ns + c->delay_ns);
}

/* A window that fills a long path takes long to come back: no more than was lost says, or a queue, if it is one. */
u32 srn_crowd_cut(const struct srn_crowd *c, u32 cwnd)
{
	u64 part;	/* of what was lost some may have been so more than once: more than was sent */

	if (!is_long(c) || !c->was_sent)
		return cwnd / 4;
	part = div_u64((u64)cwnd * c->was_lost / 2, c->was_sent);
	if (!srn_crowd_has_room(c))
		part = max_t(u64, part, queued(c, cwnd));
	return min_t(u64, cwnd / 4, part);
}
EXPORT_SYMBOL_IF_KUNIT(srn_crowd_cut);

bool srn_crowd_lost_much(const struct srn_crowd *c)
{
	return (u64)c->was_lost * WIDE_MUCH > c->was_sent;
}
EXPORT_SYMBOL_IF_KUNIT(srn_crowd_lost_much);

/* Up to a quarter, by how much too long the queue is. */
u32 srn_crowd_excess(const struct srn_crowd *c, u32 cwnd)
{
	u64 over;

	if (!c->left || c->delay_ns < c->enough_ns)
		return 0;
	over = div64_u64((c->delay_ns - c->enough_ns) * cwnd, c->delay_ns);
	return clamp_t(u64, over, 1, max_t(u32, cwnd / 4, 1));
}
EXPORT_SYMBOL_IF_KUNIT(srn_crowd_excess);

u32 srn_crowd_steps(const struct srn_crowd *c, u32 cwnd, u32 steps)
{
	if (!is_known(c))
		return steps;
	if (srn_crowd_is_stale(c))
		return 1;
	if (c->left && c->delay_ns >= c->enough_ns)
		return 0;
	if (is_long_and_empty(c))
		return max(steps, cwnd / LONG_PART);
	return c->left && !is_empty(c) ? 1 : steps;
}
EXPORT_SYMBOL_IF_KUNIT(srn_crowd_steps);

/* With little out the path is seen. What is out much of the time is never without a queue, and the fastest answer
 * lately is none of an empty path.
 */
void srn_crowd_path(struct srn_crowd *c, bool much)
{
	u32 least = min_t(u64, c->least_ns, U32_MAX);

	c->path_ns = much ? min(c->path_ns, least) : least;
}
EXPORT_SYMBOL_IF_KUNIT(srn_crowd_path);

/* What the last answer took longer. */
static u64 over_ns(const struct srn_crowd *c)
{
	u64 took = c->delay_ns + c->least_ns;

	return took - min_t(u64, took, c->path_ns);
}

static u64 wide_ns(const struct srn_crowd *c, u32 cwnd, u32 full)
{
	u64 part = int_sqrt(full * ONE * ONE / max3(cwnd, full, 1u));

	return min(noise(c) / 2, max_t(u64, WIDE_NS * part / ONE, WIDE_LEAST_NS));
}

u32 srn_crowd_wide_steps(const struct srn_crowd *c, u32 cwnd, u32 full, u32 steps)
{
	u64 some = wide_ns(c, cwnd, full);

	if (!is_known(c) || over_ns(c) > some)
		return 0;
	return min(steps, max(cwnd / (over_ns(c) > some / 4 ? WIDE_SLOW : WIDE_PART), 1u));
}
EXPORT_SYMBOL_IF_KUNIT(srn_crowd_wide_steps);

u32 srn_crowd_wide_excess(const struct srn_crowd *c, u32 cwnd, u32 full)
{
	u64 most, over;

	if (cwnd <= full || !is_known(c))
		return 0;
	most = 2 * wide_ns(c, cwnd, full);
	over = over_ns(c);
	if (over <= most)
		return 0;
	return min_t(u64, div64_u64(cwnd * (over - most), c->path_ns + over), cwnd - full);
}
EXPORT_SYMBOL_IF_KUNIT(srn_crowd_wide_excess);

bool srn_crowd_looks(struct srn_crowd *c)
{
	if (!c->left || c->now_ns < c->look_ns || c->least_ns >= BLIND_NS)
		return false;
	look_again_later(c);
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(srn_crowd_looks);
