// SPDX-License-Identifier: GPL-2.0-only
/* Holes, when they were seen, and what was done about them. */
#include "score.h"

#include <kunit/visibility.h>
#include <linux/compiler.h>
#include <linux/export.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/string.h>

/* Of srn_score_try.first: it is to fit a word, and to cost no division. */
#define TICK_SHIFT	10

static u32 tick(u64 ns)
{
	return ns >> TICK_SHIFT;
}

static bool is_before(u32 a, u32 b)
{
	return srn_psn_diff(a, b) < 0;
}

static u32 later(u32 a, u32 b)
{
	return is_before(a, b) ? b : a;
}

void srn_score_start(struct srn_score *s, u32 una)
{
	/* What a try is is set when it goes. */
	memset(s, 0, offsetof(struct srn_score, tries));
	s->most = SRN_SCORE_NEW;
	s->una = una;
	s->high = una;
	s->ripe = una;
	s->next = una;
}
EXPORT_SYMBOL_IF_KUNIT(srn_score_start);

static struct srn_score_try *nth_try(struct srn_score *s, u32 n)
{
	return &s->tries[(s->first_try + n) % SRN_SCORE_TRIES];
}

static void pop_try(struct srn_score *s)
{
	s->first_try = (s->first_try + 1) % SRN_SCORE_TRIES;
	s->num_tries--;
	s->num_again -= min(s->num_again, 1u);
}

static u32 end_of(const struct srn_score_try *t)
{
	return srn_psn_add(t->psn, t->len);
}

static u32 missing_of(const struct srn_score *s, const struct srn_score_try *t)
{
	u32 from = later(t->psn, s->una);

	return is_before(from, end_of(t)) ? srn_psns_holes(&s->has, from, end_of(t)) : 0;
}

/* Those in front that nothing is missing of are done. */
static void drop_settled(struct srn_score *s)
{
	while (s->num_tries && !missing_of(s, nth_try(s, 0)))
		pop_try(s);
}

/* What came of the tries. */
static void settle(struct srn_score *s)
{
	u32 i;

	drop_settled(s);
	s->out = 0;
	for (i = s->num_again; i < s->num_tries; i++)
		s->out += missing_of(s, nth_try(s, i));
}

/* Marks that are close together are one, as of the first of them. */
static void mark(struct srn_score *s, const struct srn_score_wait *wait, u64 now)
{
	struct srn_score_mark *last = s->marks + s->num_marks - 1;

	if (s->num_marks &&
	    (s->num_marks == SRN_SCORE_MARKS || now - last->ns < wait->reorder / 4)) {
		last->psn = s->high;
		return;
	}
	s->marks[s->num_marks++] = (struct srn_score_mark){ .psn = s->high, .ns = now };
}

static void ripen(struct srn_score *s, const struct srn_score_wait *wait, u64 now)
{
	u32 num = 0;

	while (num < s->num_marks && now - s->marks[num].ns >= wait->reorder)
		s->ripe = later(s->ripe, s->marks[num++].psn);
	s->num_marks -= num;
	memmove(s->marks, s->marks + num, s->num_marks * sizeof(*s->marks));
}

static void earn(struct srn_score *s, u32 came)
{
	s->owed = min_t(u32, s->owed + came, SRN_SCORE_OWED);
}

u32 srn_score_heard(struct srn_score *s, u32 expected, const unsigned long *map, u32 num,
		    const struct srn_score_wait *wait, u64 now)
{
	u32 last = find_last_bit(map, num), end = expected, added;

	added = srn_psns_add(&s->has, s->una, srn_psn_diff(expected, s->una));
	added += srn_psns_add_map(&s->has, srn_psn_add(expected, 1), map, num);
	if (!added)
		return 0;
	if (last < num)
		end = srn_psn_add(expected, last + 2);
	srn_score_reached(s, end, wait, now);
	earn(s, added);
	settle(s);
	return added;
}
EXPORT_SYMBOL_IF_KUNIT(srn_score_heard);

