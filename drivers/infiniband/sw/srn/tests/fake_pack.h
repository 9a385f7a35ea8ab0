/* SPDX-License-Identifier: GPL-2.0-only */
/* Packs as they leave, of any messages, and the packets that these would be by themselves. */
#ifndef SRN_TESTS_FAKE_PACK_H
#define SRN_TESTS_FAKE_PACK_H

#include "../pack.h"
#include "../train.h"
#include "../xmit.h"
#include "fake_run.h"

#define A_SEND		IB_OPCODE_RC_SEND_ONLY
#define A_SEND_IMM	IB_OPCODE_RC_SEND_ONLY_WITH_IMMEDIATE
#define A_SEND_INV	IB_OPCODE_RC_SEND_ONLY_WITH_INVALIDATE
#define A_WRITE		IB_OPCODE_RC_RDMA_WRITE_ONLY
#define A_WRITE_IMM	IB_OPCODE_RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE

/* One message; of a WRITE, the payload goes to a place of its own, STRIDE bytes behind the last. */
struct msg {
	u8 opcode;
	u16 len;
	u8 flags;	/* SRN_PKT_SE, SRN_PKT_ACKREQ */
};

#define STRIDE	512

struct msgs {
	const char *desc;
	u32 num;
	struct msg msg[SRN_RUN_MAX];
	bool is_v6;
};

static inline const struct srn_opcode *info_of(const struct msgs *m, u32 i)
{
	return &srn_opcodes[m->msg[i].opcode];
}

/* What message @i writes to is nobody's. */
static u32 bad_key_at = U32_MAX;

/* What message @i says of its length is not so. */
static u32 bad_len_at = U32_MAX;

/* What of a message stands behind its BTH, or in place of it. */
static inline void put_message(struct sk_buff *skb, const struct msgs *m, u32 i)
{
	const u16 hdrs = info_of(m, i)->hdrs, len = m->msg[i].len;
	u32 at;

	if (hdrs & SRN_HDR_RETH)
		srn_build_reth(skb, VA + i * STRIDE, i == bad_key_at ? ~rkey : rkey,
			       i == bad_len_at ? len + 1 : len);
	if (hdrs & SRN_HDR_IMM)
		srn_build_imm(skb, cpu_to_be32(WORD + i));
	if (hdrs & SRN_HDR_IETH)
		srn_build_ieth(skb, WORD + i);
	for (at = 0; at < len; at++)
		*(u8 *)skb_put(skb, 1) = byte_at(i * STRIDE + at);
}

/* The packet of message @i, from the BTH on, with room for @linear bytes. */
static inline struct sk_buff *build_message(struct kunit *test, const struct msgs *m, u32 i,
					    unsigned int flags, u32 linear)
{
	const struct msg *msg = &m->msg[i];
	struct sk_buff *skb;

	flags |= (msg->flags & SRN_PKT_ACKREQ ? SRN_BUILD_ACKREQ : 0) |
		 (msg->flags & SRN_PKT_SE ? SRN_BUILD_SE : 0);
	local_bh_disable();
	skb = srn_build(msg->opcode, flags, QPN, srn_psn_add(PSN, i), linear);
	local_bh_enable();
	KUNIT_ASSERT_NOT_NULL(test, skb);
	put_message(skb, m, i);
	return skb;
}

static inline void build_pack(struct kunit *test, const struct msgs *m, struct srn_pack *pack)
{
	struct sk_buff *skb = build_message(test, m, 0, SRN_BUILD_PACK, SRN_PACK_BYTES);
	u32 i;

	srn_pack_begin(pack, skb, m->msg[0].len, SRN_PACK_BYTES, SRN_RUN_MAX);
	for (i = 1; i < m->num; i++) {
		KUNIT_ASSERT_TRUE(test, srn_pack_has_room(pack, m->msg[i].opcode, m->msg[i].len));
		srn_pack_add(pack, m->msg[i].opcode, m->msg[i].flags, m->msg[i].len);
		put_message(pack->skb, m, i);
		srn_pack_added(pack, m->msg[i].opcode, m->msg[i].len);
	}
}

/* As it leaves, skb->data at the IP header. */
static inline struct sk_buff *send_pack(struct kunit *test, struct srn_path *path,
					const struct msgs *m)
{
	struct srn_train train = {};
	struct srn_pack pack;

	build_pack(test, m, &pack);
	left = NULL;
	local_bh_disable();
	srn_run_leave_pack(&pack, &train, path);
	local_bh_enable();
	KUNIT_ASSERT_NOT_NULL(test, left);
	return left;
}

#endif
