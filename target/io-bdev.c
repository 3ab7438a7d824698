// SPDX-License-Identifier: GPL-2.0-only
/*
 * Block devices as the backend of namespaces. Parsing runs in softirq,
 * execution in process context (submit_bio() may sleep), completion anywhere.
 */
#define pr_fmt(fmt) "quarry: " fmt

#include <linux/blkdev.h>
#include <linux/overflow.h>
#include <linux/part_stat.h>
#include "internal.h"

/* A discard bio holds its length in 32 bits; keep it aligned to anything. */
#define DISCARD_SECTORS	(SZ_2G >> SECTOR_SHIFT)

/* NPWG, NPWA, NPDG, NPDA and NOWS are defined; kernels differ on its name. */
#define NSFEAT_OPTPERF	BIT(4)

static int bdev_open(struct qtgt_ns *ns)
{
	struct file *file;

	/* With buffered_io a block device is served like a file. */
	if (ns->buffered_io)
		return -ENOTBLK;
	if (!ns->path)
		return -EINVAL;
	file = bdev_file_open_by_path(ns->path,
				      BLK_OPEN_READ | BLK_OPEN_WRITE, NULL,
				      NULL);
	if (IS_ERR(file))
		return PTR_ERR(file);
	if (bdev_is_zoned(file_bdev(file))) {
		pr_err_ratelimited("subsystem %s, namespace %u: zoned devices are not served\n",
				   ns->subsys->nqn, ns->nsid);
		bdev_fput(file);
		return -EINVAL;
	}

	ns->file = file;
	ns->bdev = file_bdev(file);
	ns->size = bdev_nr_bytes(ns->bdev);
	ns->blksize_shift = blksize_bits(bdev_logical_block_size(ns->bdev));
	return 0;
}

static void bdev_close(struct qtgt_ns *ns)
{
	bdev_fput(ns->file);
	ns->file = NULL;
	ns->bdev = NULL;
}

static void bdev_revalidate(struct qtgt_ns *ns)
{
	WRITE_ONCE(ns->size, bdev_nr_bytes(ns->bdev));
}

static void bdev_stats(struct qtgt_ns *ns, u64 *ios, u64 *units)
{
	int rw;

	for (rw = READ; rw <= WRITE; rw++) {
		ios[rw] += part_stat_read(ns->bdev, ios[rw]);
		units[rw] += part_stat_read(ns->bdev, sectors[rw]);
	}
}

/* A count, 0's based, in a field of 16 bits. */
static __le16 zero_based(u32 n)
{
	return cpu_to_le16(clamp_t(u32, n, 1, 1 << 16) - 1);
}

static void bdev_identify(struct qtgt_ns *ns, struct nvme_id_ns *id)
{
	struct block_device *bdev = ns->bdev;
	unsigned int lbs = bdev_logical_block_size(bdev);
	__le16 phys = zero_based(bdev_physical_block_size(bdev) / lbs);

	/* What a device writes in one piece stays in one piece. */
	id->nsfeat |= NVME_NS_FEAT_ATOMICS;
	id->nawun = phys;
	id->nawupf = phys;
	id->nacwu = phys;

	id->nsfeat |= NSFEAT_OPTPERF;
	id->npwg = zero_based(bdev_io_min(bdev) / lbs);
	id->npwa = id->npwg;
	id->npdg = zero_based(bdev_discard_granularity(bdev) / lbs);
	id->npda = id->npdg;
	id->nows = zero_based(bdev_io_opt(bdev) / lbs);
}

static u16 bdev_flush(struct qtgt_ns *ns)
{
	if (bdev_write_cache(ns->bdev) && blkdev_issue_flush(ns->bdev))
		return NVME_SC_INTERNAL | NVME_STATUS_DNR;
	return 0;
}

static void bio_done(struct bio *bio)
{
	struct qtgt_req *req = bio->bi_private;
	blk_status_t sts = bio->bi_status;

	if (bio == &req->bio)
		bio_uninit(bio);
	else
		bio_put(bio);
	qtgt_req_complete(req, qtgt_blk_status(req, sts));
}

