# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# User-space verbs: rdma-core's tools and its test suite, and our own programs.

# user_pair TYPE: devices q0 and q1 on the two ends of a wire, see ns_pair.
user_pair() {
	modprobe -a ib_uverbs rdma_ucm
	verbs_pair "$1"
	server_gid=$(gid_of q0 0a01:0001)
	client_gid=$(gid_of q1 0a01:0002)
}

# gid_of DEVICE ADDRESS: the index of an address, as it stands in the table.
gid_of() {
	local i
	for i in {0..15}; do
		[[ $(cat "/sys/class/infiniband/$1/ports/1/gids/$i") != *"$2" ]] ||
			{ echo "$i"; return; }
	done
	return 1
}

# Those of rdma-core's suite that are not for one make of device.
suite_modules=(addr atomic cq cqex cq_events device fork mr odp pd qp qpex rdmacm
	relaxed_ordering shared_pd srq flow tag_matching rss_traffic parent_domain)

# user_suite DEVICE ADDRESS: the suite of rdma-core. Each test that did not pass
# and a count for each module to stdout, all to the full log.
user_suite() {
	local device=$1 gid module log=${FULL:-/dev/null} out=/tmp/suite-out
	gid=$(gid_of "$1" "$2")
	timeout 1000 python3 tests/common/suite.py "$device" "$gid" "${suite_modules[@]}" >$out 2>>"$log"
	cat $out >>"$log"
	grep -v ': passed$' $out || :
	for module in "${suite_modules[@]}"; do
		echo "$module: $(grep -c "^$module .*: passed\$" $out || :) passed"
	done
}

# user_suite_twice DEVICE ADDRESS ADDRESS: the second time nothing may be
# different. Once only where it takes too long.
user_suite_twice() {
	user_suite "$1" "$2" >/tmp/suite-once
	cat /tmp/suite-once
	[[ ${SLOW:-1} == 1 ]] || return 0
	user_suite "$1" "$3" >/tmp/suite-twice
	diff /tmp/suite-once /tmp/suite-twice || fail "by $3 it is different"
}

# user_program NAME: compiled from tests/rdma/user, its path in $program.
user_program() {
	program=/tmp/$1
	gcc -O1 -g -Wall -pthread -o "$program" "tests/rdma/user/$1.c" tests/rdma/user/lib.c -libverbs
}

# user_device NAME [TYPE]: a device on an interface of its own, d0, 10.3.0.1.
user_device() {
	modprobe -a ib_uverbs rdma_ucm dummy
	ip link add d0 type dummy
	defer end_link d0
	ip -batch - <<-END
		link set d0 mtu 4200 up
		addr add 10.3.0.1/24 dev d0
		addr add fd03::1/64 dev d0 nodad
	END
	rdma_device "${2:-quarry}" "$1" d0
	wait_for 5 verbs_ready "$1"
}

# Tools with a server and a client: on which side each of them runs, with which
# device, GID and address. user_pair sets them for two namespaces of one VM,
# for_each_way for a pair of VMs.
server_run='with_net va' server_dev=q0 server_gid='' server_addr=10.1.0.1
client_run='with_net vb' client_dev=q1 client_gid=''

# serve PORT COMMAND...: in the background, as $server; back when it listens
# on that TCP port, or on "cm" by rdma_cm.
serve() {
	local port=$1
	shift
	# shellcheck disable=SC2086 # a command, or none
	$server_run timeout 150 "$@" >/tmp/server-out 2>&1 &
	server=$!
	wait_for 10 listening "$port" || fail "the server: $(tail -n 4 /tmp/server-out)"
}

# shellcheck disable=SC2086
listening() {
	case $1 in
	cm) $server_run rdma resource show cm_id | grep -q LISTEN ;;
	*) [[ $($server_run ss -Hltn sport = ":$1") ]] ;;
	esac
}

