// SPDX-License-Identifier: GPL-2.0-only
/* What is held from one access to the next: it spares the look-up, and nothing of what is proven. */
#include "fake_mem.h"

struct what {
	struct srn_who who;
	struct srn_mem *mem;
	u32 key;
	u64 addr;
	u32 len;
	int access;
};

static enum srn_verdict hold(const struct what *w, bool peer, struct srn_mem **held)
{
	struct ib_sge sge = { .addr = w->addr, .length = w->len, .lkey = w->key };

	if (peer)
		return srn_mem_hold_remote(&w->who, w->key, w->addr, w->len, w->access, held);
	return srn_mem_hold_local(&w->who, &sge, w->access, held);
}

struct held_row {
	const char *desc;
	void (*change)(struct ctx *c, struct what *w);
	bool peer, local;	/* who is refused */
};

static void key_byte(struct ctx *c, struct what *w)
{
	w->key ^= 1;
}

static void key_index(struct ctx *c, struct what *w)
{
	w->key += 0x1000;
}

static void before(struct ctx *c, struct what *w)
{
	w->addr = IOVA - 1;
}

static void behind(struct ctx *c, struct what *w)
{
	w->addr = IOVA + LEN - 7;
}

static void longer(struct ctx *c, struct what *w)
{
	w->len = LEN + 1;
}

static void at_its_end(struct ctx *c, struct what *w)
{
	w->addr = IOVA + LEN - 8;
}

static void no_right(struct ctx *c, struct what *w)
{
	w->mem->access = IB_ACCESS_REMOTE_READ;
}

static void other_pd(struct ctx *c, struct what *w)
{
	w->who = c->foreign_who;
}

static void gone(struct ctx *c, struct what *w)
{
	WRITE_ONCE(w->mem->state, SRN_MEM_INVALID);
}

static void free_again(struct ctx *c, struct what *w)
{
	WRITE_ONCE(w->mem->state, SRN_MEM_FREE);
}

/* Its own side uses no window. */
static void a_window(struct ctx *c, struct what *w)
{
	w->mem->type = SRN_MEM_MW;
	w->mem->mw_type = IB_MW_TYPE_1;
}

static void a_window_of_another(struct ctx *c, struct what *w)
{
	a_window(c, w);
	w->mem->mw_type = IB_MW_TYPE_2;
	w->mem->qpn = QPN + 1;
}

static const struct held_row held_rows[] = {
	{ "the same", NULL, false, false },
	{ "up to the end", at_its_end, false, false },
	{ "another key byte", key_byte, true, true },
	{ "a key of nothing", key_index, true, true },
	{ "a byte before", before, true, true },
	{ "a byte behind", behind, true, true },
	{ "longer than it is", longer, true, true },
	{ "a right that it lacks", no_right, true, true },
	{ "another PD", other_pd, true, true },
	{ "invalidated meanwhile", gone, true, true },
	{ "to be bound anew", free_again, true, true },
	{ "a window", a_window, false, true },
	{ "a window of another QP", a_window_of_another, true, true },
};

KUNIT_ARRAY_PARAM_DESC(held, held_rows, desc);

/* Held first, then asked once more, with something else about it. What is refused is let go. */
static void expect_held(struct kunit *test, const struct held_row *row, bool peer)
{
	bool refused = peer ? row->peer : row->local;
	struct ctx *c = test->priv;
	struct srn_mem *mem = fake_mr(test, c->dev, c->pd, IOVA, LEN, 0, ALL), *held = NULL;
	struct what w = {
		.who = c->who, .mem = mem, .key = mem->key, .addr = IOVA, .len = 8,
		.access = peer ? IB_ACCESS_REMOTE_WRITE : IB_ACCESS_LOCAL_WRITE,
	};

	local_bh_disable();
	KUNIT_EXPECT_EQ(test, hold(&w, peer, &held), SRN_OK);
	KUNIT_EXPECT_PTR_EQ(test, held, mem);
	if (row->change)
		row->change(c, &w);
	KUNIT_EXPECT_EQ(test, hold(&w, peer, &held),
			!refused ? SRN_OK : peer ? SRN_V_REM_ACCESS : SRN_V_LOC_PROT);
	KUNIT_EXPECT_PTR_EQ(test, held, refused ? NULL : mem);
	KUNIT_EXPECT_EQ(test, refcount_read(&mem->refs), refused ? 1 : 2);
	srn_mem_let_go(&held);
	local_bh_enable();
	KUNIT_EXPECT_NULL(test, held);
	KUNIT_EXPECT_EQ(test, refcount_read(&mem->refs), 1);
	mem->type = SRN_MEM_USER;
}

static void srn_mem_held_remote_test(struct kunit *test)
{
	expect_held(test, test->param_value, true);
}

static void srn_mem_held_local_test(struct kunit *test)
{
	expect_held(test, test->param_value, false);
}

/* Of two keys by turns that which was named last is held. */
static void srn_mem_held_by_turns_test(struct kunit *test)
{
	struct ctx *c = test->priv;
	struct srn_mem *mem[2], *held = NULL;
	u32 i;

	for (i = 0; i < 2; i++)
		mem[i] = fake_mr(test, c->dev, c->pd, IOVA, LEN, 0, ALL);
	local_bh_disable();
	for (i = 0; i < 10; i++) {
		KUNIT_EXPECT_EQ(test, SRN_OK,
				srn_mem_hold_remote(&c->who, mem[i & 1]->key, IOVA, 8,
						    IB_ACCESS_REMOTE_READ, &held));
		KUNIT_EXPECT_PTR_EQ(test, held, mem[i & 1]);
		KUNIT_EXPECT_EQ(test, refcount_read(&mem[i & 1]->refs), 2);
		KUNIT_EXPECT_EQ(test, refcount_read(&mem[!(i & 1)]->refs), 1);
	}
	srn_mem_let_go(&held);
	local_bh_enable();
}

static struct kunit_case srn_mem_held_cases[] = {
	KUNIT_CASE_PARAM(srn_mem_held_remote_test, held_gen_params),
	KUNIT_CASE_PARAM(srn_mem_held_local_test, held_gen_params),
	KUNIT_CASE(srn_mem_held_by_turns_test),
	{}
};

static struct kunit_suite srn_mem_held_suite = {
	.name = "srn_mem_held",
	.init = mem_test_init,
	.test_cases = srn_mem_held_cases,
};
kunit_test_suite(srn_mem_held_suite);
