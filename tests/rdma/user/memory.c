// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a process may do with memory, and what not: rights, protection domains,
 * addresses, pages, limits. Prints a line for each case that holds, and ends at
 * the first that does not.
 *
 * usage: memory DEVICE [CASE]...
 */
#include <grp.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <rdma/ib_user_verbs.h>
#include "lib.h"

#define HUGE_SIZE	(2 << 20)

static const char *dev;

/* For each right that a region may lack: what it must not let happen. */
static void rights(void)
{
	static const struct {
		enum ibv_wr_opcode opcode;
		int needs;
	} ops[] = {
		{ IBV_WR_RDMA_WRITE, IBV_ACCESS_REMOTE_WRITE },
		{ IBV_WR_RDMA_READ, IBV_ACCESS_REMOTE_READ },
		{ IBV_WR_ATOMIC_CMP_AND_SWP, IBV_ACCESS_REMOTE_ATOMIC },
		{ IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_ACCESS_REMOTE_ATOMIC },
	};
	unsigned int i, access;
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct ibv_mr *mr;
	struct end a, b;

	pair_open(&a, &b, dev);
	sge = sge_of(&a, 0, 8);
	for (access = 0; access < 16; access++) {
		mr = ibv_reg_mr(b.pd, b.buf, PAGE, access);
		if ((access & (IBV_ACCESS_REMOTE_WRITE |
			       IBV_ACCESS_REMOTE_ATOMIC)) &&
		    !(access & IBV_ACCESS_LOCAL_WRITE)) {
			must(!mr);
			continue;
		}
		must(mr);
		for (i = 0; i < 4; i++) {
			wr = make_wr(ops[i].opcode, &sge, (uintptr_t)b.buf,
				     mr->rkey);
			must(do_wr(&a, &wr) ==
			     (access & ops[i].needs ? IBV_WC_SUCCESS :
						      IBV_WC_REM_ACCESS_ERR));
			if (!(access & ops[i].needs))
				pair_again(&a, &b);
		}
		must(!ibv_dereg_mr(mr));
		/* The answer is written to our own memory: a right, too. */
		mr = ibv_reg_mr(a.pd, a.buf, PAGE, access);
		must(mr);
		sge.lkey = mr->lkey;
		wr = make_wr(IBV_WR_RDMA_READ, &sge, (uintptr_t)b.buf,
			     b.mr->rkey);
		must(do_wr(&a, &wr) == (access & IBV_ACCESS_LOCAL_WRITE ?
					IBV_WC_SUCCESS : IBV_WC_LOC_PROT_ERR));
		if (!(access & IBV_ACCESS_LOCAL_WRITE))
			pair_again(&a, &b);
		sge.lkey = a.mr->lkey;
		must(!ibv_dereg_mr(mr));
	}
	pair_close(&a, &b);
}

/* No key of one protection domain opens another's memory. */
static void domains(void)
{
	struct ibv_send_wr wr;
	struct ibv_mr *local, *remote;
	struct ibv_pd *pd, *pd2;
	struct ibv_sge sge;
	struct end a, b;

	pair_open(&a, &b, dev);
	pd = ibv_alloc_pd(a.ctx);
	pd2 = ibv_alloc_pd(b.ctx);
	must(pd && pd2);
	local = ibv_reg_mr(pd, a.buf, PAGE, ALL_ACCESS);
	remote = ibv_reg_mr(pd2, b.buf, PAGE, ALL_ACCESS);
	must(local && remote);
	sge = sge_of(&a, 0, 64);
	wr = make_wr(IBV_WR_RDMA_WRITE, &sge, (uintptr_t)b.buf, remote->rkey);
	must(do_wr(&a, &wr) == IBV_WC_REM_ACCESS_ERR);
	pair_again(&a, &b);
	/* The same process's, in the context next to it. */
	wr.wr.rdma.rkey = a.mr->rkey;
	wr.wr.rdma.remote_addr = (uintptr_t)a.buf;
	must(do_wr(&a, &wr) == IBV_WC_REM_ACCESS_ERR);
	pair_again(&a, &b);
	wr.wr.rdma.rkey = b.mr->rkey;
	wr.wr.rdma.remote_addr = (uintptr_t)b.buf;
	sge.lkey = local->lkey;
	must(do_wr(&a, &wr) == IBV_WC_LOC_PROT_ERR);
	pair_again(&a, &b);
	/* The key that names all memory is the kernel's. */
	sge.lkey = 0;
	must(do_wr(&a, &wr) == IBV_WC_LOC_PROT_ERR);
	must(!ibv_dereg_mr(local) && !ibv_dereg_mr(remote));
	must(!ibv_dealloc_pd(pd) && !ibv_dealloc_pd(pd2));
	pair_close(&a, &b);
}

