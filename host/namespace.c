// SPDX-License-Identifier: GPL-2.0-only
/*
 * Namespaces and their disks: found by a scan, checked, added, resized and
 * removed. Runs in process context: the scan on the work queue, the removal
 * wherever the controller is taken down.
 *
 * A namespace lives as long as its disk, and that as long as someone has it
 * open; the controller is referenced by each.
 */
#define pr_fmt(fmt) "quarry: " fmt

#include <linux/blkdev.h>
#include <linux/module.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include "host-block.h"
#include "host.h"

#define NSIDS_PER_LIST	(NVME_IDENTIFY_DATA_SIZE / sizeof(__le32))

/*
 * A look at the namespaces that has not seen all of them is taken again, so
 * many times, and twice as late each time. Half a minute in all.
 */
#define SCAN_TRIES	8
#define SCAN_DELAY	(HZ / 8)

/* NVMe base 2.0, figure 97: NSFEAT bit 4, NPWG and NOWS are there. */
#define NSFEAT_OPTPERF	BIT(4)

static_assert(sizeof(struct nvme_id_ns) == NVME_IDENTIFY_DATA_SIZE);

/* What a scan has found out about one namespace, checked. */
struct ns_info {
	u32 nsid;
	struct qhost_ns_ids ids;
	sector_t sectors;
	u8 lba_shift;
	bool readonly;
	bool deac;
	struct queue_limits lim;
};

static void free_disk(struct gendisk *disk)
{
	struct qhost_ns *ns = disk->private_data;

	qhost_ctrl_put(ns->ctrl);
	kfree(ns);
	qhost_object_put();
}

static int get_unique_id(struct gendisk *disk, u8 id[16],
			 enum blk_unique_id type)
{
	const struct qhost_ns *ns = disk->private_data;

	if (type == BLK_UID_EUI64) {
		if (memchr_inv(ns->ids.nguid, 0, sizeof(ns->ids.nguid))) {
			memcpy(id, ns->ids.nguid, sizeof(ns->ids.nguid));
			return sizeof(ns->ids.nguid);
		}
		if (memchr_inv(ns->ids.eui64, 0, sizeof(ns->ids.eui64))) {
			memcpy(id, ns->ids.eui64, sizeof(ns->ids.eui64));
			return sizeof(ns->ids.eui64);
		}
	}
	return -EINVAL;
}

static const struct block_device_operations fops = {
	.owner		= THIS_MODULE,
	.free_disk	= free_disk,
	.get_unique_id	= get_unique_id,
};

/*
 * The list of identification descriptors: each says its own length, which
 * must be the one of its type and end within the list. Unknown ones are
 * passed over.
 */
static int parse_descs(struct qhost_ctrl *ctrl, struct ns_info *info,
		       const u8 *buf)
{
	const struct nvme_ns_id_desc *desc;
	struct qhost_ns_ids *ids = &info->ids;
	size_t pos = 0;
	u8 len = 0;

	while (pos + sizeof(*desc) <= NVME_IDENTIFY_DATA_SIZE) {
		desc = (const void *)(buf + pos);
		pos += sizeof(*desc);
		if (!desc->nidl)
			return 0;
		if (desc->nidl > NVME_IDENTIFY_DATA_SIZE - pos)
			goto bad;
		len = desc->nidl;
		switch (desc->nidt) {
		case NVME_NIDT_EUI64:
			if (len != NVME_NIDT_EUI64_LEN)
				goto bad;
			memcpy(ids->eui64, buf + pos, len);
			break;
		case NVME_NIDT_NGUID:
			if (len != NVME_NIDT_NGUID_LEN)
				goto bad;
			memcpy(ids->nguid, buf + pos, len);
			break;
		case NVME_NIDT_UUID:
			if (len != NVME_NIDT_UUID_LEN)
				goto bad;
			import_uuid(&ids->uuid, buf + pos);
			break;
		case NVME_NIDT_CSI:
			if (len != NVME_NIDT_CSI_LEN)
				goto bad;
			ids->csi = buf[pos];
			break;
		default:
			break;
		}
		pos += len;
	}
	return 0;

bad:
	qhost_warn(ctrl, "namespace %u: malformed identification descriptor\n",
		   info->nsid);
	return -EPROTO;
}

