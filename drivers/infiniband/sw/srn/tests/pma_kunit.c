// SPDX-License-Identifier: GPL-2.0-only
/* What the performance management class says of each counter, by its place in the MAD
 * (IBTA vol. 1, 16.1.3.5 and 16.1.4.11).
 */
#include "../pma.h"
#include "../stats.h"
#include "fake.h"

#include <kunit/test.h>
#include <linux/unaligned.h>
#include <rdma/ib_pma.h>

#define DATA	64

/* The answer to a query for a port, of a device whose counters the test has set. */
static const u8 *ask(struct kunit *test, struct srn_dev *dev, u8 method, __be16 attr, u8 port,
		     int want)
{
	struct ib_mad *in = kunit_kzalloc(test, sizeof(*in), GFP_KERNEL);
	struct ib_mad *out = kunit_kzalloc(test, sizeof(*out), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, in);
	KUNIT_ASSERT_NOT_NULL(test, out);
	in->mad_hdr = (struct ib_mad_hdr) {
		.base_version = 1, .mgmt_class = IB_MGMT_CLASS_PERF_MGMT, .class_version = 1,
		.method = method, .tid = cpu_to_be64(0x1122334455667788), .attr_id = attr,
	};
	((u8 *)in)[DATA + 1] = port;
	memset(out, 0xee, sizeof(*out));
	KUNIT_EXPECT_EQ(test, srn_process_mad(&dev->ibdev, 0, 1, NULL, NULL, in, out, NULL, NULL),
			want);
	return (u8 *)out;
}

static const u8 *get(struct kunit *test, struct srn_dev *dev, __be16 attr)
{
	const u8 *mad = ask(test, dev, IB_MGMT_METHOD_GET, attr, 1,
			    IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY);

	KUNIT_EXPECT_EQ(test, mad[3], IB_MGMT_METHOD_GET_RESP);
	KUNIT_EXPECT_EQ(test, get_unaligned_be64(mad + 8), 0x1122334455667788);
	return mad;
}

static void set(struct srn_dev *dev, enum srn_counter c, u64 value)
{
	per_cpu_ptr(dev->stats, 0)->all.cnt[c] = value;
}

/* No two alike, and data in bytes. */
static struct srn_dev *counted_dev(struct kunit *test)
{
	struct srn_dev *dev = fake_dev(test);
	enum srn_counter c;

	for (c = 0; c < SRN_CNT_MAX; c++)
		set(dev, c, 1 << 20);
	set(dev, SRN_CNT_LINK_DOWNED, 3);
	set(dev, SRN_CNT_SENT_PKTS, 1001);
	set(dev, SRN_CNT_RCVD_PKTS, 2002);
	set(dev, SRN_CNT_SENT_BYTES, 4 * 3003 + 3);
	set(dev, SRN_CNT_RCVD_BYTES, 4 * 4004);
	for (c = SRN_CNT_RX_SHORT; c <= SRN_CNT_RX_ICRC; c++)
		set(dev, c, 10);
	set(dev, SRN_CNT_SEND_ERR, 100);
	set(dev, SRN_CNT_NO_ROUTE, 200);
	set(dev, SRN_CNT_TX_NOMEM, 300);
	return dev;
}

static void srn_pma_counters_test(struct kunit *test)
{
	const u8 *c = get(test, counted_dev(test), IB_PMA_PORT_COUNTERS) + DATA;

	KUNIT_EXPECT_EQ(test, c[1], 1);
	KUNIT_EXPECT_EQ(test, c[7], 3);
	/* Too short, length, version, opcode, pad, ICRC. */
	KUNIT_EXPECT_EQ(test, get_unaligned_be16(c + 8), 60);
	KUNIT_EXPECT_EQ(test, get_unaligned_be16(c + 14), 600);
	KUNIT_EXPECT_EQ(test, get_unaligned_be32(c + 24), 3003);
	KUNIT_EXPECT_EQ(test, get_unaligned_be32(c + 28), 4004);
	KUNIT_EXPECT_EQ(test, get_unaligned_be32(c + 32), 1001);
	KUNIT_EXPECT_EQ(test, get_unaligned_be32(c + 36), 2002);
}

