/* SPDX-License-Identifier: GPL-2.0-only */
/* Parameters of the module that are one of a few names. */
#ifndef SRN_CHOICE_H
#define SRN_CHOICE_H

#include <linux/compiler.h>
#include <linux/moduleparam.h>

struct srn_choice {
	const char * const *names;
	int num;	/* of names */
	int at;		/* the one that holds; any context */
};

static inline int srn_choice_at(const struct srn_choice *choice)
{
	return READ_ONCE(choice->at);
}

/* For module_param_cb(), with the struct srn_choice as its argument. -EINVAL for what is none of the
 * names.
 */
extern const struct kernel_param_ops srn_choice_ops;

#endif
