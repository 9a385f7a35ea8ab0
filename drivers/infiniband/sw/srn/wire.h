/* SPDX-License-Identifier: GPL-2.0-only */
/* RoCEv2 on the wire (IBTA vol. 1 chapter 9, annexes A17 and A19): layouts and nothing else. */
#ifndef SRN_WIRE_H
#define SRN_WIRE_H

#include <linux/bitfield.h>
#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/types.h>

#define SRN_UDP_PORT		4791
#define SRN_ICRC_SIZE		4
#define SRN_QPN_MASK		0x00ffffffu
#define SRN_QPN_MULTICAST	0x00ffffffu
#define SRN_PKEY_DEFAULT	0xffffu
#define SRN_GSI_QKEY		0x80010000u
#define SRN_GRH_SIZE		40
#define SRN_CNP_RESERVED	16	/* zero bytes between the BTH and the ICRC of a CNP */

/* Base transport header. */
struct srn_bth {
	u8 opcode;
	u8 flags;		/* 7 solicited; 6 MigReq; 5:4 pad count; 3:0 header version, 0 */
	__be16 pkey;
	__be32 dqpn;		/* 31 FECN; 30 BECN; 29:24 reserved; 23:0 destination QP */
	__be32 apsn;		/* 31 AckReq; 30:24 reserved; 23:0 PSN */
};

static_assert(sizeof(struct srn_bth) == 12);

#define SRN_BTH_SE		BIT(7)
#define SRN_BTH_MIGREQ		BIT(6)
#define SRN_BTH_PAD		GENMASK(5, 4)
#define SRN_BTH_TVER		GENMASK(3, 0)
#define SRN_BTH_BECN		BIT(30)
#define SRN_BTH_QPN		GENMASK(23, 0)
#define SRN_BTH_ACKREQ		BIT(31)
#define SRN_BTH_PSN		GENMASK(23, 0)

/* Datagram extended transport header. */
struct srn_deth {
	__be32 qkey;
	__be32 sqpn;		/* 31:24 reserved; 23:0 source QP */
};

static_assert(sizeof(struct srn_deth) == 8);

/* RDMA extended transport header. The wire does not align its 64-bit fields. */
struct srn_reth {
	__be64 va;
	__be32 rkey;
	__be32 len;
} __packed;

static_assert(sizeof(struct srn_reth) == 16);

/* Atomic extended transport header. */
struct srn_atomic_eth {
	__be64 va;
	__be32 rkey;
	__be64 swap_add;
	__be64 compare;
} __packed;

static_assert(sizeof(struct srn_atomic_eth) == 28);

/* Acknowledge extended transport header. */
struct srn_aeth {
	__be32 smsn;		/* 31:24 syndrome; 23:0 message sequence number */
};

static_assert(sizeof(struct srn_aeth) == 4);

#define SRN_AETH_SYNDROME	GENMASK(31, 24)
#define SRN_AETH_MSN		GENMASK(23, 0)

/* Syndrome: 7:5 class, of which 2 and 4 to 7 are reserved; 4:0 value. */
#define SRN_SYN_CLASS		GENMASK(7, 5)
#define SRN_SYN_VALUE		GENMASK(4, 0)
#define SRN_SYN_ACK		0
#define SRN_SYN_RNR		1
#define SRN_SYN_NAK		3
#define SRN_SYN_ACK_UNLIMITED	0x1f	/* an ACK that carries no credit count */
#define SRN_SYN_RNR_NAK		0x20	/* | timer code */
#define SRN_SYN_NAK_SEQ		0x60
#define SRN_SYN_NAK_INV_REQ	0x61
#define SRN_SYN_NAK_ACCESS	0x62
#define SRN_SYN_NAK_OP		0x63

/* What an atomic returned. */
struct srn_atomic_ack_eth {
	__be64 orig;
} __packed;

static_assert(sizeof(struct srn_atomic_ack_eth) == 8);

/* Immediate data, and the key of SEND with invalidate: same place, same size. */
struct srn_imm {
	__be32 data;
};

static_assert(sizeof(struct srn_imm) == 4);

struct srn_ieth {
	__be32 rkey;
};

static_assert(sizeof(struct srn_ieth) == 4);

/* SACK packets (wire.rst): an AETH, this, and a map. */
struct srn_sack_fields {
	__be32 what;		/* 31:16 magic; 15:8 version; 7:0 kind */
	__be32 ahead;		/* 31: tells of marks; 30: answers in parts; 23:0 PSNs */
	__be32 twice;
};

static_assert(sizeof(struct srn_sack_fields) == 12);

#define SRN_SACK_WHAT_MAGIC	GENMASK(31, 16)
#define SRN_SACK_WHAT_VERSION	GENMASK(15, 8)
#define SRN_SACK_WHAT_KIND	GENMASK(7, 0)
#define SRN_SACK_AHEAD_TELLS	BIT(31)
#define SRN_SACK_AHEAD_PARTS	BIT(30)
#define SRN_SACK_AHEAD_PSNS	GENMASK(23, 0)
#define SRN_SACK_MAGIC		0x5352
#define SRN_SACK_VERSION	1
#define SRN_SYN_ANSWER		0x40	/* of a reserved class */

/* A hello (wire.rst): these in place of a RETH's address, key and length. */
struct srn_hello_fields {
	__be32 ahead;
	__be32 zero;		/* when sent; not looked at */
	__be32 what;
	__be32 len;		/* 0 */
};

static_assert(sizeof(struct srn_hello_fields) == sizeof(struct srn_reth));

/* Longest run of headers from BTH to payload: BTH + AtomicETH. */
#define SRN_MAX_HDR_LEN		(sizeof(struct srn_bth) + sizeof(struct srn_atomic_eth))

#endif
