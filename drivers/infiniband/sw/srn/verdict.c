// SPDX-License-Identifier: GPL-2.0-only
/* What a failed check leads to. Sources: IBTA vol. 1,
 * 9.7.5.2.8 (NAK codes), 9.9.2 and 9.9.3 (error behaviour of requester and
 * responder), 11.6.2 (completion statuses).
 */
#include "verdict.h"
#include "wire.h"

#include <kunit/visibility.h>
#include <linux/export.h>
#include <rdma/ib_verbs.h>

const struct srn_verdict_row srn_verdicts[SRN_V_MAX] = {
	[SRN_OK] = {},

	/* A UC or UD send queue can be restarted after these, hence SQ_ERROR. */
	[SRN_V_LOC_LEN] = {
		.wc = IB_WC_LOC_LEN_ERR,
		.effect = SRN_EFF_SQ_ERROR,
	},
	[SRN_V_LOC_PROT] = {
		.wc = IB_WC_LOC_PROT_ERR,
		.effect = SRN_EFF_SQ_ERROR,
	},
	[SRN_V_LOC_QP_OP] = {
		.wc = IB_WC_LOC_QP_OP_ERR,
		.effect = SRN_EFF_SQ_ERROR,
	},
	[SRN_V_MW_BIND] = {
		.wc = IB_WC_MW_BIND_ERR,
		.effect = SRN_EFF_SQ_ERROR,
	},

	/* Class B: the requester is told, comes again, and nothing is lost. */
	[SRN_V_SEQ] = {
		.nak = SRN_SYN_NAK_SEQ,
	},
	[SRN_V_DUP] = {},
	[SRN_V_RNR] = {
		.nak = SRN_SYN_RNR_NAK,
	},

	[SRN_V_LATER] = {},

	/* Classes A and C: the request is refused for good and the QP stops. */
	[SRN_V_INV_REQ] = {
		.nak = SRN_SYN_NAK_INV_REQ,
		.wc = IB_WC_REM_INV_REQ_ERR,
		.effect = SRN_EFF_ERROR,
		.event = IB_EVENT_QP_REQ_ERR,
	},
	[SRN_V_REM_ACCESS] = {
		.nak = SRN_SYN_NAK_ACCESS,
		.wc = IB_WC_LOC_ACCESS_ERR,
		.effect = SRN_EFF_ERROR,
		.event = IB_EVENT_QP_ACCESS_ERR,
	},
	[SRN_V_REM_OP] = {
		.nak = SRN_SYN_NAK_OP,
		.wc = IB_WC_LOC_QP_OP_ERR,
		.effect = SRN_EFF_ERROR,
		.event = IB_EVENT_QP_FATAL,
		.own_fault = true,
	},
	[SRN_V_RESP_LEN] = {
		.nak = SRN_SYN_NAK_INV_REQ,
		.wc = IB_WC_LOC_LEN_ERR,
		.effect = SRN_EFF_ERROR,
		.event = IB_EVENT_QP_FATAL,
	},
	[SRN_V_RESP_PROT] = {
		.nak = SRN_SYN_NAK_OP,
		.wc = IB_WC_LOC_PROT_ERR,
		.effect = SRN_EFF_ERROR,
		.event = IB_EVENT_QP_FATAL,
		.own_fault = true,
	},

	[SRN_V_NAK_INV_REQ] = {
		.wc = IB_WC_REM_INV_REQ_ERR,
		.effect = SRN_EFF_ERROR,
	},
	[SRN_V_NAK_ACCESS] = {
		.wc = IB_WC_REM_ACCESS_ERR,
		.effect = SRN_EFF_ERROR,
	},
	[SRN_V_NAK_OP] = {
		.wc = IB_WC_REM_OP_ERR,
		.effect = SRN_EFF_ERROR,
	},
	[SRN_V_RETRY_EXC] = {
		.wc = IB_WC_RETRY_EXC_ERR,
		.effect = SRN_EFF_ERROR,
	},
	[SRN_V_RNR_EXC] = {
		.wc = IB_WC_RNR_RETRY_EXC_ERR,
		.effect = SRN_EFF_ERROR,
	},
	[SRN_V_BAD_RESP] = {
		.wc = IB_WC_BAD_RESP_ERR,
		.effect = SRN_EFF_ERROR,
	},
	/* The effect came before: a WR is flushed because the QP has stopped. */
	[SRN_V_FLUSH] = {
		.wc = IB_WC_WR_FLUSH_ERR,
	},

	[SRN_V_DROP] = {},
	[SRN_V_AGAIN] = {},
	[SRN_V_EACH] = {},
};
EXPORT_SYMBOL_IF_KUNIT(srn_verdicts);

#define NAME(v, name)	[v] = name,

static const char *const names[SRN_V_MAX] = {
	SRN_VERDICT_NAMES(NAME)
};

const char *srn_verdict_name(enum srn_verdict v)
{
	return names[v];
}
EXPORT_SYMBOL_IF_KUNIT(srn_verdict_name);
