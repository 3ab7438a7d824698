/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints of the device: each packet that leaves and that comes, each
 * completion, a queue pair's change of state, and where a requester starts
 * over.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM quarry_rdma

#if !defined(QRDMA_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define QRDMA_TRACE_H

#include <linux/tracepoint.h>
#include <rdma/ib_cm.h>
#include <rdma/rdma_cm.h>
#include <trace/misc/rdma.h> /* needs the two above */
#include "path.h"

#define QRDMA_OPCODES \
	opcode_name(RC_SEND_FIRST) \
	opcode_name(RC_SEND_MIDDLE) \
	opcode_name(RC_SEND_LAST) \
	opcode_name(RC_SEND_LAST_WITH_IMMEDIATE) \
	opcode_name(RC_SEND_ONLY) \
	opcode_name(RC_SEND_ONLY_WITH_IMMEDIATE) \
	opcode_name(RC_SEND_LAST_WITH_INVALIDATE) \
	opcode_name(RC_SEND_ONLY_WITH_INVALIDATE) \
	opcode_name(RC_RDMA_WRITE_FIRST) \
	opcode_name(RC_RDMA_WRITE_MIDDLE) \
	opcode_name(RC_RDMA_WRITE_LAST) \
	opcode_name(RC_RDMA_WRITE_LAST_WITH_IMMEDIATE) \
	opcode_name(RC_RDMA_WRITE_ONLY) \
	opcode_name(RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE) \
	opcode_name(RC_RDMA_READ_REQUEST) \
	opcode_name(RC_RDMA_READ_RESPONSE_FIRST) \
	opcode_name(RC_RDMA_READ_RESPONSE_MIDDLE) \
	opcode_name(RC_RDMA_READ_RESPONSE_LAST) \
	opcode_name(RC_RDMA_READ_RESPONSE_ONLY) \
	opcode_name(RC_ACKNOWLEDGE) \
	opcode_name(RC_ATOMIC_ACKNOWLEDGE) \
	opcode_name(RC_COMPARE_SWAP) \
	opcode_name(RC_FETCH_ADD) \
	opcode_name(RC_FLUSH) \
	opcode_name(RC_ATOMIC_WRITE) \
	opcode_name(UC_SEND_FIRST) \
	opcode_name(UC_SEND_MIDDLE) \
	opcode_name(UC_SEND_LAST) \
	opcode_name(UC_SEND_LAST_WITH_IMMEDIATE) \
	opcode_name(UC_SEND_ONLY) \
	opcode_name(UC_SEND_ONLY_WITH_IMMEDIATE) \
	opcode_name(UC_RDMA_WRITE_FIRST) \
	opcode_name(UC_RDMA_WRITE_MIDDLE) \
	opcode_name(UC_RDMA_WRITE_LAST) \
	opcode_name(UC_RDMA_WRITE_LAST_WITH_IMMEDIATE) \
	opcode_name(UC_RDMA_WRITE_ONLY) \
	opcode_name(UC_RDMA_WRITE_ONLY_WITH_IMMEDIATE) \
	opcode_name(UD_SEND_ONLY) \
	opcode_name_end(UD_SEND_ONLY_WITH_IMMEDIATE)

#define QRDMA_STATES \
	state_name(RESET) \
	state_name(INIT) \
	state_name(RTR) \
	state_name(RTS) \
	state_name(SQD) \
	state_name(SQE) \
	state_name_end(ERR)

#define QRDMA_REWINDS \
	why_name(ANSWER_LOST) \
	why_name(NAK) \
	why_name(RNR) \
	why_name(TIMEOUT) \
	why_name_end(REPAIR)

#undef opcode_name
#undef opcode_name_end
#undef state_name
#undef state_name_end
#undef why_name
#undef why_name_end

#define opcode_name(x)		TRACE_DEFINE_ENUM(IB_OPCODE_##x);
#define opcode_name_end(x)	TRACE_DEFINE_ENUM(IB_OPCODE_##x);
#define state_name(x)		TRACE_DEFINE_ENUM(IB_QPS_##x);
#define state_name_end(x)	TRACE_DEFINE_ENUM(IB_QPS_##x);
#define why_name(x)		TRACE_DEFINE_ENUM(QRDMA_REWIND_##x);
#define why_name_end(x)	TRACE_DEFINE_ENUM(QRDMA_REWIND_##x);

QRDMA_OPCODES
QRDMA_STATES
QRDMA_REWINDS

#undef opcode_name
#undef opcode_name_end
#undef state_name
#undef state_name_end
#undef why_name
#undef why_name_end

#define opcode_name(x)		{ IB_OPCODE_##x, #x },
#define opcode_name_end(x)	{ IB_OPCODE_##x, #x }
#define state_name(x)		{ IB_QPS_##x, #x },
#define state_name_end(x)	{ IB_QPS_##x, #x }
#define why_name(x)		{ QRDMA_REWIND_##x, #x },
#define why_name_end(x)	{ QRDMA_REWIND_##x, #x }

