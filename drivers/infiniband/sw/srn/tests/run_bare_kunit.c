// SPDX-License-Identifier: GPL-2.0-only
/* Runs without payload: where they may go, what they say when they arrive, and what they may not be. */
#include "../stats.h"
#include "fake_run.h"

#include <net/sch_generic.h>

static const struct shape bare = {
	"", IB_OPCODE_RC_RDMA_READ_RESPONSE_FIRST, IB_OPCODE_RC_RDMA_READ_RESPONSE_LAST,
	40, 4096, 100, .bare = true,
};

/* One that does not begin its answer. */
static const struct shape middle = {
	"", IB_OPCODE_RC_RDMA_READ_RESPONSE_MIDDLE, IB_OPCODE_RC_RDMA_READ_RESPONSE_LAST,
	40, 4096, 100, .bare = true,
};

/* Over lo; @dev is told what it counts for. */
static struct sk_buff *send_shape(struct kunit *test, const struct shape *shape, struct srn_dev **dev)
{
	struct srn_path *path;
	struct sk_buff *skb;

	migrate_disable();
	path = new_path_by(test, false, new_netdev(test, IFF_LOOPBACK));
	skb = send(test, path, shape, NULL);
	migrate_enable();
	skb->skb_iif = LOOPBACK_IFINDEX;
	*dev = path->dev;
	return skb;
}

static struct sk_buff *send_bare(struct kunit *test, struct srn_dev **dev)
{
	return send_shape(test, &bare, dev);
}

/* A short datagram, of which all is known but the bytes, and which counts for what it stands for. */
static void srn_run_bare_test(struct kunit *test)
{
	struct srn_dev *dev;
	struct sk_buff *skb = send_bare(test, &dev);

	KUNIT_EXPECT_FALSE(test, skb_is_gso(skb));
	KUNIT_EXPECT_LT(test, skb->len, 128);
	arrive(skb, false);
	KUNIT_EXPECT_TRUE(test, srn_run_arrived(skb));
	KUNIT_ASSERT_EQ(test, srn_run_parse(skb), SRN_PARSE_OK);
	KUNIT_EXPECT_TRUE(test, srn_pkt(skb)->flags & SRN_PKT_BARE);
	KUNIT_EXPECT_EQ(test, srn_pkt_num(skb), bare.num);
	KUNIT_EXPECT_EQ(test, srn_pkt(skb)->len, payload_len(&bare));
	KUNIT_EXPECT_EQ(test, srn_run_bytes(skb), srn_stats_sum(dev, SRN_CNT_SENT_BYTES));
	KUNIT_EXPECT_EQ(test, srn_stats_sum(dev, SRN_CNT_SENT_PKTS), bare.num);
	KUNIT_EXPECT_EQ(test, srn_stats_sum(dev, SRN_CNT_SENT_BARE), 1);
	kfree_skb(skb);
}

/* Its packets say the same of themselves, each for its part. */
static void srn_run_bare_split_test(struct kunit *test)
{
	struct srn_dev *dev;
	struct sk_buff *skb = send_bare(test, &dev), *part;
	struct sk_buff_head parts;
	u32 i = 0;

	arrive(skb, false);
	KUNIT_ASSERT_EQ(test, srn_run_parse(skb), SRN_PARSE_OK);
	__skb_queue_head_init(&parts);
	local_bh_disable();
	KUNIT_EXPECT_EQ(test, srn_run_split(skb, &parts), 0);
	local_bh_enable();
	kfree_skb(skb);
	KUNIT_EXPECT_EQ(test, skb_queue_len(&parts), bare.num);
	skb_queue_walk(&parts, part) {
		KUNIT_EXPECT_TRUE(test, srn_pkt(part)->flags & SRN_PKT_BARE);
		KUNIT_EXPECT_FALSE(test, srn_pkt_is_run(part));
		KUNIT_EXPECT_EQ(test, srn_pkt(part)->psn, srn_psn_add(PSN, i));
		KUNIT_EXPECT_EQ(test, srn_pkt(part)->len, ++i < bare.num ? bare.each : bare.tail);
		KUNIT_EXPECT_EQ(test, part->len, srn_pkt_payload(part));
	}
	__skb_queue_purge(&parts);
}

