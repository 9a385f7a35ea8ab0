/* SPDX-License-Identifier: GPL-2.0-only */
/* Tracepoints: what was posted, what left, what came and what became of it. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM srn

#if !defined(SRN_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define SRN_TRACE_H

#include <linux/tracepoint.h>

#include "opcode.h"
#include "parse.h"
#include "qp.h"
#include "wire.h"

/* A send WQE was fetched and proven (status 0) or refused. */
TRACE_EVENT(srn_post,
	TP_PROTO(const struct srn_qp *qp, const struct srn_wqe *wqe),
	TP_ARGS(qp, wqe),
	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(u64, wr_id)
		__field(u8, opcode)
		__field(u8, flags)
		__field(u8, status)
		__field(u32, length)
	),
	TP_fast_assign(
		__entry->qpn = qp->ibqp.qp_num;
		__entry->wr_id = wqe->wr_id;
		__entry->opcode = wqe->opcode;
		__entry->flags = wqe->flags;
		__entry->status = wqe->status;
		__entry->length = wqe->length;
	),
	TP_printk("qpn %#x wr_id %#llx opcode %u flags %#x length %u status %u",
		  __entry->qpn, __entry->wr_id, __entry->opcode, __entry->flags,
		  __entry->length, __entry->status)
);

/* A packet is complete but for its trailer; skb->data is at the BTH. */
TRACE_EVENT(srn_tx,
	TP_PROTO(const struct srn_dev *dev, const struct sk_buff *skb),
	TP_ARGS(dev, skb),
	TP_STRUCT__entry(
		__string(dev, dev_name(&dev->ibdev.dev))
		__field(u8, opcode)
		__field(u32, dqpn)
		__field(u32, apsn)
		__field(u32, len)
	),
	TP_fast_assign(
		const struct srn_bth *bth = (const void *)skb->data;

		__assign_str(dev);
		__entry->opcode = bth->opcode;
		__entry->dqpn = be32_to_cpu(bth->dqpn);
		__entry->apsn = be32_to_cpu(bth->apsn);
		__entry->len = skb->len;
	),
	TP_printk("%s %s dqpn %#x psn %#x%s len %u", __get_str(dev),
		  srn_opcode_name(__entry->opcode), (u32)(__entry->dqpn & SRN_BTH_QPN),
		  (u32)(__entry->apsn & SRN_BTH_PSN),
		  __entry->apsn & SRN_BTH_ACKREQ ? " ackreq" : "", __entry->len)
);

/* A packet reached its QP and is about to be processed. */
TRACE_EVENT(srn_rx,
	TP_PROTO(const struct srn_qp *qp, struct sk_buff *skb),
	TP_ARGS(qp, skb),
	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(u8, opcode)
		__field(u8, flags)
		__field(u32, psn)
		__field(u32, len)
	),
	TP_fast_assign(
		__entry->qpn = qp->ibqp.qp_num;
		__entry->opcode = srn_pkt(skb)->opcode;
		__entry->flags = srn_pkt(skb)->flags;
		__entry->psn = srn_pkt(skb)->psn;
		__entry->len = srn_pkt(skb)->len;
	),
	TP_printk("qpn %#x %s psn %#x flags %#x payload %u", __entry->qpn,
		  srn_opcode_name(__entry->opcode), __entry->psn, __entry->flags, __entry->len)
);

/* What the responder made of a request that it did not simply execute. */
TRACE_EVENT(srn_verdict,
	TP_PROTO(const struct srn_qp *qp, u8 opcode, u32 psn, enum srn_verdict verdict),
	TP_ARGS(qp, opcode, psn, verdict),
	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(u8, opcode)
		__field(u32, psn)
		__field(u32, expected)
		__field(u8, verdict)
	),
	TP_fast_assign(
		__entry->qpn = qp->ibqp.qp_num;
		__entry->opcode = opcode;
		__entry->psn = psn;
		__entry->expected = qp->resp.msg.psn;
		__entry->verdict = verdict;
	),
	TP_printk("qpn %#x %s psn %#x expected %#x verdict %s", __entry->qpn,
		  srn_opcode_name(__entry->opcode), __entry->psn, __entry->expected,
		  srn_verdict_name(__entry->verdict))
);

/* A packet reached no QP. */
TRACE_EVENT(srn_drop,
	TP_PROTO(const struct srn_dev *dev, enum srn_counter cause),
	TP_ARGS(dev, cause),
	TP_STRUCT__entry(
		__string(dev, dev ? dev_name(&dev->ibdev.dev) : "-")
		__field(u32, cause)
	),
	TP_fast_assign(
		__assign_str(dev);
		__entry->cause = cause;
	),
	TP_printk("%s cause %u", __get_str(dev), __entry->cause)
);

TRACE_EVENT(srn_complete,
	TP_PROTO(const struct srn_qp *qp, const struct srn_cqe *cqe),
	TP_ARGS(qp, cqe),
	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(u64, wr_id)
		__field(u32, opcode)
		__field(u32, status)
		__field(u32, byte_len)
		__field(u32, verdict)
	),
	TP_fast_assign(
		__entry->qpn = qp->ibqp.qp_num;
		__entry->wr_id = cqe->wr_id;
		__entry->opcode = cqe->opcode;
		__entry->status = cqe->status;
		__entry->byte_len = cqe->byte_len;
		__entry->verdict = cqe->vendor_err;
	),
	TP_printk("qpn %#x wr_id %#llx opcode %u status %u (%s) bytes %u", __entry->qpn,
		  __entry->wr_id, __entry->opcode, __entry->status,
		  srn_verdict_name(__entry->verdict), __entry->byte_len)
);

TRACE_EVENT(srn_qp_state,
	TP_PROTO(const struct srn_qp *qp, enum ib_qp_state from, enum ib_qp_state to),
	TP_ARGS(qp, from, to),
	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(u32, from)
		__field(u32, to)
		__field(u32, why)
	),
	TP_fast_assign(
		__entry->qpn = qp->ibqp.qp_num;
		__entry->from = from;
		__entry->to = to;
		__entry->why = qp->last_error;
	),
	TP_printk("qpn %#x state %u -> %u (%s)", __entry->qpn, __entry->from, __entry->to,
		  srn_verdict_name(__entry->why))
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
