// SPDX-License-Identifier: GPL-2.0-only
/* Delay points of kernels for debugging, and the module's parameter that sets them. */
#include "fault.h"

#if IS_ENABLED(CONFIG_FAULT_INJECTION) || IS_ENABLED(CONFIG_PROVE_LOCKING)

#include <linux/delay.h>
#include <linux/kernel.h>
#include <linux/moduleparam.h>
#include <linux/preempt.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#define MAX_MS	1000

static const char * const names[SRN_DELAY_NUM] = {
	[SRN_DELAY_QP_ANSWERED]	= "qp_answered",
	[SRN_DELAY_AWAY]	= "away",
	[SRN_DELAY_CQ_COPIED]	= "cq_copied",
	[SRN_DELAY_SRQ_COPIED]	= "srq_copied",
	[SRN_DELAY_OWNED]	= "owned",
	[SRN_DELAY_POLLER_SLEEPS] = "poller_sleeps",
	[SRN_DELAY_POLLER_ENDS]	= "poller_ends",
};

static unsigned int delays[SRN_DELAY_NUM];	/* milliseconds */

void srn_delay(enum srn_delay point)
{
	unsigned int ms = READ_ONCE(delays[point]);

	if (likely(!ms))
		return;
	if (preemptible())
		msleep(ms);
	else
		mdelay(ms);
}

static int set(const char *val, const struct kernel_param *kp)
{
	char name[32];
	unsigned int ms;
	int point;

	if (sscanf(val, "%31[^=]=%u", name, &ms) != 2 || ms > MAX_MS)
		return -EINVAL;
	point = match_string(names, SRN_DELAY_NUM, name);
	if (point < 0)
		return -EINVAL;
	WRITE_ONCE(delays[point], ms);
	return 0;
}

static int get(char *buf, const struct kernel_param *kp)
{
	int i, len = 0;

	for (i = 0; i < SRN_DELAY_NUM; i++)
		len += sysfs_emit_at(buf, len, "%s=%u\n", names[i], delays[i]);
	return len;
}

static const struct kernel_param_ops delay_ops = {
	.set = set,
	.get = get,
};

module_param_cb(delay, &delay_ops, NULL, 0600);
MODULE_PARM_DESC(delay, "for tests: POINT=MILLISECONDS");

#endif
