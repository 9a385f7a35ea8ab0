// SPDX-License-Identifier: GPL-2.0-only
// Packets that a NAPI received together come to the device as one (gro=Y). Whatever they are, it
// says of them what it says of each by itself. A NAPI that waits for more has them for as long as
// these tests need to send what belongs together.
#include <chrono>
#include <fstream>
#include <string>

#include <net/command.h>
#include <share/parameter.h>

#include "counters.h"
#include "fixture.h"
#include "wire.h"

namespace wire {
namespace {

constexpr uint32_t kWord = 0x12345678;

// For how long a NAPI waits for more, stretched to the machine's speed: on a busy debug kernel
// under an emulator 13 packets took more than 20 ms to send, and the last came by itself.
constexpr std::chrono::milliseconds kWait{20};

class RcGro : public WireTest {
 protected:
  void SetUp() override {
    ASSERT_TRUE(gro_.Set("Y"));
    Napi("on", Wire::Get().Patience(kWait));
  }
  void TearDown() override { Napi("off", {}); }
  // Of 13 packets, the last one short.
  uint32_t Length() const { return 12 * mtu() + 7; }
  // The packets of a WRITE of the peer, whose bytes tell where they stand.
  std::vector<Packet> Message(int psn = 0) {
    Bytes data(Length());
    for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<uint8_t>(i * 7 + (i >> 8));
    data_ = data;
    ep().Fill(0x33);
    return WriteMessage(PeerPsn(psn), data, mtu(), ep().Va(kPlace), ep().rkey());
  }
  void ExpectWritten() { ExpectPlaced(kPlace, data_, 0x33); }

  const share::ScopedParameter gro_{"gro"};
  Bytes data_;

