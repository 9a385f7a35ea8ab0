// SPDX-License-Identifier: GPL-2.0-only
// What others see of trains, and who stands in their way: a capture in which each frame has to be
// one sound RoCEv2 packet, a plain UDP socket, and an XDP program that lets everything pass.
#include <linux/bpf.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>

#include <CLI/CLI.hpp>

#include <net/datagram.h>
#include <net/fd.h>
#include <net/packet_socket.h>
#include <result/must.h>
#include <roce/packet.h>

namespace {

using result::Must;
using std::chrono::milliseconds;

// Nothing came for so long: that was all. Programs start slowly on a busy machine.
constexpr milliseconds kQuiet{8000};
// Of a packet with 4096 bytes of payload, with all headers that there are.
constexpr size_t kLargest = 4096 + 100;

uint16_t Word(const net::Bytes& frame, size_t at) {
  return at + 1 < frame.size() ? frame[at] << 8 | frame[at + 1] : 0;
}

// UDP to RoCE's port, or part of a datagram that was cut up, which may have been that. The rest is
// housekeeping of other hosts.
bool ConcernsUs(const net::Bytes& frame) {
  constexpr uint16_t kIpv4 = 0x0800, kIpv6 = 0x86dd;
  constexpr uint8_t kUdp = 17, kFragment = 44;
  if (frame.size() < net::kEthernetHeader + net::kIpv6Header) return false;
  const uint8_t* ip = &frame[net::kEthernetHeader];
  if (Word(frame, 12) == kIpv4) {
    const size_t udp = net::kEthernetHeader + 4 * (ip[0] & 15);
    const bool is_part = Word(frame, net::kEthernetHeader + 6) & 0x3fff;
    return ip[9] == kUdp && (is_part || Word(frame, udp + 2) == roce::kUdpPort);
  }
  const size_t udp = net::kEthernetHeader + net::kIpv6Header;
  return Word(frame, 12) == kIpv6 &&
         (ip[6] == kFragment || (ip[6] == kUdp && Word(frame, udp + 2) == roce::kUdpPort));
}

// What is wrong with a frame, or an empty string.
std::string FaultOf(const net::Bytes& frame) {
  const auto parsed = net::ParseFrame(frame);
  if (!parsed) return "no whole UDP datagram, " + std::to_string(frame.size()) + " bytes";
  if (!parsed->ip_checksum_ok) return "IP checksum";
  if (!parsed->udp_checksum_ok) return "UDP checksum";
  if (parsed->datagram.payload.size() > kLargest) return "larger than a packet";
  const roce::Fault fault = roce::Decode(parsed->datagram).fault;
  return fault == roce::Fault::kNone ? "" : roce::FaultName(fault);
}

int Report(size_t good, size_t bad, size_t least) {
  std::printf("%zu good, %zu bad\n", good, bad);
  return bad == 0 && good >= least ? 0 : 1;
}

// Each frame that comes in through a netdev, until it is quiet.
int Capture(const std::string& dev, size_t least) {
  net::PacketSocket socket = Must(net::PacketSocket::Open(dev));
  size_t good = 0, bad = 0;

  std::puts("listening");
  std::fflush(stdout);
  auto patience = std::chrono::microseconds(std::chrono::seconds(60));
  while (const auto frame = socket.Receive(patience)) {
    if (!ConcernsUs(frame->bytes)) continue;
    const std::string fault = FaultOf(frame->bytes);
    if (fault.empty())
      good++;
    else if (bad++ < 10)
      std::printf("bad frame: %s\n", fault.c_str());
    patience = kQuiet;
  }
  return Report(good, bad, least);
}

net::UniqueFd Bound() {
  net::UniqueFd fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const int room = 8 << 20;
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(roce::kUdpPort);
  ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room));
  if (::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0)
    Must(result::Status(result::FromErrno("bind")));
  return fd;
}

// Without the IP header there is no ICRC to look at: each datagram is a packet by its length and
// its opcode, no train. Packets of a train have the same length but for the last.
int Datagrams(size_t least) {
  const net::UniqueFd fd = Bound();
  size_t good = 0, bad = 0;
  net::Bytes bytes(65536);

  std::puts("listening");
  std::fflush(stdout);
  pollfd wait = {.fd = fd.get(), .events = POLLIN, .revents = 0};
  for (int patience = 60000; ::poll(&wait, 1, patience) == 1; patience = kQuiet.count()) {
    const ssize_t size = ::recv(fd.get(), bytes.data(), bytes.size(), 0);
    const bool sound = size >= 16 && static_cast<size_t>(size) <= kLargest && size % 4 == 0 &&
                       roce::GetOpcode(bytes[0]).valid;
    (sound ? good : bad)++;
  }
  return Report(good, bad, least);
}

int Bpf(int command, bpf_attr* attr) {
  return static_cast<int>(::syscall(SYS_bpf, command, attr, sizeof(*attr)));
}

net::UniqueFd LoadProgram(int verdict) {
  const bpf_insn program[] = {
      {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .src_reg = 0, .off = 0, .imm = verdict},
      {.code = BPF_JMP | BPF_EXIT, .dst_reg = 0, .src_reg = 0, .off = 0, .imm = 0},
  };
  static const char license[] = "GPL";
  bpf_attr attr = {};
  attr.prog_type = BPF_PROG_TYPE_XDP;
  attr.insn_cnt = std::size(program);
  attr.insns = reinterpret_cast<uint64_t>(program);
  attr.license = reinterpret_cast<uint64_t>(license);
  attr.prog_flags = BPF_F_XDP_HAS_FRAGS;
  net::UniqueFd fd(Bpf(BPF_PROG_LOAD, &attr));
  if (!fd) Must(result::Status(result::FromErrno("BPF_PROG_LOAD")));
  return fd;
}

// Stays as long as this program.
int Xdp(const std::string& dev, bool native, bool drop) {
  const net::UniqueFd program = LoadProgram(drop ? XDP_DROP : XDP_PASS);
  bpf_attr attr = {};
  attr.link_create.prog_fd = program.get();
  attr.link_create.target_ifindex = ::if_nametoindex(dev.c_str());
  attr.link_create.attach_type = BPF_XDP;
  attr.link_create.flags = native ? XDP_FLAGS_DRV_MODE : XDP_FLAGS_SKB_MODE;
  const net::UniqueFd link(Bpf(BPF_LINK_CREATE, &attr));
  if (!link) Must(result::Status(result::FromErrno("BPF_LINK_CREATE")));
  std::puts("listening");
  std::fflush(stdout);
  ::pause();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"what others see of trains"};
  std::string dev;
  size_t least = 1;
  bool native = false, drop = false;

  app.require_subcommand(1);
  CLI::App* capture = app.add_subcommand("capture", "each incoming frame of a netdev is sound");
  capture->add_option("DEV", dev)->required();
  capture->add_option("--least", least, "frames that must come");
  CLI::App* udp = app.add_subcommand("udp", "each datagram of a plain socket is a packet");
  udp->add_option("--least", least, "datagrams that must come");
  CLI::App* xdp = app.add_subcommand("xdp", "an XDP program, until this one is killed");
  xdp->add_option("DEV", dev)->required();
  xdp->add_flag("--native", native);
  xdp->add_flag("--drop", drop);
  CLI11_PARSE(app, argc, argv);

  try {
    if (*capture) return Capture(dev, least);
    if (*udp) return Datagrams(least);
    return Xdp(dev, native, drop);
  } catch (const result::SetupFailure& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 2;
  }
}
