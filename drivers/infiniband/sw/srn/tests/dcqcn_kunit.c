// SPDX-License-Identifier: GPL-2.0-only
/* Notifications to a rate: against a model that keeps all that was sent, and on a simulated
 * link.
 */
#include "../dcqcn.h"
#include "../cc.h"

#include <kunit/test.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/prandom.h>

#define MBIT	125000ull

static struct srn_cc_params *new_params(struct kunit *test)
{
	struct srn_cc_params *p = kunit_kzalloc(test, sizeof(*p), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, p);
	*p = srn_cc_defaults;
	return p;
}

/* Sends 1000 bytes each 10 us, 800 Mb/s, until @end_ns. */
static void send_until(struct srn_dcqcn *d, const struct srn_cc_params *p, u64 *now_ns, u64 end_ns,
		       u32 *sent)
{
	for (; *now_ns < end_ns; *now_ns += 10 * NSEC_PER_USEC) {
		if (srn_dcqcn_limits(d))
			srn_dcqcn_look(d, p, *now_ns, *sent);
		*sent += 1000;
	}
}

static void srn_dcqcn_begins_test(struct kunit *test)
{
	struct srn_cc_params *p = new_params(test);
	u64 now = NSEC_PER_SEC, begin = now;
	u32 sent = U32_MAX - 50000;	/* over its end */
	struct srn_dcqcn d = {};

	/* One is not enough: what it would cut is not known. Nor is that, before a millisecond. */
	srn_dcqcn_cnp(&d, p, now, sent, 0);
	send_until(&d, p, &now, begin + SRN_DCQCN_MEASURE_NS - 1, &sent);
	srn_dcqcn_cnp(&d, p, now - 1, sent, 0);
	KUNIT_EXPECT_FALSE(test, srn_dcqcn_limits(&d));
	srn_dcqcn_cnp(&d, p, now, sent, 0);
	/* By half of alpha, which is 1023 of 1024. */
	KUNIT_EXPECT_EQ(test, d.target, 800 * MBIT);
	KUNIT_EXPECT_EQ(test, d.rate, 800 * MBIT - (800 * MBIT * 1023 / 1024) / 2);
	/* What was seen long ago says nothing. */
	d = (struct srn_dcqcn){};
	srn_dcqcn_cnp(&d, p, now, sent, 0);
	now += SRN_DCQCN_STALE_NS + 1;
	srn_dcqcn_cnp(&d, p, now, sent, 0);
	KUNIT_EXPECT_FALSE(test, srn_dcqcn_limits(&d));
	/* Where it is named, nothing is measured. */
	p->rp_rate_to_set_on_first_cnp = 100;
	srn_dcqcn_cnp(&d, p, now, sent, 0);
	KUNIT_EXPECT_EQ(test, d.target, 100 * MBIT);
}

/* A message left at once, and its queue drains while it is marked: what left is not nothing. */
static void srn_dcqcn_begins_behind_a_burst_test(struct kunit *test)
{
	struct srn_cc_params *p = new_params(test);
	u64 now = NSEC_PER_SEC;
	struct srn_dcqcn d = {};
	u32 sent = 1000;

	srn_dcqcn_cnp(&d, p, now, sent, 125000);
	srn_dcqcn_cnp(&d, p, now + NSEC_PER_MSEC, sent, 100000);
	KUNIT_EXPECT_EQ(test, d.target, 1000 * MBIT);
	/* Where it is not known what is on its way, nothing is said of it. */
	d = (struct srn_dcqcn){};
	srn_dcqcn_cnp(&d, p, now, sent, 0);
	srn_dcqcn_cnp(&d, p, now + NSEC_PER_MSEC, sent, 0);
	KUNIT_EXPECT_FALSE(test, srn_dcqcn_limits(&d));
	srn_dcqcn_cnp(&d, p, now + 2 * NSEC_PER_MSEC, sent + 125000, 0);
	KUNIT_EXPECT_EQ(test, d.target, 1000 * MBIT);
}

