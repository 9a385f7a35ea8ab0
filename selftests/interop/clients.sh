# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# The programs of rdma-core, librdmacm and perftest between two VMs, one table for every
# pair of devices. A suite sets TYPE (srn or rxe, of this VM's link) and calls the groups;
# with rxe at one end it sets RXE_END, and what hangs between two rxe is left out.
#
#	vm1: server, $DEV on eth0 ------ data wire ------ vm2: client, $DEV on eth0

DEV=${TYPE}0
port=20000
srnverify=$SRN_BUILD/cmake/tools/srnverify/srnverify
# Features that both devices have.
need=${RXE_END:+rc,uc,ud,imm,atomic,window,srq,inline,sge,events,solicited,rnr,mtu-256,mtu-512,mtu-1024,mtu-2048,mtu-4096}
need=${need:-all}
# Linux 6.12's rxe keeps the credit of a READ or atomic that has to be sent again, after an RNR NAK or a
# loss, and a fenced request waits for all of them, its own too (rxe_req.c, req_retry, rxe_wqe_is_fenced):
# that QP sends nothing any more. By rdma-core 44's provider of rxe, messages that ibv_wr_*() posted came
# with other bytes, and the calls of ibv_cq_ex told of completions of QP 0 that there are not.
without=${RXE_END:+--without fence,wr,cq-ex}
# Many QPs at once. 16 with 64 KiB each way are more than the emulator's wire holds. On a host that has other
# things to do it was seen to be 2.5 s long, which is more than a requester may wait for with a timeout of
# 14 (wire.rst, *Late*): srn gets what tuning.rst has for such hosts. With rxe, once a packet is
# lost and the first ones of the message were acknowledged, Linux 6.12's rxe begins that message anew
# with an empty SEND ONLY, and the whole of it behind that: the receiver refuses it. A message of one
# packet has no middle. -Q 1: perftest counts one completion as all that it stands for. With 50 messages,
# one in 4 signalled, the last one stands for 2 and counts 4: with -b, once half of the QPs are through,
# the program believes that all are, and does not post the last messages of the others.
patient="-u 17"
many="-q 16 ${RXE_END:+-s 4096 -t 4 -Q 1}"
[ -n "$RXE_END" ] || many="$many$patient"

# A link of this VM's type, and the GIDs of both address families.
clients_setup() {
	modprobe rdma_ucm
	rdma_link "$DEV" "$TYPE" eth0 || return
	wait_for gid_index "$DEV" "$IP4" && wait_for gid_index "$DEV" "$IP6" || return
	G4=$(gid_index "$DEV" "$IP4") G6=$(gid_index "$DEV" "$IP6")
	[ "$ME" = 1 ] || delay_cm || return
	barrier linked
}

# With -R, perftest's server tells its client to connect, over TCP, and then listens. A
# client that is faster is rejected (reason 8: no such service) and tries again, at which
# Debian's perftest crashes. So what the client sends to QP1 leaves 200 ms late, and
# nothing else does: u32 looks at the BTH, behind an IPv4 and a UDP header (-R goes over
# IPv4 here). The other bands have the qdisc that eth0 had.
delay_cm() {
	local band

	tc qdisc replace dev eth0 root handle 1: prio bands 4 || return
	for band in 1 2 3; do
		tc qdisc add dev eth0 parent 1:$band fq_codel || return
	done
	tc qdisc add dev eth0 parent 1:4 netem delay 200ms || return
	tc filter add dev eth0 parent 1: protocol ip u32 match ip dport 4791 0xffff \
		match u32 1 0xffffff at 32 flowid 1:4
}

# pingpong NAME PROGRAM GID ADDRESS OPTION...: over the given address family.
pingpong() {
	local name=$1 program=$2 gid=$3 peer=$4

	shift 4
	port=$((port + 1))
	pair_case "$name" $port "$program -d $DEV -g $gid -p $port $*" \
		"$program -d $DEV -g $gid -p $port $* $peer"
}

# perftest NAME "TOOL OPTIONS" [GID PEER]
perftest() {
	local gid=${3:-$G4} peer=${4:-$PEER4}

	port=$((port + 1))
	pair_case "$1" $port "$2 -d $DEV -x $gid -F -p $port" \
		"$2 -d $DEV -x $gid -F -p $port $peer"
}

# crowded NAME "TOOL OPTIONS": of many QPs, which are more than the wire holds: its queue marks, or drops.
crowded() {
	# shellcheck disable=SC2034 # pair_clean reads it
	local LOSSY=1

	perftest "$@"
}

