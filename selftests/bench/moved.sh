# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What moved at this end of the wire, eth0, beside a row: the counters of srn and of the netdev, interrupts, and
# how often the driver told the device, which in a VM is what costs.

moved_srn="sent_pkts sent_trains sent_runs rcvd_pkts rcvd_convoys sent_ack sent_sack sent_nak sent_probes
	retransmitted_pkts local_ack_timeout_err sent_without_credit"
moved_netdev="rx_packets tx_packets rx_bytes tx_bytes rx_dropped tx_dropped rx_errors tx_errors"

# moved_now: 'NAME VALUE' of each, with the time.
moved_now() {
	local name value virtio

	sed 's/\([0-9]*\)\.\([0-9]*\) .*/milliseconds \1\20/' /proc/uptime
	for name in $moved_srn; do
		[ ! -d /sys/class/infiniband/srn0 ] || ! read_counter srn0 "$name" || echo "$name $value"
	done
	for name in $moved_netdev; do
		read -r value <"/sys/class/net/eth0/statistics/$name" && echo "$name $value"
	done
	virtio=$(basename "$(readlink -f /sys/class/net/eth0/device)")
	awk -v name="$virtio-" '
		function sum(i, all) { for (i = 2; $i ~ /^[0-9]+$/; i++) all += $i; return all }
		index($NF, name "input") == 1 { print "rx_interrupts", sum() }
		index($NF, name "output") == 1 { print "tx_interrupts", sum() }' /proc/interrupts
	ethtool -S eth0 | awk '$1 ~ /^[rt]x0_kicks:/ { print substr($1, 1, 2) "_kicks", $2 }
		$1 ~ /^[rt]x_queue_0_kicks:/ { print substr($1, 1, 2) "_kicks", $2 }'
	awk '/^Udp: [0-9]/ { print "udp_dropped", $6 }' /proc/net/snmp
}

# moved_between BEFORE AFTER: 'NAME DIFFERENCE' of what is not as it was. A link that came meanwhile began
# with zeros.
moved_between() {
	awk 'FILENAME == ARGV[1] { before[$1] = $2; next }
		$2 != before[$1] + 0 { printf "%s %.0f\n", $1, $2 - before[$1] }' "$@"
}

# moved_line: that as one line.
moved_line() { awk '{ printf "%s%s %s", comma, $1, $2; comma = ", " } END { print "" }'; }
