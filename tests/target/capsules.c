// SPDX-License-Identifier: GPL-2.0-only
/*
 * A host that says what no host should: connection requests and capsules with
 * one thing wrong in each, by user-space verbs. Prints how the target answers.
 *
 * usage: capsules ADDRESS SUBSYSTEM-NQN [silent]
 *
 * silent: a host that leaves out Connect, for a target whose patience ends
 * after two seconds.
 */
#include <assert.h>
#include <endian.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <linux/types.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

#define DEPTH		32
#define CAPSULE		(64 + 16384)
#define DATA		8192
#define WAIT_MS		3000

#define FABRICS		0x7f
#define CONNECT		0x01
#define PROPERTY_SET	0x00
#define PROPERTY_GET	0x04

#define SGL_KEYED	0x40
#define SGL_OFFSET	0x01

static const char *address, *nqn;
static const char *hostnqn = "nqn.2014-08.org.example:evil";

struct cm_req {
	__u16 recfmt, qid, hrqsize, hsqsize, cntlid;
	__u8 rsvd[22];
};

union sqe {
	__u8 b[64];
	struct {
		__u8 opcode, flags;
		__u16 cid;
		__u32 nsid, cdw2[4];
		__u64 addr;
		__u32 len;
		__u8 key_or_rsvd[3];
		__u8 sgl;
		__u32 cdw10[6];
	};
};

static_assert(sizeof(union sqe) == 64, "as on the wire");

struct cqe {
	__u64 result;
	__u16 sqhd, sqid, cid, status;
};

struct host {
	struct rdma_cm_id *id;
	struct ibv_mr *mr;
	struct {
		__u8 capsule[CAPSULE];
		__u8 data[DATA];
		struct cqe cqes[DEPTH];
	} *mem;
	__u16 cid;
};

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static struct rdma_cm_id *resolve(void)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP }, *res;
	struct ibv_qp_init_attr attr = {
		.cap = {
			.max_send_wr = DEPTH, .max_recv_wr = DEPTH,
			.max_send_sge = 1, .max_recv_sge = 1,
		},
		.sq_sig_all = 1,
	};
	struct rdma_cm_id *id;

	if (rdma_getaddrinfo(address, "4420", &hints, &res))
		die("rdma_getaddrinfo");
	if (rdma_create_ep(&id, res, NULL, &attr))
		die("rdma_create_ep");
	rdma_freeaddrinfo(res);
	return id;
}

static int try_connect(struct rdma_cm_id *id, const void *priv, size_t len)
{
	struct rdma_conn_param param = {
		.private_data = priv, .private_data_len = len,
		.responder_resources = 1, .retry_count = 7,
		.rnr_retry_count = 7,
	};

	return rdma_connect(id, &param);
}

/* A connection request, and the reason that the target refuses it for. */
static void request(const char *what, const void *priv, size_t len)
{
	struct rdma_cm_id *id = resolve();
	const __u16 *rej;

	if (!try_connect(id, priv, len)) {
		printf("%s: accepted\n", what);
		rdma_disconnect(id);
	} else if (id->event && id->event->param.conn.private_data_len >= 4) {
		rej = id->event->param.conn.private_data;
		printf("%s: refused, reason %u\n", what, le16toh(rej[1]));
	} else {
		printf("%s: refused\n", what);
	}
	rdma_destroy_ep(id);
}

static void open_host(struct host *h, __u16 qid)
{
	struct cm_req req = {
		.qid = htole16(qid), .hrqsize = htole16(DEPTH),
		.hsqsize = htole16(DEPTH - 1),
	};
	int i;

	memset(h, 0, sizeof(*h));
	h->id = resolve();
	h->mem = calloc(1, sizeof(*h->mem));
	h->mr = ibv_reg_mr(h->id->pd, h->mem, sizeof(*h->mem),
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
			   IBV_ACCESS_REMOTE_WRITE);
	if (!h->mr)
		die("ibv_reg_mr");
	for (i = 0; i < DEPTH - 1; i++)
		if (rdma_post_recv(h->id, &h->mem->cqes[i], &h->mem->cqes[i],
				   sizeof(struct cqe), h->mr))
			die("rdma_post_recv");
	if (try_connect(h->id, &req, sizeof(req)))
		die("rdma_connect");
}

