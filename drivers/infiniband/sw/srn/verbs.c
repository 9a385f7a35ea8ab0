// SPDX-License-Identifier: GPL-2.0-only
/* The table of verbs, and those that only describe device and port. */
#include "verbs.h"

#include <linux/bits.h>
#include <linux/ethtool.h>
#include <linux/module.h>
#include <linux/rtnetlink.h>
#include <rdma/ib_mad.h>

#include "ah.h"
#include "cq.h"
#include "device.h"
#include "gid.h"
#include "mr.h"
#include "mw.h"
#include "pd.h"
#include "pma.h"
#include "post_kernel.h"
#include "qp.h"
#include "qp_create.h"
#include "qp_modify.h"
#include "restrack.h"
#include "shmem.h"
#include "srq.h"
#include "tally.h"
#include "ucontext.h"
#include "udata.h"
#include "wire.h"

#define GID_TABLE_LEN	1024
#define PKEY_TABLE_LEN	1	/* RoCE has the default partition only */
/* 4.096 us * 2^8 = 1 ms: what a busy CPU may keep an ACK waiting. */
#define ACK_DELAY	8

static int query_device(struct ib_device *ibdev, struct ib_device_attr *attr,
			struct ib_udata *udata)
{
	struct srn_query_device_resp resp = {
		.rate_limit_min = SRN_RATE_LIMIT_MIN,
		.rate_limit_max = SRN_RATE_LIMIT_MAX,
		.rate_limit_qpts = BIT(IB_QPT_RC) | BIT(IB_QPT_UC),
	};

	*attr = (struct ib_device_attr){
		.fw_ver = (u64)SRN_VERSION_MAJOR << 32 | SRN_VERSION_MINOR << 16 |
			  SRN_VERSION_PATCH,
		.sys_image_guid = ibdev->node_guid,
		.max_mr_size = U64_MAX,
		.page_size_cap = PAGE_MASK & U32_MAX,
		.vendor_id = 0xffffff,	/* not an OUI: nobody's hardware */
		.max_qp = SRN_MAX_QP,
		.max_qp_wr = SRN_MAX_QP_WR,
		.device_cap_flags = IB_DEVICE_BAD_PKEY_CNTR | IB_DEVICE_BAD_QKEY_CNTR |
				    IB_DEVICE_CURR_QP_STATE_MOD | IB_DEVICE_PORT_ACTIVE_EVENT |
				    IB_DEVICE_SYS_IMAGE_GUID | IB_DEVICE_RC_RNR_NAK_GEN |
				    IB_DEVICE_SRQ_RESIZE |
				    IB_DEVICE_MEM_MGT_EXTENSIONS | IB_DEVICE_MEM_WINDOW |
				    IB_DEVICE_MEM_WINDOW_TYPE_2B | IB_DEVICE_ATOMIC_WRITE,
		.kernel_cap_flags = IBK_ALLOW_USER_UNREG | IBK_LOCAL_DMA_LKEY,
		.max_send_sge = SRN_MAX_SGE,
		.max_recv_sge = SRN_MAX_SGE,
		.max_sge_rd = SRN_MAX_SGE,
		.max_cq = SRN_MAX_CQ,
		.max_cqe = SRN_MAX_CQE,
		.max_mr = SRN_MAX_MR,
		.max_pd = SRN_MAX_PD,
		.max_qp_rd_atom = SRN_MAX_RD_ATOMIC,
		.max_res_rd_atom = SRN_MAX_RD_ATOMIC * SRN_MAX_QP,
		.max_qp_init_rd_atom = SRN_MAX_RD_ATOMIC,
		/* Atomic towards the CPUs, too (GLOB), but programs look for HCA. */
		.atomic_cap = IB_ATOMIC_HCA,
		.masked_atomic_cap = IB_ATOMIC_NONE,
		.max_mw = SRN_MAX_MW,
		.max_ah = SRN_MAX_AH,
		.max_srq = SRN_MAX_SRQ,
		.max_srq_wr = SRN_MAX_SRQ_WR,
		.max_srq_sge = SRN_MAX_SGE,
		.max_fast_reg_page_list_len = SRN_MAX_FRMR_PAGES,
		.max_pkeys = PKEY_TABLE_LEN,
		.local_ca_ack_delay = ACK_DELAY,
		.timestamp_mask = U64_MAX,	/* CQEs carry CLOCK_MONOTONIC in ns */
		.hca_core_clock = 1000000,	/* kHz */
		.cq_caps = {
			.max_cq_moderation_count = SRN_MAX_MODERATE_COUNT,
			.max_cq_moderation_period = SRN_MAX_MODERATE_US,
		},
	};
	return srn_udata_out(udata, &resp, sizeof(resp));
}

