/* SPDX-License-Identifier: GPL-2.0-only */
/* Turns: one QP runs in one context at a time, and in any context.
 *
 * Whoever has news for a QP (doorbell, packet, timer) sets a bit and tries to
 * become the owner. (A packet that was executed in the turn may leave nothing to do: then
 * its owner gives it up.) The owner runs the engines until no bit is left; who came
 * second leaves at once, the owner sees the bit. After a few rounds the owner
 * hands the turn to the per-CPU NAPI, so that no context is held for long.
 * What nobody waits for may be put down in between: then bits are set and nobody
 * owns it.
 * The engines know nothing of this: they are alone by construction.
 */
#ifndef SRN_TURN_H
#define SRN_TURN_H

#include <linux/atomic.h>
#include <linux/time64.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "due.h"

struct completion;

#define SRN_TURN_OWNED		BIT(0)
#define SRN_TURN_WANTED		BIT(1)	/* a sleeping context waits to own it */
#define SRN_TURN_SQ		BIT(2)	/* send WQEs were posted */
#define SRN_TURN_RX		BIT(3)	/* packets are queued */
#define SRN_TURN_TIMER		BIT(4)
#define SRN_TURN_FLUSH		BIT(5)	/* error state: flush what is posted */
#define SRN_TURN_MORE		BIT(6)	/* the last round left work; owned or not */
#define SRN_TURN_AWAY		BIT(7)	/* given to a worker that has not begun */
#define SRN_TURN_GATHER		BIT(8)	/* as SRN_TURN_SQ, by a program's doorbell, which may be put off */
#define SRN_TURN_SHED		BIT(9)	/* memory is asked for */

/* A turn that was sent away and not begun after this long has met busy CPUs only. */
#define SRN_TURN_LATE_NS	NSEC_PER_MSEC

/* What a round leaves undone. */
enum srn_left {
	SRN_LEFT_NOTHING,
	SRN_LEFT_URGENT,	/* the NAPI goes on, or the worker that is at it */
	SRN_LEFT_LISTED,	/* the NAPI, in any case: from its list it may be taken out */
	SRN_LEFT_LATER,		/* nobody waits for it: who causes it goes on, or a worker */
};

struct srn_turn {
	atomic_t bits;
	struct srn_due due;		/* in a list of a CPU, which its NAPI runs */
	struct completion *grant;	/* of who waits to own it; SRN_TURN_WANTED says that it is there */
	/* One round, with a budget; @bits are those seen. BH disabled. */
	enum srn_left (*run)(struct srn_turn *turn, unsigned int bits);
	struct work_struct away;	/* runs it on another CPU */
	u64 away_since;			/* ktime_get_ns() */
	unsigned long away_pause;	/* jiffies until which it stays */
#ifdef CONFIG_PROVE_LOCKING
	unsigned long owner;		/* who runs it now; 0: nobody, or it is on its way */
#endif
};

#ifdef CONFIG_PROVE_LOCKING
/**
 * srn_turn_assert_owned() - warn unless the caller is the owner
 *
 * For all that is "owner of the turn only". A turn that was never initialized, as in
 * unit tests of rooms that need none, passes.
 */
void srn_turn_assert_owned(const struct srn_turn *turn);
#else
static inline void srn_turn_assert_owned(const struct srn_turn *turn) {}
#endif

void srn_turn_init(struct srn_turn *turn,
		   enum srn_left (*run)(struct srn_turn *turn, unsigned int bits));

/**
 * srn_turn_kick() - there is work; run it here if nobody else does
 *
 * Any context but hard interrupts or with interrupts off. The object behind
 * @turn must stay alive during the call.
 */
void srn_turn_kick(struct srn_turn *turn, unsigned int bits);

/**
 * srn_turn_kick_here() - as srn_turn_kick(), and what nobody waits for is done here as well
 *
 * For who causes such work: its time is used up, not a worker's. BH disabled, so that it is
 * not put to sleep with the turn in hand. Return: as srn_turn_run_here().
 */
bool srn_turn_kick_here(struct srn_turn *turn, unsigned int bits);