static void close_host(struct host *h)
{
	rdma_disconnect(h->id);
	ibv_dereg_mr(h->mr);
	rdma_destroy_ep(h->id);
	free(h->mem);
}

static int poll_cq(struct ibv_cq *cq, struct ibv_wc *wc)
{
	int i, n;

	for (i = 0; i < WAIT_MS * 10; i++) {
		n = ibv_poll_cq(cq, 1, wc);
		if (n)
			return n;
		usleep(100);
	}
	return 0;
}

static int post(struct host *h, const union sqe *sqe, size_t len)
{
	struct ibv_wc wc;

	memcpy(h->mem->capsule, sqe, sizeof(*sqe));
	if (rdma_post_send(h->id, NULL, h->mem->capsule, len, h->mr, 0))
		return -1;
	return poll_cq(h->id->send_cq, &wc) == 1 &&
	       wc.status == IBV_WC_SUCCESS ? 0 : -1;
}

/* The answer's status without DNR and More; -1 where the connection ended. */
static int answer(struct host *h, __u64 *result)
{
	struct cqe *cqe;
	struct ibv_wc wc;

	if (poll_cq(h->id->recv_cq, &wc) != 1 || wc.status != IBV_WC_SUCCESS)
		return -1;
	cqe = (struct cqe *)(uintptr_t)wc.wr_id;
	if (result)
		*result = le64toh(cqe->result);
	if (rdma_post_recv(h->id, cqe, cqe, sizeof(*cqe), h->mr))
		return -1;
	return le16toh(cqe->status) >> 1 & 0x7ff;
}

static int command(struct host *h, union sqe *sqe, size_t len,
		   __u64 *result)
{
	sqe->cid = htole16(h->cid++);
	if (post(h, sqe, len))
		return -1;
	return answer(h, result);
}

static void show(const char *what, int status)
{
	if (status < 0)
		printf("%s: the connection has ended\n", what);
	else
		printf("%s: %#x\n", what, status);
}

static void set_keyed(struct host *h, union sqe *sqe, __u32 len)
{
	__u32 key = h->mr->rkey;

	sqe->addr = htole64((uintptr_t)h->mem->data);
	sqe->len = htole32(len | key << 24);
	sqe->key_or_rsvd[0] = key >> 8;
	sqe->key_or_rsvd[1] = key >> 16;
	sqe->key_or_rsvd[2] = key >> 24;
	sqe->sgl = SGL_KEYED;
}

static union sqe make(__u8 opcode)
{
	union sqe sqe = { .opcode = opcode, .flags = 0x40, .nsid = htole32(1),
			  .sgl = SGL_KEYED };

	return sqe;
}

static union sqe fabrics(__u8 type)
{
	union sqe sqe = make(FABRICS);

	sqe.nsid = type;
	return sqe;
}

static union sqe connect_cmd(struct host *h, __u16 qid, __u16 sqsize,
			     __u16 cntlid)
{
	union sqe sqe = fabrics(CONNECT);

	memset(h->mem->data, 0, 1024);
	memcpy(h->mem->data, "0123456789abcdef", 16);
	h->mem->data[16] = cntlid;
	h->mem->data[17] = cntlid >> 8;
	snprintf((char *)h->mem->data + 256, 256, "%s", nqn);
	snprintf((char *)h->mem->data + 512, 256, "%s", hostnqn);
	sqe.cdw10[0] = htole32((__u32)qid << 16);
	sqe.cdw10[1] = htole32(sqsize);
	set_keyed(h, &sqe, 1024);
	return sqe;
}

static int property_set_cc(struct host *h, __u32 cc)
{
	union sqe sqe = fabrics(PROPERTY_SET);

	sqe.cdw10[1] = htole32(0x14);
	sqe.cdw10[2] = htole32(cc);
	return command(h, &sqe, 64, NULL);
}

/* Connect the admin queue and enable the controller; returns its ID. */
static __u16 open_admin(struct host *h)
{
	union sqe sqe;
	__u64 cntlid;

	open_host(h, 0);
	sqe = connect_cmd(h, 0, DEPTH - 1, 0xffff);
	if (command(h, &sqe, 64, &cntlid) ||
	    property_set_cc(h, 0x460001))
		die("admin queue");
	return cntlid;
}

