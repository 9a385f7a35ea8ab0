// SPDX-License-Identifier: GPL-2.0-only
// RC: every operation at every size, with every byte and completion checked.
#include <cstring>
#include <numeric>

#include "env.h"

namespace verbs_test {
namespace {

constexpr size_t kGuard = 64;
constexpr uint8_t kUntouched = 0xa5;

class Rc : public WireTest {
 protected:
  Rc() : WireTest(6 << 20) {}

  std::vector<size_t> Sizes() const {
    const size_t m = mtu();
    return {0, 1, 3, m - 1, m, m + 1, 2 * m, 2 * m + 3, 65541, 1 << 20, (5 << 20) + 7};
  }

  // Odd, so that nothing is aligned by accident.
  static size_t OffsetOf(size_t size) { return kGuard + 1 + 2 * (size % 31); }

  // Prepares both buffers for `size` bytes that go from `from` to `to`.
  static void Prepare(const Host& from, const Host& to, size_t size) {
    FillPattern(from.bytes(OffsetOf(size), size), size);
    Fill(to.bytes(0, OffsetOf(size) + size + kGuard), kUntouched);
  }

  // The bytes arrived, and nothing around them changed.
  static void ExpectArrived(const Host& to, size_t size) {
    const size_t at = OffsetOf(size);
    ExpectPattern(to.bytes(at, size), size);
    ExpectAll(to.bytes(0, at), kUntouched);
    ExpectAll(to.bytes(at + size, kGuard), kUntouched);
  }

