// SPDX-License-Identifier: GPL-2.0-only
// UCX between two processes, with every byte checked, which ucx_perftest does not do: tagged and
// active messages, put and get, atomics, in sizes on both sides of UCX's protocol switches.
//
//   ucx_check server PORT         waits for the client (TCP, to exchange UCX addresses)
//   ucx_check client HOST PORT
//
// What UCX uses is said by UCX_TLS and UCX_NET_DEVICES.
#include <arpa/inet.h>
#include <sys/socket.h>
#include <ucp/api/ucp.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <verbs/buffer.h>

namespace {

using Data = std::vector<uint8_t>;

constexpr size_t kSizes[] = {1, 8, 100, 1000, 8192, 20000, 65536, 300000, 1 << 20};
constexpr size_t kMemory = 1 << 20;
constexpr unsigned kAmId = 7;

[[noreturn]] void Fail(const std::string& what) {
  std::fprintf(stderr, "ucx_check: %s\n", what.c_str());
  std::exit(1);
}

void Must(ucs_status_t status, std::string_view what) {
  if (status != UCS_OK) Fail(std::string(what) + ": " + ucs_status_string(status));
}

void Check(bool good, const std::string& what) {
  if (!good) Fail(what);
}

Data Pattern(size_t size, uint32_t seed) {
  Data data(size);
  verbs::FillPattern(std::as_writable_bytes(std::span(data)), seed);
  return data;
}

// The TCP connection over which the two find each other.
class Channel {
 public:
  explicit Channel(int fd) : fd_(fd) {}

  static Channel Accept(uint16_t port) {
    const int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    sockaddr_in addr = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {}, .sin_zero = {}};
    Check(bind(listener, reinterpret_cast<sockaddr*>(&addr), sizeof(addr)) == 0, "bind");
    Check(listen(listener, 1) == 0, "listen");
    return Channel(accept(listener, nullptr, nullptr));
  }
  static Channel Connect(const char* host, uint16_t port) {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in addr = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {}, .sin_zero = {}};
    inet_pton(AF_INET, host, &addr.sin_addr);
    Check(connect(fd, reinterpret_cast<sockaddr*>(&addr), sizeof(addr)) == 0, "connect");
    return Channel(fd);
  }
  // In one piece: the last word is one that the other side does not wait for the end of.
  void Send(const void* bytes, size_t size) const {
    const uint64_t n = size;
    Data data(sizeof(n) + size);
    std::memcpy(data.data(), &n, sizeof(n));
    std::memcpy(data.data() + sizeof(n), bytes, size);
    Check(write(fd_, data.data(), data.size()) == static_cast<ssize_t>(data.size()), "write");
  }
  Data Receive() const {
    uint64_t n = 0;
    Read(&n, sizeof(n));
    Data data(n);
    Read(data.data(), n);
    return data;
  }
  // Whether there is something to be read. Without the other side there never will be.
  bool HasInput() const {
    char byte;
    const ssize_t n = recv(fd_, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    Check(n == 1 || (n < 0 && errno == EAGAIN), "the other side is gone");
    return n == 1;
  }

 private:
  void Read(void* to, size_t size) const {
    Check(recv(fd_, to, size, MSG_WAITALL) == static_cast<ssize_t>(size), "read");
  }
  int fd_;
};

// A worker and its endpoint to the other process.
class Ucx {
 public:
  explicit Ucx(const Channel& channel) : channel_(channel) {
    ucp_params_t params = {};
    params.field_mask = UCP_PARAM_FIELD_FEATURES;
    params.features = UCP_FEATURE_TAG | UCP_FEATURE_AM | UCP_FEATURE_RMA | UCP_FEATURE_AMO64;
    Must(ucp_init(&params, nullptr, &context_), "ucp_init");
    ucp_worker_params_t wp = {};
    Must(ucp_worker_create(context_, &wp, &worker_), "worker");
    SetAmHandler();
    ucp_address_t* address;
    size_t length;
    Must(ucp_worker_get_address(worker_, &address, &length), "address");
    channel.Send(address, length);
    const Data peer = channel.Receive();
    ucp_ep_params_t ep = {};
    ep.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
    ep.address = reinterpret_cast<const ucp_address_t*>(peer.data());
    Must(ucp_ep_create(worker_, &ep, &ep_), "endpoint");
    ucp_worker_release_address(worker_, address);
  }

