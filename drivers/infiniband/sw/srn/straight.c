// SPDX-License-Identifier: GPL-2.0-only
/* Answers to READs of who is on this host: two QPs, of which one owner has both turns. */
#include "straight.h"

#include <kunit/visibility.h>
#include <linux/export.h>
#include <net/net_namespace.h>

#include "device.h"
#include "path.h"
#include "psn.h"
#include "qp.h"
#include "qpn.h"
#include "response.h"
#include "turn.h"

/* As demux would see what @qp sends, but for the device that it is for: what is for another one is not
 * taken when it says that the bytes are there. And as the completer, whether it is taken.
 */
static bool is_peer(const struct srn_qp *peer, const struct srn_qp *qp)
{
	return (peer->state == IB_QPS_RTS || peer->state == IB_QPS_SQD) &&
	       peer->dest_qpn == qp->who.qpn && peer->mtu == qp->mtu &&
	       srn_path_meets(&peer->path, &qp->path);
}

/* In two namespaces there may be the same addresses. Without the turn: who does not talk to @qp is not
 * to be moved by it, on its way to the NAPI.
 */
static bool may_be_peer(const struct srn_qp *peer, const struct srn_qp *qp)
{
	return peer->svc == qp->svc && READ_ONCE(peer->dest_qpn) == qp->who.qpn &&
	       net_eq(peer->dev->net, qp->dev->net);
}

/* Nothing is on its way that would be placed behind it: two READs may have the same place. */
static bool has_all(const struct srn_qp *peer, const struct srn_qp *qp)
{
	return srn_psn_diff(peer->window.una, qp->resp.carried_psn) >= 0;
}

/* Who is busy gets it by the stack: who waited here, with a turn of his own, might be waited for. */
static bool place(struct srn_qp *peer, struct srn_qp *qp, u32 psn, u32 num, const struct srn_mem *mem,
		  u64 va, u32 len)
{
	bool placed, listed;

	if (!may_be_peer(peer, qp) || !srn_turn_borrow(&peer->turn, &listed))
		return false;
	placed = is_peer(peer, qp) && has_all(peer, qp) &&
		 srn_response_place_mem(peer, psn, num, mem, va, len);
	/* Never so far behind that it seems to be ahead. */
	if (placed)
		qp->resp.carried_psn = peer->window.una;
	srn_turn_return(&peer->turn, listed);
	return placed;
}

bool srn_straight_place(struct srn_qp *qp, u32 psn, u32 num, const struct srn_mem *mem, u64 va, u32 len)
{
	struct srn_qp_ref *ref = srn_qpn_get(qp->dest_qpn);
	bool placed;

	if (!ref)
		return false;
	placed = place(ref->qp, qp, psn, num, mem, va, len);
	srn_qp_ref_put(ref);
	return placed;
}
EXPORT_SYMBOL_IF_KUNIT(srn_straight_place);
