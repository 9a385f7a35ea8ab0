// SPDX-License-Identifier: GPL-2.0-only
/* What a program may and may not put into a ring, and a kernel user into a WR. */
#include "../ah.h"
#include "../service.h"
#include "../wqe.h"
#include "../wr_op.h"
#include "fake.h"

#include <linux/prandom.h>

#define MAX_SGE		4
#define MAX_INLINE	96
#define AH_INDEX	17
#define F(x)		BIT(x)

struct slot {
	struct srn_send_wqe hdr;
	union {
		struct srn_sge sge[MAX_SGE];
		u8 data[MAX_INLINE];
	};
};

struct ctx {
	struct srn_who who;
	struct srn_wqe_limits lim;
	struct srn_av *av;
	struct slot *slot;
	struct srn_wqe *wqe;
	size_t wqe_size;
};

static int wqe_test_init(struct kunit *test)
{
	struct ctx *c = kunit_kzalloc(test, sizeof(*c), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, c);
	c->who.dev = fake_dev(test);
	c->who.pd = fake_pd(test, c->who.dev);
	c->lim.who = &c->who;
	c->lim.svc = srn_service_of(IB_QPT_RC);
	c->lim.max_sge = MAX_SGE;
	c->lim.max_inline = MAX_INLINE;
	c->slot = kunit_kzalloc(test, sizeof(*c->slot), GFP_KERNEL);
	/* Exactly as much as asked for, so that KASAN sees a byte too many. */
	c->wqe_size = srn_wqe_size(MAX_SGE, MAX_INLINE);
	c->wqe = kunit_kzalloc(test, c->wqe_size, GFP_KERNEL);
	c->av = kunit_kzalloc(test, sizeof(*c->av), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, c->slot);
	KUNIT_ASSERT_NOT_NULL(test, c->wqe);
	KUNIT_ASSERT_NOT_NULL(test, c->av);
	refcount_set(&c->av->refs, 1);
	c->av->pd = c->who.pd;
	KUNIT_ASSERT_FALSE(test, xa_is_err(xa_store(&c->who.dev->avs, AH_INDEX, c->av,
						    GFP_KERNEL)));
	test->priv = c;
	return 0;
}

static void wqe_test_exit(struct kunit *test)
{
	struct ctx *c = test->priv;

	xa_destroy(&c->who.dev->avs);
}

/* A WQE that is right, of one SGE. */
static void fill(struct ctx *c, u32 opcode)
{
	memset(c->slot, 0, sizeof(*c->slot));
	c->slot->hdr.wr_id = 0x1122334455667788ULL;
	c->slot->hdr.opcode = opcode;
	c->slot->hdr.num_sge = 1;
	c->slot->sge[0] = (struct srn_sge) { .addr = 0x1000, .length = 8, .lkey = 0x123 };
	if (!c->lim.svc->connected)
		c->slot->hdr.ud.ah = AH_INDEX;
	if (opcode == IB_WR_ATOMIC_WRITE)
		c->slot->hdr.num_sge = 0;
}

static enum srn_verdict fetch(struct ctx *c)
{
	enum srn_verdict v;

	memset(c->wqe, 0xa5, c->wqe_size);
	v = srn_wqe_fetch(&c->slot->hdr, &c->lim, c->wqe);
	srn_wqe_release(&c->lim, c->wqe);
	return v;
}

/* Which service carries which operation. Numbers of the user ABI. */
static const struct {
	u32 opcode;
	bool rc, uc, ud;
} carried[] = {
	{ 0, true, true, false },	/* RDMA_WRITE */
	{ 1, true, true, false },	/* RDMA_WRITE_WITH_IMM */
	{ 2, true, true, true },	/* SEND */
	{ 3, true, true, true },	/* SEND_WITH_IMM */
	{ 4, true, false, false },	/* RDMA_READ */
	{ 5, true, false, false },	/* ATOMIC_CMP_AND_SWP */
	{ 6, true, false, false },	/* ATOMIC_FETCH_AND_ADD */
	{ 7, true, true, false },	/* LOCAL_INV */
	{ 8, true, true, false },	/* BIND_MW */
	{ 9, true, false, false },	/* SEND_WITH_INV */
	{ 15, true, false, false },	/* ATOMIC_WRITE */
};

