// SPDX-License-Identifier: GPL-2.0-only
#include "features.h"

#include <algorithm>
#include <fstream>

#include <verbs/memory.h>
#include <verbs/qp.h>

#include "fault.h"

namespace srnverify {
namespace {

constexpr uint32_t kMostInline = 512;
constexpr uint32_t kMostSge = 32;

struct Prober {
  const verbs::Context& context;
  verbs::Pd pd;
  verbs::Cq cq;

  verbs::Result<verbs::Qp> MakeQp(verbs::Qp::Options options) const {
    return verbs::Qp::Create(pd, cq, cq, options);
  }
  bool HasType(ibv_qp_type type) const { return MakeQp({.type = type}).ok(); }

  // The largest of `from`, half of it, ... with which a queue pair can be made.
  uint32_t Inline(ibv_qp_type type) const {
    for (uint32_t bytes = kMostInline; bytes >= 16; bytes /= 2) {
      verbs::Result<verbs::Qp> qp = MakeQp({.type = type, .max_inline = bytes});
      if (qp.ok()) return std::min(qp->cap().max_inline_data, kMostInline);
    }
    return 0;
  }
  // A queue pair may take fewer elements than the device says.
  uint32_t Sge(ibv_qp_type type, uint32_t most) const {
    while (most > 1 && !MakeQp({.type = type, .max_send_sge = most, .max_recv_sge = most}).ok())
      --most;
    return most;
  }
};

constexpr std::pair<ibv_qp_type, const char*> kTypes[] = {
    {IBV_QPT_RC, "rc"}, {IBV_QPT_UC, "uc"}, {IBV_QPT_UD, "ud"}};

void AddTypes(const Prober& probe, Features& features) {
  features.max_inline = kMostInline;
  for (const auto& [type, name] : kTypes) {
    if (!probe.HasType(type)) continue;
    features.names.insert(name);
    features.max_inline = std::min(features.max_inline, probe.Inline(type));
    features.max_sge = std::min(features.max_sge, probe.Sge(type, features.max_sge));
  }
}

// Queue pairs of all types that there are can be made for ibv_wr_*().
bool HasCalls(const Prober& probe, const Features& features) {
  return std::ranges::all_of(kTypes, [&](const auto& item) {
    const auto& [type, name] = item;
    return !features.Has(name) ||
           probe.MakeQp({.type = type, .send_ops = SendOps(type, features)}).ok();
  });
}

bool HasAtomicWrite(const Prober& probe) {
  return probe.MakeQp({.send_ops = IBV_QP_EX_WITH_ATOMIC_WRITE}).ok();
}

bool HasWindows(const Prober& probe, const ibv_device_attr& attr) {
  constexpr unsigned kType2 = IBV_DEVICE_MEM_WINDOW_TYPE_2A | IBV_DEVICE_MEM_WINDOW_TYPE_2B;
  return (attr.device_cap_flags & kType2) && verbs::Mw::Create(probe.pd, IBV_MW_TYPE_2).ok();
}

// Its attributes are like those of others; its description is not.
bool IsRxe(const verbs::Context& context) {
  std::ifstream file(std::string(context.get()->device->ibdev_path) + "/node_desc");
  std::string description;
  return file >> description && description == "rxe";
}

void AddMtus(Features& features) {
  for (uint32_t mtu = 256; mtu <= features.mtu; mtu *= 2)
    features.names.insert("mtu-" + std::to_string(mtu));
}

}  // namespace

const std::vector<std::string>& FeatureNames() {
  static const std::vector<std::string> kNames = {
      "rc",      "uc",           "ud",        "send",    "write",  "read",  "imm",
      "atomic",  "atomic-write", "window",    "srq",     "inline", "sge",   "wr",
      "cq-ex",   "events",       "solicited", "sl",      "rnr",    "fence", "mtu-256",
      "mtu-512", "mtu-1024",     "mtu-2048",  "mtu-4096"};
  return kNames;
}

std::vector<std::string> Features::Missing() const {
  std::vector<std::string> missing;
  for (const std::string& name : FeatureNames())
    if (!Has(name)) missing.push_back(name);
  return missing;
}

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Features, names, max_sge, max_sge_rd, max_inline, rd_atomic, mtu,
                                   inv_by_kernel_flag)

