// SPDX-License-Identifier: GPL-2.0-only
// Trains: with segmentation offload on, packets of one length leave as one skb. What
// the stack cuts them into must be what single packets are, ICRC and all. Here the
// netdev of the device cannot take the list, so that the sending stack cuts.
#include <net/command.h>
#include <share/parameter.h>

#include "counters.h"
#include "fixture.h"
#include "wire.h"

namespace wire {
namespace {

class RcTrain : public WireTest {
 protected:
  void SetUp() override {
    ASSERT_TRUE(runs_.Set("N"));
    Offload("on");
  }
  void TearDown() override { Offload("off"); }

 private:
  const share::ScopedParameter runs_{"runs"};
  static void Offload(const char* gso) {
    const std::string& dev = Wire::Get().config().netdev;
    ASSERT_TRUE(net::Run(
        {"ethtool", "-K", dev, "gso", gso, "tx-gso-list", "off", "tx-udp-segmentation", "off"}));
  }
};
SRN_BOTH_IP_VERSIONS(RcTrain);

TEST_P(RcTrain, MiddlesOfAWriteAreWholePackets) {
  Start();
  const Counters counters;
  const uint32_t length = 12 * mtu() + 5;
  ep().FillPattern(kPlace, length);
  ep().Post(SendWr::Write(1, ep().Data(kPlace, length), {0x5000, 5}));
  ExpectMessage(WriteMessage(DevPsn(), ep().Copy(kPlace, length), mtu(), 0x5000, 5));
  peer().Send(Ack(DevPsn(12), 1));
  ExpectSent(1, IBV_WC_RDMA_WRITE);
  EXPECT_TRUE(counters.Grew("sent_trains"));
}

TEST_P(RcTrain, SmallMessagesAreWholePackets) {
  Start();
  const Counters counters;
  for (uint64_t id = 1; id <= 8; ++id) ep().PostSend(id, 0, 9);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(peer().Expect().bth.psn, DevPsn(i));
  // What is sent again leaves in one round.
  peer().Send(Nak(DevPsn(0), 0, roce::kNakSequence));
  for (int i = 0; i < 8; ++i)
    EXPECT_THAT(peer().Expect(), IsRequest(Operation::kSendOnly, DevPsn(i)));
  EXPECT_EQ(counters.Growth("sent_trains"), 1u);
  peer().Send(Ack(DevPsn(7), 8));
  for (uint64_t id = 1; id <= 8; ++id) ExpectSent(id, IBV_WC_SEND);
}

// A train has packets of one length, but for its last.
TEST_P(RcTrain, MessagesOfAllLengthsAreWholePackets) {
  const std::vector<uint32_t> lengths = {64, 9, 9, 64, 64, 300, 5, 300, 300, 300, 1, 64};
  Start();
  const Counters counters;
  ep().FillPattern(0, 512);
  for (size_t i = 0; i < lengths.size(); ++i) ep().PostSend(i, 0, lengths[i]);
  const auto expect_all = [&] {
    for (size_t i = 0; i < lengths.size(); ++i) {
      const Packet packet = peer().Expect();
      EXPECT_EQ(packet.bth.psn, DevPsn(static_cast<int>(i)));
      EXPECT_EQ(packet.payload, ep().Copy(0, lengths[i])) << i;
    }
  };
  expect_all();
  // What is sent again leaves in one round.
  peer().Send(Nak(DevPsn(0), 0, roce::kNakSequence));
  expect_all();
  EXPECT_GE(counters.Growth("sent_trains"), 4u);
  peer().Send(Ack(DevPsn(static_cast<int>(lengths.size()) - 1), 12));
  for (size_t i = 0; i < lengths.size(); ++i) ExpectSent(i, IBV_WC_SEND);
}

// A datagram has less than 64 KiB, and a train no more.
TEST_P(RcTrain, LargestPacketsAreWholePackets) {
  constexpr int kPackets = 30;
  Start({.mtu = 4096});
  Open();
  const Counters counters;
  const uint32_t length = kPackets * mtu();
  ep().FillPattern(kPlace, length);
  ep().Post(SendWr::Write(1, ep().Data(kPlace, length), {0x5000, 5}));
  ExpectMessage(WriteMessage(DevPsn(kOpened), ep().Copy(kPlace, length), mtu(), 0x5000, 5));
  peer().Send(Ack(DevPsn(kOpened + kPackets - 1), 3));
  ExpectSent(1, IBV_WC_RDMA_WRITE);
  EXPECT_GE(counters.Growth("sent_trains"), 2u);
}

TEST_P(RcTrain, ReadResponsesAreWholePackets) {
  Start();
  const Counters counters;
  const uint32_t length = 12 * mtu() + 5;
  ep().FillPattern(kPlace, length);
  peer().Send(ReadRequest(PeerPsn(0), Reth(kPlace, length)));
  for (const Packet& want : ReadResponses(PeerPsn(0), ep().Copy(kPlace, length), mtu(), 1)) {
    const Packet got = peer().Expect();
    EXPECT_THAT(got, IsRequest(static_cast<Operation>(want.bth.opcode), want.bth.psn));
    EXPECT_EQ(got.payload, want.payload);
  }
  EXPECT_TRUE(counters.Grew("sent_trains"));
}

TEST_P(RcTrain, WithoutOffloadEachPacketGoesAlone) {
  TearDown();
  Start();
  const Counters counters;
  const uint32_t length = 4 * mtu();
  ep().FillPattern(kPlace, length);
  peer().Send(ReadRequest(PeerPsn(0), Reth(kPlace, length)));
  for (int i = 0; i < 4; ++i) (void)peer().Expect();
  EXPECT_EQ(counters.Growth("sent_trains"), 0u);
}

}  // namespace
}  // namespace wire