  static SendWr::Sges SgesOf(const Host& host, size_t size) {
    if (size == 0) return {};
    return {host.mr.Slice(OffsetOf(size), size)};
  }
};

TEST_P(Rc, SendCarriesEverySize) {
  Pair p = Connected();

  for (size_t size : Sizes()) {
    SCOPED_TRACE(size);
    Prepare(a_, b_, size);
    Must(p.b.qp.Post(RecvWr(size + 1, SgesOf(b_, size))));
    Must(p.a.qp.Post(SendWr::Send(size + 2, SgesOf(a_, size))));
    ExpectWc(Await(p.b.recv_cq),
             {.wr_id = size + 1, .opcode = IBV_WC_RECV, .qp_num = p.b.qp.num(), .byte_len = size});
    ExpectWc(Await(p.a.send_cq),
             {.wr_id = size + 2, .opcode = IBV_WC_SEND, .qp_num = p.a.qp.num()});
    ExpectArrived(b_, size);
  }
}

TEST_P(Rc, SendWithImmediateCarriesEverySize) {
  Pair p = Connected();

  for (size_t size : Sizes()) {
    SCOPED_TRACE(size);
    const uint32_t imm = 0xdead0000u + size;
    Prepare(a_, b_, size);
    Must(p.b.qp.Post(RecvWr(1, SgesOf(b_, size))));
    Must(p.a.qp.Post(SendWr::Send(2, SgesOf(a_, size)).Imm(imm)));
    ExpectWc(Await(p.b.recv_cq), {.wr_id = 1,
                                  .opcode = IBV_WC_RECV,
                                  .qp_num = p.b.qp.num(),
                                  .byte_len = size,
                                  .flags = IBV_WC_WITH_IMM,
                                  .imm = imm});
    ExpectWc(Await(p.a.send_cq), {.wr_id = 2, .opcode = IBV_WC_SEND, .qp_num = p.a.qp.num()});
    ExpectArrived(b_, size);
  }
}

TEST_P(Rc, WriteCarriesEverySizeAndTellsNobody) {
  Pair p = Connected();

  Must(p.b.qp.Post(RecvWr(1, {})));
  for (size_t size : Sizes()) {
    SCOPED_TRACE(size);
    Prepare(a_, b_, size);
    Must(p.a.qp.Post(SendWr::Write(2, SgesOf(a_, size), b_.mr.At(OffsetOf(size)))));
    ExpectWc(Await(p.a.send_cq), {.wr_id = 2, .opcode = IBV_WC_RDMA_WRITE, .qp_num = p.a.qp.num()});
    ExpectArrived(b_, size);
  }
  EXPECT_FALSE(p.b.recv_cq.Poll());
}

TEST_P(Rc, WriteWithImmediateCarriesEverySizeAndLeavesTheReceiveBufferAlone) {
  Pair p = Connected();
  const size_t recv_at = b_.buffer.size() - 4096;

  for (size_t size : Sizes()) {
    SCOPED_TRACE(size);
    const uint32_t imm = 0x01020304u ^ static_cast<uint32_t>(size);
    Prepare(a_, b_, size);
    Fill(b_.bytes(recv_at, 4096), kUntouched);
    Must(p.b.qp.Post(RecvWr(1, {b_.mr.Slice(recv_at, 4096)})));
    Must(p.a.qp.Post(SendWr::Write(2, SgesOf(a_, size), b_.mr.At(OffsetOf(size))).Imm(imm)));
    ExpectWc(Await(p.b.recv_cq), {.wr_id = 1,
                                  .opcode = IBV_WC_RECV_RDMA_WITH_IMM,
                                  .qp_num = p.b.qp.num(),
                                  .byte_len = size,
                                  .flags = IBV_WC_WITH_IMM,
                                  .imm = imm});
    ExpectWc(Await(p.a.send_cq), {.wr_id = 2, .opcode = IBV_WC_RDMA_WRITE, .qp_num = p.a.qp.num()});
    ExpectArrived(b_, size);
    ExpectAll(b_.bytes(recv_at, 4096), kUntouched);
  }
}

TEST_P(Rc, ReadCarriesEverySizeAndTellsNobody) {
  Pair p = Connected();

  Must(p.b.qp.Post(RecvWr(1, {})));
  for (size_t size : Sizes()) {
    SCOPED_TRACE(size);
    Prepare(b_, a_, size);
    Must(p.a.qp.Post(SendWr::Read(2, SgesOf(a_, size), b_.mr.At(OffsetOf(size)))));
    ExpectWc(Await(p.a.send_cq),
             {.wr_id = 2, .opcode = IBV_WC_RDMA_READ, .qp_num = p.a.qp.num(), .byte_len = size});
    ExpectArrived(a_, size);
  }
  EXPECT_FALSE(p.b.recv_cq.Poll());
}

TEST_P(Rc, EveryPathMtuWorks) {
  for (int m = IBV_MTU_256; m <= std::min(a_.port.active_mtu, b_.port.active_mtu); m++) {
    const size_t bytes = MtuBytes(ibv_mtu(m));
    SCOPED_TRACE(bytes);
    Pair p = Connected({}, {.mtu = ibv_mtu(m)});
    for (size_t size : {bytes - 1, bytes, bytes + 1, 3 * bytes + 1}) {
      SCOPED_TRACE(size);
      Prepare(a_, b_, size);
      Must(p.b.qp.Post(RecvWr(1, SgesOf(b_, size))));
      Must(p.a.qp.Post(SendWr::Send(2, SgesOf(a_, size))));
      EXPECT_EQ(Await(p.b.recv_cq).byte_len, size);
      EXPECT_EQ(Await(p.a.send_cq).status, IBV_WC_SUCCESS);
      ExpectArrived(b_, size);

      Prepare(a_, b_, size);
      Must(p.a.qp.Post(SendWr::Write(3, SgesOf(a_, size), b_.mr.At(OffsetOf(size)))));
      EXPECT_EQ(Await(p.a.send_cq).status, IBV_WC_SUCCESS);
      ExpectArrived(b_, size);

      Prepare(b_, a_, size);
      Must(p.a.qp.Post(SendWr::Read(4, SgesOf(a_, size), b_.mr.At(OffsetOf(size)))));
      EXPECT_EQ(Await(p.a.send_cq).status, IBV_WC_SUCCESS);
      ExpectArrived(a_, size);
    }
  }
}

// 32 pieces of odd lengths at odd offsets, with gaps between them.
struct Pieces {
  std::vector<size_t> offsets;
  std::vector<size_t> lengths;

