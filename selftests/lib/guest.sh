# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What a suite or a script in the guest calls. Given by the VM:
#
#   ME, VMS      which of how many VMs this is: 1 or 2
#   KERNEL       stock, cloud, debug or uml
#   SRN_TREE     the source tree;  SRN_BUILD  its build/
#   MTU          of eth0
#
# and from here PEER, IP4, IP6, PEER4, PEER6 (data wire), PEERCTL (control wire), VM (the
# directory that host and guests share), SLOW (multiply waiting times by it).
#
# Results are TAP lines on stdout: ok, not_ok, skip, run_case, pair_case, run_gtest.

[ -z "${guest_lib_loaded-}" ] || return 0
guest_lib_loaded=1
umask 022

VM=/run/vm
PEER=$((3 - ME))
IP4=10.77.0.$ME IP6=fd77::$ME
PEER4=10.77.0.$PEER PEER6=fd77::$PEER PEERCTL=10.78.0.$PEER
SLOW=1
[[ $KERNEL != @(debug|race) ]] || SLOW=5
export VM PEER IP4 IP6 PEER4 PEER6 PEERCTL SLOW
declare -A barrier_round=()

# shellcheck source=dmesg.sh
. "$SRN_TREE/selftests/lib/dmesg.sh"
# shellcheck source=tap.sh
. "$SRN_TREE/selftests/lib/tap.sh"
# shellcheck source=damage.sh
. "$SRN_TREE/selftests/lib/damage.sh"

# dmesg_lines: where the kernel's log ends now: how many lines it has, and the last of them.
dmesg_lines() { dmesg | awk 'END { print NR, $0 }'; }

# dmesg_since END: what came behind it. False if the log does not go back so far: it is a ring, and
# of what is lost nobody knows what it said.
dmesg_since() {
	dmesg | end=$1 awk 'BEGIN { end = ENVIRON["end"]; lines = end + 0; sub(/^[0-9]+ /, "", end) }
		NR == lines { kept = $0 "" == end "" }
		NR > lines
		END { exit lines && !kept }'
}

# dmesg_clean_since END: nothing bad in the kernel's log since then; else shows it.
dmesg_clean_since() {
	local rc=0

	dmesg_since "$1" >"$WORK/dmesg" || {
		diag "the kernel's log has lost lines: it does not go back to: $1"
		rc=1
	}
	dmesg_reports "$WORK/dmesg" >/dev/null || return $rc
	dmesg_context "$WORK/dmesg" | sed 's/^/#   /'
	return 1
}

# dmesg_tests_since END: the tests of a program, as it announced them in the log, during which
# something bad was said.
dmesg_tests_since() {
	dmesg_since "$1" >"$WORK/dmesg"
	dmesg_tests "$WORK/dmesg"
}

#
# Waiting, and the other VM
#

# doze: waiting looks often, and sleeps in a read: a process for each nap takes as long as the nap
# in an emulated machine.
exec {doze}<> <(:)
doze() { read -rt 0.02 -u "$doze" || :; }

# wait_for [-t SECONDS] COMMAND...: until it succeeds.
wait_for() {
	local limit=$((20 * SLOW)) deadline

	if [ "$1" = -t ]; then
		limit=$2
		shift 2
	fi
	deadline=$((SECONDS + limit))
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $deadline ] || return 1
		doze
	done
}

# wait_file FILE SECONDS: as wait_for, for what the other VM leaves.
wait_file() {
	local deadline=$((SECONDS + $2))

	until [ -e "$1" ]; do
		[ $SECONDS -lt $deadline ] || return 1
		doze
	done
}

# barrier NAME [SECONDS]: returns when both VMs are here. May be used again and again
# with the same name, as often on one side as on the other. Not from run_case (it counts
# its rounds in this shell).
barrier() {
	local round=$((${barrier_round[$1]:-0} + 1)) base

	[ "$VMS" = 2 ] || return 0
	barrier_round[$1]=$round
	base=$VM/barrier/${SUITE_ID-}$1.$round
	: >"$base.$ME"
	wait_file "$base.$PEER" "${2:-$((180 * SLOW))}" && return
	echo "# barrier $1: the other VM did not come"
	return 1
}