static void open_io(struct host *h, __u16 qid, __u16 cntlid)
{
	union sqe sqe;

	open_host(h, qid);
	sqe = connect_cmd(h, qid, DEPTH - 1, cntlid);
	if (command(h, &sqe, 64, NULL))
		die("I/O queue");
}

static void test_requests(void)
{
	struct cm_req good = { .hrqsize = htole16(32), .hsqsize = htole16(31) };
	struct cm_req req;

	request("request", &good, sizeof(good));
	request("request of 4 bytes", &good, 4);
	request("request of nothing", NULL, 0);
	req = good;
	req.recfmt = htole16(7);
	request("request of format 7", &req, sizeof(req));
	req = good;
	req.qid = htole16(1000);
	request("request for queue 1000", &req, sizeof(req));
	req = good;
	req.hsqsize = htole16(65535);
	request("request for 65536 entries", &req, sizeof(req));
	req = good;
	req.hsqsize = 0;
	request("request for 1 entry", &req, sizeof(req));
	req = good;
	req.hsqsize = htole16(64);
	request("request for 65 admin entries", &req, sizeof(req));
	req = good;
	req.hrqsize = 0;
	request("request for no responses", &req, sizeof(req));
}

static void one(const char *what, __u16 qid, union sqe (*fill)(struct host *h),
		size_t len)
{
	struct host h;
	union sqe sqe;

	open_host(&h, qid);
	sqe = fill(&h);
	show(what, command(&h, &sqe, len, NULL));
	close_host(&h);
}

static union sqe identify_cmd(struct host *h)
{
	union sqe sqe = make(0x06);

	sqe.cdw10[0] = htole32(1);
	set_keyed(h, &sqe, 4096);
	return sqe;
}

static union sqe prop_get(struct host *h)
{
	(void)h;
	return fabrics(PROPERTY_GET);
}

static union sqe good_connect(struct host *h)
{
	return connect_cmd(h, 0, DEPTH - 1, 0xffff);
}

static union sqe connect_recfmt(struct host *h)
{
	union sqe sqe = good_connect(h);

	sqe.cdw10[0] |= htole32(1);
	return sqe;
}

static union sqe connect_cntlid(struct host *h)
{
	return connect_cmd(h, 0, DEPTH - 1, 5);
}

static union sqe connect_sqsize(struct host *h)
{
	return connect_cmd(h, 0, 0, 0xffff);
}

static union sqe connect_endless(struct host *h)
{
	union sqe sqe = good_connect(h);

	memset(h->mem->data + 256, 'a', 512);
	return sqe;
}

static union sqe connect_short(struct host *h)
{
	union sqe sqe = good_connect(h);

	set_keyed(h, &sqe, 512);
	return sqe;
}

static union sqe connect_bad_key(struct host *h)
{
	union sqe sqe = good_connect(h);

	sqe.key_or_rsvd[1] ^= 0x55;
	return sqe;
}

static union sqe connect_io(struct host *h)
{
	return connect_cmd(h, 1, DEPTH - 1, 0xfff0);
}

static void test_connect(void)
{
	one("Identify before Connect", 0, identify_cmd, 64);
	one("Property Get before Connect", 0, prop_get, 64);
	one("a capsule of 32 bytes", 0, good_connect, 32);
	one("Connect, record format 1", 0, connect_recfmt, 64);
	one("Connect, controller 5", 0, connect_cntlid, 64);
	one("Connect, size 0", 0, connect_sqsize, 64);
	one("Connect, names without end", 0, connect_endless, 64);
	one("Connect, 512 bytes of data", 0, connect_short, 64);
	one("Connect, wrong key", 0, connect_bad_key, 64);
	one("Connect, queue of no controller", 1, connect_io, 64);
	one("Connect", 0, good_connect, 64);
}

