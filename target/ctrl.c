// SPDX-License-Identifier: GPL-2.0-only
/*
 * Controllers: made by an admin Connect, found by an I/O Connect, kept alive,
 * and gone with their last queue. Process context except where noted.
 */
#define pr_fmt(fmt) "quarry: " fmt

#include <linux/idr.h>
#include <linux/slab.h>
#include <kunit-hooks.h>
#include "internal.h"

#define CAP_CQR		BIT_ULL(16)	/* contiguous queues, for fabrics too */
#define CAP_TIMEOUT	(15ULL << 24)	/* 500 ms units */
#define CAP_CSS_NVM	((u64)NVME_CAP_CSS_NVM << 37)
#define CAP_CSS_CSI	((u64)NVME_CAP_CSS_CSI << 37)

#define FATAL_BIT	0

static DEFINE_IDA(cntlids);

/* Where Connect says that its data, or its entry, is wrong: fabrics 1.1, 3.3 */
#define BAD_CONNECT_DATA(field) \
	cpu_to_le32(BIT(16) | offsetof(struct nvmf_connect_data, field))

static void fatal_work(struct work_struct *work)
{
	struct qtgt_ctrl *ctrl = container_of(work, struct qtgt_ctrl,
					      fatal_work);

	mutex_lock(&ctrl->lock);
	ctrl->csts |= NVME_CSTS_CFS;
	mutex_unlock(&ctrl->lock);
	qtgt_ctrl_disconnect(ctrl);
}

/**
 * qtgt_ctrl_fatal() - end a controller that cannot go on
 * @ctrl: controller
 * @why: words for the log
 *
 * Context: any; the caller holds a reference.
 */
void qtgt_ctrl_fatal(struct qtgt_ctrl *ctrl, const char *why)
{
	if (test_and_set_bit(FATAL_BIT, &ctrl->fatal))
		return;
	pr_warn_ratelimited("controller %u: ended: %s\n", ctrl->cntlid, why);
	queue_work(qtgt_wq, &ctrl->fatal_work);
}

static void ka_start(struct qtgt_ctrl *ctrl)
{
	if (ctrl->kato)
		mod_delayed_work(qtgt_wq, &ctrl->ka_work, ctrl->kato * HZ);
}

/* Any command counts as a sign of life (TBKAS in Identify Controller). */
static void ka_work(struct work_struct *work)
{
	struct qtgt_ctrl *ctrl = container_of(to_delayed_work(work),
					      struct qtgt_ctrl, ka_work);

	if (READ_ONCE(ctrl->traffic)) {
		WRITE_ONCE(ctrl->traffic, false);
		mutex_lock(&ctrl->lock);
		ka_start(ctrl);
		mutex_unlock(&ctrl->lock);
		return;
	}
	qtgt_ctrl_fatal(ctrl, "its host has not been heard of in time");
}

/**
 * qtgt_ctrl_set_kato() - change the keep-alive timeout
 * @ctrl: controller
 * @ms: timeout in milliseconds, 0 for none; rounded up to seconds
 *
 * Context: process, may sleep.
 */
void qtgt_ctrl_set_kato(struct qtgt_ctrl *ctrl, u32 ms)
{
	cancel_delayed_work_sync(&ctrl->ka_work);
	mutex_lock(&ctrl->lock);
	ctrl->kato = DIV_ROUND_UP_ULL((u64)ms, MSEC_PER_SEC);
	ka_start(ctrl);
	mutex_unlock(&ctrl->lock);
}

/**
 * qtgt_exec_keep_alive() - execute Keep Alive
 * @req: request
 *
 * Context: process, may sleep.
 */
void qtgt_exec_keep_alive(struct qtgt_req *req)
{
	struct qtgt_ctrl *ctrl = req->queue->ctrl;
	u16 status = 0;

	mutex_lock(&ctrl->lock);
	if (ctrl->kato)
		ka_start(ctrl);
	else
		status = NVME_SC_KA_TIMEOUT_INVALID;
	mutex_unlock(&ctrl->lock);
	qtgt_req_complete(req, status);
}

static void ctrl_init_cap(struct qtgt_ctrl *ctrl)
{
	ctrl->cap = CAP_CSS_NVM | CAP_CSS_CSI | CAP_TIMEOUT | CAP_CQR |
		    (ctrl->port->cfg.max_queue_size - 1);
}

static struct qtgt_ctrl *ctrl_alloc(struct qtgt_subsys *subsys,
				    struct qtgt_port *port)
{
	struct qtgt_ctrl *ctrl;

