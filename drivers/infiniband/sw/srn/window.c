// SPDX-License-Identifier: GPL-2.0-only
/* PSNs in flight. */
#include "window.h"

#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/minmax.h>

void srn_window_start(struct srn_window *w, u32 psn, u32 mtu)
{
	w->una = psn;
	w->end = psn;
	w->at.psn = psn;
	w->full = min_t(u32, SRN_WINDOW, SRN_WINDOW_BYTES / mtu);
}
EXPORT_SYMBOL_IF_KUNIT(srn_window_start);

void srn_window_reset(struct srn_window *w, u32 index)
{
	srn_window_seek(w, (struct srn_cursor){ .index = index, .psn = w->una });
}

bool srn_window_sent(struct srn_window *w, u32 npsn, bool asked, bool read)
{
	bool again = srn_psn_diff(w->at.psn, w->end) < 0;

	w->at.psn = srn_psn_add(w->at.psn, npsn);
	if (srn_psn_diff(w->at.psn, w->end) > 0)
		w->end = w->at.psn;
	w->unasked = asked ? 0 : w->unasked + 1;
	if (read)
		w->rd_last[w->rd_tail++ % SRN_MAX_RD_ATOMIC] = srn_psn_add(w->at.psn, -1);
	return again;
}
EXPORT_SYMBOL_IF_KUNIT(srn_window_sent);

void srn_window_seek(struct srn_window *w, struct srn_cursor to)
{
	w->at = to;
	w->unasked = 0;
	/* What is asked again is in flight when it is sent again. */
	w->rd_head = w->rd_tail;
}
EXPORT_SYMBOL_IF_KUNIT(srn_window_seek);

void srn_window_acked(struct srn_window *w, u32 psn)
{
	w->una = psn;
	while (w->rd_head != w->rd_tail &&
	       srn_psn_diff(psn, w->rd_last[w->rd_head % SRN_MAX_RD_ATOMIC]) > 0)
		w->rd_head++;
}
EXPORT_SYMBOL_IF_KUNIT(srn_window_acked);