static bool is_carried(u32 opcode, enum ib_qp_type type)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(carried); i++)
		if (carried[i].opcode == opcode)
			return type == IB_QPT_RC ? carried[i].rc :
			       type == IB_QPT_UC ? carried[i].uc : carried[i].ud;
	return false;
}

static void srn_wqe_opcode_test(struct kunit *test)
{
	static const enum ib_qp_type types[] = { IB_QPT_RC, IB_QPT_UC, IB_QPT_UD };
	struct ctx *c = test->priv;
	unsigned int t;
	u32 opcode;

	for (t = 0; t < ARRAY_SIZE(types); t++) {
		c->lim.svc = srn_service_of(types[t]);
		for (opcode = 0; opcode < 0x200; opcode++) {
			fill(c, opcode);
			KUNIT_EXPECT_EQ_MSG(test, fetch(c), is_carried(opcode, types[t]) ?
					    SRN_OK : SRN_V_LOC_QP_OP,
					    "opcode %u type %d", opcode, types[t]);
		}
	}
	/* Nor is any part of the word ignored. */
	for (t = 8; t < 32; t++) {
		fill(c, BIT(t) | IB_WR_SEND);
		KUNIT_EXPECT_EQ(test, fetch(c), SRN_V_LOC_QP_OP);
	}
}

static void srn_wqe_fields_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	struct srn_wqe *w = c->wqe;

	fill(c, IB_WR_ATOMIC_CMP_AND_SWP);
	c->slot->hdr.flags = IB_SEND_SIGNALED | IB_SEND_FENCE;
	c->slot->hdr.rdma.remote_addr = 0xabc0;
	c->slot->hdr.rdma.compare_add = 1;
	c->slot->hdr.rdma.swap = 2;
	c->slot->hdr.rdma.rkey = 3;
	KUNIT_ASSERT_EQ(test, fetch(c), SRN_OK);
	KUNIT_EXPECT_EQ(test, w->wr_id, 0x1122334455667788ULL);
	KUNIT_EXPECT_EQ(test, w->opcode, IB_WR_ATOMIC_CMP_AND_SWP);
	KUNIT_EXPECT_EQ(test, w->flags, IB_SEND_SIGNALED | IB_SEND_FENCE);
	KUNIT_EXPECT_EQ(test, w->status, SRN_OK);
	KUNIT_EXPECT_EQ(test, w->length, 8);
	KUNIT_EXPECT_EQ(test, w->num_sge, 1);
	KUNIT_EXPECT_EQ(test, w->sge[0].addr, 0x1000);
	KUNIT_EXPECT_EQ(test, w->sge[0].length, 8);
	KUNIT_EXPECT_EQ(test, w->sge[0].lkey, 0x123);
	KUNIT_EXPECT_EQ(test, w->rdma.addr, 0xabc0);
	KUNIT_EXPECT_EQ(test, w->rdma.compare_add, 1);
	KUNIT_EXPECT_EQ(test, w->rdma.swap, 2);
	KUNIT_EXPECT_EQ(test, w->rdma.rkey, 3);
	KUNIT_EXPECT_FALSE(test, w->started);
	KUNIT_EXPECT_FALSE(test, w->done);

	fill(c, IB_WR_BIND_MW);
	c->slot->hdr.bind.addr = 10;
	c->slot->hdr.bind.length = 20;
	c->slot->hdr.bind.mr_lkey = 30;
	c->slot->hdr.bind.mw_rkey = 40;
	c->slot->hdr.bind.new_rkey = 50;
	c->slot->hdr.bind.access = IB_ACCESS_REMOTE_READ;
	KUNIT_ASSERT_EQ(test, fetch(c), SRN_OK);
	KUNIT_EXPECT_EQ(test, w->bind.addr, 10);
	KUNIT_EXPECT_EQ(test, w->bind.length, 20);
	KUNIT_EXPECT_EQ(test, w->bind.mr_lkey, 30);
	KUNIT_EXPECT_EQ(test, w->bind.mw_rkey, 40);
	KUNIT_EXPECT_EQ(test, w->bind.new_rkey, 50);
	KUNIT_EXPECT_EQ(test, w->bind.access, IB_ACCESS_REMOTE_READ);
	KUNIT_EXPECT_EQ(test, w->length, 0);
}