/* A look at each 10 us, and no notification any more. */
static void srn_dcqcn_ends_test(struct kunit *test)
{
	struct srn_cc_params *p = new_params(test);
	u64 now = NSEC_PER_SEC, begin, step = p->rp_time_reset * (u64)NSEC_PER_USEC;
	struct srn_dcqcn d = {};
	u32 sent = 0;

	p->rp_rate_to_set_on_first_cnp = 100;
	srn_dcqcn_cnp(&d, p, now, sent, 0);
	begin = now;
	while (srn_dcqcn_limits(&d) && now - begin < NSEC_PER_SEC)
		send_until(&d, p, &now, now + NSEC_PER_MSEC, &sent);
	KUNIT_EXPECT_GE(test, now - begin, SRN_DCQCN_CALM * step);
	KUNIT_EXPECT_LE(test, now - begin, SRN_DCQCN_CALM * (step + 20 * NSEC_PER_USEC));
	/* Who sends nothing for long is as new. */
	srn_dcqcn_cnp(&d, p, now, sent, 0);
	srn_dcqcn_look(&d, p, now + SRN_DCQCN_OLD_NS, sent);
	KUNIT_EXPECT_TRUE(test, srn_dcqcn_limits(&d));
	srn_dcqcn_look(&d, p, now + 2 * SRN_DCQCN_OLD_NS + 1, sent);
	KUNIT_EXPECT_FALSE(test, srn_dcqcn_limits(&d));
}

/* Cuts in a row go back to one rate; and without a packet there is no step, however long it
 * takes.
 */
static void srn_dcqcn_target_test(struct kunit *test)
{
	struct srn_cc_params *p = new_params(test);
	u64 now = NSEC_PER_SEC, rate;
	struct srn_dcqcn d = {};
	u32 sent = 0;
	int i;

	p->rp_rate_to_set_on_first_cnp = 1000;
	for (i = 0; i < 4; i++) {
		srn_dcqcn_cnp(&d, p, now, sent, 0);
		rate = d.rate;
		now += 50 * NSEC_PER_MSEC;
		srn_dcqcn_look(&d, p, now, sent);
		KUNIT_EXPECT_EQ(test, d.rate, rate);
		KUNIT_EXPECT_EQ(test, d.target, 1000 * MBIT);
		sent += 1000;
	}
	KUNIT_EXPECT_LE(test, rate, 70 * MBIT);
	now += 50 * NSEC_PER_MSEC;
	srn_dcqcn_look(&d, p, now, sent);
	KUNIT_EXPECT_EQ(test, d.rate, (rate + 1000 * MBIT + 1) / 2);
	/* After a step it is the rate from before the cut. */
	rate = d.rate;
	srn_dcqcn_cnp(&d, p, now, sent, 0);
	KUNIT_EXPECT_EQ(test, d.target, rate);
}

/* What a queue had before the cut may be marked for long: it says nothing of the new rate. */
static void srn_dcqcn_old_queue_test(struct kunit *test)
{
	struct srn_cc_params *p = new_params(test);
	u64 now = NSEC_PER_SEC, period = p->rp_rate_reduce_monitor_period * (u64)NSEC_PER_USEC, rate;
	struct srn_dcqcn d = {};
	u32 sent = 1000000;
	int i;

	p->rp_rate_to_set_on_first_cnp = 1000;
	srn_dcqcn_cnp(&d, p, now, sent, 0);
	rate = d.rate;
	for (i = 0; i < 10; i++) {
		now += period;
		srn_dcqcn_cnp(&d, p, now, sent, 0);
		KUNIT_EXPECT_EQ_MSG(test, d.rate, rate, "%d", i);
	}
	/* What leaves then has one cut, however long that queue is marked. */
	sent += 1000;
	srn_dcqcn_cnp(&d, p, now, sent, 0);
	KUNIT_EXPECT_LT(test, d.rate, rate);
	rate = d.rate;
	srn_dcqcn_cnp(&d, p, now + 3 * period, sent, 0);
	KUNIT_EXPECT_EQ(test, d.rate, rate);
	/* And a period is waited for, too. */
	srn_dcqcn_cnp(&d, p, now + 3 * period, sent + 1000, 0);
	srn_dcqcn_cnp(&d, p, now + 4 * period - 1, sent + 2000, 0);
	KUNIT_EXPECT_LT(test, d.rate, rate);
	KUNIT_EXPECT_GE(test, d.rate, rate / 2);
}

