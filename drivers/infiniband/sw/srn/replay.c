// SPDX-License-Identifier: GPL-2.0-only
/* Answers to READs and atomics, the first time and again (IBTA vol. 1, 9.4.4,
 * 9.4.5 and 9.7.5.1.3).
 */
#include "replay.h"

#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/math.h>
#include <linux/slab.h>
#include <rdma/ib_pack.h>

#include "ack.h"
#include "build.h"
#include "sgl.h"
#include "mem.h"
#include "opcode.h"
#include "psn.h"
#include "qp.h"
#include "stats.h"
#include "xmit.h"

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

/* A repeated READ may ask for less, but only for bytes that its PSNs
 * stood for the first time.
 */
bool srn_replay_part(const struct srn_replay_slot *slot, u32 mtu, u32 psn, u64 va, u32 rkey,
		     u32 len)
{
	u32 offset = srn_psn_diff(psn, slot->first_psn) * mtu;

	if (va != slot->va + offset || rkey != slot->rkey)
		return false;
	if (!len)
		return !slot->len;
	return len <= slot->len - offset;
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
	pkt->va = slot->va + before + offset;
	pkt->opcode = read_opcode(first, pkt->last);
	pkt->aeth = first || pkt->last;
}
EXPORT_SYMBOL_IF_KUNIT(srn_replay_packet);

int srn_replay_resize(struct srn_replay *replay, u32 num)
{
	struct srn_replay_slot *slots = NULL;
	u32 keep = min(num, replay->num), i;

	if (num) {
		slots = kvcalloc(num, sizeof(*slots), GFP_KERNEL_ACCOUNT);
		if (!slots)
			return -ENOMEM;
	}
	/* The newest end up in the last slots, so that slot 0 is the oldest or free. */
	for (i = 0; i < keep; i++)
		slots[num - keep + i] =
			replay->slots[(replay->head + replay->num - keep + i) % replay->num];
	kvfree(replay->slots);
	replay->slots = slots;
	replay->num = num;
	replay->head = 0;
	replay->open = 0;
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
}