/**
 * srn_turn_defer() - there is work; leave it to the NAPI of this CPU
 *
 * Any context. With SRN_TURN_TIMER it stands behind other alarms, else behind other news;
 * neither waits for all of the other, nor for those whose budget ran out.
 */
void srn_turn_defer(struct srn_turn *turn, unsigned int bits);

/**
 * srn_turn_may_go_away() - there are other CPUs, no queue before them, and they were not
 * busy lately
 */
bool srn_turn_may_go_away(const struct srn_turn *turn);

/**
 * srn_turn_take() - as srn_turn_kick(), but a turn that nobody owns is owned by the caller
 *
 * Any context; in process context BH are disabled first, so that the owner keeps its CPU.
 *
 * Return: true if the caller is the owner now; srn_turn_run(), srn_turn_run_here(),
 * srn_turn_leave(), srn_turn_send_away() or srn_turn_give_up() follows.
 */
bool srn_turn_take(struct srn_turn *turn, unsigned int bits);

/**
 * srn_turn_take_out() - as srn_turn_take(), and a turn that waits for the NAPI is taken from there
 *
 * For who can't wait until a turn that others keep busy is free. BH disabled. Return: as
 * srn_turn_take().
 */
bool srn_turn_take_out(struct srn_turn *turn, unsigned int bits);

/**
 * srn_turn_give_up() - an owned turn with which all is done that its owner knows of
 *
 * Any context. Return: false if there is news, or somebody waits for it: it is still the caller's.
 */
bool srn_turn_give_up(struct srn_turn *turn);

/** srn_turn_run() - run an owned turn here; BH disabled */
void srn_turn_run(struct srn_turn *turn);

/**
 * srn_turn_run_here() - run an owned turn here, and a part of what nobody waits for too
 *
 * BH disabled. Return: true if some of that is left and nobody owns the turn: the caller lets
 * others run and kicks again, with no bit. False: done, or the NAPI or a worker goes on.
 */
bool srn_turn_run_here(struct srn_turn *turn);

/**
 * srn_turn_leave() - let the NAPI of this CPU run an owned turn, behind what the CPU receives now
 *
 * Any context.
 */
void srn_turn_leave(struct srn_turn *turn);

/**
 * srn_turn_send_away() - let an unbound worker run an owned turn
 *
 * Until it begins, whoever comes takes the turn back. Any context.
 */
void srn_turn_send_away(struct srn_turn *turn);

/**
 * srn_turn_give_away() - a worker does what srn_turn_run_here() left, unless somebody does it
 *
 * BH disabled.
 */
void srn_turn_give_away(struct srn_turn *turn);

/**
 * srn_turn_borrow() - own a turn that nobody has and for which there is no news, or that waits for the NAPI
 * @listed: set to whether it waited for the NAPI
 *
 * For who waits for nobody, such as the owner of another one, and not before who waits to own it. BH disabled.
 * One that waited stands last then, on this CPU; an alarm is news. Return: true if the caller is the
 * owner now; srn_turn_return() follows.
 */
bool srn_turn_borrow(struct srn_turn *turn, bool *listed);

/** srn_turn_return() - give a borrowed turn back; what is due then is the NAPI's of this CPU */
void srn_turn_return(struct srn_turn *turn, bool listed);

/**
 * srn_turn_own() - take the turn in process context: nothing runs until srn_turn_disown()
 *
 * Sleeps until the owner has finished the round that is due, so that what it owes to a
 * peer has left. A turn that waits in a queue does not wait there any longer. One caller at a
 * time (the object's mutex). May be followed by sleeping functions; meanwhile all that the
 * object is sent waits, so only who may harm the object anyway is to call this.
 */
void srn_turn_own(struct srn_turn *turn);

/**
 * srn_turn_disown() - give it back and run what came meanwhile, and what nobody waits for too
 *
 * Process context, may sleep.
 */
void srn_turn_disown(struct srn_turn *turn);

int srn_turn_setup(void);
void srn_turn_teardown(void);

#endif
