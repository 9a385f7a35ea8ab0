// SPDX-License-Identifier: GPL-2.0-only
/* Payers: socks without a socket, as those of programs that closed it with packets on their way. */
#include "payer.h"
#include "limits.h"

#include <kunit/visibility.h>
#include <linux/cred.h>
#include <linux/in.h>
#include <linux/net.h>
#include <linux/security.h>
#include <net/inet_sock.h>
#include <net/sock.h>
#include <net/udp.h>

/* A socket around it would be an inode that nobody opens, made and evicted: two fifths of the
 * memory, and four fifths of the work. Its options, none of which are set, are those of an IPv4
 * socket: the stack does not ask for those of IPv6 where there are none.
 */
int srn_payer_open(struct srn_payer *payer, struct net *net, const struct sock *like)
{
	struct sock *sk = sk_alloc(net, PF_INET, GFP_KERNEL, &udp_prot, 1);

	if (!sk)
		return -ENOMEM;
	sock_init_data_uid(NULL, sk, current_fsuid());
	sk->sk_type = SOCK_DGRAM;
	sk->sk_protocol = IPPROTO_UDP;
	/* A group's members on this host are to have what is sent to it. */
	inet_set_bit(MC_LOOP, sk);
	/* Security modules look at who sends, and only sockets are labelled. */
	if (like)
		security_sk_clone(like, sk);
	payer->sk = sk;
	payer->wait_ns = SRN_UNSENT_WAIT_NS;
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