void srn_score_reached(struct srn_score *s, u32 end, const struct srn_score_wait *wait, u64 now)
{
	if (!is_before(s->high, end))
		return;
	s->high = end;
	mark(s, wait, now);
}
EXPORT_SYMBOL_IF_KUNIT(srn_score_reached);

static bool has_psn(const struct srn_score_try *t, u32 psn)
{
	return !is_before(psn, t->psn) && is_before(psn, end_of(t));
}

/* What was asked for is answered in that order: the tries in front of that of @psn are lost. But the
 * answer may be to a request before, which was late, if it comes so soon.
 */
static void overtake(struct srn_score *s, u32 psn, const struct srn_score_wait *wait, u64 now)
{
	u32 i;

	for (i = s->num_again; i < s->num_tries; i++)
		if (has_psn(nth_try(s, i), psn) && now - nth_try(s, i)->ns >= wait->soon)
			s->num_again = i;
}

void srn_score_came(struct srn_score *s, u32 psn, const struct srn_score_wait *wait, u64 now)
{
	if (!srn_psns_add(&s->has, psn, 1))
		return;
	srn_score_reached(s, srn_psn_add(psn, 1), wait, now);
	/* Where the path keeps no order, time tells. */
	if (!wait->reorder)
		overtake(s, psn, wait, now);
	earn(s, 1);
	settle(s);
}
EXPORT_SYMBOL_IF_KUNIT(srn_score_came);

void srn_score_skip(struct srn_score *s, u32 psn, u32 len)
{
	srn_psns_add(&s->has, psn, len);
	settle(s);
}
EXPORT_SYMBOL_IF_KUNIT(srn_score_skip);

bool srn_score_acked(struct srn_score *s, u32 una)
{
	u32 until = is_before(una, s->high) ? una : s->high;
	bool overtaken = is_before(s->next, until) && srn_psns_holes(&s->has, s->next, until);
	u32 len = srn_psn_diff(una, s->una);

	earn(s, len - srn_psns_drop(&s->has, s->una, min_t(u32, len, SRN_PSNS)));
	s->una = una;
	s->high = later(s->high, una);
	s->ripe = later(s->ripe, una);
	s->next = later(s->next, una);
	settle(s);
	return overtaken;
}
EXPORT_SYMBOL_IF_KUNIT(srn_score_acked);

static bool is_lost_again(const struct srn_score *s, const struct srn_score_try *t,
			  const struct srn_score_wait *wait, u64 now)
{
	return is_before(t->fresh, s->ripe) || now - t->ns >= wait->again;
}

/* What is lost again has left the path. Tries are lost in the order in which they left. */
static void give_up(struct srn_score *s, const struct srn_score_wait *wait, u64 now)
{
	const struct srn_score_try *t;

	while (s->num_again < s->num_tries) {
		t = nth_try(s, s->num_again);
		if (!is_lost_again(s, t, wait, now))
			break;
		s->out -= missing_of(s, t);
		s->num_again++;
	}
}

static u32 run_of(const struct srn_score *s, u32 psn, u32 end)
{
	return srn_psn_diff(srn_psns_next(&s->has, psn, end), psn);
}

static u32 pick_again(struct srn_score *s, u32 *psn)
{
	struct srn_score_try *t = nth_try(s, 0);
	u32 end = end_of(t);

	t->psn = srn_psns_next_hole(&s->has, later(t->psn, s->una), end);
	t->len = srn_psn_diff(end, t->psn);
	*psn = t->psn;
	return run_of(s, t->psn, end);
}

u32 srn_score_pick(struct srn_score *s, const struct srn_score_wait *wait, u64 now, u32 *psn)
{
	s->blocked = false;
	ripen(s, wait, now);
	give_up(s, wait, now);
	if (s->num_again)
		return pick_again(s, psn);
	if (s->num_tries >= s->most || !is_before(s->next, s->ripe))
		return 0;
	*psn = srn_psns_next_hole(&s->has, s->next, s->ripe);
	s->next = *psn;
	return run_of(s, *psn, s->ripe);
}
EXPORT_SYMBOL_IF_KUNIT(srn_score_pick);

