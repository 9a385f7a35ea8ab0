// SPDX-License-Identifier: GPL-2.0-only
/* The parameter "recovery". */
#include "recovery.h"

#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/moduleparam.h>
#include <linux/string.h>
#include <linux/sysfs.h>

static const char * const names[SRN_RECOVERIES] = {
	[SRN_RECOVERY_GBN]	= "gbn",
	[SRN_RECOVERY_HOLD]	= "hold",
};

static int recovery = SRN_RECOVERY_HOLD;

enum srn_recovery srn_recovery(void)
{
	return READ_ONCE(recovery);
}

static int set(const char *val, const struct kernel_param *kp)
{
	int i = __sysfs_match_string(names, ARRAY_SIZE(names), val);

	if (i < 0)
		return i;
	WRITE_ONCE(recovery, i);
	return 0;
}

static int get(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%s\n", names[srn_recovery()]);
}

static const struct kernel_param_ops ops = {
	.set = set,
	.get = get,
};

module_param_cb(recovery, &ops, NULL, 0644);
MODULE_PARM_DESC(recovery,
		 "what new RC connections do about loss: hold (default) or gbn, go back N");
