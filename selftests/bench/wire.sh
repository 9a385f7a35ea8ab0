# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# The shape that messages have on a wire: packets, each with its ICRC, one by one from end to end, though
# both ends are in one machine.

# wire_shape on|off: of the veths of srn and rxe. On, the sender's stack cuts runs and trains in front of them, since
# they take no lists of packets, as a NIC's driver takes none; they receive by a NAPI with GRO, as NICs do,
# which a veth has for nothing that an end with TSO sends.
wire_shape() {
	local list=off gro=on dev

	[ "$1" = on ] || list=on gro=off
	ip netns exec a ethtool -K a0 tx-gso-list $list tso $list gro $gro &&
		ip netns exec b ethtool -K b0 tx-gso-list $list tso $list gro $gro || return
	[ ! -e /sys/class/net/v0 ] || for dev in v0 v1; do
		ethtool -K $dev tx-gso-list $list tso $list gro $gro || return
	done
}

# Of both ends: a READ's answers go the other way.
both() { echo $(($(hw_counter srn0 "$1") + $(hw_counter srn1 "$1"))); }

netdevs_received() {
	echo $(($(ip netns exec a cat /sys/class/net/a0/statistics/rx_packets) +
		$(ip netns exec b cat /sys/class/net/b0/statistics/rx_packets)))
}

# What crossed the veth from end to end, before and after.
note_wire() {
	wire_runs=$(both sent_runs) wire_trains=$(both sent_trains) wire_whole=$(both rcvd_runs)
	wire_packets=$(both rcvd_pkts) wire_skbs=$(netdevs_received) wire_coupled=$(both rcvd_convoys)
}

# crossed_one_by_one: since note_wire there were trains, some of them runs perhaps, of which none arrived whole;
# each packet that reached a QP came out of the veth by itself, and then the NAPI coupled some, if that is on.
crossed_one_by_one() {
	local runs trains packets skbs coupled whole

	sleep 0.1 # counters are read anew after 10 ms
	runs=$(($(both sent_runs) - wire_runs))
	trains=$(($(both sent_trains) - wire_trains))
	whole=$(($(both rcvd_runs) - wire_whole))
	packets=$(($(both rcvd_pkts) - wire_packets))
	skbs=$(($(netdevs_received) - wire_skbs))
	coupled=$(($(both rcvd_convoys) - wire_coupled))
	echo "on the wire: $trains trains left, of which $runs runs, $skbs packets crossed, $packets reached QPs," \
		"some in $coupled trains"
	[ $whole = 0 ] && [ $trains -gt 0 ] && [ $packets -gt 0 ] && [ $skbs -ge $packets ] &&
		{ [ $coupled -gt 0 ] || grep -q N /sys/module/srn/parameters/gro; }
}
