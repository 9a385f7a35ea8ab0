// SPDX-License-Identifier: GPL-2.0-only
/* Which packet meets which fate: the rules, the packets that are held back, and the module's
 * parameter that tests write.
 */
#include "fate.h"

#if SRN_HAS_FATES

#include <kunit/visibility.h>
#include <linux/list.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/prandom.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <linux/udp.h>
#include <net/dsfield.h>
#include <net/inet_ecn.h>

#include "opcode.h"
#include "run.h"
#include "wire.h"

#define ANY		U32_MAX
#define MAX_RULES	24	/* that a page has room for */

enum action { DROP, DUP, HOLD, CORRUPT, MARK, NUM_ACTIONS };

static const char * const actions[NUM_ACTIONS] = {
	[DROP]		= "drop",
	[DUP]		= "dup",
	[HOLD]		= "hold",
	[CORRUPT]	= "corrupt",
	[MARK]		= "mark",
};

enum kind { ANY_KIND, REQUEST, RESPONSE, ACK, NAK, RNR, CNP, NUM_KINDS };

static const char * const kinds[NUM_KINDS] = {
	[ANY_KIND]	= "any",
	[REQUEST]	= "request",
	[RESPONSE]	= "response",
	[ACK]		= "ack",
	[NAK]		= "nak",
	[RNR]		= "rnr",
	[CNP]		= "cnp",
};

struct rule {
	struct list_head node;
	enum action action;
	int arg;		/* HOLD: packets; CORRUPT: byte */
	enum kind kind;
	u32 qpn;
	u32 psn;
	u32 skip;
	u32 times;
	u32 permille;
	u32 seed;
	struct rnd_state random;
	u32 seen;
	u32 met;
};

/* What a packet is, as far as a look into it tells. */
struct sight {
	enum kind kind;
	u32 qpn;
	u32 psn;
	int len;		/* from the BTH on */
};

/* Kept in skb->cb while a packet is held. The namespace is compared, never followed. */
struct held {
	const struct srn_net *snet;
	u32 qpn;
	u32 left;
};

DEFINE_STATIC_KEY_FALSE(srn_fate_rules);
EXPORT_SYMBOL_IF_KUNIT(srn_fate_rules);

static DEFINE_MUTEX(fate_mutex);	/* writers of the list, and the key */
static bool closed;		/* nobody would take new rules away */
static DEFINE_SPINLOCK(fate_lock);	/* the list, the rules in it, held packets */
static LIST_HEAD(rules);
static struct sk_buff_head held_back = {	/* its own lock is not used */
	.next = (struct sk_buff *)&held_back,
	.prev = (struct sk_buff *)&held_back,
};

static unsigned int num_rules;

static struct held *held_of(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct held) > sizeof(skb->cb));
	return (struct held *)skb->cb;
}

/*
 * Looking
 */

static enum kind kind_of_ack(const struct sk_buff *skb, unsigned int at)
{
	struct srn_aeth buf;
	const struct srn_aeth *aeth = skb_header_pointer(skb, at, sizeof(buf), &buf);

	if (!aeth)
		return ANY_KIND;
	switch (u8_get_bits(be32_get_bits(aeth->smsn, SRN_AETH_SYNDROME), SRN_SYN_CLASS)) {
	case SRN_SYN_ACK:
		return ACK;
	case SRN_SYN_RNR:
		return RNR;
	case SRN_SYN_NAK:
		return NAK;
	default:
		return ANY_KIND;
	}
}

static enum kind kind_of(const struct sk_buff *skb, u8 opcode)
{
	const struct srn_opcode *info = &srn_opcodes[opcode];

	if (info->is_request)
		return REQUEST;
	switch (info->op) {
	case SRN_OP_READ_RESP:
	case SRN_OP_ATOMIC_ACK:
		return RESPONSE;
	case SRN_OP_ACK:
	case SRN_OP_SACK:
		return kind_of_ack(skb, sizeof(struct udphdr) + sizeof(struct srn_bth));
	case SRN_OP_CNP:
		return CNP;
	default:
		return ANY_KIND;
	}
}

/* False: not even a BTH. */
static bool look(const struct sk_buff *skb, struct sight *sight)
{
	struct srn_bth buf;
	const struct srn_bth *bth;

	bth = skb_header_pointer(skb, sizeof(struct udphdr), sizeof(buf), &buf);
	if (!bth)
		return false;
	sight->kind = kind_of(skb, bth->opcode);
	sight->qpn = be32_get_bits(bth->dqpn, SRN_BTH_QPN);
	sight->psn = be32_get_bits(bth->apsn, SRN_BTH_PSN);
	sight->len = skb->len - sizeof(struct udphdr);
	return true;
}

/*
 * Deciding
 */

static bool is_meant(const struct rule *rule, const struct sight *sight)
{
	return (rule->kind == ANY_KIND || rule->kind == sight->kind) &&
	       (rule->qpn == ANY || rule->qpn == sight->qpn) &&
	       (rule->psn == ANY || rule->psn == sight->psn);
}

