// SPDX-License-Identifier: GPL-2.0-only
/* Runs, and what the next gap says of the last one. */
#include "resend.h"

#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/minmax.h>

/* A peer that does not keep what comes early costs a round trip for each doubling; from here
 * on it is cheaper to send all again, and to try the next gaps in the same way.
 */
#define RUN_MAX		16
#define PATIENCE	32

void srn_resend_start(struct srn_resend *r)
{
	*r = (struct srn_resend){ .run = 1 };
}
EXPORT_SYMBOL_IF_KUNIT(srn_resend_start);

void srn_resend_stop(struct srn_resend *r)
{
	r->left = 0;
	r->judging = false;
	r->ask = false;
	r->asked = false;
	r->probe = false;
}
EXPORT_SYMBOL_IF_KUNIT(srn_resend_stop);

/* A gap right behind the run: the peer dropped what had followed it. Or both were lost; then the
 * next run is longer than it need be. A gap further on: it kept that.
 */
static void judge(struct srn_resend *r, u32 psn)
{
	s32 beyond = srn_psn_diff(psn, r->end);

	if (!r->judging)
		return;
	r->judging = false;
	if (beyond > 0)
		r->run = 1;
	else if (!beyond)
		r->run *= 2;
	if (r->run <= RUN_MAX)
		return;
	r->run = 1;
	r->patience = PATIENCE;
}

bool srn_resend_gap_again(struct srn_resend *r, u32 psn, u32 inflight)
{
	if (r->patience)
		return false;
	r->psn = psn;
	r->left = min(r->run, inflight);
	r->end = srn_psn_add(psn, r->left);
	r->flight = srn_psn_add(psn, inflight);
	r->judging = true;
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(srn_resend_gap_again);

bool srn_resend_gap(struct srn_resend *r, u32 psn, u32 inflight)
{
	judge(r, psn);
	if (srn_resend_gap_again(r, psn, inflight))
		return true;
	r->patience--;
	return false;
}
EXPORT_SYMBOL_IF_KUNIT(srn_resend_gap);

void srn_resend_jumped(struct srn_resend *r)
{
	r->run = 1;
	r->patience = 0;
}
EXPORT_SYMBOL_IF_KUNIT(srn_resend_jumped);

void srn_resend_acked(struct srn_resend *r, u32 una)
{
	s32 acked = srn_psn_diff(una, r->psn);

	if (r->left && acked > 0) {
		r->left -= min_t(u32, r->left, acked);
		r->psn = una;
	}
	if (r->judging && srn_psn_diff(una, r->end) > 0) {
		r->judging = false;
		r->run = 1;
	}
	if (r->ask && srn_psn_diff(una, r->ask_psn) > 0)
		r->ask = false;
	if (r->asked && srn_psn_diff(una, r->asked_end) >= 0)
		r->asked = false;
}
EXPORT_SYMBOL_IF_KUNIT(srn_resend_acked);

static bool was_asked(const struct srn_resend *r, u32 psn)
{
	return r->asked && srn_psn_diff(psn, r->asked_psn) >= 0 &&
	       srn_psn_diff(psn, r->asked_end) < 0;
}

bool srn_resend_ask(struct srn_resend *r, u32 psn)
{
	if (r->ask || was_asked(r, psn))
		return false;
	r->ask = true;
	r->ask_psn = psn;
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(srn_resend_ask);

void srn_resend_sent(struct srn_resend *r, u32 npsn)
{
	r->psn = srn_psn_add(r->psn, npsn);
	r->left--;
	/* A READ stands for many: what follows its answer was not sent again. */
	if (srn_psn_diff(r->psn, r->end) > 0)
		r->end = r->psn;
}
EXPORT_SYMBOL_IF_KUNIT(srn_resend_sent);

void srn_resend_asked(struct srn_resend *r, u32 psn, u32 end)
{
	r->ask = false;
	r->asked = true;
	r->asked_psn = psn;
	r->asked_end = end;
}
EXPORT_SYMBOL_IF_KUNIT(srn_resend_asked);