/* Addresses as the process wants them, to the byte. */
static void addresses(void)
{
	const __u64 iova = 0x1234567000ULL + 5;
	struct ibv_mr *mr, *zero;
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct end a, b;

	pair_open(&a, &b, dev);
	mr = ibv_reg_mr_iova(b.pd, b.buf + 5, 3 * PAGE, iova, ALL_ACCESS);
	zero = ibv_reg_mr(b.pd, b.buf + 9, 3 * PAGE,
			  ALL_ACCESS | IBV_ACCESS_ZERO_BASED);
	must(mr && zero);
	memset(a.buf, 'x', 3 * PAGE);
	sge = sge_of(&a, 0, 3 * PAGE);
	wr = make_wr(IBV_WR_RDMA_WRITE, &sge, iova, mr->rkey);
	must(do_wr(&a, &wr) == IBV_WC_SUCCESS);
	must(b.buf[4] == 0 && b.buf[5 + 3 * PAGE] == 0);
	must(!memcmp(a.buf, b.buf + 5, 3 * PAGE));
	wr.wr.rdma.remote_addr = iova + 1;
	must(do_wr(&a, &wr) == IBV_WC_REM_ACCESS_ERR);
	pair_again(&a, &b);
	wr.wr.rdma.remote_addr = iova - 1;
	must(do_wr(&a, &wr) == IBV_WC_REM_ACCESS_ERR);
	pair_again(&a, &b);
	/* Around the end of all addresses. */
	wr.wr.rdma.remote_addr = -(__u64)PAGE;
	must(do_wr(&a, &wr) == IBV_WC_REM_ACCESS_ERR);
	pair_again(&a, &b);

	memset(a.buf, 'y', 3 * PAGE);
	wr = make_wr(IBV_WR_RDMA_WRITE, &sge, 0, zero->rkey);
	must(do_wr(&a, &wr) == IBV_WC_SUCCESS);
	must(b.buf[8] == 'x' && b.buf[9 + 3 * PAGE] == 0);
	must(!memcmp(a.buf, b.buf + 9, 3 * PAGE));
	wr.wr.rdma.remote_addr = (uintptr_t)b.buf + 9;
	must(do_wr(&a, &wr) == IBV_WC_REM_ACCESS_ERR);
	pair_again(&a, &b);
	/* Aligned in name, but across two cache lines or two pages. */
	sge = sge_of(&a, 0, 8);
	wr = make_wr(IBV_WR_ATOMIC_FETCH_AND_ADD, &sge, PAGE - 16, zero->rkey);
	wr.wr.atomic.compare_add = -1;
	must(do_wr(&a, &wr) == IBV_WC_REM_ACCESS_ERR);
	must(b.buf[9 + PAGE - 16] == 'y' && b.buf[9 + PAGE - 9] == 'y');
	must(!ibv_dereg_mr(mr) && !ibv_dereg_mr(zero));
	pair_close(&a, &b);
}

static char *map(size_t size, int prot, int flags)
{
	char *p = mmap(NULL, size, prot, MAP_PRIVATE | MAP_ANONYMOUS | flags,
		       -1, 0);

	must(p != MAP_FAILED);
	return p;
}

