// SPDX-License-Identifier: GPL-2.0-only
// Runs: packets of a message leave the device uncut, as one skb. What the stack cuts them into,
// here a token bucket that is smaller than they are, must be what single packets are, ICRC and all.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <iostream>
#include <optional>
#include <string_view>

#include <net/command.h>

#include "counters.h"
#include "fixture.h"
#include "wire.h"

namespace wire {
namespace {

constexpr uint32_t kWord = 0x12345678;

class Runs : public WireTest {
 protected:
  // A message of 12 packets and `tail` bytes.
  uint32_t Length(uint32_t tail) const { return 12 * mtu() + tail; }
  // Posts it; all of its packets come, and only the last asks for an ACK.
  void ExpectPackets(SendWr wr, std::vector<Packet> expected, Operation last) {
    expected.back().bth.opcode = static_cast<uint8_t>(last);
    ep().Post(std::move(wr));
    got_ = ExpectMessage(expected);
    ASSERT_EQ(got_.size(), expected.size());
    for (size_t i = 0; i + 1 < got_.size(); ++i) {
      EXPECT_FALSE(got_[i].bth.ack_req) << i;
      EXPECT_FALSE(got_[i].bth.solicited) << i;
    }
    peer().Send(Ack(expected.back().bth.psn, ++msn_));
  }
  std::vector<Packet> WriteFrom(uint32_t length, uint32_t psn = 0) {
    ep().FillPattern(kPlace, length);
    return WriteMessage(DevPsn(static_cast<int>(psn)), ep().Copy(kPlace, length), mtu(), kRemoteVa,
                        kRemoteKey);
  }
  SendWr WriteOf(uint32_t length) {
    return SendWr::Write(1, ep().Data(kPlace, length), {kRemoteVa, kRemoteKey});
  }
  // The answer to what is asked of a READ of `length` bytes from kPlace on.
  void ExpectAnswer(uint32_t psn, uint32_t skip, uint32_t length, uint32_t msn) {
    peer().Send(ReadRequest(psn, Reth(kPlace + skip, length - skip)));
    for (const Packet& want :
         ReadResponses(psn, ep().Copy(kPlace + skip, length - skip), mtu(), msn)) {
      const Packet got = peer().Expect();
      EXPECT_THAT(got, IsRequest(static_cast<Operation>(want.bth.opcode), want.bth.psn));
      EXPECT_EQ(got.payload, want.payload);
      ASSERT_EQ(got.aeth.has_value(), want.aeth.has_value());
      if (!got.aeth) continue;
      EXPECT_EQ(roce::KindOf(got.aeth->syndrome), roce::AethKind::kAck);
      EXPECT_EQ(got.aeth->msn, msn);
    }
  }

  static const std::string& Netdev() { return Wire::Get().config().netdev; }
  // `whole`: whether it takes what is uncut.
  static void Offload(const char* gso, const char* whole) {
    ASSERT_TRUE(net::Run({"ethtool", "-K", Netdev(), "gso", gso, "tx-gso-list", whole,
                          "tx-udp_tnl-segmentation", whole}));
  }

  std::vector<Packet> got_;

