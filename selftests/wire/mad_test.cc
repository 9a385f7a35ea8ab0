// SPDX-License-Identifier: GPL-2.0-only
// QP1: management datagrams of a peer, and the performance management class (IBTA vol. 1, 13.4 and
// 16.1). The values are those of hw_counters, in the units of that class.
#include <algorithm>

#include "counters.h"
#include "fixture.h"

namespace wire {
namespace {

constexpr size_t kMadSize = 256, kData = 64;
constexpr uint8_t kPerfMgmt = 0x04, kGet = 0x01, kSet = 0x02, kGetResponse = 0x81;
constexpr uint16_t kClassPortInfo = 0x0001, kPortCounters = 0x0012, kPortCountersExt = 0x001d;
constexpr uint16_t kUnsupported = 0x000c, kInvalidField = 0x001c;

uint64_t Big(const Bytes& bytes, size_t at, size_t size) {
  uint64_t value = 0;
  for (size_t i = 0; i < size; ++i) value = value << 8 | bytes[at + i];
  return value;
}

class Mad : public WireTest {
 protected:
  Bytes Query(uint16_t attribute, uint8_t method = kGet) {
    Bytes mad(kMadSize, 0);
    mad[0] = 1;  // base version
    mad[1] = kPerfMgmt;
    mad[2] = 1;  // class version
    mad[3] = method;
    mad[15] = ++transaction_;
    mad[16] = static_cast<uint8_t>(attribute >> 8);
    mad[17] = static_cast<uint8_t>(attribute);
    mad[kData + 1] = 1;  // port
    return mad;
  }
  void SendMad(const Bytes& mad, uint32_t qkey = roce::kGsiQkey) {
    Packet p = Request(Operation::kSendOnly, transaction_, mad, Service::kUd);
    p.bth.dqpn = 1;
    p.bth.ack_req = false;
    p.deth = roce::Deth{qkey, peer().qpn()};
    peer().Send(p);
  }
  // The answer to it; empty if there is none.
  Bytes Ask(const Bytes& mad) {
    SendMad(mad);
    const Packet p = peer().Expect();
    if (p.payload.size() != kMadSize) return {};
    EXPECT_EQ(p.bth.opcode, roce::MakeOpcode(Service::kUd, Operation::kSendOnly));
    EXPECT_EQ(p.deth->qkey, roce::kGsiQkey);
    EXPECT_EQ(p.deth->sqpn, 1u);
    EXPECT_EQ(p.payload[3], kGetResponse);
    EXPECT_EQ(Big(p.payload, 8, 8), Big(mad, 8, 8)) << "transaction";
    EXPECT_EQ(Big(p.payload, 16, 2), Big(mad, 16, 2)) << "attribute";
    return p.payload;
  }
  uint64_t StatusOf(const Bytes& query) {
    const Bytes answer = Ask(query);
    return answer.empty() ? ~0ull : Big(answer, 4, 2);
  }
  // Asks; the field lies between what hw_counters said before and what they say behind it.
  void ExpectCounter(uint16_t attribute, size_t at, size_t size, const std::string& name,
                     uint64_t unit = 1) {
    SCOPED_TRACE(name);
    const uint64_t before = Counters::Now(name) / unit;
    const Bytes answer = Ask(Query(attribute));
    ASSERT_EQ(answer.size(), kMadSize);
    const uint64_t told = Big(answer, kData + at, size);
    EXPECT_GE(told, before);
    EXPECT_LE(told, Counters::Now(name) / unit);
  }
  // More packets in than out, so that no counter can be taken for another.
  void MakeTraffic() {
    for (int i = 0; i < 64; ++i)
      peer().Send(
          WithoutAckReq(Write(Operation::kWriteOnly, PeerPsn(i), Pattern(600), Reth(0, 600))));
    ExpectResponderWorks(PeerPsn(64), 64);
  }

