// SPDX-License-Identifier: GPL-2.0-only
/* When to gather posts. */
#include "gather.h"

#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/minmax.h>
#include <linux/moduleparam.h>

bool srn_gather_enabled = true;
EXPORT_SYMBOL_IF_KUNIT(srn_gather_enabled);
module_param_named(gather, srn_gather_enabled, bool, 0644);
MODULE_PARM_DESC(gather, "put off doorbells of programs that stream, for up to 100 us (default: yes)");

bool srn_gather_begin(struct srn_gather *g, u32 from, u32 tail, u32 psns)
{
	u32 num = tail - from;

	/* Nothing to leave, or nothing to wait for. */
	if (g->on || !num || num >= SRN_ROUND_BUDGET || (u64)psns * num >= SRN_GATHER_PSNS)
		return false;
	g->on = true;
	g->late = false;
	g->grew = false;
	g->from = tail;
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(srn_gather_begin);

static bool is_worth(const struct srn_gather *g, u32 to)
{
	return (s32)(to - g->from) >= SRN_GATHER_WORTH;
}

bool srn_gather_look(struct srn_gather *g, u32 tail)
{
	g->late = !is_worth(g, tail);
	if (g->late || g->grew)
		return false;
	g->grew = true;
	g->from = tail;
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(srn_gather_look);

void srn_gather_end(struct srn_gather *g, u32 to, u16 now)
{
	if (!g->on)
		return;
	g->rang = now;
	g->on = false;
	g->pays = !g->late && (g->grew || is_worth(g, to));
	if (g->pays) {
		g->next_pause = 0;
		return;
	}
	/* It posts one by one for each completion, or waits for something else than these. */
	g->pause = g->next_pause ?: SRN_GATHER_PAUSE;
	g->next_pause = min(2 * g->pause, SRN_GATHER_PAUSE_MAX);
}
EXPORT_SYMBOL_IF_KUNIT(srn_gather_end);
