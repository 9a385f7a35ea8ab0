/* SPDX-License-Identifier: GPL-2.0-only */
/* A rota: of many connections that share a path, some at a time have data out. A queue that is shorter than a
 * packet of each of them overflows however little each one sends. Pure; who calls has a lock.
 *
 * As long as all that they send finds room nobody needs that: unless it is wanted always, turns are taken where something
 * was lost by a queue lately.
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

/* When turns are taken. */
enum srn_rota_when {
	SRN_ROTA_OFF,		/* never */
	SRN_ROTA_LOSSY,		/* while, and for SRN_ROTA_LATELY_NS after, something was lost by a queue */
	SRN_ROTA_ALWAYS,
};

/* So many at a time: as many as short queues take with some packets of each. */
#define SRN_ROTA_PLACES		16
/* As few of them, with what each begins with, may fill such a queue: more have a place each, and begin as those do that
 * have to wait for one.
 */
#define SRN_ROTA_FEW		8
/* Bytes of a shift, at least, and how many times what may be out; but where that is much, once, or so many bytes: who
 * waits waits for that much of each of those that are before it, also where a deep queue lets windows grow.
 */
#define SRN_ROTA_QUOTA		65536
#define SRN_ROTA_ROUNDS		8
#define SRN_ROTA_MOST		(1 << 20)
/* Nor, where very many wait, more than such a part of so many, though that be less than what may be out. */
#define SRN_ROTA_ALL_MOST	((u64)SRN_ROTA_MOST * 64)
/* And where an answer takes as long as this, or as nobody knows, twice as often: what is not used between two shifts, a
 * round trip each time, is seen there.
 */
#define SRN_ROTA_LONG_NS	(3 * NSEC_PER_MSEC)
/* Bytes of a message that need not wait for a place, where nothing else of its connection is out. */
#define SRN_ROTA_SMALL		256
/* Who has asked so often in a row, and hears nothing, does not use its place. */
#define SRN_ROTA_SILENT		4
/* For so long, and so many times what an answer takes, others wait for a place at most until nothing more goes from
 * it: longer than SRN_ROTA_QUOTA of each place take on all but slow wires, where an answer takes long.
 */
#define SRN_ROTA_DUE_NS		NSEC_PER_SEC
#define SRN_ROTA_DUE_TRIPS	8
/* But no longer than this, since a peer may take as long as it likes. */
#define SRN_ROTA_DUE_MOST_NS	(4 * (u64)NSEC_PER_SEC)
/* What that is before an answer was timed. */
#define SRN_ROTA_UNKNOWN_NS	(250 * NSEC_PER_MSEC)
/* While for so long no more than SRN_ROTA_FEW had a place they are few: who begins together does so in less. */
#define SRN_ROTA_FEW_NS		(20 * NSEC_PER_MSEC)
/* So long after something was lost by a queue turns are taken. Each time that they end before what many have to send has,
 * all of them meet in the queue once more.
 */
#define SRN_ROTA_LATELY_NS	(128 * (s64)NSEC_PER_SEC)
/* No more often it is noted anew: many may lose something at once. */
#define SRN_ROTA_TELL_NS	(4 * (s64)NSEC_PER_SEC)
/* A path is empty for long, while one shift follows another, where an answer takes as long as this. */
#define SRN_ROTA_FAR_NS		(12 * NSEC_PER_MSEC)

/* A member's turn to have data out. Where it says "lock", that of the rota. 0: it has no place, and waits for none. */
struct srn_shift {
	struct list_head node;	/* in the rota's, while it waits; lock */
	bool on;		/* has a place: who gives one sets it, the member clears it; lock */
	bool waits;		/* for one; lock */
	bool begins;		/* was given one; the member takes that */
	bool fresh;		/* nothing long has gone yet: it is to begin as one of many; the member's */
	bool stopped;		/* in this round it had to wait; the member's, as the rest is */
	bool due;		/* others have waited for its place for long */
	u32 sent;		/* bytes, since it began */
	u64 wanted_ns;		/* since when somebody waits, as far as it saw; ktime; 0: nobody does */
	u32 crowds;		/* that it knows of, */
	u64 few_ns;		/* and since when there was none but those; ktime; 0: it has not looked */
};

