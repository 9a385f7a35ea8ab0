// SPDX-License-Identifier: GPL-2.0-only
#include "packet_socket.h"

#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "link.h"

namespace net {
namespace {

constexpr int kQueueBytes = 64 << 20;
constexpr size_t kLargestFrame = 1 << 17;

// Classic BPF: accept UDP to the port in plain IPv4 (no options, no fragment) or IPv6.
std::array<sock_filter, 16> UdpPortFilter(uint16_t port) {
  constexpr uint8_t kReject = 15, kAccept = 14;
  auto jump = [](uint8_t at, uint32_t value, uint8_t yes, uint8_t no) {
    return sock_filter{BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint8_t>(yes - at - 1),
                       static_cast<uint8_t>(no - at - 1), value};
  };
  return {{
      {BPF_LD | BPF_H | BPF_ABS, 0, 0, 12},  // 0 ethertype
      jump(1, ETH_P_IPV6, 9, 2),
      jump(2, ETH_P_IP, 3, kReject),
      {BPF_LD | BPF_B | BPF_ABS, 0, 0, 23},  // 3 IPv4 protocol
      jump(4, 17, 5, kReject),
      {BPF_LD | BPF_H | BPF_ABS, 0, 0, 20},  // 5 fragment word
      {BPF_JMP | BPF_JSET | BPF_K, kReject - 7, 0, 0x3fff},
      {BPF_LD | BPF_H | BPF_ABS, 0, 0, 36},  // 7 destination port
      jump(8, port, kAccept, kReject),
      {BPF_LD | BPF_B | BPF_ABS, 0, 0, 20},  // 9 IPv6 next header
      jump(10, 17, 11, kReject),
      {BPF_LD | BPF_H | BPF_ABS, 0, 0, 56},  // 11 destination port
      jump(12, port, kAccept, kReject),
      {BPF_RET | BPF_K, 0, 0, 0},              // 13 unused
      {BPF_RET | BPF_K, 0, 0, kLargestFrame},  // 14 accept
      {BPF_RET | BPF_K, 0, 0, 0},              // 15 reject
  }};
}

result::Status Configure(int fd, uint16_t udp_dport, int ifindex) {
  auto filter = UdpPortFilter(udp_dport);
  const sock_fprog program = {static_cast<unsigned short>(filter.size()), filter.data()};
  if (setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) != 0)
    return result::FromErrno("SO_ATTACH_FILTER");
  if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &kQueueBytes, sizeof(kQueueBytes)) != 0)
    return result::FromErrno("SO_RCVBUFFORCE");
  const int yes = 1;
  if (setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &yes, sizeof(yes)) != 0)
    return result::FromErrno("PACKET_IGNORE_OUTGOING");
  if (setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &yes, sizeof(yes)) != 0)
    return result::FromErrno("SO_TIMESTAMPNS");
  packet_mreq promiscuous = {};
  promiscuous.mr_ifindex = ifindex;
  promiscuous.mr_type = PACKET_MR_PROMISC;
  if (setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &promiscuous, sizeof(promiscuous)) != 0)
    return result::FromErrno("PACKET_ADD_MEMBERSHIP");
  return {};
}

using Time = std::chrono::system_clock::time_point;

Time StampOf(msghdr& message, Time fallback) {
  for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_TIMESTAMPNS) continue;
    timespec stamp;
    std::memcpy(&stamp, CMSG_DATA(c), sizeof(stamp));
    return Time(std::chrono::seconds(stamp.tv_sec) + std::chrono::nanoseconds(stamp.tv_nsec));
  }
  return fallback;
}

}  // namespace

result::Result<PacketSocket> PacketSocket::Open(const std::string& dev, uint16_t udp_dport) {
  result::Result<int> index = GetIndex(dev);
  if (!index) return index.failure();
  // Protocol 0 first: nothing may arrive before the filter is in place.
  UniqueFd fd(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0));
  if (!fd) return result::FromErrno("socket AF_PACKET");
  result::Status configured = Configure(fd.get(), udp_dport, index.value());
  if (!configured) return configured.failure();
  sockaddr_ll address = {};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(ETH_P_ALL);
  address.sll_ifindex = index.value();
  if (::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0)
    return result::FromErrno("bind AF_PACKET to " + dev);
  return PacketSocket(std::move(fd));
}

result::Status PacketSocket::Send(std::span<const uint8_t> frame) {
  const ssize_t sent = ::send(fd_.get(), frame.data(), frame.size(), 0);
  if (sent != static_cast<ssize_t>(frame.size())) return result::FromErrno("send frame");
  return {};
}

std::optional<PacketSocket::Frame> PacketSocket::Receive(std::chrono::microseconds timeout) {
  pollfd entry = {fd_.get(), POLLIN, 0};
  const timespec limit = {timeout.count() / 1'000'000, timeout.count() % 1'000'000 * 1000};
  if (::ppoll(&entry, 1, &limit, nullptr) <= 0) return std::nullopt;
  Frame frame{Bytes(kLargestFrame), std::chrono::system_clock::now()};
  iovec data = {frame.bytes.data(), frame.bytes.size()};
  alignas(cmsghdr) char control[256];
  msghdr message = {};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  const ssize_t got = ::recvmsg(fd_.get(), &message, MSG_DONTWAIT);
  if (got < 0) return std::nullopt;
  frame.bytes.resize(static_cast<size_t>(got));
  frame.arrival = StampOf(message, frame.arrival);
  return frame;
}

}  // namespace net