/* There is nothing in it that could be cut. */
static void srn_run_bare_uncut_test(struct kunit *test)
{
	struct sk_buff *skb;

	migrate_disable();
	skb = send(test, new_path(test, false), &bare, NULL);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(cut_by_stack(test, skb, NETIF_F_SG)), -EINVAL);
	migrate_enable();
	kfree_skb(skb);
}

/* What is wrong with one that somebody forged. */
struct forged {
	const char *desc;
	void (*forge)(struct srn_run *run, struct srn_bth *bth);
	const struct shape *of;
	u32 more;	/* bytes behind it */
};

#define FORGE(_name, _what)						\
static void _name(struct srn_run *run, struct srn_bth *bth)		\
{									\
	_what;								\
}

FORGE(not_bare, run->flags &= ~SRN_PKT_BARE)
FORGE(lent, run->flags |= SRN_PKT_LENT)
FORGE(nothing, run->rest = 0)
FORGE(too_long, run->rest = bare.each + 1)
FORGE(short_middle, run->opcode = IB_OPCODE_RC_RDMA_READ_RESPONSE_MIDDLE)
FORGE(too_many, run->num = SRN_RUN_MAX + 1)
FORGE(a_write, bth->opcode = IB_OPCODE_RC_RDMA_WRITE_MIDDLE; run->opcode = IB_OPCODE_RC_RDMA_WRITE_LAST)

#define FORGED(_f, ...)	{ #_f, _f, __VA_ARGS__ }

static const struct forged forged[] = {
	FORGED(not_bare), FORGED(lent, .more = sizeof(struct srn_lease)), FORGED(nothing), FORGED(too_long),
	FORGED(short_middle), FORGED(too_many), FORGED(a_write, .of = &middle),
};

KUNIT_ARRAY_PARAM_DESC(forged, forged, desc);

/* There is room for what a run may have. */
static void lengthen(struct sk_buff *skb, u32 more)
{
	struct iphdr *ip = (void *)skb->data;
	struct udphdr *udp = (void *)(ip + 1);

	skb_put_zero(skb, more);
	ip->tot_len = htons(skb->len);
	udp->len = htons(skb->len - sizeof(*ip));
}

static void srn_run_bare_forged_test(struct kunit *test)
{
	const struct forged *row = test->param_value;
	const struct shape *of = row->of ?: &bare;
	struct srn_dev *dev;
	struct sk_buff *skb = send_shape(test, of, &dev);
	struct srn_bth *bth = (void *)skb->data + sizeof(struct iphdr) + sizeof(struct udphdr);

	row->forge((void *)bth + srn_opcode_hdr_len(of->first), bth);
	lengthen(skb, row->more);
	arrive(skb, false);
	KUNIT_EXPECT_EQ(test, srn_run_parse(skb), SRN_PARSE_LENGTH);
	kfree_skb(skb);
}

/* Nor may it have payload. */
static void srn_run_bare_with_payload_test(struct kunit *test)
{
	static const struct shape answer = {
		"", IB_OPCODE_RC_RDMA_READ_RESPONSE_FIRST, IB_OPCODE_RC_RDMA_READ_RESPONSE_LAST,
		3, 1024, 100,
	};
	struct sk_buff *skb;
	struct srn_run *run;

	migrate_disable();
	skb = send(test, new_path(test, false), &answer, NULL);
	migrate_enable();
	run = (void *)skb->data + sizeof(struct iphdr) + sizeof(struct udphdr) +
	      srn_opcode_hdr_len(answer.first);
	run->flags |= SRN_PKT_BARE;
	run->rest = answer.tail;
	arrive(skb, false);
	KUNIT_EXPECT_EQ(test, srn_run_parse(skb), SRN_PARSE_LENGTH);
	kfree_skb(skb);
}

