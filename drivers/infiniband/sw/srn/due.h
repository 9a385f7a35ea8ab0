/* SPDX-License-Identifier: GPL-2.0-only */
/* What waits for the NAPI of a CPU: turns whose owners left them to it (turn.h).
 *
 * Each is in one list of one CPU at most, and whoever takes it out of there has it alone.
 */
#ifndef SRN_DUE_H
#define SRN_DUE_H

#include <linux/list.h>
#include <linux/types.h>

/* Why it waits. One of each kind is run in turn, so that none of them has to wait for all the
 * others: who has news for a QP would, for those whose work never ends.
 */
enum srn_due_kind {
	SRN_DUE_NEWS,		/* a post or a packet */
	SRN_DUE_ALARM,		/* its clock */
	SRN_DUE_REST,		/* what a round's budget did not reach */
	SRN_DUE_KINDS,
	SRN_DUE_NOT = SRN_DUE_KINDS
};

struct srn_due_cpu;

struct srn_due {
	struct list_head node;
	struct srn_due_cpu *cpu;	/* in whose list it is, under that one's lock; NULL: in none */
};

static inline void srn_due_init(struct srn_due *due)
{
	due->cpu = NULL;
}

/**
 * srn_due_add() - let this CPU's NAPI run @due, behind the others of @kind
 *
 * Any context. @due is in no list, and the caller has it alone; no longer when this returns.
 */
void srn_due_add(struct srn_due *due, enum srn_due_kind kind);

/**
 * srn_due_remove() - take @due out of whichever list it is in
 *
 * Any context. Return: true if it was in one: the caller has it alone.
 */
bool srn_due_remove(struct srn_due *due);

/**
 * srn_due_setup() - a NAPI for each CPU, which calls @run
 * @run: in a softirq, for what was taken out of a list. It returns the kind as which it is to be
 *	put back, or SRN_DUE_NOT: then it may be gone.
 *
 * May sleep. Return: 0 or -ENOMEM.
 */
int srn_due_setup(enum srn_due_kind (*run)(struct srn_due *due));

/** srn_due_teardown() - may sleep; nothing waits, and nothing comes any more */
void srn_due_teardown(void);

#endif