static void srn_wqe_inline_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	u32 i;

	fill(c, IB_WR_SEND);
	c->slot->hdr.flags = IB_SEND_INLINE;
	c->slot->hdr.num_sge = 0;
	c->slot->hdr.inline_len = MAX_INLINE;
	for (i = 0; i < MAX_INLINE; i++)
		c->slot->data[i] = i;
	KUNIT_ASSERT_EQ(test, fetch(c), SRN_OK);
	KUNIT_EXPECT_EQ(test, c->wqe->length, MAX_INLINE);
	KUNIT_EXPECT_EQ(test, c->wqe->num_sge, 0);
	KUNIT_EXPECT_MEMEQ(test, c->wqe->data, c->slot->data, MAX_INLINE);

	c->slot->hdr.inline_len = MAX_INLINE + 1;
	KUNIT_EXPECT_EQ(test, fetch(c), SRN_V_LOC_QP_OP);
	c->slot->hdr.inline_len = U32_MAX;
	KUNIT_EXPECT_EQ(test, fetch(c), SRN_V_LOC_QP_OP);
	c->slot->hdr.inline_len = 8;
	c->slot->hdr.opcode = IB_WR_RDMA_READ;
	KUNIT_EXPECT_EQ(test, fetch(c), SRN_V_LOC_QP_OP);
	c->slot->hdr.opcode = IB_WR_ATOMIC_FETCH_AND_ADD;
	KUNIT_EXPECT_EQ(test, fetch(c), SRN_V_LOC_QP_OP);
}

struct bad_row {
	const char *desc;
	enum srn_verdict want;
	u32 opcode;
	u32 flags;
	u32 num_sge;
	u32 len[MAX_SGE];
};

static const struct bad_row bad_rows[] = {
	{ "one SGE too many", SRN_V_LOC_QP_OP, IB_WR_SEND, 0, MAX_SGE + 1 },
	{ "SGE count that wraps a size", SRN_V_LOC_QP_OP, IB_WR_SEND, 0, 0x10000001 },
	{ "all SGEs there can be", SRN_V_LOC_QP_OP, IB_WR_SEND, 0, U32_MAX },
	{ "unknown flag", SRN_V_LOC_QP_OP, IB_WR_SEND, F(5), 1 },
	{ "checksum offload", SRN_V_LOC_QP_OP, IB_WR_SEND, IB_SEND_IP_CSUM, 1 },
	{ "flag in the top bit", SRN_V_LOC_QP_OP, IB_WR_SEND, F(31), 1 },
	{ "no SGE: an empty message", SRN_OK, IB_WR_SEND, 0, 0 },
	{ "largest message", SRN_OK, IB_WR_RDMA_WRITE, 0, 2, { F(31) - 1, 1 } },
	{ "a byte more", SRN_V_LOC_LEN, IB_WR_RDMA_WRITE, 0, 2, { F(31), 1 } },
	{ "a byte more, read", SRN_V_LOC_LEN, IB_WR_RDMA_READ, 0, 2, { F(31), 1 } },
	{ "sum that wraps to 0", SRN_V_LOC_LEN, IB_WR_SEND, 0, 2, { F(31), F(31) } },
	{ "sum that wraps to 8", SRN_V_LOC_LEN, IB_WR_SEND, 0, 3, { U32_MAX, 1, 8 } },
	{ "four of the largest", SRN_V_LOC_LEN, IB_WR_SEND, 0, 4,
	  { U32_MAX, U32_MAX, U32_MAX, U32_MAX } },
	{ "atomic result in 7 bytes", SRN_V_LOC_LEN, IB_WR_ATOMIC_FETCH_AND_ADD, 0, 1, { 7 } },
	{ "atomic result nowhere", SRN_V_LOC_LEN, IB_WR_ATOMIC_CMP_AND_SWP, 0, 0 },
	{ "atomic result in two parts", SRN_OK, IB_WR_ATOMIC_CMP_AND_SWP, 0, 2, { 4, 4 } },
	{ "atomic write with an SGE", SRN_V_LOC_QP_OP, IB_WR_ATOMIC_WRITE, 0, 1, { 8 } },
	{ "registration by a program", SRN_V_LOC_QP_OP, IB_WR_REG_MR, 0, 0 },
};

