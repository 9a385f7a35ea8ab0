// SPDX-License-Identifier: GPL-2.0-only
#include "packet_socket.h"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "link.h"

namespace net {
namespace {

constexpr int kQueueBytes = 64 << 20;
constexpr size_t kLargestFrame = 1 << 17;

result::Status Configure(int fd, int ifindex) {
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

result::Result<PacketSocket> PacketSocket::Open(const std::string& dev) {
  result::Result<int> index = GetIndex(dev);
  if (!index) return index.failure();
  // Protocol 0 first: nothing may arrive before its own packets are left out.
  UniqueFd fd(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0));
  if (!fd) return result::FromErrno("socket AF_PACKET");
  result::Status configured = Configure(fd.get(), index.value());
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
