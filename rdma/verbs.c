// SPDX-License-Identifier: GPL-2.0-only
/*
 * The verbs that are neither QP, CQ nor MR: what the device and its port are,
 * protection domains, address handles. Runs in process context, but for
 * address handles, which the core may make anywhere.
 */
#include <linux/ethtool.h>
#include <linux/module.h>
#include <net/ipv6.h>
#include <net/route.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_mad.h>
#include <rdma/uverbs_ioctl.h>
#include "qrdma.h"

#define DEF_HOP_LIMIT	64
/* An OUI that nobody has. */
#define NO_VENDOR	0xffffff

/*
 * Address handles of processes by number; the PD tells whose. Changed and
 * read under its own lock: a handle that is found is copied there.
 */
static DEFINE_XARRAY_FLAGS(ahs, XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_IRQ);

static int query_device(struct ib_device *ibdev, struct ib_device_attr *attr,
			struct ib_udata *udata)
{
	if (udata && (udata->inlen || udata->outlen))
		return -EINVAL;

	attr->sys_image_guid = ibdev->node_guid;
	attr->vendor_id = NO_VENDOR;
	attr->max_mr_size = U64_MAX;
	attr->page_size_cap = PAGE_MASK;
	attr->device_cap_flags = IB_DEVICE_CURR_QP_STATE_MOD |
				 IB_DEVICE_MEM_MGT_EXTENSIONS |
				 IB_DEVICE_ATOMIC_WRITE |
				 IB_DEVICE_FLUSH_GLOBAL |
				 IB_DEVICE_MEM_WINDOW |
				 IB_DEVICE_MEM_WINDOW_TYPE_2B |
				 IB_DEVICE_PORT_ACTIVE_EVENT |
				 IB_DEVICE_RC_RNR_NAK_GEN |
				 IB_DEVICE_SRQ_RESIZE |
				 IB_DEVICE_SYS_IMAGE_GUID;
	attr->kernel_cap_flags = IBK_LOCAL_DMA_LKEY | IBK_ALLOW_USER_UNREG;
	attr->max_qp = QRDMA_MAX_QP;
	attr->max_qp_wr = QRDMA_MAX_QP_WR;
	attr->max_send_sge = QRDMA_MAX_SGE;
	attr->max_recv_sge = QRDMA_MAX_SGE;
	attr->max_sge_rd = QRDMA_MAX_SGE;
	attr->max_cq = QRDMA_MAX_CQ;
	attr->max_cqe = QRDMA_MAX_CQE;
	attr->cq_caps.max_cq_moderation_count = U16_MAX;
	attr->cq_caps.max_cq_moderation_period = U16_MAX;
	attr->max_srq = QRDMA_MAX_SRQ;
	attr->max_srq_wr = QRDMA_MAX_SRQ_WR;
	attr->max_srq_sge = QRDMA_MAX_SGE;
	attr->max_mr = QRDMA_MAX_MR;
	attr->max_mw = QRDMA_MAX_MW;
	attr->max_pd = QRDMA_MAX_PD;
	attr->max_ah = QRDMA_MAX_AH;
	attr->max_mcast_grp = QRDMA_MAX_GROUPS;
	attr->max_mcast_qp_attach = QRDMA_MAX_GROUP_QP;
	attr->max_total_mcast_qp_attach = QRDMA_MAX_GROUPS * QRDMA_MAX_GROUP_QP;
	attr->max_qp_rd_atom = QRDMA_MAX_RD_ATOMIC;
	attr->max_qp_init_rd_atom = QRDMA_MAX_RD_ATOMIC;
	attr->max_res_rd_atom = QRDMA_MAX_QP * QRDMA_MAX_RD_ATOMIC;
	attr->atomic_cap = IB_ATOMIC_HCA;
	attr->max_fast_reg_page_list_len = QRDMA_MAX_FR_PAGES;
	attr->max_pkeys = QRDMA_PKEY_TBL_LEN;
	attr->local_ca_ack_delay = 15;
	return 0;
}

/* Not every interface has a speed; the core warns each time it finds none. */
static void query_speed(struct ib_device *ibdev, struct net_device *ndev,
			struct ib_port_attr *attr)
{
	const struct ethtool_ops *ops = ndev->ethtool_ops;

	if (!ops || !ops->get_link_ksettings ||
	    ib_get_eth_speed(ibdev, 1, &attr->active_speed, &attr->active_width)) {
		attr->active_width = IB_WIDTH_4X;
		attr->active_speed = IB_SPEED_SDR;
	}
}