	ctrl = kzalloc(sizeof(*ctrl), GFP_KERNEL);
	if (!ctrl)
		return NULL;
	/* One more than the limit can ever be, as that may change under way. */
	ctrl->queues = kcalloc(QTGT_MAX_QUEUES + 1, sizeof(*ctrl->queues),
			       GFP_KERNEL);
	if (!ctrl->queues)
		goto err_free_ctrl;
	ctrl->changed_ns = kcalloc(NVME_MAX_CHANGED_NAMESPACES,
				   sizeof(*ctrl->changed_ns), GFP_KERNEL);
	if (!ctrl->changed_ns)
		goto err_free_queues;

	kref_init(&ctrl->ref);
	mutex_init(&ctrl->lock);
	spin_lock_init(&ctrl->error_lock);
	INIT_LIST_HEAD(&ctrl->entry);
	INIT_WORK(&ctrl->fatal_work, fatal_work);
	INIT_DELAYED_WORK(&ctrl->ka_work, ka_work);
	qtgt_events_init(ctrl);
	kref_get(&subsys->ref);
	ctrl->subsys = subsys;
	ctrl->port = qtgt_port_get(port);
	ctrl_init_cap(ctrl);
	return ctrl;

err_free_queues:
	kfree(ctrl->queues);
err_free_ctrl:
	kfree(ctrl);
	return NULL;
}

static void ctrl_free(struct kref *ref)
{
	struct qtgt_ctrl *ctrl = container_of(ref, struct qtgt_ctrl, ref);
	struct qtgt_subsys *subsys = ctrl->subsys;

	/*
	 * Unpublish; no queue is left. The works below may still run: they
	 * take no reference, so wait for them.
	 */
	mutex_lock(&subsys->lock);
	list_del_init(&ctrl->entry);
	mutex_unlock(&subsys->lock);

	cancel_delayed_work_sync(&ctrl->ka_work);
	cancel_work_sync(&ctrl->event_work);
	cancel_work_sync(&ctrl->fatal_work);
	if (ctrl->cntlid)
		ida_free(&cntlids, ctrl->cntlid);
	qtgt_port_put(ctrl->port);
	mutex_destroy(&ctrl->lock);
	kfree(ctrl->changed_ns);
	kfree(ctrl->queues);
	kfree(ctrl);
	qtgt_subsys_put(subsys);
}

/**
 * qtgt_ctrl_put() - drop a reference
 * @ctrl: controller
 *
 * Context: process, may sleep; no mutex of the target held.
 */
void qtgt_ctrl_put(struct qtgt_ctrl *ctrl)
{
	kref_put(&ctrl->ref, ctrl_free);
}

/* Publish: from here on the controller can be found and sent away. */
static u16 ctrl_publish(struct qtgt_ctrl *ctrl)
{
	struct qtgt_subsys *subsys = ctrl->subsys;
	int id;

	lockdep_assert_held(&qtgt_config_sem);
	id = ida_alloc_range(&cntlids, subsys->cntlid_min, subsys->cntlid_max,
			     GFP_KERNEL);
	if (id == -ENOSPC) {
		pr_warn_ratelimited("subsystem %s: all controller IDs are taken\n",
				    subsys->nqn);
		return NVME_SC_CONNECT_CTRL_BUSY | NVME_STATUS_DNR;
	}
	if (id < 0)
		return NVME_SC_INTERNAL;
	ctrl->cntlid = id;

	mutex_lock(&subsys->lock);
	ctrl->max_qid = subsys->qid_max;
	list_add_tail(&ctrl->entry, &subsys->ctrls);
	mutex_unlock(&subsys->lock);
	return 0;
}

static u16 ctrl_create_locked(struct qtgt_req *req, struct qtgt_subsys *subsys,
			      const struct nvmf_connect_data *d, u32 kato_ms,
			      struct qtgt_ctrl **ctrlp)
{
	struct qtgt_ctrl *ctrl;
	u16 status;

	lockdep_assert_held(&qtgt_config_sem);
	if (!qtgt_host_allowed(subsys, d->hostnqn)) {
		pr_warn_ratelimited("subsystem %s: host %s is not allowed\n",
				    subsys->nqn, d->hostnqn);
		req->cqe->result.u32 = BAD_CONNECT_DATA(hostnqn);
		return qtgt_bad_field(req,
				      offsetof(struct nvme_common_command, dptr),
				      NVME_SC_CONNECT_INVALID_HOST);
	}