nlohmann::json Features::Json() const { return *this; }
Features Features::FromJson(const nlohmann::json& json) { return json.get<Features>(); }

uint64_t SendOps(ibv_qp_type type, const Features& features) {
  uint64_t ops = IBV_QP_EX_WITH_SEND;
  if (features.Has("imm")) ops |= IBV_QP_EX_WITH_SEND_WITH_IMM;
  if (type == IBV_QPT_UD) return ops;
  ops |= IBV_QP_EX_WITH_RDMA_WRITE;
  if (features.Has("imm")) ops |= IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM;
  if (type == IBV_QPT_UC) return ops;
  ops |= IBV_QP_EX_WITH_RDMA_READ;
  if (features.Has("window")) ops |= IBV_QP_EX_WITH_SEND_WITH_INV;
  if (features.Has("atomic"))
    ops |= IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD;
  if (features.Has("atomic-write")) ops |= IBV_QP_EX_WITH_ATOMIC_WRITE;
  return ops;
}

Features Probe(const verbs::Context& context, const verbs::Port& port) {
  const ibv_device_attr attr = Need(context.QueryDevice(), "query device");
  const Prober probe{context, Need(verbs::Pd::Create(context), "PD"),
                     Need(verbs::Cq::Create(context, 16), "CQ")};
  Features features;

  features.names.insert({"send", "write", "read", "events", "solicited", "rnr", "fence"});
  features.max_sge = std::min(static_cast<uint32_t>(attr.max_sge), kMostSge);
  // A shared queue may take fewer than a queue pair, and lanes of both kinds are planned alike.
  if (attr.max_srq_sge > 0)
    features.max_sge = std::min(features.max_sge, static_cast<uint32_t>(attr.max_srq_sge));
  features.mtu = 128u << static_cast<int>(port.active_mtu);
  features.rd_atomic = static_cast<uint8_t>(
      std::clamp(std::min(attr.max_qp_rd_atom, attr.max_qp_init_rd_atom), 1, 16));
  AddTypes(probe, features);
  AddMtus(features);
  features.max_sge_rd = features.max_sge;
  if (attr.max_sge_rd > 0)
    features.max_sge_rd = std::min(features.max_sge, static_cast<uint32_t>(attr.max_sge_rd));
  if (context.get()->device->transport_type == IBV_TRANSPORT_IB) features.names.insert("imm");
  if (attr.atomic_cap != IBV_ATOMIC_NONE) features.names.insert("atomic");
  if (verbs::Srq::Create(probe.pd, 16, features.max_sge).ok()) features.names.insert("srq");
  if (HasWindows(probe, attr)) features.names.insert("window");
  if (features.max_inline > 0) features.names.insert("inline");
  if (features.max_sge > 1) features.names.insert("sge");
  if (HasCalls(probe, features)) features.names.insert("wr");
  if (features.Has("wr") && features.Has("rc") && HasAtomicWrite(probe))
    features.names.insert("atomic-write");
  if (verbs::Cq::Create(context, 16, {.by_calls = true}).ok()) features.names.insert("cq-ex");
  // rxe hands programs the kernel's IB_WC_WITH_INVALIDATE, which is another bit than
  // IBV_WC_WITH_INV, and leaves `sl` 0 (Linux 6.12, rxe_resp.c, do_complete).
  features.inv_by_kernel_flag = IsRxe(context);
  if (!IsRxe(context)) features.names.insert("sl");
  return features;
}

Features Common(const Features& a, const Features& b) {
  Features common;
  std::set_intersection(a.names.begin(), a.names.end(), b.names.begin(), b.names.end(),
                        std::inserter(common.names, common.names.end()));
  common.max_sge = std::min(a.max_sge, b.max_sge);
  common.max_sge_rd = std::min(a.max_sge_rd, b.max_sge_rd);
  common.max_inline = std::min(a.max_inline, b.max_inline);
  common.rd_atomic = std::min(a.rd_atomic, b.rd_atomic);
  common.mtu = std::min(a.mtu, b.mtu);
  common.inv_by_kernel_flag = a.inv_by_kernel_flag || b.inv_by_kernel_flag;
  return common;
}

void CheckNames(const std::vector<std::string>& names) {
  const std::vector<std::string>& known = FeatureNames();
  for (const std::string& name : names)
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw Fault("no feature is called '" + name + "'");
}

}  // namespace srnverify
