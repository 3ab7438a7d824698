// SPDX-License-Identifier: GPL-2.0-only
/*
 * The discovery service: a subsystem on every port that says what else there
 * is. Process context.
 */
#define pr_fmt(fmt) "quarry: " fmt

#include <linux/slab.h>
#include "internal.h"

static_assert(sizeof(struct nvmf_disc_rsp_page_hdr) == 1024);
static_assert(sizeof(struct nvmf_disc_rsp_page_entry) == 1024);

struct qtgt_subsys *qtgt_disc_subsys;

static u64 generation;	/* under qtgt_config_sem */

int qtgt_discovery_init(void)
{
	qtgt_disc_subsys = qtgt_subsys_alloc(NVME_DISC_SUBSYS_NAME,
					     NVME_NQN_CURR);
	return PTR_ERR_OR_ZERO(qtgt_disc_subsys);
}

void qtgt_discovery_exit(void)
{
	qtgt_subsys_put(qtgt_disc_subsys);
}

ssize_t qtgt_discovery_get_nqn(char *buf, size_t len)
{
	ssize_t n;

	down_read(&qtgt_config_sem);
	n = scnprintf(buf, len, "%s", qtgt_disc_subsys->nqn);
	up_read(&qtgt_config_sem);
	return n;
}

int qtgt_discovery_set_nqn(const char *nqn)
{
	char *copy;

	copy = kstrdup(nqn, GFP_KERNEL);
	if (!copy)
		return -ENOMEM;
	down_write(&qtgt_config_sem);
	swap(qtgt_disc_subsys->nqn, copy);
	up_write(&qtgt_config_sem);
	kfree(copy);
	return 0;
}

/**
 * qtgt_disc_port_changed() - tell discovery hosts that a port has changed
 * @port: port
 * @subsys: only hosts that may use this subsystem, NULL for all
 *
 * Context: qtgt_config_sem held for writing.
 */
void qtgt_disc_port_changed(struct qtgt_port *port, struct qtgt_subsys *subsys)
{
	struct qtgt_ctrl *ctrl;

	lockdep_assert_held_write(&qtgt_config_sem);
	generation++;
	mutex_lock(&qtgt_disc_subsys->lock);
	list_for_each_entry(ctrl, &qtgt_disc_subsys->ctrls, entry)
		if (ctrl->port == port &&
		    (!subsys || qtgt_host_allowed(subsys, ctrl->hostnqn)))
			qtgt_event(ctrl, QTGT_EVENT_DISC_CHANGED);
	mutex_unlock(&qtgt_disc_subsys->lock);
}

static bool port_offers(struct qtgt_port *port, struct qtgt_subsys *subsys)
{
	struct qtgt_port_link *link;

	list_for_each_entry(link, &port->subsystems, entry)
		if (link->subsys == subsys)
			return true;
	return false;
}

/**
 * qtgt_disc_subsys_changed() - tell discovery hosts who may use a subsystem
 * @subsys: subsystem
 * @host: the host it is about, NULL for all
 *
 * Context: qtgt_config_sem held for writing.
 */
void qtgt_disc_subsys_changed(struct qtgt_subsys *subsys,
			      struct qtgt_host *host)
{
	struct qtgt_ctrl *ctrl;

	lockdep_assert_held_write(&qtgt_config_sem);
	generation++;
	mutex_lock(&qtgt_disc_subsys->lock);
	list_for_each_entry(ctrl, &qtgt_disc_subsys->ctrls, entry)
		if (port_offers(ctrl->port, subsys) &&
		    (!host || !strcmp(host->nqn, ctrl->hostnqn)))
			qtgt_event(ctrl, QTGT_EVENT_DISC_CHANGED);
	mutex_unlock(&qtgt_disc_subsys->lock);
}

static void fill_entry(struct nvmf_disc_rsp_page_entry *e,
		       const struct qtgt_port_config *cfg, const char *traddr,
		       const char *nqn, u8 subtype)
{
	e->trtype = cfg->trtype;
	e->adrfam = cfg->adrfam;
	e->subtype = subtype;
	e->treq = cfg->treq;
	e->portid = cpu_to_le16(cfg->portid);
	e->cntlid = cpu_to_le16(NVME_CNTLID_DYNAMIC);
	e->asqsz = cpu_to_le16(NVME_AQ_DEPTH);
	strscpy(e->trsvcid, cfg->trsvcid);
	strscpy(e->traddr, traddr);
	strscpy(e->subnqn, nqn);
	if (cfg->trtype == NVMF_TRTYPE_RDMA) {
		e->tsas.rdma.qptype = cfg->qptype;
		e->tsas.rdma.prtype = NVMF_RDMA_PRTYPE_NOT_SPECIFIED;
		e->tsas.rdma.cms = NVMF_RDMA_CMS_RDMA_CM;
	}
}

