// SPDX-License-Identifier: GPL-2.0-only
/* Credits, and the parameter "credits". */
#include "credit.h"

#include <kunit/visibility.h>
#include <linux/compiler.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/moduleparam.h>

#define CODE_MOST	30
#define CODE_NONE	31

static bool wanted;

module_param_named(credits, wanted, bool, 0644);
MODULE_PARM_DESC(credits, "new RC connections begin no SEND for which their peer has no receive (default N)");

bool srn_credit_wanted(void)
{
	return READ_ONCE(wanted);
}

/* The table has each power of two, and half as much again. */
u8 srn_credit_code(u32 receives)
{
	u32 power;

	if (receives < 2)
		return receives;
	power = ilog2(receives);
	return min(2 * power + (receives >= 3u << (power - 1)), CODE_MOST);
}
EXPORT_SYMBOL_IF_KUNIT(srn_credit_code);

u32 srn_credit_count(u8 code)
{
	if (code < 2)
		return code;
	return code & 1 ? 3u << (code / 2 - 1) : 1u << code / 2;
}
EXPORT_SYMBOL_IF_KUNIT(srn_credit_count);

void srn_credit_start(struct srn_credit *c, bool on)
{
	*c = (struct srn_credit){ .on = on };
}
EXPORT_SYMBOL_IF_KUNIT(srn_credit_start);

void srn_credit_begin(struct srn_credit *c, u32 psn)
{
	c->ssn = srn_psn_add(c->ssn, 1);
	c->limited = srn_psn_diff(c->ssn, c->lsn) > 0;
	c->first_psn = psn;
}
EXPORT_SYMBOL_IF_KUNIT(srn_credit_begin);

/* The peer did not count them when it told of its credits, and they leave what is left of these. */
void srn_credit_pass(struct srn_credit *c, u32 num)
{
	c->ssn = srn_psn_add(c->ssn, num);
	c->lsn = srn_psn_add(c->lsn, num);
	c->limited = false;
}
EXPORT_SYMBOL_IF_KUNIT(srn_credit_pass);

void srn_credit_heard(struct srn_credit *c, u8 code, u32 msn, u32 una)
{
	u32 lsn;

	if (code == CODE_NONE) {
		srn_credit_start(c, false);
		return;
	}
	/* An older ACK says less. */
	lsn = srn_psn_add(msn, srn_credit_count(code));
	if (srn_psn_diff(lsn, c->lsn) > 0)
		c->lsn = lsn;
	if (srn_psn_diff(c->ssn, c->lsn) <= 0 || srn_psn_diff(una, c->first_psn) > 0)
		c->limited = false;
}
EXPORT_SYMBOL_IF_KUNIT(srn_credit_heard);
