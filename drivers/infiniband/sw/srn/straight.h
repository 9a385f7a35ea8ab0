/* SPDX-License-Identifier: GPL-2.0-only */
/* Straight: what a READ is answered with goes from the region to its place at once, where both are on this
 * host. So it is copied once, when it is answered, as by an adapter that has the memory of both: nothing of it
 * is on its way any more, and nobody has to be asked whether it may still be read. What crosses the stack
 * says that it is there (a run without payload).
 */
#ifndef SRN_STRAIGHT_H
#define SRN_STRAIGHT_H

#include <linux/types.h>

struct srn_mem;
struct srn_qp;

/**
 * srn_straight_place() - the bytes of the @num packets from @psn on, which answer a READ of @qp's peer
 * @mem: of @qp, proven for @len bytes from @va on
 *
 * Owner of @qp's turn, BH disabled; waits for nobody. Return: false if the bytes have to be sent: the peer is
 * not here, or busy, or did not ask for them.
 */
bool srn_straight_place(struct srn_qp *qp, u32 psn, u32 num, const struct srn_mem *mem, u64 va, u32 len);

#endif