static struct bio *rw_bio(struct qtgt_req *req, unsigned int nr_vecs,
			  blk_opf_t opf, sector_t sector)
{
	struct bio *bio;

	bio = bio_alloc(req->ns->bdev, bio_max_segs(nr_vecs), opf, GFP_NOIO);
	bio->bi_iter.bi_sector = sector;
	return bio;
}

static void exec_rw(struct qtgt_req *req)
{
	sector_t sector = qtgt_lba_to_sector(req->ns,
					     le64_to_cpu(req->cmd.rw.slba));
	blk_opf_t opf = REQ_OP_READ;
	unsigned int left = req->sg_cnt;
	struct scatterlist *sg;
	struct bio *bio, *prev;
	int i;

	if (req->cmd.rw.opcode == nvme_cmd_write) {
		opf = REQ_OP_WRITE | REQ_SYNC | REQ_IDLE;
		if (req->cmd.rw.control & cpu_to_le16(NVME_RW_FUA))
			opf |= REQ_FUA;
	}

	if (likely(req->sg_cnt <= QTGT_INLINE_BVECS)) {
		bio = &req->bio;
		bio_init(bio, req->ns->bdev, req->bvecs, QTGT_INLINE_BVECS,
			 opf);
		bio->bi_iter.bi_sector = sector;
	} else {
		bio = rw_bio(req, left, opf, sector);
	}
	bio->bi_private = req;
	bio->bi_end_io = bio_done;

	for_each_sg(req->sg, sg, req->sg_cnt, i) {
		while (unlikely(!bio_add_page(bio, sg_page(sg), sg->length,
					      sg->offset))) {
			prev = bio;
			bio = rw_bio(req, left, opf, sector);
			bio_chain(bio, prev);
			submit_bio(prev);
		}
		sector += sg->length >> SECTOR_SHIFT;
		left--;
	}
	submit_bio(bio);
}

static void exec_flush(struct qtgt_req *req)
{
	struct bio *bio = &req->bio;

	bio_init(bio, req->ns->bdev, NULL, 0, REQ_OP_WRITE | REQ_PREFLUSH);
	bio->bi_private = req;
	bio->bi_end_io = bio_done;
	submit_bio(bio);
}

static void exec_nothing(struct qtgt_req *req)
{
	qtgt_req_complete(req, 0);
}

/* Start what was chained so far and wait for it without a thread. */
static void finish_chain(struct qtgt_req *req, struct bio *bio, u16 status)
{
	if (!bio) {
		qtgt_req_complete(req, status);
		return;
	}
	bio->bi_private = req;
	bio->bi_end_io = bio_done;
	submit_bio(bio);
}

static struct bio *discard_range(struct qtgt_ns *ns, struct bio *chain,
				 sector_t sector, sector_t count)
{
	struct bio *bio;

	while (count) {
		sector_t n = min_t(sector_t, count, DISCARD_SECTORS);

		bio = bio_alloc(ns->bdev, 0, REQ_OP_DISCARD, GFP_NOIO);
		bio->bi_iter.bi_sector = sector;
		bio->bi_iter.bi_size = n << SECTOR_SHIFT;
		if (chain) {
			bio_chain(chain, bio);
			submit_bio(chain);
		}
		chain = bio;
		sector += n;
		count -= n;
	}
	return chain;
}

/* Does a range of blocks lie within the namespace? */
static bool range_ok(const struct qtgt_ns *ns, u64 slba, u64 nlb)
{
	u64 end;

	return !check_add_overflow(slba, nlb, &end) &&
	       end <= READ_ONCE(ns->size) >> ns->blksize_shift;
}

/* All ranges are checked before the first is touched. */
static u16 check_ranges(struct qtgt_req *req, unsigned int nr)
{
	struct nvme_dsm_range range;
	unsigned int i;
	u16 status;

	for (i = 0; i < nr; i++) {
		status = qtgt_copy_from_data(req, i * sizeof(range), &range,
					     sizeof(range));
		if (status)
			return status;
		if (!range_ok(req->ns, le64_to_cpu(range.slba),
			      le32_to_cpu(range.nlb))) {
			req->error_slba = le64_to_cpu(range.slba);
			return qtgt_bad_field(req,
					      offsetof(struct nvme_dsm_cmd, nr),
					      NVME_SC_LBA_RANGE);
		}
	}
	return 0;
}