/* The model: all that was sent, and of each kind of step, from where on. */
#define SENDS	3000

struct model {
	u64 at[SENDS];
	u32 len[SENDS];
	int sends;
	int time_from, alpha_from, byte_from, cut_from;
	u32 byte_rest;
	u64 rate, target, cut_ns, byte_ns;
	u32 alpha, time_steps, byte_steps;
	bool marked;
};

static bool model_due(const struct model *m, int *from, u64 now, u32 micros)
{
	if (*from == m->sends || now - m->at[*from] < micros * 1000ull)
		return false;
	*from = m->sends;
	return true;
}

static u64 model_part(u64 rate)
{
	u64 slow = 18 * MBIT;

	if (rate <= slow)
		return rate / 32;
	if (rate >= 2 * slow)
		return rate / 8;
	return rate / 32 * rate / slow * rate / slow;
}

static u64 model_move(const struct model *m, u32 mbps)
{
	return min(mbps * MBIT, max(model_part(m->rate), MBIT / 10));
}

static void model_step(struct model *m, const struct srn_cc_params *p)
{
	bool time = m->time_steps > p->rp_threshold, bytes = m->byte_steps > p->rp_threshold;

	if (time && bytes)
		m->target += model_move(m, p->rp_hai_rate);
	else if (time || bytes)
		m->target += model_move(m, p->rp_ai_rate);
	m->rate += (m->target - m->rate + 1) / 2;
}

static void model_alpha(struct model *m, const struct srn_cc_params *p, u64 now)
{
	u64 all = m->marked ? SRN_DCQCN_ONE / 1024 * (1024 - p->rp_dce_tcp_g) : 0;

	if (!model_due(m, &m->alpha_from, now, p->rp_dce_tcp_rtt))
		return;
	m->alpha = (u64)m->alpha * p->rp_dce_tcp_g / 1024 + all;
	m->marked = false;
}

static void model_cut(struct model *m, const struct srn_cc_params *p, u64 now)
{
	u64 part = m->rate * m->alpha / SRN_DCQCN_ONE / (1 << (p->rp_gd - 10));

	if (m->time_steps + m->byte_steps)
		m->target = m->rate;
	m->rate = max(m->rate - part, m->rate * p->rp_min_dec_fac / 100);
	m->rate = max(m->rate, p->rp_min_rate * MBIT);
	m->target = max(m->target, m->rate);
	m->time_steps = 0;
	m->byte_steps = 0;
	m->byte_rest = 0;
	m->byte_ns = now;
	m->time_from = m->sends;
	m->byte_from = m->sends;
	m->cut_from = m->sends;
	m->cut_ns = now;
}

static void model_begin(struct model *m, const struct srn_cc_params *p, u64 now)
{
	*m = (struct model){
		.rate = p->rp_rate_to_set_on_first_cnp * MBIT,
		.target = p->rp_rate_to_set_on_first_cnp * MBIT,
		.alpha = p->rp_initial_alpha_value * (SRN_DCQCN_ONE / 1024),
	};
	model_cut(m, p, now);
}

static void model_cnp(struct model *m, const struct srn_cc_params *p, u64 now)
{
	m->marked = true;
	model_alpha(m, p, now);
	if (m->sends > m->cut_from &&
	    now - m->cut_ns >= p->rp_rate_reduce_monitor_period * 1000ull)
		model_cut(m, p, now);
}