static size_t log_entries(struct qtgt_port *port)
{
	size_t n = 1;	/* this service itself */

	lockdep_assert_held(&qtgt_config_sem);
	return n + list_count_nodes(&port->subsystems) +
	       list_count_nodes(&port->referrals);
}

/* What the host of @req may see; the caller frees it. */
static struct nvmf_disc_rsp_page_hdr *build_log(struct qtgt_req *req,
						size_t *len)
{
	struct qtgt_port *port = req->queue->port;
	struct nvmf_disc_rsp_page_hdr *hdr;
	char traddr[NVMF_TRADDR_SIZE];
	struct qtgt_port_link *link;
	struct qtgt_port *ref;
	u64 n = 0;

	lockdep_assert_held(&qtgt_config_sem);
	hdr = kvzalloc(struct_size(hdr, entries, log_entries(port)),
		       GFP_KERNEL);
	if (!hdr)
		return NULL;

	req->queue->ops->disc_traddr(req->queue, traddr, sizeof(traddr));
	fill_entry(&hdr->entries[n++], &port->cfg, traddr,
		   qtgt_disc_subsys->nqn, NVME_NQN_CURR);
	list_for_each_entry(link, &port->subsystems, entry)
		if (qtgt_host_allowed(link->subsys, req->queue->ctrl->hostnqn))
			fill_entry(&hdr->entries[n++], &port->cfg, traddr,
				   link->subsys->nqn, NVME_NQN_NVME);
	list_for_each_entry(ref, &port->referrals, referral_entry)
		fill_entry(&hdr->entries[n++], &ref->cfg, ref->cfg.traddr,
			   NVME_DISC_SUBSYS_NAME, NVME_NQN_DISC);

	hdr->genctr = cpu_to_le64(generation);
	hdr->numrec = cpu_to_le64(n);
	*len = struct_size(hdr, entries, n);
	return hdr;
}

static void exec_log(struct qtgt_req *req)
{
	struct qtgt_ctrl *ctrl = req->queue->ctrl;
	struct nvmf_disc_rsp_page_hdr *hdr;
	size_t len = 0;
	u16 status;

	if (req->cmd.get_log_page.lid != NVME_LOG_DISC) {
		status = qtgt_bad_field(req,
					offsetof(struct nvme_get_log_page_command, lid),
					NVME_SC_INVALID_FIELD);
		qtgt_req_complete(req, status);
		return;
	}

	down_read(&qtgt_config_sem);
	hdr = build_log(req, &len);
	if (hdr) {
		mutex_lock(&ctrl->lock);
		qtgt_event_log_read(req, QTGT_EVENT_DISC_CHANGED);
		mutex_unlock(&ctrl->lock);
	}
	up_read(&qtgt_config_sem);

	status = hdr ? qtgt_log_copy(req, hdr, len) : NVME_SC_INTERNAL;
	kvfree(hdr);
	qtgt_req_complete(req, status);
}

/* Identify: a discovery controller has no namespaces. */
static void exec_identify(struct qtgt_req *req)
{
	struct nvme_id_ctrl *id;
	u16 status;

	if (req->cmd.identify.cns != NVME_ID_CNS_CTRL) {
		status = qtgt_bad_field(req, offsetof(struct nvme_identify, cns),
					NVME_SC_INVALID_FIELD);
		qtgt_req_complete(req, status);
		return;
	}

	id = kzalloc(sizeof(*id), GFP_KERNEL);
	if (!id) {
		qtgt_req_complete(req, NVME_SC_INTERNAL);
		return;
	}
	qtgt_identify_common(req, id);
	id->cntrltype = NVME_CTRL_DISC;
	id->oaes = cpu_to_le32(NVME_AEN_CFG_DISC_CHANGE);
	status = qtgt_copy_to_data(req, 0, id, sizeof(*id));
	kfree(id);
	qtgt_req_complete(req, status);
}

/**
 * qtgt_parse_discovery() - parse an admin command of a discovery controller
 * @req: request
 *
 * Context: any.
 * Return: an NVMe status.
 */
u16 qtgt_parse_discovery(struct qtgt_req *req)
{
	switch (req->cmd.common.opcode) {
	case nvme_admin_get_log_page:
		req->data_len = qtgt_log_len(&req->cmd);
		req->execute = exec_log;
		return 0;
	case nvme_admin_identify:
		req->data_len = NVME_IDENTIFY_DATA_SIZE;
		req->execute = exec_identify;
		return 0;
	default:
		return qtgt_parse_any_admin(req);
	}
}
