# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Block devices to export, and what is done with them.

# null_blk NAME MIB [ATTRIBUTE=VALUE...]: /dev/NAME, which keeps its data.
null_blk() {
	local name=$1 size=$2 dir=/sys/kernel/config/nullb/$1 setting
	shift 2
	modprobe null_blk nr_devices=0
	mkdir "$dir"
	defer del_null_blk "$name"
	for setting in size="$size" memory_backed=1 "$@"; do
		write_attr "${setting#*=}" "$dir/${setting%%=*}"
	done
	write_attr 1 "$dir/power"
	wait_for 5 is_disk "/dev/$name"
}

del_null_blk() {
	[[ ! -d /sys/kernel/config/nullb/$1 ]] || rmdir "/sys/kernel/config/nullb/$1"
}

# brd MIB: /dev/ram0.
brd() {
	modprobe brd rd_nr=1 rd_size=$(($1 * 1024))
	defer rmmod brd
	wait_for 5 is_disk /dev/ram0
}

# Its node is there a moment before it can be opened.
is_disk() { [[ -b $1 ]] && true <"$1"; } 2>/dev/null

# loop_device FILE MIB: prints the device of a new sparse file.
loop_device() {
	local dev
	modprobe loop
	truncate -s "$2M" "$1"
	dev=$(losetup --find --show "$1")
	defer losetup --detach "$dev"
	echo "$dev"
}

# Write all of a device, so that it has its memory.
fill_device() {
	dd if=/dev/zero of="$1" bs=1M count=$(($(blockdev --getsize64 "$1") >> 20)) oflag=direct status=none
}

# fio_verify DEV [fio arguments]: write, read back, compare by crc32c. Mixed
# sizes at random, unless the arguments say otherwise. Where it takes long, less
# is written, but all over what is to be.
fio_verify() {
	local dev=$1 mib=64 word
	shift
	for word in "$@"; do
		[[ $word != --size=*m ]] || { mib=${word#--size=}; mib=${mib%m}; }
	done
	run_fio --name=verify --filename="$dev" --rw=randwrite --bsrange=512-1m --iodepth=32 \
		--size=64m --io_size="$(often "$mib")m" --verify=crc32c --verify_fatal=1 --do_verify=1 "$@"
}

# Direct, asynchronous, all that fio says in the test's full log.
run_fio() {
	local log=${FULL:-/dev/stderr} out
	out=$(mktemp)
	if ! (cd /tmp && fio --ioengine=io_uring --direct=1 --eta=never --group_reporting "$@") >"$out" 2>&1; then
		cat "$out"
		return 1
	fi
	cat "$out" >>"$log"
}

# checksum_tree DIR: one line for all files, their names and contents.
checksum_tree() { (cd "$1" && find . -type f -print0 | sort -z | xargs -0 sha256sum | sha256sum | cut -d' ' -f1); }
