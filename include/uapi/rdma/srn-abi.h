/* SPDX-License-Identifier: ((GPL-2.0-only WITH Linux-syscall-note) OR Linux-OpenIB) */
/*
 * The contract between the srn kernel module and its rdma-core provider.
 *
 * A CQ, an SRQ, and the two queues of a QP together are a mapping each: a control
 * block, then the slots (of a QP those of the SQ, then those of the RQ). Indices are
 * free-running 32-bit counters; a slot is index & (entries - 1). Each index has
 * one writer:
 *
 *   queue  index     writer    says
 *   SQ     sq_tail   user      WQEs posted
 *          sq_head   kernel    WQEs completed, their slots may be reused
 *   RQ     rq_tail   user      receive WQEs posted
 *          rq_head   kernel    receive WQEs consumed, slots may be reused
 *   SRQ    tail      user      as rq_tail
 *          head      kernel    as rq_head
 *   CQ     prod      kernel    CQEs written
 *          cons      user      CQEs consumed, slots may be reused
 *
 * Ordering. A writer fills the slot, then stores the index with release; a
 * reader loads the index with acquire, then reads the slot. Three places need a
 * full barrier, because a store must be seen before a later load of another
 * word (store buffering):
 *
 *   post  user:    store sq_tail; full barrier; load status; ring if NEED_DB
 *         kernel:  store NEED_DB; full barrier; load sq_tail; work left: clear
 *                  NEED_DB and go on. Without either barrier both sides can miss
 *                  the other's store and a posted WQE sleeps.
 *                  With a poller the load of status is followed by one of asleep: ring
 *                  if NEED_DB and asleep. It stores asleep; full barrier; loads
 *                  sq_tail of each QP; posts: clears asleep and goes on.
 *   arm   user:    store arm; full barrier; load prod (the poll that verbs
 *                  programs do after arming)
 *         kernel:  store prod; full barrier; load arm; armed: take it (xchg 0)
 *                  and notify. Without either barrier an event is lost.
 *   error user:    store rq_tail; full barrier; load state; ring if the state is
 *                  an error, so that the WQE is flushed
 *         kernel:  store state; full barrier; load rq_tail and flush.
 *
 * A QP that goes to RESET forgets what is posted: the kernel stores both heads as
 * the tails are, and the program goes on from there.
 *
 * A device that goes takes the queues along, and the mappings stay. The kernel
 * stores gone, flushes what is posted to the QP, and at last stores dead in the
 * CQ, with release. Who finds no CQE and then, with acquire, dead, looks at prod
 * once more and has then seen all.
 *
 * The kernel keeps its own state elsewhere: what it writes to the mapped pages
 * is for the program to read and is never read back; what the program writes
 * there is copied once, proven and then used from the copy.
 *
 * Structures grow at the end only. Unknown comp_mask bits in a request are
 * refused with EOPNOTSUPP.
 */
#ifndef SRN_ABI_USER_H
#define SRN_ABI_USER_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define SRN_ABI_VERSION		2

/*
 * RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID of srn devices: "srn" in ASCII, far from the
 * sequential numbers of upstream drivers. The kernel checks it on each ioctl.
 */
#define SRN_DRIVER_ID		0x73726e

/* Scatter/gather element. */
struct srn_sge {
	__aligned_u64 addr;
	__u32 length;		/* bytes */
	__u32 lkey;
};

/*
 * Send WQE: this header, then sge[num_sge] or, with IB_SEND_INLINE, inline_len
 * bytes. opcode: enum ib_uverbs_wr_opcode; flags: enum ibv_send_flags.
 */
struct srn_send_wqe {
	__aligned_u64 wr_id;
	__u32 opcode;
	__u32 flags;
	__u32 num_sge;		/* 0 with inline data */
	__u32 inline_len;	/* bytes, 0 without inline data */
	__be32 imm;		/* immediate data, as on the wire */
	__u32 inv_rkey;		/* SEND with invalidate, LOCAL_INV */
	union {
		struct {	/* WRITE, READ, atomics, atomic write */
			__aligned_u64 remote_addr;
			__aligned_u64 compare_add;	/* atomic write: the 8 bytes */
			__aligned_u64 swap;
			__u32 rkey;
			__u32 reserved;
		} rdma;
		struct {	/* UD */
			__u32 ah;	/* from struct srn_create_ah_resp */
			__u32 remote_qpn;
			__u32 remote_qkey;
			__u32 reserved[5];
		} ud;
		struct {	/* BIND_MW */
			__aligned_u64 addr;
			__aligned_u64 length;
			__u32 mr_lkey;
			__u32 mw_rkey;	/* the key that the window has now */
			__u32 new_rkey;	/* the key it gets */
			__u32 access;	/* enum ibv_access_flags */
		} bind;
	};
};

