/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The wire format of RoCE v2 as this device writes and reads it: headers,
 * packet sequence number arithmetic, and the table of opcodes. Header fields
 * stay big-endian until they are used.
 */
#ifndef QRDMA_WIRE_H
#define QRDMA_WIRE_H

#include <linux/types.h>
#include <linux/build_bug.h>
#include <rdma/ib_pack.h>
#include <rdma/ib_hdrs.h>
#include <rdma/ib_verbs.h>

/* Base transport header, IBTA volume 1, 9.2. */
struct qrdma_bth {
	u8	opcode;
	u8	flags;		/* solicited, migration, pad count, version */
	__be16	pkey;
	__be32	dqpn;		/* FECN, BECN, 6 reserved bits, 24 of QP number */
	__be32	apsn;		/* AckReq, 7 reserved bits, 24 of PSN */
};

static_assert(sizeof(struct qrdma_bth) == 12);

#define QRDMA_BTH_SE		0x80
#define QRDMA_BTH_MIG		0x40
#define QRDMA_BTH_PAD_SHIFT	4
#define QRDMA_BTH_PAD_MASK	0x30
#define QRDMA_BTH_VER_MASK	0x0f
#define QRDMA_BTH_ACK_REQ	BIT(31)
#define QRDMA_QPN_MASK		0x00ffffff
#define QRDMA_PSN_MASK		0x00ffffff

/* Datagram extended transport header, 9.3.1. */
struct qrdma_deth {
	__be32	qkey;
	__be32	sqpn;
};

static_assert(sizeof(struct qrdma_deth) == 8);

/* RDMA extended transport header, 9.3.3. */
struct qrdma_reth {
	__be64	va;
	__be32	rkey;
	__be32	len;
} __packed;

static_assert(sizeof(struct qrdma_reth) == 16);

/* Atomic extended transport header, 9.3.4. */
struct qrdma_atmeth {
	__be64	va;
	__be32	rkey;
	__be64	swap_add;
	__be64	compare;
} __packed;

static_assert(sizeof(struct qrdma_atmeth) == 28);

/* ACK extended transport header, 9.3.5. */
struct qrdma_aeth {
	__be32	smsn;		/* syndrome, 24 bits of message number */
};

static_assert(sizeof(struct qrdma_aeth) == 4);

/* Syndrome: the three upper bits give the kind, 9.7.5.2.1 */
#define QRDMA_AETH_KIND		0xe0
#define QRDMA_AETH_VALUE	0x1f
#define QRDMA_AETH_ACK		0x00
#define QRDMA_AETH_RNR		0x20
#define QRDMA_AETH_NAK		0x60
#define QRDMA_AETH_NO_CREDIT	0x1f	/* credits are not limited */
#define QRDMA_NAK_PSN_SEQ	0
#define QRDMA_NAK_INV_REQ	1
#define QRDMA_NAK_REM_ACC	2
#define QRDMA_NAK_REM_OP	3

/* Flush extended transport header, annex A19.4.1. */
struct qrdma_feth {
	__be32	bits;		/* selectivity level and placement type */
};

static_assert(sizeof(struct qrdma_feth) == 4);

#define QRDMA_FETH_GLOBAL	BIT(0)
#define QRDMA_FETH_PERSISTENT	BIT(1)
#define QRDMA_FETH_PLT_MASK	0x0f
#define QRDMA_FETH_SEL_SHIFT	4
#define QRDMA_FETH_SEL_MASK	0x30

struct qrdma_atmack {
	__be64	orig;
} __packed;

static_assert(sizeof(struct qrdma_atmack) == 8);

#define QRDMA_ICRC_SIZE		4
#define QRDMA_UDP_PORT		4791
#define QRDMA_DEF_PKEY		0xffff
#define QRDMA_GRH_SIZE		40
#define QRDMA_MAX_PAYLOAD	4096
/* The longest run of transport headers: BTH, RETH or AtomicETH, ImmDt. */
#define QRDMA_MAX_HDR		(12 + 28 + 4)
/* What the netdev's MTU must hold besides the payload; IPv6, UDP, BTH, the
 * longest extended header and ICRC.
 */
