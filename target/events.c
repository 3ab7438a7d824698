// SPDX-License-Identifier: GPL-2.0-only
/*
 * Asynchronous events: what a host is told without asking. Process context.
 *
 * An event is told once, and again only after the host has read the log page
 * that belongs to it (NVMe base 2.0 section 5.2), so one bit for each will do.
 */
#define pr_fmt(fmt) "quarry: " fmt

#include "internal.h"
#include "trace.h"

#define LOG_RETAIN_EVENT	BIT(15)	/* RAE, Get Log Page CDW10 */

/* Notices that a host may ask for, and critical warnings that never come. */
#define CONFIG_NVM	(NVME_SMART_CRIT_SPARE | NVME_SMART_CRIT_TEMPERATURE | \
			 NVME_SMART_CRIT_RELIABILITY | NVME_SMART_CRIT_MEDIA | \
			 NVME_SMART_CRIT_VOLATILE_MEMORY | \
			 NVME_AEN_CFG_NS_ATTR | NVME_AEN_CFG_ANA_CHANGE)
#define CONFIG_DISC	((u32)NVME_AEN_CFG_DISC_CHANGE)

static const struct {
	u8	info;
	u8	log;
	u8	config_bit;
} events[] = {
	[QTGT_EVENT_NS_CHANGED] = {
		NVME_AER_NOTICE_NS_CHANGED, NVME_LOG_CHANGED_NS,
		NVME_AEN_BIT_NS_ATTR
	},
	[QTGT_EVENT_ANA] = {
		NVME_AER_NOTICE_ANA, NVME_LOG_ANA, NVME_AEN_BIT_ANA_CHANGE
	},
	[QTGT_EVENT_DISC_CHANGED] = {
		NVME_AER_NOTICE_DISC_CHANGED, NVME_LOG_DISC,
		NVME_AEN_BIT_DISC_CHANGE
	},
};

static_assert(ARRAY_SIZE(events) == QTGT_NR_EVENTS);

/* Answer one waiting request, if there is one and something to tell. */
static bool event_send_one(struct qtgt_ctrl *ctrl)
{
	struct qtgt_req *req = NULL;
	unsigned long event;

	mutex_lock(&ctrl->lock);
	event = find_first_bit(&ctrl->events, QTGT_NR_EVENTS);
	if (event < QTGT_NR_EVENTS && ctrl->nr_aers) {
		__clear_bit(event, &ctrl->events);
		req = ctrl->aers[--ctrl->nr_aers];
	}
	mutex_unlock(&ctrl->lock);
	if (!req)
		return false;

	qtgt_set_result(req, NVME_AER_NOTICE | events[event].info << 8 |
			     events[event].log << 16);
	trace_qtgt_async_event(ctrl->cntlid, NVME_AER_NOTICE,
			       events[event].info);
	qtgt_req_complete(req, 0);
	return true;
}

static void event_work(struct work_struct *work)
{
	struct qtgt_ctrl *ctrl = container_of(work, struct qtgt_ctrl,
					      event_work);

	while (event_send_one(ctrl))
		;
}

/**
 * qtgt_events_init() - set up the events of a new controller
 * @ctrl: controller
 *
 * Context: process.
 */
void qtgt_events_init(struct qtgt_ctrl *ctrl)
{
	INIT_WORK(&ctrl->event_work, event_work);
	ctrl->aen_enabled = NVME_AEN_CFG_NS_ATTR | NVME_AEN_CFG_ANA_CHANGE;
}

/**
 * qtgt_event() - tell a host, if it wants to know and does not know already
 * @ctrl: controller
 * @event: what happened
 *
 * Context: process, may sleep.
 */
void qtgt_event(struct qtgt_ctrl *ctrl, enum qtgt_event event)
{
	mutex_lock(&ctrl->lock);
	if ((ctrl->aen_enabled & BIT(events[event].config_bit)) &&
	    !__test_and_set_bit(event, &ctrl->events_masked)) {
		__set_bit(event, &ctrl->events);
		queue_work(qtgt_wq, &ctrl->event_work);
	}
	mutex_unlock(&ctrl->lock);
}

/**
 * qtgt_event_log_read() - the host reads the log page of an event
 * @req: its Get Log Page
 * @event: event
 *
 * Context: process, ctrl->lock held.
 */
void qtgt_event_log_read(struct qtgt_req *req, enum qtgt_event event)
{
	struct qtgt_ctrl *ctrl = req->queue->ctrl;

	lockdep_assert_held(&ctrl->lock);
	if (!(le32_to_cpu(req->cmd.common.cdw10) & LOG_RETAIN_EVENT))
		__clear_bit(event, &ctrl->events_masked);
}

