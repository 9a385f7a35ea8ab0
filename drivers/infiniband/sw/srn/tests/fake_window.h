/* SPDX-License-Identifier: GPL-2.0-only */
/* Windows that no QP has sized. */
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

#endif
