// SPDX-License-Identifier: GPL-2.0-only
/*
 * The counters of a device as "rdma statistic show" and sysfs see them. Names
 * are those of mlx5 where the meaning is. Runs in process context.
 */
#include "qrdma.h"

static const struct rdma_stat_desc descs[] = {
	[QRDMA_CNT_TX_PKTS].name = "tx_pkts",
	[QRDMA_CNT_RX_PKTS].name = "rx_pkts",
	[QRDMA_CNT_TX_LISTS].name = "tx_lists",
	[QRDMA_CNT_RX_LISTS].name = "rx_lists",
	[QRDMA_CNT_TX_ERRORS].name = "tx_errors",
	[QRDMA_CNT_RX_ICRC_ENCAPSULATED].name = "rx_icrc_encapsulated",
	[QRDMA_CNT_RX_MALFORMED].name = "rx_malformed",
	[QRDMA_CNT_RX_NO_QP].name = "rx_no_qp",
	[QRDMA_CNT_RX_BAD_KEY].name = "rx_bad_key",
	[QRDMA_CNT_RX_MSG_DROPPED].name = "rx_msg_dropped",
	[QRDMA_CNT_OUT_OF_SEQUENCE].name = "out_of_sequence",
	[QRDMA_CNT_DUPLICATE_REQUEST].name = "duplicate_request",
	[QRDMA_CNT_PACKET_SEQ_ERR].name = "packet_seq_err",
	[QRDMA_CNT_IMPLIED_NAK_SEQ_ERR].name = "implied_nak_seq_err",
	[QRDMA_CNT_LOCAL_ACK_TIMEOUT_ERR].name = "local_ack_timeout_err",
	[QRDMA_CNT_RNR_NAK_SENT].name = "rnr_nak_sent",
	[QRDMA_CNT_RNR_NAK_RETRY_ERR].name = "rnr_nak_retry_err",
	[QRDMA_CNT_RETRY_EXCEEDED].name = "retry_exceeded_err",
	[QRDMA_CNT_TAIL_PROBES].name = "tail_probes",
	[QRDMA_CNT_RETRANSMITTED].name = "retransmitted",
	[QRDMA_CNT_RX_READ_REQUESTS].name = "rx_read_requests",
	[QRDMA_CNT_RX_WRITE_REQUESTS].name = "rx_write_requests",
	[QRDMA_CNT_RX_ATOMIC_REQUESTS].name = "rx_atomic_requests",
	[QRDMA_CNT_REQ_REMOTE_ACCESS_ERRORS].name = "req_remote_access_errors",
	[QRDMA_CNT_RESP_REMOTE_ACCESS_ERRORS].name = "resp_remote_access_errors",
	[QRDMA_CNT_REQ_REMOTE_INVALID_REQUEST].name = "req_remote_invalid_request",
	[QRDMA_CNT_RESP_LOCAL_LENGTH_ERROR].name = "resp_local_length_error",
	[QRDMA_CNT_REQ_CQE_ERROR].name = "req_cqe_error",
	[QRDMA_CNT_REQ_CQE_FLUSH_ERROR].name = "req_cqe_flush_error",
	[QRDMA_CNT_RESP_CQE_ERROR].name = "resp_cqe_error",
	[QRDMA_CNT_RESP_CQE_FLUSH_ERROR].name = "resp_cqe_flush_error",
	[QRDMA_CNT_OUT_OF_BUFFER].name = "out_of_buffer",
};

static_assert(ARRAY_SIZE(descs) == QRDMA_NUM_COUNTERS);

static struct rdma_hw_stats *alloc_hw_port_stats(struct ib_device *ibdev,
						 u32 port)
{
	return rdma_alloc_hw_stats_struct(descs, ARRAY_SIZE(descs),
					  RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

static int get_hw_stats(struct ib_device *ibdev, struct rdma_hw_stats *stats,
			u32 port, int index)
{
	const struct qrdma_dev *dev = to_qdev(ibdev);
	const struct qrdma_stats *s;
	int cpu, i;

	if (!port)
		return -EINVAL;

	memset(stats->value, 0, sizeof(stats->value[0]) * ARRAY_SIZE(descs));
	for_each_possible_cpu(cpu) {
		s = per_cpu_ptr(dev->stats, cpu);
		for (i = 0; i < ARRAY_SIZE(descs); i++)
			stats->value[i] += READ_ONCE(s->cnt[i]);
	}
	return ARRAY_SIZE(descs);
}

const struct ib_device_ops qrdma_stats_ops = {
	.alloc_hw_port_stats = alloc_hw_port_stats,
	.get_hw_stats = get_hw_stats,
};
