// SPDX-License-Identifier: GPL-2.0-only
/* From a name to its number, and back. */
#include "choice.h"

#include <linux/string.h>
#include <linux/sysfs.h>

static int choice_set(const char *val, const struct kernel_param *kp)
{
	struct srn_choice *choice = kp->arg;
	int i = __sysfs_match_string(choice->names, choice->num, val);

	if (i < 0)
		return i;
	WRITE_ONCE(choice->at, i);
	return 0;
}

static int choice_get(char *buf, const struct kernel_param *kp)
{
	const struct srn_choice *choice = kp->arg;

	return sysfs_emit(buf, "%s\n", choice->names[srn_choice_at(choice)]);
}

const struct kernel_param_ops srn_choice_ops = {
	.set = choice_set,
	.get = choice_get,
};
