// SPDX-License-Identifier: GPL-2.0-only
// Packs: small messages of a list leave the device as one skb. What the stack cuts them into, here
// a token bucket that is smaller than they are, must be what they are one by one, ICRC and all.

#include <net/command.h>
#include <share/parameter.h>

#include "counters.h"
#include "fixture.h"
#include "wire.h"

namespace wire {
namespace {

constexpr uint32_t kWord = 0x12345678;

class RcPack : public WireTest {
 protected:
  void SetUp() override {
    Offload("on");
    Bucket("200");
  }
  void TearDown() override {
    Runs("Y");
    EXPECT_TRUE(net::Run({"tc", "qdisc", "del", "dev", Netdev(), "root"}));
    Offload("off");
  }
  static void Bucket(const char* bytes) {
    ASSERT_TRUE(net::Run({"tc", "qdisc", "replace", "dev", Netdev(), "root", "tbf", "rate", "1gbit",
                          "burst", bytes, "limit", "1000000"}));
  }
  static void Runs(const char* how) { share::SetParameter("runs", how); }

  // Messages of every kind and pad: packets that the bucket holds, and packs, of three of them or
  // more, that it doesn't.
  std::vector<SendWr> List(size_t num) {
    std::vector<SendWr> list;
    ep().FillPattern(kPlace, 16 << 10);
    for (size_t i = 0; i < num; ++i) list.push_back(Message(i));
    return list;
  }
  static uint32_t Length(size_t i) { return static_cast<uint32_t>(40 - i % 4); }
  SendWr Message(size_t i) {
    const auto data = ep().Data(kPlace + i * 128, Length(i));
    const verbs::Remote remote = {kRemoteVa + i * 128, kRemoteKey};
    switch (i % 6) {
      case 0:
        return SendWr::Write(i, data, remote);
      case 1:
        return std::move(SendWr::Send(i, data).Solicited());
      case 2:
        return std::move(SendWr::Write(i, data, remote).Imm(kWord + static_cast<uint32_t>(i)));
      case 3:
        return std::move(SendWr::Send(i, data).Imm(kWord + static_cast<uint32_t>(i)).Solicited());
      case 4:
        return std::move(SendWr::Send(i, data).Invalidate(kWord + static_cast<uint32_t>(i)));
      default:
        return std::move(SendWr::Write(i, data, remote).Inline());
    }
  }
  void Post(std::vector<SendWr> list) { ASSERT_TRUE(ep().qp().Post(list, nullptr)); }
  // The packets of the list, as bytes from BTH to payload, and where they are for.
  std::vector<Packet> Take(size_t num) {
    std::vector<Packet> got;
    for (size_t i = 0; i < num; ++i) {
      got.push_back(peer().Expect());
      if (!got.back().info().valid) break;
      EXPECT_EQ(got.back().bth.psn, DevPsn(static_cast<int>(i)));
      EXPECT_EQ(got.back().payload, ep().Copy(kPlace + i * 128, Length(i))) << i;
    }
    return got;
  }
  void Finish(size_t num) {
    peer().Send(Ack(DevPsn(static_cast<int>(num) - 1), static_cast<uint32_t>(num)));
    for (size_t i = 0; i < num; ++i) {
      const ibv_wc wc = ep().WaitSend();
      EXPECT_EQ(wc.wr_id, i);
      EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
    }
  }

 private:
  static const std::string& Netdev() { return Wire::Get().config().netdev; }
  static void Offload(const char* gso) {
    ASSERT_TRUE(net::Run({"ethtool", "-K", Netdev(), "gso", gso, "tx-gso-list", gso,
                          "tx-udp_tnl-segmentation", gso}));
  }
};
SRN_BOTH_IP_VERSIONS(RcPack);

// Each byte of each packet, and the last one asks.
TEST_P(RcPack, PacketsAreThoseOfMessagesOneByOne) {
  constexpr size_t kNum = 16;  // a window as it begins
  Start({.sq_psn = 0xfffff0});
  Counters counters;
  Post(List(kNum));
  const std::vector<Packet> packed = Take(kNum);
  ASSERT_EQ(packed.size(), kNum);
  Finish(kNum);
  EXPECT_EQ(counters.Growth("sent_runs"), 1u);
  EXPECT_EQ(counters.Growth("sent_pkts"), kNum);

  Runs("N");
  Restart({.sq_psn = 0xfffff0});
  counters = Counters();
  Post(List(kNum));
  std::vector<Packet> single = Take(kNum);
  ASSERT_EQ(single.size(), kNum);
  Finish(kNum);
  EXPECT_EQ(counters.Growth("sent_runs"), 0u);
  for (size_t i = 0; i < kNum; ++i) {
    single[i].bth.dqpn = packed[i].bth.dqpn;  // the peer's, which is another one now
    EXPECT_EQ(roce::EncodeTransport(packed[i]), roce::EncodeTransport(single[i])) << i;
  }
}

// One of them is lost: it goes again, with what the peer does not keep behind it, as packets; and
// for a while there are no packs.
TEST_P(RcPack, LossOfOneIsRepairedByPackets) {
  constexpr size_t kNum = 10, kLost = 4;
  Start();
  Counters counters;
  Post(List(kNum));
  Take(kNum);
  EXPECT_EQ(counters.Growth("sent_runs"), 1u);
  counters = Counters();
  peer().Send(Nak(DevPsn(kLost), kLost, roce::kNakSequence));
  for (int i = 0; i < 2; ++i) {
    const Packet again = peer().Expect();
    EXPECT_EQ(again.bth.psn, DevPsn(kLost + i));
    EXPECT_EQ(again.payload, ep().Copy(kPlace + (kLost + i) * 128, Length(kLost + i)));
  }
  Finish(kNum);
  Post(List(kNum));
  for (size_t i = 0; i < kNum; ++i) {
    Packet next = peer().Expect();
    // Behind the last that went again.
    for (size_t n = 0; n < kNum && roce::PsnDiff(next.bth.psn, DevPsn(kNum)) < 0; ++n)
      next = peer().Expect();
    ASSERT_EQ(next.bth.psn, DevPsn(static_cast<int>(kNum + i)));
  }
  EXPECT_EQ(counters.Growth("sent_runs"), 0u);
}

// A message alone, one that is long, and one behind a fence are no part of any.
TEST_P(RcPack, WhatIsAloneIsAPacket) {
  Bucket("5000");
  Start();
  const Counters counters;
  ep().FillPattern(kPlace, 4096);
  std::vector<SendWr> list;
  list.push_back(SendWr::Send(0, ep().Data(kPlace, 8)));
  list.push_back(SendWr::Send(1, ep().Data(kPlace, 1000)));
  list.push_back(SendWr::Send(2, ep().Data(kPlace, 8)));
  list.push_back(std::move(SendWr::Send(3, ep().Data(kPlace, 8)).Fence()));
  Post(std::move(list));
  for (const int psn : {0, 1, 2, 3}) EXPECT_EQ(peer().Expect().bth.psn, DevPsn(psn));
  EXPECT_EQ(counters.Growth("sent_runs"), 0u);
  EXPECT_EQ(counters.Growth("sent_pkts"), 4u);
}

}  // namespace
}  // namespace wire
