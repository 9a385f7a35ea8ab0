/* SPDX-License-Identifier: GPL-2.0-only */
/* Tracepoints: what was posted, what left, what came and what became of it. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM srn

#if !defined(SRN_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define SRN_TRACE_H

#include <linux/math64.h>
#include <linux/tracepoint.h>
#include <rdma/ib_pack.h>
#include <rdma/ib_verbs.h>

#include "dcqcn.h"
#include "opcode.h"
#include "parse.h"
#include "qp.h"
#include "stats.h"
#include "verdict.h"
#include "wire.h"

/* Names instead of numbers. Trace files are read on other machines, too, by programs that
 * cannot call a function of ours: so each list is in the event's format, with the values
 * of its enums.
 */
#define SRN_WR_NAMES(X)		\
	X(RDMA_WRITE)		\
	X(RDMA_WRITE_WITH_IMM)	\
	X(SEND)			\
	X(SEND_WITH_IMM)	\
	X(SEND_WITH_INV)	\
	X(RDMA_READ)		\
	X(ATOMIC_CMP_AND_SWP)	\
	X(ATOMIC_FETCH_AND_ADD)	\
	X(ATOMIC_WRITE)		\
	X(LOCAL_INV)		\
	X(BIND_MW)		\
	X(REG_MR)

#define SRN_WC_NAMES(X)		\
	X(SEND)			\
	X(RDMA_WRITE)		\
	X(RDMA_READ)		\
	X(COMP_SWAP)		\
	X(FETCH_ADD)		\
	X(ATOMIC_WRITE)		\
	X(LOCAL_INV)		\
	X(BIND_MW)		\
	X(REG_MR)		\
	X(RECV)			\
	X(RECV_RDMA_WITH_IMM)

#define SRN_WC_STATUS_NAMES(X)	\
	X(SUCCESS)		\
	X(LOC_LEN_ERR)		\
	X(LOC_QP_OP_ERR)	\
	X(LOC_PROT_ERR)		\
	X(WR_FLUSH_ERR)		\
	X(MW_BIND_ERR)		\
	X(BAD_RESP_ERR)		\
	X(LOC_ACCESS_ERR)	\
	X(REM_INV_REQ_ERR)	\
	X(REM_ACCESS_ERR)	\
	X(REM_OP_ERR)		\
	X(RETRY_EXC_ERR)	\
	X(RNR_RETRY_EXC_ERR)	\
	X(GENERAL_ERR)

#define SRN_QP_STATE_NAMES(X)	\
	X(RESET)		\
	X(INIT)			\
	X(RTR)			\
	X(RTS)			\
	X(SQD)			\
	X(SQE)			\
	X(ERR)

#define SRN_WINDOW_NAMES(X)	\
	X(GREW, "grew")		\
	X(LOST, "gap")		\
	X(COLLAPSED, "silence")	\
	X(LATE, "late")		\
	X(CROWDED, "crowded")	\
	X(SPARED, "spared")	\
	X(SETTLED, "settled")

#define SRN_SEND_FLAG_NAMES(X)	\
	X(FENCE)		\
	X(SIGNALED)		\
	X(SOLICITED)		\
	X(INLINE)

#define SRN_DEFINE_OPCODE(op)		TRACE_DEFINE_ENUM(IB_OPCODE_##op);
#define SRN_DEFINE_WR(op)		TRACE_DEFINE_ENUM(IB_WR_##op);
#define SRN_DEFINE_WC(op)		TRACE_DEFINE_ENUM(IB_WC_##op);
#define SRN_DEFINE_QP_STATE(state)	TRACE_DEFINE_ENUM(IB_QPS_##state);
#define SRN_DEFINE_SEND_FLAG(flag)	TRACE_DEFINE_ENUM(IB_SEND_##flag);
#define SRN_DEFINE_WINDOW(why, name)	TRACE_DEFINE_ENUM(SRN_WINDOW_##why);
#define SRN_DEFINE_VERDICT(v, name)	TRACE_DEFINE_ENUM(v);
#define SRN_DEFINE_COUNTER(c, name)	TRACE_DEFINE_ENUM(SRN_CNT_##c);