# verified: every byte and every completion, of all that both devices can do, over both families.
# By its need it fails when a device should lose a feature. What is unreliable may lose: a NIC of the
# emulator does.
verified() {
	local family gid

	for family in 4 6; do
		gid=$G4
		[ $family = 4 ] || gid=$G6
		port=$((port + 1))
		pair_case "srnverify over IPv$family" $port \
			"$srnverify -d $DEV -x $gid -p $port" \
			"$srnverify -d $DEV -x $gid -p $port --rounds ${1:-6} --lossy --most-lost 30 --need $need \
				$without $PEERCTL"
	done
}

# strangers: rxe knows nothing of srn's hellos (wire.rst): they are WRITEs that come a second time, while
# nothing is lost. And that is all that it ever sees. Before anything is lost.
strangers() {
	if [ "$TYPE" = rxe ]; then
		run_case "hellos came, as duplicates" [ "$(hw_counter "$DEV" duplicate_request)" -gt 0 ]
	else
		run_case "no SACK left" [ "$(hw_counter "$DEV" sent_sack)" = 0 ]
	fi
	barrier strangers
}

# lossy: each end loses 1 % of what it sends. srnverify with RC was tried with rxe, of messages of one
# packet (see many) and without fences: Linux 6.12's rxe answers a READ that comes once more out of no
# memory at all, if the last request was one of no bytes (rxe_resp.c, read_reply: it looks at the length
# of that one), says so in a WARNING, and the QP is lost; that was one run in three. And RESET leaves a QP
# of rxe the receives that what is lost did not take (rxe_qp_reset), which then complete in the next round.
# So srnverify has one round of UC and UD, and of RC there are WRITEs and SENDs; those from rxe in one
# packet.
lossy() {
	local lost again size=65536

	[[ $TYPE$ME != @(rxe2|srn1) || -z ${RXE_END-} ]] || size=4096
	modprobe -q sch_netem
	tc qdisc replace dev eth0 root netem loss 1% limit 100000 || return
	LOSSY=1
	barrier lossy
	lost=$(dropped eth0) again=$(resent)
	port=$((port + 1))
	pair_case "srnverify of UC and UD, 1 % loss" $port "$srnverify -d $DEV -x $G4 -p $port" \
		"$srnverify -d $DEV -x $G4 -p $port --threads 4 --rounds 1 --lossy $without,rc $PEERCTL"
	perftest "ib_write_bw, 1 % loss" "ib_write_bw -s $size -n 400"
	perftest "ib_send_bw, 1 % loss" "ib_send_bw -s $size -n 400"
	LOSSY=
	run_case "packets were lost" [ "$(dropped eth0)" -gt "$lost" ]
	[ "$ME$TYPE" != 2srn ] || run_case "and sent again" [ "$(resent)" -gt "$again" ]
	tc qdisc del dev eth0 root
}

resent() { hw_counter "$DEV" retransmitted_pkts || echo 0; }	# rxe has none of that name

# ibv_*_pingpong as programs of others that work: what they compare with -c is one byte a page, and
# they end with status 0 whatever it is. Sizes, path MTUs and bytes are srnverify's.
pingpongs() {
	local type options

	for type in rc uc ud srq; do
		for options in ${SRN_LONG:+""} "-e"; do
			pingpong "ibv_${type}_pingpong $options" "ibv_${type}_pingpong" \
				"$G4" "$PEER4" "$options -n 200 -s 4096"
		done
		pingpong "ibv_${type}_pingpong over IPv6" "ibv_${type}_pingpong" "$G6" "$PEER4" \
			"-n 200 -s 1000"
	done
	pingpong "ibv_rc_pingpong, 1 MiB" ibv_rc_pingpong "$G4" "$PEER4" "-n 20 -s 1048576 -m 4096"
}

