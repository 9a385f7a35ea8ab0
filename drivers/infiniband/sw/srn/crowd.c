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
/* Or so few after the first, on a very long path: what was lost before it may have been lost by chance. */
#define STAY_FIRST	16
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
/* One of so many lost is no chance: what grows by a part of itself in spite of it goes on losing. On a very long path
 * the square root of that may be more, by which it varies: who has less would be told of it more often.
 */
#define WIDE_MUCH	50
/* On a very long path, between this part of what fills a short path and twice as much, while nothing queues, what is
 * lost of so many is by chance; or of fewer, where more are out by then. But it is no more than was lost of so many
 * while fewer were out, if that was seen: what grows with what is out is none. And no more than one in so many ever is,
 * whatever was learned: others fill a queue, or a policer counts.
 */
#define LEARN_PART	4
#define LEARN_LOT	16	/* so that they fit into a byte: a lot that is not full counts as one */
#define LEARN_SENT	(1024 / LEARN_LOT)
#define LEARN_LEAST	(256 / LEARN_LOT)
#define LEARN_FEW	(256 / LEARN_LOT)
#define LEARN_FEW_MOST	(2048 / LEARN_LOT)
#define LEARN_MOST	10
/* So many lost say enough, of however few. */
#define LEARN_LOST	16
/* Fewer that are to be lost by chance vary by too much to say anything. */
#define CHANCE_LEAST	4
/* So many would be lost by it, and not a quarter was: it is less. */
#define LEARN_LESS	32
#define LEARN_LESS_PART	4
/* Once that is known, and until anything queued or more was lost, this part of what is out comes in a round trip, but no
 * more than that part of what fills a short path, as much more than fits may queue; or what comes anyhow, if that is more.
 */
#define FAST_PART	2
/* Once more than that was lost of so many there is more than fits: from then on as many come in each round trip, this
 * part of what fills a short path, for who has more as for who has less: so all get the same.
 */
#define TIGHT_SENT	512
#define TIGHT_PART	8
/* So many answers after what last said so neither that nor what was learned is believed any more. */
#define AGE		256
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

static bool is_known(const struct srn_crowd *c)
{
	return c->least_ns != U64_MAX;
}

static bool takes_very_long(const struct srn_crowd *c)
{
	return is_known(c) && min_t(u64, c->least_ns, c->path_ns) >= SRN_CROWD_VERY_LONG_NS;
}

static bool is_very_long(const struct srn_crowd *c)
{
	return c->spreads && takes_very_long(c);
}

bool srn_crowd_has_room(const struct srn_crowd *c)
{
	return c->delay_ns < max(noise(c), c->left ? c->enough_ns : 0) / 2;
}
EXPORT_SYMBOL_IF_KUNIT(srn_crowd_has_room);

static void learn_anew(struct srn_crowd *c)
{
	c->seen_sent[0] = 0;
	c->seen_sent[1] = 0;
	c->seen_lost[0] = 0;
	c->seen_lost[1] = 0;
	c->knows = false;
	c->unsure = 0;
}

void srn_crowd_unlearn(struct srn_crowd *c)
{
	learn_anew(c);
	c->tight = false;
	c->met = false;
}
EXPORT_SYMBOL_IF_KUNIT(srn_crowd_unlearn);

/* At most three quarters of what was too much, if that is known; and noise is no queue. */
static u64 enough(const struct srn_crowd *c, u32 cwnd)
{
	u64 root = int_sqrt(2 * ONE * ONE / max_t(u32, cwnd, 1));
	u64 some = noise(c) / 2 * (ONE + 2 * ENOUGH_FEW * root) / ONE;

	if (c->most_ns)
		some = min_t(u64, some, c->most_ns / 4 * 3);
	return max(some, noise(c));
}

/* A queue that stays though as good as nothing is put into it is another one's, or none at all: the
 * peer is slow, or this path is longer than those it is compared with.
 */
static bool is_in_vain(struct srn_crowd *c, bool few)
{
	bool late = few && c->delay_ns >= c->enough_ns;

	static_assert(VAIN == U8_MAX + 1);
	c->vain = late ? c->vain + 1 : 0;
	return late && !c->vain;
}

/* Until queues are minded no more. */
static void count_down(struct srn_crowd *c, bool few)
{
	bool vain = is_in_vain(c, few), over = c->now_ns >= c->full_ns + LONGEST_NS;
	bool queues = c->delay_ns >= c->enough_ns / 2;

	c->left = queues ? STAY : c->left - 1;
	c->early &= !queues;
	if (!vain && !over && c->left)
		return;
	c->left = 0;
	c->most_ns = 0;
	c->vain = 0;
}

/* Neither lasts: not that much was lost, nor what was learned, once nothing says so any more. That something queued, or
 * more was lost (met), does: who knew that much of the path is not to find it out once more by as much too much.
 */
static void grow_old(struct srn_crowd *c)
{
	static_assert(AGE == U8_MAX + 1);
	if (c->tight && !++c->calm)
		c->tight = false;
	if (c->knows && !++c->unsure)
		learn_anew(c);
}