/* Receive WQE: this header, then sge[num_sge]. */
struct srn_recv_wqe {
	__aligned_u64 wr_id;
	__u32 num_sge;
	__u32 reserved;
};

/* struct srn_cqe.network_hdr_type, of datagrams: what stands in the first 40 bytes. */
#define SRN_CQE_IPV4		2
#define SRN_CQE_IPV6		3

/* Completion. One slot is one CQE. */
struct srn_cqe {
	__aligned_u64 wr_id;
	__aligned_u64 timestamp;	/* CLOCK_MONOTONIC, ns; if the CQ was made with them */
	__u32 status;		/* enum ib_wc_status */
	__u32 opcode;		/* enum ibv_wc_opcode (user numbering) */
	__u32 byte_len;
	union {
		__be32 imm;
		__u32 inv_rkey;
	};
	__u32 qp_num;
	__u32 src_qp;
	__u32 wc_flags;		/* enum ibv_wc_flags */
	__u32 vendor_err;	/* enum srn_verdict of the module, for humans */
	__u16 pkey_index;
	__u8 sl;		/* reserved, 0: a RoCE packet carries no service level */
	__u8 port_num;
	__u8 network_hdr_type;	/* SRN_CQE_* */
	__u8 reserved0;
	__u16 vlan_id;		/* of the address that a QP1 message came to; kernel users only */
	__u8 reserved[8];
};

/* Who needs the doorbell: struct srn_qp_page.status */
#define SRN_QP_NEED_DB		(1U << 0)	/* the kernel is idle on this QP */
/*
 * What is posted is sent a little later, with what follows. A program that has nothing left to
 * post rings: where it finds its CQ empty or its queue full, before it sleeps, and before it stops
 * the QP; if not, some hundred microseconds pass. No barrier: the kernel looks at sq_tail again before NEED_DB takes the place of this.
 */
#define SRN_QP_GATHERS		(1U << 1)

/* The control block of a QP's mapping; a cache line per writer and purpose. */
struct srn_qp_page {
	__u32 sq_tail;		/* user */
	__u32 pad0[15];
	__u32 rq_tail;		/* user */
	__u32 pad1[15];
	__u32 sq_head;		/* kernel */
	__u32 rq_head;		/* kernel */
	__u32 status;		/* kernel: SRN_QP_* */
	__u32 state;		/* kernel: enum ib_qp_state */
	__u32 gone;		/* kernel: not 0 once nobody takes what is posted */
	__u32 pad2[11];
};

/* The control block of a SRQ's mapping. */
struct srn_srq_page {
	__u32 tail;		/* user */
	__u32 pad0[15];
	__u32 head;		/* kernel */
	__u32 gone;		/* kernel: not 0 once nobody takes what is posted */
	__u32 pad1[14];
};

/* struct srn_cq_page.arm */
#define SRN_CQ_DISARMED		0
#define SRN_CQ_ARM_SOLICITED	1	/* solicited or failed completions */
#define SRN_CQ_ARM_NEXT		2	/* any completion */

/* struct srn_cq_page.dead */
#define SRN_CQ_OVERRUN		1	/* a CQE had no slot */
#define SRN_CQ_GONE		2	/* the CQ does not exist any more */

/* The control block of a CQ's mapping. */
struct srn_cq_page {
	__u32 cons;		/* user */
	__u32 pad0[15];
	__u32 arm;		/* user stores, the kernel takes it when it notifies */
	__u32 pad1[15];
	__u32 prod;		/* kernel */
	__u32 dead;		/* kernel: SRN_CQ_*; not 0: no CQE comes after prod */
	__u32 pad2[14];
};

/* Slots of every queue start this many bytes into its mapping: a small queue is one page. */
#define SRN_QUEUE_OFFSET	256

/*
 * The doorbell: an ioctl on the descriptor that alloc_ucontext returned. The
 * argument is by value: the upper 32 bits choose a word of the context's QP
 * bitmap, the lower 32 bits are the QPs (db_index = word * 32 + bit) to run.
 * Always succeeds on an open device (unknown QPs are passed over); EIO after
 * the device has gone.
 */
#define SRN_IOC_DOORBELL	_IO(0xb7, 0x01)

#define SRN_DB_ARG(index)	(((__u64)((index) >> 5) << 32) | (1U << ((index) & 31)))

/*
 * comp_mask of a request, and then of its response: a thread of the program looks for what is posted
 * to the context's QPs (see struct srn_poller_page). EOPNOTSUPP: there are none.
 */
#define SRN_UCONTEXT_POLLER	(1U << 0)

struct srn_alloc_ucontext_req {
	__u32 comp_mask;	/* SRN_UCONTEXT_* */
	__u32 reserved;
};

struct srn_alloc_ucontext_resp {
	__u32 comp_mask;	/* SRN_UCONTEXT_* */
	__s32 doorbell_fd;	/* owned by the program; closed by the provider */
	__u32 max_inline;	/* bytes */
	__u32 reserved;
	__aligned_u64 poller_offset;	/* for mmap(), of struct srn_poller_page */
	__aligned_u64 poller_len;	/* 0 without a poller */
};

