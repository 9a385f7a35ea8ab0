/* SPDX-License-Identifier: GPL-2.0-only */
/* A thread of a program that looks for what the program posted, so that it need not ring. It is in
 * the program's process and cgroup, which pay for its time. Knows no queues.
 */
#ifndef SRN_POLLER_H
#define SRN_POLLER_H

#include <linux/types.h>
#include <rdma/ib_verbs.h>

struct srn_poller;

/* What it looks at. @arg stays until release(). */
struct srn_poller_ops {
	/* A look, which serves what it finds; may sleep. Return: whether there was anything. */
	bool (*serve)(void *arg);
	/* A look alone, in any state. Return: whether there is anything, or a signal. */
	bool (*posted)(void *arg);
	/* It goes to sleep. */
	void (*sleeps)(void *arg);
	/* The thread has ended; may sleep */
	void (*release)(void *arg);
};

/**
 * srn_poller_start() - a thread of the calling program, which looks from now on
 * @uc: context that its page is offered to
 *
 * May sleep. -EOPNOTSUPP: this kernel has no such threads, or the parameter forbids them; -ENODEV,
 * -ERESTARTNOINTR (a signal came); or what says that a thread or memory can't be had. Then release() is not called.
 */
struct srn_poller *srn_poller_start(struct ib_ucontext *uc, const struct srn_poller_ops *ops,
				    void *arg);

/**
 * srn_poller_stop() - the context goes; may sleep, but waits for nobody
 *
 * The thread ends behind the look that it is at, and release() is called, from a worker, which waits
 * for nobody either. A program that is stopped (SIGSTOP) keeps its thread until it goes on or is
 * killed. Whoever may still have @p by RCU may wake it.
 */
void srn_poller_stop(struct srn_poller *p);

/** srn_poller_wake() - posts come again; any context. RCU, or before srn_poller_stop(). */
void srn_poller_wake(struct srn_poller *p);

/** srn_poller_offset() - of its page, struct srn_poller_page, as mmap() takes it */
u64 srn_poller_offset(const struct srn_poller *p);

/** srn_poller_len() - bytes of it */
size_t srn_poller_len(const struct srn_poller *p);

int srn_poller_setup(void);
/** srn_poller_teardown() - no poller is there any more: each has a reference of the module */
void srn_poller_teardown(void);

#endif