/* What was lost before it was known how long the path is was taken for a queue, and may have been chance; or the first
 * answer stood behind a queue, which is all that is long. That shows soon (count_down()). What the peer keeps may be
 * known later than that (srn_window_set_spread()).
 */
static void look_at_length(struct srn_crowd *c)
{
	if (!takes_very_long(c)) {
		srn_crowd_unlearn(c);	/* where none of that counts */
		return;
	}
	if (!c->spreads) {
		learn_anew(c);	/* but for met: a peer may say now and then that it keeps less */
		c->tight = false;
		return;
	}
	if (c->early)
		c->left = min_t(u32, c->left, STAY_FIRST);
	c->early = false;
	grow_old(c);
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
	look_at_length(c);
	c->mixed |= c->left || !srn_crowd_has_room(c);
	if (c->left)
		count_down(c, few);
	return c->delay_ns;
}
EXPORT_SYMBOL_IF_KUNIT(srn_crowd_sample);

bool srn_crowd_is_old(const struct srn_crowd *c, u64 now_ns)
{
	return is_known(c) && now_ns > c->now_ns + OLD_NS + OLD_ANSWERS * (c->least_ns + c->delay_ns);
}
EXPORT_SYMBOL_IF_KUNIT(srn_crowd_is_old);

/* One that was lost while much less was queued was not lost by that. */
static bool is_full(const struct srn_crowd *c, u64 now_ns)
{
	return !is_known(c) ||
	       (c->delay_ns >= max_t(u64, noise(c), c->most_ns / 2) && !srn_crowd_is_old(c, now_ns));
}

static bool is_empty(const struct srn_crowd *c)
{
	return is_known(c) && c->delay_ns < noise(c) / 2;
}

/* So many of what was sent, once that is known. */
static u32 by_chance(const struct srn_crowd *c)
{
	return div_u64((u64)c->was_sent * c->seen_lost[1], c->seen_sent[1] * LEARN_LOT);
}

/* It is no more than twice that, as what is lost and what was sent are not of the same time, and by what chance
 * varies.
 */
static bool is_by_chance(const struct srn_crowd *c)
{
	u32 chance = c->knows ? by_chance(c) : 0;

	if (chance < CHANCE_LEAST || !is_very_long(c))
		return false;
	return c->was_lost <= min(2 * chance + 3 * int_sqrt(chance), c->was_sent / LEARN_MOST);
}

bool srn_crowd_lost_much(const struct srn_crowd *c)
{
	u64 lost = c->was_lost;

	if (is_very_long(c))
		lost -= min_t(u32, c->was_lost, int_sqrt(c->was_sent / WIDE_MUCH));
	return lost * WIDE_MUCH > c->was_sent && !is_by_chance(c);
}
EXPORT_SYMBOL_IF_KUNIT(srn_crowd_lost_much);

/* Where as good as nothing is lost of many it was no chance that was learned of few: others filled a queue then, and
 * who takes that for chance would not make room for them. Twice what is seen now, since of what doubles no more than
 * half has been answered.
 */
static void learn_less(struct srn_crowd *c)
{
	u32 chance = c->knows ? by_chance(c) : 0;

	if (chance >= LEARN_LESS && c->was_lost < chance / LEARN_LESS_PART)
		c->seen_lost[1] = div_u64((u64)c->seen_sent[1] * LEARN_LOT * 2 * c->was_lost, c->was_sent);
}

/* What the period said of what is known. */
static void confirm(struct srn_crowd *c)
{
	bool much = srn_crowd_lost_much(c);

	c->met |= c->knows && much;
	if (much && c->was_sent >= TIGHT_SENT && is_very_long(c)) {
		c->tight = true;
		c->calm = 0;
	}
	if (is_by_chance(c) && c->was_lost >= by_chance(c) / LEARN_LESS_PART)
		c->unsure = 0;
}

/* By chance a small part is lost now and then; by a full queue much, time after time. */
static void end_period(struct srn_crowd *c, u32 sent)
{
	static_assert(HEAVY <= 3);	/* two bits */
	c->was_lost = c->lost;
	c->was_sent = sent;
	c->lost = 0;
	c->mixed = false;
	learn_less(c);
	confirm(c);
	if (c->was_lost * 4 <= max_t(u32, sent, HEAVY_MIN))
		c->heavy = 0;
	else if (c->heavy < HEAVY)
		c->heavy++;
}

/* Where so many were lost hardly more were to be. */
static u32 likely_most(u32 lost)
{
	return lost + 2 * int_sqrt(lost) + 2;
}

/* It is no more of many than of few. */
static void end_learning(struct srn_crowd *c)
{
	u32 lost = c->seen_lost[1];

	if (c->seen_sent[0] >= LEARN_FEW)
		lost = min_t(u32, lost, (u32)c->seen_sent[1] * likely_most(c->seen_lost[0]) / c->seen_sent[0]);
	c->seen_lost[1] = lost;
	c->knows = true;
	if (lost * LEARN_MOST > c->seen_sent[1] * LEARN_LOT)
		learn_anew(c);
}

