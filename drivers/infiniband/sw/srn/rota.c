// SPDX-License-Identifier: GPL-2.0-only
/* Who may, and who waits. */
#include "rota.h"

#include <kunit/visibility.h>
#include <linux/compiler.h>
#include <linux/export.h>
#include <linux/limits.h>

/* So many answers say whether there is a queue that takes longer than the path, but for the first of all. */
#define ANSWERS		32
/* They come in so many times what the fastest one took, at least: many may come at once. */
#define TRIPS		2
/* Those are as many as places; or as many as come in so many times what the first of them takes. */
#define FIRST_TRIPS	3
/* For so long it counts. */
#define QUEUE_NS	(32 * (u64)NSEC_PER_SEC)

void srn_rota_init(struct srn_rota *rota)
{
	*rota = (struct srn_rota){};
	INIT_LIST_HEAD(&rota->waiting);
	rota->least_ns = U64_MAX;
}
EXPORT_SYMBOL_IF_KUNIT(srn_rota_init);

/* Pairs with the acquire of who looks without the lock: what is said before is true for it. */
static void begin(struct srn_shift *shift)
{
	shift->sent = 0;
	shift->due = false;
	shift->wanted_ns = 0;
	shift->begins = true;
	smp_store_release(&shift->on, true);
}

/* Behind begin(), if it is given a place, or behind its being told: who neither waits nor has one may be gone. */
static void dequeue(struct srn_rota *rota, struct srn_shift *shift)
{
	list_del(&shift->node);
	smp_store_release(&shift->waits, false);
	WRITE_ONCE(rota->num_waiting, rota->num_waiting - 1);
}

static void enqueue(struct srn_rota *rota, struct srn_shift *shift)
{
	list_add_tail(&shift->node, &rota->waiting);
	WRITE_ONCE(shift->waits, true);
	WRITE_ONCE(rota->num_waiting, rota->num_waiting + 1);
}

bool srn_rota_ask(struct srn_rota *rota, struct srn_shift *shift)
{
	if (shift->on || shift->waits)
		return shift->on;
	if (rota->taken >= SRN_ROTA_PLACES) {
		enqueue(rota, shift);
		return false;
	}
	WRITE_ONCE(rota->taken, rota->taken + 1);
	if (rota->taken > SRN_ROTA_FEW)
		WRITE_ONCE(rota->crowds, rota->crowds + 1);
	begin(shift);
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(srn_rota_ask);

struct srn_shift *srn_rota_yield(struct srn_rota *rota, struct srn_shift *shift)
{
	struct srn_shift *next;

	if (shift->waits)
		dequeue(rota, shift);
	if (!shift->on)
		return NULL;
	shift->begins = false;
	WRITE_ONCE(shift->on, false);
	next = list_first_entry_or_null(&rota->waiting, struct srn_shift, node);
	if (!next) {
		WRITE_ONCE(rota->taken, rota->taken - 1);
		return NULL;
	}
	begin(next);
	dequeue(rota, next);
	return next;
}
EXPORT_SYMBOL_IF_KUNIT(srn_rota_yield);

void srn_rota_excuse(struct srn_rota *rota, struct srn_shift *shift)
{
	if (shift->waits)
		dequeue(rota, shift);
}
EXPORT_SYMBOL_IF_KUNIT(srn_rota_excuse);

bool srn_rota_release(struct srn_rota *rota, void (*wake)(const struct srn_shift *shift))
{
	struct srn_shift *next;

	next = list_first_entry_or_null(&rota->waiting, struct srn_shift, node);
	if (!next)
		return false;
	wake(next);
	dequeue(rota, next);
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(srn_rota_release);

void srn_rota_lost(struct srn_rota *rota, u64 now_ns)
{
	s64 age = srn_rota_age(rota, now_ns);

	/* What somebody left when turns were taken before is of another time. */
	if (!rota->needed || age >= SRN_ROTA_LATELY_NS)
		rota->legacy.cwnd = 0;
	else if (age < 0)
		return;
	WRITE_ONCE(rota->lost_ns, now_ns);
	WRITE_ONCE(rota->needed, true);
}
EXPORT_SYMBOL_IF_KUNIT(srn_rota_lost);

void srn_rota_calm(struct srn_rota *rota, u64 now_ns)
{
	if (rota->needed && srn_rota_age(rota, now_ns) >= SRN_ROTA_LATELY_NS)
		WRITE_ONCE(rota->needed, false);
}
EXPORT_SYMBOL_IF_KUNIT(srn_rota_calm);

static void judge(struct srn_rota *rota, bool far, u64 until_ns)
{
	WRITE_ONCE(rota->far, far);
	rota->known = true;
	rota->until_ns = until_ns;
	rota->answers = 0;
	rota->slow = 0;
}

/* Answers come until there are enough to judge by. */
static bool is_enough(const struct srn_rota *rota, u64 now_ns)
{
	if (!rota->known)
		return rota->answers >= SRN_ROTA_PLACES || now_ns >= rota->until_ns;
	return rota->answers >= ANSWERS && now_ns >= rota->since_ns + TRIPS * rota->least_ns;
}

/* Whether a queue takes longer than the path: that is how long those took that it made slow. At the beginning the first
 * ones stand behind others that are few. What else makes one slow, such as a hole before it, does not so to all.
 */
static bool is_queue(const struct srn_rota *rota, const struct srn_crowd *crowd)
{
	if (rota->far)
		return rota->slow == rota->answers && srn_crowd_is(crowd);
	return rota->slow * (rota->known ? 2 : 4) >= rota->answers;
}

void srn_rota_look(struct srn_rota *rota, const struct srn_crowd *crowd)
{
	u64 now = crowd->now_ns;

	WRITE_ONCE(rota->least_ns, min(rota->least_ns, crowd->least_ns));
	if (srn_rota_is_near(rota)) {
		judge(rota, false, 0);
		return;
	}
	if (!rota->until_ns) {
		rota->until_ns = now + FIRST_TRIPS * rota->least_ns;
		rota->answers = 0;
	}
	if (!rota->answers++)
		rota->since_ns = now;
	rota->slow += crowd->least_ns + crowd->delay_ns >= 2 * rota->least_ns;
	if (is_enough(rota, now)) {
		if (is_queue(rota, crowd))
			judge(rota, false, now + QUEUE_NS);
		else if (rota->known)
			judge(rota, rota->far, rota->until_ns);
		else
			judge(rota, true, now);
	}
	if (rota->known && now >= rota->until_ns)
		WRITE_ONCE(rota->far, true);
}
EXPORT_SYMBOL_IF_KUNIT(srn_rota_look);

void srn_rota_look_again(struct srn_rota *rota)
{
	if (!rota->known && !rota->until_ns && ++rota->answers >= SRN_ROTA_PLACES)
		judge(rota, true, 0);
}
EXPORT_SYMBOL_IF_KUNIT(srn_rota_look_again);