static int query_port(struct ib_device *ibdev, u32 port, struct ib_port_attr *attr)
{
	struct net_device *ndev = to_qdev(ibdev)->ndev;
	int payload = (int)READ_ONCE(ndev->mtu) - QRDMA_MTU_OVERHEAD;

	if (netif_running(ndev) && netif_carrier_ok(ndev)) {
		attr->state = IB_PORT_ACTIVE;
		attr->phys_state = IB_PORT_PHYS_STATE_LINK_UP;
	} else {
		attr->state = IB_PORT_DOWN;
		attr->phys_state = netif_running(ndev) ?
			IB_PORT_PHYS_STATE_POLLING : IB_PORT_PHYS_STATE_DISABLED;
	}
	attr->max_mtu = IB_MTU_4096;
	attr->active_mtu = ib_mtu_int_to_enum(payload);
	attr->ip_gids = true;
	attr->gid_tbl_len = QRDMA_GID_TBL_LEN;
	attr->pkey_tbl_len = QRDMA_PKEY_TBL_LEN;
	attr->port_cap_flags = IB_PORT_CM_SUP;
	attr->max_msg_sz = QRDMA_MAX_MSG;
	attr->max_vl_num = 1;
	query_speed(ibdev, ndev, attr);
	return 0;
}

static int query_pkey(struct ib_device *ibdev, u32 port, u16 index, u16 *pkey)
{
	if (index >= QRDMA_PKEY_TBL_LEN)
		return -EINVAL;
	*pkey = QRDMA_DEF_PKEY;
	return 0;
}

static enum rdma_link_layer get_link_layer(struct ib_device *ibdev, u32 port)
{
	return IB_LINK_LAYER_ETHERNET;
}

static int get_port_immutable(struct ib_device *ibdev, u32 port,
			      struct ib_port_immutable *immutable)
{
	immutable->core_cap_flags = RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP;
	immutable->pkey_tbl_len = QRDMA_PKEY_TBL_LEN;
	immutable->gid_tbl_len = QRDMA_GID_TBL_LEN;
	immutable->max_mad_size = IB_MGMT_MAD_SIZE;
	return 0;
}

static struct net_device *get_netdev(struct ib_device *ibdev, u32 port)
{
	struct net_device *ndev = to_qdev(ibdev)->ndev;

	dev_hold(ndev);
	return ndev;
}

static int alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	struct qrdma_dev *dev = to_qdev(ibpd->device);

	return qrdma_count_in(&dev->nr_pds, QRDMA_MAX_PD) ? 0 : -ENOMEM;
}

static int dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	atomic_dec(&to_qdev(ibpd->device)->nr_pds);
	return 0;
}

static int gid_ifindex(const struct ib_gid_attr *attr)
{
	struct net_device *ndev;
	int ifindex = 0;

	rcu_read_lock();
	ndev = rcu_dereference(attr->ndev);
	if (ndev && !(ndev->flags & IFF_LOOPBACK))
		ifindex = ndev->ifindex;
	rcu_read_unlock();
	return ifindex;
}

/*
 * The traffic class decides, as for a socket; where there is none, the low bits
 * of the service level, which are 802.1p's. What the priority becomes on the
 * wire is the interface's to say: a VLAN's egress-qos-map, mqprio.
 */
static u8 priority_of(const struct qrdma_av *av)
{
	return av->tclass ? rt_tos2priority(av->tclass) : av->sl & 7;
}

/**
 * qrdma_av_from_attr() - make an address vector
 * @attr: addresses, as the core has filled them in
 * @av: filled in; the UDP source port comes from the flow label only
 *
 * Context: any.
 * Return: 0, or -EINVAL where @attr has no global route or no source.
 */
int qrdma_av_from_attr(const struct rdma_ah_attr *attr, struct qrdma_av *av)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(attr);
	const struct ib_gid_attr *sgid = grh->sgid_attr;

	if (!(rdma_ah_get_ah_flags(attr) & IB_AH_GRH) || !sgid)
		return -EINVAL;

	memset(av, 0, sizeof(*av));
	av->tclass = grh->traffic_class;
	av->sl = rdma_ah_get_sl(attr);
	av->priority = priority_of(av);
	av->hop_limit = grh->hop_limit ?: DEF_HOP_LIMIT;
	av->sgid_index = grh->sgid_index;
	av->flow_label = grh->flow_label & IB_GRH_FLOWLABEL_MASK;
	av->oif = gid_ifindex(sgid);
	av->sport = htons(rdma_flow_label_to_udp_sport(av->flow_label));
	if (ipv6_addr_v4mapped((const struct in6_addr *)&sgid->gid)) {
		if (!ipv6_addr_v4mapped((const struct in6_addr *)&grh->dgid))
			return -EINVAL;
		av->family = AF_INET;
		memcpy(&av->v4.saddr, sgid->gid.raw + 12, sizeof(av->v4.saddr));
		memcpy(&av->v4.daddr, grh->dgid.raw + 12, sizeof(av->v4.daddr));
	} else {
		av->family = AF_INET6;
		memcpy(&av->v6.saddr, &sgid->gid, sizeof(av->v6.saddr));
		memcpy(&av->v6.daddr, &grh->dgid, sizeof(av->v6.daddr));
	}
	return 0;
}

