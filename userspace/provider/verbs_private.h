// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// What libibverbs and its providers agree on, and the installed headers do not declare.
//
// libibverbs versions this interface by the symbol verbs_register_driver_<n>; <n> is 34 for
// rdma-core 34 to 56. Everything below is written from the layout facts that the static assertions
// state; srn_provider_abi_test compares it with the library that is installed.
//
// A later rdma-core needs a branch here where SRN_PABI is checked:
//   57  ibv_cmd_get_context() takes `void *fd_arr` before the response
//   59  three slots more (alloc_dmah, dealloc_dmah, reg_mr_ex), ibv_cmd_create_cq_ex() takes
//       `void *prov_attr` after the attributes
//   64  two slots more (alloc_buf, free_buf), ibv_cmd_create_qp_ex2() takes `void *driver` last
// Slots are sorted by name: one that is added moves all that follow.
#pragma once

#include <infiniband/verbs.h>
#include <sys/types.h>
#include <time.h>

#include <cstddef>
#include <cstdint>

#if !defined(SRN_IBVERBS_VERSION) || !defined(SRN_PABI)
#error "the build defines SRN_IBVERBS_VERSION and SRN_PABI, see CMakeLists.txt"
#elif SRN_IBVERBS_VERSION < 36 || SRN_IBVERBS_VERSION > 56 || SRN_PABI != 34
#error "this rdma-core has another private interface: see the head of this file"
#endif

#define SRN_PABI_CAT_(name, version) name##version
#define SRN_PABI_NAME_(name, version) SRN_PABI_CAT_(name, version)
#define verbs_register_driver SRN_PABI_NAME_(verbs_register_driver_, SRN_PABI)

struct verbs_device;

struct verbs_list_node {
  verbs_list_node* next;
  verbs_list_node* prev;
};

enum verbs_match_kind : uint8_t {
  VERBS_MATCH_SENTINEL = 0,
  VERBS_MATCH_PCI = 1,
  VERBS_MATCH_MODALIAS = 2,
  VERBS_MATCH_DRIVER_ID = 3,
};

// One way to recognize a device of the provider.
struct verbs_match_ent {
  void* driver_data;
  union {
    const char* modalias;
    uint64_t driver_id;
  } u;
  uint16_t vendor;
  uint16_t device;
  uint8_t kind;
};

// A device that libibverbs found and has not opened.
struct verbs_sysfs_dev {
  verbs_list_node entry;
  void* provider_data;
  const verbs_match_ent* match;
  unsigned int flags;
  char sysfs_name[IBV_SYSFS_NAME_MAX];
  dev_t sysfs_cdev;
  char ibdev_name[IBV_SYSFS_NAME_MAX];
  char ibdev_path[IBV_SYSFS_PATH_MAX];
  char modalias[512];
  uint64_t node_guid;
  uint32_t driver_id;
  ibv_node_type node_type;
  int ibdev_idx;
  uint32_t num_ports;
  uint32_t abi_ver;
  timespec time_created;
};

// What a provider registers.
struct verbs_device_ops {
  const char* name;
  uint32_t match_min_abi_version;
  uint32_t match_max_abi_version;
  const verbs_match_ent* match_table;
  const verbs_device_ops** static_providers;
  bool (*match_device)(verbs_sysfs_dev* sysfs_dev);
  verbs_context* (*alloc_context)(ibv_device* device, int cmd_fd, void* private_data);
  verbs_context* (*import_context)(ibv_device* device, int cmd_fd);
  verbs_device* (*alloc_device)(verbs_sysfs_dev* sysfs_dev);
  void (*uninit_device)(verbs_device* device);
};

struct verbs_device {
  ibv_device device;
  const verbs_device_ops* ops;
  int refcount;
  verbs_list_node entry;
  verbs_sysfs_dev* sysfs;
  uint64_t core_support;
};

struct verbs_xrcd;

struct verbs_srq {
  ibv_srq srq;
  ibv_srq_type srq_type;
  verbs_xrcd* xrcd;
  ibv_cq* cq;
  uint32_t srq_num;
};

