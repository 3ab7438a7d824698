# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Shared by the scripts of the bench on the host: where things are, how the
# image is found, how a VM waits for its turn.

vm_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tree=${QUARRY_TREE:-$(cd "$vm_dir/../.." && pwd)}
cache=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/quarry

say() { printf '%s\n' "$*" >&2; }
die() { say "${0##*/}: $*"; exit 1; }

# The image is known by the hash of all that goes into it.
image_recipe() {
	cat "$vm_dir/image" "$vm_dir/initramfs-init"
	image_packages
}
image_packages() { sed 's/#.*//; /^[[:space:]]*$/d' "$vm_dir/packages" | sort -u; }
image_dir() { printf '%s/image-%s\n' "$cache" "$(image_recipe | sha256sum | cut -c1-12)"; }

# Make the image when it is not there yet and print its folder.
need_image() {
	local dir
	dir=$(image_dir)
	[[ -e $dir/done ]] || "$vm_dir/image" >&2
	[[ -e $dir/done ]] || die "there is no image in $dir"
	touch "$dir/done"
	printf '%s\n' "$dir"
}

# A kernel's folder: 6.12 is Debian 13's own, any 7.x the newest in its
# backports, debug and kcsan those of ./kernel-debug.
kernel_dir() {
	local image=$1 kernel=$2 dir
	case $kernel in
	debug | kcsan) dir=$("$vm_dir/kernel-debug" "$kernel") || die "no $kernel kernel" ;;
	7.* | newest) dir=$image/kernels/newest ;;
	*) dir=$image/kernels/$kernel ;;
	esac
	[[ -e $dir/release ]] || die "the image has no kernel $kernel"
	printf '%s\n' "$dir"
}

# A tree's own folder in the cache, apart for each path it is checked out at.
tree_cache() { printf '%s/trees/%s\n' "$cache" "$(printf %s "$tree" | sha256sum | cut -c1-12)"; }

module_path() { printf '%s/%s/quarry.ko\n' "$(tree_cache)" "$1"; }

# Take N of the machine's VM slots; they are held by open files, so they are
# free again when the last process that inherited them ends. Only the one who
# holds the gate collects slots: two pairs can never wait for each other.
take_slots() {
	local want=$1 slots=${QUARRY_VM_SLOTS:-2} gate fd i told=
	((want <= slots)) || want=$slots
	mkdir -p "$cache/slots"
	exec {gate}>"$cache/slots/gate"
	flock -n "$gate" || { told=1; say "waiting for a VM slot (QUARRY_VM_SLOTS=$slots)"; flock "$gate"; }
	i=0
	while ((want > 0)); do
		exec {fd}>>"$cache/slots/$i"
		if flock -n "$fd"; then
			want=$((want - 1))
		else
			exec {fd}>&-
		fi
		i=$(((i + 1) % slots))
		((i == 0 && want > 0)) || continue
		[[ $told ]] || { told=1; say "waiting for a VM slot (QUARRY_VM_SLOTS=$slots)"; }
		sleep 0.3
	done
	exec {gate}>&-
}
