// SPDX-License-Identifier: GPL-2.0-only
/* What is kept of READs and atomics: slots and their arithmetic (IBTA vol. 1, 9.4.4,
 * 9.4.5 and 9.7.5.1.3).
 */
#include "replay.h"

#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/math.h>
#include <linux/slab.h>
#include <rdma/ib_pack.h>

#include "opcode.h"
#include "psn.h"

u32 srn_replay_npsn(u32 len, u32 mtu)
{
	return len ? DIV_ROUND_UP(len, mtu) : 1;
}
EXPORT_SYMBOL_IF_KUNIT(srn_replay_npsn);

static bool includes(const struct srn_replay_slot *slot, u32 psn)
{
	return slot->op != SRN_OP_NONE &&
	       srn_psn_diff(psn, slot->first_psn) >= 0 &&
	       srn_psn_diff(slot->last_psn, psn) >= 0;
}

/* Newest first: a PSN comes round, and then the older slot is the stale one. */
struct srn_replay_slot *srn_replay_find(const struct srn_replay *replay, u32 psn)
{
	u32 i = replay->head, n;

	for (n = 0; n < replay->num; n++) {
		i = (i ?: replay->num) - 1;
		if (includes(&replay->slots[i], psn))
			return &replay->slots[i];
	}
	return NULL;
}
EXPORT_SYMBOL_IF_KUNIT(srn_replay_find);

const struct srn_replay_slot *srn_replay_after(const struct srn_replay *replay, u32 psn)
{
	const struct srn_replay_slot *slot;
	u32 age;

	for (age = 0; age < replay->num; age++) {
		slot = &replay->slots[(replay->head + age) % replay->num];
		if (slot->op != SRN_OP_NONE && srn_psn_diff(slot->first_psn, psn) > 0)
			return slot;
	}
	return NULL;
}

static struct srn_replay_part *nth_part(const struct srn_replay *replay, u32 n)
{
	return &replay->parts[(replay->first_part + n) % SRN_REPLAY_PARTS];
}

static bool is_read_of(const struct srn_replay_slot *slot, u32 rkey)
{
	return slot->op == SRN_OP_READ_REQ && slot->range.rkey == rkey;
}

bool srn_replay_reads(const struct srn_replay *replay, u32 rkey)
{
	const struct srn_replay_slot *slot;
	u32 age = 0, i;

	for (i = 0; i < replay->num_parts; i++)
		if (nth_part(replay, i)->rkey == rkey)
			return true;

	while ((slot = srn_replay_next(replay, &age)))
		if (is_read_of(slot, rkey))
			return true;
	return false;
}
EXPORT_SYMBOL_IF_KUNIT(srn_replay_reads);

bool srn_replay_part(const struct srn_replay_slot *slot, u32 mtu, u32 psn,
		     const struct srn_range *range)
{
	u32 offset = srn_psn_diff(psn, slot->first_psn) * mtu;

	if (slot->op != SRN_OP_READ_REQ ||
	    range->va != slot->range.va + offset || range->rkey != slot->range.rkey)
		return false;
	if (!range->len)
		return !slot->range.len;
	return range->len <= slot->range.len - offset;
}
EXPORT_SYMBOL_IF_KUNIT(srn_replay_part);

static u8 read_opcode(bool first, bool last)
{
	if (first)
		return last ? IB_OPCODE_RC_RDMA_READ_RESPONSE_ONLY :
			      IB_OPCODE_RC_RDMA_READ_RESPONSE_FIRST;
	return last ? IB_OPCODE_RC_RDMA_READ_RESPONSE_LAST :
		      IB_OPCODE_RC_RDMA_READ_RESPONSE_MIDDLE;
}

