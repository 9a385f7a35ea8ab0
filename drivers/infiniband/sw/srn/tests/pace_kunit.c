// SPDX-License-Identifier: GPL-2.0-only
/* What goes when, against a list of all that went. */
#include "../pace.h"

#include <kunit/test.h>
#include <linux/math64.h>
#include <linux/prandom.h>
#include <linux/time64.h>

#define MTU	1024
#define PACKET	(MTU + SRN_PACE_HEADERS)
#define START	(1000ull * NSEC_PER_SEC)

static struct srn_pace new_pace(u64 rate)
{
	struct srn_pace p;

	srn_pace_reset(&p);
	srn_pace_set_mtu(&p, MTU);
	srn_pace_limit(&p, SRN_PACE_USER, rate);
	return p;
}

/* Packets of @bytes until it is closed; returns how many. */
static u32 send_all(struct srn_pace *p, u32 bytes, u64 now)
{
	u32 num = 0;

	while (srn_pace_ask(p, SRN_PACE_REQUESTS, now)) {
		srn_pace_sent(p, bytes);
		num++;
	}
	return num;
}

static u64 wait(struct srn_pace *p, u64 now)
{
	return srn_pace_wait(p, SRN_PACE_REQUESTS, now);
}

struct quantum_row {
	const char *desc;
	u64 rate;
	u32 packets;
};

static const struct quantum_row quantum_rows[] = {
	{ "1 Mb/s: one packet", 125000, 1 },
	{ "a packet takes more than 200 us: one", 5000 * PACKET - 1, 1 },
	{ "a packet takes 200 us: two", 5000 * PACKET, 2 },
	{ "100 Mb/s: two packets", 12500000, 2 },
	{ "1 Gb/s: 100 us", 125000000, 12500 / PACKET },
	{ "100 Gb/s: a run", 12500000000, SRN_PACE_QUANTUM_MAX / PACKET },
	{ "the most that can be said", 125ull * U32_MAX, SRN_PACE_QUANTUM_MAX / PACKET },
};

KUNIT_ARRAY_PARAM_DESC(quantum, quantum_rows, desc);

/* After a pause of any length a quantum goes at once, and the next when that has had its time. */
static void srn_pace_quantum_test(struct kunit *test)
{
	const struct quantum_row *row = test->param_value;
	struct srn_pace p = new_pace(row->rate);
	u64 now = START, ns;
	int i;

	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_EQ(test, srn_pace_ask(&p, SRN_PACE_REQUESTS, now), row->packets);
		KUNIT_EXPECT_EQ(test, send_all(&p, PACKET, now), row->packets);
		ns = wait(&p, now);
		KUNIT_EXPECT_GE(test, ns, div64_u64((u64)row->packets * PACKET * NSEC_PER_SEC,
						    row->rate));
		KUNIT_EXPECT_EQ(test, srn_pace_ask(&p, SRN_PACE_REQUESTS, now + ns - 1), 0);
		KUNIT_EXPECT_EQ(test, srn_pace_ask(&p, SRN_PACE_REQUESTS, now + ns), row->packets);
		now += ns + 100ull * NSEC_PER_SEC;
	}
}

/* The least of the limits that there are counts. */
static void srn_pace_least_test(struct kunit *test)
{
	struct srn_pace p = new_pace(0);

	KUNIT_EXPECT_FALSE(test, srn_pace_is_on(&p));
	srn_pace_sent(&p, U32_MAX);
	srn_pace_limit(&p, SRN_PACE_CC, 3000);
	KUNIT_EXPECT_EQ(test, p.rate, 3000);
	srn_pace_limit(&p, SRN_PACE_USER, 2000);
	KUNIT_EXPECT_EQ(test, p.rate, 2000);
	srn_pace_limit(&p, SRN_PACE_PATH, 2500);
	KUNIT_EXPECT_EQ(test, p.rate, 2000);
	srn_pace_limit(&p, SRN_PACE_USER, 0);
	KUNIT_EXPECT_EQ(test, p.rate, 2500);
	srn_pace_reset(&p);
	KUNIT_EXPECT_FALSE(test, srn_pace_is_on(&p));
}

