/* SPDX-License-Identifier: GPL-2.0-only */
/* Tracepoints of the target: a command comes, its response goes, an event. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM quarry_target

#if !defined(QTGT_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define QTGT_TRACE_H

#include <linux/tracepoint.h>
#include "internal.h"

TRACE_EVENT(qtgt_req_init,
	TP_PROTO(struct qtgt_req *req),
	TP_ARGS(req),
	TP_STRUCT__entry(
		__field(u16, cntlid)
		__field(u16, qid)
		__field(u16, cid)
		__field(u8, opcode)
		__field(u8, fctype)
		__field(u32, nsid)
		__field(u32, len)
		__array(u32, cdw, 6)
	),
	TP_fast_assign(
		__entry->cntlid = req->queue->ctrl ?
				  req->queue->ctrl->cntlid : 0;
		__entry->qid = req->queue->qid;
		__entry->cid = req->cmd.common.command_id;
		__entry->opcode = req->cmd.common.opcode;
		__entry->fctype = req->cmd.fabrics.fctype;
		__entry->nsid = le32_to_cpu(req->cmd.common.nsid);
		__entry->len = req->sgl.len;
		memcpy(__entry->cdw, &req->cmd.common.cdws,
		       sizeof(__entry->cdw));
	),
	TP_printk("ctrl=%u qid=%u cid=%u opcode=%#x fctype=%#x nsid=%u len=%u cdw10=%s",
		  __entry->cntlid, __entry->qid, __entry->cid, __entry->opcode,
		  __entry->fctype, __entry->nsid, __entry->len,
		  __print_array(__entry->cdw, 6, 4))
);

TRACE_EVENT(qtgt_req_complete,
	TP_PROTO(struct qtgt_req *req),
	TP_ARGS(req),
	TP_STRUCT__entry(
		__field(u16, cntlid)
		__field(u16, qid)
		__field(u16, cid)
		__field(u16, status)
		__field(u64, result)
	),
	TP_fast_assign(
		__entry->cntlid = req->queue->ctrl ?
				  req->queue->ctrl->cntlid : 0;
		__entry->qid = req->queue->qid;
		__entry->cid = req->cmd.common.command_id;
		__entry->status = le16_to_cpu(req->cqe->status) >> 1;
		__entry->result = le64_to_cpu(req->cqe->result.u64);
	),
	TP_printk("ctrl=%u qid=%u cid=%u status=%#x result=%#llx",
		  __entry->cntlid, __entry->qid, __entry->cid, __entry->status,
		  __entry->result)
);

TRACE_EVENT(qtgt_async_event,
	TP_PROTO(u16 cntlid, u8 type, u8 info),
	TP_ARGS(cntlid, type, info),
	TP_STRUCT__entry(
		__field(u16, cntlid)
		__field(u8, type)
		__field(u8, info)
	),
	TP_fast_assign(
		__entry->cntlid = cntlid;
		__entry->type = type;
		__entry->info = info;
	),
	TP_printk("ctrl=%u type=%#x info=%#x", __entry->cntlid, __entry->type,
		  __entry->info)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace

#include <trace/define_trace.h>
