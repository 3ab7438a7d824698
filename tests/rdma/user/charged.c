// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the kernel sets aside for a process's queue pairs is the process's: it
 * counts in its control group. Prints nothing when that is so.
 *
 * usage: charged DEVICE GROUP-FOLDER
 */
#include <sys/stat.h>
#include "lib.h"

#define QPS	200
/* An answer that is due, and an atomic that is remembered, at the very least. */
#define DEPTH_BYTES	(40 + 12)

static struct end ends[2];
static struct ibv_qp *qps[QPS];
static const char *group;

/* A line of the group's memory.stat, in bytes. */
static long charged(const char *name)
{
	char path[256], word[64];
	long value;
	FILE *f;

	snprintf(path, sizeof(path), "%s/memory.stat", group);
	f = fopen(path, "r");
	must(f);
	while (fscanf(f, "%63s %ld", word, &value) == 2) {
		if (strcmp(word, name))
			continue;
		fclose(f);
		return value;
	}
	die("%s has no %s", path, name);
}

static void join_group(void)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/cgroup.procs", group);
	f = fopen(path, "w");
	must(f && fprintf(f, "%d\n", getpid()) > 0 && !fclose(f));
}

/* What @bytes cost at least: the kernel counts in batches, a page a time. */
static void grown(const char *what, long from, long to, long bytes)
{
	if (to - from < bytes)
		die("%s: %ld bytes charged, %ld at least are due", what, to - from, bytes);
}

int main(int argc, char **argv)
{
	struct end *e = &ends[0];
	long kernel, percpu;
	int i;

	must(argc == 3);
	group = argv[2];
	join_group();
	end_open(&ends[0], argv[1]);
	end_open(&ends[1], argv[1]);

	/* A route cache is kept for each processor. */
	percpu = charged("percpu");
	for (i = 0; i < QPS; i++) {
		end_create_qp(e, 4);
		qps[i] = e->qp;
	}
	grown("route caches", percpu, charged("percpu"), QPS * 16 * sysconf(_SC_NPROCESSORS_ONLN));

	/* Ready to receive: with answers to READs and atomics of the peer's. */
	kernel = charged("kernel");
	for (i = 0; i < QPS; i++) {
		e->qp = qps[i];
		must(!end_to_init(e) && !end_to_rts(e, &ends[1]));
	}
	grown("answers", kernel, charged("kernel"), QPS * 8 * DEPTH_BYTES);
	return 0;
}
