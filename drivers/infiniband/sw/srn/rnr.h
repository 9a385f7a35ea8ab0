/* SPDX-License-Identifier: GPL-2.0-only */
/* RNR timer codes: a responder says how long the requester shall wait. */
#ifndef SRN_RNR_H
#define SRN_RNR_H

#include <linux/types.h>

/** srn_rnr_ns() - nanoseconds of a RNR timer code 0..31 (IBTA vol. 1, table 45) */
u64 srn_rnr_ns(u8 code);

#endif