static void set_transfer_limits(struct qhost_ctrl *ctrl,
				struct queue_limits *lim)
{
	lim->max_hw_sectors = ctrl->max_hw_sectors;
	lim->max_segments = ctrl->pages_per_mr;
	lim->max_segment_size = UINT_MAX;
	/* A memory region is a list of whole pages but for its two ends. */
	lim->virt_boundary_mask = QHOST_PAGE_SIZE - 1;
	lim->dma_alignment = 3;
}

static unsigned int lba_to_sectors(u64 lbas, u8 shift)
{
	return min_t(u64, lbas << (shift - SECTOR_SHIFT), UINT_MAX);
}

static void set_discard_limits(struct qhost_ctrl *ctrl, struct ns_info *info)
{
	struct queue_limits *lim = &info->lim;

	lim->max_hw_discard_sectors = 0;
	lim->max_write_zeroes_sectors = 0;
	lim->discard_granularity = lim->logical_block_size;
	lim->max_discard_segments = 1;
	if (ctrl->oncs & NVME_CTRL_ONCS_DSM) {
		lim->max_hw_discard_sectors =
			lba_to_sectors(ctrl->dmrsl ?: U32_MAX, info->lba_shift);
		lim->max_discard_segments =
			min(ctrl->dmrl ?: QHOST_DSM_RANGES, QHOST_DSM_RANGES);
	}
	if (ctrl->oncs & NVME_CTRL_ONCS_WRITE_ZEROES) {
		/* The command counts blocks in 16 bits. */
		lim->max_write_zeroes_sectors =
			lba_to_sectors(U16_MAX + 1, info->lba_shift);
		if (ctrl->max_zeroes_pages)
			lim->max_write_zeroes_sectors =
				min(lim->max_write_zeroes_sectors,
				    ctrl->max_zeroes_pages <<
				    (QHOST_PAGE_SHIFT - SECTOR_SHIFT));
	}
}

/*
 * Sizes that are only hints, in blocks: taken as far as the block layer can.
 * A physical block must be written as a whole or not at all, so it cannot be
 * larger than what the controller writes atomically.
 */
static void set_size_hints(struct qhost_ctrl *ctrl, struct ns_info *info,
			   const struct nvme_id_ns *id)
{
	struct queue_limits *lim = &info->lim;
	u32 bs = 1U << info->lba_shift, phys = bs, opt = 0;
	u64 atomic = (u64)bs * (1 + ctrl->awupf);

	if (id->nsfeat & NSFEAT_OPTPERF) {
		phys = min_t(u64, (u64)bs * (1 + le16_to_cpu(id->npwg)), SZ_1G);
		if (id->nows)
			opt = min_t(u64, SZ_1G, (u64)bs *
				    (1 + le16_to_cpu(id->nows)));
	}
	if (id->nsfeat & NVME_NS_FEAT_ATOMICS && id->nawupf)
		atomic = (u64)bs * (1 + le16_to_cpu(id->nawupf));

	lim->logical_block_size = bs;
	lim->physical_block_size = rounddown_pow_of_two(min_t(u64, phys,
							      atomic));
	lim->io_min = phys;
	lim->io_opt = opt;
}

static void set_features(struct qhost_ctrl *ctrl, struct queue_limits *lim)
{
	if (ctrl->vwc & NVME_CTRL_VWC_PRESENT)
		lim->features |= BLK_FEAT_WRITE_CACHE | BLK_FEAT_FUA;
	else
		lim->features &= ~(BLK_FEAT_WRITE_CACHE | BLK_FEAT_FUA);
}

/* Take from Identify Namespace what a disk needs, if it can be one. */
static int check_ns(struct qhost_ctrl *ctrl, struct ns_info *info,
		    const struct nvme_id_ns *id)
{
	unsigned int format = nvme_lbaf_index(id->flbas);
	u64 blocks = le64_to_cpu(id->nsze), sectors;
	const struct nvme_lbaf *lbaf = &id->lbaf[format];

	/* NVMe base 2.0: all zeroes for a namespace that is not active */
	if (!id->ncap)
		return -ENXIO;
	if (format > id->nlbaf || lbaf->ds < SECTOR_SHIFT ||
	    lbaf->ds > ilog2(COMPAT_MAX_BLOCK_SIZE)) {
		qhost_warn(ctrl, "namespace %u: blocks of 2^%u bytes are not supported\n",
			   info->nsid, lbaf->ds);
		return -EOPNOTSUPP;
	}
	if (lbaf->ms) {
		qhost_warn(ctrl, "namespace %u: metadata are not supported\n",
			   info->nsid);
		return -EOPNOTSUPP;
	}
	if (check_shl_overflow(blocks, lbaf->ds - SECTOR_SHIFT, &sectors) ||
	    sectors > LLONG_MAX >> SECTOR_SHIFT) {
		qhost_warn(ctrl, "namespace %u: size of %llu blocks is out of range\n",
			   info->nsid, blocks);
		return -EOVERFLOW;
	}
	info->sectors = sectors;
	info->lba_shift = lbaf->ds;
	info->readonly = id->nsattr & NVME_NS_ATTR_RO;
	/* Deallocated blocks read as zeroes, and Write Zeroes may do so. */
	info->deac = (id->dlfeat & 0x7) == 0x1 && id->dlfeat & BIT(3);
	return 0;
}

