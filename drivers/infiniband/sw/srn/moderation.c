// SPDX-License-Identifier: GPL-2.0-only
/* How many completions make an event, and how long they wait for each other. */
#include "moderation.h"
#include "limits.h"

#include <kunit/visibility.h>
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/time64.h>

/* Of the count there is nothing to refuse. */
static_assert(SRN_MAX_MODERATE_COUNT == U16_MAX);
static_assert(SRN_MAX_MODERATE_US * NSEC_PER_USEC <= U32_MAX);

int srn_moderation_set(struct srn_moderation *m, u16 count, u16 period_us)
{
	if (period_us > SRN_MAX_MODERATE_US)
		return -EINVAL;
	m->count = count > 1 && period_us ? count : 0;
	m->period_ns = period_us * NSEC_PER_USEC;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(srn_moderation_set);

bool srn_moderation_add(struct srn_moderation *m, u32 num, u32 most, u64 now_ns)
{
	if (!m->untold)
		m->due_ns = now_ns + m->period_ns;
	m->untold += num;
	/* The timer may be late, too. */
	if (m->untold < min(m->count, most) && now_ns < m->due_ns)
		return false;
	m->untold = 0;
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(srn_moderation_add);
