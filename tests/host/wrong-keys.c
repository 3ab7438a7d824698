// SPDX-License-Identifier: GPL-2.0-only
/*
 * A target that is well-behaved until it does one thing to a host's memory, or
 * to a key of it, that no target may do. By user-space verbs.
 *
 * usage: wrong-keys ADDRESS PORT HOW, see struct face below. Prints
 * "listening", and how its own device says that the thing ended.
 */
#include <endian.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/types.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

#define DEPTH		64
#define COMMAND		64
#define PAGE		4096

#define FABRICS		0x7f
#define CONNECT		0x01
#define PROPERTY_GET	0x04
#define IDENTIFY	0x06
#define SET_FEATURES	0x09
#define KEEP_ALIVE	0x18

#define CAP	(127 | 1ULL << 16 | 15ULL << 24 | 1ULL << 37)
#define VERSION	0x10300

struct cqe {
	__u64 result;
	__u16 sqhd, sqid, cid, status;
};

struct queue {
	struct rdma_cm_id *id;
	struct ibv_mr *mr;
	struct {
		__u8 commands[DEPTH][COMMAND];
		__u8 data[PAGE];
		struct cqe cqe;
	} *mem;
};

/* What a command says of its data. */
struct data {
	__u64 addr;
	__u32 len, key;
};

static struct queue admin, io;
/* Of the Connect of either queue, as first seen. */
static struct data admin_data, io_data;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static struct data data_of(const __u8 *cmd)
{
	struct data d = {};

	memcpy(&d.addr, cmd + 24, 8);
	memcpy(&d.len, cmd + 32, 3);
	memcpy(&d.key, cmd + 35, 4);
	d.addr = le64toh(d.addr);
	d.len = le32toh(d.len);
	d.key = le32toh(d.key);
	return d;
}

static void post(struct queue *q, struct ibv_send_wr *wr, void *from, size_t len)
{
	struct ibv_sge sge = { (uintptr_t)from, len, q->mr->lkey };
	struct ibv_send_wr *bad;
	struct ibv_wc wc = {};

	wr->sg_list = &sge;
	wr->num_sge = !!len;
	wr->send_flags = IBV_SEND_SIGNALED;
	if (ibv_post_send(q->id->qp, wr, &bad))
		die("ibv_post_send");
	while (!ibv_poll_cq(q->id->send_cq, 1, &wc))
		usleep(100);
	if (wc.status)
		printf("%s\n", ibv_wc_status_str(wc.status));
}

static void answer(struct queue *q, const __u8 *cmd, __u64 result, __u32 inv)
{
	struct ibv_send_wr wr = {
		.opcode = inv ? IBV_WR_SEND_WITH_INV : IBV_WR_SEND,
		.invalidate_rkey = inv,
	};

	q->mem->cqe = (struct cqe) { .result = htole64(result) };
	memcpy(&q->mem->cqe.cid, cmd + 2, 2);
	post(q, &wr, &q->mem->cqe, sizeof(q->mem->cqe));
}

static void rdma_write(struct queue *q, enum ibv_wr_opcode opcode, __u64 addr, __u32 key, __u32 len)
{
	struct ibv_send_wr wr = {
		.opcode = opcode,
		.wr.rdma = { addr, key },
	};

	post(q, &wr, q->mem->data, len);
}

static void identify(struct queue *q, const __u8 *cmd)
{
	struct data d = data_of(cmd);
	__u8 *id = q->mem->data;
	__u32 sgls = htole32(1 << 2 | 1 << 20), ioccsz = htole32(4);

	memset(id, 0, PAGE);
	id[78] = 1;		/* CNTLID */
	id[512] = 0x66;		/* SQES */
	id[513] = 0x44;		/* CQES */
	id[516] = 1;		/* NN */
	memcpy(id + 536, &sgls, 4);
	memcpy(id + 1792, &ioccsz, 4);
	id[1796] = 1;		/* IORCSZ */
	rdma_write(q, IBV_WR_RDMA_WRITE, d.addr, d.key, d.len);
	answer(q, cmd, 0, d.key);
}

static void property_get(struct queue *q, const __u8 *cmd)
{
	switch (cmd[44]) {
	case 0x00:
		return answer(q, cmd, CAP, 0);
	case 0x08:
		return answer(q, cmd, VERSION, 0);
	default:
		return answer(q, cmd, 1, 0);
	}
}

/* What a good target does. */
static void serve(struct queue *q, const __u8 *cmd)
{
	if (cmd[0] == FABRICS && cmd[4] == CONNECT)
		answer(q, cmd, 1, data_of(cmd).key);
	else if (cmd[0] == FABRICS && cmd[4] == PROPERTY_GET)
		property_get(q, cmd);
	else if (cmd[0] == IDENTIFY)
		identify(q, cmd);
	else
		answer(q, cmd, 0, 0);
}

static int is_connect(const __u8 *cmd)
{
	return cmd[0] == FABRICS && cmd[4] == CONNECT;
}

static int is_property(const __u8 *cmd)
{
	return cmd[0] == FABRICS && cmd[4] == PROPERTY_GET;
}

/* The faces: each does its thing and returns 1, or 0 where it is not time yet. */

static int generation(struct queue *q, const __u8 *cmd)
{
	answer(q, cmd, 1, data_of(cmd).key ^ 1);
	return 1;
}