static unsigned int dsm_ranges(const struct qtgt_req *req)
{
	return (le32_to_cpu(req->cmd.dsm.nr) & 0xff) + 1;
}

static void exec_discard(struct qtgt_req *req)
{
	struct qtgt_ns *ns = req->ns;
	unsigned int shift = ns->blksize_shift - SECTOR_SHIFT;
	unsigned int i, nr = dsm_ranges(req);
	struct nvme_dsm_range range;
	struct bio *chain = NULL;
	u16 status;

	status = check_ranges(req, nr);
	for (i = 0; i < nr && !status; i++) {
		status = qtgt_copy_from_data(req, i * sizeof(range), &range,
					     sizeof(range));
		if (status)
			break;
		chain = discard_range(ns, chain,
				      qtgt_lba_to_sector(ns, le64_to_cpu(range.slba)),
				      (sector_t)le32_to_cpu(range.nlb) << shift);
	}
	finish_chain(req, chain, status);
}

static void exec_write_zeroes(struct qtgt_req *req)
{
	const struct nvme_write_zeroes_cmd *c = &req->cmd.write_zeroes;
	struct qtgt_ns *ns = req->ns;
	struct bio *bio = NULL;
	sector_t sector, count;
	int err;

	sector = qtgt_lba_to_sector(ns, le64_to_cpu(c->slba));
	count = qtgt_lba_to_sector(ns, le16_to_cpu(c->length) + 1);
	err = __blkdev_issue_zeroout(ns->bdev, sector, count, GFP_NOIO, &bio,
				     0);
	finish_chain(req, bio, err ? qtgt_errno_status(req, err) : 0);
}

/* Read, Write and Write Zeroes share the place of SLBA and NLB. */
static u16 check_range(struct qtgt_req *req)
{
	u64 slba = le64_to_cpu(req->cmd.rw.slba);

	if (likely(range_ok(req->ns, slba,
			    le16_to_cpu(req->cmd.rw.length) + 1)))
		return 0;
	req->error_slba = slba;
	return qtgt_bad_field(req, offsetof(struct nvme_rw_command, slba),
			      NVME_SC_LBA_RANGE);
}

static u16 parse_rw(struct qtgt_req *req)
{
	u64 len = (le16_to_cpu(req->cmd.rw.length) + 1ULL) <<
		  req->ns->blksize_shift;

	if (unlikely(len > QTGT_MAX_DATA_LEN))
		return qtgt_bad_field(req,
				      offsetof(struct nvme_rw_command, length),
				      NVME_SC_INVALID_FIELD);
	req->data_len = len;
	req->execute = exec_rw;
	return check_range(req);
}

static u16 bdev_parse(struct qtgt_req *req)
{
	u16 status = 0;

	switch (req->cmd.common.opcode) {
	case nvme_cmd_read:
	case nvme_cmd_write:
		return parse_rw(req);
	case nvme_cmd_flush:
		if (bdev_write_cache(req->ns->bdev)) {
			req->execute = exec_flush;
		} else {
			req->execute = exec_nothing;
			req->atomic = true;
		}
		return 0;
	case nvme_cmd_write_zeroes:
		status = check_range(req);
		req->execute = exec_write_zeroes;
		return status;
	case nvme_cmd_dsm:
		/* Hosts may describe room for the most ranges there can be. */
		req->data_len = dsm_ranges(req) * sizeof(struct nvme_dsm_range);
		req->len_rule = QTGT_LEN_AT_LEAST;
		req->execute = exec_nothing;
		if (req->cmd.dsm.attributes & cpu_to_le32(NVME_DSMGMT_AD) &&
		    bdev_max_discard_sectors(req->ns->bdev))
			req->execute = exec_discard;
		return 0;
	default:
		return qtgt_bad_opcode(req);
	}
}

const struct qtgt_backend_ops qtgt_bdev_ops = {
	.name		= "block device",
	.open		= bdev_open,
	.close		= bdev_close,
	.revalidate	= bdev_revalidate,
	.parse		= bdev_parse,
	.identify	= bdev_identify,
	.flush		= bdev_flush,
	.stats		= bdev_stats,
};