SRN_OPCODE_NAMES(SRN_DEFINE_OPCODE)
SRN_WR_NAMES(SRN_DEFINE_WR)
SRN_WC_NAMES(SRN_DEFINE_WC)
SRN_WC_STATUS_NAMES(SRN_DEFINE_WC)
SRN_QP_STATE_NAMES(SRN_DEFINE_QP_STATE)
SRN_SEND_FLAG_NAMES(SRN_DEFINE_SEND_FLAG)
SRN_WINDOW_NAMES(SRN_DEFINE_WINDOW)
SRN_VERDICT_NAMES(SRN_DEFINE_VERDICT)
SRN_COUNTER_NAMES(SRN_DEFINE_COUNTER)
TRACE_DEFINE_ENUM(SRN_WINDOW_WHY_MAX);
TRACE_DEFINE_ENUM(SRN_V_MAX);
TRACE_DEFINE_ENUM(SRN_CNT_MAX);

#define SRN_OPCODE_ROW(op)		{ IB_OPCODE_##op, #op },
#define SRN_WR_ROW(op)			{ IB_WR_##op, #op },
#define SRN_WC_ROW(op)			{ IB_WC_##op, #op },
#define SRN_QP_STATE_ROW(state)		{ IB_QPS_##state, #state },
#define SRN_SEND_FLAG_ROW(flag)		{ IB_SEND_##flag, #flag },
#define SRN_WINDOW_ROW(why, name)	{ SRN_WINDOW_##why, name },
#define SRN_VERDICT_ROW(v, name)	{ v, name },
#define SRN_COUNTER_ROW(c, name)	{ SRN_CNT_##c, name },

/* A list of rows ends without a comma: hence the last ones here. */
#define show_opcode(op)	\
	__print_symbolic(op, SRN_OPCODE_NAMES(SRN_OPCODE_ROW) { SRN_OPCODE_CNP, "CNP" }, \
		{ SRN_OPCODE_SACK, "SACK" })
#define show_wr(op) \
	__print_symbolic(op, SRN_WR_NAMES(SRN_WR_ROW) { 0xff, "?" })
#define show_wc(op) \
	__print_symbolic(op, SRN_WC_NAMES(SRN_WC_ROW) { 0xff, "?" })
#define show_wc_status(status) \
	__print_symbolic(status, SRN_WC_STATUS_NAMES(SRN_WC_ROW) { 0xff, "?" })
#define show_qp_state(state) \
	__print_symbolic(state, SRN_QP_STATE_NAMES(SRN_QP_STATE_ROW) { 0xff, "?" })
#define show_window_why(why) \
	__print_symbolic(why, SRN_WINDOW_NAMES(SRN_WINDOW_ROW) { SRN_WINDOW_WHY_MAX, "?" })
#define show_verdict(v) \
	__print_symbolic(v, SRN_VERDICT_NAMES(SRN_VERDICT_ROW) { SRN_V_MAX, "?" })
#define show_counter(c) \
	__print_symbolic(c, SRN_COUNTER_NAMES(SRN_COUNTER_ROW) { SRN_CNT_MAX, "?" })
#define show_send_flags(flags) \
	__print_flags(flags, "|", SRN_SEND_FLAG_NAMES(SRN_SEND_FLAG_ROW) { 0x80, "?" })
/* Of a RNR NAK without the timer code, which is a field of its own. */
#define show_nak(reason)			\
	__print_symbolic(reason,		\
			 { SRN_SYN_RNR_NAK, "rnr" }, \
			 { SRN_SYN_NAK_SEQ, "sequence" }, \
			 { SRN_SYN_NAK_INV_REQ, "invalid-request" }, \
			 { SRN_SYN_NAK_ACCESS, "access" }, \
			 { SRN_SYN_NAK_OP, "operation" })
#define show_pkt_flags(flags)			\
	__print_flags(flags, "|",		\
		      { SRN_PKT_SE, "SE" },	\
		      { SRN_PKT_ACKREQ, "ACKREQ" }, \
		      { SRN_PKT_V6, "V6" },	\
		      { SRN_PKT_CE, "CE" },	\
		      { SRN_PKT_LENT, "LENT" },	\
		      { SRN_PKT_BARE, "BARE" },	\
		      { SRN_PKT_JOINED, "JOINED" })

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
	TP_printk("qpn %#x wr_id %#llx %s flags %s length %u status %s",
		  __entry->qpn, __entry->wr_id, show_wr(__entry->opcode),
		  show_send_flags(__entry->flags), __entry->length,
		  show_verdict(__entry->status))
);

