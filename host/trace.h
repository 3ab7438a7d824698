/* SPDX-License-Identifier: GPL-2.0-only */
/* Tracepoints of the initiator's path of commands. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM quarry_host

#if !defined(QHOST_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define QHOST_TRACE_H

#include <linux/tracepoint.h>
#include "host.h"

TRACE_EVENT(qhost_submit,
	TP_PROTO(const struct qhost_queue *queue, const struct qhost_slot *slot,
		 u32 bytes),
	TP_ARGS(queue, slot, bytes),
	TP_STRUCT__entry(
		__field(int, instance)
		__field(u16, qid)
		__field(u16, cid)
		__field(u8, opcode)
		__field(u32, bytes)
		__field(bool, inlined)
	),
	TP_fast_assign(
		__entry->instance = queue->ctrl->instance;
		__entry->qid = queue->qid;
		__entry->cid = slot->command_id;
		__entry->opcode = slot->cmd->common.opcode;
		__entry->bytes = bytes;
		__entry->inlined = slot->send.num_sge > 1;
	),
	TP_printk("quarry%d qid=%u cid=%#x opcode=%#x bytes=%u%s",
		  __entry->instance, __entry->qid, __entry->cid,
		  __entry->opcode, __entry->bytes,
		  __entry->inlined ? " in-capsule" : "")
);

TRACE_EVENT(qhost_complete,
	TP_PROTO(const struct qhost_queue *queue, const struct qhost_slot *slot,
		 int status),
	TP_ARGS(queue, slot, status),
	TP_STRUCT__entry(
		__field(int, instance)
		__field(u16, qid)
		__field(u16, cid)
		__field(int, status)
	),
	TP_fast_assign(
		__entry->instance = queue->ctrl->instance;
		__entry->qid = queue->qid;
		__entry->cid = slot->command_id;
		__entry->status = status;
	),
	TP_printk("quarry%d qid=%u cid=%#x status=%#x", __entry->instance,
		  __entry->qid, __entry->cid, __entry->status)
);

TRACE_EVENT(qhost_state,
	TP_PROTO(const struct qhost_ctrl *ctrl, enum qhost_state from,
		 enum qhost_state to),
	TP_ARGS(ctrl, from, to),
	TP_STRUCT__entry(
		__field(int, instance)
		__field(int, from)
		__field(int, to)
	),
	TP_fast_assign(
		__entry->instance = ctrl->instance;
		__entry->from = from;
		__entry->to = to;
	),
	TP_printk("quarry%d %s -> %s", __entry->instance,
		  qhost_state_name(__entry->from),
		  qhost_state_name(__entry->to))
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