struct verbs_mr {
  ibv_mr mr;
  int mr_type;
  int access;
};

// verbs_qp.comp_mask: qp_ex is valid, ibv_qp_to_qp_ex() may return it.
inline constexpr uint32_t VERBS_QP_EX = 1U << 1;

struct verbs_qp {
  union {
    ibv_qp qp;
    ibv_qp_ex qp_ex;
  };
  uint32_t comp_mask;
  verbs_xrcd* xrcd;
};

struct verbs_cq {
  union {
    ibv_cq cq;
    ibv_cq_ex cq_ex;
  };
};

// A slot that srn leaves empty: libibverbs answers EOPNOTSUPP.
using verbs_unused_op = void (*)();

// The operations of a context, sorted by name; one pointer each.
struct verbs_context_ops {
  verbs_unused_op advise_mr;
  verbs_unused_op alloc_dm;
  ibv_mw* (*alloc_mw)(ibv_pd* pd, ibv_mw_type type);
  verbs_unused_op alloc_null_mr;
  ibv_pd* (*alloc_parent_domain)(ibv_context* context, ibv_parent_domain_init_attr* attr);
  ibv_pd* (*alloc_pd)(ibv_context* context);
  ibv_td* (*alloc_td)(ibv_context* context, ibv_td_init_attr* attr);
  verbs_unused_op async_event;
  verbs_unused_op attach_counters_point_flow;
  int (*attach_mcast)(ibv_qp* qp, const union ibv_gid* gid, uint16_t lid);
  int (*bind_mw)(ibv_qp* qp, ibv_mw* mw, ibv_mw_bind* bind);
  verbs_unused_op close_xrcd;
  verbs_unused_op cq_event;
  ibv_ah* (*create_ah)(ibv_pd* pd, ibv_ah_attr* attr);
  verbs_unused_op create_counters;
  ibv_cq* (*create_cq)(ibv_context* context, int cqe, ibv_comp_channel* channel, int comp_vector);
  ibv_cq_ex* (*create_cq_ex)(ibv_context* context, ibv_cq_init_attr_ex* attr);
  verbs_unused_op create_flow;
  verbs_unused_op create_flow_action_esp;
  ibv_qp* (*create_qp)(ibv_pd* pd, ibv_qp_init_attr* attr);
  ibv_qp* (*create_qp_ex)(ibv_context* context, ibv_qp_init_attr_ex* attr);
  verbs_unused_op create_rwq_ind_table;
  ibv_srq* (*create_srq)(ibv_pd* pd, ibv_srq_init_attr* attr);
  ibv_srq* (*create_srq_ex)(ibv_context* context, ibv_srq_init_attr_ex* attr);
  verbs_unused_op create_wq;
  int (*dealloc_mw)(ibv_mw* mw);
  int (*dealloc_pd)(ibv_pd* pd);
  int (*dealloc_td)(ibv_td* td);
  int (*dereg_mr)(verbs_mr* vmr);
  int (*destroy_ah)(ibv_ah* ah);
  verbs_unused_op destroy_counters;
  int (*destroy_cq)(ibv_cq* cq);
  verbs_unused_op destroy_flow;
  verbs_unused_op destroy_flow_action;
  int (*destroy_qp)(ibv_qp* qp);
  verbs_unused_op destroy_rwq_ind_table;
  int (*destroy_srq)(ibv_srq* srq);
  verbs_unused_op destroy_wq;
  int (*detach_mcast)(ibv_qp* qp, const union ibv_gid* gid, uint16_t lid);
  void (*free_context)(ibv_context* context);
  verbs_unused_op free_dm;
  int (*get_srq_num)(ibv_srq* srq, uint32_t* srq_num);
  verbs_unused_op import_dm;
  verbs_unused_op import_mr;
  verbs_unused_op import_pd;
  int (*modify_cq)(ibv_cq* cq, ibv_modify_cq_attr* attr);
  verbs_unused_op modify_flow_action_esp;
  int (*modify_qp)(ibv_qp* qp, ibv_qp_attr* attr, int attr_mask);
  int (*modify_qp_rate_limit)(ibv_qp* qp, ibv_qp_rate_limit_attr* attr);
  int (*modify_srq)(ibv_srq* srq, ibv_srq_attr* attr, int attr_mask);
  verbs_unused_op modify_wq;
  verbs_unused_op open_qp;
  verbs_unused_op open_xrcd;
  int (*poll_cq)(ibv_cq* cq, int num_entries, ibv_wc* wc);
  int (*post_recv)(ibv_qp* qp, ibv_recv_wr* wr, ibv_recv_wr** bad_wr);
  int (*post_send)(ibv_qp* qp, ibv_send_wr* wr, ibv_send_wr** bad_wr);
  verbs_unused_op post_srq_ops;
  int (*post_srq_recv)(ibv_srq* srq, ibv_recv_wr* wr, ibv_recv_wr** bad_wr);
  int (*query_device_ex)(ibv_context* context, const ibv_query_device_ex_input* input,
                         ibv_device_attr_ex* attr, size_t attr_size);
  int (*query_ece)(ibv_qp* qp, ibv_ece* ece);
  int (*query_port)(ibv_context* context, uint8_t port_num, ibv_port_attr* attr);
  int (*query_qp)(ibv_qp* qp, ibv_qp_attr* attr, int attr_mask, ibv_qp_init_attr* init_attr);
  verbs_unused_op query_qp_data_in_order;
  int (*query_rt_values)(ibv_context* context, ibv_values_ex* values);
  int (*query_srq)(ibv_srq* srq, ibv_srq_attr* attr);
  verbs_unused_op read_counters;
  verbs_unused_op reg_dm_mr;
  verbs_unused_op reg_dmabuf_mr;
  ibv_mr* (*reg_mr)(ibv_pd* pd, void* addr, size_t length, uint64_t hca_va, int access);
  int (*req_notify_cq)(ibv_cq* cq, int solicited_only);
  int (*rereg_mr)(verbs_mr* vmr, int flags, ibv_pd* pd, void* addr, size_t length, int access);
  int (*resize_cq)(ibv_cq* cq, int cqe);
  int (*set_ece)(ibv_qp* qp, ibv_ece* ece);
  verbs_unused_op unimport_dm;
  verbs_unused_op unimport_mr;
  verbs_unused_op unimport_pd;
};

