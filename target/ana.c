// SPDX-License-Identifier: GPL-2.0-only
/*
 * Asymmetric namespace access: each port has a state for each group of
 * namespaces. Process context, but for the check of a command.
 */
#define pr_fmt(fmt) "quarry: " fmt

#include <linux/slab.h>
#include "internal.h"

/*
 * Protects the two below and the states of all ports; commands read the
 * states without it.
 */
static DEFINE_MUTEX(ana_lock);
/* Namespaces and folders in configfs that use a group; group 1 always is. */
static unsigned int group_users[QTGT_MAX_ANAGRPS + 1] = {
	[QTGT_DEFAULT_ANAGRP] = 1,
};

static u64 change_count;

/**
 * qtgt_ana_ns_add() - a namespace joins a group
 * @grpid: group
 *
 * Context: process, may sleep.
 */
void qtgt_ana_ns_add(u32 grpid)
{
	mutex_lock(&ana_lock);
	group_users[grpid]++;
	change_count++;
	mutex_unlock(&ana_lock);
}

/**
 * qtgt_ana_ns_del() - the reverse of qtgt_ana_ns_add()
 * @grpid: group
 *
 * Context: process, may sleep.
 */
void qtgt_ana_ns_del(u32 grpid)
{
	mutex_lock(&ana_lock);
	group_users[grpid]--;
	change_count++;
	mutex_unlock(&ana_lock);
}

/* Tell the hosts on a port that a state has changed. */
static void ana_tell(struct qtgt_port *port)
{
	struct qtgt_port_link *link;
	struct qtgt_ctrl *ctrl;

	down_read(&qtgt_config_sem);
	list_for_each_entry(link, &port->subsystems, entry) {
		mutex_lock(&link->subsys->lock);
		list_for_each_entry(ctrl, &link->subsys->ctrls, entry)
			if (ctrl->port == port)
				qtgt_event(ctrl, QTGT_EVENT_ANA);
		mutex_unlock(&link->subsys->lock);
	}
	up_read(&qtgt_config_sem);
}

int qtgt_port_ana_add(struct qtgt_port *port, u32 grpid)
{
	if (grpid <= QTGT_DEFAULT_ANAGRP || grpid > QTGT_MAX_ANAGRPS) {
		pr_err_ratelimited("port %u: an ANA group to add must be %d to %d\n",
				   port->cfg.portid, QTGT_DEFAULT_ANAGRP + 1,
				   QTGT_MAX_ANAGRPS);
		return -EINVAL;
	}
	qtgt_ana_ns_add(grpid);
	ana_tell(port);
	return 0;
}

void qtgt_port_ana_del(struct qtgt_port *port, u32 grpid)
{
	mutex_lock(&ana_lock);
	WRITE_ONCE(port->ana_state[grpid], NVME_ANA_INACCESSIBLE);
	group_users[grpid]--;
	change_count++;
	mutex_unlock(&ana_lock);
	ana_tell(port);
}

enum nvme_ana_state qtgt_port_ana_get(struct qtgt_port *port, u32 grpid)
{
	return READ_ONCE(port->ana_state[grpid]);
}

void qtgt_port_ana_set(struct qtgt_port *port, u32 grpid,
		       enum nvme_ana_state state)
{
	mutex_lock(&ana_lock);
	WRITE_ONCE(port->ana_state[grpid], state);
	change_count++;
	mutex_unlock(&ana_lock);
	ana_tell(port);
}

/**
 * qtgt_ana_check() - may a command use its namespace on this port?
 * @req: request with its namespace found
 *
 * Context: any.
 * Return: 0, or the NVMe status that names the state.
 */
u16 qtgt_ana_check(struct qtgt_req *req)
{
	struct qtgt_port *port = req->queue->port;
	u8 state = READ_ONCE(port->ana_state[READ_ONCE(req->ns->anagrpid)]);

	if (likely(state == NVME_ANA_OPTIMIZED ||
		   state == NVME_ANA_NONOPTIMIZED))
		return 0;

	req->error_loc = offsetof(struct nvme_common_command, nsid);
	switch (state) {
	case NVME_ANA_INACCESSIBLE:
		return NVME_SC_ANA_INACCESSIBLE;
	case NVME_ANA_PERSISTENT_LOSS:
		return NVME_SC_ANA_PERSISTENT_LOSS;
	default:
		return NVME_SC_ANA_TRANSITION;
	}
}

static size_t fill_group(struct qtgt_req *req, u32 grpid,
			 struct nvme_ana_group_desc *desc)
{
	struct qtgt_subsys *subsys = req->queue->ctrl->subsys;
	unsigned long nsid;
	struct qtgt_ns *ns;
	u32 n = 0;

	lockdep_assert_held(&ana_lock);
	if (!(req->cmd.get_log_page.lsp & NVME_ANA_LOG_RGO)) {
		rcu_read_lock();
		xa_for_each_marked(&subsys->namespaces, nsid, ns,
				   QTGT_NS_ENABLED)
			if (READ_ONCE(ns->anagrpid) == grpid &&
			    n < QTGT_MAX_NAMESPACES)
				desc->nsids[n++] = cpu_to_le32(nsid);
		rcu_read_unlock();
	}
	desc->grpid = cpu_to_le32(grpid);
	desc->nnsids = cpu_to_le32(n);
	desc->chgcnt = cpu_to_le64(change_count);
	desc->state = req->queue->port->ana_state[grpid];
	return struct_size(desc, nsids, n);
}

static size_t fill_log(struct qtgt_req *req, void *log)
{
	struct nvme_ana_rsp_hdr *hdr = log;
	size_t len = sizeof(*hdr);
	u16 groups = 0;
	u32 grpid;

	mutex_lock(&ana_lock);
	for (grpid = 1; grpid <= QTGT_MAX_ANAGRPS; grpid++) {
		if (!group_users[grpid])
			continue;
		len += fill_group(req, grpid, log + len);
		groups++;
	}
	hdr->chgcnt = cpu_to_le64(change_count);
	hdr->ngrps = cpu_to_le16(groups);
	mutex_unlock(&ana_lock);
	return len;
}

/**
 * qtgt_exec_log_ana() - execute Get Log Page for the ANA log
 * @req: request
 *
 * Context: process, may sleep.
 */
void qtgt_exec_log_ana(struct qtgt_req *req)
{
	struct qtgt_ctrl *ctrl = req->queue->ctrl;
	size_t max = sizeof(struct nvme_ana_rsp_hdr) +
		     QTGT_MAX_ANAGRPS * (sizeof(struct nvme_ana_group_desc) +
					 QTGT_MAX_NAMESPACES * sizeof(__le32));
	void *log;
	u16 status;

	/* Each namespace could be listed twice while it moves. */
	log = kvzalloc(max, GFP_KERNEL);
	if (!log) {
		qtgt_req_complete(req, NVME_SC_INTERNAL);
		return;
	}

	mutex_lock(&ctrl->lock);
	qtgt_event_log_read(req, QTGT_EVENT_ANA);
	mutex_unlock(&ctrl->lock);
	status = qtgt_log_copy(req, log, fill_log(req, log));
	kvfree(log);
	qtgt_req_complete(req, status);
}
