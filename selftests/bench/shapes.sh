# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Other shapes of the links of pairs.sh. Each is a function that runs a command in its shape, with
# compared_pairs as it is there, and leaves everything as it was.

# wire COMMAND...: packets one by one between the ends, and each by itself up the stack (gro=N).
wire() {
	local status=0 gro=/sys/module/srn/parameters/gro before

	before=$(<$gro) && echo N >$gro && coupled "$@" || status=$?
	echo "$before" >$gro || status=1
	return $status
}

# coupled COMMAND...: packets one by one, some of which NAPIs couple. siw has TCP cut its segments, which a NIC
# does for it: it has no such row.
coupled() {
	local status=0 compared_pairs=(--pair "srn=srn0,srn1" --pair "rxe=rxe0,rxe1")

	wire_shape on && note_wire || return
	"$@" || status=$?
	crossed_one_by_one || status=1
	wire_shape off || status=1
	return $status
}

# narrow COMMAND...: the netdevs have an MTU of 1500, which is a path MTU of 1024.
narrow() {
	local status=0

	links_mtu 1500 || return
	"$@" || status=$?
	links_mtu "$MTU" || status=1
	return $status
}

# links_mtu MTU: of the netdevs of all pairs.
links_mtu() {
	local dev

	ip -n a link set a0 mtu "$1" && ip -n b link set b0 mtu "$1" || return
	for dev in v0 v1 w0 w1; do
		[ ! -e /sys/class/net/$dev ] || ip link set $dev mtu "$1" || return
	done
}

# itself COMMAND...: both ends are one device.
itself() {
	local compared_pairs=(--pair "srn=srn0,srn0" --pair "rxe=rxe0,rxe0")

	[ -z "${SIW-}" ] || compared_pairs+=(--pair "siw=siw0@10.3.0.1,siw0@10.3.0.1")
	"$@"
}

# bridged COMMAND...: other devices, whose veths end at a bridge, one for each pair.
bridged() {
	local compared_pairs=(--pair "srn=srn2,srn3" --pair "rxe=rxe2,rxe3") devices=(srn2 srn3 rxe2 rxe3)

	[ -n "${bridge_is_there-}" ] || { srn_over_bridge && rxe_over_bridge; } || return
	if [ -n "${SIW-}" ]; then
		[ -n "${bridge_is_there-}" ] || siw_over_bridge || return
		compared_pairs+=(--pair "siw=siw2@10.6.0.1,siw3@10.6.0.2")
		devices+=(siw2 siw3)
	fi
	bridge_is_there=1
	active "${devices[@]}" && "$@"
}

srn_over_bridge() {
	joined a1 b1 bridge0 || return
	in_namespace a a1 10.4.0.1/24 && in_namespace b b1 10.4.0.2/24 || return
	ip netns exec a rdma link add srn2 type srn netdev a1 &&
		ip netns exec b rdma link add srn3 type srn netdev b1
}

rxe_over_bridge() {
	looped v2 v3 5 bridge1 &&
		rdma link add rxe2 type rxe netdev v2 && rdma link add rxe3 type rxe netdev v3
}

siw_over_bridge() {
	looped w2 w3 6 bridge2 &&
		rdma link add siw2 type siw netdev w2 && rdma link add siw3 type siw netdev w3
}