struct srn_rota {
	struct list_head waiting;	/* who waits longest first */
	u32 num_waiting;		/* they are; read without the lock, too */
	u32 taken;			/* places; read without the lock, too, */
	u32 crowds;			/* as is how many were taken when there were few no more */
	bool far;			/* nobody takes turns: the path is long; read without the lock, too, */
	bool needed;			/* as is whether something was lost by a queue, */
	u64 least_ns;			/* and the least that an answer ever took; U64_MAX: there was none */
	bool known;			/* whether it is long, so far; the rest is of a path that might be */
	u32 answers;			/* timed, since that was judged, */
	u64 since_ns;			/* from then on; ktime */
	u32 slow;			/* so many of them took twice the least */
	u64 until_ns;			/* turns are taken, since a queue takes longer than the path; ktime */
	u64 lost_ns;			/* when something was lost by a queue; ktime; read without the lock, too */
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

/** srn_rota_excuse() - a member waits no more; if it was given a place meanwhile it has that, and is to give it up */
void srn_rota_excuse(struct srn_rota *rota, struct srn_shift *shift);

/** srn_rota_is_wanted() - somebody waits; without the lock, as of some time lately */
static inline bool srn_rota_is_wanted(const struct srn_rota *rota)
{
	return READ_ONCE(rota->num_waiting);
}

/**
 * srn_rota_has_few() - at @now_ns, whether who has @shift has seen for SRN_ROTA_FEW_NS that they are few; without the lock
 *
 * No more than SRN_ROTA_FEW have a place, however many there are: those that have nothing to send are no burden.
 */
static inline bool srn_rota_has_few(const struct srn_rota *rota, struct srn_shift *shift, u64 now_ns)
{
	u32 crowds = READ_ONCE(rota->crowds);

	if (READ_ONCE(rota->taken) > SRN_ROTA_FEW || crowds != shift->crowds || !shift->few_ns) {
		shift->crowds = crowds;
		shift->few_ns = now_ns;
		return false;
	}
	return now_ns - shift->few_ns >= SRN_ROTA_FEW_NS;
}

/**
 * srn_rota_is_over() - with @more bytes a member that is on has had what is due to it; without the lock
 * @out: bytes that it may have out at a time
 *
 * Not before it had all that out some times, since between one's last and another's first there is a round trip in which
 * nobody uses the place; but less where what may be out is much, or very many wait.
 */
static inline bool srn_rota_is_over(const struct srn_rota *rota, const struct srn_shift *shift, u32 more, u32 out)
{
	u64 sent = (u64)shift->sent + more, due = SRN_ROTA_ROUNDS * (u64)out;
	u32 num = READ_ONCE(rota->num_waiting);

	if (READ_ONCE(rota->least_ns) >= SRN_ROTA_LONG_NS)
		due *= 2;
	else
		due = min3(due, max_t(u64, out, SRN_ROTA_MOST), SRN_ROTA_ALL_MOST / max(num, 1u));
	return sent >= SRN_ROTA_QUOTA && sent >= due;
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
	return clamp_t(u64, SRN_ROTA_DUE_TRIPS * (srtt_ns ?: SRN_ROTA_UNKNOWN_NS), SRN_ROTA_DUE_NS, SRN_ROTA_DUE_MOST_NS);
}

/** srn_rota_last_ns() - and so long until the place is another's, whatever it has out */
static inline u64 srn_rota_last_ns(u64 srtt_ns)
{
	return 2 * srn_rota_due_ns(srtt_ns);
}

/**
 * srn_rota_release() - nobody is to wait any more, as srn_rota_is_free() says: who has waited longest does not
 * @wake: tells it, before it waits no more: from then on it may be gone
 *
 * Return: false if nobody waits.
 */
bool srn_rota_release(struct srn_rota *rota, void (*wake)(const struct srn_shift *shift));

/** srn_rota_is_far() - whether the path is so far that nobody takes turns; without the lock */
static inline bool srn_rota_is_far(const struct srn_rota *rota)
{
	return READ_ONCE(rota->far);
}

/** srn_rota_is_free() - whether nobody takes turns now, though @when has not forbidden it; without the lock */
static inline bool srn_rota_is_free(const struct srn_rota *rota, enum srn_rota_when when)
{
	return (when == SRN_ROTA_LOSSY && !READ_ONCE(rota->needed)) || srn_rota_is_far(rota);
}

/** srn_rota_age() - ns since something was lost by a queue; less than 0 if somebody has said so at a later time than @now_ns */
static inline s64 srn_rota_age(const struct srn_rota *rota, u64 now_ns)
{
	return now_ns - READ_ONCE(rota->lost_ns);
}

/**
 * srn_rota_is_news() - whether the rota is to know that at @now_ns something was lost of one that knows @crowd of the path;
 * without the lock
 *
 * By a queue; and where one shift follows another a place is not used for a round trip: not unless the queue covers that, but
 * on a path that is short.
 */
static inline bool srn_rota_is_news(const struct srn_rota *rota, const struct srn_crowd *crowd, u64 now_ns)
{
	s64 age = srn_rota_age(rota, now_ns);

	if (!srn_crowd_is(crowd))
		return false;
	if (READ_ONCE(rota->needed) && age < SRN_ROTA_LATELY_NS)
		return age >= SRN_ROTA_TELL_NS;
	return READ_ONCE(rota->least_ns) < SRN_ROTA_LONG_NS || crowd->delay_ns >= crowd->least_ns;
}

/** srn_rota_lost() - at @now_ns who has the path in common lost something by a queue; with the lock */
void srn_rota_lost(struct srn_rota *rota, u64 now_ns);

/** srn_rota_calm() - at @now_ns: turns are needed no more if nothing was for SRN_ROTA_LATELY_NS; with the lock */
void srn_rota_calm(struct srn_rota *rota, u64 now_ns);

/** srn_rota_is_near() - it is not, and will not be; without the lock */
static inline bool srn_rota_is_near(const struct srn_rota *rota)
{
	return READ_ONCE(rota->least_ns) < SRN_ROTA_FAR_NS;
}

/**
 * srn_rota_may_see() - whether srn_rota_look() may find anything that counts; without the lock
 *
 * That the path is shorter than any answer said does. Else how long it is was found out if it is near, or if nobody takes
 * turns on it, nor are any needed; a lock that all who have the path share is not for that.
 */
static inline bool srn_rota_may_see(const struct srn_rota *rota, const struct srn_crowd *crowd, enum srn_rota_when when)
{
	u64 least = READ_ONCE(rota->least_ns);

	if (least < SRN_ROTA_FAR_NS || when == SRN_ROTA_OFF)
		return crowd->least_ns < min_t(u64, least, SRN_ROTA_FAR_NS);
	return when == SRN_ROTA_ALWAYS || READ_ONCE(rota->needed) || !srn_rota_is_far(rota) || crowd->least_ns < least;
}

/**
 * srn_rota_look() - who has the path in common had an answer, and knows as much of it as @crowd says; whether turns
 * are taken or not
 *
 * A path is far if no answer ever took less than SRN_ROTA_FAR_NS. (Where a queue is never empty what is known
 * otherwise is forgotten.) But not where a queue takes longer than that path: it may be all that is long, when many
 * begin at once or this host is busy, and while one shift follows another it keeps the wire busy. At the beginning that
 * is seen by the answers that stand behind others' packets; later by all of them, if something was lost.
 */
void srn_rota_look(struct srn_rota *rota, const struct srn_crowd *crowd);

/**
 * srn_rota_look_again() - who has the path in common had an answer to what went more than once
 *
 * Where so many are answered later than they wait, and nobody sooner, not even who came first, it is the path.
 */
void srn_rota_look_again(struct srn_rota *rota);

#endif