/**
 * qtgt_events_stop() - give back the requests that wait for an event
 * @queue: queue that goes away; only an admin queue has any
 *
 * Context: process, may sleep.
 */
void qtgt_events_stop(struct qtgt_queue *queue)
{
	struct qtgt_ctrl *ctrl;
	struct qtgt_req *req;

	/*
	 * Pairs with the cmpxchg() in install_queue(): a Connect that still
	 * runs is seen here, or the requests behind it see this.
	 */
	smp_store_mb(queue->stopping, true);
	ctrl = READ_ONCE(queue->ctrl);
	if (!ctrl || queue->qid)
		return;

	mutex_lock(&ctrl->lock);
	while (ctrl->nr_aers) {
		req = ctrl->aers[--ctrl->nr_aers];
		mutex_unlock(&ctrl->lock);
		qtgt_req_complete(req, NVME_SC_ABORT_QUEUE | NVME_STATUS_DNR);
		mutex_lock(&ctrl->lock);
	}
	mutex_unlock(&ctrl->lock);
}

static void changed_ns_add(struct qtgt_ctrl *ctrl, __le32 nsid)
{
	u32 i;

	mutex_lock(&ctrl->lock);
	if (ctrl->nr_changed_ns == U32_MAX)
		goto out_unlock;
	for (i = 0; i < ctrl->nr_changed_ns; i++)
		if (ctrl->changed_ns[i] == nsid)
			goto out_unlock;
	if (i == NVME_MAX_CHANGED_NAMESPACES) {
		/* Too many to name: the first entry says so. */
		ctrl->changed_ns[0] = cpu_to_le32(NVME_NSID_ALL);
		ctrl->nr_changed_ns = U32_MAX;
	} else {
		ctrl->changed_ns[i] = nsid;
		ctrl->nr_changed_ns++;
	}
out_unlock:
	mutex_unlock(&ctrl->lock);
}

/**
 * qtgt_ns_changed() - tell every controller of a subsystem of a namespace
 * @subsys: subsystem
 * @nsid: namespace that came, went, or looks different
 *
 * Context: process, subsys->lock held.
 */
void qtgt_ns_changed(struct qtgt_subsys *subsys, u32 nsid)
{
	struct qtgt_ctrl *ctrl;

	lockdep_assert_held(&subsys->lock);
	list_for_each_entry(ctrl, &subsys->ctrls, entry) {
		changed_ns_add(ctrl, cpu_to_le32(nsid));
		qtgt_event(ctrl, QTGT_EVENT_NS_CHANGED);
	}
}

static void exec_async_event(struct qtgt_req *req)
{
	struct qtgt_queue *queue = req->queue;
	struct qtgt_ctrl *ctrl = queue->ctrl;
	u16 status = 0;

	mutex_lock(&ctrl->lock);
	if (READ_ONCE(queue->stopping))
		status = NVME_SC_ABORT_QUEUE | NVME_STATUS_DNR;
	else if (ctrl->nr_aers == QTGT_AER_SLOTS)
		status = NVME_SC_ASYNC_LIMIT | NVME_STATUS_DNR;
	else
		ctrl->aers[ctrl->nr_aers++] = req;
	if (!status && ctrl->events)
		queue_work(qtgt_wq, &ctrl->event_work);
	mutex_unlock(&ctrl->lock);

	if (status)
		qtgt_req_complete(req, status);
}

/**
 * qtgt_parse_async_event() - parse an Asynchronous Event Request
 * @req: request
 *
 * Context: any.
 * Return: 0.
 */
u16 qtgt_parse_async_event(struct qtgt_req *req)
{
	req->execute = exec_async_event;
	return 0;
}

/**
 * qtgt_set_async_config() - choose the events that a host is told of
 * @req: Set Features request
 *
 * Context: process, may sleep.
 * Return: an NVMe status.
 */
u16 qtgt_set_async_config(struct qtgt_req *req)
{
	struct qtgt_ctrl *ctrl = req->queue->ctrl;
	u32 val = le32_to_cpu(req->cmd.common.cdw11);
	u32 mask = qtgt_is_discovery(ctrl->subsys) ? CONFIG_DISC : CONFIG_NVM;

	if (val & ~mask)
		return qtgt_bad_field(req,
				      offsetof(struct nvme_common_command, cdw11),
				      NVME_SC_INVALID_FIELD);

	mutex_lock(&ctrl->lock);
	ctrl->aen_enabled = val;
	mutex_unlock(&ctrl->lock);
	qtgt_set_result(req, val);
	return 0;
}
