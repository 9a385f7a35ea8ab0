// SPDX-License-Identifier: GPL-2.0-only
// RDS between two machines, with every byte checked: messages there and back, a stream of them, and
// RDMA WRITE and READ of the other's memory, all over RDS's IB transport and no other.
//
//   rds_check serve ADDRESS          says "bound", then answers until it is killed
//   rds_check ask ADDRESS SERVER
//
// The client leads, and fails if the server is silent for long; the server ends with status 1 when
// it finds something wrong.
#include <arpa/inet.h>
#include <linux/rds.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <verbs/buffer.h>

namespace {

using Bytes = std::vector<uint8_t>;

constexpr uint16_t kPort = 4000;
// RDS cuts messages into pieces of a page. The largest is more than a socket sends at once unless
// it is told to: RDS says EMSGSIZE above SO_SNDBUF.
constexpr uint32_t kSizes[] = {1, 100, 4080, 4096, 4097, 20000, 65536, 180000};
constexpr int kSocketBuffer = 208 << 10;
constexpr unsigned kStreamRounds = 24;
constexpr int kSilenceSeconds = 60;

enum Kind : uint32_t { kEcho, kStream, kCount, kWrite, kRead, kMoved, kGood };

struct Header {
  uint32_t kind;
  uint32_t number;
  uint32_t size;  // Of the data: behind this header, or those that RDMA moves.
};

[[noreturn]] void Fail(const std::string& what) {
  std::fprintf(stderr, "rds_check: %s\n", what.c_str());
  std::exit(1);
}

void Check(bool good, const std::string& what) {
  if (!good) Fail(what);
}

void Must(ssize_t result, const std::string& what) {
  if (result < 0) Fail(what + ": " + std::strerror(errno));
}

Bytes Pattern(size_t size, uint32_t seed) {
  Bytes data(size);
  verbs::FillPattern(std::as_writable_bytes(std::span(data)), seed);
  return data;
}

bool Equal(std::span<const uint8_t> a, std::span<const uint8_t> b) {
  return std::ranges::equal(a, b);
}

sockaddr_in Address(const char* text) {
  sockaddr_in address = {
      .sin_family = AF_INET, .sin_port = htons(kPort), .sin_addr = {}, .sin_zero = {}};
  Check(inet_pton(AF_INET, text, &address.sin_addr) == 1, "an IPv4 address: " + std::string(text));
  return address;
}

// What a message brings, or the news of an RDMA operation of ours that is over.
struct Message {
  Header header = {};
  Bytes data;
  sockaddr_in from = {};
  std::optional<rds_rdma_cookie_t> memory;  // The sender's, as RDMA wants it named.
  std::optional<rds_rdma_notify> done;
};

// Something for RDS to do along with a message.
template <typename Args>
struct Order {
  alignas(cmsghdr) uint8_t bytes[CMSG_SPACE(sizeof(Args))] = {};

  Order(int type, const Args& args) {
    cmsghdr head = {};
    head.cmsg_len = CMSG_LEN(sizeof(Args));
    head.cmsg_level = SOL_RDS;
    head.cmsg_type = type;
    std::memcpy(bytes, &head, sizeof(head));
    std::memcpy(bytes + CMSG_LEN(0), &args, sizeof(args));
  }
};

class Socket {
 public:
  explicit Socket(sockaddr_in address) : fd_(socket(AF_RDS, SOCK_SEQPACKET, 0)) {
    Must(fd_, "socket");
    // No TCP and no loopback: bind fails if IB has no device with this address.
    Set(SOL_RDS, SO_RDS_TRANSPORT, int{RDS_TRANS_IB});
    Set(SOL_SOCKET, SO_SNDBUF, kSocketBuffer);
    Set(SOL_SOCKET, SO_RCVBUF, kSocketBuffer);
    Must(bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), "bind");
  }