  explicit Pieces(size_t seed) {
    size_t at = 17 + seed;
    for (size_t i = 0; i < 32; i++) {
      // Includes an empty piece, single bytes, and more than a packet.
      size_t length = i == 5 ? 0 : i == 20 ? 5003 : 1 + (i * seed * 37) % 401;
      offsets.push_back(at);
      lengths.push_back(length);
      at += length + 1 + i % 7;
    }
  }

  size_t total() const { return std::accumulate(lengths.begin(), lengths.end(), size_t{0}); }
  // Makes the pieces hold exactly `size` bytes.
  void StretchTo(size_t size) { lengths.back() += size - total(); }

  SendWr::Sges In(const Host& host) const {
    SendWr::Sges sges;
    for (size_t i = 0; i < offsets.size(); i++)
      sges.push_back(host.mr.Slice(offsets[i], lengths[i]));
    return sges;
  }
  std::vector<std::byte> Gather(const Host& host) const {
    std::vector<std::byte> all;
    for (size_t i = 0; i < offsets.size(); i++) {
      Bytes piece = host.bytes(offsets[i], lengths[i]);
      all.insert(all.end(), piece.begin(), piece.end());
    }
    return all;
  }
  // The bytes before, between and after the pieces.
  void ExpectGapsUntouched(const Host& host) const {
    size_t at = 0;
    for (size_t i = 0; i < offsets.size(); i++) {
      ExpectAll(host.bytes(at, offsets[i] - at), kUntouched);
      at = offsets[i] + lengths[i];
    }
    ExpectAll(host.bytes(at, kGuard), kUntouched);
  }
};

class RcScatter : public Rc {
 protected:
  void SetUp() override {
    Rc::SetUp();
    ASSERT_GE(Must(a_.ctx.QueryDevice()).max_sge, 32);
    const size_t size = std::max(from_.total(), to_.total()) + 9;
    from_.StretchTo(size);
    to_.StretchTo(size);
    pair_ = Connected({.max_send_sge = 32, .max_recv_sge = 32});
  }
  void Prepare(const Host& from, const Host& to) {
    FillPattern(from.bytes(0, 64 << 10), 3);
    Fill(to.bytes(0, 64 << 10), kUntouched);
  }

