// SPDX-License-Identifier: GPL-2.0-only
/* Options to what is known of a peer. */
#include "ece.h"

#include <kunit/visibility.h>
#include <linux/export.h>
#include <rdma/srn-abi.h>

#include "cc.h"
#include "hello.h"
#include "qp.h"
#include "recovery.h"

u8 srn_ece_offer(const struct srn_qp *qp)
{
	if (!qp->svc->reliable || srn_recovery() != SRN_RECOVERY_SACK)
		return 0;
	return SRN_ECE_SACK | SRN_ECE_PARTS | (srn_cc() != SRN_CC_OFF ? SRN_ECE_TELLS : 0);
}
EXPORT_SYMBOL_IF_KUNIT(srn_ece_offer);

u8 srn_ece_both(const struct srn_qp *qp, u32 options, u32 peer)
{
	u8 both = qp->ece & options & SRN_ECE_FLAGS;

	return options >> SRN_ECE_QPN_SHIFT == peer && both & SRN_ECE_SACK ? both : 0;
}
EXPORT_SYMBOL_IF_KUNIT(srn_ece_both);

void srn_ece_begin(struct srn_qp *qp, u8 both)
{
	qp->recovery = qp->svc->reliable ? srn_recovery() : SRN_RECOVERY_GBN;
	qp->cc = srn_cc();
	if (both & SRN_ECE_SACK)
		qp->recovery = SRN_RECOVERY_SACK;
	if (both & SRN_ECE_TELLS && qp->cc == SRN_CC_OFF)
		qp->cc = SRN_CC_DCQCN;
}
EXPORT_SYMBOL_IF_KUNIT(srn_ece_begin);

void srn_ece_meet(struct srn_qp *qp, u8 both)
{
	if (both & SRN_ECE_SACK)
		srn_hello_introduce(qp, both & SRN_ECE_TELLS, both & SRN_ECE_PARTS);
}
EXPORT_SYMBOL_IF_KUNIT(srn_ece_meet);