  void LimitSilence() const {
    Set(SOL_SOCKET, SO_RCVTIMEO, timeval{.tv_sec = kSilenceSeconds, .tv_usec = 0});
    Set(SOL_SOCKET, SO_SNDTIMEO, timeval{.tv_sec = kSilenceSeconds, .tv_usec = 0});
  }
  void Send(sockaddr_in to, const Header& header, std::span<const uint8_t> data = {},
            std::span<uint8_t> order = {}) const {
    iovec parts[] = {{const_cast<Header*>(&header), sizeof(header)},
                     {const_cast<uint8_t*>(data.data()), data.size()}};
    msghdr msg = {};
    msg.msg_name = &to;
    msg.msg_namelen = sizeof(to);
    msg.msg_iov = parts;
    msg.msg_iovlen = std::size(parts);
    msg.msg_control = order.data();
    msg.msg_controllen = order.size();
    Must(sendmsg(fd_, &msg, 0), "a message of " + std::to_string(data.size()) + " bytes");
  }
  Message Receive() const {
    alignas(cmsghdr) uint8_t control[256];
    Bytes bytes(1 << 20);
    Message message;
    iovec part = {bytes.data(), bytes.size()};
    msghdr msg = {};
    msg.msg_name = &message.from;
    msg.msg_namelen = sizeof(message.from);
    msg.msg_iov = &part;
    msg.msg_iovlen = 1;
    msg.msg_control = control;
    msg.msg_controllen = sizeof(control);
    const ssize_t size = recvmsg(fd_, &msg, 0);
    Must(size, "receive");
    Check(!(msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC)), "a message is cut off");
    TakeNews(msg, message);
    if (message.done) return message;
    Check(static_cast<size_t>(size) >= sizeof(Header), "a message without a header");
    std::memcpy(&message.header, bytes.data(), sizeof(Header));
    message.data.assign(bytes.begin() + sizeof(Header), bytes.begin() + size);
    return message;
  }
  // Connections of this machine that are up, with the GIDs of the devices that carry them.
  bool HasIbConnection(sockaddr_in peer) const {
    std::vector<rds_info_rdma_connection> rows(16);
    socklen_t length = static_cast<socklen_t>(rows.size() * sizeof(rows[0]));
    Must(getsockopt(fd_, SOL_RDS, RDS_INFO_IB_CONNECTIONS, rows.data(), &length), "RDS's info");
    rows.resize(length / sizeof(rows[0]));
    return std::ranges::any_of(rows, [&](const auto& row) {
      return row.dst_addr == peer.sin_addr.s_addr &&
             std::ranges::any_of(row.dst_gid, [](uint8_t byte) { return byte != 0; });
    });
  }

 private:
  template <typename Value>
  void Set(int level, int name, Value value) const {
    Must(setsockopt(fd_, level, name, &value, sizeof(value)), "option " + std::to_string(name));
  }
  static void TakeNews(msghdr& msg, Message& message) {
    for (cmsghdr* c = CMSG_FIRSTHDR(&msg); c != nullptr; c = CMSG_NXTHDR(&msg, c)) {
      if (c->cmsg_level != SOL_RDS) continue;
      if (c->cmsg_type == RDS_CMSG_RDMA_DEST)
        std::memcpy(&message.memory.emplace(), CMSG_DATA(c), sizeof(rds_rdma_cookie_t));
      if (c->cmsg_type == RDS_CMSG_RDMA_STATUS)
        std::memcpy(&message.done.emplace(), CMSG_DATA(c), sizeof(rds_rdma_notify));
    }
  }

  int fd_;
};