  Pieces from_{3};
  Pieces to_{11};
  Pair pair_;
};

TEST_P(RcScatter, SendGathersAndScatters32Pieces) {
  Prepare(a_, b_);
  Must(pair_.b.qp.Post(RecvWr(1, to_.In(b_))));
  Must(pair_.a.qp.Post(SendWr::Send(2, from_.In(a_))));
  ExpectWc(Await(pair_.b.recv_cq), {.wr_id = 1,
                                    .opcode = IBV_WC_RECV,
                                    .qp_num = pair_.b.qp.num(),
                                    .byte_len = static_cast<uint32_t>(from_.total())});
  EXPECT_EQ(Await(pair_.a.send_cq).status, IBV_WC_SUCCESS);
  EXPECT_TRUE(from_.Gather(a_) == to_.Gather(b_));
  to_.ExpectGapsUntouched(b_);
}

TEST_P(RcScatter, WriteGathers32Pieces) {
  const size_t size = from_.total();
  Prepare(a_, b_);
  Must(pair_.a.qp.Post(SendWr::Write(2, from_.In(a_), b_.mr.At(13))));
  EXPECT_EQ(Await(pair_.a.send_cq).status, IBV_WC_SUCCESS);
  const Bytes got = b_.bytes(13, size);
  EXPECT_TRUE(from_.Gather(a_) == std::vector<std::byte>(got.begin(), got.end()));
  ExpectAll(b_.bytes(0, 13), kUntouched);
  ExpectAll(b_.bytes(13 + size, kGuard), kUntouched);
}

TEST_P(RcScatter, ReadScattersTo32Pieces) {
  const size_t size = to_.total();
  Prepare(b_, a_);
  Must(pair_.a.qp.Post(SendWr::Read(2, to_.In(a_), b_.mr.At(29))));
  EXPECT_EQ(Await(pair_.a.send_cq).status, IBV_WC_SUCCESS);
  const Bytes want = b_.bytes(29, size);
  EXPECT_TRUE(to_.Gather(a_) == std::vector<std::byte>(want.begin(), want.end()));
  to_.ExpectGapsUntouched(a_);
}

TEST_P(Rc, MessageShorterThanTheReceiveBufferLeavesTheRestAlone) {
  Pair p = Connected();

  FillPattern(a_.bytes(0, 100), 1);
  Fill(b_.bytes(0, 8192), kUntouched);
  Must(p.b.qp.Post(RecvWr(1, {b_.mr.Slice(0, 60), b_.mr.Slice(4096, 4096)})));
  Must(p.a.qp.Post(SendWr::Send(2, a_.mr.Slice(0, 100))));
  EXPECT_EQ(Await(p.b.recv_cq).byte_len, 100u);
  EXPECT_EQ(std::memcmp(b_.buffer.data(), a_.buffer.data(), 60), 0);
  EXPECT_EQ(std::memcmp(b_.buffer.data() + 4096, a_.buffer.data() + 60, 40), 0);
  ExpectAll(b_.bytes(60, 4036), kUntouched);
  ExpectAll(b_.bytes(4136, 4056), kUntouched);
}

TEST_P(Rc, InlineDataIsTakenWhenItIsPosted) {
  Pair p = Connected({.max_inline = 64});
  const size_t max = p.a.qp.cap().max_inline_data;
  ASSERT_GE(max, 64u);
  std::vector<std::byte> unregistered(max);

  for (size_t size : {size_t{0}, size_t{1}, size_t{7}, size_t{63}, max}) {
    SCOPED_TRACE(size);
    const ibv_sge whole = {reinterpret_cast<uint64_t>(unregistered.data()),
                           static_cast<uint32_t>(size), 0};
    // Two pieces where there is enough to cut.
    const uint32_t half = size / 2;
    const SendWr::Sges parts = {{whole.addr, half, 0}, {whole.addr + half, whole.length - half, 0}};
    Fill(b_.bytes(0, 2 * max + kGuard), kUntouched);
    Must(p.b.qp.Post(RecvWr(1, {b_.mr.Slice(0, max)})));

    FillPattern(Bytes(unregistered).first(size), size);
    Must(p.a.qp.Post(SendWr::Send(2, parts).Inline()));
    FillPattern(Bytes(unregistered).first(size), size + 1);
    Must(p.a.qp.Post(SendWr::Write(3, whole, b_.mr.At(max)).Inline()));
    Fill(unregistered, 0);

    EXPECT_EQ(Await(p.b.recv_cq).byte_len, size);
    EXPECT_EQ(Await(p.a.send_cq).wr_id, 2u);
    ExpectWc(Await(p.a.send_cq), {.wr_id = 3, .opcode = IBV_WC_RDMA_WRITE, .qp_num = p.a.qp.num()});
    ExpectPattern(b_.bytes(0, size), size);
    ExpectAll(b_.bytes(size, max - size), kUntouched);
    ExpectPattern(b_.bytes(max, size), size + 1);
    ExpectAll(b_.bytes(max + size, kGuard), kUntouched);
  }
}

TEST_P(Rc, DeviceTalksToItself) {
  End one = End::Create(a_), two = End::Create(a_);
  Must(Connect(one.qp, a_.port, two.qp, a_.port));
  ExpectWorks(a_, one, a_, two);
  ExpectWorks(a_, two, a_, one);
}

TEST_P(Rc, QpTalksToItself) {
  End end = End::Create(a_);
  Must(ConnectTo(end.qp, a_.port, a_.port.gid, end.qp.num(), 5, 5, {}));
  ExpectWorks(a_, end, a_, end);
}

SRN_OVER_BOTH_IP(Rc);
SRN_OVER_BOTH_IP(RcScatter);

}  // namespace
}  // namespace verbs_test
