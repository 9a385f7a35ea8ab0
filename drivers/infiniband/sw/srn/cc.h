/* SPDX-License-Identifier: GPL-2.0-only */
/* What is done about congestion: a parameter of the module, which each connection takes with it
 * when it begins; and parameters of each device, which take effect at once.
 */
#ifndef SRN_CC_H
#define SRN_CC_H

#include <linux/types.h>

enum srn_cc {
	SRN_CC_OFF,	/* routers' marks say nothing */
	SRN_CC_DCQCN,	/* a mark is told to who sent the packet, and who is told sends less;
			 * data may be marked on the way to a peer that is known to tell
			 */
	SRN_CC_ALWAYS,	/* the same, and the administrator knows that all peers tell */
	SRN_CCS
};

/** srn_cc() - what a connection that begins now has; any context */
enum srn_cc srn_cc(void);

/* X(name, least, most, default). The names are mlx5's, as are the units: us, bytes, Mb/s, percent,
 * and of alpha 1/1024. The figures are for links of some hundred Mb/s to some ten Gb/s, and queues
 * that a packet is in for some ms: what was cut shows no sooner. See tuning.rst.
 */
#define SRN_CC_PARAMS(X)	\
	/* Reaction point (dcqcn): a step by time, by bytes; how many until the target moves. */ \
	X(rp_time_reset, 20, 1000000, 2000) \
	X(rp_byte_reset, 4096, 1 << 30, 32767) \
	X(rp_threshold, 1, 31, 1) \
	/* How far it moves with a step by one of them, and by both. */ \
	X(rp_ai_rate, 1, 100000, 1) \
	X(rp_hai_rate, 1, 100000, 2) \
	/* What a cut leaves at least, and what is left of all cuts. */ \
	X(rp_min_dec_fac, 1, 99, 50) \
	X(rp_min_rate, 1, 100000, 2) \
	/* 0: that of what is sent. */ \
	X(rp_rate_to_set_on_first_cnp, 0, 4000000, 0) \
	/* Alpha keeps so much, each time; its part of the rate is cut, by 2 to rp_gd less 10. */ \
	X(rp_dce_tcp_g, 1, 1023, 944) \
	X(rp_dce_tcp_rtt, 20, 1000000, 300) \
	X(rp_rate_reduce_monitor_period, 20, 1000000, 1000) \
	X(rp_initial_alpha_value, 1, 1023, 1023) \
	X(rp_gd, 10, 15, 11) \
	/* Notification point (notify). */ \
	X(np_min_time_between_cnps, 0, 1000000, 50) \
	X(np_cnp_dscp, 0, 63, 48) \
	X(np_cnp_prio, 0, 7, 6)

#define SRN_CC_FIELD(name, ...)	u32 name;

/* Written by whoever tunes, read with READ_ONCE(). */
struct srn_cc_params {
	SRN_CC_PARAMS(SRN_CC_FIELD)
};

#undef SRN_CC_FIELD

extern const struct srn_cc_params srn_cc_defaults;

#endif