/* A partial answer is one of its own: it begins with FIRST or ONLY. */
void srn_replay_packet(const struct srn_replay_slot *slot, u32 mtu, struct srn_read_packet *pkt)
{
	u32 before = srn_psn_diff(slot->start_psn, slot->first_psn) * mtu;
	u32 offset = srn_psn_diff(slot->psn, slot->start_psn) * mtu;
	bool first = slot->psn == slot->start_psn;

	pkt->left = slot->answer_len - offset;
	pkt->last = pkt->left <= mtu;
	pkt->len = pkt->last ? pkt->left : mtu;
	pkt->va = slot->range.va + before + offset;
	pkt->opcode = read_opcode(first, pkt->last);
	pkt->aeth = first || pkt->last;
}
EXPORT_SYMBOL_IF_KUNIT(srn_replay_packet);

static void free_parts(struct srn_replay *replay)
{
	kfree(replay->parts);
	replay->parts = NULL;
	replay->num_parts = 0;
}

int srn_replay_resize(struct srn_replay *replay, u32 num)
{
	struct srn_replay_slot *slots = NULL;
	u32 keep = min(num, replay->num), i;

	if (num) {
		slots = kvcalloc(num, sizeof(*slots), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
		if (!slots)
			return -ENOMEM;
	}
	/* The newest end up in the last slots, so that slot 0 is the oldest or free. */
	for (i = 0; i < keep; i++)
		slots[num - keep + i] =
			replay->slots[(replay->head + replay->num - keep + i) % replay->num];
	kvfree(replay->slots);
	if (!num)
		free_parts(replay);
	replay->slots = slots;
	replay->num = num;
	replay->head = 0;
	replay->open = replay->num_parts;
	for (i = 0; i < num; i++)
		replay->open += slots[i].todo;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(srn_replay_resize);

void srn_replay_clear(struct srn_replay *replay)
{
	if (replay->num)
		memset(replay->slots, 0, array_size(replay->num, sizeof(*replay->slots)));
	replay->head = 0;
	replay->open = 0;
	replay->num_parts = 0;
}
EXPORT_SYMBOL_IF_KUNIT(srn_replay_clear);

void srn_replay_abandon(struct srn_replay *replay)
{
	u32 i;

	replay->open -= replay->num_parts;
	replay->num_parts = 0;
	for (i = 0; i < replay->num && replay->open; i++) {
		replay->open -= replay->slots[i].todo;
		replay->slots[i].todo = false;
	}
}
EXPORT_SYMBOL_IF_KUNIT(srn_replay_abandon);

static void set_todo(struct srn_replay *replay, struct srn_replay_slot *slot)
{
	replay->open += !slot->todo;
	slot->todo = true;
}

void srn_replay_done(struct srn_replay *replay, struct srn_replay_slot *slot)
{
	replay->open -= slot->todo;
	slot->todo = false;
}
EXPORT_SYMBOL_IF_KUNIT(srn_replay_done);

static struct srn_replay_slot *take_slot(struct srn_replay *replay)
{
	struct srn_replay_slot *slot = &replay->slots[replay->head];

	srn_replay_done(replay, slot);
	replay->head = (replay->head + 1) % replay->num;
	memset(slot, 0, sizeof(*slot));
	return slot;
}

static void begin(struct srn_replay *replay, struct srn_replay_slot *slot, u32 psn, u32 len)
{
	slot->start_psn = psn;
	slot->psn = psn;
	slot->answer_len = len;
	set_todo(replay, slot);
}

void srn_replay_add_read(struct srn_replay *replay, u32 psn, u32 npsn, u32 msn,
			 const struct srn_range *range)
{
	struct srn_replay_slot *slot = take_slot(replay);

	slot->op = SRN_OP_READ_REQ;
	slot->first_psn = psn;
	slot->last_psn = srn_psn_add(psn, npsn - 1);
	slot->msn = msn;
	slot->range = *range;
	begin(replay, slot, psn, range->len);
}
EXPORT_SYMBOL_IF_KUNIT(srn_replay_add_read);

void srn_replay_add_atomic(struct srn_replay *replay, u8 op, u32 psn, u32 msn, u64 orig)
{
	struct srn_replay_slot *slot = take_slot(replay);

	slot->op = op;
	slot->first_psn = psn;
	slot->last_psn = psn;
	slot->msn = msn;
	slot->orig = orig;
	begin(replay, slot, psn, 0);
}
EXPORT_SYMBOL_IF_KUNIT(srn_replay_add_atomic);

void srn_replay_again(struct srn_replay *replay, struct srn_replay_slot *slot, u32 psn, u32 len)
{
	/* Until the first answer has left the peer can't have it, and is owed it or a NAK. */
	slot->again |= !slot->todo;
	begin(replay, slot, psn, len);
}
EXPORT_SYMBOL_IF_KUNIT(srn_replay_again);

struct srn_replay_slot *srn_replay_next(const struct srn_replay *replay, u32 *age)
{
	struct srn_replay_slot *slot;

	while (replay->open && *age < replay->num) {
		slot = &replay->slots[(replay->head + (*age)++) % replay->num];
		if (slot->todo)
			return slot;
	}
	return NULL;
}

/* Behind what its first answer has sent nothing can have been lost yet: bytes in front of that. */
static u32 len_sent(const struct srn_replay_slot *slot, u32 psn, u32 len, u32 mtu)
{
	s32 sent = srn_psn_diff(slot->psn, psn);

	if (!slot->todo || slot->again)
		return len;
	return min_t(u64, len, (u64)max(sent, 0) * mtu);
}

/* Of an answer that takes long a peer asks for the same again and again. */
static bool waits(const struct srn_replay *replay, u32 psn, u32 npsn, u32 mtu)
{
	const struct srn_replay_part *part;
	u32 i;

	for (i = 0; i < replay->num_parts; i++) {
		part = nth_part(replay, i);
		if (srn_psn_diff(psn, part->psn) >= 0 &&
		    srn_psn_diff(psn, part->start_psn) + npsn <= srn_replay_npsn(part->len, mtu))
			return true;
	}
	return false;
}

/* Most connections never lose an answer: there is room from the first one that is asked for on. */
static bool may_add(struct srn_replay *replay)
{
	if (unlikely(!replay->parts))
		replay->parts = kmalloc_array(SRN_REPLAY_PARTS, sizeof(*replay->parts),
					      GFP_ATOMIC | __GFP_NOWARN);
	return replay->parts && replay->num_parts < SRN_REPLAY_PARTS;
}

bool srn_replay_add_part(struct srn_replay *replay, const struct srn_replay_slot *slot, u32 psn,
			 u32 len, u32 mtu)
{
	u32 sent = len_sent(slot, psn, len, mtu);

	if ((len && !sent) || waits(replay, psn, srn_replay_npsn(sent, mtu), mtu))
		return true;
	if (!may_add(replay))
		return false;
	*nth_part(replay, replay->num_parts++) = (struct srn_replay_part){
		.start_psn = psn, .psn = psn, .len = sent,
		.rkey = slot->op == SRN_OP_READ_REQ ? slot->range.rkey : 0,
	};
	replay->open++;
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(srn_replay_add_part);

static void pop_part(struct srn_replay *replay)
{
	replay->first_part = (replay->first_part + 1) % SRN_REPLAY_PARTS;
	replay->num_parts--;
}

/* It is as a slot that is answered again: done, it is one less that is open. */
bool srn_replay_first_part(struct srn_replay *replay, struct srn_replay_slot *as)
{
	const struct srn_replay_part *part = nth_part(replay, 0);
	const struct srn_replay_slot *slot = srn_replay_find(replay, part->psn);

	if (!slot) {
		replay->open--;
		pop_part(replay);
		return false;
	}
	*as = *slot;
	as->todo = true;
	as->again = true;
	as->start_psn = part->start_psn;
	as->psn = part->psn;
	as->answer_len = part->len;
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(srn_replay_first_part);

void srn_replay_part_sent(struct srn_replay *replay, const struct srn_replay_slot *as)
{
	if (as->todo)
		nth_part(replay, 0)->psn = as->psn;
	else
		pop_part(replay);
}
EXPORT_SYMBOL_IF_KUNIT(srn_replay_part_sent);
