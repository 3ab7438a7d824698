# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Tests of RDMA devices by the kernel's verbs: qverbs.ko of tests/kmod.

load_qverbs() {
	[[ ! -d /sys/module/qverbs ]] || return 0
	modprobe -a ib_core rdma_cm
	insmod /results/qverbs.ko
	defer rmmod qverbs
}

# qverbs GROUP[/CASE] A B [OPTION...]: run the cases; all results go to the full
# log, what failed and the count to stdout.
qverbs() {
	local dir=/sys/kernel/debug/qverbs group=${1%%/*} log=${FULL:-/dev/null}
	load_qverbs
	echo "$*" >"$dir/run"
	{ echo "== $*"; cat "$dir/result"; } >>"$log"
	sed -n '/^FAIL/p; $'"s/^/$group: /p" "$dir/result"
}