void srn_replay_abandon(struct srn_replay *replay)
{
	u32 i;

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

static void set_done(struct srn_replay *replay, struct srn_replay_slot *slot)
{
	replay->open -= slot->todo;
	slot->todo = false;
}

static struct srn_replay_slot *take_slot(struct srn_replay *replay)
{
	struct srn_replay_slot *slot = &replay->slots[replay->head];

	set_done(replay, slot);
	replay->head = (replay->head + 1) % replay->num;
	memset(slot, 0, sizeof(*slot));
	return slot;
}

static void begin_read(struct srn_replay *replay, struct srn_replay_slot *slot, u32 psn, u32 len)
{
	slot->start_psn = psn;
	slot->psn = psn;
	slot->answer_len = len;
	set_todo(replay, slot);
}

void srn_replay_add_read(struct srn_qp *qp, u32 psn, u64 va, u32 rkey, u32 len)
{
	struct srn_replay_slot *slot = take_slot(&qp->resp.replay);

	slot->op = SRN_OP_READ_REQ;
	slot->first_psn = psn;
	slot->last_psn = srn_psn_add(psn, srn_replay_npsn(len, qp->mtu) - 1);
	slot->msn = qp->resp.msn;
	slot->va = va;
	slot->rkey = rkey;
	slot->len = len;
	begin_read(&qp->resp.replay, slot, psn, len);
}
EXPORT_SYMBOL_IF_KUNIT(srn_replay_add_read);

void srn_replay_add_atomic(struct srn_qp *qp, u8 op, u32 psn, u64 orig)
{
	struct srn_replay_slot *slot = take_slot(&qp->resp.replay);

	slot->op = op;
	slot->first_psn = psn;
	slot->last_psn = psn;
	slot->msn = qp->resp.msn;
	slot->orig = orig;
	set_todo(&qp->resp.replay, slot);
}
EXPORT_SYMBOL_IF_KUNIT(srn_replay_add_atomic);

static enum srn_verdict get_mem(struct srn_qp *qp, u64 va, u32 rkey, u32 len, struct srn_mem **mem)
{
	*mem = NULL;
	if (!len)
		return SRN_OK;
	return srn_mem_get_remote(qp->dev, qp->ibqp.pd, qp->ibqp.qp_num, rkey, va, len,
				  IB_ACCESS_REMOTE_READ, mem);
}

static void put_mem(struct srn_mem *mem)
{
	if (mem)
		srn_mem_put(mem);
}

/* A duplicate may be a stray copy from the network that comes after the memory
 * was rightly taken back: no reason for a NAK.
 */
void srn_replay_again_read(struct srn_qp *qp, u32 psn, u64 va, u32 rkey, u32 len)
{
	struct srn_replay_slot *slot = srn_replay_find(&qp->resp.replay, psn);
	struct srn_mem *mem;

	if (!slot || slot->op != SRN_OP_READ_REQ ||
	    !srn_replay_part(slot, qp->mtu, psn, va, rkey, len))
		return;
	if (get_mem(qp, va, rkey, len, &mem))
		return;
	put_mem(mem);
	slot->again = true;
	begin_read(&qp->resp.replay, slot, psn, len);
}
EXPORT_SYMBOL_IF_KUNIT(srn_replay_again_read);

void srn_replay_again_atomic(struct srn_qp *qp, u8 op, u32 psn)
{
	struct srn_replay_slot *slot = srn_replay_find(&qp->resp.replay, psn);

	if (!slot || slot->op != op)
		return;
	slot->again = true;
	set_todo(&qp->resp.replay, slot);
}
EXPORT_SYMBOL_IF_KUNIT(srn_replay_again_atomic);

/* An answer that could not be built is lost, as on a bad wire: the peer asks again. */
static void transmit(struct srn_qp *qp, struct sk_buff *skb, u32 psn, bool follows)
{
	if (!skb) {
		srn_count(qp->dev, SRN_CNT_TX_NOMEM);
		return;
	}
	srn_train_add(&qp->resp.train, &qp->path, skb, follows);
	srn_ack_implied(qp, psn);
}

static struct sk_buff *build_read(struct srn_qp *qp, const struct srn_replay_slot *slot,
				  const struct srn_read_packet *pkt, struct srn_mem *mem)
{
	struct sk_buff *skb = srn_build(pkt->opcode, 0, qp->dest_qpn, slot->psn, pkt->len);
	void *to;

	if (!skb)
		return NULL;
	if (pkt->aeth)
		srn_build_aeth(skb, SRN_SYN_ACK_UNLIMITED, slot->msn);
	if (!pkt->len)
		return skb;
	to = srn_build_payload(skb, pkt->len);
	if (!to) {
		kfree_skb(skb);
		return NULL;
	}
	srn_mem_read(mem, pkt->va, to, pkt->len);
	return skb;
}

static void send_read_packets(struct srn_qp *qp, struct srn_replay_slot *slot,
			      struct srn_read_packet *pkt, struct srn_mem *mem, int *budget)
{
	do {
		transmit(qp, build_read(qp, slot, pkt, mem), slot->psn, !pkt->last);
		slot->psn = srn_psn_add(slot->psn, 1);
		--*budget;
		if (pkt->last) {
			set_done(&qp->resp.replay, slot);
			return;
		}
		srn_replay_packet(slot, qp->mtu, pkt);
	} while (*budget > 0);
}

/* Nothing may overtake the NAK; but a second answer nobody depends on. */
static void refuse_rest(struct srn_qp *qp, struct srn_replay_slot *slot)
{
	set_done(&qp->resp.replay, slot);
	if (slot->again)
		return;
	srn_replay_abandon(&qp->resp.replay);
	srn_responder_fail(qp, SRN_V_REM_ACCESS, slot->psn);
}

/* The key is proven for what is left of the answer, in each round: a region that
 * goes away in the middle ends the answer with a NAK (remote access error).
 */
static void send_read(struct srn_qp *qp, struct srn_replay_slot *slot, int *budget)
{
	struct srn_read_packet pkt;
	struct srn_mem *mem;

	srn_replay_packet(slot, qp->mtu, &pkt);
	if (get_mem(qp, pkt.va, slot->rkey, pkt.left, &mem)) {
		refuse_rest(qp, slot);
		return;
	}
	send_read_packets(qp, slot, &pkt, mem, budget);
	put_mem(mem);
}

/* Annex A19: an atomic write is answered like a READ of nothing. */
static struct sk_buff *build_atomic(struct srn_qp *qp, const struct srn_replay_slot *slot)
{
	bool write = slot->op == SRN_OP_ATOMIC_WRITE;
	struct sk_buff *skb;

	skb = srn_build(write ? IB_OPCODE_RC_RDMA_READ_RESPONSE_ONLY :
				IB_OPCODE_RC_ATOMIC_ACKNOWLEDGE,
			0, qp->dest_qpn, slot->first_psn, 0);
	if (!skb)
		return NULL;
	srn_build_aeth(skb, SRN_SYN_ACK_UNLIMITED, slot->msn);
	if (!write)
		srn_build_atomic_ack(skb, slot->orig);
	return skb;
}

static void send_slot(struct srn_qp *qp, struct srn_replay_slot *slot, int *budget)
{
	if (slot->op == SRN_OP_READ_REQ) {
		send_read(qp, slot, budget);
		return;
	}
	transmit(qp, build_atomic(qp, slot), slot->first_psn, false);
	set_done(&qp->resp.replay, slot);
	--*budget;
}

bool srn_replay_send(struct srn_qp *qp, int *budget)
{
	struct srn_replay *replay = &qp->resp.replay;
	struct srn_replay_slot *slot;
	u32 i;

	for (i = 0; i < replay->num && replay->open && *budget > 0; i++) {
		slot = &replay->slots[(replay->head + i) % replay->num];
		if (slot->todo)
			send_slot(qp, slot, budget);
	}
	srn_train_leave(&qp->resp.train, &qp->path);
	return replay->open;
}