KUNIT_ARRAY_PARAM_DESC(bad, bad_rows, desc);

static void srn_wqe_bad_test(struct kunit *test)
{
	const struct bad_row *row = test->param_value;
	struct ctx *c = test->priv;
	u32 i;

	fill(c, row->opcode);
	c->slot->hdr.flags = row->flags;
	c->slot->hdr.num_sge = row->num_sge;
	for (i = 0; i < MAX_SGE; i++)
		c->slot->sge[i].length = row->len[i];
	KUNIT_EXPECT_EQ(test, fetch(c), row->want);
	KUNIT_EXPECT_EQ(test, c->wqe->status, row->want);
	KUNIT_EXPECT_EQ(test, c->wqe->wr_id, 0x1122334455667788ULL);
	KUNIT_EXPECT_LE(test, c->wqe->num_sge, MAX_SGE);
}

static void srn_wqe_bind_access_test(struct kunit *test)
{
	struct ctx *c = test->priv;

	fill(c, IB_WR_BIND_MW);
	c->slot->hdr.bind.access = F(31);
	KUNIT_EXPECT_EQ(test, fetch(c), SRN_V_MW_BIND);
}

static void srn_wqe_ud_av_test(struct kunit *test)
{
	struct ctx *c = test->priv;

	c->lim.svc = srn_service_of(IB_QPT_UD);
	fill(c, IB_WR_SEND);
	c->slot->hdr.ud.remote_qpn = 0xff000005;	/* 24 bits are a QPN */
	c->slot->hdr.ud.remote_qkey = 6;
	KUNIT_ASSERT_EQ(test, srn_wqe_fetch(&c->slot->hdr, &c->lim, c->wqe), SRN_OK);
	KUNIT_EXPECT_PTR_EQ(test, c->wqe->ud.av, c->av);
	KUNIT_EXPECT_EQ(test, c->wqe->ud.qpn, 5);
	KUNIT_EXPECT_EQ(test, c->wqe->ud.qkey, 6);
	KUNIT_EXPECT_EQ(test, refcount_read(&c->av->refs), 2);
	srn_wqe_release(&c->lim, c->wqe);
	srn_wqe_release(&c->lim, c->wqe);
	KUNIT_EXPECT_EQ(test, refcount_read(&c->av->refs), 1);

	c->slot->hdr.ud.ah = AH_INDEX + 1;
	KUNIT_EXPECT_EQ(test, fetch(c), SRN_V_LOC_QP_OP);
	c->slot->hdr.ud.ah = U32_MAX;
	KUNIT_EXPECT_EQ(test, fetch(c), SRN_V_LOC_QP_OP);
	c->slot->hdr.ud.ah = AH_INDEX;
	c->who.pd = fake_pd(test, c->who.dev);
	KUNIT_EXPECT_EQ(test, fetch(c), SRN_V_LOC_QP_OP);
	/* A WQE that fails for something else holds nothing. */
	c->who.pd = c->av->pd;
	c->slot->hdr.num_sge = MAX_SGE + 1;
	KUNIT_EXPECT_EQ(test, srn_wqe_fetch(&c->slot->hdr, &c->lim, c->wqe), SRN_V_LOC_QP_OP);
	KUNIT_EXPECT_EQ(test, refcount_read(&c->av->refs), 1);
	srn_wqe_release(&c->lim, c->wqe);
	KUNIT_EXPECT_EQ(test, refcount_read(&c->av->refs), 1);
}

