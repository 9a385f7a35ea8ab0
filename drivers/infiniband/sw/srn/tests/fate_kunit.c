// SPDX-License-Identifier: GPL-2.0-only
/* Rules as text, which packets they are meant for, and what passes in which order. Packets are
 * told apart by their PSN; a kernel without fates skips all of this.
 */
#include "../fate.h"

#include <kunit/test.h>

#if SRN_HAS_FATES

#include <linux/ip.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/inet_ecn.h>

#include "../wire.h"

#define QPN		0x11
#define MAX_PASSED	16

#define RC_SEND_ONLY	0x04
#define RC_READ_RESP	0x10
#define RC_ACK		0x11
#define RC_ATOMIC_ACK	0x12
#define CNP		0x81

#define PAYLOAD		8
#define LEN		(sizeof(struct srn_bth) + sizeof(struct srn_aeth) + PAYLOAD + SRN_ICRC_SIZE)

/* What passed, in order. */
static struct {
	unsigned int num;
	u32 psn[MAX_PASSED];
	u8 bytes[MAX_PASSED][LEN];
	u8 tos[MAX_PASSED];
	const struct srn_net *snet[MAX_PASSED];
} passed;

static void pass(struct srn_net *snet, struct sk_buff *skb)
{
	const struct srn_bth *bth = (void *)(udp_hdr(skb) + 1);

	if (passed.num < MAX_PASSED) {
		passed.psn[passed.num] = be32_get_bits(bth->apsn, SRN_BTH_PSN);
		memcpy(passed.bytes[passed.num], bth, LEN);
		passed.tos[passed.num] = ip_hdr(skb)->tos;
		passed.snet[passed.num] = snet;
	}
	passed.num++;
	kfree_skb(skb);
}

static struct sk_buff *packet(struct kunit *test, u8 opcode, u32 qpn, u32 psn, u8 syndrome)
{
	struct sk_buff *skb = alloc_skb(256, GFP_KERNEL);
	struct srn_bth *bth;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb_reset_network_header(skb);
	skb_put_zero(skb, sizeof(struct iphdr) + sizeof(struct udphdr) + LEN);
	skb->protocol = htons(ETH_P_IP);
	ip_hdr(skb)->version = 4;
	ip_hdr(skb)->tos = INET_ECN_ECT_0;
	__skb_pull(skb, sizeof(struct iphdr));
	skb_reset_transport_header(skb);
	bth = (void *)(udp_hdr(skb) + 1);
	bth->opcode = opcode;
	bth->dqpn = cpu_to_be32(qpn);
	bth->apsn = cpu_to_be32(psn);
	((struct srn_aeth *)(bth + 1))->smsn = be32_encode_bits(syndrome, SRN_AETH_SYNDROME);
	return skb;
}

/* The namespace is a name only. */
static struct srn_net *net_a(void) { return (struct srn_net *)1; }
static struct srn_net *net_b(void) { return (struct srn_net *)2; }

static void arrive(struct kunit *test, u32 psn)
{
	srn_fate(net_a(), packet(test, RC_SEND_ONLY, QPN, psn, 0), pass);
}

static void arrive_all(struct kunit *test, u32 num)
{
	u32 psn;

	for (psn = 1; psn <= num; psn++)
		arrive(test, psn);
}

static void set(struct kunit *test, const char *text)
{
	KUNIT_ASSERT_EQ(test, srn_fate_set(text), 0);
}

static void expect_passed(struct kunit *test, unsigned int num, const u32 *psn)
{
	unsigned int i;

	KUNIT_ASSERT_EQ(test, passed.num, num);
	for (i = 0; i < num; i++)
		KUNIT_EXPECT_EQ_MSG(test, passed.psn[i], psn[i], "packet %u", i);
}

#define EXPECT_PASSED(test, ...)						\
	do {									\
		const u32 psn_[] = { __VA_ARGS__ };				\
		expect_passed(test, ARRAY_SIZE(psn_), psn_);			\
	} while (0)

static void expect_rules(struct kunit *test, const char *text)
{
	char *page = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, page);
	KUNIT_EXPECT_EQ(test, srn_fate_get(page), strlen(text));
	KUNIT_EXPECT_STREQ(test, page, text);
}

static int fate_test_init(struct kunit *test)
{
	memset(&passed, 0, sizeof(passed));
	return srn_fate_set("clear");
}

static void fate_test_exit(struct kunit *test)
{
	srn_fate_set("clear");
}

static void without_rules_all_pass(struct kunit *test)
{
	arrive_all(test, 3);
	EXPECT_PASSED(test, 1, 2, 3);
	expect_rules(test, "");
}

static void dropped_once(struct kunit *test)
{
	set(test, "drop psn=2");
	arrive_all(test, 3);
	arrive(test, 2);
	EXPECT_PASSED(test, 1, 3, 2);
	expect_rules(test, "drop class=any psn=2 skip=0 times=1 permille=1000 seed=0 seen=2 met=1\n");
}