#define QRDMA_MTU_OVERHEAD	(40 + 8 + 12 + 28 + 4)

/* The bits of an opcode that tell RC, UC and UD apart. */
#define QRDMA_OPCODE_TRANSPORT	0xe0

/* What an opcode is, and which headers follow the BTH. */
#define QRDMA_OP_REQUEST	BIT(0)
#define QRDMA_OP_RESPONSE	BIT(1)
#define QRDMA_OP_SEND		BIT(2)
#define QRDMA_OP_WRITE		BIT(3)
#define QRDMA_OP_READ		BIT(4)
#define QRDMA_OP_ATOMIC		BIT(5)
#define QRDMA_OP_ACK		BIT(6)
#define QRDMA_OP_START		BIT(7)	/* first packet of a message */
#define QRDMA_OP_END		BIT(8)	/* last packet of a message */
#define QRDMA_OP_PAYLOAD	BIT(9)
#define QRDMA_OP_IMM		BIT(10)
#define QRDMA_OP_INV		BIT(11)
#define QRDMA_OP_RETH		BIT(12)
#define QRDMA_OP_ATMETH		BIT(13)
#define QRDMA_OP_AETH		BIT(14)
#define QRDMA_OP_ATMACK		BIT(15)
#define QRDMA_OP_DETH		BIT(16)
#define QRDMA_OP_ATOMIC_WRITE	BIT(17)
#define QRDMA_OP_FLUSH		BIT(18)
/* Requests that are answered by more than an acknowledge. */
#define QRDMA_OP_ANSWERED	(QRDMA_OP_READ | QRDMA_OP_ATOMIC | \
				 QRDMA_OP_ATOMIC_WRITE | QRDMA_OP_FLUSH)

/**
 * struct qrdma_opcode - one entry of the opcode table
 * @name: as IBTA table 38 spells it; NULL where the opcode is reserved
 * @flags: QRDMA_OP_*
 * @hdr_len: bytes of BTH and extended headers; 0 where a packet is dropped
 * @ext: offset of the RETH, AtomicETH, AETH or DETH from the BTH
 * @imm: offset of ImmDt, IETH or FETH from the BTH
 */
struct qrdma_opcode {
	const char	*name;
	u32		flags;
	u8		hdr_len;
	u8		ext;
	u8		imm;
};

extern const struct qrdma_opcode qrdma_opcodes[256];

/* Distance from PSN @b to @a, negative where @a comes first. */
static inline s32 qrdma_psn_diff(u32 a, u32 b)
{
	return (s32)((a - b) << 8) >> 8;
}

static inline u32 qrdma_psn_add(u32 psn, u32 n)
{
	return (psn + n) & QRDMA_PSN_MASK;
}

static inline u32 qrdma_bth_qpn(const struct qrdma_bth *bth)
{
	return be32_to_cpu(bth->dqpn) & QRDMA_QPN_MASK;
}

static inline u32 qrdma_bth_psn(const struct qrdma_bth *bth)
{
	return be32_to_cpu(bth->apsn) & QRDMA_PSN_MASK;
}

static inline unsigned int qrdma_bth_pad(const struct qrdma_bth *bth)
{
	return (bth->flags & QRDMA_BTH_PAD_MASK) >> QRDMA_BTH_PAD_SHIFT;
}

/* What every packet of this device begins with; seal adds the pad count. */
static inline void qrdma_bth_fill(struct qrdma_bth *bth, u8 opcode, u32 dqpn,
				  u32 psn)
{
	bth->opcode = opcode;
	bth->flags = QRDMA_BTH_MIG;
	bth->pkey = cpu_to_be16(QRDMA_DEF_PKEY);
	bth->dqpn = cpu_to_be32(dqpn);
	bth->apsn = cpu_to_be32(psn);
}

#endif