/* Noise, with the decisive words drawn from a small set so that each branch is met. */
static void srn_wqe_garbage_test(struct kunit *test)
{
	static const enum ib_qp_type types[] = { IB_QPT_RC, IB_QPT_UC, IB_QPT_UD };
	static const u32 lens[] = { 0, 1, MAX_INLINE, MAX_INLINE + 1, F(31), U32_MAX };
	struct ctx *c = test->priv;
	struct rnd_state rnd;
	u32 i, n, good = 0;

	prandom_seed_state(&rnd, 17);
	for (i = 0; i < 20000; i++) {
		u64 total = 0;

		prandom_bytes_state(&rnd, c->slot, sizeof(*c->slot));
		c->lim.svc = srn_service_of(types[i % 3]);
		c->slot->hdr.opcode %= 0x24;
		if (i & 4)
			c->slot->hdr.flags &= 0xf;
		if (i & 8)
			c->slot->hdr.num_sge %= MAX_SGE + 2;
		if (i & 16)
			c->slot->hdr.inline_len = lens[c->slot->hdr.inline_len % ARRAY_SIZE(lens)];
		if (i & 32)
			c->slot->hdr.ud.ah = AH_INDEX;
		if (fetch(c))
			continue;
		good++;
		KUNIT_ASSERT_TRUE(test, is_carried(c->wqe->opcode, types[i % 3]));
		KUNIT_ASSERT_LE(test, c->wqe->num_sge, MAX_SGE);
		KUNIT_ASSERT_LE(test, c->wqe->length, F(31));
		if (c->wqe->flags & IB_SEND_INLINE && c->wqe->length > 8)
			KUNIT_ASSERT_LE(test, c->wqe->length, MAX_INLINE);
		for (n = 0; n < c->wqe->num_sge; n++)
			total += c->wqe->sge[n].length;
		if (c->wqe->num_sge)
			KUNIT_ASSERT_GE(test, total, c->wqe->length);
	}
	KUNIT_EXPECT_GT(test, good, 100);
	KUNIT_EXPECT_EQ(test, refcount_read(&c->av->refs), 1);
}

/* Kernel users. */

static void srn_wqe_from_send_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	struct ib_sge sge[2] = { { 0x10, 5, 1 }, { 0x20, 6, 2 } };
	struct ib_send_wr wr = {
		.wr_id = 9, .sg_list = sge, .num_sge = 2, .opcode = IB_WR_SEND_WITH_INV,
		.send_flags = IB_SEND_SOLICITED, .ex.invalidate_rkey = 0x777,
	};

	c->who.kernel = true;
	KUNIT_ASSERT_EQ(test, srn_wqe_from_wr(&wr, &c->lim, c->wqe), 0);
	KUNIT_EXPECT_EQ(test, c->wqe->wr_id, 9);
	KUNIT_EXPECT_EQ(test, c->wqe->length, 11);
	KUNIT_EXPECT_EQ(test, c->wqe->num_sge, 2);
	KUNIT_EXPECT_EQ(test, c->wqe->sge[1].lkey, 2);
	KUNIT_EXPECT_EQ(test, c->wqe->inv_rkey, 0x777);
	KUNIT_EXPECT_EQ(test, c->wqe->flags, IB_SEND_SOLICITED);

	wr.num_sge = MAX_SGE + 1;
	KUNIT_EXPECT_EQ(test, srn_wqe_from_wr(&wr, &c->lim, c->wqe), -EINVAL);
	wr.num_sge = -1;
	KUNIT_EXPECT_EQ(test, srn_wqe_from_wr(&wr, &c->lim, c->wqe), -EINVAL);
	wr.num_sge = 2;
	wr.opcode = IB_WR_LSO;
	KUNIT_EXPECT_EQ(test, srn_wqe_from_wr(&wr, &c->lim, c->wqe), -EINVAL);
	wr.opcode = IB_WR_RDMA_READ_WITH_INV;
	KUNIT_EXPECT_EQ(test, srn_wqe_from_wr(&wr, &c->lim, c->wqe), -EINVAL);
}