# publish KEY VALUE and fetch KEY [SECONDS]: a word for the other VM.
publish() {
	echo "$2" >"$VM/barrier/${SUITE_ID-}$1.value.$ME.new"
	mv "$VM/barrier/${SUITE_ID-}$1.value.$ME.new" "$VM/barrier/${SUITE_ID-}$1.value.$ME"
}

fetch() {
	local file=$VM/barrier/${SUITE_ID-}$1.value.$PEER

	wait_file "$file" "${2:-$((180 * SLOW))}" && cat "$file"
}

# Something listens on PORT: over TCP or with rdma_cm.
listening() {
	ss -Hltn "sport = :$1" | grep -q . ||
		rdma resource show cm_id 2>/dev/null | grep LISTEN | grep -qE "[:.]$1( |\$)"
}

# pair_case NAME PORT SERVER CLIENT: one test with a program on each VM. vm1 runs the
# shell text SERVER, and once it listens on PORT, vm2 runs CLIENT. Both must end with
# status 0, with a clean kernel log, and without damage, unless the suite has said LOSSY=1; vm2
# reports.
pair_case() {
	local name=$1 port=$2 server=$3 client=$4 log=$WORK/pair.log lines rc=0 other

	pair_round=$((${pair_round:-0} + 1))
	lines=$(dmesg_lines)
	note_damage "$WORK/pair.before"
	if [ "$ME" = 1 ]; then
		run_limited "$CASE_TIMEOUT" bash -c "$server" >"$log" 2>&1 </dev/null &
		wait_for listening "$port"
		barrier pair
		wait $! || rc=$?
		pair_clean "$lines" >"$WORK/bad" || rc=97
		[ $rc = 0 ] || {
			diag_file "$log"
			diag "$name: server's status $rc of: $server"
			cat "$WORK/bad"
		}
		publish "pair$pair_round" $rc
		barrier pair
		return $rc
	fi
	barrier pair || rc=98
	run_limited "$CASE_TIMEOUT" bash -c "$client" >"$log" 2>&1 </dev/null || rc=$?
	cp "$log" "$WORK/pair.client"
	other=$(fetch "pair$pair_round" $((CASE_TIMEOUT + 30)))
	if [ $rc != 0 ] || [ "$other" != 0 ]; then
		# The status last: where a log is cut, its end stays.
		diag_file "$log"
		diag "client's status $rc, server's ${other:-unknown} of: $client"
		not_ok "$name"
	elif ! pair_clean "$lines"; then
		not_ok "$name (kernel log or counters)"
	else
		ok "$name"
	fi
	barrier pair
	return $rc
}

# pair_clean END: what this VM's kernel and its counters say of the pair_case since then.
pair_clean() {
	local rc=0

	dmesg_clean_since "$1" || rc=1
	[ -n "${LOSSY-}" ] || no_damage_since "$WORK/pair.before" >"$WORK/damage" || rc=1
	[ ! -e "$WORK/damage" ] || diag_file "$WORK/damage"
	return $rc
}

#
# RDMA links
#

link_active() {
	local state

	{ read -r state <"/sys/class/infiniband/$1/ports/1/state"; } 2>/dev/null && [ "$state" = "4: ACTIVE" ]
}

# rdma_link NAME TYPE NETDEV: a link, and its port up.
rdma_link() {
	rdma link add "$1" type "$2" netdev "$3" || return
	wait_for link_active "$1"
}

# srn_link NAME NETDEV
srn_link() { rdma_link "$1" srn "$2"; }

