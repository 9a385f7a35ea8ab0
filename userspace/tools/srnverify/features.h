// SPDX-License-Identifier: GPL-2.0-only
// What a device can do of what is checked here, and what two devices can do together.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <verbs/context.h>

namespace srnverify {

// The names that --need and "not in the plan" use:
//
//   rc uc ud       the type of queue pair
//   send write read  these operations, with immediate data or not; no type lacks those that it
//                  has, but one may look at the others alone
//   imm            immediate data
//   atomic         compare and swap, fetch and add
//   atomic-write   ATOMIC WRITE, posted by ibv_wr_*() alone
//   window         BIND_MW of type 2, access through it, SEND_WITH_INV, LOCAL_INV
//   srq            shared receive queues, of RC and UD
//   inline         inline data
//   sge            more than one scatter/gather element
//   wr             requests posted by ibv_wr_*()
//   cq-ex          completions polled by ibv_start_poll() and the calls after it
//   events         completions that are looked for after a notification only
//   solicited      and those of receives after a notification of a solicited message
//   sl             completions of datagrams tell the IP version in `sl`; looked at on each end that
//                  has it
//   rnr            receives that are posted when messages come already
//   fence          requests that wait for the READs and atomics before them; no device lacks these
//                  four, but not every one stands them
//   mtu-256 ... mtu-4096
const std::vector<std::string>& FeatureNames();

struct Features {
  std::set<std::string> names;
  uint32_t max_sge = 1;
  // Of an RDMA READ.
  uint32_t max_sge_rd = 1;
  uint32_t max_inline = 0;
  uint8_t rd_atomic = 1;
  // The active MTU of the port, bytes.
  uint32_t mtu = 256;
  // A fault that is known, and let pass where this device receives: a completion of SEND_WITH_INV
  // has the kernel's flag in the place of IBV_WC_WITH_INV.
  bool inv_by_kernel_flag = false;

  bool Has(const std::string& name) const { return names.count(name) != 0; }
  // What is in neither.
  std::vector<std::string> Missing() const;

  nlohmann::json Json() const;
  static Features FromJson(const nlohmann::json& json);
};

// enum ibv_qp_create_send_ops_flags of all that queue pairs of a type do.
uint64_t SendOps(ibv_qp_type type, const Features& features);

// Asks the device, by creating objects where its attributes do not tell.
Features Probe(const verbs::Context& context, const verbs::Port& port);

// What both can do.
Features Common(const Features& a, const Features& b);

// Throws Fault for a name that there is not.
void CheckNames(const std::vector<std::string>& names);

}  // namespace srnverify
