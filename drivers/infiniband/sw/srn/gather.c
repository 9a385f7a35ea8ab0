// SPDX-License-Identifier: GPL-2.0-only
/* When to gather posts. */
#include "gather.h"

#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/minmax.h>
#include <linux/moduleparam.h>

#include "limits.h"

bool srn_gather_enabled = true;
EXPORT_SYMBOL_IF_KUNIT(srn_gather_enabled);
module_param_named(gather, srn_gather_enabled, bool, 0644);
MODULE_PARM_DESC(gather, "put off doorbells of programs that stream, for up to 50 us (default: yes)");

bool srn_gather_begin(struct srn_gather *g, u32 from, u32 tail)
{
	/* Nothing to leave, or nothing to wait for. */
	if (g->on || tail == from || tail - from >= SRN_ROUND_BUDGET)
		return false;
	if (g->pause) {
		g->pause--;
		return false;
	}
	g->on = true;
	g->late = false;
	g->from = tail;
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(srn_gather_begin);

void srn_gather_end(struct srn_gather *g, u32 to)
{
	if (!g->on)
		return;
	g->on = false;
	if (!g->late && (s32)(to - g->from) >= SRN_GATHER_WORTH) {
		g->next_pause = 0;
		return;
	}
	/* It posts one by one for each completion, or waits for something else than these. */
	g->pause = g->next_pause ?: SRN_GATHER_PAUSE;
	g->next_pause = min(2 * g->pause, SRN_GATHER_PAUSE_MAX);
}
EXPORT_SYMBOL_IF_KUNIT(srn_gather_end);
