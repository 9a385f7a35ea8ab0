/* SPDX-License-Identifier: GPL-2.0-only */
/* What went wrong last on a connection, and when: for humans, in `rdma resource show` and in
 * traces. Nothing is decided by it.
 */
#ifndef SRN_NOTE_H
#define SRN_NOTE_H

#include <linux/types.h>

struct srn_qp;

struct srn_note_nak {
	u64 at_ns;		/* ktime; 0: none since RESET, and the others say nothing */
	u32 psn;
	u8 syndrome;
};

/* Written by note.c only; owner of the turn. Read by anybody. */
struct srn_notes {
	struct srn_note_nak sent;
	struct srn_note_nak rcvd;
	u64 timeout_ns;		/* ktime of the last local ACK timeout; 0: none */
};

/** srn_note_reset() - as in RESET: nothing happened */
void srn_note_reset(struct srn_qp *qp);

/** srn_note_sent() - a NAK, or RNR NAK, leaves */
void srn_note_sent(struct srn_qp *qp, u8 syndrome, u32 psn);

/** srn_note_rcvd() - the peer sent one, of what is in flight */
void srn_note_rcvd(struct srn_qp *qp, u8 syndrome, u32 psn);

/** srn_note_timeout() - nothing was heard for the local ACK timeout */
void srn_note_timeout(struct srn_qp *qp);

/** srn_note_reason() - what a NAK's @syndrome says: "rnr", "sequence" ... */
const char *srn_note_reason(u8 syndrome);

#endif
