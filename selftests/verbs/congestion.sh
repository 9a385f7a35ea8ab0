# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Four senders, a router and a receiver in one VM, each in a namespace. All that the four send meets
# in the queue of the router's netdev "out", which tests make; nothing is sent as runs or trains.
#
#	s1: src1 - e1 10.0.1.1 --- i1 \
#	s2: src2 - e2 10.0.2.1 --- i2  \ router
#	s3: src3 - e3 10.0.3.1 --- i3  / out 10.0.9.254 --- in 10.0.9.1 - dst :d
#	s4: src4 - e4 10.0.4.1 --- i4 /

single_packets() { ip netns exec "$1" ethtool -K "$2" tso off gso off gro off >/dev/null; }

# branch NETNS NETDEV ROUTERS-NETDEV NET DEVICE
branch() {
	local ns=$1 dev=$2 far=$3 net=$4

	ip netns add "$ns" || return
	ip -n "$ns" link set lo up
	ip link add "$dev" netns "$ns" mtu 1500 type veth peer name "$far" netns router mtu 1500 || return
	ip -n "$ns" addr add "10.0.$net.1/24" dev "$dev"
	ip -n router addr add "10.0.$net.254/24" dev "$far"
	ip -n "$ns" link set "$dev" up
	ip -n router link set "$far" up
	ip -n "$ns" route add default via "10.0.$net.254"
	single_packets "$ns" "$dev" && single_packets router "$far" || return
	ip netns exec "$ns" sysctl -qw net.ipv4.tcp_ecn=1
	ip netns exec "$ns" rdma link add "$5" type srn netdev "$dev" || return
	wait_for link_active "$5"
}

# knows_router NETNS NET: and the router knows it; a connection does not wait for that.
knows_router() { ip netns exec "$1" ping -qc 1 "10.0.$2.254"; }

dumbbell() {
	local i

	modprobe -a act_gact cls_matchall tcp_dctcp sch_fq_codel sch_htb sch_ingress sch_netem sch_red || return
	ip netns add router || return
	ip -n router link set lo up
	ip netns exec router sysctl -qw net.ipv4.ip_forward=1
	branch d in out 9 dst || return
	wait_for knows_router d 9 || return
	for i in 1 2 3 4; do
		branch s$i e$i i$i $i src$i || return
		wait_for knows_router s$i $i || return
	done
}