/* The identifiers: of the descriptors, and of older kind where they lack. */
static int identify_ids(struct qhost_ctrl *ctrl, struct ns_info *info,
			void *buf)
{
	int err;

	err = qhost_identify(ctrl, NVME_ID_CNS_NS_DESC_LIST, info->nsid, buf);
	/* Optional before NVMe 1.3; another status may pass by itself. */
	if (err > 0)
		return err & NVME_STATUS_DNR ? 0 : -EAGAIN;
	return err ? err : parse_descs(ctrl, info, buf);
}

static int identify_ns(struct qhost_ctrl *ctrl, struct ns_info *info,
		       void *buf)
{
	const struct nvme_id_ns *id = buf;
	int err;

	err = identify_ids(ctrl, info, buf);
	if (err)
		return err;
	if (info->ids.csi != NVME_CSI_NVM) {
		qhost_warn(ctrl, "namespace %u: command set %u is not supported\n",
			   info->nsid, info->ids.csi);
		return -EOPNOTSUPP;
	}
	err = qhost_identify(ctrl, NVME_ID_CNS_NS, info->nsid, buf);
	if (err > 0)
		return err & NVME_STATUS_DNR ? -ENXIO : -EAGAIN;
	if (err)
		return err;
	err = check_ns(ctrl, info, id);
	if (err)
		return err;
	if (!memchr_inv(info->ids.eui64, 0, sizeof(id->eui64)))
		memcpy(info->ids.eui64, id->eui64, sizeof(id->eui64));
	if (!memchr_inv(info->ids.nguid, 0, sizeof(id->nguid)))
		memcpy(info->ids.nguid, id->nguid, sizeof(id->nguid));

	set_size_hints(ctrl, info, id);
	set_transfer_limits(ctrl, &info->lim);
	set_discard_limits(ctrl, info);
	set_features(ctrl, &info->lim);
	return 0;
}

/* The request queue is made while the take-down cannot begin, or not at all. */
static struct gendisk *alloc_disk(struct qhost_ctrl *ctrl,
				  struct ns_info *info, struct qhost_ns *ns)
{
	struct gendisk *disk;

	mutex_lock(&ctrl->tag_lock);
	if (qhost_failed(ctrl))
		disk = ERR_PTR(-ECONNRESET);
	else
		disk = blk_mq_alloc_disk(&ctrl->io_set, &info->lim, ns);
	mutex_unlock(&ctrl->tag_lock);
	return disk;
}

static int add_ns(struct qhost_ctrl *ctrl, struct ns_info *info)
{
	struct gendisk *disk;
	struct qhost_ns *ns;
	int err;

	ns = kzalloc(sizeof(*ns), GFP_KERNEL);
	if (!ns)
		return -ENOMEM;
	ns->ctrl = ctrl;
	ns->nsid = info->nsid;
	ns->ids = info->ids;
	ns->lba_shift = info->lba_shift;
	ns->deac = info->deac;
	ns->seen = true;

	disk = alloc_disk(ctrl, info, ns);
	if (IS_ERR(disk)) {
		err = PTR_ERR(disk);
		goto err_free_ns;
	}
	ns->disk = disk;
	disk->fops = &fops;
	disk->private_data = ns;
	snprintf(disk->disk_name, sizeof(disk->disk_name), "quarry%dn%u",
		 ctrl->instance, ns->nsid);
	set_capacity(disk, info->sectors);
	set_disk_ro(disk, info->readonly);

	qhost_ctrl_get(ctrl);
	qhost_object_get();
	err = device_add_disk(&ctrl->dev, disk, qhost_ns_groups);
	if (err)
		goto err_put_disk;
	mutex_lock(&ctrl->ns_lock);
	list_add_tail(&ns->entry, &ctrl->namespaces);
	mutex_unlock(&ctrl->ns_lock);
	return 0;

err_put_disk:
	/* free_disk() is called for what was added only. */
	put_disk(disk);
	qhost_ctrl_put(ctrl);
	qhost_object_put();
err_free_ns:
	kfree(ns);
	return err;
}

