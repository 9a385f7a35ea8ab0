/* SPDX-License-Identifier: GPL-2.0-only */
/* A window whose packets in flight are over the end of the PSN space. */
#ifndef SRN_TESTS_FAKE_FLIGHT_H
#define SRN_TESTS_FAKE_FLIGHT_H

#include "../window.h"
#include "fake_window.h"

#include <kunit/test.h>
#include <linux/time64.h>

#define FIRST	0xfffffeu

static inline struct srn_window *new_window(struct kunit *test)
{
	return fake_window(test, FIRST);
}

static inline struct srn_window *grown_window(struct kunit *test)
{
	struct srn_window *w = new_window(test);

	w->cwnd = w->full;
	srn_crowd_sample(&w->crowd, NSEC_PER_MSEC, NSEC_PER_MSEC, 0, w->cwnd, false);
	return w;
}

/* One gap, of packets that went once. */
static inline void gap(struct srn_window *w)
{
	srn_window_lost(w, 1, 0, 0);
}

static inline u32 psn(int n)
{
	return srn_psn_add(FIRST, n);
}

#endif
