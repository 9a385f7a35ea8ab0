// SPDX-License-Identifier: GPL-2.0-only
#include "packet.h"

#include <algorithm>
#include <cstdio>
#include <span>

#include "aeth.h"
#include "icrc.h"

namespace roce {
namespace {

constexpr size_t kBthSize = 12;

class Writer {
 public:
  void Put(uint64_t value, int bytes) {
    for (int i = bytes - 1; i >= 0; --i) out_.push_back(static_cast<uint8_t>(value >> 8 * i));
  }
  void PutBytes(std::span<const uint8_t> bytes) {
    out_.insert(out_.end(), bytes.begin(), bytes.end());
  }
  Bytes Take() { return std::move(out_); }

 private:
  Bytes out_;
};

// Reads from a span whose length the caller has proven.
class Reader {
 public:
  explicit Reader(std::span<const uint8_t> in) : in_(in) {}
  uint64_t Get(int bytes) {
    uint64_t value = 0;
    for (int i = 0; i < bytes; ++i) value = value << 8 | in_[at_++];
    return value;
  }
  uint32_t Get32() { return static_cast<uint32_t>(Get(4)); }
  uint32_t Get24() { return static_cast<uint32_t>(Get(3)); }
  uint8_t Get8() { return static_cast<uint8_t>(Get(1)); }
  std::span<const uint8_t> Rest() const { return in_.subspan(at_); }