# gid_of ADDRESS: as sysfs writes it: eight groups of four digits.
gid_of() {
	local address=$1 left right groups=() zeros=() group

	case $address in
	*.*)
		IFS=. read -ra groups <<<"$address"
		printf '0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x' "${groups[@]}"
		return
		;;
	*::*)
		left=${address%%::*} right=${address##*::}
		IFS=: read -ra groups <<<"$left:$right"
		for group in "${groups[@]}"; do
			[ -z "$group" ] || zeros+=(x)
		done
		for ((group = ${#zeros[@]}; group < 8; group++)); do
			left+=:0
		done
		address=${left#:}${right:+:$right}
		;;
	esac
	IFS=: read -ra groups <<<"$address"
	printf -v address ':%04x' "${groups[@]/#/0x}"
	printf '%s' "${address#:}"
}

# gid_index DEVICE ADDRESS: index of the RoCE v2 GID of an address, as -g and -x want it.
gid_index() {
	local port=/sys/class/infiniband/$1/ports/1 want gid type file

	want=$(gid_of "$2")
	for file in "$port"/gids/*; do
		{ read -r gid <"$file"; } 2>/dev/null
		[ "$gid" = "$want" ] || continue
		{ read -r type <"$port/gid_attrs/types/${file##*/}"; } 2>/dev/null
		[ "$type" = "RoCE v2" ] && echo "${file##*/}" && return
	done
	return 1
}

# hw_counter DEVICE NAME
hw_counter() {
	local value

	read_counter "$@" && echo "$value"
}

# read_counter DEVICE NAME: sets value. For where there are many: hw_counter in $() is a process.
read_counter() {
	local dir

	for dir in /sys/class/infiniband/"$1"/{ports/1/,}hw_counters; do
		[ -e "$dir/$2" ] && read -r value <"$dir/$2" && return
	done
	return 1
}

# dropped NETDEV [handle HANDLE]: packets, by its root qdisc or the one named.
dropped() { tc -s qdisc show dev "$@" | sed -n 's/.*(dropped \([0-9]*\),.*/\1/p' | head -n 1; }

rdma_devices() { ls /sys/class/infiniband 2>/dev/null; }

# Back to what the VM was at the beginning, whatever a suite left: programs of its SESSION,
# qdiscs, MTU, offloads, links, tunnels (t0, vx0), namespaces, modules. clean_up SESSION says what does not
# go and fails: who holds a link or the module now holds it for ever.
clean_up() {
	local rc=0 name

	pkill -KILL -s "$1"
	tc qdisc del dev eth0 root 2>/dev/null
	[ ! -e /sys/class/net/eth0 ] || {
		ip link set eth0 mtu "$MTU"
		ethtool -K eth0 gso on tso on
	} >/dev/null 2>&1
	for name in $(rdma_devices); do
		stays "link $name" timeout 60 rdma link del "$name" || rc=1
	done
	for name in t0 vx0; do
		ip link del $name 2>/dev/null
	done
	for name in $(ip netns list | cut -d' ' -f1); do
		stays "namespace $name" ip netns del "$name" || rc=1
	done
	for name in srn_kunit srn rdma_rxe siw; do
		[ ! -d "/sys/module/$name" ] ||
			stays "module $name" wait_for timeout 60 modprobe -r "$name" || rc=1
	done
	# A suite may have put another build of the provider in its place.
	[ ! -e "$SRN_BUILD/libsrn-rdmav34.so" ] ||
		cp "$SRN_BUILD/libsrn-rdmav34.so" /usr/lib/x86_64-linux-gnu/libibverbs/
	rm -rf "$WORK"
	mkdir -p "$WORK"
	return $rc
}

# stays WHAT COMMAND...: COMMAND takes it away; false, and a word, if that fails.
stays() {
	local what=$1

	shift
	"$@" && return
	diag "$what stays: status $? of: $*"
	diag "$(lsmod | grep -E '^(srn|rdma_rxe|siw|ib_|rdma_)'; rdma link; rdma resource)"
	return 1
}