static int region(struct queue *q, const __u8 *cmd)
{
	answer(q, cmd, 1, data_of(cmd).key ^ 0x4000);
	return 1;
}

/* Another command's, on another queue, which is out. */
static int others(struct queue *q, const __u8 *cmd)
{
	if (q == &io)
		return is_connect(cmd) ? -1 : 0;
	if (cmd[0] != KEEP_ALIVE || !io_data.key)
		return 0;
	answer(q, cmd, 0, io_data.key);
	return 1;
}

/* One that has been answered, and the key invalidated with the answer. */
static int again(struct queue *q, const __u8 *cmd)
{
	if (!is_property(cmd))
		return 0;
	answer(q, cmd, CAP, admin_data.key);
	return 1;
}

static int write_late(struct queue *q, const __u8 *cmd)
{
	if (!is_property(cmd))
		return 0;
	rdma_write(q, IBV_WR_RDMA_WRITE, admin_data.addr, admin_data.key, 16);
	return 1;
}

/* The host's data of Connect are to be read only. */
static int write_source(struct queue *q, const __u8 *cmd)
{
	struct data d = data_of(cmd);

	rdma_write(q, IBV_WR_RDMA_WRITE, d.addr, d.key, 16);
	return 1;
}

static int write_beyond(struct queue *q, const __u8 *cmd)
{
	struct data d = data_of(cmd);

	if (cmd[0] != IDENTIFY)
		return 0;
	rdma_write(q, IBV_WR_RDMA_WRITE, d.addr + 64, d.key, d.len);
	return 1;
}

/* Takes a receive without an answer. */
static int immediate(struct queue *q, const __u8 *cmd)
{
	rdma_write(q, IBV_WR_RDMA_WRITE_WITH_IMM, 0, 0, 0);
	return 1;
}

/* As long as an answer. */
static int immediate_answer(struct queue *q, const __u8 *cmd)
{
	struct data d = data_of(cmd);

	if (cmd[0] != IDENTIFY)
		return 0;
	rdma_write(q, IBV_WR_RDMA_WRITE_WITH_IMM, d.addr, d.key, sizeof(struct cqe));
	return 1;
}

static const struct face {
	const char *name;
	int (*act)(struct queue *q, const __u8 *cmd);
} faces[] = {
	{ "generation", generation },
	{ "region", region },
	{ "others", others },
	{ "again", again },
	{ "write-late", write_late },
	{ "write-source", write_source },
	{ "write-beyond", write_beyond },
	{ "immediate", immediate },
	{ "immediate-answer", immediate_answer },
	{ }
};

static void post_recv(struct queue *q, __u8 *buf)
{
	if (rdma_post_recv(q->id, buf, buf, COMMAND, q->mr))
		die("rdma_post_recv");
}

static void take(struct rdma_cm_id *listener, struct queue *q)
{
	struct ibv_qp_init_attr attr = {
		.cap = {
			.max_send_wr = 4, .max_recv_wr = DEPTH,
			.max_send_sge = 1, .max_recv_sge = 1,
		},
		.qp_type = IBV_QPT_RC,
	};
	int i;

	if (rdma_get_request(listener, &q->id) || rdma_create_qp(q->id, NULL, &attr))
		die("rdma_get_request");
	q->mem = calloc(1, sizeof(*q->mem));
	q->mr = ibv_reg_mr(q->id->pd, q->mem, sizeof(*q->mem), IBV_ACCESS_LOCAL_WRITE);
	if (!q->mr)
		die("ibv_reg_mr");
	for (i = 0; i < DEPTH; i++)
		post_recv(q, q->mem->commands[i]);
	if (rdma_accept(q->id, NULL))
		die("rdma_accept");
}

/* A command that has come in, or NULL. */
static __u8 *next(struct queue *q)
{
	struct ibv_wc wc;

	if (!q->id || ibv_poll_cq(q->id->recv_cq, 1, &wc) != 1 || wc.status)
		return NULL;
	return (__u8 *)(uintptr_t)wc.wr_id;
}

static int run(struct rdma_cm_id *listener, const struct face *face)
{
	struct queue *q;
	__u8 *cmd;
	int done;

	take(listener, &admin);
	for (;;) {
		q = &admin;
		cmd = next(q);
		if (!cmd) {
			q = &io;
			cmd = next(q);
		}
		if (!cmd) {
			usleep(1000);
			continue;
		}
		if (is_connect(cmd))
			*(q == &io ? &io_data : &admin_data) = data_of(cmd);
		done = face->act(q, cmd);
		if (done > 0)
			return 0;
		if (done < 0)	/* it gets no answer */
			continue;
		serve(q, cmd);
		if (cmd[0] == SET_FEATURES && !io.id)
			take(listener, &io);
		post_recv(q, cmd);
	}
}

int main(int argc, char **argv)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_PASSIVE, .ai_port_space = RDMA_PS_TCP };
	struct rdma_addrinfo *res;
	struct rdma_cm_id *listener;
	const struct face *face = faces;

	if (argc != 4)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	while (face->name && strcmp(argv[3], face->name))
		face++;
	if (!face->name)
		return 2;
	if (rdma_getaddrinfo(argv[1], argv[2], &hints, &res) ||
	    rdma_create_ep(&listener, res, NULL, NULL) || rdma_listen(listener, 4))
		die("rdma_listen");
	printf("listening\n");
	run(listener, face);
	pause();
	return 0;
}