void srn_crowd_learn(struct srn_crowd *c, u32 sent, u32 cwnd, u32 full)
{
	u32 some = full / LEARN_PART;
	bool few = cwnd <= 2 * some, i = cwnd > some, enough;

	if (c->knows || !is_very_long(c))
		return;
	if (few && c->seen_sent[i] < LEARN_FEW_MOST && !c->left && !c->mixed && !c->stale && srn_crowd_has_room(c)) {
		c->seen_sent[i] = min_t(u32, c->seen_sent[i] + DIV_ROUND_UP(sent, LEARN_LOT), U8_MAX);
		c->seen_lost[i] = min_t(u32, c->seen_lost[i] + c->lost, U8_MAX);
	}
	enough = !few || c->seen_lost[1] >= LEARN_LOST;
	if (c->seen_sent[1] >= (enough ? LEARN_LEAST : LEARN_SENT))
		end_learning(c);
}
EXPORT_SYMBOL_IF_KUNIT(srn_crowd_learn);

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
	c->most_ns = clamp_t(u64, c->delay_ns, c->most_ns, U32_MAX);
	c->full_ns = now_ns;
	c->left = STAY;
	c->early = !is_known(c);
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

static bool is_long_and_empty(const struct srn_crowd *c)
{
	return is_long(c) && srn_crowd_has_room(c);
}

bool srn_crowd_overdoes(const struct srn_crowd *c, u32 cwnd, u32 full)
{
	return cwnd > 2 * (full / LEARN_PART) && is_very_long(c) && srn_crowd_lost_much(c);
}
EXPORT_SYMBOL_IF_KUNIT(srn_crowd_overdoes);

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
	if (is_by_chance(c) && srn_crowd_has_room(c))
		return 0;
	part = div_u64((u64)cwnd * c->was_lost / 2, c->was_sent);
	if (!srn_crowd_has_room(c))
		part = max_t(u64, part, queued(c, cwnd));
	return min_t(u64, cwnd / 4, part);
}
EXPORT_SYMBOL_IF_KUNIT(srn_crowd_cut);

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

/* Nothing says yet how much more may be out: on a short path that is never so. */
static bool is_fast(const struct srn_crowd *c)
{
	return c->knows && !c->met && !c->tight;
}

u32 srn_crowd_steps(const struct srn_crowd *c, u32 cwnd, u32 steps)
{
	if (!is_known(c))
		return steps;
	if (srn_crowd_is_stale(c))
		return 1;
	if (c->left && c->delay_ns >= c->enough_ns)
		return 0;
	if (is_long_and_empty(c))
		return max(steps, cwnd / (is_fast(c) ? FAST_PART : LONG_PART));
	return c->left && !is_empty(c) ? 1 : steps;
}
EXPORT_SYMBOL_IF_KUNIT(srn_crowd_steps);

/* What the last answer took longer. */
static u64 over_ns(const struct srn_crowd *c)
{
	u64 took = c->delay_ns + c->least_ns;

	return took - min_t(u64, took, c->path_ns);
}

/* With little out the path is seen. What is out much of the time is never without a queue, and the fastest answer
 * lately is none of an empty path.
 */
void srn_crowd_path(struct srn_crowd *c, bool much)
{
	u32 least = min_t(u64, c->least_ns, U32_MAX);
	bool late;

	c->path_ns = much ? min(c->path_ns, least) : least;
	/* Once is no queue: an answer may have been lost, and the next one told of it. */
	late = much && over_ns(c) > WIDE_LEAST_NS / 2;
	c->met |= late && c->late;
	c->late = late;
}
EXPORT_SYMBOL_IF_KUNIT(srn_crowd_path);

static u64 wide_ns(const struct srn_crowd *c, u32 cwnd, u32 full)
{
	u64 part = int_sqrt(full * ONE * ONE / max3(cwnd, full, 1u));

	return min(noise(c) / 2, max_t(u64, WIDE_NS * part / ONE, WIDE_LEAST_NS));
}

u32 srn_crowd_wide_steps(const struct srn_crowd *c, u32 cwnd, u32 full, u32 steps)
{
	u64 some = wide_ns(c, cwnd, full);
	bool slow = over_ns(c) > some / 4;

	if (!is_known(c) || over_ns(c) > some)
		return 0;
	if (c->tight && is_long_and_empty(c) && !srn_crowd_is_stale(c))
		return clamp_t(u32, slow ? cwnd / WIDE_SLOW : full, full / TIGHT_PART / 2, full / TIGHT_PART);
	if (is_fast(c) && !slow)
		return min(steps, max(full / FAST_PART, cwnd / WIDE_PART));
	return min(steps, max(cwnd / (slow ? WIDE_SLOW : WIDE_PART), 1u));
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
