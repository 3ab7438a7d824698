# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What must be the same after a test as before it, and what must not have been
# said in the kernel's log meanwhile.

state_dir=/run/quarry-state

# What the kernel says when something is wrong with it.
alarms='WARNING: |BUG: |BUG at |INFO: possible|INFO: task .* blocked|possible recursive locking'
alarms+='|general protection|Oops|KASAN|UBSAN|KFENCE|KCSAN|ODEBUG|refcount_t:|Call Trace:'
alarms+='|kmemleak: [0-9]+ new|detected stalls|soft lockup|hard LOCKUP|corruption'
alarms+='|objects remaining|still has objects|bad unlock balance|suspicious RCU|Workqueue leaked|scheduling while atomic'

# Without a process where it can be done without: each costs a slow kernel a
# fifth of a second, and every test looks three times.
list_rdma() {
	local device found=''
	for device in /sys/class/infiniband/*; do
		[[ ! -e $device ]] || { echo "rdma ${device##*/}"; found=1; }
	done
	[[ ! $found ]] || rdma resource show 2>/dev/null | sed 's/^[0-9]*: /resource /'
}

# Who holds a module, less the modules that depend on it.
list_modules() {
	local name count users holders
	while read -r name _ count users _; do
		[[ $name =~ quarry|rdma|^siw|^ib_|^iw_|^nvme|^null_blk|^brd|^loop ]] || continue
		holders=${users//[!,]/}
		((count <= ${#holders})) || echo "module $name held by $((count - ${#holders}))"
	done </proc/modules
}

list_mounts() {
	local device
	while read -r device _; do
		[[ $device != /dev/quarry* && $device != /dev/nvme* ]] || echo "mount $device"
	done </proc/mounts
}

# IPv6 addresses that somebody has set; the kernel's own come and go.
list_addresses() {
	local address scope name
	while read -r address _ _ scope _ name; do
		[[ $scope != 00 ]] || echo "address $address of $name"
	done </proc/net/if_inet6
}

list_things() {
	local thing
	list_addresses
	list_rdma
	list_modules
	for thing in /run/netns/* /sys/kernel/config/{quarry,nvmet,nullb}/*/*/ /dev/quarry* /dev/nvme[0-9]*; do
		[[ ! -e $thing || $thing == */discovery* ]] || echo "$thing"
	done
	list_mounts
}

snapshot() { list_things | sort >"$state_dir/$1"; }

# contents VARIABLE FILE
contents() { IFS='' read -rd '' "$1" <"$2" || :; }

state_begin() {
	[[ -d $state_dir ]] || mkdir -p "$state_dir"
	[[ ! -e /sys/kernel/debug/kmemleak ]] || echo clear >/sys/kernel/debug/kmemleak
	snapshot before
	echo "quarry check: begin $1" >/dev/kmsg
}

# Some things end a little after the command that ends them has returned.
same_as_before() {
	local before after
	snapshot after
	contents before "$state_dir/before"
	contents after "$state_dir/after"
	[[ $before == "$after" ]]
}

# find_leaks LOG [LAST]: kmemleak tells of an object when it has seen it twice
# without a reference, so one scan tells of the test before, too. The last one
# of a VM is followed by another.
find_leaks() {
	local kmemleak=/sys/kernel/debug/kmemleak
	[[ -e $kmemleak ]] || return 0
	echo scan >$kmemleak
	if [[ ${2:-} ]]; then
		pause 5
		echo scan >$kmemleak
	fi
	cat $kmemleak >>"$1"
	[[ ! -s $1 ]] || echo "kmemleak: $(grep -c '^unreferenced' "$1") objects, of this test or the one before it"
}

# The log without the data races of others: one is ours when one of the three
# innermost functions of either side is.
only_our_races() {
	awk '
	/==========/ {
		if (inside && (ours || text !~ /KCSAN/)) printf "%s", text
		inside = !inside
		ours = 0
		text = ""
		next
	}
	!inside { print; next }
	{ text = text $0 "\n" }
	/(read|write)( \(marked\)| \(scoped\))? to 0x|(read|write) \(reordered\)|assert no/ { depth = 0; next }
	/\+0x[0-9a-f]+\/0x/ { if (++depth <= 3 && /\[quarry\]/) ours = 1 }
	END { printf "%s", text }
	'
}

# The log without what lockdep says of the stock modules' locks alone: where
# Quarry has a part in it, a function of it is among those that took a lock.
lock_alarms='WARNING: (possible|inconsistent lock|.*-safe -> .*-unsafe lock)'
only_our_locks() {
	awk -v alarms="$lock_alarms" '
	$0 ~ alarms { inside = 1; text = "" }
	!inside { print; next }
	{ text = text $0 "\n" }
	/<\/TASK>/ {
		if (text ~ /\[quarry\]/) printf "%s", text
		inside = 0
	}
	END { if (inside) printf "%s", text }
	'
}

# For tests/tools/lock-order. The module takes what lockdep knows of its locks along.
keep_lock_order() {
	[[ -e /proc/lockdep && -d /sys/module/quarry ]] || return 0
	cat /proc/lockdep >"$1.lockdep"
	{
		cat /sys/module/quarry/sections/{.data,.bss}
		size -A "$QUARRY_KO" | grep -E '^\.(data|bss) '
	} >"$1.sections"
}

remove_quarry() {
	[[ -d /sys/module/quarry ]] || return 0
	rmmod quarry || echo "quarry.ko cannot be removed after the test"
}

# The log LOG without what may appear in it, and without the mark of the trace
# that comes soon after such a line.
without_allowed() {
	awk -v allowed="${2:-^$}" '
		$0 ~ allowed { near = 20; next }
		near > 0 && /Call Trace:/ { near = 0; next }
		{ near--; print }' "$1"
}

# state_end NAME LOG [ALLOWED] [LAST]: print what is wrong, a line each; nothing
# when all is well. ALLOWED: a pattern of lines of the kernel's log that may
# appear. LAST: no other test will follow in this VM.
state_end() {
	local name=$1 log=$2 allowed=${3:-} last=${4:-}
	keep_lock_order "$log"
	if ! wait_for 10 same_as_before >/dev/null; then
		diff "$state_dir/before" "$state_dir/after" |
			sed -n 's/^> /left behind: /p; s/^< /gone: /p'
	else
		remove_quarry
	fi
	find_leaks "$log.kmemleak" "$last"
	dmesg | awk -v mark="quarry check: begin $name" 'on { print } index($0, mark) { on = 1 }' >"$log"
	grep -qE "$alarms" "$log" || return 0
	only_our_races <"$log" | only_our_locks >"$log.ours"
	# After its first report lockdep looks no more: see guest-check.
	! grep -qE "$lock_alarms" "$log" || : >"$log.blind"
	without_allowed "$log.ours" "$allowed" | grep -E "$alarms" | head -5 | sed 's/^/kernel log: /' || :
	rm -f "$log.ours"
}
