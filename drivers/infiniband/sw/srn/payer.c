// SPDX-License-Identifier: GPL-2.0-only
/* Payers: socks without a socket, as those of programs that closed it with packets on their way. */
#include "payer.h"
#include "limits.h"

#include <kunit/visibility.h>
#include <linux/in.h>
#include <linux/net.h>
#include <net/sock.h>

static int open_socket(struct net *net, struct socket **sock)
{
	/* Like any program's UDP socket of that family, it sends IPv4 as well. */
	int err = sock_create_kern(net, PF_INET6, SOCK_DGRAM, IPPROTO_UDP, sock);

	if (err == -EAFNOSUPPORT)
		err = sock_create_kern(net, PF_INET, SOCK_DGRAM, IPPROTO_UDP, sock);
	return err;
}

int srn_payer_open(struct srn_payer *payer, struct net *net)
{
	struct socket *sock;
	int err;

	err = open_socket(net, &sock);
	if (err)
		return err;
	payer->sk = sock->sk;
	payer->wait_ns = SRN_UNSENT_WAIT_NS;
	/* The rest of a socket is an inode that nobody opens: two fifths of the memory. */
	sock_hold(payer->sk);
	sock_release(sock);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(srn_payer_open);

void srn_payer_close(struct srn_payer *payer)
{
	if (payer->sk)
		sock_put(payer->sk);
	payer->sk = NULL;
}
EXPORT_SYMBOL_IF_KUNIT(srn_payer_close);

void srn_payer_charge(struct srn_payer *payer, struct sk_buff *skb)
{
	if (payer->sk)
		skb_set_owner_w(skb, payer->sk);
}
EXPORT_SYMBOL_IF_KUNIT(srn_payer_charge);

bool srn_payer_has_room(struct srn_payer *payer)
{
	if (!payer->sk)
		return true;
	if (refcount_read(&payer->sk->sk_wmem_alloc) >= SRN_UNSENT_BYTES)
		return false;
	payer->wait_ns = SRN_UNSENT_WAIT_NS;
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(srn_payer_has_room);

u32 srn_payer_wait(struct srn_payer *payer)
{
	u32 wait = payer->wait_ns;

	payer->wait_ns = min_t(u32, 2 * wait, SRN_UNSENT_WAIT_MAX_NS);
	return wait;
}
EXPORT_SYMBOL_IF_KUNIT(srn_payer_wait);
