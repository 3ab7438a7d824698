/* SPDX-License-Identifier: GPL-2.0-only */
/* What the programs of this folder share: two ends of a connection. */
#ifndef USER_LIB_H
#define USER_LIB_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <linux/types.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_user_rxe.h>

#define NUM(array)	(sizeof(array) / sizeof((array)[0]))

#define PAGE		4096
#define DEPTH		64
#define BUF_SIZE	(1024 * 1024)
#define ALL_ACCESS	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | \
			 IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)

/* One end of a connection, in a context of its own. */
struct end {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_comp_channel *chan;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_srq *srq;		/* of its QP, where there is one */
	enum ibv_qp_type type;		/* 0: RC */
	char *buf;
	struct ibv_mr *mr;
};

/* A queue that librxe has mapped, as /proc/self/maps tells. */
struct mapping {
	void *start;
	size_t size;
	off_t offset;
};

#define die(...) do {							\
	fprintf(stderr, "%s:%d: ", __FILE__, __LINE__);			\
	fprintf(stderr, __VA_ARGS__);					\
	fprintf(stderr, " (errno: %s)\n", strerror(errno));		\
	exit(1);							\
} while (0)

/* What must hold; else the program ends. */
#define must(cond) do {							\
	if (!(cond))							\
		die("not so: %s", #cond);				\
} while (0)

/* The first GID that is an IPv4 address is the source. */
struct ibv_context *open_device(const char *name, int *gid);
void end_open(struct end *e, const char *dev);
void end_create_qp(struct end *e, unsigned int depth);
void end_close(struct end *e);
void end_reset(struct end *e);
int end_to_init(struct end *e);
int end_to_rts(struct end *e, const struct end *peer);
/* A UD QP from reset to where it can send. */
int end_to_rts_ud(struct end *e, __u32 qkey);
struct ibv_ah *make_ah(struct ibv_pd *pd, const struct end *to);
/* A part of the end's buffer. */
struct ibv_sge sge_of(const struct end *e, size_t off, __u32 len);
/* Both ends, open and connected. */
void pair_open(struct end *a, struct end *b, const char *dev);
void pair_connect(struct end *a, struct end *b);
/* After an error: both as new. */
void pair_again(struct end *a, struct end *b);
void pair_close(struct end *a, struct end *b);

struct ibv_send_wr make_wr(enum ibv_wr_opcode opcode, struct ibv_sge *sge,
			   __u64 raddr, __u32 rkey);
int post(struct end *e, struct ibv_send_wr *wr);
int post_recv(struct end *e, struct ibv_sge *sge, __u64 wr_id);
/* The next completion of a queue, within ten seconds. */
struct ibv_wc wait_wc(struct ibv_cq *cq);
/* Post and see how it ends. */
enum ibv_wc_status do_wr(struct end *e, struct ibv_send_wr *wr);
int find_mappings(struct mapping *m, int max);
/* A queue of what was opened last, by the size of its slots. */
struct rxe_queue_buf *queue_of(size_t slot);
double now(void);

struct test_case {
	const char *name;
	void (*run)(void);
};

/*
 * Run all of them, or those that the command line names after the device. A
 * line for each that holds.
 */
int run_cases(const struct test_case *cases, unsigned int count, int argc, char **argv);

#endif
