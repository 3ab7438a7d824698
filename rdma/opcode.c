// SPDX-License-Identifier: GPL-2.0-only
/*
 * The protocol as one const table: what each opcode is and which headers
 * follow its BTH. IBTA volume 1, table 38. What is reserved or not supported
 * has no name; of those, RC's are requests that the responder refuses.
 */
#include "wire.h"

#define BTH	sizeof(struct qrdma_bth)
#define RETH	sizeof(struct qrdma_reth)
#define ATMETH	sizeof(struct qrdma_atmeth)
#define AETH	sizeof(struct qrdma_aeth)
#define ATMACK	sizeof(struct qrdma_atmack)
#define DETH	sizeof(struct qrdma_deth)
#define FETH	sizeof(struct qrdma_feth)
#define IMM	4

#define REQ	QRDMA_OP_REQUEST
#define RSP	QRDMA_OP_RESPONSE
#define FIRST	QRDMA_OP_START
#define LAST	QRDMA_OP_END
#define ONLY	(QRDMA_OP_START | QRDMA_OP_END)
#define DATA	QRDMA_OP_PAYLOAD

const struct qrdma_opcode qrdma_opcodes[256] = {
	[IB_OPCODE_RC_SEND_FIRST] = {
		.name = "RC_SEND_FIRST",
		.flags = REQ | QRDMA_OP_SEND | FIRST | DATA,
		.hdr_len = BTH,
	},
	[IB_OPCODE_RC_SEND_MIDDLE] = {
		.name = "RC_SEND_MIDDLE",
		.flags = REQ | QRDMA_OP_SEND | DATA,
		.hdr_len = BTH,
	},
	[IB_OPCODE_RC_SEND_LAST] = {
		.name = "RC_SEND_LAST",
		.flags = REQ | QRDMA_OP_SEND | LAST | DATA,
		.hdr_len = BTH,
	},
	[IB_OPCODE_RC_SEND_LAST_WITH_IMMEDIATE] = {
		.name = "RC_SEND_LAST_WITH_IMMEDIATE",
		.flags = REQ | QRDMA_OP_SEND | LAST | DATA | QRDMA_OP_IMM,
		.hdr_len = BTH + IMM,
		.imm = BTH,
	},
	[IB_OPCODE_RC_SEND_ONLY] = {
		.name = "RC_SEND_ONLY",
		.flags = REQ | QRDMA_OP_SEND | ONLY | DATA,
		.hdr_len = BTH,
	},
	[IB_OPCODE_RC_SEND_ONLY_WITH_IMMEDIATE] = {
		.name = "RC_SEND_ONLY_WITH_IMMEDIATE",
		.flags = REQ | QRDMA_OP_SEND | ONLY | DATA | QRDMA_OP_IMM,
		.hdr_len = BTH + IMM,
		.imm = BTH,
	},
	[IB_OPCODE_RC_SEND_LAST_WITH_INVALIDATE] = {
		.name = "RC_SEND_LAST_WITH_INVALIDATE",
		.flags = REQ | QRDMA_OP_SEND | LAST | DATA | QRDMA_OP_INV,
		.hdr_len = BTH + IMM,
		.imm = BTH,
	},
	[IB_OPCODE_RC_SEND_ONLY_WITH_INVALIDATE] = {
		.name = "RC_SEND_ONLY_WITH_INVALIDATE",
		.flags = REQ | QRDMA_OP_SEND | ONLY | DATA | QRDMA_OP_INV,
		.hdr_len = BTH + IMM,
		.imm = BTH,
	},
	[IB_OPCODE_RC_RDMA_WRITE_FIRST] = {
		.name = "RC_RDMA_WRITE_FIRST",
		.flags = REQ | QRDMA_OP_WRITE | FIRST | DATA | QRDMA_OP_RETH,
		.hdr_len = BTH + RETH,
		.ext = BTH,
	},
	[IB_OPCODE_RC_RDMA_WRITE_MIDDLE] = {
		.name = "RC_RDMA_WRITE_MIDDLE",
		.flags = REQ | QRDMA_OP_WRITE | DATA,
		.hdr_len = BTH,
	},
	[IB_OPCODE_RC_RDMA_WRITE_LAST] = {
		.name = "RC_RDMA_WRITE_LAST",
		.flags = REQ | QRDMA_OP_WRITE | LAST | DATA,
		.hdr_len = BTH,
	},
	[IB_OPCODE_RC_RDMA_WRITE_LAST_WITH_IMMEDIATE] = {
		.name = "RC_RDMA_WRITE_LAST_WITH_IMMEDIATE",
		.flags = REQ | QRDMA_OP_WRITE | LAST | DATA | QRDMA_OP_IMM,
		.hdr_len = BTH + IMM,
		.imm = BTH,
	},
	[IB_OPCODE_RC_RDMA_WRITE_ONLY] = {
		.name = "RC_RDMA_WRITE_ONLY",
		.flags = REQ | QRDMA_OP_WRITE | ONLY | DATA | QRDMA_OP_RETH,
		.hdr_len = BTH + RETH,
		.ext = BTH,
	},
	[IB_OPCODE_RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE] = {
		.name = "RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE",
		.flags = REQ | QRDMA_OP_WRITE | ONLY | DATA | QRDMA_OP_RETH |
			 QRDMA_OP_IMM,
		.hdr_len = BTH + RETH + IMM,
		.ext = BTH,
		.imm = BTH + RETH,
	},
	[IB_OPCODE_RC_RDMA_READ_REQUEST] = {
		.name = "RC_RDMA_READ_REQUEST",
		.flags = REQ | QRDMA_OP_READ | ONLY | QRDMA_OP_RETH,
		.hdr_len = BTH + RETH,
		.ext = BTH,
	},
	[IB_OPCODE_RC_RDMA_READ_RESPONSE_FIRST] = {
		.name = "RC_RDMA_READ_RESPONSE_FIRST",
		.flags = RSP | QRDMA_OP_READ | FIRST | DATA | QRDMA_OP_AETH,
		.hdr_len = BTH + AETH,
		.ext = BTH,
	},
	[IB_OPCODE_RC_RDMA_READ_RESPONSE_MIDDLE] = {
		.name = "RC_RDMA_READ_RESPONSE_MIDDLE",
		.flags = RSP | QRDMA_OP_READ | DATA,
		.hdr_len = BTH,
	},
	[IB_OPCODE_RC_RDMA_READ_RESPONSE_LAST] = {
		.name = "RC_RDMA_READ_RESPONSE_LAST",
		.flags = RSP | QRDMA_OP_READ | LAST | DATA | QRDMA_OP_AETH,
		.hdr_len = BTH + AETH,
		.ext = BTH,
	},
	[IB_OPCODE_RC_RDMA_READ_RESPONSE_ONLY] = {
		.name = "RC_RDMA_READ_RESPONSE_ONLY",
		.flags = RSP | QRDMA_OP_READ | ONLY | DATA | QRDMA_OP_AETH,
		.hdr_len = BTH + AETH,
		.ext = BTH,
	},
	[IB_OPCODE_RC_ACKNOWLEDGE] = {
		.name = "RC_ACKNOWLEDGE",
		.flags = RSP | QRDMA_OP_ACK | ONLY | QRDMA_OP_AETH,
		.hdr_len = BTH + AETH,
		.ext = BTH,
	},
	[IB_OPCODE_RC_ATOMIC_ACKNOWLEDGE] = {
		.name = "RC_ATOMIC_ACKNOWLEDGE",
		.flags = RSP | QRDMA_OP_ATOMIC | ONLY | QRDMA_OP_AETH |
			 QRDMA_OP_ATMACK,
		.hdr_len = BTH + AETH + ATMACK,
		.ext = BTH,
	},
	[IB_OPCODE_RC_COMPARE_SWAP] = {
		.name = "RC_COMPARE_SWAP",
		.flags = REQ | QRDMA_OP_ATOMIC | ONLY | QRDMA_OP_ATMETH,
		.hdr_len = BTH + ATMETH,
		.ext = BTH,
	},
	[IB_OPCODE_RC_FETCH_ADD] = {
		.name = "RC_FETCH_ADD",
		.flags = REQ | QRDMA_OP_ATOMIC | ONLY | QRDMA_OP_ATMETH,
		.hdr_len = BTH + ATMETH,
		.ext = BTH,
	},
	[0x15] = {
		.flags = REQ | DATA,
		.hdr_len = BTH,
	},
	[0x18 ... 0x1b] = {
		.flags = REQ | DATA,
		.hdr_len = BTH,
	},
	[0x1e ... 0x1f] = {
		.flags = REQ | DATA,
		.hdr_len = BTH,
	},
	/* Annex A19. */
	[IB_OPCODE_RC_FLUSH] = {
		.name = "RC_FLUSH",
		.flags = REQ | QRDMA_OP_FLUSH | ONLY | QRDMA_OP_RETH,
		.hdr_len = BTH + FETH + RETH,
		.ext = BTH + FETH,
		.imm = BTH,
	},
	[IB_OPCODE_RC_ATOMIC_WRITE] = {
		.name = "RC_ATOMIC_WRITE",
		.flags = REQ | QRDMA_OP_ATOMIC_WRITE | ONLY | DATA |
			 QRDMA_OP_RETH,
		.hdr_len = BTH + RETH,
		.ext = BTH,
	},
	[IB_OPCODE_UC_SEND_FIRST] = {
		.name = "UC_SEND_FIRST",
		.flags = REQ | QRDMA_OP_SEND | FIRST | DATA,
		.hdr_len = BTH,
	},
	[IB_OPCODE_UC_SEND_MIDDLE] = {
		.name = "UC_SEND_MIDDLE",
		.flags = REQ | QRDMA_OP_SEND | DATA,
		.hdr_len = BTH,
	},
	[IB_OPCODE_UC_SEND_LAST] = {
		.name = "UC_SEND_LAST",
		.flags = REQ | QRDMA_OP_SEND | LAST | DATA,
		.hdr_len = BTH,
	},
	[IB_OPCODE_UC_SEND_LAST_WITH_IMMEDIATE] = {
		.name = "UC_SEND_LAST_WITH_IMMEDIATE",
		.flags = REQ | QRDMA_OP_SEND | LAST | DATA | QRDMA_OP_IMM,
		.hdr_len = BTH + IMM,
		.imm = BTH,
	},
	[IB_OPCODE_UC_SEND_ONLY] = {
		.name = "UC_SEND_ONLY",
		.flags = REQ | QRDMA_OP_SEND | ONLY | DATA,
		.hdr_len = BTH,
	},
	[IB_OPCODE_UC_SEND_ONLY_WITH_IMMEDIATE] = {
		.name = "UC_SEND_ONLY_WITH_IMMEDIATE",
		.flags = REQ | QRDMA_OP_SEND | ONLY | DATA | QRDMA_OP_IMM,
		.hdr_len = BTH + IMM,
		.imm = BTH,
	},
	[IB_OPCODE_UC_RDMA_WRITE_FIRST] = {
		.name = "UC_RDMA_WRITE_FIRST",
		.flags = REQ | QRDMA_OP_WRITE | FIRST | DATA | QRDMA_OP_RETH,
		.hdr_len = BTH + RETH,
		.ext = BTH,
	},
	[IB_OPCODE_UC_RDMA_WRITE_MIDDLE] = {
		.name = "UC_RDMA_WRITE_MIDDLE",
		.flags = REQ | QRDMA_OP_WRITE | DATA,
		.hdr_len = BTH,
	},
	[IB_OPCODE_UC_RDMA_WRITE_LAST] = {
		.name = "UC_RDMA_WRITE_LAST",
		.flags = REQ | QRDMA_OP_WRITE | LAST | DATA,
		.hdr_len = BTH,
	},
	[IB_OPCODE_UC_RDMA_WRITE_LAST_WITH_IMMEDIATE] = {
		.name = "UC_RDMA_WRITE_LAST_WITH_IMMEDIATE",
		.flags = REQ | QRDMA_OP_WRITE | LAST | DATA | QRDMA_OP_IMM,
		.hdr_len = BTH + IMM,
		.imm = BTH,
	},
	[IB_OPCODE_UC_RDMA_WRITE_ONLY] = {
		.name = "UC_RDMA_WRITE_ONLY",
		.flags = REQ | QRDMA_OP_WRITE | ONLY | DATA | QRDMA_OP_RETH,
		.hdr_len = BTH + RETH,
		.ext = BTH,
	},
	[IB_OPCODE_UC_RDMA_WRITE_ONLY_WITH_IMMEDIATE] = {
		.name = "UC_RDMA_WRITE_ONLY_WITH_IMMEDIATE",
		.flags = REQ | QRDMA_OP_WRITE | ONLY | DATA | QRDMA_OP_RETH |
			 QRDMA_OP_IMM,
		.hdr_len = BTH + RETH + IMM,
		.ext = BTH,
		.imm = BTH + RETH,
	},
	[IB_OPCODE_UD_SEND_ONLY] = {
		.name = "UD_SEND_ONLY",
		.flags = REQ | QRDMA_OP_SEND | ONLY | DATA | QRDMA_OP_DETH,
		.hdr_len = BTH + DETH,
		.ext = BTH,
	},
	[IB_OPCODE_UD_SEND_ONLY_WITH_IMMEDIATE] = {
		.name = "UD_SEND_ONLY_WITH_IMMEDIATE",
		.flags = REQ | QRDMA_OP_SEND | ONLY | DATA | QRDMA_OP_DETH |
			 QRDMA_OP_IMM,
		.hdr_len = BTH + DETH + IMM,
		.ext = BTH,
		.imm = BTH + DETH,
	},
};
