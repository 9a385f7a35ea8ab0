// SPDX-License-Identifier: GPL-2.0-only
/* UDP sockets on port 4791, one pair per network namespace, and the devices that live
 * there. What arrives goes to the functions that were handed in at the start.
 */
#include "net.h"

#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/netns/generic.h>
#include <net/udp_tunnel.h>

#include "device.h"
#include "gid.h"
#include "wire.h"

/* Per namespace: NULL unless a device lives there. */
struct pernet {
	struct srn_net *snet;
};

static unsigned int pernet_id;
static srn_net_rx_fn net_rx;
static srn_net_gro_fn net_gro;
static DEFINE_MUTEX(nets_lock);		/* snet->users, pernet->snet, snet->devs */
static DECLARE_WAIT_QUEUE_HEAD(net_closed);

void srn_net_add_dev(struct srn_net *snet, struct srn_dev *dev)
{
	mutex_lock(&nets_lock);
	list_add_tail_rcu(&dev->node, &snet->devs);
	mutex_unlock(&nets_lock);
}

void srn_net_del_dev(struct srn_net *snet, struct srn_dev *dev)
{
	mutex_lock(&nets_lock);
	list_del_rcu(&dev->node);
	mutex_unlock(&nets_lock);
	synchronize_net();
}

/* Several devices may own an address: links on a netdev and on a VLAN above it, or
 * VLANs with the MAC, hence the link-local address, of their parent. The netdev
 * that the packet came by decides, then age: rdma_cm takes the oldest as well.
 */
struct srn_dev *srn_net_find_dev(struct srn_net *snet, const struct sk_buff *skb)
{
	struct srn_dev *dev, *found = NULL;
	enum srn_gid_match match;
	struct in6_addr addr;

	if (ip_hdr(skb)->version == 6)
		addr = ipv6_hdr(skb)->daddr;
	else
		ipv6_addr_set_v4mapped(ip_hdr(skb)->daddr, &addr);
	list_for_each_entry_rcu(dev, &snet->devs, node) {
		match = srn_dev_match_gid(dev, &addr, skb->skb_iif);
		if (match == SRN_GID_HERE)
			return dev;
		if (match == SRN_GID_KNOWN && !found)
			found = dev;
	}
	return found;
}

static struct socket *open_socket(struct srn_net *snet, struct udp_port_cfg *cfg)
{
	struct udp_tunnel_sock_cfg tunnel = {
		.sk_user_data = snet,
		.encap_type = 1,	/* any but 0: net_rx() gets the packets */
		.encap_rcv = net_rx,
		.gro_receive = net_gro,
	};
	struct socket *sock;
	int err;

	cfg->local_udp_port = htons(SRN_UDP_PORT);
	err = udp_sock_create(snet->net, cfg, &sock);
	if (err)
		return ERR_PTR(err);
	setup_udp_tunnel_sock(snet->net, sock, &tunnel);
	/* Runs come uncut, and what was coupled whole; all else is cut for a tunnel's socket. */
	udp_allow_gso(sock->sk);
	return sock;
}

static void close_socket(struct socket *sock)
{
	if (sock)
		udp_tunnel_sock_release(sock);	/* waits for net_rx() */
}

static int open_v4(struct srn_net *snet)
{
	struct udp_port_cfg cfg = { .family = AF_INET };
	struct socket *sock = open_socket(snet, &cfg);

	if (IS_ERR(sock))
		return PTR_ERR(sock);
	snet->sock4 = sock;
	return 0;
}

/* Zero checksums are RoCEv2's rule, over IPv6 too. */
static int open_v6(struct srn_net *snet)
{
	struct udp_port_cfg cfg = { .family = AF_INET6, .ipv6_v6only = 1 };
	struct socket *sock = open_socket(snet, &cfg);

	if (IS_ERR(sock)) {
		if (PTR_ERR(sock) == -EAFNOSUPPORT || PTR_ERR(sock) == -EPFNOSUPPORT)
			return 0;	/* no IPv6 here; IPv4 is enough */
		return PTR_ERR(sock);
	}
	snet->sock6 = sock;
	return 0;
}

static struct srn_net *open_net(struct net *net)
{
	struct srn_net *snet = kzalloc(sizeof(*snet), GFP_KERNEL);
	int err;

	if (!snet)
		return ERR_PTR(-ENOMEM);
	snet->net = net;
	atomic64_set(&snet->gro_from, get_jiffies_64());
	INIT_LIST_HEAD(&snet->devs);
	err = open_v4(snet);
	if (err)
		goto err_free;
	err = open_v6(snet);
	if (err)
		goto err_close;
	return snet;

err_close:
	close_socket(snet->sock4);
err_free:
	kfree(snet);
	if (err == -EADDRINUSE)
		pr_err("srn: UDP port %u is in use in this network namespace (rdma_rxe loaded?)\n",
		       SRN_UDP_PORT);
	return ERR_PTR(err);
}

struct srn_net *srn_net_get(struct net *net)
{
	struct pernet *pernet = net_generic(net, pernet_id);
	struct srn_net *snet;

	mutex_lock(&nets_lock);
	snet = pernet->snet ?: open_net(net);
	if (!IS_ERR(snet)) {
		snet->users++;
		WRITE_ONCE(pernet->snet, snet);
	}
	mutex_unlock(&nets_lock);
	return snet;
}

void srn_net_put(struct srn_net *snet)
{
	struct pernet *pernet = net_generic(snet->net, pernet_id);

	mutex_lock(&nets_lock);
	if (--snet->users) {
		mutex_unlock(&nets_lock);
		return;
	}
	close_socket(snet->sock6);
	close_socket(snet->sock4);
	kfree(snet);
	WRITE_ONCE(pernet->snet, NULL);
	wake_up_all(&net_closed);	/* under the lock: srn_net_exit() passes through it */
	mutex_unlock(&nets_lock);
}

/* The namespace goes. Its netdevs went before, and took their links with them;
 * but the removal of a link is work of its own, and one whose netdev moved to
 * another namespace nobody has waited for yet.
 */
static void __net_exit pernet_exit(struct net *net)
{
	struct pernet *pernet = net_generic(net, pernet_id);

	wait_event(net_closed, !READ_ONCE(pernet->snet));
	mutex_lock(&nets_lock);		/* whoever woke us is done with the namespace */
	mutex_unlock(&nets_lock);
}

static struct pernet_operations pernet_ops = {
	.exit = pernet_exit,
	.id = &pernet_id,
	.size = sizeof(struct pernet),
};

int srn_net_init(srn_net_rx_fn rx, srn_net_gro_fn gro)
{
	net_rx = rx;
	net_gro = gro;
	return register_pernet_subsys(&pernet_ops);
}

void srn_net_exit(void)
{
	unregister_pernet_subsys(&pernet_ops);
}
