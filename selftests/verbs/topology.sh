# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Two hosts in one VM for the verbs tests. In the shared mode of RDMA namespaces one process
# sees both devices:
#
#	init netns                         netns peer
#	srn0 - va 10.0.0.1/24 --- veth --- vb 10.0.0.2/24 - srn1
#	       fd00:5::1/64                   fd00:5::2/64

two_hosts() {
	ip netns add peer || return
	ip link add va mtu "${1:-4500}" type veth peer name vb netns peer mtu "${1:-4500}" || return
	ip addr add 10.0.0.1/24 dev va
	ip addr add fd00:5::1/64 dev va nodad
	ip link set va up
	ip -n peer addr add 10.0.0.2/24 dev vb
	ip -n peer addr add fd00:5::2/64 dev vb nodad
	ip -n peer link set lo up
	ip -n peer link set vb up
	srn_link srn0 va || return
	ip netns exec peer rdma link add srn1 type srn netdev vb || return
	wait_for link_active srn1 || return
	# Where memory allows: a test skips itself without them.
	[ ! -e /proc/sys/vm/nr_hugepages ] || echo 8 >/proc/sys/vm/nr_hugepages
	export SRN_DEV=srn0 SRN_DEV2=srn1 SRN_TIME_SCALE=$SLOW
}