  ucp_ep_h ep() const { return ep_; }
  ucp_context_h context() const { return context_; }

  void Wait(ucs_status_ptr_t request, std::string_view what) const {
    if (UCS_PTR_IS_ERR(request)) Must(UCS_PTR_STATUS(request), what);
    if (request == nullptr) return;
    while (ucp_request_check_status(request) == UCS_INPROGRESS) Progress();
    Must(ucp_request_check_status(request), what);
    ucp_request_free(request);
  }
  void Flush() const {
    const ucp_request_param_t param = {};
    Wait(ucp_ep_flush_nbx(ep_, &param), "flush");
  }
  void SendTagged(const Data& data, ucp_tag_t tag) const {
    const ucp_request_param_t param = {};
    Wait(ucp_tag_send_nbx(ep_, data.data(), data.size(), tag, &param), "tag send");
  }
  Data ReceiveTagged(size_t size, ucp_tag_t tag) const {
    const ucp_request_param_t param = {};
    Data data(size);
    Wait(ucp_tag_recv_nbx(worker_, data.data(), size, tag, ~ucp_tag_t{0}, &param), "tag receive");
    return data;
  }
  void SendAm(const Data& data) const {
    const ucp_request_param_t param = {};
    Wait(ucp_am_send_nbx(ep_, kAmId, nullptr, 0, data.data(), data.size(), &param), "am send");
  }
  // The next active message; at most one is on its way in this test.
  Data ReceiveAm() {
    while (!am_there_) Progress();
    am_there_ = false;
    if (am_rndv_ != nullptr) {
      const ucp_request_param_t param = {};
      Wait(ucp_am_recv_data_nbx(worker_, am_rndv_, am_.data(), am_.size(), &param), "am data");
      am_rndv_ = nullptr;
    }
    return am_;
  }
  // Nothing of either side is under way any more. UCX works only while it is called, so this keeps
  // calling until the other side has said so, too.
  void End() const {
    Flush();
    channel_.Send("x", 1);
    while (!channel_.HasInput()) Progress();
  }

 private:
  // While nothing comes it looks now and then, since that is a system call, whether the other side
  // is still there: UCX waits for ever, or half a minute, for one that is not.
  void Progress() const {
    constexpr unsigned kIdle = 10000;

    if (ucp_worker_progress(worker_) == 0 && ++idle_ % kIdle == 0) channel_.HasInput();
  }
  void SetAmHandler() {
    ucp_am_handler_param_t param = {};
    param.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB |
                       UCP_AM_HANDLER_PARAM_FIELD_ARG;
    param.id = kAmId;
    param.cb = OnAm;
    param.arg = this;
    Must(ucp_worker_set_am_recv_handler(worker_, &param), "am handler");
  }
  static ucs_status_t OnAm(void* arg, const void*, size_t, void* data, size_t length,
                           const ucp_am_recv_param_t* param) {
    Ucx& ucx = *static_cast<Ucx*>(arg);
    ucx.am_.assign(length, 0);
    ucx.am_there_ = true;
    if (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) {
      ucx.am_rndv_ = data;
      return UCS_INPROGRESS;
    }
    std::memcpy(ucx.am_.data(), data, length);
    return UCS_OK;
  }

  const Channel& channel_;
  mutable unsigned idle_ = 0;
  ucp_context_h context_ = nullptr;
  ucp_worker_h worker_ = nullptr;
  ucp_ep_h ep_ = nullptr;
  Data am_;
  void* am_rndv_ = nullptr;
  bool am_there_ = false;
};

// There with one pattern, back with another.
void Messages(Ucx& ucx, bool client) {
  unsigned seed = 1;
  for (size_t size : kSizes) {
    const Data there = Pattern(size, ++seed), back = Pattern(size, ++seed);
    const std::string what = std::to_string(size) + " bytes";
    if (client) {
      ucx.SendTagged(there, seed);
      Check(ucx.ReceiveTagged(size, seed + 1) == back, "tag, " + what);
      ucx.SendAm(there);
      Check(ucx.ReceiveAm() == back, "am, " + what);
    } else {
      Check(ucx.ReceiveTagged(size, seed) == there, "tag, " + what);
      ucx.SendTagged(back, seed + 1);
      Check(ucx.ReceiveAm() == there, "am, " + what);
      ucx.SendAm(back);
    }
  }
}