connected() {
	local own peer

	for own in "$IP4" "$IP6"; do
		peer=$PEER4
		[ "$own" = "$IP4" ] || peer=$PEER6
		pair_case "rping -V over $own" 7174 "rping -s -a $own -C 50 -V -S 4000" \
			"rping -c -a $peer -C 50 -V -S 4000"
	done
	pair_case "rping -V, persistent server, 65000 bytes" 7174 \
		"rping -s -a $IP4 -C 10 -V -S 65000" "rping -c -a $PEER4 -C 10 -V -S 65000"
	pair_case "ucmatose" 7471 "ucmatose -b $IP4 -c 10 -C 20 -S 1000" \
		"ucmatose -s $PEER4 -b $IP4 -c 10 -C 20 -S 1000"
	pair_case "udaddy" 7174 "udaddy -b $IP4 -c 4 -C 20 -S 1000" \
		"udaddy -s $PEER4 -b $IP4 -c 4 -C 20 -S 1000"
	pair_case "rstream -T v" 7471 "rstream -b $IP4 -S 65536 -C 50 -T v" \
		"rstream -s $PEER4 -S 65536 -C 50 -T v"
	pair_case "rstream -T v, small messages" 7471 "rstream -b $IP4 -S 64 -C 500 -T v" \
		"rstream -s $PEER4 -S 64 -C 500 -T v"
	pair_case "rdma_server and rdma_client" 7471 "rdma_server" "rdma_client -s $PEER4"
	pair_case "rdma_xserver and rdma_xclient, RC" 7471 "rdma_xserver -c r" \
		"rdma_xclient -s $PEER4 -c r"
}

# Tools, and the connection types that each knows.
perftest_types=(
	"ib_send_bw:RC UC UD" "ib_send_lat:RC UC UD"
	"ib_write_bw:RC UC" "ib_write_lat:RC UC"
	"ib_read_bw:RC" "ib_read_lat:RC"
	"ib_atomic_bw:RC" "ib_atomic_lat:RC"
)

perftests() {
	local row tool type

	for row in "${perftest_types[@]}"; do
		tool=${row%%:*}
		for type in ${row#*:}; do
			case $tool in
			ib_atomic_*)
				perftest "$tool $type, compare and swap" "$tool -c $type -A CMP_AND_SWAP -n 200"
				perftest "$tool $type, fetch and add" "$tool -c $type -A FETCH_AND_ADD -n 200"
				;;
			*)
				perftest "$tool $type, all sizes" "$tool -c $type -a -n 10"
				;;
			esac
			# librdmacm knows no UC, and perftest no events for WRITE.
			[[ $type = UC || $tool = *_lat ]] ||
				perftest "$tool $type, rdma_cm" "$tool -c $type -R -n 100"
			# Between two rxe, 3 of 4 runs of ib_send_lat RC with events hang.
			[[ $tool = ib_write_* || (${RXE_END-} && $tool$type = ib_send_latRC) ]] ||
				perftest "$tool $type, events" "$tool -c $type -e -n 100"
			[[ $tool = *_lat ]] || perftest "$tool $type, IPv6" "$tool -c $type -n 100" "$G6"
		done
	done
	for tool in ib_send_bw ib_write_bw ib_read_bw ib_atomic_bw; do
		crowded "$tool, 16 QPs" "$tool $many -n 50"
		perftest "$tool, both ways" "$tool -b -n 100"
	done
	for tool in ib_send_bw ib_send_lat ib_write_bw ib_write_lat; do
		perftest "$tool, inline" "$tool -I 64 -s 64 -n 200"
	done
	for size in 256 1024 4096; do
		perftest "ib_write_bw, path MTU $size" "ib_write_bw -m $size -n 50"
		perftest "ib_read_bw, path MTU $size" "ib_read_bw -m $size -n 50"
	done
	perftest "ib_send_bw, shared receive queue" "ib_send_bw --use-srq -n 100 -q 2"
	perftest "ib_write_bw, posting lists" "ib_write_bw -l 8 -n 800"
}

whole_table() {
	verified 40
	pingpongs
	connected
	perftests
}

# One case of each kind, where the whole table takes too long.
sample() {
	local type row

	verified 3
	for type in rc ud; do
		pingpong "ibv_${type}_pingpong -e" "ibv_${type}_pingpong" "$G4" "$PEER4" \
			"-e -n 100 -s 1000"
	done
	pair_case "rping -V" 7174 "rping -s -a $IP4 -C 20 -V -S 4000" \
		"rping -c -a $PEER4 -C 20 -V -S 4000"
	pair_case "ucmatose" 7471 "ucmatose -b $IP4 -c 4 -C 10 -S 1000" \
		"ucmatose -s $PEER4 -b $IP4 -c 4 -C 10 -S 1000"
	for row in send_bw:RC send_bw:UD write_bw:RC read_bw:RC atomic_bw:RC send_lat:RC; do
		perftest "ib_${row%:*} ${row#*:}" "ib_${row%:*} -c ${row#*:} -n 100"
	done
	perftest "ib_write_bw, rdma_cm" "ib_write_bw -R -n 100"
	crowded "ib_send_bw, 16 QPs, both ways" "ib_send_bw $many -b -n 50"
}