static void srn_wqe_from_ud_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	struct srn_ah ah = { .av = c->av };
	struct ib_ud_wr wr = {
		.wr = { .opcode = IB_WR_SEND }, .ah = &ah.ibah,
		.remote_qpn = 0xff000005, .remote_qkey = 6,	/* 24 bits are a QPN */
	};

	c->who.kernel = true;
	c->lim.svc = srn_service_of(IB_QPT_UD);
	KUNIT_ASSERT_EQ(test, srn_wqe_from_wr(&wr.wr, &c->lim, c->wqe), 0);
	KUNIT_EXPECT_PTR_EQ(test, c->wqe->ud.av, c->av);
	KUNIT_EXPECT_EQ(test, c->wqe->ud.qpn, 5);
	KUNIT_EXPECT_EQ(test, c->wqe->ud.qkey, 6);
	KUNIT_EXPECT_EQ(test, refcount_read(&c->av->refs), 2);
	srn_wqe_release(&c->lim, c->wqe);
	KUNIT_EXPECT_EQ(test, refcount_read(&c->av->refs), 1);
	wr.ah = NULL;
	KUNIT_EXPECT_EQ(test, srn_wqe_from_wr(&wr.wr, &c->lim, c->wqe), -EINVAL);
}

static void srn_wqe_from_inline_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	char a[] = "hello ", b[] = "world";
	struct ib_sge sge[2] = { { (uintptr_t)a, 6 }, { (uintptr_t)b, 5 } };
	struct ib_rdma_wr wr = {
		.wr = { .sg_list = sge, .num_sge = 2, .opcode = IB_WR_RDMA_WRITE,
			.send_flags = IB_SEND_INLINE },
		.remote_addr = 77, .rkey = 88,
	};

	c->who.kernel = true;
	KUNIT_ASSERT_EQ(test, srn_wqe_from_wr(&wr.wr, &c->lim, c->wqe), 0);
	KUNIT_EXPECT_MEMEQ(test, c->wqe->data, "hello world", 11);
	KUNIT_EXPECT_EQ(test, c->wqe->length, 11);
	KUNIT_EXPECT_EQ(test, c->wqe->num_sge, 0);
	KUNIT_EXPECT_EQ(test, c->wqe->rdma.addr, 77);
	KUNIT_EXPECT_EQ(test, c->wqe->rdma.rkey, 88);
	sge[1].length = MAX_INLINE - 5;
	KUNIT_EXPECT_EQ(test, srn_wqe_from_wr(&wr.wr, &c->lim, c->wqe), -EINVAL);
	sge[1].length = U32_MAX;	/* 6 + this wraps */
	KUNIT_EXPECT_EQ(test, srn_wqe_from_wr(&wr.wr, &c->lim, c->wqe), -EINVAL);
}

static void srn_wqe_from_reg_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	struct ib_mr mr = { .iova = 0x500000080ULL };
	struct ib_reg_wr wr = {
		.wr = { .opcode = IB_WR_REG_MR }, .mr = &mr, .key = 0x1234,
		.access = IB_ACCESS_REMOTE_READ,
	};

	KUNIT_EXPECT_EQ(test, srn_wqe_from_wr(&wr.wr, &c->lim, c->wqe), -EINVAL);
	c->who.kernel = true;
	KUNIT_ASSERT_EQ(test, srn_wqe_from_wr(&wr.wr, &c->lim, c->wqe), 0);
	KUNIT_EXPECT_PTR_EQ(test, c->wqe->reg.mr, &mr);
	/* As it was when the WR was posted. */
	mr.iova = 0;
	KUNIT_EXPECT_EQ(test, c->wqe->reg.iova, 0x500000080ULL);
	KUNIT_EXPECT_EQ(test, c->wqe->reg.key, 0x1234);
	KUNIT_EXPECT_EQ(test, c->wqe->reg.access, IB_ACCESS_REMOTE_READ);
	wr.mr = NULL;
	KUNIT_EXPECT_EQ(test, srn_wqe_from_wr(&wr.wr, &c->lim, c->wqe), -EINVAL);
}

