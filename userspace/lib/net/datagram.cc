// SPDX-License-Identifier: GPL-2.0-only
#include "datagram.h"

#include <algorithm>

namespace net {
namespace {

constexpr uint16_t kEtherIpv4 = 0x0800;
constexpr uint16_t kEtherIpv6 = 0x86dd;
constexpr uint8_t kProtoUdp = 17;
constexpr uint8_t kVersionIhl = 0x45;
constexpr uint16_t kFlagDf = 0x4000;

void Put8(Bytes& out, uint8_t value) { out.push_back(value); }

void Put16(Bytes& out, uint16_t value) {
  out.push_back(static_cast<uint8_t>(value >> 8));
  out.push_back(static_cast<uint8_t>(value));
}

void PutRaw(Bytes& out, std::span<const uint8_t> raw) {
  out.insert(out.end(), raw.begin(), raw.end());
}

void Set16(Bytes& out, size_t at, uint16_t value) {
  out[at] = static_cast<uint8_t>(value >> 8);
  out[at + 1] = static_cast<uint8_t>(value);
}

uint16_t Get16(std::span<const uint8_t> in, size_t at) {
  return static_cast<uint16_t>(in[at] << 8 | in[at + 1]);
}

size_t AddressSize(IpVersion version) { return version == IpVersion::kV4 ? 4 : 16; }

Bytes BuildIpv4(const Datagram& d, size_t udp_size) {
  Bytes ip;
  Put8(ip, kVersionIhl);
  Put8(ip, d.tos);
  Put16(ip, d.ip_length.value_or(static_cast<uint16_t>(kIpv4Header + udp_size)));
  Put16(ip, d.ip_id);
  Put16(ip, d.dont_fragment ? kFlagDf : 0);
  Put8(ip, d.ttl);
  Put8(ip, kProtoUdp);
  Put16(ip, 0);
  PutRaw(ip, {d.src.wire(), 4});
  PutRaw(ip, {d.dst.wire(), 4});
  Set16(ip, 10, static_cast<uint16_t>(~ChecksumAdd(0, ip)));
  return ip;
}

Bytes BuildIpv6(const Datagram& d, size_t udp_size) {
  Bytes ip;
  Put8(ip, static_cast<uint8_t>(0x60 | d.tos >> 4));
  Put8(ip, static_cast<uint8_t>((d.tos & 0xf) << 4 | (d.flow_label >> 16 & 0xf)));
  Put16(ip, static_cast<uint16_t>(d.flow_label));
  Put16(ip, d.ip_length.value_or(static_cast<uint16_t>(udp_size)));
  Put8(ip, kProtoUdp);
  Put8(ip, d.ttl);
  PutRaw(ip, {d.src.wire(), 16});
  PutRaw(ip, {d.dst.wire(), 16});
  return ip;
}

// Sum over pseudo header, UDP header and payload, as RFC 768 and RFC 8200 have it.
uint32_t UdpSum(const Datagram& d, std::span<const uint8_t> udp_header, size_t udp_size) {
  const size_t address = AddressSize(d.version());
  uint32_t sum = ChecksumAdd(0, {d.src.wire(), address});
  sum = ChecksumAdd(sum, {d.dst.wire(), address});
  Bytes rest;
  Put16(rest, static_cast<uint16_t>(udp_size >> 16));
  Put16(rest, static_cast<uint16_t>(udp_size));
  Put16(rest, kProtoUdp);
  sum = ChecksumAdd(sum, rest);
  sum = ChecksumAdd(sum, udp_header);
  return ChecksumAdd(sum, d.payload);
}

uint16_t UdpChecksumField(const Datagram& d, std::span<const uint8_t> header, size_t udp_size) {
  if (d.udp_checksum == UdpChecksum::kZero) return 0;
  uint16_t sum = static_cast<uint16_t>(~UdpSum(d, header, udp_size));
  if (d.udp_checksum == UdpChecksum::kWrong) sum ^= 0x5555;
  return sum == 0 ? 0xffff : sum;
}

bool ParseIpv4(std::span<const uint8_t> ip, ParsedDatagram& out, size_t& udp_size) {
  if (ip.size() < kIpv4Header || ip[0] != kVersionIhl || ip[9] != kProtoUdp) return false;
  const uint16_t fragment = Get16(ip, 6);
  const uint16_t total = Get16(ip, 2);
  if ((fragment & ~kFlagDf) != 0 || total < kIpv4Header + kUdpHeader || total > ip.size())
    return false;
  Datagram& d = out.datagram;
  d.tos = ip[1];
  d.ip_id = Get16(ip, 4);
  d.dont_fragment = (fragment & kFlagDf) != 0;
  d.ttl = ip[8];
  d.src = IpAddress::FromV4(&ip[12]);
  d.dst = IpAddress::FromV4(&ip[16]);
  out.ip_checksum_ok = ChecksumAdd(0, ip.first(kIpv4Header)) == 0xffff;
  udp_size = total - kIpv4Header;
  return true;
}

bool ParseIpv6(std::span<const uint8_t> ip, ParsedDatagram& out, size_t& udp_size) {
  if (ip.size() < kIpv6Header || ip[0] >> 4 != 6 || ip[6] != kProtoUdp) return false;
  udp_size = Get16(ip, 4);
  if (udp_size < kUdpHeader || kIpv6Header + udp_size > ip.size()) return false;
  Datagram& d = out.datagram;
  d.tos = static_cast<uint8_t>((ip[0] & 0xf) << 4 | ip[1] >> 4);
  d.flow_label = static_cast<uint32_t>((ip[1] & 0xf) << 16 | Get16(ip, 2));
  d.ttl = ip[7];
  d.src = IpAddress::FromV6(&ip[8]);
  d.dst = IpAddress::FromV6(&ip[24]);
  return true;
}

}  // namespace

uint32_t ChecksumAdd(uint32_t sum, std::span<const uint8_t> data) {
  for (size_t i = 0; i < data.size(); i += 2)
    sum += static_cast<uint32_t>(data[i] << 8 | (i + 1 < data.size() ? data[i + 1] : 0));
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return sum;
}

Bytes BuildIpUdp(const Datagram& d) {
  const size_t udp_size = kUdpHeader + d.payload.size();
  Bytes headers = d.version() == IpVersion::kV4 ? BuildIpv4(d, udp_size) : BuildIpv6(d, udp_size);
  Bytes udp;
  Put16(udp, d.sport);
  Put16(udp, d.dport);
  Put16(udp, d.udp_length.value_or(static_cast<uint16_t>(udp_size)));
  Put16(udp, 0);
  Set16(udp, 6, UdpChecksumField(d, udp, udp_size));
  PutRaw(headers, udp);
  return headers;
}

Bytes BuildFrame(const Datagram& d) {
  Bytes frame;
  PutRaw(frame, d.mac_dst.bytes);
  PutRaw(frame, d.mac_src.bytes);
  Put16(frame, d.version() == IpVersion::kV4 ? kEtherIpv4 : kEtherIpv6);
  PutRaw(frame, BuildIpUdp(d));
  PutRaw(frame, d.payload);
  return frame;
}

std::optional<ParsedDatagram> ParseFrame(std::span<const uint8_t> frame) {
  if (frame.size() < kEthernetHeader) return std::nullopt;
  ParsedDatagram out;
  Datagram& d = out.datagram;
  std::copy_n(frame.begin(), 6, d.mac_dst.bytes.begin());
  std::copy_n(frame.begin() + 6, 6, d.mac_src.bytes.begin());
  const uint16_t type = Get16(frame, 12);
  const std::span<const uint8_t> ip = frame.subspan(kEthernetHeader);
  size_t udp_size = 0;
  if (type == kEtherIpv4 ? !ParseIpv4(ip, out, udp_size)
                         : type != kEtherIpv6 || !ParseIpv6(ip, out, udp_size))
    return std::nullopt;

  const std::span<const uint8_t> udp = ip.subspan(d.ip_header_size(), udp_size);
  if (Get16(udp, 4) < kUdpHeader || Get16(udp, 4) > udp_size) return std::nullopt;
  d.sport = Get16(udp, 0);
  d.dport = Get16(udp, 2);
  out.udp_checksum_field = Get16(udp, 6);
  d.payload.assign(udp.begin() + kUdpHeader, udp.begin() + Get16(udp, 4));
  if (Get16(udp, 4) != udp_size) d.ip_length = static_cast<uint16_t>(udp_size);
  d.udp_checksum = out.udp_checksum_field == 0 ? UdpChecksum::kZero : UdpChecksum::kRight;
  if (out.udp_checksum_field != 0)
    out.udp_checksum_ok = UdpSum(d, udp.first(kUdpHeader), Get16(udp, 4)) == 0xffff;
  out.trailing = ip.size() - d.ip_header_size() - udp_size;
  return out;
}

}  // namespace net