/* A packet is complete but for its trailer; skb->data is at the BTH. */
TRACE_EVENT(srn_tx,
	TP_PROTO(const struct srn_dev *dev, const struct sk_buff *skb, unsigned int num),
	TP_ARGS(dev, skb, num),
	TP_STRUCT__entry(
		__string(dev, dev->ibdev.name)
		__field(u8, opcode)
		__field(u32, dqpn)
		__field(u32, psn)
		__field(bool, ackreq)
		__field(u32, len)
		__field(u32, num)
	),
	TP_fast_assign(
		const struct srn_bth *bth = (const void *)skb->data;

		__assign_str(dev);
		__entry->opcode = bth->opcode;
		__entry->dqpn = be32_to_cpu(bth->dqpn) & SRN_BTH_QPN;
		__entry->psn = be32_to_cpu(bth->apsn) & SRN_BTH_PSN;
		__entry->ackreq = be32_to_cpu(bth->apsn) & SRN_BTH_ACKREQ;
		__entry->len = skb->len;
		__entry->num = num;
	),
	TP_printk("%s %s dqpn %#x psn %#x%s len %u packets %u", __get_str(dev),
		  show_opcode(__entry->opcode), __entry->dqpn, __entry->psn,
		  __entry->ackreq ? " ackreq" : "", __entry->len, __entry->num)
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
		__field(u8, num)
	),
	TP_fast_assign(
		__entry->qpn = qp->ibqp.qp_num;
		__entry->num = srn_pkt_num(skb);
		__entry->opcode = srn_pkt(skb)->opcode;
		__entry->flags = srn_pkt(skb)->flags;
		__entry->psn = srn_pkt(skb)->psn;
		__entry->len = srn_pkt(skb)->len;
	),
	TP_printk("qpn %#x %s psn %#x flags %s payload %u packets %u", __entry->qpn,
		  show_opcode(__entry->opcode), __entry->psn, show_pkt_flags(__entry->flags),
		  __entry->len, __entry->num)
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
		  show_opcode(__entry->opcode), __entry->psn, __entry->expected,
		  show_verdict(__entry->verdict))
);

/* A packet that no QP takes. */
TRACE_EVENT(srn_drop,
	TP_PROTO(const struct srn_dev *dev, enum srn_counter cause),
	TP_ARGS(dev, cause),
	TP_STRUCT__entry(
		__string(dev, dev ? dev->ibdev.name : "-")
		__field(u32, cause)
	),
	TP_fast_assign(
		__assign_str(dev);
		__entry->cause = cause;
	),
	TP_printk("%s %s", __get_str(dev), show_counter(__entry->cause))
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
	TP_printk("qpn %#x wr_id %#llx %s status %s (%s) bytes %u", __entry->qpn,
		  __entry->wr_id, show_wc(__entry->opcode), show_wc_status(__entry->status),
		  show_verdict(__entry->verdict), __entry->byte_len)
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
	TP_printk("qpn %#x %s -> %s (%s)", __entry->qpn, show_qp_state(__entry->from),
		  show_qp_state(__entry->to), show_verdict(__entry->why))
);

/* A NAK or RNR NAK, to the peer or from it. */
TRACE_EVENT(srn_nak,
	TP_PROTO(const struct srn_qp *qp, bool sent, u8 syndrome, u32 psn),
	TP_ARGS(qp, sent, syndrome, psn),
	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(u32, psn)
		__field(bool, sent)
		__field(u8, reason)
		__field(u8, timer)
	),
	TP_fast_assign(
		bool rnr = u8_get_bits(syndrome, SRN_SYN_CLASS) == SRN_SYN_RNR;

		__entry->qpn = qp->ibqp.qp_num;
		__entry->psn = psn;
		__entry->sent = sent;
		__entry->reason = rnr ? SRN_SYN_RNR_NAK : syndrome;
		__entry->timer = rnr ? u8_get_bits(syndrome, SRN_SYN_VALUE) : 0;
	),
	TP_printk("qpn %#x %s %s psn %#x timer %u", __entry->qpn,
		  __entry->sent ? "sent" : "received", show_nak(__entry->reason),
		  __entry->psn, __entry->timer)
);

/* Nothing was heard: a packet is to ask, or the local ACK timeout is over. */
TRACE_EVENT(srn_silence,
	TP_PROTO(const struct srn_qp *qp, bool probe),
	TP_ARGS(qp, probe),
	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(u32, una)
		__field(u32, inflight)
		__field(u32, probes)
		__field(u8, retries)
		__field(bool, probe)
		__field(u64, waited)
	),
	TP_fast_assign(
		__entry->qpn = qp->ibqp.qp_num;
		__entry->una = qp->window.una;
		__entry->inflight = srn_window_inflight(&qp->window);
		__entry->probes = qp->retry.probes;
		__entry->retries = qp->retry.retries;
		__entry->probe = probe;
		__entry->waited = qp->retry.waited_ns;
	),
	TP_printk("qpn %#x %s una %#x in-flight %u waited %llu ns probes %u retries-left %u",
		  __entry->qpn, __entry->probe ? "probe" : "timeout", __entry->una,
		  __entry->inflight, __entry->waited, __entry->probes, __entry->retries)
);