static void srn_wqe_from_imm_test(struct kunit *test)
{
	static const enum ib_wr_opcode opcodes[] = { IB_WR_SEND_WITH_IMM,
						     IB_WR_RDMA_WRITE_WITH_IMM };
	struct ctx *c = test->priv;
	struct ib_rdma_wr wr = { .wr.ex.imm_data = cpu_to_be32(0x12345678) };
	int i;

	c->who.kernel = true;
	for (i = 0; i < ARRAY_SIZE(opcodes); i++) {
		wr.wr.opcode = opcodes[i];
		memset(c->wqe, 0xa5, c->wqe_size);
		KUNIT_ASSERT_EQ(test, srn_wqe_from_wr(&wr.wr, &c->lim, c->wqe), 0);
		KUNIT_EXPECT_EQ(test, be32_to_cpu(c->wqe->imm), 0x12345678);
	}
}

static void srn_wqe_from_atomic_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	struct ib_sge sge = { 0x10, 8, 1 };
	struct ib_atomic_wr wr = {
		.wr = { .sg_list = &sge, .num_sge = 1, .opcode = IB_WR_ATOMIC_CMP_AND_SWP },
		.remote_addr = 77, .compare_add = 5, .swap = 6, .rkey = 88,
	};

	c->who.kernel = true;
	KUNIT_ASSERT_EQ(test, srn_wqe_from_wr(&wr.wr, &c->lim, c->wqe), 0);
	KUNIT_EXPECT_EQ(test, c->wqe->rdma.addr, 77);
	KUNIT_EXPECT_EQ(test, c->wqe->rdma.compare_add, 5);
	KUNIT_EXPECT_EQ(test, c->wqe->rdma.swap, 6);
	KUNIT_EXPECT_EQ(test, c->wqe->rdma.rkey, 88);
	sge.length = 7;
	KUNIT_EXPECT_EQ(test, srn_wqe_from_wr(&wr.wr, &c->lim, c->wqe), -EINVAL);
}

/* Receive WQEs. */

struct recv_slot {
	struct srn_recv_wqe hdr;
	struct srn_sge sge[MAX_SGE];
};

static void srn_wqe_recv_test(struct kunit *test)
{
	struct recv_slot *slot = kunit_kzalloc(test, sizeof(*slot), GFP_KERNEL);
	struct srn_rwqe *r = fake_rwqe(test);
	struct ib_sge sge[MAX_SGE] = { { 1, 2, 3 }, { 4, 5, 6 }, { 7, U32_MAX, 9 },
				       { 10, U32_MAX, 12 } };
	struct ib_recv_wr wr = { .wr_id = 42, .sg_list = sge, .num_sge = MAX_SGE };

	KUNIT_ASSERT_NOT_NULL(test, slot);
	KUNIT_ASSERT_EQ(test, srn_rwqe_store(&wr, MAX_SGE, &slot->hdr), 0);
	KUNIT_ASSERT_EQ(test, srn_rwqe_fetch(&slot->hdr, MAX_SGE, r), SRN_OK);
	KUNIT_EXPECT_EQ(test, r->wr_id, 42);
	KUNIT_EXPECT_EQ(test, r->num_sge, MAX_SGE);
	KUNIT_EXPECT_EQ(test, r->length, 7ULL + 2ULL * U32_MAX);
	KUNIT_EXPECT_EQ(test, r->sge[1].addr, 4);
	KUNIT_EXPECT_EQ(test, r->sge[1].lkey, 6);

	KUNIT_EXPECT_EQ(test, srn_rwqe_store(&wr, MAX_SGE - 1, &slot->hdr), -EINVAL);
	KUNIT_EXPECT_EQ(test, srn_rwqe_fetch(&slot->hdr, MAX_SGE - 1, r), SRN_V_LOC_QP_OP);
	KUNIT_EXPECT_EQ(test, r->wr_id, 42);
	KUNIT_EXPECT_EQ(test, r->num_sge, 0);
	slot->hdr.num_sge = U32_MAX;
	KUNIT_EXPECT_EQ(test, srn_rwqe_fetch(&slot->hdr, U32_MAX, r), SRN_V_LOC_QP_OP);
	slot->hdr.num_sge = 0;
	KUNIT_EXPECT_EQ(test, srn_rwqe_fetch(&slot->hdr, MAX_SGE, r), SRN_OK);
	KUNIT_EXPECT_EQ(test, r->length, 0);
}