 private:
  static void Write(const std::string& path, const std::string& value) {
    std::ofstream(path) << value;
  }
  // The peer's netdev hands on packet by packet: TSO is off there.
  static void Napi(const char* gro, std::chrono::nanoseconds wait) {
    const std::string& dev = Wire::Get().config().netdev;
    ASSERT_TRUE(net::Run({"ethtool", "-K", dev, "gro", gro}));
    Write("/sys/class/net/" + dev + "/gro_flush_timeout", std::to_string(wait.count()));
  }
};
SRN_BOTH_IP_VERSIONS(RcGro);

TEST_P(RcGro, WriteIsTakenAsOne) {
  Start();
  const Counters counters;
  Send(Message());
  EXPECT_THAT(peer().Expect(), IsAckWithMsn(PeerPsn(12), 1));
  ExpectWritten();
  EXPECT_GE(counters.Growth("rcvd_convoys"), 1u);
  EXPECT_EQ(counters.Growth("rcvd_pkts"), 13u);
  EXPECT_EQ(counters.Growth("split_convoys"), 0u);
  ExpectResponderWorks(PeerPsn(13), 1);
}

TEST_P(RcGro, ImmediateAndReceive) {
  Start();
  const Counters counters;
  ep().PostRecv(1, 0, 0);
  std::vector<Packet> packets = Message();
  packets.back().bth.opcode = static_cast<uint8_t>(Operation::kWriteLastImm);
  packets.back().imm = kWord;
  Send(packets);
  EXPECT_EQ(ExpectReceived(1, Length(), IBV_WC_RECV_RDMA_WITH_IMM).imm_data, htobe32(kWord));
  ExpectWritten();
  EXPECT_GE(counters.Growth("rcvd_convoys"), 1u);
}

TEST_P(RcGro, OffIsPackets) {
  ASSERT_TRUE(gro_.Set("N"));
  Start();
  const Counters counters;
  Send(Message());
  ExpectAckedUpTo(PeerPsn(12), 1);
  ExpectWritten();
  EXPECT_EQ(counters.Growth("rcvd_convoys"), 0u);
  EXPECT_EQ(counters.Growth("rcvd_pkts"), 13u);
}

// One that is damaged is lost alone: what is before it is there, what is behind it is kept.
TEST_P(RcGro, DamagedPacketIsLostAlone) {
  Start();
  const Counters counters;
  const std::vector<Packet> packets = Message();
  for (size_t i = 0; i < packets.size(); ++i) {
    if (i != 5) {
      peer().Send(packets[i]);
      continue;
    }
    net::Datagram spoilt = peer().Seal(packets[i]);
    spoilt.payload[spoilt.payload.size() - 6] ^= 1;
    peer().SendDatagram(spoilt);
  }
  EXPECT_THAT(peer().Expect(), IsNak(PeerPsn(5), roce::kNakSequence));
  EXPECT_EQ(counters.Growth("rx_icrc_encapsulated"), 1u);
  peer().Send(packets[5]);
  if (Wire::Get().config().recovery != "hold" && Wire::Get().config().recovery != "sack")
    for (size_t i = 6; i < packets.size(); ++i) peer().Send(packets[i]);
  ExpectAckedUpTo(PeerPsn(12), 1);
  ExpectWritten();
}

// Twice all, and one of them in front of its turn: nothing is executed twice.
TEST_P(RcGro, DuplicatesAreDuplicates) {
  Start();
  const Counters counters;
  const std::vector<Packet> packets = Message();
  Send(packets);
  ExpectAckedUpTo(PeerPsn(12), 1);
  ep().Fill(0x44);
  Send(packets);
  EXPECT_THAT(peer().Expect(), IsAckWithMsn(PeerPsn(12), 1));
  ExpectPlaced(kPlace, Bytes(Length(), 0x44), 0x44);
  EXPECT_EQ(counters.Growth("duplicate_request"), 13u);
  ExpectResponderWorks(PeerPsn(13), 1);
}

TEST_P(RcGro, MissingPacketIsAskedFor) {
  Start();
  std::vector<Packet> packets = Message();
  for (size_t i = 0; i < packets.size(); ++i)
    if (i != 7) peer().Send(packets[i]);
  EXPECT_THAT(peer().Expect(), IsNak(PeerPsn(7), roce::kNakSequence));
  for (size_t i = 7; i < packets.size(); ++i) peer().Send(packets[i]);
  ExpectAckedUpTo(PeerPsn(12), 1);
  ExpectWritten();
}

// A message that may not be written is refused at its first packet, whatever comes with it.
TEST_P(RcGro, WrongKeyIsRefused) {
  Start();
  std::vector<Packet> packets = Message();
  packets.front().reth->rkey ^= 0x100;
  Send(packets);
  EXPECT_THAT(peer().Expect(), IsNak(PeerPsn(0), roce::kNakRemoteAccess));
  ExpectPlaced(kPlace, Bytes(Length(), 0x33), 0x33);
}

// The length that its first packet announced is that of all: the last is the one that does not fit.
TEST_P(RcGro, WrongLengthIsRefused) {
  Start();
  const Counters counters;
  std::vector<Packet> packets = Message();
  packets.front().reth->length += 4;
  Send(packets);
  EXPECT_THAT(peer().Expect(), IsNak(PeerPsn(12), roce::kNakInvalidRequest));
  ExpectPlaced(kPlace, Bytes(data_.begin(), data_.begin() + 12 * mtu()), 0x33);
  EXPECT_GE(counters.Growth("split_convoys"), 1u);
}

// Nor is more of it written than was announced: what whole packets of that have.
TEST_P(RcGro, WhatPassesItsLengthIsRefused) {
  Start();
  const Counters counters;
  std::vector<Packet> packets = Message();
  packets.front().reth->length = 5 * mtu() + 100;
  Send(packets);
  EXPECT_THAT(peer().Expect(), IsNak(PeerPsn(5), roce::kNakInvalidRequest));
  ExpectPlaced(kPlace, Bytes(data_.begin(), data_.begin() + 5 * mtu()), 0x33);
  EXPECT_GE(counters.Growth("split_convoys"), 1u);
}

// A SEND that its receive is too short for.
TEST_P(RcGro, SendThatDoesNotFitIsRefused) {
  Start();
  const Counters counters;
  ep().PostRecv(6, kPlace, 7 * mtu() + 1);
  Message();
  Send(SendMessage(PeerPsn(), data_, mtu()));
  EXPECT_THAT(peer().Expect(), IsNak(PeerPsn(7), roce::kNakInvalidRequest));
  const ibv_wc wc = ep().WaitRecv();
  EXPECT_EQ(wc.status, IBV_WC_LOC_LEN_ERR) << ibv_wc_status_str(wc.status);
  EXPECT_EQ(wc.wr_id, 6u);
  ExpectPlaced(kPlace, Bytes(data_.begin(), data_.begin() + 7 * mtu()), 0x33);
  EXPECT_GE(counters.Growth("split_convoys"), 1u);
}

TEST_P(RcGro, AnswerOfAReadIsTakenAsOne) {
  Start();
  const Counters counters;
  const uint32_t length = 7 * mtu() + 9;  // asked for at once
  PostRead(1, length);
  ExpectReadRequest(DevPsn(), length);
  Bytes data(length);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<uint8_t>(i * 3 + (i >> 8));
  Send(ReadResponses(DevPsn(), data, mtu(), 1));
  ExpectSent(1, IBV_WC_RDMA_READ);
  EXPECT_EQ(ep().Copy(kPlace, length), data);
  EXPECT_GE(counters.Growth("rcvd_convoys"), 1u);
}

// What is smaller than the path MTU is no run.
TEST_P(RcGro, OtherPathMtuIsRefused) {
  Start({.mtu = 1024});
  Bytes data(4 * 512);
  Send(WriteMessage(PeerPsn(), data, 512, ep().Va(kPlace), ep().rkey()));
  EXPECT_THAT(peer().Expect(), IsNak(PeerPsn(0), roce::kNakInvalidRequest));
}

}  // namespace
}  // namespace wire