/* @lost: nothing can be written back any more, the device is gone. */
static void remove_ns(struct qhost_ns *ns, bool lost)
{
	struct gendisk *disk = ns->disk;

	lockdep_assert_held(&ns->ctrl->ns_lock);
	list_del(&ns->entry);
	if (lost)
		blk_mark_disk_dead(disk);
	del_gendisk(disk);
	put_disk(disk);
}

static bool same_ids(const struct qhost_ns_ids *a, const struct qhost_ns_ids *b)
{
	return !memcmp(a->eui64, b->eui64, sizeof(a->eui64)) &&
	       !memcmp(a->nguid, b->nguid, sizeof(a->nguid)) &&
	       uuid_equal(&a->uuid, &b->uuid) && a->csi == b->csi;
}

static int update_ns(struct qhost_ns *ns, struct ns_info *info)
{
	struct request_queue *q = ns->disk->queue;
	struct queue_limits lim, *new = &info->lim;
	int err;

	lim = queue_limits_start_update(q);
	lim.max_hw_sectors = new->max_hw_sectors;
	lim.physical_block_size = new->physical_block_size;
	lim.io_min = new->io_min;
	lim.io_opt = new->io_opt;
	lim.max_hw_discard_sectors = new->max_hw_discard_sectors;
	lim.max_discard_segments = new->max_discard_segments;
	lim.max_write_zeroes_sectors = new->max_write_zeroes_sectors;
	set_features(ns->ctrl, &lim);
	err = compat_limits_commit_frozen(q, &lim);
	if (err)
		return err;
	ns->deac = info->deac;
	set_disk_ro(ns->disk, info->readonly);
	if (set_capacity_and_notify(ns->disk, info->sectors))
		qhost_info(ns->ctrl, "%s: %llu sectors now\n",
			   ns->disk->disk_name,
			   (unsigned long long)info->sectors);
	return 0;
}

static struct qhost_ns *find_ns(struct qhost_ctrl *ctrl, u32 nsid)
{
	struct qhost_ns *ns;

	lockdep_assert_held(&ctrl->ns_lock);
	list_for_each_entry(ns, &ctrl->namespaces, entry) {
		if (ns->nsid == nsid)
			return ns;
	}
	return NULL;
}

/*
 * -ENOENT where there is none yet. An old namespace with another identity is
 * another namespace.
 */
static int revalidate(struct qhost_ctrl *ctrl, struct ns_info *info)
{
	struct qhost_ns *ns;
	int err = -ENOENT;

	mutex_lock(&ctrl->ns_lock);
	ns = find_ns(ctrl, info->nsid);
	if (ns && (!same_ids(&ns->ids, &info->ids) ||
		   ns->lba_shift != info->lba_shift)) {
		qhost_info(ctrl, "%s has become another namespace\n",
			   ns->disk->disk_name);
		remove_ns(ns, false);
	} else if (ns) {
		ns->seen = true;
		err = update_ns(ns, info);
	}
	mutex_unlock(&ctrl->ns_lock);
	return err;
}

/* Something is wrong with it for now: leave what there is. */
static void keep_ns(struct qhost_ctrl *ctrl, u32 nsid)
{
	struct qhost_ns *ns;

	mutex_lock(&ctrl->ns_lock);
	ns = find_ns(ctrl, nsid);
	if (ns)
		ns->seen = true;
	mutex_unlock(&ctrl->ns_lock);
}

/* Has the controller said so, or could it be different another time? */
static bool is_final(int err)
{
	return err == -ENXIO || err == -EOPNOTSUPP || err == -EOVERFLOW ||
	       err == -EPROTO;
}

/* An errno where it should be looked at again. */
static int scan_one(struct qhost_ctrl *ctrl, u32 nsid, void *buf)
{
	struct ns_info *info;
	int err;

	info = kzalloc(sizeof(*info), GFP_KERNEL);
	if (!info)
		return -ENOMEM;
	info->nsid = nsid;
	err = identify_ns(ctrl, info, buf);
	if (!err)
		err = revalidate(ctrl, info);
	else if (is_final(err))
		err = 0;
	if (err == -ENOENT)
		err = add_ns(ctrl, info);
	kfree(info);
	return err;
}

