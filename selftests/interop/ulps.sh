# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What the suites of the kernel's own users of RDMA (ULPs) have in common. vm1 exports, vm2
# uses.

# ulps_setup [NETDEV]: srn0 on eth0, reachable over both address families.
ulps_setup() {
	srn_link srn0 "${1:-eth0}" || return
	wait_for gid_index srn0 "$IP4" && wait_for gid_index srn0 "$IP6"
}

configfs() {
	mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config
}

# srn_carried MEGABYTES COMMAND...: COMMAND succeeds, and so many bytes at least went through
# srn meanwhile, in whatever direction; nobody was refused anything.
srn_carried() {
	local least=$(($1 << 20)) before

	shift
	before=$(srn_bytes)
	"$@" || return
	least=$((least + before))
	[ "$(srn_bytes)" -ge $least ] || {
		echo "srn carried $(($(srn_bytes) - before)) bytes"
		return 1
	}
	nobody_refused
}

srn_bytes() { echo $(($(hw_counter srn0 sent_bytes) + $(hw_counter srn0 rcvd_bytes))); }

# Not one request was answered with a NAK that ends a connection.
nobody_refused() {
	[ "$(hw_counter srn0 rcvd_nak)" = 0 ] || {
		echo "NAKs: $(hw_counter srn0 rcvd_nak)"
		return 1
	}
}

# fio_verify FILE MEGABYTES [OPTION...]: random blocks of several sizes with a checksum in each,
# written and read back past the page cache.
fio_verify() {
	local file=$1 megabytes=$2

	shift 2
	fio --name=verify --filename="$file" --size="${megabytes}M" --rw=randwrite \
		--bsrange=4k-256k --blockalign=4k --direct=1 --ioengine=libaio --iodepth=8 \
		--verify=crc32c --verify_fatal=1 --randseed="$megabytes" --group_reporting \
		--minimal "$@" >"$WORK/fio" 2>&1 || {
		cat "$WORK/fio"
		return 1
	}
}

# fio_begins FILE MEGABYTES OPTION...: fio_verify in the background of this suite, and it has written
# something.
fio_begins() {
	local before

	before=$(srn_bytes)
	echo none >"$WORK/fio.status"
	{
		fio_verify "$@"
		echo $? >"$WORK/fio.status"
	} >"$WORK/fio.log" 2>&1 &
	wait_for srn_moved $((before + (1 << 20)))
}

srn_moved() { [ "$(srn_bytes)" -ge "$1" ]; }

# Written by two steps, so that there may be nothing between them.
fio_ended() { grep -qx '[0-9][0-9]*' "$WORK/fio.status"; }
fio_runs() { ! fio_ended; }

# fio_ends STATUS: 0; or fails, but not since it read what it had not written.
fio_ends() {
	wait_for -t $((60 * SLOW)) fio_ended || { echo "fio hangs"; return 1; }
	cat "$WORK/fio.log"
	case $1 in
	0) [ "$(cat "$WORK/fio.status")" = 0 ] ;;
	*) [ "$(cat "$WORK/fio.status")" != 0 ] && ! grep -q 'verify: bad' "$WORK/fio.log" ;;
	esac
}

# copy_and_compare DIRECTORY MEGABYTES: a file of random bytes, there and back again, with
# nothing of it in a cache of this machine between the ways.
copy_and_compare() {
	local file=$1/copy

	dd if=/dev/urandom of="$WORK/random" bs=1M count="$2" status=none || return
	dd if="$WORK/random" of="$file" bs=1M conv=fsync status=none || return
	echo 3 >/proc/sys/vm/drop_caches
	cmp "$WORK/random" "$file" && rm "$file" "$WORK/random"
}
