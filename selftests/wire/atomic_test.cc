// SPDX-License-Identifier: GPL-2.0-only
// RC atomics, both directions. IBTA vol. 1, 9.4.6; annex A19 for ATOMIC WRITE.
#include <result/must.h>

#include "fixture.h"

namespace wire {
namespace {

constexpr uint64_t kOld = 0x1122334455667788;

class RcAtomic : public WireTest {
 protected:
  void ExpectAtomicAck(uint32_t psn, uint64_t old_value, uint32_t msn) {
    const Packet p = peer().Expect();
    EXPECT_THAT(p, IsRequest(Operation::kAtomicAcknowledge, psn));
    EXPECT_EQ(p.atomic_ack, old_value);
    EXPECT_TRUE(p.aeth && p.aeth->msn == msn) << p.ToString();
  }
};
SRN_ANY_IP_VERSION(RcAtomic);

TEST_P(RcAtomic, ResponderSwapsIfEqual) {
  Start();
  ep().Store64(kPlace, kOld);
  peer().Send(CompareSwap(PeerPsn(), ep().Va(kPlace), ep().rkey(), kOld, 42));
  ExpectAtomicAck(PeerPsn(), kOld, 1);
  EXPECT_EQ(ep().Load64(kPlace), 42u);
}

TEST_P(RcAtomic, ResponderLeavesItIfNotEqual) {
  Start();
  ep().Store64(kPlace, kOld);
  peer().Send(CompareSwap(PeerPsn(), ep().Va(kPlace), ep().rkey(), kOld + 1, 42));
  ExpectAtomicAck(PeerPsn(), kOld, 1);
  EXPECT_EQ(ep().Load64(kPlace), kOld);
}

TEST_P(RcAtomic, ResponderAddsAndWraps) {
  Start();
  ep().Store64(kPlace, ~uint64_t{0});
  peer().Send(FetchAdd(PeerPsn(0), ep().Va(kPlace), ep().rkey(), 3));
  ExpectAtomicAck(PeerPsn(0), ~uint64_t{0}, 1);
  EXPECT_EQ(ep().Load64(kPlace), 2u);
  peer().Send(FetchAdd(PeerPsn(1), ep().Va(kPlace), ep().rkey(), ~uint64_t{0}));
  ExpectAtomicAck(PeerPsn(1), 2, 2);
  EXPECT_EQ(ep().Load64(kPlace), 1u);
}

TEST_P(RcAtomic, ResponderTouchesEightBytesOnly) {
  Start();
  ep().Fill(0xee);
  ep().Store64(kPlace, 0);
  peer().Send(FetchAdd(PeerPsn(), ep().Va(kPlace), ep().rkey(), ~uint64_t{0}));
  ExpectAtomicAck(PeerPsn(), 0, 1);
  ExpectPlaced(kPlace, Bytes(8, 0xff), 0xee);
}

TEST_P(RcAtomic, DuplicateIsAnsweredFromTheSavedResult) {
  Start();
  ep().Store64(kPlace, 5);
  const Packet add = FetchAdd(PeerPsn(), ep().Va(kPlace), ep().rkey(), 10);
  peer().Send(add);
  ExpectAtomicAck(PeerPsn(), 5, 1);
  ep().Store64(kPlace, 1000);
  peer().Send(add);
  ExpectAtomicAck(PeerPsn(), 5, 1);
  EXPECT_EQ(ep().Load64(kPlace), 1000u);
}

// Of 3 agreed upon as of 4: a requester may round up (rxe), and then have 4 open.
TEST_P(RcAtomic, AsManyResultsAreSavedAsMaxDestRdAtomicRoundedUp) {
  for (const uint8_t agreed : {3, 4}) {
    SCOPED_TRACE("max_dest_rd_atomic " + std::to_string(agreed));
    Restart({.max_dest_rd_atomic = agreed});
    ep().Store64(kPlace, 0);
    std::vector<Packet> adds;
    for (int i = 0; i < 5; ++i) {
      adds.push_back(FetchAdd(PeerPsn(i), ep().Va(kPlace), ep().rkey(), 1));
      peer().Send(adds.back());
      ExpectAtomicAck(PeerPsn(i), static_cast<uint64_t>(i), static_cast<uint32_t>(i) + 1);
    }
    for (int i = 1; i < 5; ++i) {
      peer().Send(adds[static_cast<size_t>(i)]);
      const Packet p = peer().Expect();
      EXPECT_THAT(p, IsRequest(Operation::kAtomicAcknowledge, PeerPsn(i)));
      EXPECT_EQ(p.atomic_ack, static_cast<uint64_t>(i));
    }
    // The slot of the first is used again: silence, and never a second execution.
    peer().Send(adds[0]);
    peer().ExpectNothing();
    EXPECT_EQ(ep().Load64(kPlace), 5u);
    EXPECT_EQ(ep().State(), IBV_QPS_RTS);
  }
}

TEST_P(RcAtomic, UnalignedAddressIsAnInvalidRequest) {
  for (const size_t off : {1u, 4u, 7u}) {
    Restart();
    ep().Store64(kPlace, 5);
    peer().Send(FetchAdd(PeerPsn(), ep().Va(kPlace + off), ep().rkey(), 1));
    EXPECT_THAT(peer().Expect(), IsNak(PeerPsn(), roce::kNakInvalidRequest));
    EXPECT_TRUE(ep().ReachesState(IBV_QPS_ERR));
    EXPECT_EQ(ep().Load64(kPlace), 5u);
  }
}

TEST_P(RcAtomic, RequesterSendsCompareSwap) {
  Start();
  ep().Post(SendWr::CompareSwap(3, ep().mr().Slice(kPlace, 8), {0x10008, 0x77}, 1234, 5678));
  const Packet p = peer().Expect();
  EXPECT_THAT(p, IsRequest(Operation::kCompareSwap, DevPsn()));
  ASSERT_TRUE(p.atomic);
  EXPECT_EQ(p.atomic->va, 0x10008u);
  EXPECT_EQ(p.atomic->rkey, 0x77u);
  EXPECT_EQ(p.atomic->compare, 1234u);
  EXPECT_EQ(p.atomic->swap_or_add, 5678u);
  peer().Send(AtomicAck(DevPsn(), 1234, 1));
  ExpectSent(3, IBV_WC_COMP_SWAP);
  EXPECT_EQ(ep().Load64(kPlace), 1234u);
}

TEST_P(RcAtomic, RequesterSendsFetchAdd) {
  Start();
  ep().Fill(0xee);
  ep().Post(SendWr::FetchAdd(4, ep().mr().Slice(kPlace, 8), {0x10010, 0x78}, 99));
  const Packet p = peer().Expect();
  EXPECT_THAT(p, IsRequest(Operation::kFetchAdd, DevPsn()));
  ASSERT_TRUE(p.atomic);
  EXPECT_EQ(p.atomic->swap_or_add, 99u);
  ep().ExpectNoCompletion();
  peer().Send(AtomicAck(DevPsn(), kOld, 1));
  ExpectSent(4, IBV_WC_FETCH_ADD);
  EXPECT_EQ(ep().Load64(kPlace), kOld);
  EXPECT_EQ(ep().Copy(kPlace + 8, 8), Bytes(8, 0xee));
}

TEST_P(RcAtomic, LostAtomicAckIsAskedForAgain) {
  Start({.timeout = 13});
  ep().Post(SendWr::FetchAdd(4, ep().mr().Slice(kPlace, 8), {0x10010, 0x78}, 99));
  const Packet first = peer().Expect();
  const Packet second = peer().Expect();
  EXPECT_EQ(roce::EncodeTransport(first), roce::EncodeTransport(second));
  peer().Send(AtomicAck(DevPsn(), 7, 1));
  ExpectSent(4, IBV_WC_FETCH_ADD);
  EXPECT_EQ(ep().Load64(kPlace), 7u);
}

TEST_P(RcAtomic, ResponderExecutesAtomicWriteWhereItIsOffered) {
  Start();
  const ibv_device_attr_ex attr = result::Must(Wire::Get().context().QueryDeviceEx());
  constexpr uint64_t kDeviceAtomicWrite = uint64_t{1} << 40;
  if ((attr.device_cap_flags_ex & kDeviceAtomicWrite) == 0) {
    ASSERT_TRUE(Wire::Get().config().lax) << "srn offers ATOMIC WRITE";
    GTEST_SKIP() << "the device does not offer ATOMIC WRITE";
  }
  ep().Fill(0xee);
  const Bytes data = Pattern(8);
  peer().Send(Write(Operation::kAtomicWrite, PeerPsn(), data, Reth(kPlace, 8)));
  const Packet p = peer().Expect();
  EXPECT_THAT(p, IsRequest(Operation::kReadResponseOnly, PeerPsn()));
  EXPECT_EQ(p.payload.size(), 0u);
  ExpectPlaced(kPlace, data, 0xee);
}

}  // namespace
}  // namespace wire
