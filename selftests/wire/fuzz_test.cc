// SPDX-License-Identifier: GPL-2.0-only
// Random and mutated packets against two QPs while traffic runs on one of them.
// The one with traffic gets only what must be dropped, and must not notice. The
// other one gets anything, with a right ICRC, and may fail; the memory around
// its region (~Endpoint looks) and the device must not.
#include <random>

#include <share/seed.h>

#include "counters.h"
#include "fixture.h"

namespace wire {
namespace {

constexpr int kPerRound = 100;

class Fuzz : public WireTest {
 protected:
  uint32_t Random(uint32_t below) { return static_cast<uint32_t>(random_() % below); }
  uint8_t RandomByte() { return static_cast<uint8_t>(random_()); }

  // Any packet, headers as its opcode has them, fields half plausible.
  Packet AnyPacket(Peer& peer, Endpoint& target);
  // A datagram with some of its bytes or lengths changed.
  net::Datagram Mutate(net::Datagram datagram);
  void SendHarmless();
  void SendDangerous();
  void RunGoodTraffic(int round);
  void ReviveVictim();

  std::mt19937_64 random_{share::SeedOfTest()};
  std::unique_ptr<Peer> victim_peer_;
  std::unique_ptr<Endpoint> victim_;
};
SRN_BOTH_IP_VERSIONS(Fuzz);

Packet Fuzz::AnyPacket(Peer& peer, Endpoint& target) {
  static constexpr Operation kCommon[] = {
      Operation::kSendFirst,   Operation::kSendMiddle,        Operation::kSendLast,
      Operation::kSendOnly,    Operation::kWriteFirst,        Operation::kWriteMiddle,
      Operation::kWriteLast,   Operation::kWriteOnly,         Operation::kWriteOnlyImm,
      Operation::kReadRequest, Operation::kReadResponseFirst, Operation::kReadResponseMiddle,
      Operation::kAcknowledge, Operation::kAtomicAcknowledge, Operation::kCompareSwap,
      Operation::kFetchAdd,    Operation::kSendOnlyInvalidate};
  Packet p;
  p.bth.opcode = Random(4) == 0 ? RandomByte() : static_cast<uint8_t>(kCommon[Random(17)]);
  p.bth.dqpn = target.qpn();
  const QpOptions& options = target.options();
  p.bth.psn = roce::PsnAdd(Random(2) == 0 ? options.rq_psn : options.sq_psn,
                           static_cast<int>(Random(8)) - 2);
  p.bth.ack_req = Random(2) == 0;
  p.bth.solicited = Random(2) == 0;
  const uint16_t headers = p.info().headers;
  const uint32_t length = Random(3) == 0 ? options.mtu : Random(options.mtu + 64);
  if (headers & roce::kHasDeth) p.deth = roce::Deth{options.qkey, peer.qpn()};
  if (headers & roce::kHasReth)
    p.reth = roce::Reth{target.Va() + random_() % (2 * kBufferSize) - kBufferSize / 2,
                        Random(4) == 0 ? static_cast<uint32_t>(random_()) : target.rkey(),
                        Random(2) == 0 ? length : static_cast<uint32_t>(random_())};
  if (headers & roce::kHasAtomicEth)
    p.atomic = roce::AtomicEth{target.Va(Random(kBufferSize)), target.rkey(), random_(), 0};
  if (headers & roce::kHasAeth) p.aeth = roce::Aeth{RandomByte(), static_cast<uint32_t>(Random(8))};
  if (headers & roce::kHasAtomicAck) p.atomic_ack = random_();
  if (headers & roce::kHasImm) p.imm = static_cast<uint32_t>(random_());
  if (headers & roce::kHasIeth)
    p.invalidate_rkey = Random(2) == 0 ? target.rkey() : static_cast<uint32_t>(random_());
  if (p.info().payload != roce::PayloadRule::kNone || Random(8) == 0) p.payload.resize(length);
  return p;
}

net::Datagram Fuzz::Mutate(net::Datagram d) {
  net::Bytes& bytes = d.payload;
  switch (Random(4)) {
    case 0:
      bytes.resize(Random(static_cast<uint32_t>(bytes.size()) + 1));
      break;
    case 1:
      bytes.resize(bytes.size() + Random(64), 0x11);
      break;
    default:
      for (uint32_t count = 1 + Random(4); count > 0 && !bytes.empty(); --count)
        bytes[Random(std::min<uint32_t>(64, static_cast<uint32_t>(bytes.size())))] = RandomByte();
  }
  return d;
}

// To the QP with traffic: the ICRC is wrong, or the packet comes from a stranger.
void Fuzz::SendHarmless() {
  if (Random(2) == 0) {
    net::Datagram d = Mutate(peer().Seal(AnyPacket(peer(), ep())));
    roce::SealIcrc(d);
    if (!d.payload.empty()) d.payload.back() ^= 0x80;
    peer().SendDatagram(d);
    return;
  }
  net::Datagram d = peer().Envelope();
  d.src = *net::IpAddress::Parse(GetParam() == net::IpVersion::kV4 ? "10.79.0.99" : "fd79::99");
  roce::Encode(AnyPacket(peer(), ep()), d);
  peer().SendDatagram(d);
}

void Fuzz::SendDangerous() {
  net::Datagram d = victim_peer_->Seal(AnyPacket(*victim_peer_, *victim_));
  if (Random(3) == 0) {
    d = Mutate(std::move(d));
    // Never hit the other QP, whose traffic must go on undisturbed.
    if (d.payload.size() >= 8) {
      d.payload[5] = static_cast<uint8_t>(victim_->qpn() >> 16);
      d.payload[6] = static_cast<uint8_t>(victim_->qpn() >> 8);
      d.payload[7] = static_cast<uint8_t>(victim_->qpn());
    }
    roce::SealIcrc(d);
  }
  victim_peer_->SendDatagram(d);
}

void Fuzz::ReviveVictim() {
  victim_.reset();
  victim_peer_ = Peer::Create(GetParam());
  ASSERT_NE(victim_peer_, nullptr);
  victim_ =
      std::make_unique<Endpoint>(*victim_peer_, QpOptions{.timeout = 14, .max_dest_rd_atomic = 2});
  victim_peer_->IgnoreRules();
  for (uint64_t id = 0; id < 16; ++id) victim_->PostRecv(id, 0, 4096);
  victim_->Post(SendWr::Read(1, victim_->Data(8192, 4096), {1, 1}));
  // Short enough to be copied when it is sent: longer payload stays in the buffer, and
  // what these packets write there would show as a bad ICRC.
  victim_->PostSend(2, 0, 300);
}

// A WRITE and a READ by the peer, a SEND by the device.
void Fuzz::RunGoodTraffic(int round) {
  ExpectResponderWorks(PeerPsn(2 * round), static_cast<uint32_t>(2 * round));
  ep().PostSend(5, kPlace, 24);
  EXPECT_THAT(peer().Expect(), IsRequest(Operation::kSendOnly, DevPsn(round)));
  peer().Send(Ack(DevPsn(round), static_cast<uint32_t>(round) + 1));
  ExpectSent(5, IBV_WC_SEND);
}

TEST_P(Fuzz, RandomPacketsBreakNothing) {
  Start();
  ReviveVictim();
  const Counters counters;
  for (int sent = 0; sent < Wire::Get().config().fuzz_packets && !HasFailure(); sent += kPerRound) {
    SCOPED_TRACE("packet " + std::to_string(sent));
    for (int i = 0; i < kPerRound / 2; ++i) {
      SendHarmless();
      SendDangerous();
    }
    RunGoodTraffic(sent / kPerRound);
    victim_peer_->Drain(std::chrono::microseconds(0));
    if (victim_->State() != IBV_QPS_RTS || sent % (10 * kPerRound) == 0) ReviveVictim();
  }
  EXPECT_EQ(ep().State(), IBV_QPS_RTS);
  for (const char* name : {"rx_icrc_encapsulated", "rcvd_too_short", "rcvd_bad_address",
                           "rcvd_bad_length", "rcvd_bad_opcode"})
    EXPECT_TRUE(counters.Counted(name)) << name;
}

}  // namespace
}  // namespace wire
