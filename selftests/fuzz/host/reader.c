// SPDX-License-Identifier: GPL-2.0-only
/* The module's reader of SACK packets on bytes. What it is in one room with, the writer of them,
 * is compiled as well, against a QP that has only what it asks for, and never called.
 */
#define SRN_BUILD_H
#define SRN_QP_H
#define SRN_STATS_H
#define SRN_XMIT_H

#include "parse.h"
#include "psns.h"

enum {
	SRN_CC_OFF, SRN_BUILD_ALONE, SRN_CNT_TX_NOMEM, SRN_CNT_SENT_SACK, SRN_BUILD_LINEAR = 1024,
};

struct srn_hold {
	struct srn_psns *held;
};

struct srn_qp {
	void *dev;
	u32 dest_qpn, mtu;
	int cc, path;
	struct {
		struct srn_hold hold;
		struct { u32 psn, msn; } msg;
		struct { u32 twice; } ack;
	} resp;
};

#define srn_build(...)		((struct sk_buff *)NULL)
#define srn_build_aeth(...)	((void)0)
#define srn_build_reth(...)	((void)0)
#define srn_build_payload(...)	NULL
#define srn_count(...)		((void)0)
#define srn_hold_ahead(...)	0u
#define srn_hold_span(...)	0u
#define srn_xmit(...)		((void)0)

#include "sw/srn/sack.c"

#include "reader.h"

static void *copy_of(const void *from, size_t len)
{
	void *to = malloc(len);

	if (!to)
		abort();
	return memcpy(to, from, len);
}

bool read_sack(const u8 *bth, size_t size, size_t linear, struct srn_sack *sack,
	       struct srn_sack_map *map)
{
	struct sk_buff skb = {
		.data = copy_of(bth, linear),
		.len = size,
		.head_len = linear,
		.info.nr_frags = 1,
		.info.frags[0].page = copy_of(bth + linear, size - linear),
		.info.frags[0].len = size - linear,
	};
	bool ours;

	srn_pkt(&skb)->opcode = SRN_OPCODE_SACK;
	srn_pkt(&skb)->hdr_len = SACK_HEADERS;
	srn_pkt(&skb)->len = size - SACK_HEADERS - SACK_ICRC;
	memset(sack, 0x5a, sizeof(*sack));
	memset(map, 0x5a, sizeof(*map));
	ours = srn_sack_read(&skb, sack) && srn_sack_read_map(&skb, map);
	if (srn_sack_kind(&skb) != (ours ? sack->kind : 0))
		abort();
	free(skb.data);
	free(skb.info.frags[0].page);
	return ours;
}