DECLARE_EVENT_CLASS(qrdma_packet,
	TP_PROTO(const struct qrdma_qp *qp, const struct qrdma_bth *bth,
		 u32 len),
	TP_ARGS(qp, bth, len),
	TP_STRUCT__entry(
		__array(char, dev, IB_DEVICE_NAME_MAX)
		__field(u32, qpn)
		__field(u32, dqpn)
		__field(u32, psn)
		__field(u32, len)
		__field(u8, opcode)
		__field(bool, ack_req)
		__field(bool, solicited)
	),
	TP_fast_assign(
		strscpy(__entry->dev, dev_name(&qp->dev->ibdev.dev),
			IB_DEVICE_NAME_MAX);
		__entry->qpn = qp->ibqp.qp_num;
		__entry->dqpn = qrdma_bth_qpn(bth);
		__entry->psn = qrdma_bth_psn(bth);
		__entry->len = len;
		__entry->opcode = bth->opcode;
		__entry->ack_req = bth->apsn & cpu_to_be32(QRDMA_BTH_ACK_REQ);
		__entry->solicited = bth->flags & QRDMA_BTH_SE;
	),
	TP_printk("dev=%s qp=%u to=%u %s psn=%u len=%u%s%s", __entry->dev,
		  __entry->qpn, __entry->dqpn,
		  __print_symbolic(__entry->opcode, QRDMA_OPCODES),
		  __entry->psn, __entry->len,
		  __entry->ack_req ? " ack-req" : "",
		  __entry->solicited ? " solicited" : "")
);

/* @len: bytes from the BTH on, without pad and ICRC. */
DEFINE_EVENT(qrdma_packet, qrdma_tx,
	TP_PROTO(const struct qrdma_qp *qp, const struct qrdma_bth *bth,
		 u32 len),
	TP_ARGS(qp, bth, len)
);

DEFINE_EVENT(qrdma_packet, qrdma_rx,
	TP_PROTO(const struct qrdma_qp *qp, const struct qrdma_bth *bth,
		 u32 len),
	TP_ARGS(qp, bth, len)
);

TRACE_EVENT(qrdma_complete,
	TP_PROTO(const struct qrdma_qp *qp, const struct ib_wc *wc, bool send),
	TP_ARGS(qp, wc, send),
	TP_STRUCT__entry(
		__array(char, dev, IB_DEVICE_NAME_MAX)
		__field(u32, qpn)
		__field(u64, wr_id)
		__field(u32, status)
		__field(u32, opcode)
		__field(u32, len)
		__field(bool, send)
	),
	TP_fast_assign(
		strscpy(__entry->dev, dev_name(&qp->dev->ibdev.dev),
			IB_DEVICE_NAME_MAX);
		__entry->qpn = qp->ibqp.qp_num;
		__entry->wr_id = wc->wr_id;
		__entry->status = wc->status;
		__entry->opcode = wc->opcode;
		__entry->len = wc->byte_len;
		__entry->send = send;
	),
	TP_printk("dev=%s qp=%u %s wr_id=%#llx opcode=%u len=%u %s",
		  __entry->dev, __entry->qpn,
		  __entry->send ? "send" : "receive", __entry->wr_id,
		  __entry->opcode, __entry->len,
		  rdma_show_wc_status(__entry->status))
);

TRACE_EVENT(qrdma_state,
	TP_PROTO(const struct qrdma_qp *qp, u8 from, u8 to),
	TP_ARGS(qp, from, to),
	TP_STRUCT__entry(
		__array(char, dev, IB_DEVICE_NAME_MAX)
		__field(u32, qpn)
		__field(u8, from)
		__field(u8, to)
	),
	TP_fast_assign(
		strscpy(__entry->dev, dev_name(&qp->dev->ibdev.dev),
			IB_DEVICE_NAME_MAX);
		__entry->qpn = qp->ibqp.qp_num;
		__entry->from = from;
		__entry->to = to;
	),
	TP_printk("dev=%s qp=%u %s to %s", __entry->dev, __entry->qpn,
		  __print_symbolic(__entry->from, QRDMA_STATES),
		  __print_symbolic(__entry->to, QRDMA_STATES))
);

TRACE_EVENT(qrdma_rewind,
	TP_PROTO(const struct qrdma_qp *qp, u8 why),
	TP_ARGS(qp, why),
	TP_STRUCT__entry(
		__array(char, dev, IB_DEVICE_NAME_MAX)
		__field(u32, qpn)
		__field(u32, una)
		__field(u32, max_psn)
		__field(u8, why)
		__field(u8, retries)
	),
	TP_fast_assign(
		strscpy(__entry->dev, dev_name(&qp->dev->ibdev.dev),
			IB_DEVICE_NAME_MAX);
		__entry->qpn = qp->ibqp.qp_num;
		__entry->una = qp->sq.una;
		__entry->max_psn = qp->sq.max_psn;
		__entry->why = why;
		__entry->retries = qp->sq.retries_left;
	),
	TP_printk("dev=%s qp=%u %s from psn=%u up to %u, retries=%u",
		  __entry->dev, __entry->qpn,
		  __print_symbolic(__entry->why, QRDMA_REWINDS),
		  __entry->una, __entry->max_psn, __entry->retries)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace

#include <trace/define_trace.h>
