// SPDX-License-Identifier: GPL-2.0-only
/*
 * Queue pairs that are destroyed, or reset, with everything under way: packets
 * in the network, timers that run, answers that are due.
 *
 * usage: abandon DEVICE ROUNDS MICROSECONDS
 * MICROSECONDS: how long a connection lasts at most
 */
#include "lib.h"

#define LEN	(20 << 10)

/* As much of everything as the queues take. */
static void keep_busy(struct end *a, struct end *b)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_RDMA_WRITE, IBV_WR_SEND, IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD,
	};
	struct ibv_sge sge = sge_of(a, 0, LEN), into = sge_of(b, LEN, LEN);
	struct ibv_send_wr wr;
	unsigned int i;

	for (i = 0; i < DEPTH / 2; i++)
		must(!post_recv(b, &into, i));
	for (i = 0; i < DEPTH / 2; i++) {
		sge.length = opcodes[i % NUM(opcodes)] == IBV_WR_ATOMIC_FETCH_AND_ADD ? 8 : LEN;
		wr = make_wr(opcodes[i % NUM(opcodes)], &sge, (uintptr_t)b->buf, b->mr->rkey);
		/* The queue may have failed already, if the other end went. */
		if (post(a, &wr))
			break;
	}
}

int main(int argc, char **argv)
{
	unsigned int i, rounds, us;
	struct end a, b;

	must(argc == 4);
	rounds = atoi(argv[2]);
	us = atoi(argv[3]);
	end_open(&a, argv[1]);
	end_open(&b, argv[1]);
	for (i = 0; i < rounds; i++) {
		pair_connect(&a, &b);
		keep_busy(&a, &b);
		keep_busy(&b, &a);
		usleep(rand() % us);
		if (i & 1) {
			end_reset(&a);
			end_reset(&b);
			continue;
		}
		/* Its memory goes first, every other time. */
		if (i & 2) {
			must(!ibv_dereg_mr(b.mr));
			b.mr = ibv_reg_mr(b.pd, b.buf, BUF_SIZE, ALL_ACCESS);
			must(b.mr);
		}
		must(!ibv_destroy_qp(a.qp));
		end_create_qp(&a, DEPTH);
		end_reset(&a);
		must(!ibv_destroy_qp(b.qp));
		end_create_qp(&b, DEPTH);
		end_reset(&b);
	}
	pair_close(&a, &b);
	return 0;
}