static void model_look(struct model *m, const struct srn_cc_params *p, u64 now)
{
	model_alpha(m, p, now);
	if (model_due(m, &m->time_from, now, p->rp_time_reset)) {
		m->time_steps++;
		model_step(m, p);
	}
	for (; m->byte_from < m->sends; m->byte_from++)
		m->byte_rest += m->len[m->byte_from];
	if (m->byte_rest >= p->rp_byte_reset && now - m->byte_ns >= p->rp_time_reset * 1000ull / 8) {
		m->byte_rest %= p->rp_byte_reset;
		m->byte_ns = now;
		m->byte_steps++;
		model_step(m, p);
	}
}

static void expect_same(struct kunit *test, const struct srn_dcqcn *d, const struct model *m, int i)
{
	KUNIT_ASSERT_EQ_MSG(test, d->rate, m->rate, "%d", i);
	KUNIT_ASSERT_EQ_MSG(test, d->target, m->target, "%d", i);
	KUNIT_ASSERT_EQ_MSG(test, d->alpha, m->alpha, "%d", i);
}

static void play(struct kunit *test, struct model *m, const struct srn_cc_params *p, u32 seed)
{
	struct srn_dcqcn d = {};
	u64 now = NSEC_PER_SEC;
	struct rnd_state rnd;
	u32 sent = 0;
	int i;

	prandom_seed_state(&rnd, seed);
	model_begin(m, p, now);
	srn_dcqcn_cnp(&d, p, now, sent, 0);
	for (i = 0; i < SENDS && srn_dcqcn_limits(&d); i++) {
		now += prandom_u32_state(&rnd) % (seed % 2 ? 3000000 : 200000);
		if (prandom_u32_state(&rnd) % 8 == 0) {
			model_cnp(m, p, now);
			srn_dcqcn_cnp(&d, p, now, sent, 0);
			expect_same(test, &d, m, i);
			continue;
		}
		model_look(m, p, now);
		srn_dcqcn_look(&d, p, now, sent);
		expect_same(test, &d, m, i);
		m->at[m->sends] = now;
		m->len[m->sends] = prandom_u32_state(&rnd) % 5 * 4178;
		sent += m->len[m->sends];
		m->sends += m->len[m->sends] > 0;
	}
	KUNIT_EXPECT_EQ(test, i, SENDS);
}

static void srn_dcqcn_model_test(struct kunit *test)
{
	struct model *m = kunit_kzalloc(test, sizeof(*m), GFP_KERNEL);
	struct srn_cc_params *p = new_params(test);
	u32 seed;

	KUNIT_ASSERT_NOT_NULL(test, m);
	for (seed = 1; seed <= 8; seed++) {
		p->rp_rate_to_set_on_first_cnp = 1 << seed;
		p->rp_gd = 10 + seed % 3;
		p->rp_min_dec_fac = 30 + 5 * seed;
		p->rp_threshold = seed;
		p->rp_ai_rate = 1 + seed % 2;
		p->rp_hai_rate = 5;
		play(test, m, p, seed);
	}
}

#define LEAST(field, low, high, value)	.field = low,
#define MOST(field, low, high, value)	.field = high,

/* Whatever is written there, nothing is divided by 0, and a rate is one. */
static void srn_dcqcn_bounds_test(struct kunit *test)
{
	static const struct srn_cc_params ends[] = {
		{ SRN_CC_PARAMS(LEAST) }, { SRN_CC_PARAMS(MOST) },
	};
	struct srn_dcqcn d = {};
	u64 now = NSEC_PER_SEC;
	struct rnd_state rnd;
	u32 sent = 0, what;
	int i;

	prandom_seed_state(&rnd, 1);
	for (i = 0; i < 20000; i++) {
		what = prandom_u32_state(&rnd);
		now += what % 7 ? what % 1000 : (u64)what * 16;
		sent += what >> 12;
		if (what & 256)
			srn_dcqcn_cnp(&d, &ends[what & 1], now, sent, 0);
		else if (srn_dcqcn_limits(&d))
			srn_dcqcn_look(&d, &ends[what & 1], now, sent);
		if (srn_dcqcn_limits(&d)) {
			KUNIT_ASSERT_GE_MSG(test, d.rate, MBIT, "%d", i);
			KUNIT_ASSERT_LE_MSG(test, d.rate, d.target, "%d", i);
			KUNIT_ASSERT_LE_MSG(test, d.alpha, SRN_DCQCN_ONE, "%d", i);
		}
	}
}

