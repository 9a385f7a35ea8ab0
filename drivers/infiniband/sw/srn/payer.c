// SPDX-License-Identifier: GPL-2.0-only
/* Payers: sockets without a port. */
#include "payer.h"
#include "limits.h"

#include <kunit/visibility.h>
#include <linux/in.h>
#include <linux/net.h>
#include <net/sock.h>

int srn_payer_open(struct srn_payer *payer, struct net *net)
{
	int err;

	/* Like any program's UDP socket of that family, it sends IPv4 as well. */
	err = sock_create_kern(net, PF_INET6, SOCK_DGRAM, IPPROTO_UDP, &payer->sock);
	if (err == -EAFNOSUPPORT)
		err = sock_create_kern(net, PF_INET, SOCK_DGRAM, IPPROTO_UDP, &payer->sock);
	if (err)
		payer->sock = NULL;
	payer->wait_ns = SRN_UNSENT_WAIT_NS;
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(srn_payer_open);

void srn_payer_close(struct srn_payer *payer)
{
	if (payer->sock)
		sock_release(payer->sock);
	payer->sock = NULL;
}
EXPORT_SYMBOL_IF_KUNIT(srn_payer_close);

void srn_payer_charge(struct srn_payer *payer, struct sk_buff *skb)
{
	if (payer->sock)
		skb_set_owner_w(skb, payer->sock->sk);
}
EXPORT_SYMBOL_IF_KUNIT(srn_payer_charge);

bool srn_payer_has_room(struct srn_payer *payer)
{
	if (!payer->sock)
		return true;
	if (refcount_read(&payer->sock->sk->sk_wmem_alloc) >= SRN_UNSENT_BYTES)
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