/* Before the path MTU is known, too, nothing is divided by 0. */
static void srn_pace_unknown_mtu_test(struct kunit *test)
{
	struct srn_pace p;

	srn_pace_reset(&p);
	srn_pace_limit(&p, SRN_PACE_USER, 1);
	KUNIT_EXPECT_EQ(test, srn_pace_ask(&p, SRN_PACE_REQUESTS, START), 1);
	srn_pace_set_mtu(&p, MTU);
	KUNIT_EXPECT_EQ(test, srn_pace_ask(&p, SRN_PACE_REQUESTS, START), 1);
}

/* What waited and is woken late goes on as if it had been in time; to a point. */
static void srn_pace_late_test(struct kunit *test)
{
	struct srn_pace p = new_pace(125000000);
	u64 now = START, ns;

	send_all(&p, PACKET, now);
	ns = wait(&p, now);
	now += ns + 300000;
	srn_pace_woken(&p, now);
	/* 100 us and 300 us, of 8 ns a byte. */
	KUNIT_EXPECT_EQ(test, send_all(&p, PACKET, now), 400000 / 8 / PACKET);
	ns = wait(&p, now);
	now += ns + 10 * NSEC_PER_SEC;
	srn_pace_woken(&p, now);
	KUNIT_EXPECT_EQ(test, send_all(&p, PACKET, now),
			(SRN_PACE_QUANTUM_NS + SRN_PACE_LATE_NS) / 8 / PACKET);
	/* And who was woken with nothing to send has had its chance. */
	ns = wait(&p, now);
	now += ns + 300000;
	srn_pace_ask(&p, SRN_PACE_REQUESTS, now);
	now += NSEC_PER_MSEC;
	KUNIT_EXPECT_EQ(test, send_all(&p, PACKET, now), SRN_PACE_QUANTUM_NS / 8 / PACKET);
}

/* The alarm came in time, and nobody asked: something else was waited for. That is no lateness. */
static void srn_pace_idle_test(struct kunit *test)
{
	struct srn_pace p = new_pace(125000000);
	u64 now = START;

	send_all(&p, PACKET, now);
	now += wait(&p, now);
	srn_pace_woken(&p, now - 1);
	KUNIT_EXPECT_TRUE(test, srn_pace_is_closed(&p));
	srn_pace_woken(&p, now);
	KUNIT_EXPECT_FALSE(test, srn_pace_is_closed(&p));
	now += 100 * NSEC_PER_MSEC;
	KUNIT_EXPECT_EQ(test, send_all(&p, PACKET, now), SRN_PACE_QUANTUM_NS / 8 / PACKET);
}

/* What leaves unasked while it is closed puts off its end: the alarm rings again, and then it is
 * open. Nor is a pause behind that lateness.
 */
static void srn_pace_charged_closed_test(struct kunit *test)
{
	struct srn_pace p = new_pace(125000000);
	u64 now = START;

	send_all(&p, PACKET, now);
	now += wait(&p, now);
	srn_pace_sent(&p, 1000);
	KUNIT_EXPECT_EQ(test, srn_pace_woken(&p, now), 8000);
	KUNIT_EXPECT_TRUE(test, srn_pace_is_closed(&p));
	now += 8000;
	KUNIT_EXPECT_EQ(test, srn_pace_woken(&p, now), 0);
	KUNIT_EXPECT_FALSE(test, srn_pace_is_closed(&p));
	/* And what leaves unasked now is of the quantum that follows. */
	srn_pace_sent(&p, PACKET);
	KUNIT_EXPECT_EQ(test, send_all(&p, PACKET, now), SRN_PACE_QUANTUM_NS / 8 / PACKET - 1);
	now += 100 * NSEC_PER_MSEC;
	KUNIT_EXPECT_EQ(test, send_all(&p, PACKET, now), SRN_PACE_QUANTUM_NS / 8 / PACKET);
}

