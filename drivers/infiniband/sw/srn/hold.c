// SPDX-License-Identifier: GPL-2.0-only
/* Early requests, sorted by PSN. */
#include "hold.h"

#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/jiffies.h>
#include <linux/math64.h>
#include <linux/skbuff.h>
#include <linux/slab.h>

#include "device.h"
#include "holders.h"
#include "parse.h"
#include "psn.h"
#include "stats.h"
#include "trace.h"

/* How long less is held, after memory was short. */
#define SCARCE		HZ

static u64 scarce_until;	/* get_jiffies_64() */

static struct sk_buff *to_skb(struct rb_node *node)
{
	return rb_entry(node, struct sk_buff, rbnode);
}

static u32 psn_of(struct rb_node *node)
{
	return srn_pkt(to_skb(node))->psn;
}

static void charge(struct srn_dev *dev, struct srn_hold *hold, u32 bytes)
{
	WRITE_ONCE(hold->bytes, hold->bytes + bytes);	/* shed.c looks */
	atomic_long_add(bytes, &dev->hold_bytes);
}

static void uncharge(struct srn_dev *dev, struct srn_hold *hold, u32 bytes)
{
	WRITE_ONCE(hold->bytes, hold->bytes - bytes);
	atomic_long_sub(bytes, &dev->hold_bytes);
}

/* How much of a QP's requests may be held. */
static const struct srn_share hold_share = {
	.all = SRN_DEV_HOLD_BYTES,
	.full = SRN_HOLD_BYTES,
	.scarce = SRN_HOLD_SCARCE_BYTES,
	.most = SRN_HOLD_SCARCE_BYTES,
	.least = SRN_HOLD_LEAST_BYTES,
};

static const struct srn_share wide_share = {
	.all = SRN_DEV_HOLD_BYTES,
	.full = SRN_HOLD_WIDE_BYTES,
	.scarce = SRN_HOLD_SCARCE_BYTES,
	.most = SRN_HOLD_SCARCE_BYTES,
	.least = SRN_HOLD_LEAST_BYTES,
};

static bool is_full(long all)
{
	return all > 2 * SRN_DEV_HOLD_BYTES;
}

