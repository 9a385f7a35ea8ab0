// SPDX-License-Identifier: GPL-2.0-only
/* The parameter "recovery". */
#include "recovery.h"

#include <linux/moduleparam.h>

#include "choice.h"

static const char * const names[SRN_RECOVERIES] = {
	[SRN_RECOVERY_GBN]	= "gbn",
	[SRN_RECOVERY_HOLD]	= "hold",
	[SRN_RECOVERY_SACK]	= "sack",
};

static struct srn_choice recovery = {
	.names = names, .num = SRN_RECOVERIES, .at = SRN_RECOVERY_SACK,
};

enum srn_recovery srn_recovery(void)
{
	return srn_choice_at(&recovery);
}

module_param_cb(recovery, &srn_choice_ops, &recovery, 0644);
MODULE_PARM_DESC(recovery,
		 "what new RC connections do about loss: sack (default), hold, or gbn, go back N");