/* What a context with a poller maps. */
struct srn_poller_page {
	__u32 asleep;		/* kernel: not 0: posts to a QP with NEED_DB ring */
	__u32 pad[15];
};

/* Of the extended command. Rates in kb/s; a QP type is a bit, as in supported_qpts of verbs. */
struct srn_query_device_resp {
	__u32 comp_mask;
	__u32 rate_limit_min;
	__u32 rate_limit_max;
	__u32 rate_limit_qpts;
};

struct srn_create_qp_req {
	__u32 comp_mask;
	__u32 reserved;
};

struct srn_create_qp_resp {
	__u32 comp_mask;
	__u32 db_index;		/* see SRN_DB_ARG() */
	__aligned_u64 mmap_offset;
	__aligned_u64 mmap_len;	/* bytes: control block, SQ slots, RQ slots */
	__u32 sq_offset;	/* bytes into the mapping */
	__u32 sq_entries;	/* power of two, 0 for none */
	__u32 sq_stride;	/* bytes per slot */
	__u32 rq_offset;
	__u32 rq_entries;	/* 0 with a SRQ */
	__u32 rq_stride;
	__u32 ece;		/* SRN_ECE_*, without a number: what the QP offers its peer; 0: nothing */
	__u32 reserved;
};

/*
 * Options of enhanced connection establishment, by which rdma_cm tells two ends of one vendor what they
 * have beyond the standard. The vendor is "srn" in ASCII, which is no OUI: in the first byte of those the
 * lowest bit is 0. What the bits mean stands in Documentation/wire.rst; unknown ones mean nothing. Above
 * them stands whose options they are: the number of that QP.
 */
#define SRN_ECE_VENDOR		0x73726e
#define SRN_ECE_SACK		(1U << 0)	/* understands SACK packets, version 1 */
#define SRN_ECE_TELLS		(1U << 1)	/* tells of routers' marks, by CNPs */
#define SRN_ECE_PARTS		(1U << 2)	/* answers each duplicate of a READ, in order */
#define SRN_ECE_FLAGS		0xffU
#define SRN_ECE_QPN_SHIFT	8

/* comp_mask: ece is what the peer says. With the change to RTR of a RC QP that offers something. */
#define SRN_MODIFY_QP_ECE	(1U << 0)

struct srn_modify_qp_req {
	__u32 comp_mask;	/* SRN_MODIFY_QP_* */
	__u32 ece;		/* SRN_ECE_*, of the QP that the change names as the peer: else they say nothing */
};

struct srn_create_cq_req {
	__u32 comp_mask;
	__u32 reserved;
};

struct srn_create_cq_resp {
	__u32 comp_mask;
	__u32 entries;		/* power of two */
	__aligned_u64 mmap_offset;
	__aligned_u64 mmap_len;
};

/*
 * After a resize the new mapping holds the unconsumed CQEs and both indices;
 * the old mapping is dead from the moment the command returns.
 */
struct srn_resize_cq_resp {
	__u32 comp_mask;
	__u32 entries;
	__aligned_u64 mmap_offset;
	__aligned_u64 mmap_len;
};

struct srn_create_srq_req {
	__u32 comp_mask;
	__u32 reserved;
};

struct srn_create_srq_resp {
	__u32 comp_mask;
	__u32 srqn;
	__aligned_u64 mmap_offset;
	__aligned_u64 mmap_len;
	__u32 entries;
	__u32 stride;
};

/*
 * A SRQ's size is changed in two steps, so that what fails leaves the old ring: the command with
 * SRN_MODIFY_SRQ_RING makes a ring and tells where to map it; with SRN_MODIFY_SRQ_MOVE, for the same
 * size, it holds what was posted and not taken, at the same indices, and is the one that is used from
 * the moment the command returns. Nothing is posted meanwhile. The old ring's page says gone.
 *
 * The command has no response of its own: the request says where it goes.
 */
#define SRN_MODIFY_SRQ_RING	(1U << 0)
#define SRN_MODIFY_SRQ_MOVE	(1U << 1)

struct srn_modify_srq_req {
	__u32 comp_mask;	/* SRN_MODIFY_SRQ_*: one with IBV_SRQ_MAX_WR, else none */
	__u32 resp_len;		/* bytes that the program takes; RING */
	__aligned_u64 resp_addr;	/* of struct srn_modify_srq_resp; RING */
};

struct srn_modify_srq_resp {
	__u32 comp_mask;
	__u32 entries;		/* power of two */
	__aligned_u64 mmap_offset;
	__aligned_u64 mmap_len;
};

/* Follows a 4-byte response, hence no 64-bit members. */
struct srn_create_ah_resp {
	__u32 ah;
};

#endif
