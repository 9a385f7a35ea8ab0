# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What the same links and the same kernel do without RDMA: a stream of TCP from a to b, and a copy of
# memory, the least that moving bytes can cost.

# tcp_rate LENGTH-OPTION VALUE [-Z]: MB/s from a0 to b0 as the receiver counts them, with the sender's
# copy or without it.
tcp_rate() {
	local log=$WORK/iperf3

	ip netns exec b iperf3 -s -1 >"$log.server" 2>&1 &
	if ! wait_for tcp_listens ||
		! ip netns exec a timeout 120 iperf3 -c 10.1.0.2 -J "$@" >"$log"; then
		kill $!
	fi
	# It has the port until it ends, and fails if it was killed.
	wait $! || return
	stream_rate "$log"
}

# stream_rate LOG: MB/s of iperf3's log in JSON.
stream_rate() {
	awk '/"sum_received"/ { on = 1 }
		on && /"bits_per_second"/ { gsub(/[^0-9.e+]/, "", $2); rate = $2 / 8e6; exit }
		END { if (!rate) exit 1; printf "%.1f\n", rate }' "$1"
}

tcp_listens() { ip netns exec b ss -Hltn "sport = :5201" | grep -q .; }

# copy_rate FUNCTION: MB/s of perf's copy of 64 KiB: default (the C library's), x86-64-unrolled (the
# kernel's memcpy() where the CPU has no FSRM) or x86-64-movsq (srn's there, copy.c).
copy_rate() {
	perf bench -f simple mem memcpy -s 64KB -l 2000 -f "$1" |
		awk '/^[0-9.]+$/ { rate = $1 / 1e6 } END { if (!rate) exit 1; printf "%.1f\n", rate }'
}

# beside TABLE JSON LENGTH-OPTION VALUE: srn's 64 KiB WRITE of srnbench's TABLE beside these limits.
beside() {
	local write name rate comma=''

	write=$(awk '/^write 64 KiB / { print $5 }' "$1")
	[ -n "$write" ] || return
	printf '{\n' >"$2"
	for name in "${limits[@]:?}"; do
		case $name in
		TCP) rate=$(tcp_rate "${@:3}") ;;
		"TCP, sendfile") rate=$(tcp_rate "${@:3}" -Z) ;;
		"memcpy, user") rate=$(copy_rate default) ;;
		"memcpy, kernel") rate=$(copy_rate x86-64-unrolled) ;;
		"memcpy, words") rate=$(copy_rate x86-64-movsq) ;;
		esac
		[ -n "$rate" ] || return
		awk -v name="$name" -v rate="$rate" -v write="$write" 'BEGIN {
			printf "%-28s%8s%12.1f   a 64 KiB WRITE is %.2f of it\n", name, "MB/s", rate, write / rate }'
		printf '%s  "%s": %s' "$comma" "$name" "$rate" >>"$2"
		comma=$',\n'
	done
	printf '\n}\n' >>"$2"
}
