// SPDX-License-Identifier: GPL-2.0-only
/* For humans. */
#include "note.h"

#include <kunit/visibility.h>
#include <linux/bitfield.h>
#include <linux/export.h>
#include <linux/ktime.h>

#include "qp.h"
#include "trace.h"
#include "wire.h"

static const char * const nak_reasons[] = {
	[SRN_SYN_NAK_SEQ & SRN_SYN_VALUE]	= "sequence",
	[SRN_SYN_NAK_INV_REQ & SRN_SYN_VALUE]	= "invalid-request",
	[SRN_SYN_NAK_ACCESS & SRN_SYN_VALUE]	= "access",
	[SRN_SYN_NAK_OP & SRN_SYN_VALUE]	= "operation",
};

const char *srn_note_reason(u8 syndrome)
{
	u8 value = u8_get_bits(syndrome, SRN_SYN_VALUE);

	switch (u8_get_bits(syndrome, SRN_SYN_CLASS)) {
	case SRN_SYN_RNR:
		return "rnr";
	case SRN_SYN_NAK:
		return value < ARRAY_SIZE(nak_reasons) ? nak_reasons[value] : "reserved";
	default:
		return "reserved";
	}
}
EXPORT_SYMBOL_IF_KUNIT(srn_note_reason);

/* Who shows it has no lock: the reason may stand beside another NAK's PSN, but it was one. */
static void write_nak(struct srn_note_nak *nak, u8 syndrome, u32 psn)
{
	WRITE_ONCE(nak->syndrome, syndrome);
	WRITE_ONCE(nak->psn, psn);
	/* Pairs with the barrier in restrack.c's put_nak(): a time, hence a NAK. */
	smp_wmb();
	WRITE_ONCE(nak->at_ns, ktime_get_ns());
}

void srn_note_reset(struct srn_qp *qp)
{
	/* What is shown just now keeps its reason. */
	WRITE_ONCE(qp->notes.sent.at_ns, 0);
	WRITE_ONCE(qp->notes.rcvd.at_ns, 0);
	WRITE_ONCE(qp->notes.timeout_ns, 0);
}
EXPORT_SYMBOL_IF_KUNIT(srn_note_reset);

void srn_note_sent(struct srn_qp *qp, u8 syndrome, u32 psn)
{
	trace_srn_nak(qp, true, syndrome, psn);
	write_nak(&qp->notes.sent, syndrome, psn);
}
EXPORT_SYMBOL_IF_KUNIT(srn_note_sent);

void srn_note_rcvd(struct srn_qp *qp, u8 syndrome, u32 psn)
{
	trace_srn_nak(qp, false, syndrome, psn);
	write_nak(&qp->notes.rcvd, syndrome, psn);
}
EXPORT_SYMBOL_IF_KUNIT(srn_note_rcvd);

void srn_note_timeout(struct srn_qp *qp)
{
	trace_srn_silence(qp, false);
	WRITE_ONCE(qp->notes.timeout_ns, ktime_get_ns());
}
EXPORT_SYMBOL_IF_KUNIT(srn_note_timeout);
