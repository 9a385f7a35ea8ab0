// SPDX-License-Identifier: GPL-2.0-only
// Two connected QPs, RC's or iWARP's, on two devices, in one process.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include <verbs/buffer.h>
#include <verbs/channel.h>
#include <verbs/connect.h>
#include <verbs/memory.h>

#include "iwarp.h"

namespace srnbench {

// Requests that a sender keeps posted, at most; the size of its queues.
inline constexpr int kDepth = 128;
// A page of the large kind.
inline constexpr size_t kHugePage = 2 << 20;
// Bytes of each end's buffer; no message is larger.
inline constexpr size_t kBuffer = 4 * kHugePage;
// The first end's bytes begin with a huge page, the second end's this far behind such a place: 33
// pages. In QEMU's TLB all pages whose numbers end alike, in six bits at least, have one entry. If
// both began with a huge page, a copy from one to the other, which srn makes and rxe does not,
// could miss twice for each word, or not, by how large that TLB is at the moment.
inline constexpr size_t kApart = 33 * 4096;

// Thrown where a device lacks what a workload needs: others can be measured.
struct Unable : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// What the call gave. Throws std::runtime_error that says what failed.
template <typename T>
T Must(verbs::Result<T> result, const std::string& what) {
  if (!result.ok()) throw std::runtime_error(what + ": " + result.message());
  return *std::move(result);
}

// Which devices a name stands for, as --pair NAME=DEVICE,DEVICE says it; those of iWARP have the
// addresses of their netdevs with them, as NAME=DEVICE@ADDRESS,DEVICE@ADDRESS.
struct PairSpec {
  std::string name;
  std::string device[2];
  std::string address[2];  // empty without one

  // Throws std::invalid_argument for anything else.
  static PairSpec Parse(const std::string& text);
};

enum class Place { kFirst, kSecond };

// How far behind `addr`, where its buffer begins, the bytes of that end do.
size_t SkipTo(Place place, uint64_t addr);

// What two connected QPs need for as long as they are connected: over RoCE nothing. It goes after
// them.
using Link = IwarpLink;

// One end: everything that a QP needs, and a buffer for both directions.
struct End {
  verbs::Context context;
  verbs::Port port;     // over RoCE
  std::string address;  // over iWARP
  verbs::Pd pd;
  verbs::CompChannel channel;  // of cq
  verbs::Cq cq;
  verbs::Buffer buffer;
  verbs::Bytes bytes;  // of buffer: those of mr
  verbs::Mr mr;
  verbs::Qp qp;

  const char* device() const { return context->device->name; }
  bool is_iwarp() const { return context->device->transport_type == IBV_TRANSPORT_IWARP; }
};

class Pair {
 public:
  // Opens and connects. Throws std::runtime_error that says what failed.
  explicit Pair(const PairSpec& spec);

  const std::string& name() const { return name_; }
  End& a() { return ends_[0]; }
  End& b() { return ends_[1]; }

  // Connects two new QPs of these devices. Throws std::runtime_error that says what failed.
  [[nodiscard]] Link Connect(const verbs::Qp& of_a, const verbs::Qp& of_b);

 private:
  std::string name_;
  std::unique_ptr<IwarpConnector> iwarp_;  // if it is that
  Link link_;
  End ends_[2];
};

}  // namespace srnbench
