/* SPDX-License-Identifier: GPL-2.0-only */
/* What delays and losses say of a path that others use, too: whether a loss was a full queue, how much
 * of one may stand then, and how much less is to be in flight. A queue is what an answer takes longer
 * than the fastest one, whosever packets are in it. Pure; times are ns, and a sample is one answer
 * that was timed, about one in a round trip. In the manner of Swift (SIGCOMM 2020).
 */
#ifndef SRN_CROWD_H
#define SRN_CROWD_H

#include <linux/time64.h>
#include <linux/types.h>

/* From here on a path is very long: what is out on it may be spread (window.h). */
#define SRN_CROWD_VERY_LONG_NS	(40 * NSEC_PER_MSEC)

struct srn_crowd {
	u64 least_ns;		/* that an answer takes: the path without queues; U64_MAX: unknown */
	u64 delay_ns;		/* what the last one took longer */
	u64 enough_ns;		/* so much delay may be, for as many as might be in flight then */
	u64 now_ns;		/* of the last answer, ktime */
	u64 full_ns;		/* of the last loss that was a full queue, likewise */
	u64 look_ns;		/* when it is to see the path without its own packets again, likewise */
	u32 most_ns;		/* the longest one with which something was lost, while queues are minded; at most */
	u32 lost;		/* PSNs, since the last srn_crowd_lost(), */
	u32 was_lost;		/* and in the time before that, */
	u32 was_sent;		/* in which so many went for the first time */
	u32 path_ns;		/* the least since much was out: what is out itself may hide the path; at most, and
				 * if unknown, U32_MAX
				 */
	u16 left;		/* samples until queues are minded no more; 0: they are not */
	u8 vain;		/* timed answers in a row with too long a queue though few might be out */
	u8 seen_sent[2];	/* lots of PSNs that went while few were out, and some, */
	u8 seen_lost[2];	/* and of them were lost: of some by chance, once that is known */
	u8 calm;		/* answers since much was lost, if tight, */
	u8 unsure;		/* and since as much as by chance was, if that is known */
	u8 heavy:2;		/* times in a row that more was lost than by chance */
	u8 bursts:1;		/* so many might be out then that they are some of a queue themselves */
	u8 stale:1;		/* delay_ns is of when much more was out */
	u8 knows:1;		/* how much is lost by chance */
	u8 mixed:1;		/* since the last srn_crowd_lost() something queued, or all was given up */
	u8 late:1;		/* while much was out something queued when the last answer came */
	u8 met:1;		/* when two came in a row, that is; or more was lost than by chance, once that was known */
	u8 tight:1;		/* of a very long path much was lost that was no chance: more comes but slowly */
	u8 early:1;		/* they are minded since something was lost before the first answer, and nothing queued since */
	u8 spreads:1;		/* a very long path is not as any other (srn_crowd_set_spread()) */
};

/* What to make of a loss. */
enum srn_crowd_loss {
	SRN_CROWD_CHANCE,	/* it says little */
	SRN_CROWD_FULL,		/* a queue is full */
	SRN_CROWD_BLIND,	/* and how long the path is without it is to be seen first */
};

/** srn_crowd_start() - a new connection */
void srn_crowd_start(struct srn_crowd *c);

/**
 * srn_crowd_sample() - an answer took @took_ns, and came at @now_ns, with @cwnd PSNs let out
 * @least_ns: the fastest that is known of the path
 * @few: @cwnd is as small as it may be
 *
 * Return: how much longer that is than the fastest, ns.
 */
u64 srn_crowd_sample(struct srn_crowd *c, u64 took_ns, u64 least_ns, u64 now_ns, u32 cwnd,
		     bool few);

/**
 * srn_crowd_set_spread() - before srn_crowd_sample(): whether what is out is spread on a very long path, and learned
 * what that loses
 *
 * Until then, and so where no answer is ever timed, it is not.
 */
static inline void srn_crowd_set_spread(struct srn_crowd *c, bool on)
{
	c->spreads = on;
}

/** srn_crowd_missed() - @num PSNs more are lost */
static inline void srn_crowd_missed(struct srn_crowd *c, u32 num)
{
	c->lost += num;
}