/* What is not held can't be let go of: it is counted apart, too. */
bool srn_hold_take_room(struct srn_dev *dev, u32 bytes)
{
	if (is_full(atomic_long_read(&dev->hold_bytes)))
		return false;
	atomic_long_add(bytes, &dev->hold_bytes);
	atomic_long_add(bytes, &dev->known_bytes);
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(srn_hold_take_room);

void srn_hold_give_back(struct srn_dev *dev, u32 bytes)
{
	atomic_long_sub(bytes, &dev->known_bytes);
	atomic_long_sub(bytes, &dev->hold_bytes);
}
EXPORT_SYMBOL_IF_KUNIT(srn_hold_give_back);

void srn_hold_note_scarce(void)
{
	WRITE_ONCE(scarce_until, get_jiffies_64() + SCARCE);
}
EXPORT_SYMBOL_IF_KUNIT(srn_hold_note_scarce);

static bool is_scarce(void)
{
	return get_jiffies_64() < READ_ONCE(scarce_until);
}

/* Whether one has more than SRN_HOLD_WIDE_EACH: all have less than that together. */
static bool is_ample(long all)
{
	return all < SRN_HOLD_WIDE_BYTES;
}

static long share_of(const struct srn_dev *dev, const struct srn_hold *hold, long all)
{
	long share = srn_dev_share(dev, hold->mtu ? &wide_share : &hold_share, all);

	return is_scarce() ? min_t(long, share, SRN_HOLD_SCARCE_BYTES) : share;
}

/* What is held stays, so that the parts of many QPs together have an end, too. */
static bool has_room(const struct srn_dev *dev, const struct srn_hold *hold)
{
	long all = atomic_long_read(&dev->hold_bytes);

	return !is_full(all) && (hold->bytes < SRN_HOLD_WIDE_EACH || is_ample(all)) &&
	       hold->bytes < share_of(dev, hold, all);
}

/* PSNs of a request. How long a READ says that it is was not looked at yet: it counts as at most
 * as much as a set has room for behind the farthest request.
 */
static u32 num_psns(const struct srn_hold *hold, struct sk_buff *skb)
{
	static_assert(SRN_HOLD_WIDE + SRN_HOLD_AHEAD <= SRN_PSNS);
	static_assert(SRN_WINDOW_WIDE <= SRN_HOLD_WIDE);
	static_assert(SRN_WINDOW_WIDE <= SRN_HOLD_WIDE_EACH_PSNS);
	static_assert(2 * SRN_WINDOW_WIDE_BYTES <= SRN_HOLD_WIDE_EACH);
	if (!hold->mtu || srn_pkt_info(skb)->op != SRN_OP_READ_REQ)
		return 1;
	return clamp_t(u32, DIV_ROUND_UP_ULL((u64)be32_to_cpu(srn_pkt_reth(skb)->len), hold->mtu),
		       1, SRN_HOLD_AHEAD);
}

/* Without memory the peer is told less than there is. */
static bool may_note(struct srn_dev *dev, struct srn_hold *hold)
{
	if (hold->held || !hold->mtu)
		return hold->held;
	hold->held = kzalloc(sizeof(*hold->held), GFP_ATOMIC | __GFP_NOWARN);
	if (!hold->held)
		return false;
	charge(dev, hold, sizeof(*hold->held));
	return true;
}

static void note_held(struct srn_dev *dev, struct srn_hold *hold, struct sk_buff *skb)
{
	if (may_note(dev, hold))
		srn_psns_add(hold->held, srn_pkt(skb)->psn, num_psns(hold, skb));
}

static void note_gone(struct srn_dev *dev, struct srn_hold *hold, struct sk_buff *skb)
{
	if (!hold->held)
		return;
	srn_psns_drop(hold->held, srn_pkt(skb)->psn, num_psns(hold, skb));
	if (!RB_EMPTY_ROOT(&hold->tree))
		return;
	kfree(hold->held);
	hold->held = NULL;
	uncharge(dev, hold, sizeof(*hold->held));
}

void srn_hold_widen(struct srn_dev *dev, struct srn_hold *hold, u32 mtu)
{
	struct rb_node *node;

	if (hold->mtu == mtu)
		return;
	hold->mtu = mtu;
	for (node = rb_first(&hold->tree); node; node = rb_next(node))
		note_held(dev, hold, to_skb(node));
}
EXPORT_SYMBOL_IF_KUNIT(srn_hold_widen);

/* The link that a node with @psn belongs at. */
struct place {
	struct rb_node **link;
	struct rb_node *parent;
};

/* Returns false if @psn is held. Most come in order, behind all that is held. */
static bool find_place(struct srn_hold *hold, u32 psn, struct place *at)
{
	s32 diff;

	at->link = &hold->tree.rb_node;
	at->parent = NULL;
	if (hold->last && srn_psn_diff(psn, psn_of(hold->last)) > 0) {
		at->parent = hold->last;
		at->link = &hold->last->rb_right;
	}
	while (*at->link) {
		at->parent = *at->link;
		diff = srn_psn_diff(psn, psn_of(at->parent));
		if (!diff)
			return false;
		at->link = diff < 0 ? &at->parent->rb_left : &at->parent->rb_right;
	}
	return true;
}

/* Nothing is held that could not be asked for. What is held now follows. */
static bool may_hold(struct srn_hold *hold)
{
	if (!hold->holder)
		hold->holder = srn_holders_add(hold);
	return hold->holder;
}

static void insert(struct srn_dev *dev, struct srn_hold *hold, struct sk_buff *skb,
		   const struct place *at)
{
	static_assert(SRN_HOLD_WIDE <= U16_MAX);
	hold->num++;
	charge(dev, hold, skb->truesize);
	rb_link_node(&skb->rbnode, at->parent, at->link);
	rb_insert_color(&skb->rbnode, &hold->tree);
	hold->last = rb_last(&hold->tree);
	note_held(dev, hold, skb);
}

/* The node stands where the list's pointers and the netdev's do, which nobody needs here. */
static struct sk_buff *take_out(struct srn_dev *dev, struct srn_hold *hold, struct rb_node *node)
{
	struct sk_buff *skb = to_skb(node);

	rb_erase(node, &hold->tree);
	if (node == hold->last)
		hold->last = rb_last(&hold->tree);
	hold->num--;
	uncharge(dev, hold, skb->truesize);
	note_gone(dev, hold, skb);
	skb->next = NULL;
	skb->prev = NULL;
	skb->dev = NULL;
	return skb;
}

/* Nobody is asked who holds nothing. Behind what was taken out, which may be put back. */
static void let_go(struct srn_hold *hold)
{
	if (hold->num || !hold->holder)
		return;
	srn_holders_del(hold->holder);
	hold->holder = NULL;
}

/* No route, no conntrack entry, no netdev is to wait for what the peer may never send. */
static struct sk_buff *copy(const struct sk_buff *skb)
{
	struct sk_buff *own = skb_copy(skb, GFP_ATOMIC | __GFP_NOWARN);

	if (!own)
		return NULL;
	skb_dst_drop(own);
	skb_ext_reset(own);
	nf_reset_ct(own);
	return own;
}

enum srn_held srn_hold_add(struct srn_dev *dev, struct srn_hold *hold, struct sk_buff *skb,
			   u32 expected)
{
	u32 psn = srn_pkt(skb)->psn;
	struct sk_buff *own;
	struct place at;

	if (srn_psn_diff(psn, expected) > (hold->mtu ? SRN_HOLD_WIDE : SRN_HOLD_AHEAD))
		return SRN_HELD_NOT;
	if (!find_place(hold, psn, &at))
		return SRN_HELD_AGAIN;
	own = has_room(dev, hold) ? copy(skb) : NULL;
	if (!own || !may_hold(hold)) {
		kfree_skb(own);
		srn_count(dev, SRN_CNT_HOLD_FULL);
		trace_srn_hold_full(dev, hold, skb);
		return SRN_HELD_NOT;
	}
	insert(dev, hold, own, &at);
	srn_count(dev, SRN_CNT_HELD);
	return SRN_HELD_NEW;
}
EXPORT_SYMBOL_IF_KUNIT(srn_hold_add);

u32 srn_hold_span(const struct srn_hold *hold, u32 expected)
{
	s32 ahead = hold->last ? srn_psn_diff(psn_of(hold->last), expected) : -1;

	return ahead < 0 ? 0 : ahead + num_psns(hold, to_skb(hold->last)) - 1;
}

u32 srn_hold_ahead(const struct srn_dev *dev, const struct srn_hold *hold, u32 expected)
{
	if (!has_room(dev, hold))
		return srn_hold_span(hold, expected) + 1;
	return is_ample(atomic_long_read(&dev->hold_bytes)) ? SRN_HOLD_WIDE : SRN_HOLD_WIDE_EACH_PSNS;
}
EXPORT_SYMBOL_IF_KUNIT(srn_hold_ahead);

bool srn_hold_is_single(const struct srn_hold *hold)
{
	return hold->last && hold->last == rb_first(&hold->tree);
}

bool srn_hold_is_due(const struct srn_hold *hold, u32 expected)
{
	struct rb_node *first = rb_first(&hold->tree);

	return first && srn_psn_diff(psn_of(first), expected) <= 0;
}
EXPORT_SYMBOL_IF_KUNIT(srn_hold_is_due);

bool srn_hold_has_passed(const struct srn_hold *hold, u32 expected)
{
	struct rb_node *first = rb_first(&hold->tree);

	return first && srn_psn_diff(psn_of(first), expected) < 0;
}
EXPORT_SYMBOL_IF_KUNIT(srn_hold_has_passed);

bool srn_hold_drop_behind(struct srn_dev *dev, struct srn_hold *hold, u32 expected, int *budget)
{
	bool more;

	while ((more = srn_hold_has_passed(hold, expected)) && *budget > 0) {
		kfree_skb(take_out(dev, hold, rb_first(&hold->tree)));
		--*budget;
	}
	let_go(hold);
	return !more;
}
EXPORT_SYMBOL_IF_KUNIT(srn_hold_drop_behind);

struct sk_buff *srn_hold_take(struct srn_dev *dev, struct srn_hold *hold, u32 expected)
{
	struct rb_node *first = rb_first(&hold->tree);

	return first && psn_of(first) == expected ? take_out(dev, hold, first) : NULL;
}
EXPORT_SYMBOL_IF_KUNIT(srn_hold_take);

void srn_hold_put_back(struct srn_dev *dev, struct srn_hold *hold, struct sk_buff *skb)
{
	struct place at;

	/* In the round in which it was taken out nobody has let go of the holder. */
	if (find_place(hold, srn_pkt(skb)->psn, &at))
		insert(dev, hold, skb, &at);
	else
		kfree_skb(skb);
}
EXPORT_SYMBOL_IF_KUNIT(srn_hold_put_back);

u32 srn_hold_last(const struct srn_hold *hold)
{
	return psn_of(hold->last);
}
EXPORT_SYMBOL_IF_KUNIT(srn_hold_last);

/* The last of those that wait for nothing but their turn; or NULL. Where it is not known how many
 * PSNs a READ takes, what is behind it may be among them, and is not found.
 */
static struct rb_node *last_due(const struct srn_hold *hold, u32 expected)
{
	struct rb_node *node = rb_first(&hold->tree), *last = NULL;

	while (node && srn_psn_diff(psn_of(node), expected) < 0)
		node = rb_next(node);
	for (; node && psn_of(node) == expected; node = rb_next(node)) {
		expected = srn_psn_add(expected, num_psns(hold, to_skb(node)));
		last = node;
	}
	return last;
}

u32 srn_hold_shed(struct srn_dev *dev, struct srn_hold *hold, const u32 *expected, u32 bytes,
		  u32 *first)
{
	u32 rest = hold->bytes - min(hold->bytes, bytes), was = hold->num;
	const struct rb_node *due = expected ? last_due(hold, *expected) : NULL;

	while (hold->last != due && hold->bytes > rest) {
		*first = psn_of(hold->last);
		kfree_skb(take_out(dev, hold, hold->last));
	}
	let_go(hold);
	return was - hold->num;
}
EXPORT_SYMBOL_IF_KUNIT(srn_hold_shed);

bool srn_hold_drop(struct srn_dev *dev, struct srn_hold *hold, int *budget)
{
	struct rb_node *first;

	while ((first = rb_first(&hold->tree)) && *budget > 0) {
		kfree_skb(take_out(dev, hold, first));
		--*budget;
	}
	let_go(hold);
	return !first;
}

void srn_hold_purge(struct srn_dev *dev, struct srn_hold *hold)
{
	int all = INT_MAX;

	srn_hold_drop(dev, hold, &all);
	hold->mtu = 0;
}
EXPORT_SYMBOL_IF_KUNIT(srn_hold_purge);