/*
 * Walk the active namespaces; the lists must ascend, so this ends. @missed is
 * set where one could not be looked at.
 */
static int scan_all(struct qhost_ctrl *ctrl, __le32 *list, void *buf,
		    int *missed)
{
	u32 prev = 0, nsid;
	size_t i;
	int err;

	for (;;) {
		err = qhost_identify(ctrl, NVME_ID_CNS_NS_ACTIVE_LIST, prev,
				     list);
		if (err)
			return qhost_status_errno(err, false);
		for (i = 0; i < NSIDS_PER_LIST; i++) {
			nsid = le32_to_cpu(list[i]);
			if (!nsid)
				return 0;
			if (nsid <= prev || nsid == NVME_NSID_ALL)
				return -EPROTO;
			err = scan_one(ctrl, nsid, buf);
			if (qhost_failed(ctrl))
				return -ECONNRESET;
			if (err) {
				qhost_warn(ctrl, "namespace %u cannot be brought up to date now: %pe\n",
					   nsid, ERR_PTR(err));
				keep_ns(ctrl, nsid);
				*missed = err;
			}
			prev = nsid;
		}
	}
}

static void forget_all(struct qhost_ctrl *ctrl)
{
	struct qhost_ns *ns;

	mutex_lock(&ctrl->ns_lock);
	list_for_each_entry(ns, &ctrl->namespaces, entry)
		ns->seen = false;
	mutex_unlock(&ctrl->ns_lock);
}

static void remove_unseen(struct qhost_ctrl *ctrl)
{
	struct qhost_ns *ns, *next;

	mutex_lock(&ctrl->ns_lock);
	list_for_each_entry_safe(ns, next, &ctrl->namespaces, entry) {
		if (ns->seen)
			continue;
		qhost_info(ctrl, "%s is gone\n", ns->disk->disk_name);
		remove_ns(ns, true);
	}
	mutex_unlock(&ctrl->ns_lock);
}

/* 0, or an errno where it has not seen all. */
static int scan(struct qhost_ctrl *ctrl)
{
	int err = -ENOMEM, missed = 0;
	__le32 *list;
	void *buf;

	list = kmalloc(NVME_IDENTIFY_DATA_SIZE, GFP_KERNEL);
	buf = kmalloc(NVME_IDENTIFY_DATA_SIZE, GFP_KERNEL);
	if (!list || !buf)
		goto out;
	missed = qhost_clear_changed_ns(ctrl);
	forget_all(ctrl);
	err = scan_all(ctrl, list, buf, &missed);
	if (!err)
		remove_unseen(ctrl);
	else if (!qhost_failed(ctrl))
		qhost_warn(ctrl, "the list of namespaces cannot be read: %pe\n",
			   ERR_PTR(err));
out:
	kfree(buf);
	kfree(list);
	return err ?: missed;
}

/**
 * qhost_scan_work() - bring the disks up to date with the namespaces
 * @work: the controller's scan_work
 *
 * Context: work queue.
 */
void qhost_scan_work(struct work_struct *work)
{
	struct qhost_ctrl *ctrl = container_of(to_delayed_work(work),
					       struct qhost_ctrl, scan_work);
	int err;

	if (qhost_ctrl_state(ctrl) != QHOST_LIVE)
		return;
	err = scan(ctrl);
	if (qhost_failed(ctrl))
		return;
	if (!err) {
		ctrl->scan_tries = 0;
	} else if (ctrl->scan_tries < SCAN_TRIES) {
		qhost_queue_scan(ctrl, SCAN_DELAY << ctrl->scan_tries++);
	} else {
		qhost_warn(ctrl, "not all namespaces can be looked at: %pe\n",
			   ERR_PTR(err));
		ctrl->scan_tries = 0;
	}
}

/**
 * qhost_remove_namespaces() - remove all disks of a controller
 * @ctrl: the controller; no scan is running
 * @lost: the connection is lost, so nothing can be written back
 *
 * Context: process, sleeps.
 */
void qhost_remove_namespaces(struct qhost_ctrl *ctrl, bool lost)
{
	struct qhost_ns *ns, *next;

	mutex_lock(&ctrl->ns_lock);
	list_for_each_entry_safe(ns, next, &ctrl->namespaces, entry)
		remove_ns(ns, lost);
	mutex_unlock(&ctrl->ns_lock);
}
