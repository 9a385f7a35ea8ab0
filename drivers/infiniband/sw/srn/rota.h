/* SPDX-License-Identifier: GPL-2.0-only */
/* A rota: of many connections that share a path, some at a time have data out. A queue that is shorter than a
 * packet of each of them overflows however little each one sends. Pure; who calls has a lock.
 *
 * Who has had as much as is due to one, and who has nothing more out nor to send, gives its place to the one that
 * waits longest, and what it knows of the path with it. While there are places for all, nobody waits.
 */
#ifndef SRN_ROTA_H
#define SRN_ROTA_H

#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include <linux/types.h>

#include "legacy.h"

/* So many at a time: as many as short queues take with some packets of each. */
#define SRN_ROTA_PLACES		16
/* Bytes of a shift, at least, and how many times what may be out. */
#define SRN_ROTA_QUOTA		65536
#define SRN_ROTA_ROUNDS		8
/* Bytes of a message that need not wait for a place, where nothing else of its connection is out. */
#define SRN_ROTA_SMALL		256
/* Who has asked so often in a row, and hears nothing, does not use its place. */
#define SRN_ROTA_SILENT		4
/* For so long, and so many times what an answer takes, others wait for a place at most until nothing more goes from
 * it: longer than SRN_ROTA_QUOTA of each place take on all but slow wires, where an answer takes long.
 */
#define SRN_ROTA_DUE_NS		NSEC_PER_SEC
#define SRN_ROTA_DUE_TRIPS	8
/* What that is before an answer was timed. */
#define SRN_ROTA_UNKNOWN_NS	(250 * NSEC_PER_MSEC)

/* A member's turn to have data out. Where it says "lock", that of the rota. 0: it has no place, and waits for none. */
struct srn_shift {
	struct list_head node;	/* in the rota's, while it waits; lock */
	bool on;		/* has a place: who gives one sets it, the member clears it; lock */
	bool waits;		/* for one; lock */
	bool begins;		/* was given one; the member takes that */
	bool stopped;		/* in this round it had to wait; the member's, as the rest is */
	bool due;		/* others have waited for its place for long */
	u32 sent;		/* bytes, since it began */
	u64 wanted_ns;		/* since when somebody waits, as far as it saw; ktime; 0: nobody does */
};

struct srn_rota {
	struct list_head waiting;	/* who waits longest first */
	u32 num_waiting;		/* they are; read without the lock, too */
	u32 taken;			/* places */
	bool near;			/* the path was seen not to be far; without the lock */
	struct srn_legacy legacy;	/* of who gave up a place last */
};

/** srn_rota_init() - there is nobody */
void srn_rota_init(struct srn_rota *rota);

/**
 * srn_rota_ask() - a member has something to send, and no place
 *
 * Return: whether it has one now. If not it waits, and is given one by another's srn_rota_yield().
 */
bool srn_rota_ask(struct srn_rota *rota, struct srn_shift *shift);

/**
 * srn_rota_yield() - a member gives up its place, or waits no more
 *
 * Return: who has the place now, and is to be told; or NULL.
 */
struct srn_shift *srn_rota_yield(struct srn_rota *rota, struct srn_shift *shift);

/** srn_rota_is_wanted() - somebody waits; without the lock, as of some time lately */
static inline bool srn_rota_is_wanted(const struct srn_rota *rota)
{
	return READ_ONCE(rota->num_waiting);
}

/**
 * srn_rota_is_over() - with @more bytes a member that is on has had what is due to it
 * @out: bytes that it may have out at a time
 *
 * Not before it had all that out some times, however much that is: between one's last and another's first there
 * is a round trip in which nobody uses the place.
 */
static inline bool srn_rota_is_over(const struct srn_shift *shift, u32 more, u32 out)
{
	u64 sent = (u64)shift->sent + more;

	return sent >= SRN_ROTA_QUOTA && sent >= SRN_ROTA_ROUNDS * (u64)out;
}

/** srn_rota_kept_ns() - at @now_ns, for how long who has @shift knows that others wait for a place; ns */
static inline u64 srn_rota_kept_ns(const struct srn_rota *rota, struct srn_shift *shift, u64 now_ns)
{
	if (!srn_rota_is_wanted(rota))
		shift->wanted_ns = 0;
	else if (!shift->wanted_ns)
		shift->wanted_ns = now_ns;
	return shift->wanted_ns ? now_ns - shift->wanted_ns : 0;
}

/** srn_rota_due_ns() - so long others wait at most for one whose answers take @srtt_ns; 0: unknown */
static inline u64 srn_rota_due_ns(u64 srtt_ns)
{
	return max_t(u64, SRN_ROTA_DUE_NS, SRN_ROTA_DUE_TRIPS * (srtt_ns ?: SRN_ROTA_UNKNOWN_NS));
}

/** srn_rota_last_ns() - and so long until the place is another's, whatever it has out */
static inline u64 srn_rota_last_ns(u64 srtt_ns)
{
	return 2 * srn_rota_due_ns(srtt_ns);
}

/**
 * srn_rota_look() - who has the path in common had an answer, and knows as much of it as @crowd says; without the
 * lock, and whether turns are taken or not
 */
static inline void srn_rota_look(struct srn_rota *rota, const struct srn_crowd *crowd)
{
	if (unlikely(!READ_ONCE(rota->near)) && srn_crowd_is_near(crowd))
		WRITE_ONCE(rota->near, true);
}

/**
 * srn_rota_is_far() - whether the path is far, by @crowd, which is what a member knows of it; without the lock
 *
 * Not where one ever saw it near: where a queue is never empty the rest of what is known of it is forgotten. Nor where
 * something was lost by a queue: it may be that which is long. When many begin at once, or this host is busy, the first
 * answers are late as well.
 */
static inline bool srn_rota_is_far(const struct srn_rota *rota, const struct srn_crowd *crowd)
{
	return !READ_ONCE(rota->near) && srn_crowd_is_far(crowd) && !srn_crowd_is(crowd);
}

#endif
