/* SPDX-License-Identifier: GPL-2.0-only */
/* Whether who pays for a train gets all of it back when the stack has cut it. */
#ifndef SRN_CUT_H
#define SRN_CUT_H

#include <linux/netdev_features.h>
#include <linux/types.h>

struct sk_buff;

/** srn_cut_init() - find it out; process context, when the module is loaded */
void srn_cut_init(void);

/* If not, who pays sends packet by packet. Set once. */
extern bool srn_cut_is_paid;

/** srn_cut_keeps() - whether @cut leaves a train's head all that was paid; may sleep */
bool srn_cut_keeps(struct sk_buff *(*cut)(struct sk_buff *, netdev_features_t, unsigned int));

#endif