/* A byte that the packet does not have cannot be damaged. */
static bool is_possible(const struct rule *rule, const struct sight *sight)
{
	return rule->action != CORRUPT || (rule->arg < sight->len && rule->arg >= -sight->len);
}

static bool would_act(struct rule *rule, const struct sight *sight)
{
	if (!is_meant(rule, sight) || rule->seen++ < rule->skip)
		return false;
	if (rule->times && rule->met >= rule->times)
		return false;
	if (prandom_u32_state(&rule->random) % 1000 >= rule->permille)
		return false;
	return is_possible(rule, sight);
}

/* The rule that decides, or NULL; all of them have counted the packet. fate_lock held. */
static struct rule *find_rule(const struct sight *sight)
{
	struct rule *rule, *found = NULL;

	list_for_each_entry(rule, &rules, node) {
		if (would_act(rule, sight) && !found)
			found = rule;
	}
	if (found)
		found->met++;
	return found;
}

/*
 * Acting; all with fate_lock held, no packet is passed on under it
 */

/* A copy of its own: payload may be the sender's pages. Without memory the packet is lost. */
static struct sk_buff *own_copy(struct sk_buff *skb)
{
	struct sk_buff *copy = skb_copy(skb, GFP_ATOMIC);

	kfree_skb(skb);
	return copy;
}

static struct sk_buff *damaged(struct sk_buff *skb, int at)
{
	struct sk_buff *copy = own_copy(skb);

	if (copy)
		copy->data[at < 0 ? (int)copy->len + at : (int)sizeof(struct udphdr) + at] ^= 1;
	return copy;
}

/* Also of a sender that does not say that it answers to marks: it shall not matter. */
static struct sk_buff *marked(struct sk_buff *skb)
{
	struct sk_buff *copy = own_copy(skb);

	if (!copy)
		return NULL;
	if (ip_hdr(copy)->version == 6)
		ipv6_change_dsfield(ipv6_hdr(copy), (u8)~INET_ECN_MASK, INET_ECN_CE);
	else
		ipv4_change_dsfield(ip_hdr(copy), (u8)~INET_ECN_MASK, INET_ECN_CE);
	return copy;
}

static void hold(const struct srn_net *snet, struct sk_buff *skb, u32 qpn, u32 packets)
{
	*held_of(skb) = (struct held){ .snet = snet, .qpn = qpn, .left = packets };
	__skb_queue_tail(&held_back, skb);
}

static void add(struct sk_buff_head *out, struct sk_buff *skb)
{
	if (skb)
		__skb_queue_tail(out, skb);
}

/* Puts what passes now into @out. */
static void act(const struct rule *rule, const struct srn_net *snet, u32 qpn,
		struct sk_buff *skb, struct sk_buff_head *out)
{
	switch (rule->action) {
	case DROP:
		kfree_skb(skb);
		break;
	case DUP:
		add(out, skb_clone(skb, GFP_ATOMIC));
		add(out, skb);
		break;
	case HOLD:
		hold(snet, skb, qpn, rule->arg);
		break;
	case CORRUPT:
		add(out, damaged(skb, rule->arg));
		break;
	default:
		add(out, marked(skb));
	}
}

/* What was held for one packet more goes behind this one. */
static void release(const struct srn_net *snet, u32 qpn, struct sk_buff_head *out)
{
	struct sk_buff *skb, *next;

	skb_queue_walk_safe(&held_back, skb, next) {
		struct held *held = held_of(skb);

		if (held->snet != snet || held->qpn != qpn || --held->left)
			continue;
		__skb_unlink(skb, &held_back);
		__skb_queue_tail(out, skb);
	}
}

void srn_fate_decide(struct srn_net *snet, struct sk_buff *skb, srn_fate_pass_fn pass)
{
	struct sk_buff_head waiting, out;
	struct sight sight;
	struct rule *rule;

	if (!look(skb, &sight)) {
		pass(snet, skb);
		return;
	}
	__skb_queue_head_init(&out);
	__skb_queue_head_init(&waiting);
	spin_lock_bh(&fate_lock);
	rule = find_rule(&sight);
	if (rule)
		act(rule, snet, sight.qpn, skb, &out);
	else
		add(&out, skb);
	if (!skb_queue_empty(&out))
		release(snet, sight.qpn, &waiting);
	spin_unlock_bh(&fate_lock);

	skb_queue_splice_tail(&waiting, &out);
	while ((skb = __skb_dequeue(&out)))
		pass(snet, skb);
}
EXPORT_SYMBOL_IF_KUNIT(srn_fate_decide);

/*
 * Rules as text
 */

static const struct {
	const char *name;
	size_t at;		/* a u32 of struct rule */
} numbers[] = {
	{ "qpn",	offsetof(struct rule, qpn) },
	{ "psn",	offsetof(struct rule, psn) },
	{ "skip",	offsetof(struct rule, skip) },
	{ "times",	offsetof(struct rule, times) },
	{ "permille",	offsetof(struct rule, permille) },
	{ "seed",	offsetof(struct rule, seed) },
};

static bool has_arg(enum action action)
{
	return action == HOLD || action == CORRUPT;
}

