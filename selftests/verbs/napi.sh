# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# topology.sh's two hosts as a wire would have them: packets cross one by one, and are coupled on arrival.

at_va() { "$@"; }
at_vb() { ip netns exec peer "$@"; }

# napi on|off: a veth's NAPI has a ring with room for 256. A queue in front of it waits; without one what is
# more would be lost.
napi() {
	local list=off gro=on dev

	[ "$1" = on ] || list=on gro=off
	for dev in va vb; do
		at_$dev ethtool -K $dev tx-gso-list $list tso $list gro $gro || return
		if [ "$1" = on ]; then
			at_$dev tc qdisc replace dev $dev root pfifo limit 10000 || return
		else
			at_$dev tc qdisc del dev $dev root || return
		fi
	done
}