// Functions of libibverbs. A command is {header, core request, driver request}, a response {core
// response, driver response}: kernel_abi.h builds both, so they are bytes here. All return 0 or
// an errno.
extern "C" {

void verbs_register_driver(const verbs_device_ops* ops);

// Allocates `size` zeroed bytes with a verbs_context `offset` bytes into them; null on failure.
void* _verbs_init_and_alloc_context(ibv_device* device, int cmd_fd, size_t size,
                                    verbs_context* offset, uint32_t driver_id);
void verbs_uninit_context(verbs_context* context);
void verbs_set_ops(verbs_context* context, const verbs_context_ops* ops);

int ibv_cmd_get_context(verbs_context* context, void* cmd, size_t cmd_size, void* resp,
                        size_t resp_size);
int ibv_cmd_query_device_any(ibv_context* context, const ibv_query_device_ex_input* input,
                             ibv_device_attr_ex* attr, size_t attr_size, void* resp,
                             size_t* resp_size);
int ibv_cmd_query_port(ibv_context* context, uint8_t port_num, ibv_port_attr* attr, void* cmd,
                       size_t cmd_size);

int ibv_cmd_alloc_pd(ibv_context* context, ibv_pd* pd, void* cmd, size_t cmd_size, void* resp,
                     size_t resp_size);
int ibv_cmd_dealloc_pd(ibv_pd* pd);

int ibv_cmd_reg_mr(ibv_pd* pd, void* addr, size_t length, uint64_t hca_va, int access,
                   verbs_mr* vmr, void* cmd, size_t cmd_size, void* resp, size_t resp_size);
int ibv_cmd_rereg_mr(verbs_mr* vmr, uint32_t flags, void* addr, size_t length, uint64_t hca_va,
                     int access, ibv_pd* pd, void* cmd, size_t cmd_size, void* resp,
                     size_t resp_size);
int ibv_cmd_dereg_mr(verbs_mr* vmr);
int ibv_cmd_alloc_mw(ibv_pd* pd, ibv_mw_type type, ibv_mw* mw, void* cmd, size_t cmd_size,
                     void* resp, size_t resp_size);
int ibv_cmd_dealloc_mw(ibv_mw* mw);

int ibv_cmd_create_cq_ex(ibv_context* context, const ibv_cq_init_attr_ex* attr, verbs_cq* cq,
                         void* cmd, size_t cmd_size, void* resp, size_t resp_size,
                         uint32_t cmd_flags);
int ibv_cmd_modify_cq(ibv_cq* cq, ibv_modify_cq_attr* attr, void* cmd, size_t cmd_size);
int ibv_cmd_resize_cq(ibv_cq* cq, int cqe, void* cmd, size_t cmd_size, void* resp,
                      size_t resp_size);
int ibv_cmd_destroy_cq(ibv_cq* cq);

int ibv_cmd_create_srq(ibv_pd* pd, ibv_srq* srq, ibv_srq_init_attr* attr, void* cmd,
                       size_t cmd_size, void* resp, size_t resp_size);
int ibv_cmd_modify_srq(ibv_srq* srq, ibv_srq_attr* attr, int attr_mask, void* cmd, size_t cmd_size);
int ibv_cmd_query_srq(ibv_srq* srq, ibv_srq_attr* attr, void* cmd, size_t cmd_size);
int ibv_cmd_destroy_srq(ibv_srq* srq);

int ibv_cmd_create_qp_ex2(ibv_context* context, verbs_qp* qp, ibv_qp_init_attr_ex* attr, void* cmd,
                          size_t cmd_size, void* resp, size_t resp_size);
int ibv_cmd_query_qp(ibv_qp* qp, ibv_qp_attr* attr, int attr_mask, ibv_qp_init_attr* init_attr,
                     void* cmd, size_t cmd_size);
int ibv_cmd_modify_qp(ibv_qp* qp, ibv_qp_attr* attr, int attr_mask, void* cmd, size_t cmd_size);
int ibv_cmd_modify_qp_ex(ibv_qp* qp, ibv_qp_attr* attr, int attr_mask, void* cmd, size_t cmd_size,
                         void* resp, size_t resp_size);
int ibv_cmd_destroy_qp(ibv_qp* qp);

int ibv_cmd_create_ah(ibv_pd* pd, ibv_ah* ah, ibv_ah_attr* attr, void* resp, size_t resp_size);
int ibv_cmd_destroy_ah(ibv_ah* ah);
int ibv_cmd_attach_mcast(ibv_qp* qp, const union ibv_gid* gid, uint16_t lid);
int ibv_cmd_detach_mcast(ibv_qp* qp, const union ibv_gid* gid, uint16_t lid);

}  // extern "C"