/**
 * srn_crowd_learn() - before srn_crowd_lost(), with its @sent: @cwnd PSNs were let out, and none of them was a READ
 *
 * While so few are out that they fill no long path of @full, which fills a short one, and nothing queues, what is lost
 * of them is lost by chance, and as much will be lost of more. That is learned once; srn_crowd_lost() makes it less
 * where much less is lost of more, and srn_crowd_sample() gives it up when it was long not so.
 */
void srn_crowd_learn(struct srn_crowd *c, u32 sent, u32 cwnd, u32 full);

/** srn_crowd_unlearn() - nothing is known of that, nor whether more than it was lost */
void srn_crowd_unlearn(struct srn_crowd *c);

/** srn_crowd_lost() - something is lost of the @sent PSNs that went since this was asked last; it is @now_ns */
enum srn_crowd_loss srn_crowd_lost(struct srn_crowd *c, u32 sent, u64 now_ns);

/** srn_crowd_cut() - how much less of @cwnd PSNs is to be out after a loss by chance */
u32 srn_crowd_cut(const struct srn_crowd *c, u32 cwnd);

/** srn_crowd_lost_much() - whether of what went until the last srn_crowd_lost() more is lost than by chance */
bool srn_crowd_lost_much(const struct srn_crowd *c);

/** srn_crowd_overdoes() - whether so much of @cwnd PSNs, which are not few for @full, is lost on a very long path */
bool srn_crowd_overdoes(const struct srn_crowd *c, u32 cwnd, u32 full);

/** srn_crowd_is() - whether queues are minded: something was lost by one */
static inline bool srn_crowd_is(const struct srn_crowd *c)
{
	return c->left;
}

/** srn_crowd_is_old() - at @now_ns the last delay says nothing of what is lost */
bool srn_crowd_is_old(const struct srn_crowd *c, u64 now_ns);

/** srn_crowd_has_room() - nothing queues; or where queues are minded, not much of what may */
bool srn_crowd_has_room(const struct srn_crowd *c);

/**
 * srn_crowd_is_half_queue() - whether the last answer waited for half of its time or more, whoever else stands there
 *
 * Not if it is not known how long the path is.
 */
static inline bool srn_crowd_is_half_queue(const struct srn_crowd *c)
{
	return c->delay_ns >= c->least_ns;
}

/** srn_crowd_few() - as good as nothing is out any more: the last delay says nothing of what comes */
static inline void srn_crowd_few(struct srn_crowd *c)
{
	c->stale = true;
	c->mixed = true;
}

/** srn_crowd_is_stale() - they are minded, and no answer came since */
static inline bool srn_crowd_is_stale(const struct srn_crowd *c)
{
	return c->left && c->stale;
}

/** srn_crowd_excess() - how many of @cwnd PSNs are too many; 0 where queues are not minded */
u32 srn_crowd_excess(const struct srn_crowd *c, u32 cwnd);

/** srn_crowd_steps() - PSNs that may come to @cwnd in a round trip, where @steps do if nothing is known */
u32 srn_crowd_steps(const struct srn_crowd *c, u32 cwnd, u32 steps);

/** srn_crowd_path() - after srn_crowd_sample(): how long the path is; @much: more is out than fills a short one */
void srn_crowd_path(struct srn_crowd *c, bool much);

/**
 * srn_crowd_wide_steps() - as srn_crowd_steps() gave @steps, where @cwnd is @full, which fills a short path,
 * or more
 *
 * 0 where anything queues: what queues shows a round trip later, when as much more is out.
 */
u32 srn_crowd_wide_steps(const struct srn_crowd *c, u32 cwnd, u32 full, u32 steps);

/** srn_crowd_wide_excess() - how many of @cwnd PSNs, which are more than @full, stand in a queue that is too long */
u32 srn_crowd_wide_excess(const struct srn_crowd *c, u32 cwnd, u32 full);

/** srn_crowd_looks() - whether it is time to see the path without one's own packets; if so, that is done */
bool srn_crowd_looks(struct srn_crowd *c);

#endif