// Pages of their own: RDS maps whole ones.
class Pages {
 public:
  explicit Pages(size_t size) : size_(size) {
    void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    Check(memory != MAP_FAILED, "mmap");
    memory_ = static_cast<uint8_t*>(memory);
  }
  ~Pages() { munmap(memory_, size_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  std::span<uint8_t> bytes() const { return {memory_, size_}; }
  rds_iovec vec() const { return {.addr = reinterpret_cast<uint64_t>(memory_), .bytes = size_}; }

 private:
  uint8_t* memory_;
  size_t size_;
};

//
// The server
//

// The next message is the news that the RDMA operation is over: the client is waiting.
void AwaitMoved(const Socket& socket, uint32_t number) {
  const Message message = socket.Receive();
  Check(message.done.has_value(), "a message before the RDMA operation is over");
  Check(message.done->user_token == number, "the token of another operation");
  Check(message.done->status == RDS_RDMA_SUCCESS,
        "RDMA status " + std::to_string(message.done->status));
}

// Into or from the client's memory, together with a message that comes behind it: RDS lets go of
// the memory at that message, hence the fence.
void Move(const Socket& socket, const Message& request) {
  const auto& [kind, number, size] = request.header;
  Check(request.memory.has_value(), "a request for RDMA without memory");
  const Pages pages(size);
  if (kind == kWrite) std::ranges::copy(Pattern(size, number), pages.bytes().begin());
  rds_iovec local = pages.vec();
  rds_rdma_args args = {};
  args.cookie = *request.memory;
  args.remote_vec = {.addr = 0, .bytes = size};
  args.local_vec_addr = reinterpret_cast<uint64_t>(&local);
  args.nr_local = 1;
  args.flags = RDS_RDMA_NOTIFY_ME | RDS_RDMA_FENCE | (kind == kWrite ? RDS_RDMA_READWRITE : 0);
  args.user_token = number;
  Order order(RDS_CMSG_RDMA_ARGS, args);
  socket.Send(request.from, {kMoved, number, 0}, {}, order.bytes);
  AwaitMoved(socket, number);
  if (kind == kRead) Check(Equal(pages.bytes(), Pattern(size, number)), "what was read by RDMA");
  socket.Send(request.from, {kGood, number, 0});
}

[[noreturn]] void Serve(sockaddr_in address) {
  const Socket socket(address);
  std::puts("bound");
  std::fflush(stdout);
  for (uint32_t streamed = 0;;) {
    const Message request = socket.Receive();
    const auto& [kind, number, size] = request.header;
    if (kind == kEcho || kind == kStream)
      Check(Equal(request.data, Pattern(size, number)), "request " + std::to_string(number));
    switch (kind) {
      case kEcho:
        socket.Send(request.from, {kEcho, number, size}, Pattern(size, ~number));
        break;
      case kStream:
        Check(number == streamed++, "message " + std::to_string(number) + " of a stream");
        break;
      case kCount:
        socket.Send(request.from, {kCount, streamed, 0});
        break;
      case kWrite:
      case kRead:
        Move(socket, request);
        break;
      default:
        Fail("a request of kind " + std::to_string(kind));
    }
  }
}

//
// The client
//

void Echoes(const Socket& socket, sockaddr_in server) {
  uint32_t number = 0;
  for (uint32_t size : kSizes) {
    ++number;
    socket.Send(server, {kEcho, number, size}, Pattern(size, number));
    const Message answer = socket.Receive();
    const std::string what = "the answer to " + std::to_string(size) + " bytes";
    Check(answer.header.kind == kEcho && answer.header.number == number, what);
    Check(Equal(answer.data, Pattern(size, ~number)), what + ": bytes");
  }
}

// As fast as they go: more than the buffers of both sockets, so RDS has to hold the sender back.
void Stream(const Socket& socket, sockaddr_in server) {
  uint32_t number = 0;
  for (unsigned round = 0; round < kStreamRounds; ++round)
    for (uint32_t size : kSizes) {
      socket.Send(server, {kStream, number, size}, Pattern(size, number));
      ++number;
    }
  socket.Send(server, {kCount, 0, 0});
  const Message answer = socket.Receive();
  Check(answer.header.kind == kCount && answer.header.number == number,
        std::to_string(answer.header.number) + " messages of " + std::to_string(number));
}

void Expect(const Socket& socket, Kind kind, uint32_t number) {
  const Message answer = socket.Receive();
  Check(answer.header.kind == kind && answer.header.number == number,
        "kind " + std::to_string(answer.header.kind) + " instead of " + std::to_string(kind));
}

// The server writes or reads memory of this program.
void Offer(const Socket& socket, sockaddr_in server, Kind kind, uint32_t number, uint32_t size) {
  const Pages pages(size);
  if (kind == kRead) std::ranges::copy(Pattern(size, number), pages.bytes().begin());
  rds_get_mr_args args = {};
  args.vec = pages.vec();
  args.flags = RDS_RDMA_READWRITE | RDS_RDMA_USE_ONCE | RDS_RDMA_INVALIDATE;
  Order order(RDS_CMSG_RDMA_MAP, args);
  socket.Send(server, {kind, number, size}, {}, order.bytes);
  Expect(socket, kMoved, number);
  Expect(socket, kGood, number);
  Check(Equal(pages.bytes(), Pattern(size, number)),
        std::to_string(size) + " bytes of memory after RDMA");
}

void Ask(sockaddr_in address, sockaddr_in server) {
  const Socket socket(address);
  socket.LimitSilence();
  Echoes(socket, server);
  Check(socket.HasIbConnection(server), "no connection over IB");
  Stream(socket, server);
  uint32_t number = 1000;
  for (uint32_t size : {4096u, 100000u, 1u << 20}) {
    Offer(socket, server, kWrite, ++number, size);
    Offer(socket, server, kRead, ++number, size);
  }
  std::puts("good");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view role = argc > 1 ? argv[1] : "";
  if (role == "serve" && argc == 3) Serve(Address(argv[2]));
  if (role == "ask" && argc == 4)
    Ask(Address(argv[2]), Address(argv[3]));
  else
    Fail("usage: rds_check serve ADDRESS | ask ADDRESS SERVER");
}
