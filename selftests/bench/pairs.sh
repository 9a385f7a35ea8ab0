# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# srn, rxe and siw beside each other in one VM, each over a veth pair of its own:
#
#	netns a: a0, srn0 ==veth== netns b: b0, srn1
#	init netns: v0, rxe0 ==veth== init netns: v1, rxe1
#	init netns: w0, siw0 ==veth== init netns: w1, siw1
#
# rxe knows the initial namespace only, and siw connects there; their frames cross the veth by policy
# routing.

srn_pair() {
	local ns

	for ns in a b; do
		ip netns add $ns
		ip -n $ns link set lo up
	done
	joined a0 b0 && in_namespace a a0 10.1.0.1/24 && in_namespace b b0 10.1.0.2/24 || return
	ip netns exec a rdma link add srn0 type srn netdev a0 &&
		ip netns exec b rdma link add srn1 type srn netdev b0
}

# joined NETDEV NETDEV [BRIDGE]: the ends of a veth pair, or of two whose other ends are ports of a bridge.
joined() {
	local dev

	if [ -z "${3-}" ]; then
		ip link add "$1" mtu "$MTU" type veth peer name "$2" mtu "$MTU"
		return
	fi
	ip link add "$3" mtu "$MTU" type bridge && ip link set "$3" up || return
	for dev in "$1" "$2"; do
		ip link add "$dev" mtu "$MTU" type veth peer name "port-$dev" mtu "$MTU" &&
			ip link set "port-$dev" master "$3" up || return
	done
}

# in_namespace NAMESPACE NETDEV ADDRESS: it goes there, and is up.
in_namespace() {
	ip link set "$2" netns "$1" && ip -n "$1" addr add "$3" dev "$2" && ip -n "$1" link set "$2" up
}

# looped NETDEV NETDEV NET [BRIDGE]: joined within a namespace, 10.NET.0.1 and .2, and their frames cross.
looped() {
	local a=$1 b=$2 net=10.$3.0 table=$(($3 * 10)) i

	joined "$a" "$b" "${4-}" || return
	ip link set "$a" address 02:00:00:00:0$3:0a
	ip link set "$b" address 02:00:00:00:0$3:0b
	for i in all "$a" "$b"; do
		echo 0 >/proc/sys/net/ipv4/conf/$i/rp_filter
		echo 1 >/proc/sys/net/ipv4/conf/$i/accept_local
		echo 1 >/proc/sys/net/ipv4/conf/$i/arp_ignore
	done
	ip addr add $net.1/32 dev "$a"
	ip addr add $net.2/32 dev "$b"
	ip link set "$a" up
	ip link set "$b" up
	ip neigh replace $net.2 lladdr 02:00:00:00:0$3:0b dev "$a" nud permanent
	ip neigh replace $net.1 lladdr 02:00:00:00:0$3:0a dev "$b" nud permanent
	ip route add local $net.1 dev "$a" table $table
	ip route add local $net.2 dev "$b" table $((table + 1))
	ip route add $net.2 dev "$a" src $net.1 table $((table + 2))
	ip route add $net.1 dev "$b" src $net.2 table $((table + 2))
	ip rule add pref $table iif "$a" lookup $table
	ip rule add pref $((table + 1)) iif "$b" lookup $((table + 1))
	ip rule add pref $((table + 2)) from $net.1 to $net.2 lookup $((table + 2))
	ip rule add pref $((table + 3)) from $net.2 to $net.1 lookup $((table + 2))
	ip rule add pref 100 lookup local 2>/dev/null
	ip rule del pref 0 2>/dev/null
	:
}

rxe_pair() {
	looped v0 v1 2 &&
		rdma link add rxe0 type rxe netdev v0 && rdma link add rxe1 type rxe netdev v1
}

# siw is not of this kernel: its module is the file SIW.
siw_pair() {
	modprobe -a ib_uverbs iw_cm rdma_ucm libcrc32c crc32c_generic &&
		insmod "$SIW" && looped w0 w1 3 &&
		rdma link add siw0 type siw netdev w0 && rdma link add siw1 type siw netdev w1
}

# active DEVICE...
active() {
	local dev

	for dev; do
		wait_for link_active "$dev" || return
	done
	sleep 1
}

# all_pairs: srn, rxe, and siw if there is one.
all_pairs() {
	local pairs=(srn0 srn1 rxe0 rxe1)

	# The driver that rxe takes where there is one: PCLMULQDQ.
	modprobe crc32_pclmul 2>/dev/null
	modprobe srn && srn_pair || return
	modprobe rdma_rxe && rxe_pair || return
	compared_pairs=(--pair "srn=srn0,srn1" --pair "rxe=rxe0,rxe1")
	if [ -n "${SIW-}" ]; then
		siw_pair || return
		pairs+=(siw0 siw1)
		compared_pairs+=(--pair "siw=siw0@10.3.0.1,siw1@10.3.0.2")
	fi
	active "${pairs[@]}"
}

srn_alone() {
	modprobe srn && srn_pair && active srn0 srn1
}

srnbench=$SRN_BUILD/cmake/tools/srnbench/srnbench

# On a clock of instructions once is enough. The baseline's figures are of this length.
counted_rounds=1 counted_seconds=0.2

# compared OPTION...: all, as ratios.
compared() { "$srnbench" "${compared_pairs[@]}" "$@"; }

# counted OPTION...: srn alone on a clock that counts instructions, for the baseline.
counted() {
	"$srnbench" --pair "srn=${counted_pair:-srn0,srn1}" --rounds $counted_rounds --seconds $counted_seconds "$@"
}

# What bench/counted holds a commit to: the figures of `guarded NAME`, likewise, are in NAME.json.
guarded_names="baseline idle connect coupled narrow narrow-coupled itself queues"

# guarded NAME OPTION...: the shapes are those of shapes.sh.
guarded() {
	case $1 in
	baseline) counted "${@:2}" ;;
	idle) counted --setup --only 'idle QP' "${@:2}" ;;
	# What kernel threads do of it meanwhile, RCU's above all, differs from boot to boot.
	connect) counted --setup --only connect --tolerance 0.06 "${@:2}" ;;
	coupled) coupled counted --only 'write 64 KiB' 'read 64 KiB' "${@:2}" ;;
	narrow) narrow counted --only 'write 64 KiB' "${@:2}" ;;
	# What a doorbell's call receives itself; by ksoftirqd it would be .76.
	narrow-coupled) narrow coupled counted --only 'send 1 MiB' "${@:2}" ;;
	itself) counted_pair=srn0,srn0 counted --only 'write 64 KiB' 'read 64 KiB' "${@:2}" ;;
	# Those of 64 of 10,000 QPs come with these; one QP is in the baseline.
	queues) counted --queues --only '64 QPs' 10000 "${@:2}" ;;
	esac
}
