// SPDX-License-Identifier: GPL-2.0-only
/*
 * A connection of a process with itself that is kept busy with every kind of
 * operation and looks at every byte: for what else happens meanwhile.
 *
 * usage: traffic DEVICE SECONDS [quiet]
 * SECONDS 0: until something ends it. quiet: no complaint when that comes.
 */
#include "lib.h"

#define LEN	(40 << 10)

static bool quiet;

static void end(const char *what)
{
	if (quiet)
		exit(0);
	die("%s", what);
}

static void fill(char *p, unsigned int seed)
{
	unsigned int i;

	for (i = 0; i < LEN; i++)
		p[i] = seed + i * 3 + i / 251;
}

static bool intact(const char *p, unsigned int seed)
{
	static char want[LEN];

	fill(want, seed);
	return !memcmp(p, want, LEN);
}

static void check(struct ibv_cq *cq, __u64 wr_id)
{
	double limit = now() + (quiet ? 2 : 20);
	struct ibv_wc wc;
	int n;

	do {
		n = ibv_poll_cq(cq, 1, &wc);
	} while (!n && now() < limit);
	if (n != 1)
		end("no completion");
	if (wc.status != IBV_WC_SUCCESS || wc.wr_id != wr_id)
		end(ibv_wc_status_str(wc.status));
}

static void op(struct end *e, struct ibv_send_wr wr)
{
	if (post(e, &wr))
		end("posting");
	check(e->cq, wr.wr_id);
}

static void turn(struct end *a, struct end *b, unsigned int n)
{
	struct ibv_sge from = {
		.addr = (uintptr_t)a->buf, .length = LEN, .lkey = a->mr->lkey,
	}, to = {
		.addr = (uintptr_t)b->buf + LEN, .length = LEN,
		.lkey = b->mr->lkey,
	}, word = from;
	__u64 raddr = (uintptr_t)b->buf, *count = (void *)(b->buf + 4 * LEN);

	fill(a->buf, n);
	op(a, make_wr(IBV_WR_RDMA_WRITE, &from, raddr, b->mr->rkey));
	if (post_recv(b, &to, n))
		end("posting a receive");
	op(a, make_wr(IBV_WR_SEND, &from, 0, 0));
	check(b->cq, n);
	from.addr += 2 * LEN;
	op(a, make_wr(IBV_WR_RDMA_READ, &from, raddr, b->mr->rkey));
	if (!intact(b->buf, n) || !intact(b->buf + LEN, n) ||
	    !intact(a->buf + 2 * LEN, n))
		die("wrong data, %u", n);

	word.addr += 3 * LEN;
	word.length = 8;
	*count = n;
	op(a, make_wr(IBV_WR_ATOMIC_FETCH_AND_ADD, &word, raddr + 4 * LEN,
		      b->mr->rkey));
	if (*(__u64 *)(a->buf + 3 * LEN) != n)
		die("wrong answer of an atomic, %u", n);
}

int main(int argc, char **argv)
{
	unsigned int n = 0;
	struct end a, b;
	double limit;

	must(argc > 2);
	quiet = argc > 3;
	pair_open(&a, &b, argv[1]);
	limit = atof(argv[2]) ?: 1e6;
	limit += now();
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("started\n");
	while (now() < limit) {
		turn(&a, &b, n);
		turn(&b, &a, n++);
	}
	pair_close(&a, &b);
	printf("%u turns\n", n);
	return 0;
}
