# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# How a guest sees two directories of the host: root, all of it, for reading, and out, where
# its logs go. Over 9p, which QEMU serves itself, or over virtiofs for a kernel without 9p:
# Debian's cloud kernels. Each virtiofs is served by a process, out of the memory of the guest,
# which has to be shared for that.
: "${out?}" "${sockets?}" "${modules?}" "${release?}"

kernel_has() {
	modprobe -S "$release" -d "${modules%/lib/modules/*}/" --show-depends "$1" 2>/dev/null
}

choose_shares() {
	local name

	for name in 9p virtiofs; do
		shares=$name
		! kernel_has "$name" >/dev/null || return 0
	done
	die "$release has neither 9p nor virtiofs"
}

# What the initramfs has to load.
share_modules() {
	local name names=(virtiofs)

	[ "$shares" != 9p ] || names=(9pnet_virtio 9p)
	for name in virtio_pci "${names[@]}" overlay; do
		kernel_has "$name"
	done
}

find_virtiofsd() {
	local file

	for file in /usr/lib/qemu/virtiofsd /usr/libexec/virtiofsd; do
		[ ! -x "$file" ] || { echo "$file"; return; }
	done
	die "no virtiofsd: Debian 12 has it in qemu-system-common, Debian 13 in virtiofsd"
}

# In a mount namespace of its own, where nothing of the host can be written but DIR.
# shellcheck disable=SC2016
read_only='mount --rbind / "$0" && findmnt -Rrno TARGET "$0" | while read -r at; do
	mount -o remount,bind,ro "$at" || exit
done && exec "$@"'

# serve ME TAG: starts a virtiofsd, and returns when it listens.
serve() {
	local socket=$sockets/$2$1 program log=$out/virtiofsd.$2.$1 tries

	program=$(find_virtiofsd) || exit
	case $2 in
	root)
		mkdir "$socket.dir"
		unshare -m bash -c "$read_only" "$socket.dir" "$program" --socket-path="$socket" \
			-o "source=$socket.dir,cache=always" >"$log" 2>&1 </dev/null &
		;;
	out)
		"$program" --socket-path="$socket" -o "source=$out,cache=none" \
			>"$log" 2>&1 </dev/null &
		;;
	esac
	servers+=($!)
	for ((tries = 0; tries < 100; tries++)); do
		[ ! -S "$socket" ] || return 0
		sleep 0.1
	done
	cat "$log" >&2
	die "virtiofsd does not listen"
}

# serve_shares ME: starts what serves them, sets share_args.
serve_shares() {
	local me=$1 tag

	if [ "$shares" = 9p ]; then
		share_args=(
			-fsdev "local,id=root,path=/,security_model=none,readonly=on,multidevs=remap"
			-device "virtio-9p-pci,fsdev=root,mount_tag=root"
			-fsdev "local,id=out,path=$out,security_model=none"
			-device "virtio-9p-pci,fsdev=out,mount_tag=out"
		)
		return
	fi
	share_args=(
		-object "memory-backend-memfd,id=memory,size=${memory}M,share=on"
		-numa "node,memdev=memory"
	)
	for tag in root out; do
		serve "$me" "$tag"
		share_args+=(
			-chardev "socket,id=$tag,path=$sockets/$tag$me"
			-device "vhost-user-fs-pci,chardev=$tag,tag=$tag"
		)
	done
}
