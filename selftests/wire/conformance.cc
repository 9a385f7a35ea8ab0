// SPDX-License-Identifier: GPL-2.0-only
#include "conformance.h"

#include <utility>

#include <roce/psn.h>
#include <roce/udp_port.h>

namespace wire {

void Conformance::CheckIp(const net::ParsedDatagram& parsed) {
  const net::Datagram& d = parsed.datagram;
  Require(parsed.ip_checksum_ok, "IPv4 header checksum is right");
  Require(parsed.udp_checksum_ok, "UDP checksum is 0 or right");
  Require(d.sport >= roce::kFirstSourcePort, "UDP source port is 0xc000 or more");
  // A flow is one path: a port that changes would let the network reorder a QP.
  Require(sport_.value_or(d.sport) == d.sport, "UDP source port stays the same");
  sport_ = d.sport;
  Require(!d.ip_length, "UDP length fills the IP packet");
  if (d.version() == net::IpVersion::kV4) {
    Require(d.dont_fragment, "DF is set");
    // Where the stack cuts a train it counts on, and the ICRC covers that.
    Require(d.ip_id == 0 || d.ip_id == ip_id_ + 1 || lax_, "IPv4 id is 0, or the next of a train");
    ip_id_ = d.ip_id;
    Require(parsed.udp_checksum_field == 0, "UDP checksum is 0 over IPv4");
  }
}

void Conformance::CheckBth(const roce::Packet& packet) {
  const roce::Bth& bth = packet.bth;
  const bool cnp = bth.opcode == roce::kOpcodeCnp;
  Require(bth.mig_req != cnp || lax_, "MigReq is 1, but of a CNP");
  Require(bth.tver == 0, "TVer is 0");
  Require(bth.pkey == roce::kDefaultPkey, "P_Key is 0xffff");
  Require(bth.reserved6 == 0 && bth.reserved7 == 0, "reserved bits are 0");
  Require(!bth.fecn && bth.becn == cnp, "FECN is 0, and BECN is that of a CNP");
  Require(roce::PayloadFits(packet.info(), packet.payload.size(), mtu_),
          "payload length fits opcode and path MTU");
}

// RC slows down for marks on what it sends, so its data may be marked (ECT(0)) where the peer tells
// of them, and nothing else.
void Conformance::CheckEcn(uint8_t tos, const roce::OpcodeInfo& info) {
  const bool data = info.service == roce::Service::kRc && info.payload != roce::PayloadRule::kNone;
  Require((tos & 3) == 0 || (data && (tos & 3) == 2) || lax_,
          "ECN is ECT(0) at most, of RC's data");
}

void Conformance::CheckPsn(const roce::Packet& packet) {
  if (packet.info().is_response || packet.info().service == roce::Service::kCnp || !next_psn_)
    return;
  const uint32_t psn = packet.bth.psn;
  Require(roce::PsnDiff(psn, *next_psn_) <= 0, "no PSN is skipped");
  uint32_t span = 1;
  if (packet.info().operation == roce::Operation::kReadRequest)
    span = roce::PsnCount(packet.reth->length, mtu_);
  const uint32_t after = roce::PsnAdd(psn, span);
  if (roce::PsnDiff(after, *next_psn_) > 0) next_psn_ = after;
}

std::vector<std::string> Conformance::Check(const net::ParsedDatagram& parsed,
                                            const roce::Decoded& decoded) {
  broken_.clear();
  CheckIp(parsed);
  Require(decoded.fault == roce::Fault::kNone,
          std::string("packet is well-formed, but: ") + roce::FaultName(decoded.fault));
  if (decoded.fault == roce::Fault::kNone) {
    Require(decoded.pad_is_zero, "pad bytes are 0");
    CheckBth(decoded.packet);
    CheckEcn(parsed.datagram.tos, decoded.packet.info());
    CheckPsn(decoded.packet);
  }
  return std::exchange(broken_, {});
}

}  // namespace wire
