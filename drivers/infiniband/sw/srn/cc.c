// SPDX-License-Identifier: GPL-2.0-only
/* The parameter "cc", and the defaults of the others. */
#include "cc.h"

#include <kunit/visibility.h>
#include <linux/compiler.h>
#include <linux/export.h>
#include <linux/moduleparam.h>

#include "choice.h"

static const char * const names[SRN_CCS] = {
	[SRN_CC_OFF]	= "off",
	[SRN_CC_DCQCN]	= "dcqcn",
	[SRN_CC_ALWAYS]	= "always",
};

static struct srn_choice cc = { .names = names, .num = SRN_CCS, .at = SRN_CC_DCQCN };

enum srn_cc srn_cc(void)
{
	return srn_choice_at(&cc);
}

module_param_cb(cc, &srn_choice_ops, &cc, 0644);
MODULE_PARM_DESC(cc,
		 "how new connections react to congestion: dcqcn (default; ECT towards peers known to notify), always (all are ECT), off");

#define DEFAULT(field, least, most, value)	.field = (value),

const struct srn_cc_params srn_cc_defaults = {
	SRN_CC_PARAMS(DEFAULT)
};
EXPORT_SYMBOL_IF_KUNIT(srn_cc_defaults);
