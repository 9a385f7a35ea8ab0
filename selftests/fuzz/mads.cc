// SPDX-License-Identifier: GPL-2.0-only
// Datagrams to QP1: MADs of every class, and connection management that begins as it should with a
// program that listens, and goes on as it should not.
#include <arpa/inet.h>
#include <fcntl.h>
#include <rdma/rdma_cma.h>

#include <cstring>
#include <vector>

#include <roce/packet.h>
#include <wire/peer.h>

#include "health.h"
#include "target.h"

namespace fuzz {
namespace {

constexpr size_t kPiece = 32;
constexpr size_t kMad = 256;
constexpr size_t kHeader = 24;
constexpr uint16_t kPort = 4660;
constexpr uint8_t kCm = 0x07;
constexpr uint64_t kTcpService = 0x0000000001060000;

enum CmAttribute : uint16_t {
  kReq = 0x10,
  kMra,
  kRej,
  kRep,
  kRtu,
  kDreq,
  kDrep,
  kSidrReq,
  kSidrRep
};

template <typename T>
void PutBig(std::vector<uint8_t>& bytes, size_t at, T value) {
  for (size_t i = sizeof(T); i-- > 0; value = static_cast<T>(value >> 8 * (sizeof(T) > 1)))
    bytes[at + i] = static_cast<uint8_t>(value);
}

// A program that listens with rdma_cm and answers what comes as an input says.
class Listener {
 public:
  Listener() : channel_(rdma_create_event_channel()) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(kPort);
    if (!channel_ || rdma_create_id(channel_, &id_, nullptr, RDMA_PS_TCP) != 0 ||
        rdma_bind_addr(id_, reinterpret_cast<sockaddr*>(&address)) != 0 || rdma_listen(id_, 8) != 0)
      throw Broken("rdma_listen");
    fcntl(channel_->fd, F_SETFL, O_NONBLOCK);
  }
  ~Listener() {
    for (rdma_cm_id* id : ids_) rdma_destroy_id(id);
    rdma_destroy_id(id_);
    rdma_destroy_event_channel(channel_);
  }
  void Answer(Source& source) {
    for (rdma_cm_event* event = nullptr; rdma_get_cm_event(channel_, &event) == 0;) {
      rdma_cm_id* id = event->event == RDMA_CM_EVENT_CONNECT_REQUEST ? event->id : nullptr;
      rdma_ack_cm_event(event);
      if (id) Greet(source, id);
    }
  }
  void Forget() {
    Source none{{}};
    Answer(none);
    for (rdma_cm_id* id : ids_) rdma_destroy_id(id);
    ids_.clear();
  }

 private:
  void Greet(Source& source, rdma_cm_id* id) {
    rdma_conn_param parameters = {};
    parameters.qp_num = 0x123;
    ids_.push_back(id);
    const uint32_t choice = source.Below(4);
    if (choice == 3) rdma_reject(id, nullptr, 0);
    if (choice < 2) rdma_accept(id, &parameters);
  }

  rdma_event_channel* channel_;
  rdma_cm_id* id_ = nullptr;
  std::vector<rdma_cm_id*> ids_;
};

class Mads : public Target {
 public:
  Mads() : health_(net::IpVersion::kV4), peer_(wire::Peer::Create(net::IpVersion::kV4)) {
    auto socket = net::PacketSocket::Open(wire::Wire::Get().config().peer_dev);
    if (!socket) throw Broken(socket.message());
    answers_.emplace(std::move(socket).value());
  }

  size_t piece() const override { return kPiece; }
  size_t max_pieces() const override { return 12; }
  void Check() override {
    health_.Check();
    peer_->Forget();
  }
  void Run(const Input& input) override;

 private:
  void Act(Source source);
  std::vector<uint8_t> Mad(Source& source);
  void FillReq(Source& source, std::vector<uint8_t>& mad);
  void Send(Source& source, std::vector<uint8_t> mad);
  // The numbers that the device's CM gave in its answers.
  void Listen();

