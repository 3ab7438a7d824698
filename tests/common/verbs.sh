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
	# What answers four times more slowly is waited for four times as long.
	[[ ${SLOW:-1} == 1 || $* == *timeout=* ]] || set -- "$@" timeout=17
	echo "$*" >"$dir/run"
	{ echo "== $*"; cat "$dir/result"; } >>"$log"
	sed -n '/^FAIL/p; $'"s/^/$group: /p" "$dir/result"
}

# Unreliable connections take what is overtaken for lost, and on a wire without
# an own order two processors can overtake each other: send from one of them.
from_one_cpu() { taskset -cp 0 $BASHPID >>"${FULL:-/dev/null}"; }

# All groups that need no more than two devices, or one twice.
verbs_groups=(send write read atomic mr access error flush state notify context traffic kinds)

# all_verbs A B [OPTION...]
all_verbs() {
	local group
	for group in "${verbs_groups[@]}"; do
		qverbs "$group" "$@"
	done
}

# An IPv4 and a global IPv6 address are known.
verbs_ready() {
	local gids=/sys/class/infiniband/$1/ports/1/gids
	rdma_ready "$1" && grep -qs 'ffff:' "$gids"/[0-9] && grep -qs '^fd' "$gids"/[0-9]
}

# device_pair TYPE: devices q0 and q1 on the two ends of a wire, see ns_pair.
device_pair() {
	local i ns=(va vb)
	ns_pair va vb
	load_rdma "$1"
	for i in 0 1; do
		with_net "${ns[i]}" rdma link add "q$i" type "$1" netdev eth0
		defer del_rdma_device "q$i"
	done
	wait_for 5 verbs_ready q0
	wait_for 5 verbs_ready q1
}

# verbs_pair TYPE: the same, and what tests them.
verbs_pair() {
	load_qverbs
	device_pair "$1"
}
