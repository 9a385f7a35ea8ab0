// SPDX-License-Identifier: GPL-2.0-only
// RC: what happens to many requests together: order, fences, signalling,
// limits on outstanding READs, several QPs at once.
#include <thread>

#include <share/counters.h>
#include <share/parameter.h>

#include "env.h"

namespace verbs_test {
namespace {

class RcOrder : public WireTest {
 protected:
  RcOrder() : WireTest(2 << 20) {}
};

TEST_P(RcOrder, MessagesArriveInTheOrderOfPosting) {
  constexpr size_t kSlot = 12 << 10;
  constexpr int kBatch = 50, kBatches = 10;
  Pair p = Connected();

  for (int batch = 0; batch < kBatches; batch++) {
    std::vector<SendWr> sends;
    for (int i = 0; i < kBatch; i++) {
      const uint32_t id = batch * kBatch + i;
      const size_t size = (id * 7919) % kSlot;
      Must(p.b.qp.Post(RecvWr(id, {b_.mr.Slice(i * kSlot, kSlot)})));
      FillPattern(a_.bytes(i * kSlot, size), id);
      sends.push_back(SendWr::Send(id, a_.mr.Slice(i * kSlot, size)).Imm(id));
    }
    Must(p.a.qp.Post(sends, nullptr));
    for (int i = 0; i < kBatch; i++) {
      const uint32_t id = batch * kBatch + i;
      const uint32_t size = (id * 7919) % kSlot;
      ExpectWc(Await(p.b.recv_cq), {.wr_id = id,
                                    .opcode = IBV_WC_RECV,
                                    .qp_num = p.b.qp.num(),
                                    .byte_len = size,
                                    .flags = IBV_WC_WITH_IMM,
                                    .imm = id});
      ExpectPattern(b_.bytes(i * kSlot, size), id);
      ExpectWc(Await(p.a.send_cq), {.wr_id = id, .opcode = IBV_WC_SEND, .qp_num = p.a.qp.num()});
    }
  }
}

// Whether the last of `bytes` becomes `value`, without a look at any CQ.
bool Arrives(Bytes bytes, uint8_t value) {
  const volatile auto& last = reinterpret_cast<const volatile uint8_t&>(bytes.back());
  const auto late = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (last != value)
    if (std::chrono::steady_clock::now() > late) return false;
  return true;
}

constexpr int kUnpolled = 100;

// Posts WRITEs one by one, each when the one before it is there, and polls for none.
class RcUnpolled : public RcOrder {
 protected:
  RcUnpolled() { gather_.Set("Y"); }

  void PostAll(Pair& p) {
    for (int i = 0; i < kUnpolled; i++) {
      const auto value = static_cast<uint8_t>(i + 1);
      Fill(a_.bytes(i * 8, 8), value);
      Fill(b_.bytes(i * 8, 8), 0);
      Must(p.a.qp.Post(SendWr::Write(i, a_.mr.Slice(i * 8, 8), b_.mr.At(i * 8))));
      ASSERT_TRUE(Arrives(b_.bytes(i * 8, 8), value)) << i;
    }
  }
  void PollAll(Pair& p) {
    for (uint64_t i = 0; i < kUnpolled; i++) {
      const ibv_wc wc = Await(p.a.send_cq);
      EXPECT_EQ(wc.wr_id, i);
      EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
    }
  }
  static uint64_t Gatherings() {
    return Foreign() ? 0 : share::FreshCounter(DeviceA(), "gatherings");
  }