#if defined(__x86_64__)
static_assert(sizeof(verbs_device_ops) == 72);
static_assert(offsetof(verbs_device_ops, match_min_abi_version) == 8);
static_assert(offsetof(verbs_device_ops, match_max_abi_version) == 12);
static_assert(offsetof(verbs_device_ops, match_table) == 16);
static_assert(offsetof(verbs_device_ops, static_providers) == 24);
static_assert(offsetof(verbs_device_ops, match_device) == 32);
static_assert(offsetof(verbs_device_ops, alloc_context) == 40);
static_assert(offsetof(verbs_device_ops, import_context) == 48);
static_assert(offsetof(verbs_device_ops, alloc_device) == 56);
static_assert(offsetof(verbs_device_ops, uninit_device) == 64);

static_assert(sizeof(verbs_match_ent) == 24);
static_assert(offsetof(verbs_match_ent, u) == 8);
static_assert(offsetof(verbs_match_ent, vendor) == 16);
static_assert(offsetof(verbs_match_ent, device) == 18);
static_assert(offsetof(verbs_match_ent, kind) == 20);

static_assert(sizeof(ibv_device) == 664);
static_assert(sizeof(verbs_device) == 712);
static_assert(offsetof(verbs_device, ops) == 664);
static_assert(offsetof(verbs_device, refcount) == 672);
static_assert(offsetof(verbs_device, entry) == 680);
static_assert(offsetof(verbs_device, sysfs) == 696);
static_assert(offsetof(verbs_device, core_support) == 704);

