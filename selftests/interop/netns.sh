# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Two hosts in one VM: namespaces a and b, and a veth pair a0 - b0 between them.

in_a() { ip netns exec a "$@"; }
in_b() { ip netns exec b "$@"; }

# One namespace: no duplicate address detection, so that a GID is there with its address.
make_netns() {
	ip netns add "$1"
	ip netns exec "$1" sysctl -qw net.ipv6.conf.default.accept_dad=0 \
		net.ipv6.conf.all.accept_dad=0
	ip -n "$1" link set lo up
}

# address NETNS NETDEV N: the Nth host, 10.0.NET.N and fd00:NET::N, up.
address() {
	ip -n "$1" -batch - <<-END
		addr add 10.0.${4:-0}.$3/24 dev $2
		addr add fd00:${4:-0}::$3/64 dev $2 nodad
		link set $2 up
	END
}

# The two namespaces and the veth pair; with "bare" without addresses.
make_pair() {
	local ns

	for ns in a b; do
		make_netns $ns
	done
	ip link add a0 netns a mtu 4500 type veth peer name b0 netns b mtu 4500
	for ns in a b; do
		ip -n $ns link set ${ns}0 up
	done
	[ "${1-}" = bare ] && return
	address a a0 1
	address b b0 2
}

drop_pair() {
	local ns

	for ns in a b c; do
		[ ! -e /run/netns/$ns ] || ip netns del $ns
	done
	wait_for no_links
}

no_links() { [ -z "$(rdma_devices)" ]; }

# link_in NETNS NAME NETDEV
link_in() {
	ip netns exec "$1" rdma link add "$2" type srn netdev "$3" && wait_for link_active "$2"
}

# uncut Y|N: whether messages may leave so, as runs.
uncut() {
	[ -d /sys/module/srn ] || modprobe srn || return
	echo "$1" >/sys/module/srn/parameters/runs
}

# knows NETNS ADDRESS: a host has the MAC of another. What connects a QP waits a second or so for it,
# which a host that has just lost its addresses may need for IPv6.
knows() {
	ip netns exec "$1" bash -c "echo >/dev/udp/$2/9" 2>/dev/null
	ip -n "$1" neigh show "$2" | grep -q lladdr
}

# find_gid DEVICE ADDRESS: sets gid.
find_gid() { gid=$(gid_index "$1" "$2"); }

# verify DEVICE DEVICE ADDRESS ADDRESS [OPTION...]: every byte and every completion between two
# devices of this VM, in whatever namespaces they are: srnverify has both ends. max_size: of messages.
verify() {
	local a=$1 b=$2 addresses=$3,$4 try lossy=() rounds=1

	shift 4
	# Where a QP's packets may overtake each other, UC loses a message, of the few that a round has.
	keeps_order || lossy=(--lossy --most-lost 25)
	# On an emulated machine one is enough, which takes seconds there.
	[ "$KERNEL" != uml ] || [ -z "${SRN_LONG-}" ] || rounds=5
	# The addresses reach the GID table by a work queue.
	for try in "$a ${addresses%,*}" "$b ${addresses#*,}"; do
		# shellcheck disable=SC2086 # two words
		wait_for find_gid $try || return 2
	done
	"$SRN_BUILD/cmake/tools/srnverify/srnverify" --pair "$a,$b" --address "$addresses" \
		--threads 1 --rounds $rounds --max-size "${max_size:-200000}" "${lossy[@]}" "$@"
}

# pingpong KIND SERVER-NETNS SERVER-DEV CLIENT-NETNS CLIENT-DEV ADDRESS SERVER-ADDRESS
# [OPTION...]: one run of ibv_KIND_pingpong, a program of others that works. It compares nothing
# that counts: verify does.
pingpong() {
	local kind=$1 sns=$2 sdev=$3 cns=$4 cdev=$5 caddr=$6 saddr=$7 rc=0 sgid cgid

	shift 7
	# The addresses reach the GID table by a work queue.
	wait_for find_gid "$sdev" "$saddr" && sgid=$gid || return 2
	wait_for find_gid "$cdev" "$caddr" && cgid=$gid || return 2
	# The programs exchange their QP numbers over TCP, the servers listen to IPv4.
	[[ $saddr != fd00:* ]] || saddr=10.0.${saddr:5:1}.${saddr##*:}
	ip netns exec "$sns" "ibv_${kind}_pingpong" -e -d "$sdev" -g "$sgid" "$@" >"$WORK/server" 2>&1 &
	wait_for ip netns exec "$sns" bash -c 'ss -Hltn sport = :18515 | grep -q .'
	ip netns exec "$cns" "ibv_${kind}_pingpong" -e -d "$cdev" -g "$cgid" "$@" "$saddr" || rc=$?
	wait $! || rc=$?
	[ $rc = 0 ] || cat "$WORK/server"
	return $rc
}