  const share::ScopedParameter gather_{"gather"};
};

// Who leaves completions lying looks like a program that streams, whose posts may wait for each
// other: but not for its next poll, which may never come.
// Also where the kernel leaves posts for a moment, and no poll ends that.
TEST_P(RcUnpolled, PostsGoAllTheSame) {
  Pair p = Connected({.max_send_wr = kUnpolled}, {});
  const uint64_t before = Gatherings();
  PostAll(p);
  // With one CPU nobody else sends for it.
  if (!Foreign() && std::thread::hardware_concurrency() == 1) EXPECT_GT(Gatherings(), before);
  PollAll(p);
}

// Who armed a CQ is about to sleep: nothing that he posts before that is left.
TEST_P(RcUnpolled, PostsOfWhoIsToBeWokenAreNotLeft) {
  Pair p = Connected({.max_send_wr = kUnpolled}, {});
  Must(p.a.recv_cq.Arm());
  const uint64_t before = Gatherings();
  PostAll(p);
  EXPECT_EQ(Gatherings(), before);
  PollAll(p);
}

TEST_P(RcOrder, PacketSequenceNumbersWrap) {
  const size_t size = 5 * mtu() + 1;
  // Message 1 crosses 0xffffff -> 0 in its middle, on both ways.
  Pair p = Connected({}, {.psn_a = 0xfffffd, .psn_b = 0xfffffe});

  for (uint64_t id = 0; id < 4; id++) {
    FillPattern(a_.bytes(0, size), id);
    Must(p.b.qp.Post(RecvWr(id, {b_.mr.Slice(0, size)})));
    Must(p.a.qp.Post(SendWr::Send(id, a_.mr.Slice(0, size))));
    EXPECT_EQ(Await(p.b.recv_cq).byte_len, size);
    EXPECT_EQ(Await(p.a.send_cq).status, IBV_WC_SUCCESS);
    ExpectPattern(b_.bytes(0, size), id);

    FillPattern(a_.bytes(0, size), id + 100);
    Must(p.b.qp.Post(SendWr::Read(id, b_.mr.Slice(0, size), a_.mr.At(0))));
    EXPECT_EQ(Await(p.b.send_cq).status, IBV_WC_SUCCESS);
    ExpectPattern(b_.bytes(0, size), id + 100);
  }
}

TEST_P(RcOrder, UnsignalledRequestsAreSilentAndGiveTheirSlotsBack) {
  Pair p = Connected({.max_send_wr = 16});
  const uint64_t depth = p.a.qp.cap().max_send_wr;

  // Many times around the queue, one completion for each half of it.
  for (uint64_t id = 0; id < 20 * depth; id++) {
    const bool signalled = id % (depth / 2) == depth / 2 - 1;
    SendWr wr = SendWr::Write(id, a_.mr.Slice(0, 8), b_.mr.At(8 * (id % 64)));
    if (!signalled) wr.Unsignaled();
    Must(p.a.qp.Post(std::move(wr)));
    if (!signalled) continue;
    EXPECT_EQ(Await(p.a.send_cq).wr_id, id);
    EXPECT_FALSE(p.a.send_cq.Poll());
  }
}

// Nobody polls, and each slot is used many times: they come back as fast as there are ACKs.
TEST_P(RcOrder, SmallQueueOfUnsignalledRequestsGoesRound) {
  Pair p = Connected({.max_send_wr = 16});
  const auto late = std::chrono::steady_clock::now() + std::chrono::seconds(20);

  for (uint64_t id = 0; id <= 1000; id++) {
    const auto write = SendWr::Write(id, a_.mr.Slice(0, 8), b_.mr.At(0));
    Status posted;
    do {
      posted = p.a.qp.Post(id < 1000 ? SendWr(write).Unsignaled() : write);
      ASSERT_LT(std::chrono::steady_clock::now(), late) << id;
    } while (!posted && posted.error() == ENOMEM);
    Must(posted);
  }
  EXPECT_EQ(Await(p.a.send_cq).wr_id, 1000u);
}

// Its effect is seen at the peer, so its bytes are needed no more, whether there was an ACK or not.
TEST_P(RcOrder, RegionOfAnUnsignalledRequestThatArrivedMayGo) {
  Pair p = Connected();
  Must(p.a.qp.Post(SendWr::Write(1, a_.mr.Slice(0, 8), b_.mr.At(64))));
  ASSERT_EQ(Await(p.a.send_cq).status, IBV_WC_SUCCESS);

  for (uint8_t turn = 1; turn <= 3; turn++) {
    Buffer memory = Must(Buffer::Map(4096));
    Fill(memory.bytes(), turn);
    {
      const Mr mr = Must(Mr::Register(a_.pd, memory.bytes(), 0));
      Must(p.a.qp.Post(SendWr::Write(2, mr.Slice(0, 8), b_.mr.At(0)).Unsignaled()));
      ASSERT_TRUE(Arrives(b_.bytes(0, 8), turn));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    Must(p.a.qp.Post(SendWr::Write(3, a_.mr.Slice(0, 8), b_.mr.At(64))));
    ExpectWc(Await(p.a.send_cq), {.wr_id = 3, .opcode = IBV_WC_RDMA_WRITE, .qp_num = p.a.qp.num()});
  }
}

TEST_P(RcOrder, SignalAllQpCompletesUnsignalledRequests) {
  Pair p = Connected({.sq_sig_all = true});

  for (uint64_t id = 0; id < 10; id++)
    Must(p.a.qp.Post(SendWr::Write(id, a_.mr.Slice(0, 8), b_.mr.At(0)).Unsignaled()));
  for (uint64_t id = 0; id < 10; id++)
    ExpectWc(Await(p.a.send_cq),
             {.wr_id = id, .opcode = IBV_WC_RDMA_WRITE, .qp_num = p.a.qp.num()});
}

TEST_P(RcOrder, FencedSendCarriesWhatTheReadBeforeItBrought) {
  constexpr size_t kSize = 200 << 10;
  Pair p = Connected();

  for (uint32_t round = 0; round < 5; round++) {
    Fill(a_.bytes(0, kSize), 0);
    FillPattern(b_.bytes(0, kSize), round);
    Must(p.b.qp.Post(RecvWr(1, {b_.mr.Slice(1 << 20, kSize)})));
    std::vector<SendWr> list;
    list.push_back(SendWr::Read(2, a_.mr.Slice(0, kSize), b_.mr.At(0)));
    list.push_back(SendWr::Send(3, a_.mr.Slice(0, kSize)).Fence());
    Must(p.a.qp.Post(list, nullptr));
    EXPECT_EQ(Await(p.b.recv_cq).byte_len, kSize);
    ExpectPattern(b_.bytes(1 << 20, kSize), round);
    EXPECT_EQ(Await(p.a.send_cq).wr_id, 2u);
    EXPECT_EQ(Await(p.a.send_cq).wr_id, 3u);
  }
}

TEST_P(RcOrder, FencedWriteCarriesWhatTheAtomicBeforeItBrought) {
  Pair p = Connected();
  auto* result = reinterpret_cast<uint64_t*>(a_.buffer.data());
  auto* counter = reinterpret_cast<uint64_t*>(b_.buffer.data());
  auto* copy = counter + 1;
  *counter = 1000;

  for (uint64_t round = 0; round < 20; round++) {
    *result = *copy = ~0ull;
    std::vector<SendWr> list;
    list.push_back(SendWr::FetchAdd(1, a_.mr.Slice(0, 8), b_.mr.At(0), 1));
    list.push_back(SendWr::Write(2, a_.mr.Slice(0, 8), b_.mr.At(8)).Fence());
    Must(p.a.qp.Post(list, nullptr));
    EXPECT_EQ(Await(p.a.send_cq).wr_id, 1u);
    EXPECT_EQ(Await(p.a.send_cq).wr_id, 2u);
    EXPECT_EQ(*copy, 1000 + round);
  }
}

TEST_P(RcOrder, ReadsBeyondTheNegotiatedDepthWaitTheirTurn) {
  constexpr size_t kSize = 9001;
  constexpr int kReads = 40;
  for (uint8_t depth : {1, 2, 5}) {
    SCOPED_TRACE(int{depth});
    Pair p = Connected({}, {.rd_atomic = depth});
    FillPattern(b_.bytes(0, kSize), depth);
    Fill(a_.bytes(0, kSize * kReads), 0);
    for (uint64_t id = 0; id < kReads; id++)
      Must(p.a.qp.Post(SendWr::Read(id, a_.mr.Slice(id * kSize, kSize), b_.mr.At(0))));
    for (uint64_t id = 0; id < kReads; id++) {
      ExpectWc(
          Await(p.a.send_cq),
          {.wr_id = id, .opcode = IBV_WC_RDMA_READ, .qp_num = p.a.qp.num(), .byte_len = kSize});
      ExpectPattern(a_.bytes(id * kSize, kSize), depth);
    }
  }
}

TEST_P(RcOrder, OperationsOfAllKindsCompleteInOrder) {
  Pair p = Connected();
  std::vector<SendWr> list;
  std::vector<ibv_wc_opcode> opcodes;

  for (uint64_t id = 0; id < 48; id++) {
    const ibv_sge sge = a_.mr.Slice(id * 16384, 8);
    const ibv_sge big = a_.mr.Slice(id * 16384, 10001);
    switch (id % 5) {
      case 0:
        list.push_back(SendWr::Read(id, big, b_.mr.At(0)));
        opcodes.push_back(IBV_WC_RDMA_READ);
        break;
      case 1:
        list.push_back(SendWr::Write(id, big, b_.mr.At(32768)));
        opcodes.push_back(IBV_WC_RDMA_WRITE);
        break;
      case 2:
        list.push_back(SendWr::FetchAdd(id, sge, b_.mr.At(65536), 1));
        opcodes.push_back(IBV_WC_FETCH_ADD);
        break;
      case 3:
        Must(p.b.qp.Post(RecvWr(id, {b_.mr.Slice(131072, 10001)})));
        list.push_back(SendWr::Send(id, big));
        opcodes.push_back(IBV_WC_SEND);
        break;
      default:
        list.push_back(SendWr::CompareSwap(id, sge, b_.mr.At(65544), 0, 0));
        opcodes.push_back(IBV_WC_COMP_SWAP);
    }
  }
  Must(p.a.qp.Post(list, nullptr));
  for (uint64_t id = 0; id < list.size(); id++)
    ExpectWc(Await(p.a.send_cq), {.wr_id = id, .opcode = opcodes[id], .qp_num = p.a.qp.num()});
}

TEST_P(RcOrder, ManyPairsInBothDirectionsKeepTheirBytesApart) {
  constexpr int kPairs = 12, kRounds = 10;
  constexpr size_t kSize = 13001, kSlot = 16384;
  std::vector<Pair> pairs;
  for (int i = 0; i < kPairs; i++) pairs.push_back(Connected());

  // First half of each buffer: outgoing, second half: incoming.
  const size_t in = 1 << 20;
  for (uint32_t round = 0; round < kRounds; round++) {
    for (uint32_t i = 0; i < kPairs; i++) {
      FillPattern(a_.bytes(i * kSlot, kSize), round * 100 + i);
      FillPattern(b_.bytes(i * kSlot, kSize), round * 100 + i + 50);
      Must(pairs[i].a.qp.Post(RecvWr(i, {a_.mr.Slice(in + i * kSlot, kSize)})));
      Must(pairs[i].b.qp.Post(RecvWr(i, {b_.mr.Slice(in + i * kSlot, kSize)})));
    }
    for (uint32_t i = 0; i < kPairs; i++) {
      Must(pairs[i].a.qp.Post(SendWr::Send(i, a_.mr.Slice(i * kSlot, kSize))));
      Must(pairs[i].b.qp.Post(SendWr::Send(i, b_.mr.Slice(i * kSlot, kSize))));
    }
    for (uint32_t i = 0; i < kPairs; i++) {
      for (End* end : {&pairs[i].a, &pairs[i].b}) {
        ExpectWc(Await(end->recv_cq),
                 {.wr_id = i, .opcode = IBV_WC_RECV, .qp_num = end->qp.num(), .byte_len = kSize});
        EXPECT_EQ(Await(end->send_cq).status, IBV_WC_SUCCESS);
      }
      ExpectPattern(b_.bytes(in + i * kSlot, kSize), round * 100 + i);
      ExpectPattern(a_.bytes(in + i * kSlot, kSize), round * 100 + i + 50);
    }
  }
}

TEST_P(RcOrder, ImmediateComesAfterTheBytesOfEarlierWrites) {
  constexpr size_t kSize = 300 << 10;
  Pair p = Connected();

  for (uint32_t round = 0; round < 5; round++) {
    FillPattern(a_.bytes(0, kSize), round);
    Fill(b_.bytes(0, kSize), 0);
    Must(p.b.qp.Post(RecvWr(1, {})));
    std::vector<SendWr> list;
    list.push_back(SendWr::Write(2, a_.mr.Slice(0, kSize), b_.mr.At(0)).Unsignaled());
    list.push_back(SendWr::Write(3, SendWr::Sges{}, b_.mr.At(0)).Imm(round));
    Must(p.a.qp.Post(list, nullptr));
    ExpectWc(Await(p.b.recv_cq), {.wr_id = 1,
                                  .opcode = IBV_WC_RECV_RDMA_WITH_IMM,
                                  .qp_num = p.b.qp.num(),
                                  .byte_len = 0,
                                  .flags = IBV_WC_WITH_IMM,
                                  .imm = round});
    ExpectPattern(b_.bytes(0, kSize), round);
    EXPECT_EQ(Await(p.a.send_cq).wr_id, 3u);
  }
}

SRN_OVER_BOTH_IP(RcOrder);
SRN_OVER_BOTH_IP(RcUnpolled);

}  // namespace
}  // namespace verbs_test