 private:
  uint32_t msn_ = 0;
};

class RcRun : public Runs {
 protected:
  void SetUp() override {
    Offload("on", "on");
    ASSERT_TRUE(net::Run({"tc", "qdisc", "replace", "dev", Netdev(), "root", "tbf", "rate",
                          "10gbit", "burst", "5000", "limit", "1000000"}));
  }
  void TearDown() override {
    EXPECT_TRUE(net::Run({"tc", "qdisc", "del", "dev", Netdev(), "root"}));
    Offload("off", "off");
  }
};
SRN_BOTH_IP_VERSIONS(RcRun);

// Whether the module said that it sums several packets in one section, without which a NIC has
// trains. Asked when the program begins, while the log still has it; nothing: it has not.
std::optional<bool> HasSections() {
  char record[8192];
  std::optional<bool> has;
  const int fd = ::open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  for (ssize_t n; fd >= 0 && ((n = ::read(fd, record, sizeof(record))) > 0 || errno == EPIPE);)
    if (n > 0 && std::string_view(record, n).find("srn: CRC-32 in MB/s") != std::string_view::npos)
      has = std::string_view(record, n).find("clmul", std::string_view(record, n).find("using ")) !=
            std::string_view::npos;
  if (fd >= 0) ::close(fd);
  return has;
}
const std::optional<bool> kHasSections = HasSections();

// A driver takes no lists: the stack cuts in front of it what left, runs where they are wanted and
// the CRC is fast, and trains.
class RcRunToNic : public Runs {
 protected:
  void SetUp() override { Offload("on", "off"); }
  void TearDown() override { Offload("off", "off"); }
  static void ExpectLeft(const Counters& counters) {
    EXPECT_GE(counters.Growth("sent_trains"), 1u);
    if (!kHasSections)
      std::cout << "the log does not say which CRC there is: it was not asked whether runs left\n";
    else if (*kHasSections)
      EXPECT_GE(counters.Growth("sent_runs"), 1u);
    else
      EXPECT_EQ(counters.Growth("sent_runs"), 0u);
  }
  // One message; of packets some ask for an ACK before the last does.
  void ExpectCut(SendWr wr, std::vector<Packet> expected, Operation last, ibv_wc_opcode opcode) {
    const Counters counters;
    expected.back().bth.opcode = static_cast<uint8_t>(last);
    ep().Post(std::move(wr));
    ASSERT_EQ(ExpectMessage(expected).size(), expected.size());
    peer().Send(Ack(expected.back().bth.psn, 1));
    ExpectSent(1, opcode);
    EXPECT_EQ(counters.Growth("sent_pkts"), 13u);
    ExpectLeft(counters);
  }
};
SRN_BOTH_IP_VERSIONS(RcRunToNic);

TEST_P(RcRunToNic, WriteIsWholePackets) {
  Start();
  const auto expected = WriteFrom(Length(3));
  ExpectCut(WriteOf(Length(3)), expected, Operation::kWriteLast, IBV_WC_RDMA_WRITE);
}

TEST_P(RcRunToNic, SendWithOddTailIsWholePackets) {
  Start();
  ep().FillPattern(kPlace, Length(1));
  const auto expected = SendMessage(DevPsn(), ep().Copy(kPlace, Length(1)), mtu());
  ExpectCut(SendWr::Send(1, ep().Data(kPlace, Length(1))), expected, Operation::kSendLast,
            IBV_WC_SEND);
}

TEST_P(RcRunToNic, AnswerIsWholePackets) {
  Start();
  const Counters counters;
  ep().FillPattern(kPlace, Length(5));
  ExpectAnswer(PeerPsn(0), 0, Length(5), 1);
  ExpectLeft(counters);
}

TEST_P(RcRun, WriteIsWholePacketsWithEachPad) {
  Start({.sq_psn = 0xfffffa});
  const Counters counters;
  for (const uint32_t tail : {0u, 1u, 2u, 3u, 4u}) {
    SCOPED_TRACE("tail " + std::to_string(tail));
    const auto expected = WriteFrom(Length(tail), tail ? 12 + 13 * (tail - 1) : 0);
    ExpectPackets(WriteOf(Length(tail)), expected,
                  static_cast<Operation>(expected.back().bth.opcode));
    ExpectSent(1, IBV_WC_RDMA_WRITE);
  }
  EXPECT_EQ(counters.Growth("sent_runs"), 5u);
  EXPECT_EQ(counters.Growth("sent_pkts"), 12u + 4 * 13);
}

TEST_P(RcRun, ImmediateIsInTheLastPacket) {
  Start();
  const Counters counters;
  auto expected = WriteFrom(Length(7));
  expected.back().imm = kWord;
  SendWr wr = WriteOf(Length(7));
  wr.Imm(kWord);
  wr.Solicited();
  ExpectPackets(std::move(wr), expected, Operation::kWriteLastImm);
  EXPECT_TRUE(got_.back().bth.solicited);
  ExpectSent(1, IBV_WC_RDMA_WRITE);
  EXPECT_EQ(counters.Growth("sent_runs"), 1u);
}

TEST_P(RcRun, KeyToInvalidateIsInTheLastPacket) {
  Start();
  const Counters counters;
  ep().FillPattern(kPlace, Length(2));
  SendWr wr = SendWr::Send(1, ep().Data(kPlace, Length(2)));
  wr.Invalidate(kWord);
  ExpectPackets(std::move(wr), SendMessage(DevPsn(), ep().Copy(kPlace, Length(2)), mtu()),
                Operation::kSendLastInvalidate);
  EXPECT_EQ(got_.back().invalidate_rkey, kWord);
  ExpectSent(1, IBV_WC_SEND);
  EXPECT_EQ(counters.Growth("sent_runs"), 1u);
}

// A datagram has less than 64 KiB, and a run no more; runs of one length.
TEST_P(RcRun, LargestPacketsAreWholePackets) {
  Start({.mtu = 4096});
  Open();
  const Counters counters;
  const auto expected = WriteFrom(30 * mtu(), kOpened);
  ExpectPackets(WriteOf(30 * mtu()), expected, Operation::kWriteLast);
  ExpectSent(1, IBV_WC_RDMA_WRITE);
  EXPECT_EQ(counters.Growth("sent_runs"), 2u);
}

TEST_P(RcRun, AnswersAreWholePackets) {
  Start();
  ep().FillPattern(kPlace, Length(5));
  const Counters counters;
  ExpectAnswer(PeerPsn(0), 0, Length(5), 1);
  EXPECT_EQ(counters.Growth("sent_runs"), 1u);
  // The rest of it, once more: perhaps something on the way takes no runs. For a while there are
  // none.
  ExpectAnswer(PeerPsn(4), 4 * mtu(), Length(5), 1);
  ExpectAnswer(PeerPsn(13), 0, Length(5), 2);
  EXPECT_EQ(counters.Growth("sent_runs"), 1u);
}

// The last one does not begin the answer, and yet its last packet says what was answered.
TEST_P(RcRun, AnswerOfSeveralRunsEndsLikeThatOfOne) {
  Start();
  const uint32_t length = 200 * mtu() + 1;
  ep().FillPattern(kPlace, length);
  const Counters counters;
  ExpectAnswer(PeerPsn(), 0, length, 1);
  EXPECT_GE(counters.Growth("sent_runs"), 2u);
}

// What goes again was seen by the peer, perhaps: it is copied, and goes as packets.
TEST_P(RcRun, WhatIsSentAgainIsPackets) {
  Start();
  const auto expected = WriteFrom(Length(0));
  ep().Post(WriteOf(Length(0)));
  ExpectMessage(expected);
  const Counters counters;
  peer().Send(Nak(DevPsn(0), 0, roce::kNakSequence));
  ExpectMessage(expected);
  peer().Send(Ack(DevPsn(11), 1));
  ExpectSent(1, IBV_WC_RDMA_WRITE);
  // And it may have been lost for being a run: for a while there are none.
  ep().Post(WriteOf(Length(0)));
  ExpectMessage(WriteFrom(Length(0), 12));
  EXPECT_EQ(counters.Growth("sent_runs"), 0u);
  peer().Send(Ack(DevPsn(23), 2));
  ExpectSent(1, IBV_WC_RDMA_WRITE);
}

}  // namespace
}  // namespace wire