  Health health_;
  std::unique_ptr<wire::Peer> peer_;
  std::optional<net::PacketSocket> answers_;
  Listener listener_;
  uint32_t remote_id_ = 0;
  uint32_t local_id_ = 0x1000;
  uint64_t transaction_ = 1;
};

// IBTA volume 1, table 106; behind it what rdma_cm writes to the private data.
void Mads::FillReq(Source& source, std::vector<uint8_t>& mad) {
  const uint32_t here = ntohl(inet_addr("10.79.0.1")), there = ntohl(inet_addr("10.79.0.2"));
  const auto gid = [&mad](size_t at, uint32_t address) {
    PutBig<uint16_t>(mad, kHeader + at + 10, 0xffff);
    PutBig<uint32_t>(mad, kHeader + at + 12, address);
  };
  PutBig<uint64_t>(mad, kHeader + 8, kTcpService + kPort);
  PutBig<uint64_t>(mad, kHeader + 16, 0x0200000000000002);
  PutBig<uint32_t>(mad, kHeader + 32, 0x012300 | 4);                    // QPN, responder resources
  PutBig<uint32_t>(mad, kHeader + 36, 4);                               // initiator depth
  PutBig<uint32_t>(mad, kHeader + 40, 14 << 3 | source.Below(4) << 1);  // timeout, service
  PutBig<uint32_t>(mad, kHeader + 44, 0x500 << 8 | 14 << 3 | 7);
  PutBig<uint16_t>(mad, kHeader + 48, 0xffff);
  mad[kHeader + 50] = static_cast<uint8_t>((1 + source.Below(5)) << 4 | 7);
  mad[kHeader + 51] = 0xf0;  // CM retries
  gid(56, there);
  gid(72, here);
  PutBig<uint16_t>(mad, kHeader + 92, 64);  // hop limit
  mad[kHeader + 95] = 14 << 3;
  constexpr size_t kPrivate = kHeader + 140;
  mad[kPrivate + 1] = source.OneIn(8) ? source.Byte() : 0x40;
  PutBig<uint16_t>(mad, kPrivate + 2, 4711);
  PutBig<uint32_t>(mad, kPrivate + 16, there);
  PutBig<uint32_t>(mad, kPrivate + 32, here);
}

std::vector<uint8_t> Mads::Mad(Source& source) {
  static constexpr uint8_t kClasses[] = {kCm,  kCm,  kCm,  kCm,  kCm,  kCm,  0x04, 0x04,
                                         0x04, 0x03, 0x01, 0x81, 0x06, 0x09, 0x30, 0};
  static constexpr uint16_t kPerformance[] = {0x01, 0x12, 0x1d, 0x10, 0x15};
  static constexpr uint8_t kMethods[] = {0x01, 0x02, 0x03, 0x81, 0x05, 0x12, 0x92};
  std::vector<uint8_t> mad(kMad);
  mad[0] = 1;
  mad[1] = source.Pick(kClasses);
  mad[2] = mad[1] == 0x03 || mad[1] == kCm ? 2 : 1;
  mad[3] = mad[1] == kCm && !source.OneIn(12) ? 0x03 : source.Pick(kMethods);
  PutBig<uint64_t>(mad, 8, source.OneIn(4) ? transaction_ : ++transaction_);
  uint16_t attribute = source.OneIn(8) ? source.Byte() : source.Pick(kPerformance);
  if (mad[1] == kCm) {
    const uint32_t choice = source.Below(12);
    attribute = choice < 4 ? uint16_t{kReq} : static_cast<uint16_t>(kReq + choice - 3);
    const bool fresh = attribute == kReq && !source.OneIn(4);
    PutBig<uint32_t>(mad, kHeader, fresh ? ++local_id_ : local_id_);
    PutBig<uint32_t>(mad, kHeader + 4, attribute == kReq ? 0 : remote_id_);
    if (attribute == kReq) FillReq(source, mad);
    if (attribute == kSidrReq) PutBig<uint64_t>(mad, kHeader + 8, kTcpService + kPort);
  } else {
    mad[kHeader + 40 + 1] = 1;  // the port that is asked about
  }
  PutBig<uint16_t>(mad, 16, attribute);
  return mad;
}

void Mads::Send(Source& source, std::vector<uint8_t> mad) {
  if (source.OneIn(4))
    for (uint32_t count = 1 + source.Below(4); count > 0; --count)
      mad[source.Byte()] = source.Byte();
  if (source.OneIn(24)) mad.resize(source.Take<uint16_t>() % 2048);
  roce::Packet packet;
  packet.bth.opcode =
      roce::MakeOpcode(roce::Service::kUd, source.OneIn(24) ? roce::Operation::kSendOnlyImm
                                                            : roce::Operation::kSendOnly);
  packet.bth.dqpn = 1;
  packet.bth.psn = source.Byte();
  packet.bth.solicited = true;
  packet.deth = roce::Deth{source.OneIn(16) ? source.Word() : roce::kGsiQkey,
                           source.OneIn(16) ? peer_->qpn() : 1};
  if (packet.info().headers & roce::kHasImm) packet.imm = 7;
  packet.payload = std::move(mad);
  peer_->SendDatagram(peer_->Seal(packet));
}

void Mads::Listen() {
  while (const auto frame = answers_->Receive(std::chrono::microseconds(0))) {
    const auto parsed = net::ParseFrame(frame->bytes);
    if (!parsed) continue;
    const roce::Packet packet = roce::Decode(parsed->datagram).packet;
    if (packet.bth.dqpn != 1 || packet.payload.size() < kHeader + 4 || packet.payload[1] != kCm)
      continue;
    std::memcpy(&remote_id_, &packet.payload[kHeader], sizeof(remote_id_));
    remote_id_ = ntohl(remote_id_);
  }
}

void Mads::Act(Source source) {
  Send(source, Mad(source));
  listener_.Answer(source);
  Listen();
}

void Mads::Run(const Input& input) {
  Source source(input);
  while (!source.empty()) Act(source.Part(kPiece));
  listener_.Forget();
}

}  // namespace

std::unique_ptr<Target> CreateMads() { return std::make_unique<Mads>(); }

}  // namespace fuzz
