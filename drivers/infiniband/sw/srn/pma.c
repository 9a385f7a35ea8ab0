// SPDX-License-Identifier: GPL-2.0-only
/* IBTA's performance management class, as far as it is counters of the port.
 * ib_core asks for sysfs, a peer may ask over QP1; both may know.
 */
#include "pma.h"

#include <kunit/visibility.h>
#include <linux/export.h>
#include <rdma/ib_pma.h>

#include "device.h"

/* Counters of this class stop at their largest value. */
static u8 sat8(u64 v)
{
	return min_t(u64, v, U8_MAX);
}

static __be16 sat16(u64 v)
{
	return cpu_to_be16(min_t(u64, v, U16_MAX));
}

static __be32 sat32(u64 v)
{
	return cpu_to_be32(min_t(u64, v, U32_MAX));
}

/* Data counters count words of four bytes. */
static u64 words(struct srn_dev *dev, enum srn_counter c)
{
	return srn_stats_sum(dev, c) / 4;
}

static u64 sum(struct srn_dev *dev, enum srn_counter first, enum srn_counter last)
{
	enum srn_counter c;
	u64 n = 0;

	for (c = first; c <= last; c++)
		n += srn_stats_sum(dev, c);
	return n;
}

static void fill_class_info(struct ib_pma_mad *out)
{
	struct ib_class_port_info *info = (void *)out->data;

	info->base_version = IB_MGMT_BASE_VERSION;
	info->class_version = 1;
	info->capability_mask = IB_PMA_CLASS_CAP_EXT_WIDTH;
}

static void fill_counters(struct srn_dev *dev, struct ib_pma_mad *out)
{
	struct ib_pma_portcounters *c = (void *)out->data;

	c->port_select = 1;
	c->link_downed_counter = sat8(srn_stats_sum(dev, SRN_CNT_LINK_DOWNED));
	c->port_rcv_errors = sat16(sum(dev, SRN_CNT_RX_SHORT, SRN_CNT_RX_ICRC));
	c->port_xmit_discards = sat16(sum(dev, SRN_CNT_SEND_ERR, SRN_CNT_TX_NOMEM));
	c->port_xmit_data = sat32(words(dev, SRN_CNT_SENT_BYTES));
	c->port_rcv_data = sat32(words(dev, SRN_CNT_RCVD_BYTES));
	c->port_xmit_packets = sat32(srn_stats_sum(dev, SRN_CNT_SENT_PKTS));
	c->port_rcv_packets = sat32(srn_stats_sum(dev, SRN_CNT_RCVD_PKTS));
}

static void fill_counters_ext(struct srn_dev *dev, struct ib_pma_mad *out)
{
	struct ib_pma_portcounters_ext *c = (void *)out->data;

	c->port_select = 1;
	c->port_xmit_data = cpu_to_be64(words(dev, SRN_CNT_SENT_BYTES));
	c->port_rcv_data = cpu_to_be64(words(dev, SRN_CNT_RCVD_BYTES));
	c->port_xmit_packets = cpu_to_be64(srn_stats_sum(dev, SRN_CNT_SENT_PKTS));
	c->port_rcv_packets = cpu_to_be64(srn_stats_sum(dev, SRN_CNT_RCVD_PKTS));
	c->port_unicast_xmit_packets = c->port_xmit_packets;
	c->port_unicast_rcv_packets = c->port_rcv_packets;
}

/* Counters of a port are asked for by its number, the second byte. */
static bool is_for(const struct ib_mad *in, u32 port)
{
	return ((const struct ib_pma_mad *)in)->data[1] == port;
}

static __be16 answer(struct srn_dev *dev, u32 port, const struct ib_mad *in,
		     struct ib_pma_mad *out)
{
	switch (in->mad_hdr.attr_id) {
	case IB_PMA_CLASS_PORT_INFO:
		fill_class_info(out);
		return 0;
	case IB_PMA_PORT_COUNTERS:
		if (!is_for(in, port))
			break;
		fill_counters(dev, out);
		return 0;
	case IB_PMA_PORT_COUNTERS_EXT:
		if (!is_for(in, port))
			break;
		fill_counters_ext(dev, out);
		return 0;
	default:
		return cpu_to_be16(IB_MGMT_MAD_STATUS_UNSUPPORTED_METHOD_ATTRIB);
	}
	return cpu_to_be16(IB_MGMT_MAD_STATUS_INVALID_ATTRIB_VALUE);
}

int srn_process_mad(struct ib_device *ibdev, int flags, u32 port, const struct ib_wc *in_wc,
		    const struct ib_grh *in_grh, const struct ib_mad *in, struct ib_mad *out,
		    size_t *out_size, u16 *out_pkey_index)
{
	/* Success without reply: for others to process. Set too: the counters are not for
	 * any host of the network to change, and the core says that it is not supported.
	 */
	if (in->mad_hdr.mgmt_class != IB_MGMT_CLASS_PERF_MGMT ||
	    in->mad_hdr.method != IB_MGMT_METHOD_GET)
		return IB_MAD_RESULT_SUCCESS;

	memset(out, 0, sizeof(*out));
	out->mad_hdr = in->mad_hdr;
	out->mad_hdr.method = IB_MGMT_METHOD_GET_RESP;
	out->mad_hdr.status = answer(to_srn_dev(ibdev), port, in, (struct ib_pma_mad *)out);
	return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
}
EXPORT_SYMBOL_IF_KUNIT(srn_process_mad);
