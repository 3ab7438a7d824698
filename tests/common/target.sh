# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# shellcheck disable=SC2034
# For the tests of the target: its machine, and commands sent to it as they are.

target_nqn=quarry-target
target_dir=/sys/kernel/config/quarry
subsys_dir=$target_dir/subsystems/$target_nqn
ns_dir=$subsys_dir/namespaces/1

# target_setup [MIB]: a null_blk device that keeps its data, exported.
target_setup() {
	stock_device
	null_blk nb0 "${1:-128}"
	export_device quarry $target_nqn /dev/nb0 10.2.0.1
}

# The controller of the subsystem connected to: nvme0 and the like.
ctrl_name() {
	local dir
	for dir in /sys/class/nvme/nvme*; do
		[[ -e $dir/subsysnqn && $(<"$dir/subsysnqn") == "${1:-$target_nqn}" ]] || continue
		echo "${dir##*/}"
		return 0
	done
	return 1
}

ctrl_state() { [[ $(<"/sys/class/nvme/$1/state") == "$2" ]]; }
no_ctrl() { ! ctrl_name "$@" >/dev/null; }

# nvme_status COMMAND...: the status an NVMe command ends with, as a number.
nvme_status() {
	local out
	out=$("$@" 2>&1 >/dev/null) && { echo 0; return; }
	echo "$out" >>"${FULL:-/dev/null}"
	grep -oE '\(?0x[0-9a-f]+\)?' <<<"$out" | tail -1 | tr -d '()'
}

# errno_of PATH TEXT: how a write to an attribute ends.
errno_of() {
	python3 -c '
import errno, os, sys
fd = os.open(sys.argv[1], os.O_WRONLY)
try:
    os.write(fd, sys.argv[2].encode())
    print("ok")
except OSError as e:
    print(errno.errorcode[e.errno])' "$1" "$2"
}