uint64_t Atomic(const Ucx& ucx, ucp_atomic_op_t op, uint64_t value, uint64_t reply, uint64_t to,
                ucp_rkey_h rkey) {
  ucp_request_param_t param = {};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_REPLY_BUFFER;
  param.datatype = ucp_dt_make_contig(8);
  param.reply_buffer = &reply;
  ucx.Wait(ucp_atomic_op_nbx(ucx.ep(), op, &value, 1, to, rkey, &param), "atomic");
  return reply;
}

void Atomics(const Ucx& ucx, uint64_t to, ucp_rkey_h rkey) {
  Check(Atomic(ucx, UCP_ATOMIC_OP_ADD, 5, 0, to, rkey) == 100, "fetch and add");
  Check(Atomic(ucx, UCP_ATOMIC_OP_ADD, 7, 0, to, rkey) == 105, "second fetch and add");
  // Compares with the operand, swaps the reply buffer in.
  Check(Atomic(ucx, UCP_ATOMIC_OP_CSWAP, 112, 9, to, rkey) == 112, "compare and swap");
  Check(Atomic(ucx, UCP_ATOMIC_OP_CSWAP, 1, 2, to, rkey) == 9, "compare and swap of another");
  Check(Atomic(ucx, UCP_ATOMIC_OP_SWAP, 77, 0, to, rkey) == 9, "swap");
}

// The client's part of one-sided operations; the first 8 bytes are for the atomics.
void Reach(const Ucx& ucx, uint64_t memory, ucp_rkey_h rkey) {
  const ucp_request_param_t param = {};
  unsigned seed = 100;
  for (size_t size : kSizes) {
    if (size + 64 > kMemory) continue;
    const Data data = Pattern(size, ++seed);
    Data back(size);
    ucx.Wait(ucp_put_nbx(ucx.ep(), data.data(), size, memory + 64, rkey, &param), "put");
    ucx.Flush();
    ucx.Wait(ucp_get_nbx(ucx.ep(), back.data(), size, memory + 64, rkey, &param), "get");
    Check(back == data, "put and get, " + std::to_string(size) + " bytes");
  }
  Atomics(ucx, memory, rkey);
}

// The server's memory, as the client knows it.
struct Target {
  uint64_t address;
  ucp_rkey_h rkey;
};

Target ReceiveTarget(const Ucx& ucx, const Channel& channel) {
  const Data where = channel.Receive(), packed = channel.Receive();
  Target target;
  std::memcpy(&target.address, where.data(), sizeof(target.address));
  Must(ucp_ep_rkey_unpack(ucx.ep(), packed.data(), &target.rkey), "rkey");
  return target;
}

void OfferTarget(const Ucx& ucx, const Channel& channel, std::vector<uint64_t>& memory) {
  ucp_mem_map_params_t params = {};
  params.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH;
  params.address = memory.data();
  params.length = kMemory;
  ucp_mem_h handle;
  Must(ucp_mem_map(ucx.context(), &params, &handle), "map");
  void* packed;
  size_t size;
  Must(ucp_rkey_pack(ucx.context(), handle, &packed, &size), "pack");
  const uint64_t where = reinterpret_cast<uint64_t>(memory.data());
  channel.Send(&where, sizeof(where));
  channel.Send(packed, size);
  ucp_rkey_buffer_release(packed);
}

[[noreturn]] void Run(const Channel& channel, bool client) {
  Ucx ucx(channel);
  std::vector<uint64_t> memory(kMemory / sizeof(uint64_t));
  Target target = {};
  memory[0] = 100;
  if (client)
    target = ReceiveTarget(ucx, channel);
  else
    OfferTarget(ucx, channel, memory);
  Messages(ucx, client);
  if (client) Reach(ucx, target.address, target.rkey);
  ucx.End();
  if (!client) Check(memory[0] == 77, "what the atomics left");
  std::puts("good");
  // No orderly close: UCX's takes a timeout when the other side is gone already.
  std::fflush(stdout);
  _exit(0);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view role = argc > 1 ? argv[1] : "";
  if (role == "server" && argc == 3)
    Run(Channel::Accept(static_cast<uint16_t>(std::atoi(argv[2]))), false);
  if (role == "client" && argc == 4)
    Run(Channel::Connect(argv[2], static_cast<uint16_t>(std::atoi(argv[3]))), true);
  Fail("usage: ucx_check server PORT | client HOST PORT");
}