/* More or fewer PSNs may be in flight; nothing is said where it is as many as @was. */
TRACE_EVENT_CONDITION(srn_window,
	TP_PROTO(const struct srn_qp *qp, u32 was, enum srn_window_why why),
	TP_ARGS(qp, was, why),
	TP_CONDITION(was != qp->window.cwnd),
	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(u32, was)
		__field(u32, cwnd)
		__field(u32, ssthresh)
		__field(u32, inflight)
		__field(u8, why)
	),
	TP_fast_assign(
		__entry->qpn = qp->ibqp.qp_num;
		__entry->was = was;
		__entry->cwnd = qp->window.cwnd;
		__entry->ssthresh = qp->window.ssthresh;
		__entry->inflight = srn_window_inflight(&qp->window);
		__entry->why = why;
	),
	TP_printk("qpn %#x %u -> %u (%s) threshold %u in-flight %u", __entry->qpn, __entry->was,
		  __entry->cwnd, show_window_why(__entry->why), __entry->ssthresh,
		  __entry->inflight)
);

/* Congestion limits it now to so many kb/s, on the way to others; 0: not any more. */
TRACE_EVENT(srn_rate,
	TP_PROTO(const struct srn_qp *qp),
	TP_ARGS(qp),
	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(u32, alpha)
		__field(u64, rate)
		__field(u64, target)
	),
	TP_fast_assign(
		__entry->qpn = qp->ibqp.qp_num;
		__entry->alpha = srn_dcqcn_alpha(&qp->dcqcn);
		__entry->rate = div_u64(qp->dcqcn.rate, 125);
		__entry->target = div_u64(qp->dcqcn.target, 125);
	),
	TP_printk("qpn %#x %llu kb/s of %llu alpha %u/1024", __entry->qpn, __entry->rate,
		  __entry->target, __entry->alpha)
);

/* The peer is not ready, and it is waited for. */
TRACE_EVENT(srn_rnr_wait,
	TP_PROTO(const struct srn_qp *qp, u64 ns),
	TP_ARGS(qp, ns),
	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(u32, una)
		__field(u8, retries)
		__field(u64, ns)
	),
	TP_fast_assign(
		__entry->qpn = qp->ibqp.qp_num;
		__entry->una = qp->window.una;
		__entry->retries = qp->retry.rnr_retries;
		__entry->ns = ns;
	),
	TP_printk("qpn %#x psn %#x %llu ns rnr-retries-left %u", __entry->qpn, __entry->una,
		  __entry->ns, __entry->retries)
);

/* A request came early and could not be kept. */
TRACE_EVENT(srn_hold_full,
	TP_PROTO(const struct srn_dev *dev, const struct srn_hold *hold, struct sk_buff *skb),
	TP_ARGS(dev, hold, skb),
	TP_STRUCT__entry(
		__string(dev, dev->ibdev.name)
		__field(u32, dqpn)
		__field(u32, psn)
		__field(u32, num)
		__field(u32, bytes)
	),
	TP_fast_assign(
		__assign_str(dev);
		__entry->dqpn = srn_pkt(skb)->qpn;
		__entry->psn = srn_pkt(skb)->psn;
		__entry->num = hold->num;
		__entry->bytes = hold->bytes;
	),
	TP_printk("%s dqpn %#x psn %#x held %u bytes %u", __get_str(dev), __entry->dqpn,
		  __entry->psn, __entry->num, __entry->bytes)
);

/* The host is short of memory: early requests were let go of. */
TRACE_EVENT(srn_hold_shed,
	TP_PROTO(const struct srn_qp *qp, u32 num),
	TP_ARGS(qp, num),
	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(u32, psn)
		__field(u32, num)
		__field(u32, held)
		__field(u32, bytes)
	),
	TP_fast_assign(
		__entry->qpn = qp->ibqp.qp_num;
		__entry->psn = qp->resp.msg.psn;
		__entry->num = num;
		__entry->held = qp->resp.hold.num;
		__entry->bytes = qp->resp.hold.bytes;
	),
	TP_printk("qpn %#x expected %#x shed %u held %u bytes %u", __entry->qpn, __entry->psn,
		  __entry->num, __entry->held, __entry->bytes)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
