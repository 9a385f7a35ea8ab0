// SPDX-License-Identifier: GPL-2.0-only
/* Runs the module's gate on bytes: makes the sk_buff and takes it apart again. */
#include "parse.h"

struct gate_verdict {
	int parse;
	int opcode_unknown;
	int icrc_ok;
	u8 opcode;
	u16 pkey;
	u32 qpn, psn, len;
	u32 headers;
};

u32 crc32_le(u32 crc, const void *p, size_t len)
{
	const u8 *byte = p;
	int bit;

	for (; len; len--, byte++) {
		crc ^= *byte;
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	}
	return crc;
}

u32 srn_crc32_fold(u32 crc, const void *p, size_t len);

u32 srn_crc32(u32 crc, const void *p, size_t len)
{
	return len < 128 ? crc32_le(crc, p, len) : srn_crc32_fold(crc, p, len);
}

int srn_crc32_init(void) { return 0; }
void srn_crc32_exit(void) { }

static void *copy_of(const void *from, size_t len)
{
	void *to = malloc(len);

	if (!to)
		abort();
	return memcpy(to, from, len);
}

/* The head is always a new one: who keeps a pointer to the old one is seen. */
bool pskb_may_pull(struct sk_buff *skb, unsigned int len)
{
	skb_frag_t *frag = skb->info.frags;
	unsigned int more;
	u8 *head;

	if (len > skb->len)
		return false;
	more = len > skb->head_len ? len - skb->head_len : 0;
	head = malloc(skb->head_len + more);
	if (!head)
		abort();
	memcpy(head, skb->data, skb->head_len);
	memcpy(head + skb->head_len, frag->page, more);
	free(skb->data);
	skb->data = head;
	skb->head_len += more;
	if (more) {
		struct page *rest = copy_of(&frag->page->byte + more, frag->len - more);

		free(frag->page);
		frag->page = rest;
		frag->len -= more;
	}
	return true;
}

int skb_copy_bits(const struct sk_buff *skb, int offset, void *to, int len)
{
	unsigned int i;

	if (offset < 0 || (unsigned int)offset + len > skb->len)
		return -1;
	for (i = 0; i < (unsigned int)len; i++) {
		unsigned int at = offset + i;

		((u8 *)to)[i] = at < skb->head_len ? skb->data[at] :
				(&skb->info.frags[0].page->byte)[at - skb->head_len];
	}
	return 0;
}

static void judge(struct sk_buff *skb, struct gate_verdict *verdict)
{
	const struct srn_pkt *pkt = srn_pkt(skb);
	enum srn_parse_result res = srn_parse(skb);

	verdict->opcode_unknown = res == SRN_PARSE_OPCODE;
	verdict->parse = verdict->opcode_unknown ? 0 : res;
	if (verdict->parse)
		return;
	verdict->icrc_ok = srn_parse_icrc(skb) == SRN_PARSE_OK;
	verdict->opcode = pkt->opcode;
	verdict->pkey = pkt->pkey;
	verdict->qpn = pkt->qpn;
	verdict->psn = pkt->psn;
	verdict->len = pkt->len;
	verdict->headers = pkt->hdr_len;
}

struct gate_verdict gate(const u8 *network, size_t network_size, const u8 *transport, size_t size,
			 size_t linear)
{
	struct gate_verdict verdict = {};
	struct sk_buff skb = {
		.data = copy_of(transport, linear),
		.len = size,
		.head_len = linear,
		.network = copy_of(network, network_size),
		.network_offset = -(int)network_size,
		.info.nr_frags = 1,
		.info.frags[0].page = copy_of(transport + linear, size - linear),
		.info.frags[0].len = size - linear,
	};

	judge(&skb, &verdict);
	free(skb.data);
	free(skb.network);
	free(skb.info.frags[0].page);
	return verdict;
}
