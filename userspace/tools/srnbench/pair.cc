// SPDX-License-Identifier: GPL-2.0-only
#include "pair.h"

#include <sys/mman.h>

#include <cstring>
#include <regex>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace srnbench {
namespace {

// In pages of the large kind, where the kernel has them: in how many pieces a message lies decides
// how many references to it a packet carries, and so what a request costs. All of the buffer is
// asked for: a page is of the large kind only if all of it is wanted so.
verbs::Bytes InHugePages(const verbs::Buffer& buffer, Place place) {
  const verbs::Bytes bytes = buffer.Slice(SkipTo(place, buffer.addr()), kBuffer);

  madvise(buffer.data(), buffer.size(), MADV_HUGEPAGE);
  std::memset(bytes.data(), 0x5a, bytes.size());
  return bytes;
}

End Open(const std::string& device, const std::string& address, Place place) {
  End end;
  end.context = Must(verbs::Context::Open(device), device);
  if (end.is_iwarp() == address.empty())
    throw std::runtime_error(device + ": iWARP, and it alone, wants DEVICE@ADDRESS");
  end.address = address;
  if (!end.is_iwarp())
    end.port = Must(end.context.FindPort(verbs::Ip::kV4), device + ": no IPv4 GID");
  end.pd = Must(verbs::Pd::Create(end.context), device + ": PD");
  end.channel = Must(verbs::CompChannel::Create(end.context), device + ": completion channel");
  end.cq =
      Must(verbs::Cq::Create(end.context, 4 * kDepth, {.channel = &end.channel}), device + ": CQ");
  // With what is skipped, and all of the huge page that the last bytes lie in.
  end.buffer = Must(verbs::Buffer::Map(kBuffer + 2 * kHugePage), device + ": buffer");
  end.bytes = InHugePages(end.buffer, place);
  end.mr = Must(verbs::Mr::Register(end.pd, end.bytes), device + ": MR");
  end.qp = Must(
      verbs::Qp::Create(end.pd, end.cq, end.cq, {.max_send_wr = kDepth, .max_recv_wr = kDepth}),
      device + ": QP");
  return end;
}

}  // namespace

size_t SkipTo(Place place, uint64_t addr) {
  const size_t skip = (kHugePage - addr % kHugePage) % kHugePage;
  return place == Place::kFirst ? skip : skip + kApart;
}

PairSpec PairSpec::Parse(const std::string& text) {
  static const std::regex kForm("([^=]+)=([^,@]+)(@([^,@]+))?,([^,@]+)(@([^,@]+))?");
  std::smatch part;

  if (!std::regex_match(text, part, kForm))
    throw std::invalid_argument(fmt::format("'{}' is not NAME=DEVICE,DEVICE", text));
  return {part[1], {part[2], part[5]}, {part[4], part[7]}};
}

Pair::Pair(const PairSpec& spec)
    : name_(spec.name),
      ends_{Open(spec.device[0], spec.address[0], Place::kFirst),
            Open(spec.device[1], spec.address[1], Place::kSecond)} {
  if (a().is_iwarp()) iwarp_ = std::make_unique<IwarpConnector>(a().address, b().address);
  link_ = Connect(a().qp, b().qp);
}

Link Pair::Connect(const verbs::Qp& of_a, const verbs::Qp& of_b) {
  if (iwarp_) return iwarp_->Connect(of_a, of_b);
  const verbs::Status status = verbs::Connect(of_a, a().port, of_b, b().port);
  if (!status.ok()) throw std::runtime_error(fmt::format("{}: {}", name_, status.message()));
  return {};
}

}  // namespace srnbench