static void srn_pma_wide_counters_test(struct kunit *test)
{
	const u8 *c = get(test, counted_dev(test), IB_PMA_PORT_COUNTERS_EXT) + DATA;

	KUNIT_EXPECT_EQ(test, c[1], 1);
	KUNIT_EXPECT_EQ(test, get_unaligned_be64(c + 8), 3003);
	KUNIT_EXPECT_EQ(test, get_unaligned_be64(c + 16), 4004);
	KUNIT_EXPECT_EQ(test, get_unaligned_be64(c + 24), 1001);
	KUNIT_EXPECT_EQ(test, get_unaligned_be64(c + 32), 2002);
	KUNIT_EXPECT_EQ(test, get_unaligned_be64(c + 40), 1001);
	KUNIT_EXPECT_EQ(test, get_unaligned_be64(c + 48), 2002);
}

/* They stop at their largest value, and do not begin again. */
static void srn_pma_saturated_test(struct kunit *test)
{
	struct srn_dev *dev = fake_dev(test);
	enum srn_counter c;
	const u8 *data;

	for (c = 0; c < SRN_CNT_MAX; c++)
		set(dev, c, (1ull << 40) + 5);
	data = get(test, dev, IB_PMA_PORT_COUNTERS) + DATA;
	KUNIT_EXPECT_EQ(test, data[7], U8_MAX);
	KUNIT_EXPECT_EQ(test, get_unaligned_be16(data + 8), U16_MAX);
	KUNIT_EXPECT_EQ(test, get_unaligned_be16(data + 14), U16_MAX);
	KUNIT_EXPECT_EQ(test, get_unaligned_be32(data + 24), U32_MAX);
	KUNIT_EXPECT_EQ(test, get_unaligned_be32(data + 28), U32_MAX);
	KUNIT_EXPECT_EQ(test, get_unaligned_be32(data + 32), U32_MAX);
	KUNIT_EXPECT_EQ(test, get_unaligned_be32(data + 36), U32_MAX);
}

static void srn_pma_class_info_test(struct kunit *test)
{
	const u8 *info = get(test, fake_dev(test), IB_PMA_CLASS_PORT_INFO) + DATA;

	KUNIT_EXPECT_EQ(test, info[0], 1);
	KUNIT_EXPECT_EQ(test, info[1], 1);
	KUNIT_EXPECT_EQ(test, get_unaligned_be16(info + 2), 0x0200);	/* wide counters */
}

static void srn_pma_not_ours_test(struct kunit *test)
{
	struct srn_dev *dev = fake_dev(test);
	const u8 *mad = get(test, dev, cpu_to_be16(0x7777));

	KUNIT_EXPECT_EQ(test, get_unaligned_be16(mad + 4), 0x000c);	/* unsupported */
	mad = get(test, dev, IB_PMA_PORT_COUNTERS);
	KUNIT_EXPECT_EQ(test, get_unaligned_be16(mad + 4), 0);
	/* Left to the core. */
	mad = ask(test, dev, IB_MGMT_METHOD_SET, IB_PMA_PORT_COUNTERS, 1, IB_MAD_RESULT_SUCCESS);
	KUNIT_EXPECT_EQ(test, mad[3], 0xee);
}

/* 13.4.7: a field with a value that is none. */
static void srn_pma_other_port_test(struct kunit *test)
{
	static const __be16 attrs[] = { IB_PMA_PORT_COUNTERS, IB_PMA_PORT_COUNTERS_EXT };
	static const u8 ports[] = { 0, 2, 0xff };
	struct srn_dev *dev = counted_dev(test);
	unsigned int i, j;
	const u8 *mad;

	for (i = 0; i < ARRAY_SIZE(attrs); i++)
		for (j = 0; j < ARRAY_SIZE(ports); j++) {
			mad = ask(test, dev, IB_MGMT_METHOD_GET, attrs[i], ports[j],
				  IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY);
			KUNIT_EXPECT_EQ(test, get_unaligned_be16(mad + 4), 0x001c);
			KUNIT_EXPECT_NULL(test, memchr_inv(mad + DATA, 0, 64));
		}
	/* The class has no port. */
	mad = ask(test, dev, IB_MGMT_METHOD_GET, IB_PMA_CLASS_PORT_INFO, 0,
		  IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY);
	KUNIT_EXPECT_EQ(test, get_unaligned_be16(mad + 4), 0);
}

static struct kunit_case srn_pma_cases[] = {
	KUNIT_CASE(srn_pma_counters_test),
	KUNIT_CASE(srn_pma_wide_counters_test),
	KUNIT_CASE(srn_pma_saturated_test),
	KUNIT_CASE(srn_pma_class_info_test),
	KUNIT_CASE(srn_pma_not_ours_test),
	KUNIT_CASE(srn_pma_other_port_test),
	{}
};

static struct kunit_suite srn_pma_suite = {
	.name = "srn_pma",
	.test_cases = srn_pma_cases,
};

kunit_test_suite(srn_pma_suite);
