// SPDX-License-Identifier: GPL-2.0-only
/* What a path says of the address vector that it was made of. */
#include "../path.h"

#include <kunit/test.h>
#include <linux/string.h>

struct asked_row {
	const char *desc;
	bool is_v6;
	u8 dgid[16];
};

static const struct asked_row asked_rows[] = {
	{ "IPv4", false, { [10] = 0xff, 0xff, 192, 0, 2, 1 } },
	{ "IPv6", true, { 0x20, 0x01, 0x0d, 0xb8, [15] = 7 } },
};

KUNIT_ARRAY_PARAM_DESC(asked, asked_rows, desc);

static struct srn_path path_to(const struct asked_row *row, u32 flow_label)
{
	struct srn_path path = { .is_v6 = row->is_v6, .flow_label = htonl(flow_label) };

	if (row->is_v6)
		memcpy(&path.v6.daddr, row->dgid, sizeof(path.v6.daddr));
	else
		memcpy(&path.v4.daddr, row->dgid + 12, sizeof(path.v4.daddr));
	return path;
}

/* All of it, also what the path has in another form: no hop limit, a service level that is no
 * priority, bits for ECN.
 */
static void srn_path_query_test(struct kunit *test)
{
	const struct asked_row *row = test->param_value;
	struct rdma_ah_attr attr = { .type = RDMA_AH_ATTR_TYPE_ROCE }, got;
	struct srn_path path = path_to(row, 0xfedcb);
	struct srn_path_asked asked;

	rdma_ah_set_grh(&attr, NULL, 0xfedcb, 9, 0, 0x23);
	memcpy(attr.grh.dgid.raw, row->dgid, sizeof(row->dgid));
	rdma_ah_set_sl(&attr, 15);
	rdma_ah_set_static_rate(&attr, IB_RATE_2_5_GBPS);
	rdma_ah_set_port_num(&attr, 1);
	srn_path_ask(&asked, &attr);
	memset(&got, 0xff, sizeof(got));
	srn_path_query(&path, &asked, &got);
	KUNIT_EXPECT_EQ(test, (int)got.type, (int)attr.type);
	KUNIT_EXPECT_EQ(test, got.ah_flags, IB_AH_GRH);
	KUNIT_EXPECT_EQ(test, got.port_num, attr.port_num);
	KUNIT_EXPECT_EQ(test, got.sl, attr.sl);
	KUNIT_EXPECT_EQ(test, got.static_rate, attr.static_rate);
	KUNIT_EXPECT_EQ(test, got.grh.flow_label, attr.grh.flow_label);
	KUNIT_EXPECT_EQ(test, got.grh.sgid_index, attr.grh.sgid_index);
	KUNIT_EXPECT_EQ(test, got.grh.hop_limit, attr.grh.hop_limit);
	KUNIT_EXPECT_EQ(test, got.grh.traffic_class, attr.grh.traffic_class);
	KUNIT_EXPECT_MEMEQ(test, got.grh.dgid.raw, row->dgid, sizeof(row->dgid));
	KUNIT_EXPECT_NULL(test, got.grh.sgid_attr);
}

static struct kunit_case srn_path_cases[] = {
	KUNIT_CASE_PARAM(srn_path_query_test, asked_gen_params),
	{}
};

static struct kunit_suite srn_path_suite = {
	.name = "srn_path",
	.test_cases = srn_path_cases,
};

kunit_test_suite(srn_path_suite);