static void skip_and_times_count_packets(struct kunit *test)
{
	set(test, "drop qpn=0x11 skip=1 times=2\n");
	arrive_all(test, 5);
	EXPECT_PASSED(test, 1, 4, 5);
}

static void no_end(struct kunit *test)
{
	set(test, "drop skip=1 times=0");
	arrive_all(test, 5);
	EXPECT_PASSED(test, 1);
}

static void doubled(struct kunit *test)
{
	set(test, "dup psn=2");
	arrive_all(test, 3);
	EXPECT_PASSED(test, 1, 2, 2, 3);
}

static void held_behind_the_next(struct kunit *test)
{
	set(test, "hold=1 psn=2");
	arrive_all(test, 4);
	EXPECT_PASSED(test, 1, 3, 2, 4);
}

static void held_behind_three(struct kunit *test)
{
	set(test, "hold=3 psn=1");
	arrive_all(test, 5);
	EXPECT_PASSED(test, 2, 3, 4, 1, 5);
}

/* Packets that do not pass do not count, nor do those of others. */
static void held_until_its_own_pass(struct kunit *test)
{
	set(test, "hold=1 psn=1\ndrop psn=2");
	arrive_all(test, 2);
	srn_fate(net_a(), packet(test, RC_SEND_ONLY, QPN + 1, 7, 0), pass);
	srn_fate(net_b(), packet(test, RC_SEND_ONLY, QPN, 8, 0), pass);
	EXPECT_PASSED(test, 7, 8);
	arrive(test, 3);
	EXPECT_PASSED(test, 7, 8, 3, 1);
	KUNIT_EXPECT_PTR_EQ(test, passed.snet[3], (const struct srn_net *)net_a());
}

static void clear_forgets_what_is_held(struct kunit *test)
{
	set(test, "hold=1 psn=1");
	arrive(test, 1);
	set(test, "clear\n");
	arrive(test, 2);
	EXPECT_PASSED(test, 2);
	expect_rules(test, "");
}

/* One bit of the byte that was meant, counted from the BTH or from the end. */
static void damaged_in_one_bit(struct kunit *test)
{
	static const int at[] = { 0, 11, (int)LEN - 1, -1, -4, -(int)LEN };
	char text[64];
	int i, j;

	for (i = 0; i < ARRAY_SIZE(at); i++) {
		int want = at[i] < 0 ? (int)LEN + at[i] : at[i];

		memset(&passed, 0, sizeof(passed));
		set(test, "clear");
		arrive(test, 5);
		snprintf(text, sizeof(text), "corrupt=%d", at[i]);
		set(test, text);
		arrive(test, 5);
		KUNIT_ASSERT_EQ(test, passed.num, 2);
		for (j = 0; j < LEN; j++)
			KUNIT_EXPECT_EQ_MSG(test, passed.bytes[0][j] ^ passed.bytes[1][j],
					    j == want, "byte %d for corrupt=%d", j, at[i]);
	}
}

static void byte_that_is_not_there_is_not_damaged(struct kunit *test)
{
	char text[64];

	snprintf(text, sizeof(text), "corrupt=%zu", LEN);
	set(test, text);
	snprintf(text, sizeof(text), "corrupt=%d", -(int)LEN - 1);
	set(test, text);
	arrive(test, 5);
	EXPECT_PASSED(test, 5);
	KUNIT_EXPECT_EQ(test, passed.bytes[0][0], RC_SEND_ONLY);
	expect_rules(test,
		     "corrupt=28 class=any skip=0 times=1 permille=1000 seed=0 seen=1 met=0\n"
		     "corrupt=-29 class=any skip=0 times=1 permille=1000 seed=0 seen=1 met=0\n");
}

/* Whatever its sender says of ECN. */
static void marked(struct kunit *test)
{
	set(test, "mark psn=2");
	arrive_all(test, 2);
	EXPECT_PASSED(test, 1, 2);
	KUNIT_EXPECT_EQ(test, passed.tos[0], INET_ECN_ECT_0);
	KUNIT_EXPECT_EQ(test, passed.tos[1], INET_ECN_CE);
}

/* A packet of each class passes by a rule for each class. */
static void class_is_what_the_packet_says(struct kunit *test)
{
	static const struct {
		const char *class;
		u8 opcode;
		u8 syndrome;
	} kinds[] = {
		{ "request", RC_SEND_ONLY },
		{ "response", RC_READ_RESP },
		{ "response", RC_ATOMIC_ACK },
		{ "ack", RC_ACK, SRN_SYN_ACK_UNLIMITED },
		{ "nak", RC_ACK, SRN_SYN_NAK_SEQ },
		{ "nak", RC_ACK, SRN_SYN_NAK_ACCESS },
		{ "rnr", RC_ACK, SRN_SYN_RNR_NAK },
		{ "cnp", CNP },
	};
	int rule, kind;
	char text[48];

	for (rule = 0; rule < ARRAY_SIZE(kinds); rule++) {
		memset(&passed, 0, sizeof(passed));
		snprintf(text, sizeof(text), "clear\ndrop times=0 class=%s", kinds[rule].class);
		set(test, text);
		for (kind = 0; kind < ARRAY_SIZE(kinds); kind++) {
			unsigned int before = passed.num;

			srn_fate(net_a(), packet(test, kinds[kind].opcode, QPN, kind,
						 kinds[kind].syndrome), pass);
			KUNIT_EXPECT_EQ_MSG(test, passed.num == before,
					    !strcmp(kinds[rule].class, kinds[kind].class),
					    "%s, kind %d", kinds[rule].class, kind);
		}
	}
}