static int enqueue(struct sk_buff *skb, struct Qdisc *qdisc, struct sk_buff **to_free)
{
	return NET_XMIT_DROP;
}

static struct Qdisc queue = { .enqueue = enqueue }, no_queue;

/* What somebody would see, or send elsewhere. */
static const struct bare_row {
	const char *desc;
	u32 num, packets;
	unsigned int flags;
	bool queue, watched, program;
	u32 segs;
} bare_rows[] = {
	{ "lo", 16, 16, IFF_LOOPBACK },
	{ "as many as a run has", SRN_RUN_MAX, SRN_RUN_MAX, IFF_LOOPBACK },
	{ "none by itself", SRN_RUN_MAX + 1, SRN_RUN_MAX / 2 + 1, IFF_LOOPBACK },
	{ "one packet", 1, 1, IFF_LOOPBACK },
	{ "another netdev", 16, 1, 0 },
	{ "a lo with a queue", 16, 1, IFF_LOOPBACK, .queue = true },
	{ "a lo that takes few", 16, 4, IFF_LOOPBACK, .segs = 4 },
	{ "a lo that takes none", 16, 1, IFF_LOOPBACK, .segs = 1 },
	{ "a capture", 16, 1, IFF_LOOPBACK, .watched = true },
	{ "XDP", 16, 1, IFF_LOOPBACK, .program = true },
};

KUNIT_ARRAY_PARAM_DESC(bare, bare_rows, desc);

static struct net_device *new_watched(struct kunit *test, const struct bare_row *row)
{
	struct net_device *dev = new_netdev(test, row->flags);
	struct netdev_queue *tx = kunit_kzalloc(test, sizeof(*tx), GFP_KERNEL);
	struct list_head *tap = kunit_kzalloc(test, sizeof(*tap), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, tx);
	KUNIT_ASSERT_NOT_NULL(test, tap);
	RCU_INIT_POINTER(tx->qdisc, row->queue ? &queue : &no_queue);
	dev->_tx = tx;
	dev->num_tx_queues = 1;
	dev->features = NETIF_F_GSO | NETIF_F_SG | NETIF_F_GSO_UDP_TUNNEL | NETIF_F_GSO_FRAGLIST;
	dev->hw_enc_features = dev->features;
	dev->gso_max_segs = row->segs ?: GSO_MAX_SEGS;
	INIT_LIST_HEAD(&dev->ptype_all);
	INIT_LIST_HEAD(&dev->ptype_specific);
	if (row->watched)
		list_add(tap, &dev->ptype_specific);
	/* Nobody runs it. */
	RCU_INIT_POINTER(dev->xdp_prog, row->program ? (struct bpf_prog *)tap : NULL);
	return dev;
}

static void srn_run_bare_packets_test(struct kunit *test)
{
	const struct bare_row *row = test->param_value;
	struct srn_path *path;

	migrate_disable();
	path = new_path_by(test, false, new_watched(test, row));
	local_bh_disable();
	KUNIT_EXPECT_EQ(test, srn_run_bare_packets(path, row->num), row->packets);
	srn_run_stopped = true;
	KUNIT_EXPECT_EQ(test, srn_run_bare_packets(path, row->num), 1);
	srn_run_stopped = false;
	local_bh_enable();
	migrate_enable();
}

static struct kunit_case srn_run_bare_cases[] = {
	KUNIT_CASE(srn_run_bare_test),
	KUNIT_CASE(srn_run_bare_split_test),
	KUNIT_CASE(srn_run_bare_uncut_test),
	KUNIT_CASE_PARAM(srn_run_bare_forged_test, forged_gen_params),
	KUNIT_CASE(srn_run_bare_with_payload_test),
	KUNIT_CASE_PARAM(srn_run_bare_packets_test, bare_gen_params),
	{}
};

static struct kunit_suite srn_run_bare_suite = {
	.name = "srn_run_bare",
	.test_cases = srn_run_bare_cases,
};

kunit_test_suite(srn_run_bare_suite);
