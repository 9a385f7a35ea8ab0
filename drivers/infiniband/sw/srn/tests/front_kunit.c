// SPDX-License-Identifier: GPL-2.0-only
/* What a CPU knows of headers is what they are. */
#include "../crc.h"
#include "../front.h"
#include "slow_crc.h"

#include <kunit/test.h>
#include <linux/bottom_half.h>
#include <linux/string.h>

#define AFTER_LRH	0xdebb20e3u

struct headers {
	u8 ip[SRN_FRONT_V6];	/* UDP's right behind */
	bool is_v6;
};

static u32 ip_len(const struct headers *h)
{
	return h->is_v6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr);
}

static u32 len_of(const struct headers *h)
{
	return ip_len(h) + sizeof(struct udphdr);
}

static struct headers make(struct kunit *test, bool is_v6)
{
	struct headers h = { .is_v6 = is_v6 };

	memcpy(h.ip, filled(test, sizeof(h.ip)), sizeof(h.ip));
	h.ip[0] = is_v6 ? 0x60 : 0x45;
	return h;
}

/* As the annex has it, byte by byte. */
static u32 by_hand(const struct headers *h)
{
	static const u8 v4[] = { 1, 8, 10, 11, 26, 27 }, v6[] = { 1, 2, 3, 7, 46, 47 };
	const u8 *masked = h->is_v6 ? v6 : v4;
	u8 bytes[SRN_FRONT_V6];
	u32 i;

	memcpy(bytes, h->ip, sizeof(bytes));
	if (h->is_v6)
		bytes[0] |= 0x0f;
	for (i = 0; i < ARRAY_SIZE(v4); i++)
		bytes[masked[i]] = 0xff;
	return slow_crc(AFTER_LRH, bytes, len_of(h));
}

static u32 known(const struct headers *h)
{
	u32 crc;

	local_bh_disable();
	crc = srn_front_crc(h->ip, h->ip + ip_len(h), h->is_v6);
	local_bh_enable();
	return crc;
}

static u32 unknown(const struct headers *h)
{
	return srn_front_crc(h->ip, h->ip + ip_len(h), h->is_v6);
}

static void expect_right(struct kunit *test, const struct headers *h)
{
	u32 right = by_hand(h);

	KUNIT_EXPECT_EQ(test, unknown(h), right);
	KUNIT_EXPECT_EQ(test, known(h), right);
	KUNIT_EXPECT_EQ(test, known(h), right);
}

static void srn_front_known_test(struct kunit *test)
{
	struct headers v4 = make(test, false), v6 = make(test, true);

	expect_right(test, &v4);
	expect_right(test, &v6);
	expect_right(test, &v4);
}

/* The place is the same for some of them: two bits that take each other away in the sum of words. */
static u32 wrong_flips(struct headers h)
{
	u32 bits = len_of(&h) * 8, one, wrong = 0;

	for (one = 4; one < bits; one++) {
		wrong += known(&h) != by_hand(&h);
		h.ip[one / 8] ^= 1 << one % 8;
		wrong += known(&h) != by_hand(&h);
		if (one + 64 < bits) {
			h.ip[one / 8 + 8] ^= 1 << one % 8;
			wrong += known(&h) != by_hand(&h);
			h.ip[one / 8 + 8] ^= 1 << one % 8;
		}
		h.ip[one / 8] ^= 1 << one % 8;
	}
	return wrong;
}

/* Each bit that differs from what is known is seen, unless it does not count. */
static void srn_front_flip_test(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, wrong_flips(make(test, false)), 0);
	KUNIT_EXPECT_EQ(test, wrong_flips(make(test, true)), 0);
}

/* All values of a byte, which are as many as places: many share one, and differ in nothing else. */
static u32 wrong_values(struct headers h, u32 at)
{
	u32 i, wrong = 0;

	for (i = 0; i < 256; i++) {
		h.ip[at]++;
		wrong += known(&h) != by_hand(&h);
	}
	return wrong;
}

/* More than are kept, by turns; the version stays. */
static void srn_front_many_test(struct kunit *test)
{
	struct headers v4 = make(test, false), v6 = make(test, true);
	u32 at, wrong = 0;

	for (at = 1; at < len_of(&v6); at++) {
		wrong += wrong_values(v6, at);
		if (at < len_of(&v4))
			wrong += wrong_values(v4, at);
	}
	KUNIT_EXPECT_EQ(test, wrong, 0);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(srn_front_known_test),
	KUNIT_CASE(srn_front_flip_test),
	KUNIT_CASE(srn_front_many_test),
	{}
};

static struct kunit_suite suite = { .name = "srn_front", .test_cases = cases };
kunit_test_suite(suite);
