# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# srn and rxe beside each other in one VM, each over a veth pair of its own:
#
#	netns a: a0, srn0 ==veth== netns b: b0, srn1
#	init netns: v0, rxe0 ==veth== init netns: v1, rxe1
#
# rxe knows the initial namespace only; its frames cross the veth by policy routing.

srn_pair() {
	local i ns

	i=1
	ip link add a0 mtu "$MTU" type veth peer name b0 mtu "$MTU" || return
	for ns in a b; do
		ip netns add $ns
		ip link set ${ns}0 netns $ns
		ip -n $ns link set lo up
		ip -n $ns addr add 10.1.0.$i/24 dev ${ns}0
		ip -n $ns link set ${ns}0 up
		i=$((i + 1))
	done
	ip netns exec a rdma link add srn0 type srn netdev a0 &&
		ip netns exec b rdma link add srn1 type srn netdev b0
}

rxe_pair() {
	local i

	ip link add v0 address 02:00:00:00:00:0a mtu "$MTU" type veth \
		peer name v1 address 02:00:00:00:00:0b mtu "$MTU" || return
	for i in all v0 v1; do
		echo 0 >/proc/sys/net/ipv4/conf/$i/rp_filter
		echo 1 >/proc/sys/net/ipv4/conf/$i/accept_local
		echo 1 >/proc/sys/net/ipv4/conf/$i/arp_ignore
	done
	ip addr add 10.2.0.1/32 dev v0
	ip addr add 10.2.0.2/32 dev v1
	ip link set v0 up
	ip link set v1 up
	ip neigh replace 10.2.0.2 lladdr 02:00:00:00:00:0b dev v0 nud permanent
	ip neigh replace 10.2.0.1 lladdr 02:00:00:00:00:0a dev v1 nud permanent
	ip route add local 10.2.0.1 dev v0 table 100
	ip route add local 10.2.0.2 dev v1 table 101
	ip route add 10.2.0.2 dev v0 src 10.2.0.1 table 102
	ip route add 10.2.0.1 dev v1 src 10.2.0.2 table 102
	ip rule add pref 1 iif v0 lookup 100
	ip rule add pref 2 iif v1 lookup 101
	ip rule add pref 3 from 10.2.0.1 to 10.2.0.2 lookup 102
	ip rule add pref 4 from 10.2.0.2 to 10.2.0.1 lookup 102
	ip rule add pref 10 lookup local
	ip rule del pref 0
	rdma link add rxe0 type rxe netdev v0 && rdma link add rxe1 type rxe netdev v1
}

# active DEVICE...
active() {
	local dev

	for dev; do
		wait_for link_active "$dev" || return
	done
	sleep 1
}

both_pairs() {
	# The driver that rxe takes where there is one: PCLMULQDQ.
	modprobe crc32_pclmul 2>/dev/null
	modprobe srn && srn_pair || return
	modprobe rdma_rxe && rxe_pair || return
	active srn0 srn1 rxe0 rxe1
}

srn_alone() {
	modprobe srn && srn_pair && active srn0 srn1
}

srnbench=$SRN_BUILD/cmake/tools/srnbench/srnbench

# On a clock of instructions once is enough. The baseline's figures are of this length.
counted_rounds=1 counted_seconds=0.2

# compared OPTION...: both, as ratios.
compared() { "$srnbench" --pair srn=srn0,srn1 --pair rxe=rxe0,rxe1 "$@"; }

# counted OPTION...: srn alone on a clock that counts instructions, for the baseline.
counted() { "$srnbench" --pair srn=srn0,srn1 --rounds $counted_rounds --seconds $counted_seconds "$@"; }

# counted_idle OPTION...: the memory of an idle QP, likewise.
counted_idle() { counted --setup --only 'idle QP' "$@"; }
