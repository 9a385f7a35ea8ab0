// SPDX-License-Identifier: GPL-2.0-only
/* The parameter "recovery". */
#include "recovery.h"

#include <linux/errno.h>
#include <linux/moduleparam.h>
#include <linux/string.h>

#include "choice.h"
#include "fate.h"

static const char * const names[SRN_RECOVERIES] = {
	[SRN_RECOVERY_GBN]	= "gbn",
	[SRN_RECOVERY_HOLD]	= "hold",
	[SRN_RECOVERY_SACK]	= "sack",
};

static struct srn_choice recovery = {
	.names = names, .num = SRN_RECOVERIES, .at = SRN_RECOVERY_HOLD,
};

enum srn_recovery srn_recovery(void)
{
	return srn_choice_at(&recovery);
}

/* SACK is not finished (Documentation/wire.rst, "Between peers that understand it"): only kernels
 * for debugging take it, those that have fates.
 */
static int set(const char *val, const struct kernel_param *kp)
{
	if (sysfs_streq(val, names[SRN_RECOVERY_SACK]) && !SRN_HAS_FATES)
		return -EOPNOTSUPP;
	return srn_choice_set(val, kp);
}

static const struct kernel_param_ops ops = {
	.set = set,
	.get = srn_choice_get,
};

module_param_cb(recovery, &ops, &recovery, 0644);
MODULE_PARM_DESC(recovery,
		 "what new RC connections do about loss: hold (default), or gbn, go back N; sack in kernels for debugging");