# both NAME PORT SERVER-COMMAND -- CLIENT-COMMAND...: must both succeed. The
# client's output is in /tmp/client-out.
both() {
	local name=$1 port=$2 words=() failed=''
	shift 2
	while [[ $1 != -- ]]; do
		words+=("$1")
		shift
	done
	shift
	serve "$port" "${words[@]}"
	# shellcheck disable=SC2086
	$client_run timeout 150 "$@" >/tmp/client-out 2>&1 || failed="client: $?"
	wait "$server" || failed+=" server: $?"
	{ echo "== $name"; cat /tmp/server-out /tmp/client-out; } >>"$FULL"
	[[ ! $failed ]] || fail "$name: $failed: $(tail -n 4 /tmp/client-out)"
}

# The options with fewer iterations (-n) where each takes longer, in $options.
shorten() {
	local word last=''
	options=()
	for word in "$@"; do
		[[ $last != -n ]] || word=$(often "$word")
		# Fewer than five are refused.
		[[ $last != -n ]] || ((word >= 5)) || word=5
		options+=("$word")
		last=$word
	done
}

# pingpong KIND OPTION...: rc, uc, ud or srq.
pingpong() {
	local tool=ibv_$1_pingpong options
	shift
	shorten "$@"
	both "$tool $*" 18515 "$tool" -d $server_dev -g "$server_gid" "${options[@]}" -- \
		"$tool" -d $client_dev -g "$client_gid" "${options[@]}" $server_addr
	grep -q '^[0-9]* iters' /tmp/client-out
	echo "$tool $*"
}

# perf TOOL OPTION...: perftest; the number of sizes that it gives figures for.
# It gives none where it does not like the clock, as on a busy machine: once more.
perf() {
	local tool=$1 options try
	shift
	shorten "$@"
	for try in 1 2 3; do
		both "$tool $*" 18515 "$tool" -F -d $server_dev -x "$server_gid" "${options[@]}" -- \
			"$tool" -F -d $client_dev -x "$client_gid" "${options[@]}" $server_addr
		grep -q '^Correlation coefficient' /tmp/client-out || break
		echo "try $try: perftest and the clock" >>"$FULL"
	done
	echo "$tool $*: $(grep -cE '^ *[0-9]+ +[0-9]+ +[0-9.]+ ' /tmp/client-out)"
}

# cm_tool SERVER-COMMAND -- CLIENT-COMMAND: one that connects by rdma_cm.
cm_tool() {
	local client=${*#-- }
	both "${*}" cm "$@"
	echo "${client%% *}"
}

# qperf_pair TEST...: by rdma_cm; each test that has given a figure.
qperf_pair() {
	both "qperf $*" 19765 qperf -- \
		sh -c "qperf -cm1 -t 1 $server_addr $* && qperf $server_addr quit"
	awk '/^[a-z_]+:$/ { name = $1 } / = / { print "qperf", name }' /tmp/client-out | sed 's/:$//'
}

# rping_pair ADDRESS: with data that is looked at.
rping_pair() {
	both "rping $1" cm rping -s -a "$1" -C 30 -S 60000 -V -- \
		rping -c -a "$1" -C 30 -S 60000 -V
	echo "rping $1"
}

# for_each_way COMMAND...: with the server in the other VM and with it in this one;
# where that takes long, each command one way, in turn. It prints the first time.
way=there
for_each_way() {
	local here there ways=(there here)
	[[ ${SLOW:-1} == 1 ]] || ways=("$way")
	here=$(gid_of q0 0a00:0001)
	there=$(peer gid_of q1 0a00:0002)
	for way in "${ways[@]}"; do
		echo "to $way: $*" >>"$FULL"
		if [[ $way == there ]]; then
			server_run=peer server_dev=q1 server_gid=$there server_addr=10.0.0.2
			client_run='' client_dev=q0 client_gid=$here
		else
			server_run='' server_dev=q0 server_gid=$here server_addr=10.0.0.1
			client_run=peer client_dev=q1 client_gid=$there
		fi
		if [[ $way == "${ways[0]}" ]]; then
			"$@"
		else
			"$@" >>"$FULL"
		fi
	done
	[[ ${SLOW:-1} == 1 ]] || way=$([[ $way == there ]] && echo here || echo there)
}