static void test_admin(void)
{
	struct host h, io;
	__u16 cntlid;
	union sqe sqe;
	int i;

	cntlid = open_admin(&h);
	sqe = good_connect(&h);
	show("Connect once more", command(&h, &sqe, 64, NULL));
	sqe = identify_cmd(&h);
	sqe.flags = 0x41;
	show("fused", command(&h, &sqe, 64, NULL));
	sqe.flags = 0;
	show("PRPs", command(&h, &sqe, 64, NULL));
	sqe.flags = 0x80;
	show("PSDT 10b", command(&h, &sqe, 64, NULL));
	sqe = identify_cmd(&h);
	show("Identify", command(&h, &sqe, 64, NULL));

	open_host(&io, 1);
	sqe = connect_cmd(&io, 200, DEPTH - 1, cntlid);
	show("Connect, queue 200", command(&io, &sqe, 64, NULL));
	sqe = connect_cmd(&io, 1, 1000, cntlid);
	show("Connect, 1001 entries", command(&io, &sqe, 64, NULL));
	hostnqn = "nqn.2014-08.org.example:other";
	sqe = connect_cmd(&io, 1, DEPTH - 1, cntlid);
	show("Connect, controller of another host", command(&io, &sqe, 64, NULL));
	hostnqn = "nqn.2014-08.org.example:evil";
	sqe = connect_cmd(&io, 1, DEPTH - 1, cntlid);
	show("Connect, queue 1", command(&io, &sqe, 64, NULL));
	close_host(&io);

	for (i = 0; i < 5; i++) {
		sqe = make(0x0c);
		sqe.cid = htole16(100 + i);
		if (post(&h, &sqe, 64))
			die("event request");
	}
	show("fifth Asynchronous Event Request", answer(&h, NULL));
	close_host(&h);
}

static union sqe rw(struct host *h, __u8 opcode, __u16 blocks)
{
	union sqe sqe = make(opcode);

	sqe.cdw10[2] = htole32(blocks - 1);
	set_keyed(h, &sqe, blocks * 512);
	return sqe;
}

static void capsule_sgl(union sqe *sqe, __u64 off, __u32 len)
{
	sqe->addr = htole64(off);
	sqe->len = htole32(len);
	memset(sqe->key_or_rsvd, 0, sizeof(sqe->key_or_rsvd));
	sqe->sgl = SGL_OFFSET;
}

static void test_capsule_sgl(struct host *h)
{
	union sqe sqe;

	sqe = rw(h, 0x01, 2);
	capsule_sgl(&sqe, 0, 1024);
	show("Write, data in the capsule", command(h, &sqe, 64 + 1024, NULL));
	capsule_sgl(&sqe, 512, 1024);
	show("Write, data at an offset", command(h, &sqe, 64 + 1536, NULL));
	capsule_sgl(&sqe, 0, 1024);
	show("Write, data that did not come", command(h, &sqe, 64 + 512, NULL));
	capsule_sgl(&sqe, 4096, 1024);
	show("Write, data behind the capsule", command(h, &sqe, 64 + 4096, NULL));
	capsule_sgl(&sqe, UINT64_MAX - 511, 1024);
	show("Write, offset that wraps", command(h, &sqe, 64 + 4096, NULL));
	capsule_sgl(&sqe, 0, 512);
	show("Write, too little in the capsule", command(h, &sqe, 64 + 512, NULL));
	sqe = rw(h, 0x02, 2);
	capsule_sgl(&sqe, 0, 1024);
	show("Read into the capsule", command(h, &sqe, 64 + 1024, NULL));
	sqe = rw(h, 0x01, 2);
	show("Write, keyed, and data for nothing", command(h, &sqe, 64 + 4096, NULL));
}

static void test_keyed_sgl(struct host *h)
{
	union sqe sqe;
	int type;

	for (type = 0; type < 256; type += 0x10) {
		if (type == SGL_KEYED)
			continue;
		sqe = rw(h, 0x02, 2);
		sqe.sgl = type | (type ? 0 : 5);
		printf("SGL type %#x: %#x\n", sqe.sgl,
		       command(h, &sqe, 64, NULL));
	}
	sqe = rw(h, 0x02, 2);
	sqe.sgl = SGL_KEYED | 3;
	show("SGL subtype 3", command(h, &sqe, 64, NULL));
	sqe = rw(h, 0x02, 2);
	sqe.addr = htole64(UINT64_MAX - 100);
	show("address that wraps", command(h, &sqe, 64, NULL));
	sqe = rw(h, 0x02, 2);
	sqe.len |= htole32(0xffffff);
	show("length of 16 MiB", command(h, &sqe, 64, NULL));
	sqe = rw(h, 0x02, 2);
	sqe.cdw10[2] = htole32(0xffff);
	show("65536 blocks", command(h, &sqe, 64, NULL));
	sqe = rw(h, 0x02, 2);
	sqe.cdw10[0] = 0xffffffff;
	sqe.cdw10[1] = 0xffffffff;
	show("LBA ffffffffffffffffh", command(h, &sqe, 64, NULL));
	sqe = rw(h, 0x02, 2);
	sqe.nsid = 0xffffffff;
	show("every namespace", command(h, &sqe, 64, NULL));
	sqe = good_connect(h);
	show("Connect on an I/O queue", command(h, &sqe, 64, NULL));
	sqe = fabrics(PROPERTY_GET);
	show("Property Get on an I/O queue", command(h, &sqe, 64, NULL));
	sqe = rw(h, 0x02, 2);
	show("Read", command(h, &sqe, 64, NULL));
}