static_assert(sizeof(verbs_sysfs_dev) == 992);
static_assert(offsetof(verbs_sysfs_dev, provider_data) == 16);
static_assert(offsetof(verbs_sysfs_dev, match) == 24);
static_assert(offsetof(verbs_sysfs_dev, flags) == 32);
static_assert(offsetof(verbs_sysfs_dev, sysfs_name) == 36);
static_assert(offsetof(verbs_sysfs_dev, sysfs_cdev) == 104);
static_assert(offsetof(verbs_sysfs_dev, ibdev_name) == 112);
static_assert(offsetof(verbs_sysfs_dev, ibdev_path) == 176);
static_assert(offsetof(verbs_sysfs_dev, modalias) == 432);
static_assert(offsetof(verbs_sysfs_dev, node_guid) == 944);
static_assert(offsetof(verbs_sysfs_dev, driver_id) == 952);
static_assert(offsetof(verbs_sysfs_dev, node_type) == 956);
static_assert(offsetof(verbs_sysfs_dev, ibdev_idx) == 960);
static_assert(offsetof(verbs_sysfs_dev, num_ports) == 964);
static_assert(offsetof(verbs_sysfs_dev, abi_ver) == 968);
static_assert(offsetof(verbs_sysfs_dev, time_created) == 976);

static_assert(sizeof(verbs_srq) == 160);
static_assert(offsetof(verbs_srq, srq_type) == 128);
static_assert(offsetof(verbs_srq, xrcd) == 136);
static_assert(offsetof(verbs_srq, cq) == 144);
static_assert(offsetof(verbs_srq, srq_num) == 152);
static_assert(sizeof(verbs_mr) == 56);
static_assert(offsetof(verbs_mr, mr_type) == 48);
static_assert(offsetof(verbs_mr, access) == 52);
static_assert(sizeof(verbs_cq) == 288);
static_assert(offsetof(ibv_qp_ex, qp_base) == 0);
static_assert(offsetof(verbs_qp, comp_mask) == sizeof(ibv_qp_ex));
static_assert(sizeof(verbs_qp) == sizeof(ibv_qp_ex) + 16);

static_assert(sizeof(verbs_context_ops) == 76 * sizeof(verbs_unused_op));
static_assert(offsetof(verbs_context_ops, alloc_pd) == 5 * 8);
static_assert(offsetof(verbs_context_ops, bind_mw) == 10 * 8);
static_assert(offsetof(verbs_context_ops, create_cq) == 15 * 8);
static_assert(offsetof(verbs_context_ops, create_qp_ex) == 20 * 8);
static_assert(offsetof(verbs_context_ops, dealloc_mw) == 25 * 8);
static_assert(offsetof(verbs_context_ops, destroy_counters) == 30 * 8);
static_assert(offsetof(verbs_context_ops, destroy_rwq_ind_table) == 35 * 8);
static_assert(offsetof(verbs_context_ops, free_dm) == 40 * 8);
static_assert(offsetof(verbs_context_ops, modify_cq) == 45 * 8);
static_assert(offsetof(verbs_context_ops, modify_wq) == 50 * 8);
static_assert(offsetof(verbs_context_ops, post_send) == 55 * 8);
static_assert(offsetof(verbs_context_ops, query_port) == 60 * 8);
static_assert(offsetof(verbs_context_ops, read_counters) == 65 * 8);
static_assert(offsetof(verbs_context_ops, rereg_mr) == 70 * 8);
static_assert(offsetof(verbs_context_ops, unimport_pd) == 75 * 8);

#if SRN_IBVERBS_VERSION == 44
static_assert(sizeof(verbs_context) == 648);
static_assert(offsetof(verbs_context, context) == 320);
static_assert(sizeof(verbs_qp) == 368);
#endif
#endif  // __x86_64__