/* Who is slow goes on when there is half a quantum, and with what was left of one before. */
static void srn_pace_slow_test(struct kunit *test)
{
	struct srn_pace p = new_pace(125000000);
	u64 now = START, spent = 2 * PACKET * 8;

	KUNIT_EXPECT_EQ(test, srn_pace_ask(&p, SRN_PACE_REQUESTS, now), 11);
	srn_pace_sent(&p, 4 * PACKET);
	now += spent;
	KUNIT_EXPECT_EQ(test, srn_pace_ask(&p, SRN_PACE_REQUESTS, now), 9);
	srn_pace_sent(&p, 7 * PACKET);
	now += spent;
	KUNIT_EXPECT_EQ(test, srn_pace_ask(&p, SRN_PACE_REQUESTS, now), 2);
	srn_pace_sent(&p, 2 * PACKET);
	KUNIT_EXPECT_EQ(test, srn_pace_ask(&p, SRN_PACE_REQUESTS, now + spent), 0);
	now += 3 * spent;
	KUNIT_EXPECT_EQ(test, srn_pace_ask(&p, SRN_PACE_REQUESTS, now), 8);
	/* A limit that sinks meanwhile takes from what is left. */
	now += wait(&p, now);
	srn_pace_ask(&p, SRN_PACE_REQUESTS, now);
	srn_pace_sent(&p, 8 * PACKET);
	KUNIT_EXPECT_EQ(test, srn_pace_ask(&p, SRN_PACE_REQUESTS, now), 3);
	srn_pace_limit(&p, SRN_PACE_CC, 50000000);
	KUNIT_EXPECT_EQ(test, srn_pace_ask(&p, SRN_PACE_REQUESTS, now), 1);
}

/* Between quanta it stays closed, whoever asks. */
static void srn_pace_closed_test(struct kunit *test)
{
	struct srn_pace p = new_pace(12500000);
	u64 ns;

	send_all(&p, 100, START);
	ns = wait(&p, START);
	KUNIT_EXPECT_EQ(test, srn_pace_ask(&p, SRN_PACE_REQUESTS, START + ns / 2), 0);
	KUNIT_EXPECT_EQ(test, srn_pace_ask(&p, SRN_PACE_ANSWERS, START + ns - 1), 0);
	KUNIT_EXPECT_GT(test, srn_pace_ask(&p, SRN_PACE_ANSWERS, START + ns), 0);
}

/* The one who asks first leaves half to the other if that was refused, too. */
static void srn_pace_share_test(struct kunit *test)
{
	struct srn_pace p = new_pace(125000000);
	u64 now = START;
	int i;

	send_all(&p, PACKET, now);
	srn_pace_wait(&p, SRN_PACE_ANSWERS, now);
	now += wait(&p, now);
	KUNIT_EXPECT_EQ(test, srn_pace_ask(&p, SRN_PACE_ANSWERS, now), 5);
	for (i = 0; i < 5; i++)
		srn_pace_sent(&p, PACKET);
	KUNIT_EXPECT_EQ(test, send_all(&p, PACKET, now), 6);
	/* Only one waits this time. */
	now += srn_pace_wait(&p, SRN_PACE_ANSWERS, now);
	KUNIT_EXPECT_EQ(test, srn_pace_ask(&p, SRN_PACE_ANSWERS, now), 11);
}

/* Where packets go one by one, too: one of each, however often they wait. Short ones are several. */
static void srn_pace_one_by_one_test(struct kunit *test)
{
	struct srn_pace p = new_pace(1250000);
	u64 now = START, begin;
	int i;

	send_all(&p, PACKET, now);
	begin = now + srn_pace_opens_in(&p, now);
	for (i = 0; i < 100; i++) {
		srn_pace_wait(&p, SRN_PACE_ANSWERS, now);
		now += wait(&p, now);
		KUNIT_ASSERT_EQ_MSG(test, srn_pace_ask(&p, SRN_PACE_ANSWERS, now), 1, "%d", i);
		srn_pace_sent(&p, PACKET);
		KUNIT_ASSERT_EQ_MSG(test, send_all(&p, PACKET, now), 1, "%d", i);
	}
	/* And that is no more than their time. */
	now += wait(&p, now);
	KUNIT_EXPECT_GE(test, now - begin, div64_u64(200ull * PACKET * NSEC_PER_SEC, 1250000));
	/* Only one waited this time. */
	KUNIT_EXPECT_EQ(test, srn_pace_ask(&p, SRN_PACE_ANSWERS, now), 1);
	srn_pace_sent(&p, PACKET);
	KUNIT_EXPECT_EQ(test, srn_pace_ask(&p, SRN_PACE_REQUESTS, now), 0);
	now += wait(&p, now);
	KUNIT_EXPECT_EQ(test, send_all(&p, 100, now), PACKET / 2 / 100 + 1);
}