static int modify_device(struct ib_device *ibdev, int mask, struct ib_device_modify *modify)
{
	if (mask & ~IB_DEVICE_MODIFY_NODE_DESC)
		return -EOPNOTSUPP;
	if (mask & IB_DEVICE_MODIFY_NODE_DESC)
		memcpy(ibdev->node_desc, modify->node_desc, sizeof(ibdev->node_desc));
	return 0;
}

static void get_dev_fw_str(struct ib_device *ibdev, char *str)
{
	strscpy(str, SRN_VERSION, IB_FW_VERSION_NAME_MAX);
}

/* Verbs know lanes and lane rates; the entry that comes closest from below. */
static const struct {
	u32 mbps;
	u8 width;
	u16 speed;
} rates[] = {
	{ 800000, IB_WIDTH_4X, IB_SPEED_XDR },
	{ 400000, IB_WIDTH_4X, IB_SPEED_NDR },
	{ 200000, IB_WIDTH_4X, IB_SPEED_HDR },
	{ 100000, IB_WIDTH_4X, IB_SPEED_EDR },
	{  50000, IB_WIDTH_2X, IB_SPEED_EDR },
	{  40000, IB_WIDTH_4X, IB_SPEED_QDR },
	{  25000, IB_WIDTH_1X, IB_SPEED_EDR },
	{  10000, IB_WIDTH_1X, IB_SPEED_QDR },
	{   5000, IB_WIDTH_1X, IB_SPEED_DDR },
	{      0, IB_WIDTH_1X, IB_SPEED_SDR },	/* or unknown, as with lo */
};

static u32 netdev_mbps(struct net_device *ndev)
{
	struct ethtool_link_ksettings ks = {};
	int err = -ENODEV;

	rtnl_lock();
	if (ndev->reg_state == NETREG_REGISTERED)
		err = __ethtool_get_link_ksettings(ndev, &ks);
	rtnl_unlock();
	return err || ks.base.speed == (u32)SPEED_UNKNOWN ? 0 : ks.base.speed;
}

static void set_rate(struct ib_port_attr *attr, u32 mbps)
{
	unsigned int i = 0;

	while (mbps < rates[i].mbps)
		i++;
	attr->active_width = rates[i].width;
	attr->active_speed = rates[i].speed;
}

static void set_state(struct ib_port_attr *attr, const struct net_device *ndev)
{
	if (srn_dev_port_is_up(ndev)) {
		attr->state = IB_PORT_ACTIVE;
		attr->phys_state = IB_PORT_PHYS_STATE_LINK_UP;
		return;
	}
	attr->state = IB_PORT_DOWN;
	attr->phys_state = netif_running(ndev) ? IB_PORT_PHYS_STATE_POLLING :
						 IB_PORT_PHYS_STATE_DISABLED;
}

static int query_port(struct ib_device *ibdev, u32 port, struct ib_port_attr *attr)
{
	struct srn_dev *dev = to_srn_dev(ibdev);
	u32 mbps = netdev_mbps(dev->ndev);

	WRITE_ONCE(dev->mbps, mbps);
	set_state(attr, dev->ndev);
	set_rate(attr, mbps);
	attr->max_mtu = IB_MTU_4096;
	attr->active_mtu = srn_dev_mtu(dev->ndev);
	attr->phys_mtu = ib_mtu_enum_to_int(attr->active_mtu);
	attr->gid_tbl_len = GID_TABLE_LEN;
	attr->ip_gids = true;
	attr->port_cap_flags = IB_PORT_CM_SUP;
	attr->max_msg_sz = SRN_MAX_MSG_SIZE;
	attr->bad_pkey_cntr = srn_stats_sum(dev, SRN_CNT_RX_BAD_PKEY);
	attr->qkey_viol_cntr = srn_stats_sum(dev, SRN_CNT_RX_BAD_QKEY);
	attr->pkey_tbl_len = PKEY_TABLE_LEN;
	attr->max_vl_num = 1;
	return 0;
}

static int get_port_immutable(struct ib_device *ibdev, u32 port,
			      struct ib_port_immutable *immutable)
{
	immutable->gid_tbl_len = GID_TABLE_LEN;
	immutable->pkey_tbl_len = PKEY_TABLE_LEN;
	immutable->core_cap_flags = RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP;
	immutable->max_mad_size = IB_MGMT_MAD_SIZE;
	return 0;
}

