/* SPDX-License-Identifier: GPL-2.0-only */
/* What a device promises, and why not more. Programs create objects at the
 * advertised limits (libfabric does), so each of these can really be allocated.
 */
#ifndef SRN_LIMITS_H
#define SRN_LIMITS_H

#include <linux/sizes.h>

#define SRN_MAX_SGE		32	/* what rxe has; fits a 1 KiB WQE */
#define SRN_MAX_INLINE		512	/* the room that 32 SGEs take anyway */
#define SRN_MAX_QP_WR		16384	/* 16 MiB of SQ at 1 KiB a WQE */
#define SRN_MAX_SRQ_WR		32768
#define SRN_MAX_CQE		(1 << 22)	/* 256 MiB of CQEs */
#define SRN_MAX_QP		65536
#define SRN_MAX_CQ		65536
#define SRN_MAX_SRQ		65536
#define SRN_MAX_PD		65536
#define SRN_MAX_AH		61440
#define SRN_MAX_MR		((1 << 20) - 65536)	/* keys, shared with windows */
#define SRN_MAX_MW		SRN_MAX_MR
/* QPs, CQs and SRQs, each, beyond the promise, for the kernel's own users. */
#define SRN_KERNEL_OBJECTS	4096
/* All the indices of address handles and of keys. What is beyond the promise is for the
 * kernel's own users: no program can keep rdma_cm or a file system from working.
 */
#define SRN_AH_INDICES		65535
#define SRN_KEY_INDICES		((1 << 20) - 1)
#define SRN_MAX_FRMR_PAGES	512	/* 2 MiB per fast registration */
#define SRN_MAX_RD_ATOMIC	128
#define SRN_MAX_MSG_SIZE	(1u << 31)	/* IBTA: 2^31 bytes */
#define SRN_MAX_COMP_VECTORS	64
#define SRN_MAX_PAYLOAD		4096	/* of a packet: the largest path MTU */
/* Completions of one event, as many as a program can say; and how long they wait for each other,
 * as long as mlx5 takes.
 */
#define SRN_MAX_MODERATE_COUNT	U16_MAX
#define SRN_MAX_MODERATE_US	4095

/* PSNs in flight per QP, and bytes: what queues on the way must fit into the
 * usual timeouts (67 ms) on slow paths too, and into a veth's backlog.
 */
#define SRN_WINDOW		256
#define SRN_WINDOW_BYTES	SZ_512K
/* As many for each of these that a path takes, while nothing queues on it (crowd.h), to a peer with SACK, up
 * to what that holds where the first one is lost.
 */
#define SRN_WINDOW_PATH_NS	10000000
#define SRN_WINDOW_WIDE		3072
#define SRN_WINDOW_WIDE_BYTES	(3 * SZ_1M)
/* WQEs that may have begun and not be done: as many complete at once when the answer to the oldest one comes. */
#define SRN_WINDOW_WQES		1024
/* Bytes (skb truesize) of a UC or UD QP's packets that may wait in the queues of this host,
 * more than a neighbour without an address holds (208 KiB); and how long a QP that finds
 * it full waits before it looks again, at first and at most.
 */
#define SRN_UNSENT_BYTES	SZ_256K
#define SRN_UNSENT_WAIT_NS	50000
#define SRN_UNSENT_WAIT_MAX_NS	3200000

/* Memory of the packets (skb truesize) that may wait for a QP's turn, and for those of all
 * QPs of a device; more is dropped as the network would. A QP: four windows of SRN_WINDOW_BYTES of
 * a peer that sends whole trains (of a long path's not all: that comes with the pace of the path), and
 * one where half of the device's is taken. Where all is taken, each
 * has its part of as much again, between the last two: it is not refused for what others hold.
 */
#define SRN_RXQ_BYTES		SZ_4M
#define SRN_RXQ_SCARCE_BYTES	SZ_1M
#define SRN_DEV_RXQ_BYTES	SZ_64M
#define SRN_RXQ_OWN_MAX_BYTES	SZ_256K
#define SRN_RXQ_OWN_MIN_BYTES	SZ_16K
/* Memory of the requests (skb truesize) that came early and are held: of a QP, of one where half
 * of what the device may hold is held, and of all; where all is held, each has its part of as much
 * again, and then none. And PSNs that they may be ahead, no more than a peer has in flight (window
 * and the READ that is sent last): whoever guesses a PSN within gets a forged packet executed.
 */
#define SRN_HOLD_BYTES		SZ_2M
#define SRN_HOLD_SCARCE_BYTES	SZ_256K
#define SRN_HOLD_LEAST_BYTES	SZ_16K
#define SRN_DEV_HOLD_BYTES	SZ_64M
#define SRN_HOLD_AHEAD		512
/* The same towards peers with SACK: a path of 200 Mb/s and 100 ms has 2.5 MB in flight, as much again goes
 * until what is lost of it has come, and once more until that has which was lost twice; in packets that take
 * somewhat more than twice their payload in memory.
 */
#define SRN_HOLD_WIDE		7680
#define SRN_HOLD_WIDE_BYTES	(18 * SZ_1M)
/* And for each while all together have more than that: so much memory, and as many PSNs as that has room for
 * with a path MTU of 1024, so that a peer stops in front of what would be dropped.
 */
#define SRN_HOLD_WIDE_EACH	SZ_8M
#define SRN_HOLD_WIDE_EACH_PSNS	3584

/* kb/s, of IB_QP_RATE_LIMIT: with less, the two packets that go at once take so long, of 4 KiB 67
 * ms with this, that a peer takes the wait behind them for silence.
 */
#define SRN_RATE_LIMIT_MIN	1000
#define SRN_RATE_LIMIT_MAX	U32_MAX

/* Packets (each way), and WQEs to be flushed, in one round of a QP. */
#define SRN_ROUND_BUDGET		64
/* Packets that go uncut no more after a loss: something on the way may lose all that does. */
#define SRN_RUN_DOUBT		1024
/* Below this many PSNs in flight the doorbell is wanted for each post. */
#define SRN_DB_INFLIGHT		16
/* A program that has left this many completions unpolled does not wait for the next. */
#define SRN_STREAM_CQES		16
/* Netdevs whose queues a device knows at a time (egress.c). */
#define SRN_EGRESS_SEEN		4

#endif
