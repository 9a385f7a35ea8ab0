/* SPDX-License-Identifier: GPL-2.0-only */
/* Bytes between packets, scatter lists and keyed memory. Called with BH
 * disabled, never sleeps. Each function proves keys and bounds before the first
 * byte moves, for the whole range it was asked for.
 */
#ifndef SRN_SGL_H
#define SRN_SGL_H

#include <linux/skbuff.h>
#include <rdma/ib_verbs.h>

#include "mem.h"
#include "verdict.h"

/* A proven copy of a WR's scatter list; the lkeys are not yet proven. */
struct srn_sgl {
	const struct ib_sge *sge;
	unsigned int num;
	const struct srn_who *who;
};

/**
 * srn_sgl_read() - copy bytes of a message out of its scatter list
 * @sgl: scatter list
 * @offset: first byte of the message wanted
 * @to: destination, @len bytes
 *
 * SRN_OK, SRN_V_LOC_PROT, or SRN_V_LOC_LEN when the list ends early.
 */
enum srn_verdict srn_sgl_read(const struct srn_sgl *sgl, u64 offset, void *to, u32 len);

/**
 * srn_sgl_read_held() - as srn_sgl_read(), from the first byte on
 * @held: as srn_mem_hold_local() has it; a list of several elements leaves it alone
 */
enum srn_verdict srn_sgl_read_held(const struct srn_sgl *sgl, void *to, u32 len,
				   struct srn_mem **held);

/**
 * srn_sgl_attach() - append bytes of a message to a packet as page references
 * @skb: packet; its len, data_len and truesize grow by @len
 *
 * Takes a reference per page; merges neighbours of one folio. SRN_OK,
 * SRN_V_LOC_PROT, SRN_V_LOC_LEN, or SRN_V_AGAIN where a page cannot be
 * referenced (slab) or the fragments do not suffice: the caller then copies.
 * After a failure the skb is to be freed.
 */
enum srn_verdict srn_sgl_attach(const struct srn_sgl *sgl, u64 offset, struct sk_buff *skb,
				u32 len);

/**
 * srn_sgl_write_skb() - place payload into a scatter list
 * @from: offset of the payload from skb->data
 *
 * SRN_OK, SRN_V_LOC_PROT, or SRN_V_LOC_LEN when the list is too short.
 */
enum srn_verdict srn_sgl_write_skb(const struct srn_sgl *sgl, u64 offset, struct sk_buff *skb,
				   unsigned int from, u32 len);

/** srn_sgl_write() - place @len bytes from a kernel buffer (GRH, atomic result) */
enum srn_verdict srn_sgl_write(const struct srn_sgl *sgl, u64 offset, const void *from, u32 len);

/**
 * srn_sgl_write_mem() - place bytes of a region into a scatter list
 * @mem: proven for @len bytes from @addr on
 *
 * If the two overlap, what the bytes are is nobody's to say. SRN_OK, SRN_V_LOC_PROT, or SRN_V_LOC_LEN
 * when the list is too short.
 */
enum srn_verdict srn_sgl_write_mem(const struct srn_sgl *sgl, u64 offset, const struct srn_mem *mem,
				   u64 addr, u32 len);

/* The same for memory behind a remote key; @mem proven for the range by
 * srn_mem_get_remote().
 */
void srn_mem_read(const struct srn_mem *mem, u64 addr, void *to, u32 len);
/** srn_mem_attach() - as srn_sgl_attach(); SRN_OK or SRN_V_AGAIN */
enum srn_verdict srn_mem_attach(const struct srn_mem *mem, u64 addr, struct sk_buff *skb,
				u32 len);
void srn_mem_write(const struct srn_mem *mem, u64 addr, const void *from, u32 len);
void srn_mem_write_skb(const struct srn_mem *mem, u64 addr, struct sk_buff *skb,
		       unsigned int from, u32 len);

#endif
