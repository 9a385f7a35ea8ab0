# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What the suites of NVMe over srn have in common: the kernel's target with a disk, and its host.
: "${megabytes:?of the disk}"

# shellcheck source=ulps.sh
. "$SRN_TREE/selftests/interop/ulps.sh"

nqn=srn-test
config=/sys/kernel/config/nvmet
disk=/dev/nvme0n1

target() {
	modprobe nvmet-rdma && modprobe loop && configfs || return
	truncate -s "${megabytes}M" "$WORK/disk" || return
	mkdir -p $config/subsystems/$nqn/namespaces/1 || return
	echo 1 >$config/subsystems/$nqn/attr_allow_any_host
	losetup /dev/loop0 "$WORK/disk" || return
	echo /dev/loop0 >$config/subsystems/$nqn/namespaces/1/device_path
	echo 1 >$config/subsystems/$nqn/namespaces/1/enable || return
	listen_at 1 ipv4 "$IP4" && listen_at 2 ipv6 "$IP6"
}

# listen_at PORT FAMILY ADDRESS
listen_at() {
	local dir=$config/ports/$1

	mkdir -p "$dir" || return
	echo rdma >"$dir/addr_trtype"
	echo "$2" >"$dir/addr_adrfam"
	echo "$3" >"$dir/addr_traddr"
	echo 4420 >"$dir/addr_trsvcid"
	ln -s $config/subsystems/$nqn "$dir/subsystems/"
}

target_gone() {
	rm -f $config/ports/[12]/subsystems/$nqn
	rmdir $config/ports/[12]
	echo 0 >$config/subsystems/$nqn/namespaces/1/enable
	rmdir $config/subsystems/$nqn/namespaces/1 $config/subsystems/$nqn
	losetup -d /dev/loop0
	modprobe -r nvmet-rdma
}

# connect ADDRESS [OPTION...]
connect() {
	local address=$1

	shift
	modprobe nvme-rdma || return
	nvme connect -t rdma -a "$address" -s 4420 -n $nqn "$@" || return
	wait_for test -b $disk
}

# write_and_compare MEGABYTES
write_and_compare() {
	[ -b $disk ] || return
	dd if=/dev/urandom of="$WORK/data" bs=1M count="$1" status=none || return
	dd if="$WORK/data" of=$disk bs=1M oflag=direct status=none || return
	dd if=$disk bs=64k iflag=direct count=$(($1 * 16)) status=none | cmp - "$WORK/data"
}

# CQs that are made from then on, and what their events run on.
watch_vectors() {
	local event

	modprobe ib_core || return
	for event in cq_alloc cq_schedule; do
		echo 1 >/sys/kernel/tracing/events/rdma_core/$event/enable || return
	done
}

# Each event of a CQ was handled on the CPU of its vector, and there were some on two.
vectors_kept() {
	awk '
		{ at = $0; sub(/.*cq\.id=/, "", at); id = at + 0 }
		/ cq_alloc: / { sub(/.* comp_vector=/, ""); vector[id] = $0 + 0 }
		/ cq_schedule: / && id in vector {
			sub(/^[^[]*\[/, "")
			on[$0 + 0]++
			wrong += $0 + 0 != vector[id]
		}
		END {
			printf "%d events on CPU 0, %d on CPU 1, %d of them not on that of their vector\n", on[0], on[1], wrong
			exit !(on[0] && on[1] && !wrong)
		}' /sys/kernel/tracing/trace
}

connecting() { grep -qx connecting /sys/class/nvme/nvme0/state; }
reconnections() { dmesg | grep -c 'Successfully reconnected'; }

# reconnected BEFORE: of reconnections
reconnected() { [ "$(reconnections)" -gt "$1" ]; }
