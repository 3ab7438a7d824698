/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A subsystem on a port, for KUnit tests of what the target says to a command:
 * all is real but the transport, which only keeps the response, and the block
 * device, which is not there.
 */
#ifndef QTGT_KUNIT_BENCH_H
#define QTGT_KUNIT_BENCH_H

#include <kunit/test.h>
#include "internal.h"

#define BENCH_SUBSYS	"quarry-kunit"
#define BENCH_HOST	"quarry-kunit-host"
#define BENCH_MQES	64	/* entries of an I/O queue, at most */
#define BENCH_QIDS	4	/* I/O queues, at most */
#define BENCH_BLOCKS	1000	/* of namespace 1 */
#define BENCH_CC	0x00460001	/* EN, entries of 64 and 16 bytes */

struct qtgt_bench {
	struct kunit		*test;
	struct qtgt_port	port;
	struct qtgt_port_link	link;
	struct qtgt_subsys	*subsys;
	struct qtgt_queue	admin, io;
	struct qtgt_ns		ns;
	struct nvme_completion	cqe;
	struct qtgt_req		req;
	struct scatterlist	sg;
	u8			*data;		/* a page */
	unsigned int		responses;
};

/* Make it; qtgt_bench_exit() ends it. */
struct qtgt_bench *qtgt_bench_open(struct kunit *test);
void qtgt_bench_exit(struct kunit *test);

/* Connect the admin queue, enable the controller, connect I/O queue 1. */
void qtgt_bench_connect(struct qtgt_bench *b);

/* The Connect for a queue, with its data in the bench's page. */
struct nvme_command qtgt_bench_connect_cmd(struct qtgt_bench *b, u16 qid);

/*
 * Bring a command in, with so many bytes behind it in the capsule, and carry
 * it out (run) or only look whether it would be (check). Returns the status
 * without the bits Do Not Retry and More.
 */
u16 qtgt_bench_run(struct qtgt_bench *b, struct qtgt_queue *queue,
		   const struct nvme_command *cmd, u32 capsule);
u16 qtgt_bench_check(struct qtgt_bench *b, struct qtgt_queue *queue,
		     const struct nvme_command *cmd, u32 capsule);

/* Write and read a property of the connected controller. */
u16 qtgt_bench_prop_set(struct qtgt_bench *b, u32 reg, u64 value);
u16 qtgt_bench_prop_get(struct qtgt_bench *b, u32 reg, bool wide, u64 *value);

/* A command of I/O queue 1 on blocks of namespace 1, with a keyed SGL. */
struct nvme_command qtgt_bench_rw(u8 opcode, u64 slba, u32 blocks);
/* The same command with another keyed SGL. */
struct nvme_command qtgt_bench_keyed(struct nvme_command cmd, u8 type,
				     u64 addr, u32 len);

#endif
