// SPDX-License-Identifier: GPL-2.0-only
// Every path MTU, every operation. IBTA vol. 1, 9.4.
#include "fixture.h"

namespace wire {
namespace {

constexpr size_t kPlace = 65536;

class PathMtu : public WireTest {
 protected:
  uint32_t Length() const { return 3 * mtu() + 5; }
};
SRN_BOTH_IP_VERSIONS(PathMtu);

constexpr uint32_t kMtus[] = {256, 512, 1024, 2048, 4096};

TEST_P(PathMtu, ResponderTakesSendAndWrite) {
  for (const uint32_t mtu_value : kMtus) {
    SCOPED_TRACE("mtu " + std::to_string(mtu_value));
    Restart({.mtu = mtu_value});
    const Bytes data = Pattern(Length());
    Send(WriteMessage(PeerPsn(0), data, mtu(), ep().Va(kPlace), ep().rkey()));
    ExpectAckedUpTo(PeerPsn(3), 1);
    EXPECT_EQ(ep().Copy(kPlace, Length()), data);
    ep().PostRecv(1, 0, Length());
    Send(SendMessage(PeerPsn(4), data, mtu()));
    ExpectAckedUpTo(PeerPsn(7), 2);
    ExpectReceived(1, Length());
    EXPECT_EQ(ep().Copy(0, Length()), data);
  }
}

TEST_P(PathMtu, ResponderAnswersRead) {
  for (const uint32_t mtu_value : kMtus) {
    SCOPED_TRACE("mtu " + std::to_string(mtu_value));
    Restart({.mtu = mtu_value});
    ep().FillPattern(kPlace, Length());
    peer().Send(ReadRequest(PeerPsn(), Reth(kPlace, Length())));
    for (const Packet& want : ReadResponses(PeerPsn(), ep().Copy(kPlace, Length()), mtu(), 1)) {
      const Packet got = peer().Expect();
      EXPECT_THAT(got, IsRequest(static_cast<Operation>(want.bth.opcode), want.bth.psn));
      EXPECT_EQ(got.payload, want.payload);
    }
  }
}

TEST_P(PathMtu, RequesterSendsWriteAndRead) {
  for (const uint32_t mtu_value : kMtus) {
    SCOPED_TRACE("mtu " + std::to_string(mtu_value));
    Restart({.mtu = mtu_value});
    ep().FillPattern(0, Length());
    ep().Post(SendWr::Write(1, ep().Data(0, Length()), {9, 8}));
    ExpectMessage(WriteMessage(DevPsn(0), ep().Copy(0, Length()), mtu(), 9, 8));
    ep().Post(SendWr::Read(2, ep().Data(kPlace, Length()), {9, 8}));
    EXPECT_THAT(peer().Expect(), IsRequest(Operation::kReadRequest, DevPsn(4)));
    const Bytes data = Pattern(Length());
    Send(ReadResponses(DevPsn(4), data, mtu(), 2));
    ExpectSent(1, IBV_WC_RDMA_WRITE);
    ExpectSent(2, IBV_WC_RDMA_READ);
    EXPECT_EQ(ep().Copy(kPlace, Length()), data);
  }
}

TEST_P(PathMtu, PacketBeyondThePathMtuIsAnInvalidRequest) {
  for (const uint32_t mtu_value : kMtus) {
    SCOPED_TRACE("mtu " + std::to_string(mtu_value));
    Restart({.mtu = mtu_value});
    ep().Fill(0xee);
    const uint32_t length = mtu() + 4;
    peer().Send(Write(Operation::kWriteOnly, PeerPsn(), Bytes(length, 1), Reth(kPlace, length)));
    EXPECT_THAT(peer().Expect(), IsNak(PeerPsn(), roce::kNakInvalidRequest));
    EXPECT_EQ(ep().Copy(kPlace, 16), Bytes(16, 0xee));
  }
}

TEST_P(PathMtu, ReadResponseBeyondThePathMtuIsNotPlaced) {
  Start({.mtu = 256});
  ep().Fill(0xee);
  ep().Post(SendWr::Read(1, ep().Data(kPlace, 512), {9, 8}));
  (void)peer().Expect();
  peer().Send(ReadResponse(Operation::kReadResponseFirst, DevPsn(), Bytes(512, 1), 1));
  const ibv_wc wc = ep().WaitSend();
  EXPECT_NE(wc.status, IBV_WC_SUCCESS);
  EXPECT_EQ(ep().Copy(kPlace + 256, 512), Bytes(512, 0xee));
}

}  // namespace
}  // namespace wire