/* The first rule decides, the second has counted the packet nevertheless. */
static void each_try_has_its_rule(struct kunit *test)
{
	set(test, "drop psn=1\ndup psn=1 skip=1");
	arrive(test, 1);
	arrive(test, 2);
	arrive(test, 1);
	arrive(test, 1);
	EXPECT_PASSED(test, 2, 1, 1, 1);
	expect_rules(test,
		     "drop class=any psn=1 skip=0 times=1 permille=1000 seed=0 seen=3 met=1\n"
		     "dup class=any psn=1 skip=1 times=1 permille=1000 seed=0 seen=3 met=1\n");
}

static unsigned int lost_of(struct kunit *test, const char *text, u32 *pattern)
{
	u32 psn;

	memset(&passed, 0, sizeof(passed));
	set(test, "clear");
	set(test, text);
	*pattern = 0;
	for (psn = 0; psn < 32; psn++) {
		unsigned int before = passed.num;

		arrive(test, psn);
		*pattern |= (passed.num == before) << psn;
	}
	return hweight32(*pattern);
}

static void chance_is_repeated_by_its_seed(struct kunit *test)
{
	u32 one, again, other;

	KUNIT_EXPECT_EQ(test, lost_of(test, "drop times=0 permille=0", &one), 0);
	KUNIT_EXPECT_EQ(test, lost_of(test, "drop times=0 permille=1000", &one), 32);
	KUNIT_EXPECT_GT(test, lost_of(test, "drop times=0 permille=500 seed=1", &one), 4);
	KUNIT_EXPECT_LT(test, lost_of(test, "drop times=0 permille=500 seed=1", &again), 28);
	lost_of(test, "drop times=0 permille=500 seed=2", &other);
	KUNIT_EXPECT_EQ(test, one, again);
	KUNIT_EXPECT_NE(test, one, other);
}

static void what_is_no_rule_is_refused(struct kunit *test)
{
	static const char * const bad[] = {
		"lose", "drop=1", "hold", "hold=", "hold=0", "hold=-1", "corrupt", "corrupt=x",
		"drop psn", "drop psn=", "drop psn=x", "drop psn=-1", "drop class=req", "drop class",
		"drop what=1", "drop  psn=1", "=", "clear psn=1",
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++)
		KUNIT_EXPECT_EQ_MSG(test, srn_fate_set(bad[i]), -EINVAL,
				    "'%s'", bad[i]);
	expect_rules(test, "");
}

static void rules_have_an_end(struct kunit *test)
{
	int i;

	for (i = 0; i < 24; i++)
		set(test, "drop psn=0xffffff qpn=0xffffff skip=0xfffffffe times=0xfffffffe");
	KUNIT_EXPECT_EQ(test, srn_fate_set("drop"), -ENOSPC);
	arrive(test, 1);
	EXPECT_PASSED(test, 1);
}

/* Too short for a BTH: the parser's affair. */
static void runt_passes(struct kunit *test)
{
	struct sk_buff *skb = packet(test, RC_SEND_ONLY, QPN, 3, 0);

	set(test, "drop times=0");
	skb_trim(skb, sizeof(struct udphdr) + sizeof(struct srn_bth) - 1);
	srn_fate(net_a(), skb, pass);
	KUNIT_EXPECT_EQ(test, passed.num, 1);
}

static struct kunit_case fate_cases[] = {
	KUNIT_CASE(without_rules_all_pass),
	KUNIT_CASE(dropped_once),
	KUNIT_CASE(skip_and_times_count_packets),
	KUNIT_CASE(no_end),
	KUNIT_CASE(doubled),
	KUNIT_CASE(held_behind_the_next),
	KUNIT_CASE(held_behind_three),
	KUNIT_CASE(held_until_its_own_pass),
	KUNIT_CASE(clear_forgets_what_is_held),
	KUNIT_CASE(damaged_in_one_bit),
	KUNIT_CASE(byte_that_is_not_there_is_not_damaged),
	KUNIT_CASE(marked),
	KUNIT_CASE(class_is_what_the_packet_says),
	KUNIT_CASE(each_try_has_its_rule),
	KUNIT_CASE(chance_is_repeated_by_its_seed),
	KUNIT_CASE(what_is_no_rule_is_refused),
	KUNIT_CASE(rules_have_an_end),
	KUNIT_CASE(runt_passes),
	{}
};

static struct kunit_suite fate_suite = {
	.name = "srn_fate",
	.init = fate_test_init,
	.exit = fate_test_exit,
	.test_cases = fate_cases,
};

kunit_test_suite(fate_suite);

#endif