/* A link with a queue that marks as RED does; each packet that it has sent is seen at once by its sender, with
 * the mark.
 */
struct link {
	u64 rate;
	u32 red_min, red_max;	/* where half of all is marked; behind it all */
	u32 window;
	u64 ns;			/* that it takes to settle; what follows is looked at for twice as long */
};

static const struct link slow_link = { 200 * MBIT, 5000, 120000, 128, NSEC_PER_SEC };
static const struct link fast_link = { 1000 * MBIT, 30000, 300000, 256, NSEC_PER_SEC / 2 };
static const struct link fastest_link = { 10000 * MBIT, 50000, 500000, 1024, NSEC_PER_SEC / 5 };

#define PACKET		1144u
#define SENDERS		16
#define FIFO		4096		/* a power of two above all windows */
#define CNP_NS		(50 * NSEC_PER_USEC)

struct sender {
	struct srn_dcqcn d;
	u32 sent;
	u32 inflight;
	u64 next_ns;
	u64 cnp_ns;
	u64 got;
};

struct sim {
	const struct srn_cc_params *p;
	const struct link *link;
	u64 service_ns;
	struct rnd_state rnd;
	struct sender senders[SENDERS];
	int num;
	u64 now;
	bool mark_all;
	u32 head, tail;
	u64 served, queued;	/* packets; sum of what waited at each service, bytes */
	u64 services;
	struct {
		u8 from;
		bool marked;
	} fifo[FIFO];
};

static bool marks(struct sim *s)
{
	u32 bytes = (s->tail - s->head) * PACKET, least = s->link->red_min, most = s->link->red_max;

	if (s->mark_all || bytes > most)
		return true;
	return bytes > least && prandom_u32_state(&s->rnd) % (2 * (most - least)) < bytes - least;
}

static void put(struct sim *s, int i)
{
	struct sender *from = &s->senders[i];

	s->fifo[s->tail % FIFO].marked = marks(s);
	s->fifo[s->tail++ % FIFO].from = i;
	from->sent += PACKET;
	from->inflight++;
}

/* As a pace does: two at once, one where it takes more than 200 us, then their time. */
static void send(struct sim *s, int i)
{
	struct sender *from = &s->senders[i];
	u32 num;

	while (from->inflight < s->link->window) {
		if (srn_dcqcn_limits(&from->d))
			srn_dcqcn_look(&from->d, s->p, s->now, from->sent);
		if (srn_dcqcn_limits(&from->d)) {
			if (s->now < from->next_ns)
				return;
			num = from->d.rate < 5000 * PACKET ? 1 : 2;
			from->next_ns = s->now + div64_u64(num * PACKET * NSEC_PER_SEC, from->d.rate);
			if (num == 2)
				put(s, i);
		}
		put(s, i);
	}
}

static void serve(struct sim *s)
{
	u32 at = s->head % FIFO;
	struct sender *to;

	s->services++;
	if (s->head == s->tail)
		return;
	s->queued += (s->tail - s->head) * PACKET;
	to = &s->senders[s->fifo[at].from];
	s->head++;
	s->served++;
	to->got++;
	to->inflight--;
	if (!s->fifo[at].marked || s->now < to->cnp_ns)
		return;
	to->cnp_ns = s->now + CNP_NS;
	srn_dcqcn_cnp(&to->d, s->p, s->now, to->sent, 0);
}

static void run(struct sim *s, u64 ns)
{
	u64 end = s->now + ns;
	int i;

	for (; s->now < end; s->now += s->service_ns) {
		serve(s);
		for (i = 0; i < s->num; i++)
			send(s, i);
	}
}