static int parse_kind(struct rule *rule, const char *value)
{
	int kind = match_string(kinds, NUM_KINDS, value);

	if (kind < 0)
		return -EINVAL;
	rule->kind = kind;
	return 0;
}

/* "key=value" */
static int parse_key(struct rule *rule, char *word)
{
	char *key = strsep(&word, "=");
	int i;

	if (!word)
		return -EINVAL;
	if (!strcmp(key, "class"))
		return parse_kind(rule, word);
	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		if (!strcmp(key, numbers[i].name))
			return kstrtou32(word, 0, (u32 *)((char *)rule + numbers[i].at));
	}
	return -EINVAL;
}

/* "drop", "hold=3" */
static int parse_action(struct rule *rule, char *word)
{
	char *name = strsep(&word, "=");
	int action = match_string(actions, NUM_ACTIONS, name);

	if (action < 0 || has_arg(action) != !!word)
		return -EINVAL;
	rule->action = action;
	if (word && kstrtoint(word, 0, &rule->arg))
		return -EINVAL;
	return action == HOLD && rule->arg < 1 ? -EINVAL : 0;
}

static int parse_rule(struct rule *rule, char *line)
{
	int err = parse_action(rule, strsep(&line, " "));

	while (!err && line && *line)
		err = parse_key(rule, strsep(&line, " "));
	return err;
}

static int add_rule(char *line)
{
	struct rule *rule = kzalloc(sizeof(*rule), GFP_KERNEL);
	int err;

	if (!rule)
		return -ENOMEM;
	rule->qpn = ANY;
	rule->psn = ANY;
	rule->times = 1;
	rule->permille = 1000;
	err = num_rules < MAX_RULES ? parse_rule(rule, line) : -ENOSPC;
	if (err) {
		kfree(rule);
		return err;
	}
	prandom_seed_state(&rule->random, rule->seed);
	spin_lock_bh(&fate_lock);
	list_add_tail(&rule->node, &rules);
	spin_unlock_bh(&fate_lock);
	if (!num_rules++) {
		WRITE_ONCE(srn_run_stopped, true);
		static_branch_enable(&srn_fate_rules);
	}
	return 0;
}

static void clear(void)
{
	struct sk_buff_head dropped;
	struct rule *rule, *next;
	LIST_HEAD(gone);

	if (!num_rules)
		return;
	static_branch_disable(&srn_fate_rules);
	WRITE_ONCE(srn_run_stopped, false);
	__skb_queue_head_init(&dropped);
	spin_lock_bh(&fate_lock);
	list_splice_init(&rules, &gone);
	skb_queue_splice_init(&held_back, &dropped);
	spin_unlock_bh(&fate_lock);
	num_rules = 0;
	list_for_each_entry_safe(rule, next, &gone, node)
		kfree(rule);
	__skb_queue_purge(&dropped);
}

static int set_line(char *line)
{
	if (!*line)
		return 0;
	if (strcmp(line, "clear"))
		return add_rule(line);
	clear();
	return 0;
}

int srn_fate_set(const char *text)
{
	char *copy = kstrdup(text, GFP_KERNEL), *rest = copy;
	int err;

	if (!copy)
		return -ENOMEM;
	mutex_lock(&fate_mutex);
	err = closed ? -ENODEV : 0;
	while (!err && rest)
		err = set_line(strsep(&rest, "\n"));
	mutex_unlock(&fate_mutex);
	kfree(copy);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(srn_fate_set);

static int get_number(char *page, int len, const struct rule *rule, int i)
{
	u32 value = *(const u32 *)((const char *)rule + numbers[i].at);

	return value == ANY ? 0 : sysfs_emit_at(page, len, " %s=%u", numbers[i].name, value);
}

static int get_rule(char *page, int len, const struct rule *rule)
{
	int at = len, i;

	len += sysfs_emit_at(page, len, "%s", actions[rule->action]);
	if (has_arg(rule->action))
		len += sysfs_emit_at(page, len, "=%d", rule->arg);
	len += sysfs_emit_at(page, len, " class=%s", kinds[rule->kind]);
	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		len += get_number(page, len, rule, i);
	len += sysfs_emit_at(page, len, " seen=%u met=%u\n", rule->seen, rule->met);
	return len - at;
}

int srn_fate_get(char *page)
{
	const struct rule *rule;
	int len = 0;

	spin_lock_bh(&fate_lock);
	list_for_each_entry(rule, &rules, node)
		len += get_rule(page, len, rule);
	spin_unlock_bh(&fate_lock);
	return len;
}
EXPORT_SYMBOL_IF_KUNIT(srn_fate_get);

void srn_fate_exit(void)
{
	mutex_lock(&fate_mutex);
	clear();
	closed = true;
	mutex_unlock(&fate_mutex);
}

static int set_param(const char *val, const struct kernel_param *kp)
{
	return srn_fate_set(val);
}

static int get_param(char *buf, const struct kernel_param *kp)
{
	return srn_fate_get(buf);
}

static const struct kernel_param_ops fate_ops = {
	.set = set_param,
	.get = get_param,
};

module_param_cb(fate, &fate_ops, NULL, 0600);
MODULE_PARM_DESC(fate, "for tests: what becomes of which packets (fate.h)");

#endif
