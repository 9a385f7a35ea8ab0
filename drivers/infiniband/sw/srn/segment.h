/* SPDX-License-Identifier: GPL-2.0-only */
/* A message cut into packets: pure arithmetic, so that it can be tested. A plan
 * names one packet, or a run of them (run.h).
 */
#ifndef SRN_SEGMENT_H
#define SRN_SEGMENT_H

#include <linux/types.h>

struct srn_service;
struct srn_wqe;

/**
 * struct srn_plan - one request packet, or a run of them
 * @opcode: BTH opcode, of a run that of its first packet
 * @end: BTH opcode of the last packet
 * @num: packets
 * @first: carries the headers of the message's start (RETH)
 * @last: the message ends with it
 * @whole: a run that nothing on this host has to cut, as far as its route tells
 * @psn: its PSN
 * @npsn: PSNs it uses up (READ: as many as it has response packets)
 * @offset: of its payload in the message, bytes
 * @len: payload, bytes, without pad; READ: bytes asked for
 */
struct srn_plan {
	u8 opcode;
	u8 end;
	u32 num;
	bool first;
	bool last;
	bool whole;
	u32 psn;
	u32 npsn;
	u32 offset;
	u32 len;
};

/** srn_plan_is_solicited() - whether the packet raises a solicited event */
bool srn_plan_is_solicited(const struct srn_wqe *wqe, const struct srn_plan *plan);

/** srn_wqe_npsn() - PSNs that a message of @wqe takes (1 for an empty one); @mtu in bytes */
u32 srn_wqe_npsn(const struct srn_wqe *wqe, u32 mtu);

/**
 * srn_segment() - the packet of a started WQE that has PSN @psn
 * @svc: the QP's
 * @mtu: path MTU, bytes
 *
 * For a READ, the request that asks for the responses from @psn to the end of
 * their chunk (srn_wqe.chunk).
 */
void srn_segment(const struct srn_wqe *wqe, const struct srn_service *svc, u32 mtu, u32 psn,
		 struct srn_plan *plan);

/** srn_segment_requests() - how many the peer counts of a started WQE: a long READ is several */
u32 srn_segment_requests(const struct srn_wqe *wqe);

/**
 * srn_segment_left() - how many packets of data a message has from the planned one on
 *
 * 1 where the others are not to be sent with it: a READ request, the last packet.
 */
u32 srn_segment_left(const struct srn_wqe *wqe, const struct srn_plan *plan);

/** srn_segment_run() - make the plan of a packet that of @num: 2 to srn_segment_left() */
void srn_segment_run(const struct srn_wqe *wqe, u32 mtu, u32 num, struct srn_plan *plan);

/** srn_segment_part() - of the answers that the planned READ request asks for, the first @npsn */
void srn_segment_part(u32 mtu, u32 npsn, struct srn_plan *plan);

#endif