static struct sim *new_sim(struct kunit *test, const struct link *link, int num)
{
	struct sim *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, s);
	prandom_seed_state(&s->rnd, num);
	s->p = new_params(test);
	s->link = link;
	s->service_ns = div64_u64(PACKET * NSEC_PER_SEC, link->rate);
	s->num = num;
	s->now = NSEC_PER_SEC;
	return s;
}

static void forget(struct sim *s)
{
	int i;

	for (i = 0; i < SENDERS; i++)
		s->senders[i].got = 0;
	s->served = 0;
	s->services = 0;
	s->queued = 0;
}

/* Equal parts (Jain's index of 0.95), a short queue, and so many percent of a link that are used. */
static void share(struct kunit *test, const struct link *link, int num, u32 percent, u32 queue)
{
	struct sim *s = new_sim(test, link, num);
	u64 sum = 0, squares = 0;
	int i;

	run(s, link->ns);
	forget(s);
	run(s, 2 * link->ns);
	for (i = 0; i < num; i++) {
		sum += s->senders[i].got;
		squares += s->senders[i].got * s->senders[i].got;
	}
	KUNIT_EXPECT_GE_MSG(test, 100 * sum * sum, 95 * num * squares, "%d: fair", num);
	KUNIT_EXPECT_GE_MSG(test, 100 * s->served, percent * s->services, "%d: used", num);
	KUNIT_EXPECT_LE_MSG(test, div64_u64(s->queued, s->services), queue, "%d: queue", num);
}

static void srn_dcqcn_fair_test(struct kunit *test)
{
	int num;

	for (num = 2; num <= SENDERS; num *= 2)
		share(test, &slow_link, num, 90, 60000);
	share(test, &slow_link, SENDERS, 90, 55000);
}

/* A cut is one, however many bytes leave until the next: else the queue would be as long as windows are. */
static void srn_dcqcn_fast_test(struct kunit *test)
{
	share(test, &fast_link, 1, 93, 100000);
	share(test, &fast_link, 4, 90, 150000);
	share(test, &fastest_link, 1, 92, 150000);
	share(test, &fastest_link, 4, 95, 150000);
}

static void srn_dcqcn_marks_on_all_test(struct kunit *test)
{
	u64 least = srn_cc_defaults.rp_min_rate * MBIT, begin;
	struct sim *s = new_sim(test, &slow_link, 1);
	struct srn_dcqcn *d = &s->senders[0].d;

	run(s, NSEC_PER_SEC);
	s->mark_all = true;
	begin = s->now;
	while (d->rate != least && s->now - begin < NSEC_PER_SEC)
		run(s, s->service_ns);
	KUNIT_EXPECT_LE(test, s->now - begin, 20 * NSEC_PER_MSEC);
	run(s, 100 * NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, d->rate, least);
	s->mark_all = false;
	begin = s->now;
	while (d->rate && d->rate < slow_link.rate * 9 / 10 && s->now - begin < NSEC_PER_SEC)
		run(s, s->service_ns);
	KUNIT_EXPECT_LE(test, s->now - begin, 50 * NSEC_PER_MSEC);
}

static struct kunit_case srn_dcqcn_cases[] = {
	KUNIT_CASE(srn_dcqcn_begins_test),
	KUNIT_CASE(srn_dcqcn_begins_behind_a_burst_test),
	KUNIT_CASE(srn_dcqcn_ends_test),
	KUNIT_CASE(srn_dcqcn_target_test),
	KUNIT_CASE(srn_dcqcn_old_queue_test),
	KUNIT_CASE(srn_dcqcn_model_test),
	KUNIT_CASE(srn_dcqcn_bounds_test),
	KUNIT_CASE(srn_dcqcn_fair_test),
	KUNIT_CASE(srn_dcqcn_fast_test),
	KUNIT_CASE(srn_dcqcn_marks_on_all_test),
	{}
};

static struct kunit_suite srn_dcqcn_suite = {
	.name = "srn_dcqcn",
	.test_cases = srn_dcqcn_cases,
};

kunit_test_suite(srn_dcqcn_suite);