static enum rdma_link_layer get_link_layer(struct ib_device *ibdev, u32 port)
{
	return IB_LINK_LAYER_ETHERNET;
}

static int query_pkey(struct ib_device *ibdev, u32 port, u16 index, u16 *pkey)
{
	if (index >= PKEY_TABLE_LEN)
		return -EINVAL;
	*pkey = SRN_PKEY_DEFAULT;
	return 0;
}

static int alloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	/* Else an identity that keys and QPs compare. */
	srn_known_init(&to_srn_pd(pd)->known);
	return 0;
}

static int dealloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return 0;
}

const struct ib_device_ops srn_dev_ops = {
	.owner = THIS_MODULE,
	.driver_id = (enum rdma_driver_id)SRN_DRIVER_ID,
	.uverbs_abi_ver = SRN_ABI_VERSION,

	.enable_driver = srn_dev_enabled,
	.dealloc_driver = srn_dev_put,
	.query_device = query_device,
	.modify_device = modify_device,
	.get_dev_fw_str = get_dev_fw_str,
	.query_port = query_port,
	.get_port_immutable = get_port_immutable,
	.get_link_layer = get_link_layer,
	.query_pkey = query_pkey,
	.add_gid = srn_add_gid,
	.del_gid = srn_del_gid,

	.alloc_ucontext = srn_alloc_ucontext,
	.dealloc_ucontext = srn_dealloc_ucontext,
	.disassociate_ucontext = srn_disassociate_ucontext,
	.mmap = srn_mmap,
	.mmap_free = srn_mmap_free,

	.alloc_pd = alloc_pd,
	.dealloc_pd = dealloc_pd,

	.create_ah = srn_create_ah,
	.create_user_ah = srn_create_ah,
	.modify_ah = srn_modify_ah,
	.query_ah = srn_query_ah,
	.destroy_ah = srn_destroy_ah,

	.get_dma_mr = srn_get_dma_mr,
	.reg_user_mr = srn_reg_user_mr,
	.rereg_user_mr = srn_rereg_user_mr,
	.alloc_mr = srn_alloc_mr,
	.map_mr_sg = srn_map_mr_sg,
	.dereg_mr = srn_dereg_mr,
	.alloc_mw = srn_alloc_mw,
	.dealloc_mw = srn_dealloc_mw,

	.create_cq = srn_create_cq,
	.modify_cq = srn_modify_cq,
	.resize_cq = srn_resize_cq,
	.poll_cq = srn_poll_cq,
	.req_notify_cq = srn_req_notify_cq,
	.destroy_cq = srn_destroy_cq,

	.create_srq = srn_create_srq,
	.modify_srq = srn_modify_srq,
	.query_srq = srn_query_srq,
	.post_srq_recv = srn_post_srq_recv,
	.destroy_srq = srn_destroy_srq,

	.create_qp = srn_create_qp,
	.modify_qp = srn_modify_qp,
	.query_qp = srn_query_qp,
	.post_send = srn_post_send,
	.post_recv = srn_post_recv,
	.destroy_qp = srn_destroy_qp,

	.alloc_hw_port_stats = srn_stats_alloc,
	.get_hw_stats = srn_stats_get,
	.process_mad = srn_process_mad,

	.counter_alloc_stats = srn_tally_alloc_stats,
	.counter_bind_qp = srn_tally_bind,
	.counter_unbind_qp = srn_tally_unbind,
	.counter_update_stats = srn_tally_update,
	.counter_dealloc = srn_tally_dealloc,

	.fill_res_qp_entry = srn_fill_res_qp,
	.fill_res_cq_entry = srn_fill_res_cq,
	.fill_res_mr_entry = srn_fill_res_mr,
	.fill_res_srq_entry = srn_fill_res_srq,

	INIT_RDMA_OBJ_SIZE(ib_ah, srn_ah, ibah),
	INIT_RDMA_OBJ_SIZE(ib_cq, srn_cq, ibcq),
	INIT_RDMA_OBJ_SIZE(ib_mw, srn_mw, ibmw),
	INIT_RDMA_OBJ_SIZE(ib_pd, srn_pd, ibpd),
	INIT_RDMA_OBJ_SIZE(ib_qp, srn_qp, ibqp),
	INIT_RDMA_OBJ_SIZE(ib_srq, srn_srq, ibsrq),
	INIT_RDMA_OBJ_SIZE(ib_ucontext, srn_ucontext, ibuc),
};
