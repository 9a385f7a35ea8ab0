// SPDX-License-Identifier: GPL-2.0-only
#include "pair.h"

#include <sys/mman.h>

#include <cstring>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace srnbench {
namespace {

// One physical piece, where the kernel has one: in how many pieces a buffer lies decides how many
// references to it a packet carries, and so what a request costs.
verbs::Bytes InOnePiece(const verbs::Buffer& buffer) {
  const size_t skip = (kHugePage - buffer.addr() % kHugePage) % kHugePage;
  const verbs::Bytes bytes = buffer.Slice(skip, kHugePage);

  madvise(bytes.data(), bytes.size(), MADV_HUGEPAGE);
  std::memset(bytes.data(), 0x5a, bytes.size());
  return bytes;
}

End Open(const std::string& device) {
  End end;
  end.context = Must(verbs::Context::Open(device), device);
  end.port = Must(end.context.FindPort(verbs::Ip::kV4), device + ": no IPv4 GID");
  end.pd = Must(verbs::Pd::Create(end.context), device + ": PD");
  end.channel = Must(verbs::CompChannel::Create(end.context), device + ": completion channel");
  end.cq =
      Must(verbs::Cq::Create(end.context, 4 * kDepth, {.channel = &end.channel}), device + ": CQ");
  end.buffer = Must(verbs::Buffer::Map(2 * kHugePage), device + ": buffer");
  end.bytes = InOnePiece(end.buffer);
  end.mr = Must(verbs::Mr::Register(end.pd, end.bytes), device + ": MR");
  end.qp = Must(
      verbs::Qp::Create(end.pd, end.cq, end.cq, {.max_send_wr = kDepth, .max_recv_wr = kDepth}),
      device + ": QP");
  return end;
}

}  // namespace

PairSpec PairSpec::Parse(const std::string& text) {
  const size_t equals = text.find('='), comma = text.find(',', equals);
  if (equals == 0 || equals == std::string::npos || comma == std::string::npos)
    throw std::invalid_argument(fmt::format("'{}' is not NAME=DEVICE,DEVICE", text));
  return {text.substr(0, equals),
          {text.substr(equals + 1, comma - equals - 1), text.substr(comma + 1)}};
}

Pair::Pair(const PairSpec& spec)
    : name_(spec.name), ends_{Open(spec.device[0]), Open(spec.device[1])} {
  const verbs::Status status = verbs::Connect(a().qp, a().port, b().qp, b().port);
  if (!status.ok()) throw std::runtime_error(fmt::format("{}: {}", name_, status.message()));
}

}  // namespace srnbench
