/* SPDX-License-Identifier: GPL-2.0-only */
/* Windows that no QP has. */
#ifndef SRN_TESTS_FAKE_WINDOW_H
#define SRN_TESTS_FAKE_WINDOW_H

#include "../window.h"

#include <kunit/test.h>

/* READs that may be in flight in a test. */
#define FAKE_READS	16

static inline void fake_reads_room(struct kunit *test, struct srn_window *w)
{
	w->rd_last = kunit_kcalloc(test, FAKE_READS, sizeof(*w->rd_last), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, w->rd_last);
	w->rd_room = FAKE_READS;
}

/* Nothing is in flight, and @psn is the next; 1024 bytes in a packet. */
static inline struct srn_window *fake_window(struct kunit *test, u32 psn)
{
	struct srn_window *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, w);
	srn_window_start(w, psn, 1024);
	fake_reads_room(test, w);
	return w;
}

/* All that it takes. */
static inline void fake_fill(struct srn_window *w)
{
	while (!srn_window_is_full(w, 1))
		srn_window_sent(w, 1, true, false);
}

#endif