/* What ends the connection: a key that is not there. */
static void test_keys(__u16 cntlid)
{
	struct host h;
	union sqe sqe;

	open_io(&h, 2, cntlid);
	sqe = rw(&h, 0x02, 2);
	sqe.key_or_rsvd[1] ^= 0x55;
	show("Read to a wrong key", command(&h, &sqe, 64, NULL));
	close_host(&h);
}

static void test_writes(void)
{
	struct host admin, h;
	union sqe sqe;
	__u16 cntlid = open_admin(&admin);

	open_io(&h, 1, cntlid);
	sqe = rw(&h, 0x01, 2);
	sqe.key_or_rsvd[1] ^= 0x55;
	show("Write from a wrong key", command(&h, &sqe, 64, NULL));
	close_host(&h);
	close_host(&admin);
}

/* Go away in the middle of as much as there can be. */
static void test_leave(void)
{
	struct host admin, h;
	union sqe sqe;
	int i, j;

	for (i = 0; i < 20; i++) {
		open_io(&h, 1, open_admin(&admin));
		for (j = 0; j < DEPTH - 1; j++) {
			sqe = rw(&h, j & 1 ? 0x01 : 0x02, 16);
			sqe.cid = htole16(j);
			if (post(&h, &sqe, 64))
				break;
		}
		close_host(&h);
		close_host(&admin);
	}
	printf("left in the middle\n");
}

/* When the target hangs up. */
static void wait_end(struct host *h, const char *what)
{
	struct pollfd fd = { .fd = h->id->channel->fd, .events = POLLIN };
	struct rdma_cm_event *event;
	struct timespec from, to;

	clock_gettime(CLOCK_MONOTONIC, &from);
	if (poll(&fd, 1, 10000) != 1 || rdma_get_cm_event(h->id->channel, &event)) {
		printf("%s: for ever\n", what);
		return;
	}
	clock_gettime(CLOCK_MONOTONIC, &to);
	fprintf(stderr, "%s: %ld s\n", what, to.tv_sec - from.tv_sec);
	printf("%s: %s\n", what, rdma_event_str(event->event));
	rdma_ack_cm_event(event);
}

static void test_silence(void)
{
	struct host admin, h;
	union sqe sqe;
	__u16 cntlid;

	open_host(&h, 0);
	wait_end(&h, "no Connect");
	close_host(&h);

	open_host(&h, 0);
	sqe = connect_recfmt(&h);
	show("a wrong Connect", command(&h, &sqe, 64, NULL));
	wait_end(&h, "and no other");
	close_host(&h);

	cntlid = open_admin(&admin);
	open_host(&h, 1);
	wait_end(&h, "an I/O queue without Connect");
	close_host(&h);
	open_io(&h, 1, cntlid);
	sleep(4);
	sqe = rw(&h, 0x02, 2);
	show("a Read on one with Connect", command(&h, &sqe, 64, NULL));
	close_host(&h);
	close_host(&admin);
}

int main(int argc, char **argv)
{
	struct host admin, h;
	__u16 cntlid;

	if (argc < 3 || argc > 4)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	address = argv[1];
	nqn = argv[2];
	if (argc == 4) {
		test_silence();
		return 0;
	}

	test_requests();
	test_connect();
	test_admin();
	cntlid = open_admin(&admin);
	open_io(&h, 1, cntlid);
	test_capsule_sgl(&h);
	test_keyed_sgl(&h);
	close_host(&h);
	test_keys(cntlid);
	close_host(&admin);
	test_writes();
	test_leave();
	return 0;
}