/* The mirror of it, without a reference to the source GID. */
static void av_to_attr(const struct qrdma_av *av, struct rdma_ah_attr *attr)
{
	struct in6_addr dgid;

	if (av->family == AF_INET)
		ipv6_addr_set_v4mapped(av->v4.daddr, &dgid);
	else
		dgid = av->v6.daddr;

	memset(attr, 0, sizeof(*attr));
	attr->type = RDMA_AH_ATTR_TYPE_ROCE;
	rdma_ah_set_port_num(attr, 1);
	rdma_ah_set_sl(attr, av->sl);
	rdma_ah_set_grh(attr, (union ib_gid *)&dgid, av->flow_label,
			av->sgid_index, av->hop_limit, av->tclass);
}

void qrdma_ah_table_exit(void)
{
	unsigned long i = 0;

	WARN_ON(xa_find(&ahs, &i, ULONG_MAX, XA_PRESENT));
	/* Where memory ran out, nodes without an entry are left. */
	xa_destroy(&ahs);
}

/* A process names an address handle by number, in its work requests. */
static int number_ah(struct qrdma_ah *ah, struct ib_udata *udata)
{
	struct rxe_create_ah_resp resp = {};
	int err;

	if (udata->outlen < sizeof(resp))
		return -EINVAL;
	err = xa_alloc_irq(&ahs, &ah->num, ah, xa_limit_31b,
			   GFP_KERNEL_ACCOUNT);
	if (err)
		return err;
	resp.ah_num = ah->num;
	err = ib_copy_to_udata(udata, &resp, sizeof(resp));
	if (err)
		xa_erase_irq(&ahs, ah->num);
	return err;
}

bool qrdma_av_of_ah(struct ib_pd *pd, u32 num, struct qrdma_av *av)
{
	unsigned long flags;
	struct qrdma_ah *ah;
	bool found;

	xa_lock_irqsave(&ahs, flags);
	ah = xa_load(&ahs, num);
	found = ah && ah->ibah.pd == pd;
	if (found)
		*av = ah->av;
	xa_unlock_irqrestore(&ahs, flags);
	return found;
}

static int create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init,
		     struct ib_udata *udata)
{
	struct qrdma_dev *dev = to_qdev(ibah->device);
	struct qrdma_ah *ah = to_qah(ibah);
	int err;

	if (!qrdma_count_in(&dev->nr_ahs, QRDMA_MAX_AH))
		return -ENOMEM;
	err = qrdma_av_from_attr(init->ah_attr, &ah->av);
	if (!err && udata)
		err = number_ah(ah, udata);
	if (err)
		atomic_dec(&dev->nr_ahs);
	return err;
}

static int destroy_ah(struct ib_ah *ibah, u32 flags)
{
	struct qrdma_ah *ah = to_qah(ibah);

	if (ah->num)
		xa_erase_irq(&ahs, ah->num);
	atomic_dec(&to_qdev(ibah->device)->nr_ahs);
	return 0;
}

static int query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr)
{
	av_to_attr(&to_qah(ibah)->av, attr);
	return 0;
}

const struct ib_device_ops qrdma_dev_ops = {
	.owner = THIS_MODULE,
	/* The ABI that the rdma-core of every distribution speaks. */
	.driver_id = RDMA_DRIVER_RXE,
	.uverbs_abi_ver = 2,

	.alloc_pd = alloc_pd,
	.create_ah = create_ah,
	.create_user_ah = create_ah,
	.dealloc_pd = dealloc_pd,
	.destroy_ah = destroy_ah,
	.get_link_layer = get_link_layer,
	.get_netdev = get_netdev,
	.get_port_immutable = get_port_immutable,
	.query_ah = query_ah,
	.query_device = query_device,
	.query_pkey = query_pkey,
	.query_port = query_port,

	INIT_RDMA_OBJ_SIZE(ib_ah, qrdma_ah, ibah),
	INIT_RDMA_OBJ_SIZE(ib_pd, qrdma_pd, ibpd),
};