static void srn_wqe_stride_test(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, srn_send_stride(0, 0), 64);
	KUNIT_EXPECT_EQ(test, srn_send_stride(4, 64), 128);
	KUNIT_EXPECT_EQ(test, srn_send_stride(4, 65), 256);
	KUNIT_EXPECT_EQ(test, srn_send_stride(SRN_MAX_SGE, SRN_MAX_INLINE), 1024);
	KUNIT_EXPECT_EQ(test, srn_recv_stride(0), 16);
	KUNIT_EXPECT_EQ(test, srn_recv_stride(1), 32);
	KUNIT_EXPECT_EQ(test, srn_recv_stride(3), 64);
	KUNIT_EXPECT_EQ(test, srn_recv_stride(SRN_MAX_SGE), 1024);
	KUNIT_EXPECT_GE(test, srn_wqe_size(2, 0), sizeof(struct srn_wqe) + 32);
	KUNIT_EXPECT_GE(test, srn_wqe_size(2, 100), sizeof(struct srn_wqe) + 100);
}

static void srn_wqe_wc_opcode_test(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, srn_wr_ops[IB_WR_SEND_WITH_INV].wc, IB_WC_SEND);
	KUNIT_EXPECT_EQ(test, srn_wr_ops[IB_WR_RDMA_WRITE_WITH_IMM].wc, IB_WC_RDMA_WRITE);
	KUNIT_EXPECT_EQ(test, srn_wr_ops[IB_WR_RDMA_READ].wc, IB_WC_RDMA_READ);
	KUNIT_EXPECT_EQ(test, srn_wr_ops[IB_WR_ATOMIC_CMP_AND_SWP].wc, IB_WC_COMP_SWAP);
	KUNIT_EXPECT_EQ(test, srn_wr_ops[IB_WR_ATOMIC_FETCH_AND_ADD].wc, IB_WC_FETCH_ADD);
	KUNIT_EXPECT_EQ(test, srn_wr_ops[IB_WR_LOCAL_INV].wc, IB_WC_LOCAL_INV);
	KUNIT_EXPECT_EQ(test, srn_wr_ops[IB_WR_BIND_MW].wc, IB_WC_BIND_MW);
	KUNIT_EXPECT_EQ(test, srn_wr_ops[IB_WR_REG_MR].wc, IB_WC_REG_MR);
	KUNIT_EXPECT_EQ(test, srn_wr_ops[255].wc, IB_WC_SEND);
}

static struct kunit_case wqe_cases[] = {
	KUNIT_CASE(srn_wqe_opcode_test),
	KUNIT_CASE(srn_wqe_fields_test),
	KUNIT_CASE(srn_wqe_inline_test),
	KUNIT_CASE_PARAM(srn_wqe_bad_test, bad_gen_params),
	KUNIT_CASE(srn_wqe_bind_access_test),
	KUNIT_CASE(srn_wqe_ud_av_test),
	KUNIT_CASE(srn_wqe_garbage_test),
	KUNIT_CASE(srn_wqe_from_send_test),
	KUNIT_CASE(srn_wqe_from_ud_test),
	KUNIT_CASE(srn_wqe_from_inline_test),
	KUNIT_CASE(srn_wqe_from_reg_test),
	KUNIT_CASE(srn_wqe_recv_test),
	KUNIT_CASE(srn_wqe_stride_test),
	KUNIT_CASE(srn_wqe_wc_opcode_test),
	KUNIT_CASE(srn_wqe_from_imm_test),
	KUNIT_CASE(srn_wqe_from_atomic_test),
	{}
};

static struct kunit_suite wqe_suite = {
	.name = "srn_wqe",
	.init = wqe_test_init,
	.exit = wqe_test_exit,
	.test_cases = wqe_cases,
};

kunit_test_suite(wqe_suite);