	ctrl = ctrl_alloc(subsys, req->queue->port);
	if (!ctrl)
		return NVME_SC_INTERNAL;
	uuid_copy(&ctrl->hostid, &d->hostid);
	strscpy(ctrl->hostnqn, d->hostnqn);

	status = ctrl_publish(ctrl);
	if (status) {
		qtgt_ctrl_put(ctrl);
		return status;
	}
	/* A discovery host that is gone would stay for ever without one. */
	if (qtgt_is_discovery(subsys) && !kato_ms)
		kato_ms = QTGT_DISC_KATO_MS;
	qtgt_ctrl_set_kato(ctrl, kato_ms);
	*ctrlp = ctrl;
	return 0;
}

/**
 * qtgt_ctrl_create() - make the controller that an admin Connect asks for
 * @req: the Connect
 * @d: its data, names terminated
 * @kato_ms: keep-alive timeout in milliseconds, 0 for none
 * @ctrlp: where to put the controller, of which the caller holds a reference
 *
 * Context: process, may sleep.
 * Return: an NVMe status.
 */
u16 qtgt_ctrl_create(struct qtgt_req *req, const struct nvmf_connect_data *d,
		     u32 kato_ms, struct qtgt_ctrl **ctrlp)
{
	struct qtgt_subsys *subsys;
	u16 status;

	/* Held throughout: see its declaration. */
	down_read(&qtgt_config_sem);
	subsys = qtgt_port_find_subsys(req->queue->port, d->subsysnqn);
	if (subsys) {
		status = ctrl_create_locked(req, subsys, d, kato_ms, ctrlp);
	} else {
		pr_warn_ratelimited("port %u: a host asks for subsystem %s, which is not here\n",
				    req->queue->port->cfg.portid, d->subsysnqn);
		req->cqe->result.u32 = BAD_CONNECT_DATA(subsysnqn);
		status = qtgt_bad_field(req,
					offsetof(struct nvme_common_command, dptr),
					NVME_SC_CONNECT_INVALID_PARAM);
	}
	up_read(&qtgt_config_sem);
	if (subsys)
		qtgt_subsys_put(subsys);
	return status;
}

/**
 * qtgt_ctrl_find() - find the controller that an I/O Connect names
 * @req: the Connect
 * @d: its data, names terminated
 *
 * Context: process, may sleep.
 * Return: the controller, of which the caller holds a reference, or NULL with
 * the result set for an invalid parameter.
 */
struct qtgt_ctrl *qtgt_ctrl_find(struct qtgt_req *req,
				 const struct nvmf_connect_data *d)
{
	struct qtgt_ctrl *ctrl, *found = NULL;
	struct qtgt_subsys *subsys;

	down_read(&qtgt_config_sem);
	subsys = qtgt_port_find_subsys(req->queue->port, d->subsysnqn);
	up_read(&qtgt_config_sem);
	if (!subsys) {
		req->cqe->result.u32 = BAD_CONNECT_DATA(subsysnqn);
		return NULL;
	}

	mutex_lock(&subsys->lock);
	list_for_each_entry(ctrl, &subsys->ctrls, entry) {
		if (ctrl->cntlid != le16_to_cpu(d->cntlid))
			continue;
		if (ctrl->port == req->queue->port &&
		    !strcmp(ctrl->hostnqn, d->hostnqn) &&
		    kref_get_unless_zero(&ctrl->ref))
			found = ctrl;
		break;
	}
	mutex_unlock(&subsys->lock);

	if (!found) {
		pr_warn_ratelimited("subsystem %s: host %s asks for controller %u, which is not its own\n",
				    subsys->nqn, d->hostnqn,
				    le16_to_cpu(d->cntlid));
		req->cqe->result.u32 = BAD_CONNECT_DATA(cntlid);
	}
	qtgt_subsys_put(subsys);
	return found;
}

/**
 * qtgt_ctrl_disconnect() - tell all queues of a controller to go
 * @ctrl: controller; no further queue can join it
 *
 * Context: process, may sleep.
 */
void qtgt_ctrl_disconnect(struct qtgt_ctrl *ctrl)
{
	unsigned int i;

	mutex_lock(&ctrl->lock);
	ctrl->dying = true;
	for (i = 0; i <= QTGT_MAX_QUEUES; i++)
		if (ctrl->queues[i])
			ctrl->queues[i]->ops->disconnect(ctrl->queues[i]);
	mutex_unlock(&ctrl->lock);
}

/**
 * qtgt_subsys_disconnect() - tell the controllers of a subsystem to go
 * @subsys: subsystem
 * @port: only those on this port, NULL for all
 *
 * Context: process, may sleep.
 */