/* The end of a quantum is told before it is there, if not before its last packet. */
static void srn_pace_ends_test(struct kunit *test)
{
	struct srn_pace p = new_pace(12500000);

	srn_pace_ask(&p, SRN_PACE_REQUESTS, START);
	KUNIT_EXPECT_EQ(test, srn_pace_run(&p), 2);
	KUNIT_EXPECT_FALSE(test, srn_pace_ends(&p, PACKET));
	srn_pace_sent(&p, PACKET - 50);
	KUNIT_EXPECT_TRUE(test, srn_pace_ends(&p, PACKET));
	KUNIT_EXPECT_FALSE(test, srn_pace_ends(&p, 50));
	KUNIT_EXPECT_EQ(test, srn_pace_run(&p), 1);
	srn_pace_sent(&p, PACKET);
	KUNIT_EXPECT_EQ(test, srn_pace_run(&p), 1);
}

/* A limit that is raised or lifted is not waited for at the former rate. */
static void srn_pace_raise_test(struct kunit *test)
{
	struct srn_pace p = new_pace(1000);
	u64 ns;

	send_all(&p, PACKET, START);
	KUNIT_EXPECT_GE(test, wait(&p, START), NSEC_PER_SEC);
	srn_pace_limit(&p, SRN_PACE_USER, 125000000);
	KUNIT_EXPECT_EQ(test, srn_pace_ask(&p, SRN_PACE_REQUESTS, START), 0);
	ns = wait(&p, START);
	KUNIT_EXPECT_LE(test, ns, SRN_PACE_QUANTUM_NS);
	KUNIT_EXPECT_GT(test, srn_pace_ask(&p, SRN_PACE_REQUESTS, START + ns), 0);
	srn_pace_limit(&p, SRN_PACE_USER, 0);
	KUNIT_EXPECT_FALSE(test, srn_pace_is_on(&p));
	srn_pace_limit(&p, SRN_PACE_USER, 125000000);
	KUNIT_EXPECT_GT(test, srn_pace_ask(&p, SRN_PACE_REQUESTS, START + 2 * ns), 0);
}

/* All that went, and when. */
#define WENT	20000

struct went {
	u64 at;
	u32 bytes;
};

static void note(struct went *went, u32 *num, u64 at, u32 bytes)
{
	if (*num < WENT)
		went[(*num)++] = (struct went){ at, bytes };
}

/* The most that went in any time of @ns that begins with a packet. */
static u64 most_in(const struct went *went, u32 num, u64 ns)
{
	u64 sum = 0, most = 0;
	u32 from = 0, i;

	for (i = 0; i < num; i++) {
		sum += went[i].bytes;
		while (went[i].at - went[from].at >= ns)
			sum -= went[from++].bytes;
		most = max(most, sum);
	}
	return most;
}

/* Messages of any length; alarms that come up to @late ns too late; pauses if @idle. One takes up to
 * @busy ns.
 */
static u32 drive(struct srn_pace *p, struct rnd_state *rnd, struct went *went, u32 late, bool idle,
		 u32 busy)
{
	u32 num = 0, bytes, i;
	u64 now = START;

	for (i = 0; i < WENT; i++) {
		bytes = 60 + prandom_u32_state(rnd) % (PACKET - 60);
		if (!srn_pace_ask(p, SRN_PACE_REQUESTS, now)) {
			now += wait(p, now) + prandom_u32_state(rnd) % (late + 1);
			srn_pace_woken(p, now);
			continue;
		}
		srn_pace_sent(p, bytes);
		note(went, &num, now, bytes);
		now += prandom_u32_state(rnd) % busy;
		if (idle && prandom_u32_state(rnd) % 50 == 0)
			now += prandom_u32_state(rnd) % 3000000;
	}
	return num;
}