 private:
  std::span<const uint8_t> in_;
  size_t at_ = 0;
};

void WriteBth(Writer& w, const Bth& bth, uint8_t pad) {
  w.Put(bth.opcode, 1);
  w.Put(bth.solicited << 7 | bth.mig_req << 6 | (pad & 3) << 4 | (bth.tver & 0xf), 1);
  w.Put(bth.pkey, 2);
  w.Put(bth.fecn << 7 | bth.becn << 6 | (bth.reserved6 & 0x3f), 1);
  w.Put(bth.dqpn, 3);
  w.Put(bth.ack_req << 7 | (bth.reserved7 & 0x7f), 1);
  w.Put(bth.psn, 3);
}

void WriteExtensions(Writer& w, const Packet& p) {
  if (p.rdeth) w.Put(p.rdeth->ee_context & 0xffffff, 4);
  if (p.xrceth) w.Put(p.xrceth->srqn & 0xffffff, 4);
  if (p.deth) {
    w.Put(p.deth->qkey, 4);
    w.Put(p.deth->sqpn & 0xffffff, 4);
  }
  if (p.feth) w.Put((p.feth->selectivity & 3) << 4 | (p.feth->placement & 0xf), 4);
  if (p.reth) {
    w.Put(p.reth->va, 8);
    w.Put(p.reth->rkey, 4);
    w.Put(p.reth->length, 4);
  }
  if (p.atomic) {
    w.Put(p.atomic->va, 8);
    w.Put(p.atomic->rkey, 4);
    w.Put(p.atomic->swap_or_add, 8);
    w.Put(p.atomic->compare, 8);
  }
  if (p.aeth) {
    w.Put(p.aeth->syndrome, 1);
    w.Put(p.aeth->msn, 3);
  }
  if (p.atomic_ack) w.Put(*p.atomic_ack, 8);
  if (p.imm) w.Put(*p.imm, 4);
  if (p.invalidate_rkey) w.Put(*p.invalidate_rkey, 4);
}

Bth ReadBth(Reader& r) {
  Bth bth;
  bth.opcode = r.Get8();
  const uint8_t flags = r.Get8();
  bth.solicited = flags >> 7;
  bth.mig_req = flags >> 6 & 1;
  bth.pad = flags >> 4 & 3;
  bth.tver = flags & 0xf;
  bth.pkey = static_cast<uint16_t>(r.Get(2));
  const uint8_t ecn = r.Get8();
  bth.fecn = ecn >> 7;
  bth.becn = ecn >> 6 & 1;
  bth.reserved6 = ecn & 0x3f;
  bth.dqpn = r.Get24();
  const uint8_t ack = r.Get8();
  bth.ack_req = ack >> 7;
  bth.reserved7 = ack & 0x7f;
  bth.psn = r.Get24();
  return bth;
}

void ReadExtensions(Reader& r, uint16_t headers, Packet& p) {
  if (headers & kHasRdeth) p.rdeth = Rdeth{r.Get32() & 0xffffff};
  if (headers & kHasXrceth) p.xrceth = Xrceth{r.Get32() & 0xffffff};
  if (headers & kHasDeth) {
    const uint32_t qkey = r.Get32();
    p.deth = Deth{qkey, r.Get32() & 0xffffff};
  }
  if (headers & kHasFeth) {
    const uint32_t word = r.Get32();
    p.feth = Feth{static_cast<uint8_t>(word >> 4 & 3), static_cast<uint8_t>(word & 0xf)};
  }
  if (headers & kHasReth) {
    p.reth.emplace();
    p.reth->va = r.Get(8);
    p.reth->rkey = r.Get32();
    p.reth->length = r.Get32();
  }
  if (headers & kHasAtomicEth) {
    p.atomic.emplace();
    p.atomic->va = r.Get(8);
    p.atomic->rkey = r.Get32();
    p.atomic->swap_or_add = r.Get(8);
    p.atomic->compare = r.Get(8);
  }
  if (headers & kHasAeth) {
    const uint8_t syndrome = r.Get8();
    p.aeth = Aeth{syndrome, r.Get24()};
  }
  if (headers & kHasAtomicAck) p.atomic_ack = r.Get(8);
  if (headers & kHasImm) p.imm = r.Get32();
  if (headers & kHasIeth) p.invalidate_rkey = r.Get32();
}

uint32_t ReadLe32(std::span<const uint8_t> in) {
  return static_cast<uint32_t>(in[0] | in[1] << 8 | in[2] << 16) | static_cast<uint32_t>(in[3])
                                                                       << 24;
}

}  // namespace

const char* FaultName(Fault fault) {
  static constexpr const char* kNames[] = {"none",          "short packet", "unknown opcode",
                                           "short headers", "bad pad",      "bad ICRC"};
  return kNames[static_cast<size_t>(fault)];
}

Bytes EncodeTransport(const Packet& p) {
  Writer w;
  const uint8_t natural = static_cast<uint8_t>(-p.payload.size() & 3);
  const uint8_t pad = p.bth.pad.value_or(natural);
  WriteBth(w, p.bth, pad);
  WriteExtensions(w, p);
  w.PutBytes(p.payload);
  w.Put(0, pad);
  return w.Take();
}

void Encode(const Packet& packet, net::Datagram& datagram) {
  datagram.payload = EncodeTransport(packet);
  datagram.payload.resize(datagram.payload.size() + kIcrcSize);
  SealIcrc(datagram);
}

void SealIcrc(net::Datagram& datagram) {
  Bytes& bytes = datagram.payload;
  if (bytes.size() < kBthSize + kIcrcSize) return;
  const size_t body = bytes.size() - kIcrcSize;
  const uint32_t icrc = Icrc(net::BuildIpUdp(datagram), std::span(bytes).first(body));
  for (size_t i = 0; i < kIcrcSize; ++i) bytes[body + i] = static_cast<uint8_t>(icrc >> 8 * i);
}

Decoded Decode(const net::Datagram& datagram) {
  const std::span<const uint8_t> bytes(datagram.payload);
  Decoded out;
  if (bytes.size() < kBthSize + kIcrcSize) return {{}, Fault::kShort};
  const std::span<const uint8_t> body = bytes.first(bytes.size() - kIcrcSize);
  Reader r(body);
  out.packet.bth = ReadBth(r);
  const OpcodeInfo& info = out.packet.info();
  if (!info.valid) {
    out.fault = Fault::kOpcode;
  } else if (body.size() < HeadersSize(info.headers)) {
    out.fault = Fault::kShortHeaders;
  } else {
    ReadExtensions(r, info.headers, out.packet);
    const std::span<const uint8_t> rest = r.Rest();
    const size_t pad = *out.packet.bth.pad;
    if (pad > rest.size() || rest.size() % 4 != 0) {
      out.fault = Fault::kPad;
    } else {
      out.packet.payload.assign(rest.begin(), rest.end() - static_cast<ptrdiff_t>(pad));
      out.pad_is_zero = std::all_of(rest.end() - static_cast<ptrdiff_t>(pad), rest.end(),
                                    [](uint8_t byte) { return byte == 0; });
    }
  }
  if (out.fault == Fault::kNone &&
      ReadLe32(bytes.last(kIcrcSize)) != Icrc(net::BuildIpUdp(datagram), body))
    out.fault = Fault::kIcrc;
  return out;
}

std::string Packet::ToString() const {
  char text[160];
  std::snprintf(text, sizeof(text), "%s qpn 0x%06x psn 0x%06x%s%s len %zu",
                OpcodeName(bth.opcode).c_str(), bth.dqpn, bth.psn, bth.ack_req ? " ackreq" : "",
                bth.solicited ? " solicited" : "", payload.size());
  std::string out = text;
  if (reth) {
    std::snprintf(text, sizeof(text), " va 0x%llx rkey 0x%x dmalen %u",
                  static_cast<unsigned long long>(reth->va), reth->rkey, reth->length);
    out += text;
  }
  if (aeth) out += " [" + SyndromeName(aeth->syndrome) + " msn " + std::to_string(aeth->msn) + "]";
  return out;
}

}  // namespace roce