void qtgt_subsys_disconnect(struct qtgt_subsys *subsys,
			    const struct qtgt_port *port)
{
	struct qtgt_ctrl *ctrl;

	mutex_lock(&subsys->lock);
	list_for_each_entry(ctrl, &subsys->ctrls, entry)
		if (!port || ctrl->port == port)
			qtgt_ctrl_disconnect(ctrl);
	mutex_unlock(&subsys->lock);
}

static u32 cc_field(u32 cc, unsigned int shift, u32 mask)
{
	return (cc >> shift) & mask;
}

/* May a controller be enabled so? NVMe base 2.0 section 3.1.3.5. */
VISIBLE_IF_KUNIT bool qtgt_cc_valid(const struct qtgt_ctrl *ctrl, u32 cc)
{
	u32 css = cc & NVME_CC_CSS_MASK;

	/* Discovery hosts leave the entry sizes at zero. */
	if (!qtgt_is_discovery(ctrl->subsys) &&
	    (cc_field(cc, NVME_CC_IOSQES_SHIFT, 0xf) != NVME_NVM_IOSQES ||
	     cc_field(cc, NVME_CC_IOCQES_SHIFT, 0xf) != NVME_NVM_IOCQES))
		return false;
	return !cc_field(cc, NVME_CC_MPS_SHIFT, 0xf) &&
	       !cc_field(cc, NVME_CC_AMS_SHIFT, 0x7) &&
	       (css == NVME_CC_CSS_NVM || css == NVME_CC_CSS_CSI);
}

static void ctrl_enable(struct qtgt_ctrl *ctrl)
{
	lockdep_assert_held(&ctrl->lock);
	if (!qtgt_cc_valid(ctrl, ctrl->cc)) {
		pr_warn_ratelimited("controller %u: cannot be enabled with CC %#x\n",
				    ctrl->cntlid, ctrl->cc);
		WRITE_ONCE(ctrl->csts, NVME_CSTS_CFS);
		return;
	}
	WRITE_ONCE(ctrl->csts, NVME_CSTS_RDY);
	ka_start(ctrl);
}

static void ctrl_disable(struct qtgt_ctrl *ctrl)
{
	lockdep_assert_held(&ctrl->lock);
	WRITE_ONCE(ctrl->csts, ctrl->csts & ~NVME_CSTS_RDY);
	WRITE_ONCE(ctrl->cc, 0);
}

/**
 * qtgt_ctrl_set_cc() - write the CC property
 * @ctrl: controller
 * @cc: value
 *
 * Context: process, may sleep.
 */
void qtgt_ctrl_set_cc(struct qtgt_ctrl *ctrl, u32 cc)
{
	u32 old;

	mutex_lock(&ctrl->lock);
	old = ctrl->cc;
	WRITE_ONCE(ctrl->cc, cc);
	if ((cc & NVME_CC_ENABLE) && !(old & NVME_CC_ENABLE))
		ctrl_enable(ctrl);
	if (!(cc & NVME_CC_ENABLE) && (old & NVME_CC_ENABLE))
		ctrl_disable(ctrl);
	/* Nothing runs any more until the host has reset it: 3.6.1. */
	if ((cc & NVME_CC_SHN_MASK) && !(old & NVME_CC_SHN_MASK))
		WRITE_ONCE(ctrl->csts, (ctrl->csts & ~NVME_CSTS_RDY) |
				       NVME_CSTS_SHST_CMPLT);
	if (!(cc & NVME_CC_SHN_MASK) && (old & NVME_CC_SHN_MASK))
		WRITE_ONCE(ctrl->csts, ctrl->csts & ~NVME_CSTS_SHST_MASK);
	mutex_unlock(&ctrl->lock);
}

/**
 * qtgt_ctrl_ready() - may a controller take other commands than fabrics ones?
 * @req: request
 *
 * Context: any.
 * Return: 0, or an NVMe status.
 */
u16 qtgt_ctrl_ready(struct qtgt_req *req)
{
	struct qtgt_ctrl *ctrl = req->queue->ctrl;

	if (likely((READ_ONCE(ctrl->csts) & NVME_CSTS_RDY) &&
		   (READ_ONCE(ctrl->cc) & NVME_CC_ENABLE)))
		return 0;
	pr_warn_ratelimited("controller %u: got command %#x while it is not enabled\n",
			    ctrl->cntlid, req->cmd.common.opcode);
	return NVME_SC_CMD_SEQ_ERROR | NVME_STATUS_DNR;
}