/* Pages that may not be written to, and pages of two megabytes. */
static void pages(void)
{
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct ibv_mr *mr;
	struct end a, b;
	size_t i;
	char *p;

	pair_open(&a, &b, dev);
	p = map(PAGE, PROT_READ, 0);
	must(!ibv_reg_mr(b.pd, p, PAGE, IBV_ACCESS_LOCAL_WRITE));
	mr = ibv_reg_mr(b.pd, p, PAGE, IBV_ACCESS_REMOTE_READ);
	must(mr);
	memset(a.buf, 'x', PAGE);
	sge = sge_of(&a, 0, PAGE);
	wr = make_wr(IBV_WR_RDMA_READ, &sge, (uintptr_t)p, mr->rkey);
	must(do_wr(&a, &wr) == IBV_WC_SUCCESS && !a.buf[0] && !a.buf[PAGE - 1]);
	must(!ibv_dereg_mr(mr));
	munmap(p, PAGE);

	must(!ibv_reg_mr(b.pd, (void *)(64UL << 10), PAGE, ALL_ACCESS));
	must(!ibv_reg_mr(b.pd, b.buf, 0, ALL_ACCESS));
	must(!ibv_reg_mr(b.pd, b.buf, -(size_t)b.buf, ALL_ACCESS));

	p = map(2 * HUGE_SIZE, PROT_READ | PROT_WRITE, MAP_HUGETLB);
	mr = ibv_reg_mr(b.pd, p + 100, 2 * HUGE_SIZE - 200,
			ALL_ACCESS | IBV_ACCESS_HUGETLB);
	must(mr);
	for (i = 0; i < BUF_SIZE; i++)
		a.buf[i] = i * 7 + i / PAGE;
	sge = sge_of(&a, 0, BUF_SIZE);
	wr = make_wr(IBV_WR_RDMA_WRITE, &sge,
		     (uintptr_t)p + HUGE_SIZE - BUF_SIZE / 2 - 1, mr->rkey);
	must(do_wr(&a, &wr) == IBV_WC_SUCCESS);
	must(!memcmp(p + HUGE_SIZE - BUF_SIZE / 2 - 1, a.buf, BUF_SIZE));
	wr.wr.rdma.remote_addr = (uintptr_t)p + 2 * HUGE_SIZE - 100 - BUF_SIZE;
	must(do_wr(&a, &wr) == IBV_WC_SUCCESS);
	wr.wr.rdma.remote_addr++;
	must(do_wr(&a, &wr) == IBV_WC_REM_ACCESS_ERR);
	must(!ibv_dereg_mr(mr));
	munmap(p, 2 * HUGE_SIZE);
	pair_close(&a, &b);
}

/* Without rights: so much pinned memory, and it is given back. */
static void memlock(void)
{
	struct rlimit limit = { 256 << 10, 256 << 10 };
	struct ibv_mr *mr, *mr2;
	struct end e;
	int i, status;

	if (!fork()) {
		end_open(&e, dev);
		must(!ibv_dereg_mr(e.mr));
		e.mr = NULL;
		must(!setrlimit(RLIMIT_MEMLOCK, &limit));
		must(!setgroups(0, NULL) && !setuid(65534));
		must(!ibv_reg_mr(e.pd, e.buf, BUF_SIZE, ALL_ACCESS));
		must(errno == ENOMEM);
		for (i = 0; i < 100; i++) {
			mr = ibv_reg_mr(e.pd, e.buf, 128 << 10, ALL_ACCESS);
			mr2 = ibv_reg_mr(e.pd, e.buf, 128 << 10, ALL_ACCESS);
			must(mr && mr2);
			must(!ibv_reg_mr(e.pd, e.buf, PAGE, ALL_ACCESS));
			must(!ibv_dereg_mr(mr) && !ibv_dereg_mr(mr2));
		}
		end_close(&e);
		exit(0);
	}
	must(wait(&status) > 0 && !status);
}

static int rereg(struct ibv_mr *mr, int flags, void *addr, size_t len,
		 struct ibv_pd *pd, int access)
{
	struct ib_uverbs_rereg_mr_resp resp;
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_rereg_mr cmd;
	} req = {
		.hdr = {
			.command = IB_USER_VERBS_CMD_REREG_MR,
			.in_words = sizeof(req) / 4,
			.out_words = sizeof(resp) / 4,
		},
		.cmd = {
			.response = (uintptr_t)&resp, .mr_handle = mr->handle,
			.flags = flags, .start = (uintptr_t)addr,
			.length = len, .hca_va = (uintptr_t)addr,
			.pd_handle = pd ? pd->handle : 0,
			.access_flags = access,
		},
	};

	if (write(mr->context->cmd_fd, &req, sizeof(req)) != sizeof(req))
		return errno;
	must(resp.lkey == mr->lkey && resp.rkey == mr->rkey);
	return 0;
}

