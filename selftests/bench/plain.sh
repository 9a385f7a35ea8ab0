# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What the wire between two VMs carries of packets that nobody cares for, as large as RoCE's: so many and no more
# can carry what a verb moves. With netfilter dropping them as they come out of the netdev the kernel sends them
# (pktgen); those that a program reads a program wrote.
: "${MTU:?}" "${PEER4:?}"

# Of a packet; RoCE's headers behind UDP's, as a WRITE's first one has them, and the ICRC; Ethernet's, IP's and UDP's.
plain_payload=4096 plain_roce=$((12 + 16 + 4)) plain_headers=$((14 + 20 + 8))
[ "$MTU" -ge 4200 ] || plain_payload=1024
plain_datagram=$((plain_payload + plain_roce))

# plain_drop on|off: what comes for the port that discards.
plain_drop() {
	nft delete table netdev plain 2>/dev/null
	[ "$1" = off ] || nft 'table netdev plain {
		chain in {
			type filter hook ingress device "eth0" priority 0
			udp dport 9 drop
		}
	}'
}

# plain_flood COUNT: so many, out of eth0. Leaves what pktgen says in $WORK/plain.
plain_flood() {
	local to=/proc/net/pktgen line mac

	ping -c 1 -q "$PEER4" >/dev/null
	mac=$(ip neigh show "$PEER4" dev eth0 | sed -n 's/.*lladdr \([^ ]*\).*/\1/p')
	modprobe pktgen && echo rem_device_all >$to/kpktgend_0 && echo add_device eth0 >$to/kpktgend_0 || return
	for line in "count $1" "pkt_size $((plain_datagram + plain_headers))" "dst $PEER4" "dst_mac $mac" "delay 0"; do
		echo "$line" >$to/eth0 || return
	done
	echo start >$to/pgctrl && cat $to/eth0 >"$WORK/plain" && modprobe -r pktgen
}

# plain_rate PACKETS: MB/s of their payload, in the time that pktgen took.
plain_rate() {
	awk -v packets="$1" -v payload=$plain_payload '/^Result: OK:/ { split($3, us, /[^0-9]/); took = us[1] }
		END { if (!(took * packets)) exit 1; printf "%.1f\n", packets * payload / took }' "$WORK/plain"
}

# plain_read_rate LOG: MB/s of the payload that arrived, of iperf3's log in JSON.
plain_read_rate() {
	awk -v payload=$plain_payload '
		/"end":[ \t]*\{/ { all = 1 }
		all && /"sum":/ { sum = 1 }
		sum { gsub(/[",:]/, ""); got[$1] = $2 }
		sum && /}/ { exit }
		END {
			if (!(got["seconds"] * got["packets"])) exit 1
			printf "%.1f\n", (got["packets"] - got["lost_packets"]) * payload / got["seconds"] / 1e6
		}' "$1"
}