 private:
  uint8_t transaction_ = 0;
};
SRN_BOTH_IP_VERSIONS(Mad);

TEST_P(Mad, CountersOfThePort) {
  Start();
  peer().IgnoreRules();
  MakeTraffic();
  ExpectCounter(kPortCounters, 24, 4, "sent_bytes", 4);
  ExpectCounter(kPortCounters, 28, 4, "rcvd_bytes", 4);
  ExpectCounter(kPortCounters, 32, 4, "sent_pkts");
  ExpectCounter(kPortCounters, 36, 4, "rcvd_pkts");
}

TEST_P(Mad, WideCountersOfThePort) {
  Start();
  peer().IgnoreRules();
  MakeTraffic();
  const Bytes info = Ask(Query(kClassPortInfo));
  ASSERT_EQ(info.size(), kMadSize);
  EXPECT_TRUE(Big(info, kData + 2, 2) & 0x0200) << "the wide counters are announced";
  ExpectCounter(kPortCountersExt, 8, 8, "sent_bytes", 4);
  ExpectCounter(kPortCountersExt, 16, 8, "rcvd_bytes", 4);
  ExpectCounter(kPortCountersExt, 24, 8, "sent_pkts");
  ExpectCounter(kPortCountersExt, 32, 8, "rcvd_pkts");
  ExpectCounter(kPortCountersExt, 40, 8, "sent_pkts");
  ExpectCounter(kPortCountersExt, 48, 8, "rcvd_pkts");
}

TEST_P(Mad, DamagedPacketsAreErrorsOfThePort) {
  Start();
  peer().IgnoreRules();
  const auto errors = [this] {
    const Bytes answer = Ask(Query(kPortCounters));
    return answer.empty() ? 0 : Big(answer, kData + 8, 2);
  };
  const uint64_t before = errors();
  net::Datagram d = peer().Seal(Write(Operation::kWriteOnly, PeerPsn(), Pattern(8), Reth(0, 8)));
  d.payload.back() ^= 1;
  peer().SendDatagram(d);
  EXPECT_EQ(errors(), std::min<uint64_t>(before + 1, 0xffff));
}

TEST_P(Mad, WhatIsNotKnownIsSaidToBeThat) {
  Start();
  peer().IgnoreRules();
  EXPECT_EQ(StatusOf(Query(0x7777)), kUnsupported);
}

// The standard has counters set by whoever asks. Here they are what the host's monitoring sees, and
// every host of the network can ask: see "Rules not kept" in wire.rst.
TEST_P(Mad, CountersAreNotSetFromAfar) {
  SRN_SKIP_LAX() << "srn's own rule";
  Start();
  peer().IgnoreRules();
  MakeTraffic();
  const uint64_t before = Counters::Now("rcvd_pkts");
  Bytes set = Query(kPortCounters, kSet);
  set[kData + 2] = set[kData + 3] = 0xff;  // all of them
  EXPECT_EQ(StatusOf(set), kUnsupported);
  EXPECT_GE(Big(Ask(Query(kPortCounters)), kData + 36, 4), before);
}

TEST_P(Mad, OtherPortsAreNoneOfOurs) {
  Start();
  peer().IgnoreRules();
  for (const uint16_t attribute : {kPortCounters, kPortCountersExt})
    for (const uint8_t port : {0, 2, 0xff}) {  // 0xff: all ports, for who says that it knows that
      SCOPED_TRACE(testing::Message() << attribute << " of port " << int{port});
      Bytes mad = Query(attribute);
      mad[kData + 1] = port;
      EXPECT_EQ(StatusOf(mad), kInvalidField);
    }
  EXPECT_EQ(StatusOf(Query(kPortCounters)), 0u);
}

TEST_P(Mad, NothingElseIsAnswered) {
  Start();
  peer().IgnoreRules();
  const Counters counters;
  SendMad(Query(kPortCounters), roce::kGsiQkey ^ 1);
  SendMad(Query(kPortCounters), 0);
  peer().ExpectNothing();
  EXPECT_TRUE(counters.Grew("rcvd_bad_qkey", 2));
  Bytes mad = Query(kPortCounters);
  mad[0] = 9;  // a base version that the core refuses, in a line of the log, for all devices
  SendMad(mad);
  SendMad(Query(kPortCounters, kGetResponse));
  SendMad(Bytes(kMadSize, 0xff));
  SendMad(Bytes(8, 0));
  SendMad({});
  peer().ExpectNothing();
  EXPECT_EQ(Ask(Query(kClassPortInfo)).size(), kMadSize);
}

}  // namespace
}  // namespace wire
