// SPDX-License-Identifier: GPL-2.0-only
/*
 * Identify, for the controllers of NVM subsystems. Process context.
 */
#define pr_fmt(fmt) "quarry: " fmt

#include <linux/slab.h>
#include <linux/unaligned.h>
#include "internal.h"

static_assert(sizeof(struct nvme_id_ctrl) == NVME_IDENTIFY_DATA_SIZE);
static_assert(sizeof(struct nvme_id_ns) == NVME_IDENTIFY_DATA_SIZE);
static_assert(sizeof(struct nvme_id_ns_cs_indep) == NVME_IDENTIFY_DATA_SIZE);
static_assert(sizeof(struct nvme_id_ctrl_nvm) == NVME_IDENTIFY_DATA_SIZE);
static_assert(sizeof(struct nvme_id_ns_nvm) == NVME_IDENTIFY_DATA_SIZE);

#define SGLS_BYTE_ALIGNED	BIT(0)
#define SGLS_KEYED		BIT(2)
#define SGLS_OFFSET		BIT(20)	/* address as an offset */

#define LPA_SMART_PER_NS	BIT(0)
#define LPA_CMD_EFFECTS		BIT(1)
#define LPA_EXTENDED		BIT(2)	/* offset and 32 bits of length */

#define FRMW_SLOT1_READ_ONLY	BIT(0)
#define FRMW_SLOTS(n)		((n) << 1)

#define ANACAP_ALL_STATES	GENMASK(4, 0)
#define ANA_TRANSITION_SEC	10

#define NWPC_WRITE_PROTECT	BIT(0)
#define RAB_64_COMMANDS		6

static void pad_copy(char *dst, size_t len, const char *src)
{
	memcpy_and_pad(dst, len, src, strnlen(src, len), ' ');
}

/**
 * qtgt_identify_common() - fill what every kind of controller tells
 * @req: Identify request
 * @id: zeroed page
 *
 * Context: process, may sleep.
 */
void qtgt_identify_common(struct qtgt_req *req, struct nvme_id_ctrl *id)
{
	struct qtgt_ctrl *ctrl = req->queue->ctrl;
	struct qtgt_subsys *subsys = ctrl->subsys;
	const struct qtgt_port_config *port = &ctrl->port->cfg;
	u32 sgls = SGLS_BYTE_ALIGNED;

	mutex_lock(&subsys->lock);
	subsys->discovered = true;
	memcpy(id->sn, subsys->id.serial, sizeof(id->sn));
	pad_copy(id->mn, sizeof(id->mn), subsys->id.model);
	pad_copy(id->fr, sizeof(id->fr), subsys->id.firmware);
	put_unaligned_le24(subsys->id.ieee_oui, id->ieee);
	id->ver = cpu_to_le32(subsys->id.ver);
	mutex_unlock(&subsys->lock);

	down_read(&qtgt_config_sem);
	strscpy(id->subnqn, subsys->nqn);
	up_read(&qtgt_config_sem);

	id->cntlid = cpu_to_le16(ctrl->cntlid);
	id->mdts = QTGT_MDTS;
	id->lpa = LPA_EXTENDED;
	id->aerl = QTGT_AER_SLOTS - 1;
	id->kas = cpu_to_le16(QTGT_KAS);
	id->maxcmd = cpu_to_le16(NVME_CAP_MQES(ctrl->cap) + 1);
	id->ctratt = cpu_to_le32(NVME_CTRL_ATTR_HID_128_BIT |
				 NVME_CTRL_ATTR_TBKAS);
	if (req->queue->ops->keyed_sgls)
		sgls |= SGLS_KEYED;
	if (port->inline_data_size)
		sgls |= SGLS_OFFSET;
	id->sgls = cpu_to_le32(sgls);
}

