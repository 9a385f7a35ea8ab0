/* SPDX-License-Identifier: GPL-2.0-only */
/* Packets that leave one behind the other. */
#ifndef SRN_TESTS_FAKE_TRAIN_H
#define SRN_TESTS_FAKE_TRAIN_H

#include "../build.h"
#include "../train.h"

#include <linux/bottom_half.h>
#include <rdma/ib_pack.h>

/* Into one train, as in one round: behind the last nothing follows. */
static inline void add_packets(struct srn_train *train, struct srn_path *path, u32 num)
{
	struct sk_buff *skb;

	local_bh_disable();
	while (num--) {
		skb = srn_build(IB_OPCODE_RC_RDMA_WRITE_MIDDLE, 0, 2, 3, 0);
		if (skb)
			srn_train_add(train, path, skb, num);
	}
	local_bh_enable();
}

#endif