/* A region changes its memory, its rights, its domain; librxe has no call. */
static void reregister(void)
{
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct ibv_mr *mr;
	struct ibv_pd *pd;
	struct end a, b;
	char *p;

	pair_open(&a, &b, dev);
	mr = ibv_reg_mr(b.pd, b.buf, PAGE, IBV_ACCESS_REMOTE_READ);
	pd = ibv_alloc_pd(b.ctx);
	must(mr && pd);
	memcpy(a.buf, "one", sizeof("one"));
	sge = sge_of(&a, 0, 64);
	wr = make_wr(IBV_WR_RDMA_WRITE, &sge, (uintptr_t)b.buf, mr->rkey);
	must(do_wr(&a, &wr) == IBV_WC_REM_ACCESS_ERR);
	pair_again(&a, &b);
	must(!rereg(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, 0, NULL, ALL_ACCESS));
	must(do_wr(&a, &wr) == IBV_WC_SUCCESS && !strcmp(b.buf, "one"));

	memcpy(a.buf, "two", sizeof("two"));
	must(!rereg(mr, IBV_REREG_MR_CHANGE_TRANSLATION, b.buf + 3 * PAGE,
		    2 * PAGE, NULL, 0));
	must(do_wr(&a, &wr) == IBV_WC_REM_ACCESS_ERR);
	pair_again(&a, &b);
	wr.wr.rdma.remote_addr = (uintptr_t)b.buf + 5 * PAGE - 64;
	must(do_wr(&a, &wr) == IBV_WC_SUCCESS);
	must(!strcmp(b.buf + 5 * PAGE - 64, "two") && !strcmp(b.buf, "one"));

	must(!rereg(mr, IBV_REREG_MR_CHANGE_PD, NULL, 0, pd, 0));
	must(do_wr(&a, &wr) == IBV_WC_REM_ACCESS_ERR);
	pair_again(&a, &b);
	must(ibv_dealloc_pd(pd));
	must(!rereg(mr, IBV_REREG_MR_CHANGE_PD, NULL, 0, b.pd, 0));
	must(do_wr(&a, &wr) == IBV_WC_SUCCESS);
	must(!ibv_dealloc_pd(pd));

	/* What fails leaves all as it was. */
	p = map(PAGE, PROT_READ, 0);
	must(rereg(mr, IBV_REREG_MR_CHANGE_TRANSLATION, p, PAGE, NULL, 0));
	must(rereg(mr, 1 << 5, b.buf, PAGE, NULL, 0));
	must(do_wr(&a, &wr) == IBV_WC_SUCCESS);
	/* Pinned for reading, and no write can be asked of them. */
	must(!rereg(mr, IBV_REREG_MR_CHANGE_TRANSLATION |
		    IBV_REREG_MR_CHANGE_ACCESS, p, PAGE, NULL,
		    IBV_ACCESS_REMOTE_READ));
	must(rereg(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, 0, NULL, ALL_ACCESS));
	wr.wr.rdma.remote_addr = (uintptr_t)p;
	must(do_wr(&a, &wr) == IBV_WC_REM_ACCESS_ERR);
	must(!ibv_dereg_mr(mr));
	munmap(p, PAGE);
	pair_close(&a, &b);
}

struct stream {
	struct end *e;
	struct ibv_send_wr wr;
	enum ibv_wc_status status;
};

/* One after the other, some at a time, until one fails. */
static void *stream(void *arg)
{
	struct stream *s = arg;
	int i, left = 0;

	while (!s->status) {
		for (; left < 8; left++)
			must(!post(s->e, &s->wr));
		s->status = wait_wc(s->e->cq).status;
		left--;
	}
	for (i = 0; i < left; i++)
		must(wait_wc(s->e->cq).status == IBV_WC_WR_FLUSH_ERR);
	return NULL;
}

/* Memory goes while packets come for it. */
static void deregister(void)
{
	static const enum ibv_wr_opcode ops[] = {
		IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD,
	};
	struct ibv_sge sge;
	pthread_t thread;
	struct ibv_mr *mr;
	struct end a, b;
	struct stream s;
	char *p;
	int i;

	pair_open(&a, &b, dev);
	for (i = 0; i < 12; i++) {
		enum ibv_wr_opcode op = ops[i % 3];

		p = map(BUF_SIZE, PROT_READ | PROT_WRITE, 0);
		mr = ibv_reg_mr(b.pd, p, BUF_SIZE, ALL_ACCESS);
		must(mr);
		sge = sge_of(&a, 0, op == IBV_WR_ATOMIC_FETCH_AND_ADD ? 8 :
							64 << 10);
		s = (struct stream) {
			.e = &a,
			.wr = make_wr(op, &sge, (uintptr_t)p, mr->rkey),
		};
		must(!pthread_create(&thread, NULL, stream, &s));
		usleep(1000 + i * 3000);
		must(!ibv_dereg_mr(mr));
		munmap(p, BUF_SIZE);
		must(!pthread_join(thread, NULL));
		must(s.status == IBV_WC_REM_ACCESS_ERR);
		pair_again(&a, &b);
	}
	pair_close(&a, &b);
}

static const struct test_case cases[] = {
	{ "rights", rights },
	{ "domains", domains },
	{ "addresses", addresses },
	{ "pages", pages },
	{ "memlock", memlock },
	{ "reregister", reregister },
	{ "deregister", deregister },
};

int main(int argc, char **argv)
{
	must(argc > 1);
	dev = argv[1];
	return run_cases(cases, NUM(cases), argc, argv);
}
