/* SPDX-License-Identifier: GPL-2.0-only */
/* What the poller of a context looks at. */
#ifndef SRN_LOOKOUT_H
#define SRN_LOOKOUT_H

struct srn_ucontext;

/** srn_lookout_start() - the context has a poller from now on; returns as srn_poller_start(); may sleep */
int srn_lookout_start(struct srn_ucontext *uc);
/** srn_lookout_stop() - it has none any more, if it had one; it may look on for a moment; may sleep */
void srn_lookout_stop(struct srn_ucontext *uc);

#endif