static u16 identify_ctrl(struct qtgt_req *req, void *page)
{
	struct qtgt_ctrl *ctrl = req->queue->ctrl;
	struct nvme_id_ctrl *id = page;

	qtgt_identify_common(req, id);
	id->rab = RAB_64_COMMANDS;
	id->cntrltype = NVME_CTRL_IO;
	id->cmic = NVME_CTRL_CMIC_MULTI_PORT | NVME_CTRL_CMIC_MULTI_CTRL |
		   NVME_CTRL_CMIC_ANA;
	id->oaes = cpu_to_le32(NVME_AEN_CFG_NS_ATTR | NVME_AEN_CFG_ANA_CHANGE);
	id->acl = 3;	/* the least that is recommended; all get one answer */
	id->frmw = FRMW_SLOT1_READ_ONLY | FRMW_SLOTS(1);
	id->lpa |= LPA_SMART_PER_NS | LPA_CMD_EFFECTS;
	id->elpe = QTGT_ERROR_SLOTS - 1;

	id->sqes = NVME_NVM_IOSQES << 4 | NVME_NVM_IOSQES;
	id->cqes = NVME_NVM_IOCQES << 4 | NVME_NVM_IOCQES;
	id->nn = cpu_to_le32(QTGT_MAX_NAMESPACES);
	id->mnan = cpu_to_le32(QTGT_MAX_NAMESPACES);
	id->oncs = cpu_to_le16(NVME_CTRL_ONCS_DSM |
			       NVME_CTRL_ONCS_WRITE_ZEROES);
	id->vwc = NVME_CTRL_VWC_PRESENT;
	id->nwpc = NWPC_WRITE_PROTECT;

	/* In units of 16 bytes. */
	id->ioccsz = cpu_to_le32((sizeof(struct nvme_command) +
				  ctrl->port->cfg.inline_data_size) / 16);
	id->iorcsz = cpu_to_le32(sizeof(struct nvme_completion) / 16);
	id->msdbd = 1;

	id->anacap = ANACAP_ALL_STATES;
	id->anatt = ANA_TRANSITION_SEC;
	id->anagrpmax = cpu_to_le32(QTGT_MAX_ANAGRPS);
	id->nanagrpid = cpu_to_le32(QTGT_MAX_ANAGRPS);

	/* Power states mean nothing here, but the first one must exist. */
	id->psd[0].max_power = cpu_to_le16(2500);
	return 0;
}

/* A namespace that is not active reads as zeroes, not as an error. */
static u16 identify_ns(struct qtgt_req *req, void *page)
{
	struct nvme_id_ns *id = page;
	struct qtgt_ns *ns;
	u8 state;

	if (req->cmd.identify.nsid == cpu_to_le32(NVME_NSID_ALL))
		return qtgt_bad_field(req, offsetof(struct nvme_identify, nsid),
				      NVME_SC_INVALID_NS);
	if (qtgt_req_find_ns(req)) {
		req->error_loc = QTGT_NO_ERROR_LOC;
		return 0;
	}
	ns = req->ns;
	qtgt_ns_check_size(ns);

	id->nsze = cpu_to_le64(ns->size >> ns->blksize_shift);
	id->ncap = id->nsze;
	state = READ_ONCE(req->queue->port->ana_state[ns->anagrpid]);
	if (state != NVME_ANA_INACCESSIBLE &&
	    state != NVME_ANA_PERSISTENT_LOSS)
		id->nuse = id->nsze;
	ns->ops->identify(ns, id);

	/* One format; shared, as the device is with all of this machine. */
	id->lbaf[0].ds = ns->blksize_shift;
	id->nmic = NVME_NS_NMIC_SHARED;
	id->anagrpid = cpu_to_le32(ns->anagrpid);
	memcpy(id->nguid, ns->nguid, sizeof(id->nguid));
	if (READ_ONCE(ns->readonly))
		id->nsattr |= NVME_NS_ATTR_RO;
	return 0;
}

static u16 identify_ns_indep(struct qtgt_req *req, void *page)
{
	struct nvme_id_ns_cs_indep *id = page;
	u16 status;

	status = qtgt_req_find_ns(req);
	if (status)
		return status;
	id->nmic = NVME_NS_NMIC_SHARED;
	id->anagrpid = cpu_to_le32(req->ns->anagrpid);
	id->nstat = NVME_NSTAT_NRDY;	/* the bit says that it is ready */
	if (READ_ONCE(req->ns->readonly))
		id->nsattr |= NVME_NS_ATTR_RO;
	return 0;
}