bool srn_score_may_go(struct srn_score *s, const struct srn_score_wait *wait, u64 now, bool room,
		      bool tight)
{
	s->blocked = !room && (tight || !s->owed);
	if (!s->blocked)
		return true;
	if (!s->eased_ns)
		s->eased_ns = now;
	if (now - s->eased_ns < wait->again)
		return false;
	s->eased_ns = now;
	s->owed = max_t(u32, s->owed, SRN_SCORE_EASE);
	s->blocked = false;
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(srn_score_may_go);

/* What goes in a row, at one time, is one. */
static void push_try(struct srn_score *s, const struct srn_score_try *t)
{
	struct srn_score_try *last = nth_try(s, s->num_tries - 1);

	if (s->num_tries && end_of(last) == t->psn && last->fresh == t->fresh && last->ns == t->ns &&
	    last->first == t->first)
		last->len += t->len;
	else
		*nth_try(s, s->num_tries++) = *t;
}

static void watch(struct srn_score *s, const struct srn_score_try *t)
{
	if (s->watches)
		return;
	s->watches = true;
	s->watched = t->psn;
	s->watched_first = t->first;
}

/* Of the oldest try its first PSNs went. The rest stays the oldest one; where there are as many as there may be
 * it is as if all of it had gone, and waits once more.
 */
static void cut_oldest(struct srn_score *s, struct srn_score_try *t)
{
	struct srn_score_try *oldest = nth_try(s, 0);

	t->first = oldest->first;
	watch(s, t);
	t->len = min(t->len, oldest->len);
	oldest->psn = end_of(t);
	oldest->len -= t->len;
	if (oldest->len && s->num_tries >= s->most + SRN_SCORE_PIECES) {
		t->len += oldest->len;
		oldest->len = 0;
	}
	if (!oldest->len)
		pop_try(s);
	drop_settled(s);
}

u64 srn_score_tried_ns(const struct srn_score *s, u32 psn)
{
	return s->num_again && is_before(psn, s->next) ? s->tries[s->first_try].ns : 0;
}
EXPORT_SYMBOL_IF_KUNIT(srn_score_tried_ns);

u64 srn_score_took(struct srn_score *s, u64 now)
{
	if (likely(!s->watches) || (!is_before(s->watched, s->una) && !srn_psns_has(&s->has, s->watched)))
		return 0;
	s->watches = false;
	return (tick(now) - s->watched_first + 1ull) << TICK_SHIFT;
}
EXPORT_SYMBOL_IF_KUNIT(srn_score_took);

void srn_score_sent(struct srn_score *s, u32 psn, u32 len, u32 fresh, u64 now)
{
	struct srn_score_try t = { .psn = psn, .len = len, .fresh = fresh, .first = tick(now), .ns = now };

	s->resent = true;
	srn_score_used(s, len);
	if (is_before(psn, s->next))
		cut_oldest(s, &t);
	else
		s->next = end_of(&t);
	s->out += missing_of(s, &t);
	push_try(s, &t);
}
EXPORT_SYMBOL_IF_KUNIT(srn_score_sent);

static u64 until(u64 then, u64 now)
{
	return then > now ? then - now : 0;
}

static const struct srn_score_try *oldest_out(const struct srn_score *s)
{
	return &s->tries[(s->first_try + s->num_again) % SRN_SCORE_TRIES];
}

u64 srn_score_due(const struct srn_score *s, const struct srn_score_wait *wait, u64 now)
{
	u64 due = U64_MAX;

	if (s->num_again < s->num_tries)
		due = until(oldest_out(s)->ns + wait->again, now);
	if (s->num_marks)
		due = min(due, until(s->marks[0].ns + wait->reorder, now));
	if (s->blocked)
		due = min(due, until(s->eased_ns + wait->again, now));
	return due;
}
EXPORT_SYMBOL_IF_KUNIT(srn_score_due);