struct model_row {
	const char *desc;
	u64 rate;
	u32 late;
	bool idle;
	u32 busy;	/* ns; 0: hardly */
};

static const struct model_row model_rows[] = {
	{ "100 Mb/s", 12500000, 0, false },
	{ "100 Mb/s, woken late", 12500000, 500000, false },
	{ "100 Mb/s, with pauses", 12500000, 0, true },
	{ "1 Gb/s", 125000000, 0, false },
	{ "1 Gb/s, woken late", 125000000, 200000, false },
	{ "1 Gb/s, with pauses", 125000000, 0, true },
	{ "10 Gb/s, woken late", 1250000000, 50000, false },
	{ "an odd rate, woken late, with pauses", 7654321, 700000, true },
	{ "20 Mb/s", 2500000, 0, false },
	{ "20 Mb/s, woken late", 2500000, 500000, false },
	{ "20 Mb/s, woken late, with pauses", 2500000, 500000, true },
	/* A message takes half of the time that its packet has, and most of it, both in the mean. */
	{ "1 Gb/s, half busy", 125000000, 0, false, 4700 },
	{ "1 Gb/s, nearly always busy", 125000000, 0, false, 8000 },
};

KUNIT_ARRAY_PARAM_DESC(model, model_rows, desc);

/* In no time, short or long, goes more than its part, a quantum, and what was made up for; and
 * without pauses no less than its part in all.
 */
static void srn_pace_model_test(struct kunit *test)
{
	static const u64 times[] = { 1000, 100000, NSEC_PER_MSEC, 10 * NSEC_PER_MSEC };
	struct went *went = kunit_kcalloc(test, WENT, sizeof(*went), GFP_KERNEL);
	const struct model_row *row = test->param_value;
	struct srn_pace p = new_pace(row->rate);
	struct rnd_state rnd;
	/* What is lost while it makes up for that is made up for, too. */
	u64 sum = 0, most, quantum, span, late = row->late + row->late / 2;
	u32 num, i;

	KUNIT_ASSERT_NOT_NULL(test, went);
	prandom_seed_state(&rnd, row->rate + row->late);
	num = drive(&p, &rnd, went, row->late, row->idle, row->busy ?: 300);
	KUNIT_ASSERT_GT(test, num, 1000);
	quantum = row->rate < 5000 * PACKET ? 3 * PACKET / 2 : 2 * PACKET;
	quantum = clamp_t(u64, row->rate / 10000, quantum, SRN_PACE_QUANTUM_MAX);
	for (i = 0; i < ARRAY_SIZE(times); i++) {
		most = div_u64((times[i] + late) * row->rate, NSEC_PER_SEC) + quantum + 1;
		KUNIT_EXPECT_LE_MSG(test, most_in(went, num, times[i]), most, "%llu ns", times[i]);
	}
	for (i = 0; i < num; i++)
		sum += went[i].bytes;
	span = went[num - 1].at - START;
	if (!row->idle)
		KUNIT_EXPECT_GE(test, sum + quantum,
				div_u64(span * row->rate, NSEC_PER_SEC) * 97 / 100);
}

static struct kunit_case srn_pace_cases[] = {
	KUNIT_CASE_PARAM(srn_pace_quantum_test, quantum_gen_params),
	KUNIT_CASE(srn_pace_least_test),
	KUNIT_CASE(srn_pace_unknown_mtu_test),
	KUNIT_CASE(srn_pace_late_test),
	KUNIT_CASE(srn_pace_idle_test),
	KUNIT_CASE(srn_pace_charged_closed_test),
	KUNIT_CASE(srn_pace_slow_test),
	KUNIT_CASE(srn_pace_closed_test),
	KUNIT_CASE(srn_pace_share_test),
	KUNIT_CASE(srn_pace_one_by_one_test),
	KUNIT_CASE(srn_pace_ends_test),
	KUNIT_CASE(srn_pace_raise_test),
	KUNIT_CASE_PARAM(srn_pace_model_test, model_gen_params),
	{}
};

static struct kunit_suite srn_pace_suite = {
	.name = "srn_pace",
	.test_cases = srn_pace_cases,
};

kunit_test_suite(srn_pace_suite);