static u16 identify_ns_list(struct qtgt_req *req, void *page)
{
	struct qtgt_subsys *subsys = req->queue->ctrl->subsys;
	u32 after = le32_to_cpu(req->cmd.identify.nsid);
	__le32 *list = page;
	unsigned int n = 0;
	unsigned long nsid;
	struct qtgt_ns *ns;

	/* The last two values are not allowed: NVMe base 2.0, CNS 02h. */
	if (after >= NVME_NSID_ALL - 1)
		return qtgt_bad_field(req, offsetof(struct nvme_identify, nsid),
				      NVME_SC_INVALID_NS);

	rcu_read_lock();
	xa_for_each_marked(&subsys->namespaces, nsid, ns, QTGT_NS_ENABLED) {
		if (nsid <= after)
			continue;
		list[n++] = cpu_to_le32(nsid);
		if (n == NVME_IDENTIFY_DATA_SIZE / sizeof(*list))
			break;
	}
	rcu_read_unlock();
	return 0;
}

static void *add_desc(void *p, u8 type, const void *id, u8 len)
{
	struct nvme_ns_id_desc *desc = p;

	desc->nidt = type;
	desc->nidl = len;
	memcpy(desc + 1, id, len);
	return p + sizeof(*desc) + len;
}

static u16 identify_descs(struct qtgt_req *req, void *page)
{
	static const u8 csi = NVME_CSI_NVM;
	struct qtgt_ns *ns;
	u16 status;

	status = qtgt_req_find_ns(req);
	if (status)
		return status;
	ns = req->ns;
	if (!uuid_is_null(&ns->uuid))
		page = add_desc(page, NVME_NIDT_UUID, &ns->uuid,
				NVME_NIDT_UUID_LEN);
	if (memchr_inv(ns->nguid, 0, sizeof(ns->nguid)))
		page = add_desc(page, NVME_NIDT_NGUID, ns->nguid,
				NVME_NIDT_NGUID_LEN);
	add_desc(page, NVME_NIDT_CSI, &csi, NVME_NIDT_CSI_LEN);
	return 0;
}

static bool csi_is_nvm(struct qtgt_req *req)
{
	return req->cmd.identify.csi == NVME_CSI_NVM;
}

/* No limit of the NVM command set but MDTS: all zeroes. */
static u16 identify_ctrl_nvm(struct qtgt_req *req, void *page)
{
	return 0;
}

/* No protection information: all zeroes, if the namespace is there. */
static u16 identify_ns_nvm(struct qtgt_req *req, void *page)
{
	return qtgt_req_find_ns(req);
}

static u16 identify_fill(struct qtgt_req *req, void *page)
{
	switch (req->cmd.identify.cns) {
	case NVME_ID_CNS_NS:
		return identify_ns(req, page);
	case NVME_ID_CNS_CTRL:
		return identify_ctrl(req, page);
	case NVME_ID_CNS_NS_ACTIVE_LIST:
		return identify_ns_list(req, page);
	case NVME_ID_CNS_NS_DESC_LIST:
		return identify_descs(req, page);
	case NVME_ID_CNS_NS_CS_INDEP:
		return identify_ns_indep(req, page);
	case NVME_ID_CNS_CS_NS:
		if (csi_is_nvm(req))
			return identify_ns_nvm(req, page);
		break;
	case NVME_ID_CNS_CS_CTRL:
		if (csi_is_nvm(req))
			return identify_ctrl_nvm(req, page);
		break;
	}
	return qtgt_bad_field(req, offsetof(struct nvme_identify, cns),
			      NVME_SC_INVALID_FIELD);
}

/**
 * qtgt_exec_identify() - execute Identify
 * @req: request
 *
 * Context: process, may sleep.
 */
void qtgt_exec_identify(struct qtgt_req *req)
{
	void *page;
	u16 status = NVME_SC_INTERNAL;

	page = kzalloc(NVME_IDENTIFY_DATA_SIZE, GFP_KERNEL);
	if (page)
		status = identify_fill(req, page);
	if (!status)
		status = qtgt_copy_to_data(req, 0, page,
					   NVME_IDENTIFY_DATA_SIZE);
	kfree(page);
	qtgt_req_complete(req, status);
}
