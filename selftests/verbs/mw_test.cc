// SPDX-License-Identifier: GPL-2.0-only
// Memory windows of type 1 and 2: bounds, rights, binding, invalidation.
#include <functional>

#include "pair.h"

namespace verbs_test {
namespace {

// Where the windows of these tests lie in the region.
constexpr uint64_t kFrom = 4096, kLength = 4096;

constexpr int kReadWrite = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;

class Window : public PairTest {
 protected:
  ibv_mw_bind_info Info(uint64_t from = kFrom, uint64_t length = kLength,
                        unsigned access = kReadWrite) const {
    return {.mr = b_.mr.get(),
            .addr = b_.mr.At(from).addr,
            .length = length,
            .mw_access_flags = access};
  }
  Remote At(uint32_t rkey, uint64_t offset) const { return {b_.mr.At(offset).addr, rkey}; }
  ibv_wc_status Write(Remote to, size_t size) {
    Must(pair_.a.qp.Post(SendWr::Write(1, a_.mr.Slice(0, size), to)));
    return Await(pair_.a.send_cq).status;
  }
  ibv_wc_status Read(Remote from, size_t size) {
    Must(pair_.a.qp.Post(SendWr::Read(1, a_.mr.Slice(0, size), from)));
    return Await(pair_.a.send_cq).status;
  }
  // Every access through the window that leaves it is refused.
  void ExpectBoundsEnforced(const std::function<uint32_t()>& bind) {
    struct Case {
      uint64_t offset;
      size_t size;
    };
    for (const Case& c : {Case{kFrom - 1, 1}, Case{kFrom - 1, 8}, Case{kFrom + kLength, 1},
                          Case{kFrom + kLength - 1, 2}, Case{kFrom, kLength + 1}, Case{0, 8}}) {
      SCOPED_TRACE(testing::Message() << c.size << " bytes at " << c.offset);
      Renew();
      const uint32_t rkey = bind();
      EXPECT_EQ(Write(At(rkey, c.offset), c.size), IBV_WC_REM_ACCESS_ERR);
      ExpectAll(b_.bytes(0, 64 << 10), kUntouched);
      Renew();
      EXPECT_EQ(Read(At(bind(), c.offset), c.size), IBV_WC_REM_ACCESS_ERR);
    }
    Renew();
    const uint32_t rkey = bind();
    FillPattern(a_.bytes(0, kLength), 17);
    EXPECT_EQ(Write(At(rkey, kFrom), kLength), IBV_WC_SUCCESS);
    ExpectPattern(b_.bytes(kFrom, kLength), 17);
    ExpectAll(b_.bytes(0, kFrom), kUntouched);
    ExpectAll(b_.bytes(kFrom + kLength, kLength), kUntouched);
    EXPECT_EQ(Read(At(rkey, kFrom + kLength - 1), 1), IBV_WC_SUCCESS);
  }

  // Of type 1.
  int Bind(const Mw& mw, ibv_mw_bind_info info, uint64_t id = 70) {
    ibv_mw_bind bind = {.wr_id = id, .send_flags = IBV_SEND_SIGNALED, .bind_info = info};
    return ibv_bind_mw(pair_.b.qp.get(), mw.get(), &bind);
  }
  void MustBind(const Mw& mw, ibv_mw_bind_info info) {
    ASSERT_EQ(Bind(mw, info), 0);
    ExpectWc(Await(pair_.b.send_cq),
             {.wr_id = 70, .opcode = IBV_WC_BIND_MW, .qp_num = pair_.b.qp.num()});
  }
};

class Window1 : public Window {};

TEST_P(Window1, BoundsAreThoseOfTheWindowNotOfTheRegion) {
  Mw mw = Must(Mw::Create(b_.pd, IBV_MW_TYPE_1));
  ExpectBoundsEnforced([&] {
    MustBind(mw, Info());
    return mw->rkey;
  });
}

TEST_P(Window1, RightsAreThoseOfTheWindow) {
  Mw mw = Must(Mw::Create(b_.pd, IBV_MW_TYPE_1));
  MustBind(mw, Info(kFrom, kLength, IBV_ACCESS_REMOTE_READ));
  EXPECT_EQ(Read(At(mw->rkey, kFrom), 64), IBV_WC_SUCCESS);
  EXPECT_EQ(Write(At(mw->rkey, kFrom), 64), IBV_WC_REM_ACCESS_ERR);
  Renew();
  MustBind(mw, Info(kFrom, kLength, IBV_ACCESS_REMOTE_WRITE));
  EXPECT_EQ(Write(At(mw->rkey, kFrom), 64), IBV_WC_SUCCESS);
  EXPECT_EQ(Read(At(mw->rkey, kFrom), 64), IBV_WC_REM_ACCESS_ERR);
}

TEST_P(Window1, AtomicsNeedTheirRight) {
  Mw mw = Must(Mw::Create(b_.pd, IBV_MW_TYPE_1));
  auto add = [&] {
    Must(pair_.a.qp.Post(SendWr::FetchAdd(1, a_.mr.Slice(0, 8), At(mw->rkey, kFrom), 1)));
    return Await(pair_.a.send_cq).status;
  };
  MustBind(mw, Info(kFrom, kLength, IBV_ACCESS_REMOTE_ATOMIC));
  EXPECT_EQ(add(), IBV_WC_SUCCESS);
  MustBind(mw, Info(kFrom, kLength, kReadWrite));
  EXPECT_EQ(add(), IBV_WC_REM_ACCESS_ERR);
}

TEST_P(Window1, EveryBindGivesANewKeyAndKillsTheOldOne) {
  Mw mw = Must(Mw::Create(b_.pd, IBV_MW_TYPE_1));
  const uint32_t unbound = mw->rkey;
  MustBind(mw, Info());
  const uint32_t first = mw->rkey;
  MustBind(mw, Info());
  const uint32_t second = mw->rkey;
  EXPECT_NE(unbound, first);
  EXPECT_NE(first, second);
  // Only the lowest 8 bits are the consumer's part.
  EXPECT_EQ(first >> 8, second >> 8);

  EXPECT_EQ(Write(At(second, kFrom), 8), IBV_WC_SUCCESS);
  EXPECT_EQ(Write(At(first, kFrom), 8), IBV_WC_REM_ACCESS_ERR);
}

TEST_P(Window1, LengthZeroUnbinds) {
  Mw mw = Must(Mw::Create(b_.pd, IBV_MW_TYPE_1));
  MustBind(mw, Info());
  MustBind(mw, Info(kFrom, 0));
  EXPECT_EQ(Write(At(mw->rkey, kFrom), 8), IBV_WC_REM_ACCESS_ERR);
}

TEST_P(Window1, UnboundWindowGivesNoAccess) {
  Mw mw = Must(Mw::Create(b_.pd, IBV_MW_TYPE_1));
  EXPECT_EQ(Write(At(mw->rkey, kFrom), 8), IBV_WC_REM_ACCESS_ERR);
}

TEST_P(Window1, RegionMustAllowBinding) {
  Mw mw = Must(Mw::Create(b_.pd, IBV_MW_TYPE_1));
  Mr mr = Must(Mr::Register(b_.pd, b_.bytes(0, 16384), kAllAccess & ~IBV_ACCESS_MW_BIND));
  ibv_mw_bind_info info = Info();
  info.mr = mr.get();
  const uint32_t before = mw->rkey;
  if (int error = Bind(mw, info)) {
    EXPECT_EQ(error, EINVAL);
  } else {
    ExpectFailed(Await(pair_.b.send_cq), 70, IBV_WC_MW_BIND_ERR, pair_.b.qp.num());
    Renew();
  }
  EXPECT_EQ(Write(At(before, kFrom), 8), IBV_WC_REM_ACCESS_ERR);
}

TEST_P(Window1, WindowMustLieInItsRegion) {
  for (auto [from, length] : std::vector<std::pair<uint64_t, uint64_t>>{{b_.buffer.size() - 8, 16},
                                                                        {0, b_.buffer.size() + 1},
                                                                        {kFrom, ~uint64_t{0} - 8},
                                                                        {uint64_t{0} - 16, 32}}) {
    SCOPED_TRACE(testing::Message() << length << " bytes at " << from);
    Renew();
    Mw mw = Must(Mw::Create(b_.pd, IBV_MW_TYPE_1));
    if (int error = Bind(mw, Info(from, length))) {
      EXPECT_EQ(error, EINVAL);
      continue;
    }
    ExpectFailed(Await(pair_.b.send_cq), 70, IBV_WC_MW_BIND_ERR, pair_.b.qp.num());
  }
}

TEST_P(Window1, WritableWindowNeedsAWritableRegion) {
  Mw mw = Must(Mw::Create(b_.pd, IBV_MW_TYPE_1));
  Mr mr =
      Must(Mr::Register(b_.pd, b_.bytes(0, 16384), IBV_ACCESS_REMOTE_READ | IBV_ACCESS_MW_BIND));
  ibv_mw_bind_info info = Info();
  info.mr = mr.get();
  if (int error = Bind(mw, info)) {
    EXPECT_EQ(error, EINVAL);
    return;
  }
  ExpectFailed(Await(pair_.b.send_cq), 70, IBV_WC_MW_BIND_ERR, pair_.b.qp.num());
}

TEST_P(Window1, RegionOfAnotherProtectionDomainIsRefused) {
  Pd other = Must(Pd::Create(b_.ctx));
  Mr mr = Must(Mr::Register(other, b_.bytes(0, 16384)));
  Mw mw = Must(Mw::Create(b_.pd, IBV_MW_TYPE_1));
  ibv_mw_bind_info info = Info();
  info.mr = mr.get();
  if (int error = Bind(mw, info)) {
    EXPECT_TRUE(error == EINVAL || error == EPERM) << error;
    return;
  }
  ExpectFailed(Await(pair_.b.send_cq), 70, IBV_WC_MW_BIND_ERR, pair_.b.qp.num());
}

class Window2 : public Window {
 protected:
  using Window::MustBind;

  void SetUp() override {
    ibv_device_attr attr = Must(Must(Context::Open(DeviceB())).QueryDevice());
    if (!(attr.device_cap_flags & (IBV_DEVICE_MEM_WINDOW_TYPE_2A | IBV_DEVICE_MEM_WINDOW_TYPE_2B)))
      SRN_SKIP_FOREIGN() << "device knows no type 2 windows";
    Window::SetUp();
    mw_ = Must(Mw::Create(b_.pd, IBV_MW_TYPE_2));
    key_ = mw_->rkey;
  }
  // The next key that the consumer may choose.
  uint32_t NextKey() const { return ibv_inc_rkey(key_); }
  void PostBind(ibv_mw_bind_info info) {
    key_ = NextKey();
    Must(pair_.b.qp.Post(SendWr::BindMw(71, mw_.get(), key_, info)));
  }
  void MustBind(ibv_mw_bind_info info) {
    PostBind(info);
    ExpectWc(Await(pair_.b.send_cq),
             {.wr_id = 71, .opcode = IBV_WC_BIND_MW, .qp_num = pair_.b.qp.num()});
    EXPECT_EQ(mw_->rkey, key_);
  }
  void MustInvalidate(uint32_t key) {
    Must(pair_.b.qp.Post(SendWr::LocalInvalidate(72, key)));
    ExpectWc(Await(pair_.b.send_cq),
             {.wr_id = 72, .opcode = IBV_WC_LOCAL_INV, .qp_num = pair_.b.qp.num()});
  }
  // As an access that is not allowed: see wire.rst.
  void ExpectInvalidationRefused(Pair& pair, uint32_t key) {
    const size_t size = 3 * mtu();
    Must(pair.b.qp.Post(RecvWr(5, {b_.mr.Slice(0, size)})));
    Must(pair.a.qp.Post(SendWr::Send(6, a_.mr.Slice(0, size)).Invalidate(key)));
    ExpectFailed(Await(pair.a.send_cq), 6, IBV_WC_REM_ACCESS_ERR, pair.a.qp.num());
    ExpectFailed(Await(pair.b.recv_cq), 5, IBV_WC_LOC_ACCESS_ERR, pair.b.qp.num());
    ExpectReaches(pair.b.qp, IBV_QPS_ERR);
  }
  // A new window on a new connection.
  void Restart() {
    mw_ = Mw();
    Renew();
    mw_ = Must(Mw::Create(b_.pd, IBV_MW_TYPE_2));
    key_ = mw_->rkey;
  }

  Mw mw_;
  uint32_t key_ = 0;
};

TEST_P(Window2, BoundsAreThoseOfTheWindowNotOfTheRegion) {
  ExpectBoundsEnforced([&] {
    // A type 2 window belongs to the QP that bound it: take a new one.
    mw_ = Must(Mw::Create(b_.pd, IBV_MW_TYPE_2));
    key_ = mw_->rkey;
    MustBind(Info());
    return key_;
  });
}

TEST_P(Window2, RightsAreThoseOfTheWindow) {
  MustBind(Info(kFrom, kLength, IBV_ACCESS_REMOTE_READ));
  EXPECT_EQ(Read(At(key_, kFrom), 64), IBV_WC_SUCCESS);
  EXPECT_EQ(Write(At(key_, kFrom), 64), IBV_WC_REM_ACCESS_ERR);
}

TEST_P(Window2, LocalInvalidateEndsAccessAndAllowsANewBind) {
  MustBind(Info());
  EXPECT_EQ(Write(At(key_, kFrom), 8), IBV_WC_SUCCESS);
  const uint32_t old = key_;
  MustInvalidate(key_);
  MustBind(Info());
  EXPECT_NE(old, key_);
  EXPECT_EQ(Write(At(key_, kFrom), 8), IBV_WC_SUCCESS);
  MustInvalidate(key_);
  EXPECT_EQ(Write(At(key_, kFrom), 8), IBV_WC_REM_ACCESS_ERR);
}

TEST_P(Window2, SendWithInvalidateEndsAccessAndTellsTheReceiver) {
  MustBind(Info());
  Must(pair_.b.qp.Post(RecvWr(5, {b_.mr.Slice(0, 64)})));
  Must(pair_.a.qp.Post(SendWr::Send(6, a_.mr.Slice(0, 64)).Invalidate(key_)));
  ExpectWc(Await(pair_.b.recv_cq), {.wr_id = 5,
                                    .opcode = IBV_WC_RECV,
                                    .qp_num = pair_.b.qp.num(),
                                    .byte_len = 64,
                                    .flags = IBV_WC_WITH_INV,
                                    .invalidated = key_});
  ExpectWc(Await(pair_.a.send_cq), {.wr_id = 6, .opcode = IBV_WC_SEND, .qp_num = pair_.a.qp.num()});
  EXPECT_EQ(Write(At(key_, kFrom), 8), IBV_WC_REM_ACCESS_ERR);
}

TEST_P(Window2, InvalidatingWhatIsNoWindowFailsBothEnds) {
  for (uint32_t key : {0u, ~0u, b_.mr->rkey}) {
    SCOPED_TRACE(key);
    Restart();
    ExpectInvalidationRefused(pair_, key);
  }
  // The region whose key was named is alive.
  Renew();
  EXPECT_EQ(Write(b_.mr.At(0), 64), IBV_WC_SUCCESS);
}

TEST_P(Window2, InvalidatingAWindowOfType1FailsBothEnds) {
  const Mw mw = Must(Mw::Create(b_.pd, IBV_MW_TYPE_1));
  MustBind(mw, Info());
  ExpectInvalidationRefused(pair_, mw->rkey);
  Renew();
  EXPECT_EQ(Write(At(mw->rkey, kFrom), 8), IBV_WC_SUCCESS);
}

TEST_P(Window2, InvalidatingAWindowOfAnotherQpFailsBothEnds) {
  MustBind(Info());
  Pair other = Connected();
  ExpectInvalidationRefused(other, key_);
  EXPECT_EQ(Write(At(key_, kFrom), 8), IBV_WC_SUCCESS);
}

TEST_P(Window2, LocallyInvalidatingWhatIsNoWindowFails) {
  for (uint32_t key : {0u, ~0u, b_.mr->rkey}) {
    SCOPED_TRACE(key);
    Restart();
    Must(pair_.b.qp.Post(SendWr::LocalInvalidate(72, key)));
    ibv_wc wc = Await(pair_.b.send_cq);
    EXPECT_EQ(wc.wr_id, 72u);
    EXPECT_NE(wc.status, IBV_WC_SUCCESS);
    EXPECT_NE(wc.status, IBV_WC_WR_FLUSH_ERR);
    ExpectReaches(pair_.b.qp, IBV_QPS_ERR);
  }
  Renew();
  EXPECT_EQ(Write(b_.mr.At(0), 64), IBV_WC_SUCCESS);
}

TEST_P(Window2, OnlyTheKeyByteOfANewKeyCounts) {
  const uint32_t index = key_ & ~0xffu;
  for (uint32_t key : {1024u, ~0u}) {
    Must(pair_.b.qp.Post(SendWr::BindMw(71, mw_.get(), key, Info())));
    ASSERT_EQ(Await(pair_.b.send_cq).status, IBV_WC_SUCCESS);
    key_ = index | (key & 0xff);
    EXPECT_EQ(mw_->rkey, key_);
    EXPECT_EQ(Write(At(mw_->rkey, kFrom), 8), IBV_WC_SUCCESS);
    MustInvalidate(mw_->rkey);
  }
}

// A program that keeps the keys itself may leave in the handle what it likes.
TEST_P(Window2, HandleThatStillHasItsFirstKeyIsBoundAgain) {
  const uint32_t first = mw_->rkey;
  for (int i = 0; i < 3; i++) {
    MustBind(Info());
    MustInvalidate(key_);
    mw_->rkey = first;
  }
}

TEST_P(Window2, ZeroBasedWindowIsAddressedFromItsStart) {
  MustBind(Info(kFrom, kLength, kReadWrite | IBV_ACCESS_ZERO_BASED));
  FillPattern(a_.bytes(0, kLength), 17);
  EXPECT_EQ(Write({0, key_}, kLength), IBV_WC_SUCCESS);
  ExpectPattern(b_.bytes(kFrom, kLength), 17);
  ExpectAll(b_.bytes(0, kFrom), kUntouched);
  ExpectAll(b_.bytes(kFrom + kLength, kLength), kUntouched);
  EXPECT_EQ(Read({kLength - 1, key_}, 1), IBV_WC_SUCCESS);
  EXPECT_EQ(Read({kLength - 1, key_}, 2), IBV_WC_REM_ACCESS_ERR);
  Restart();
  MustBind(Info(kFrom, kLength, kReadWrite | IBV_ACCESS_ZERO_BASED));
  EXPECT_EQ(Write(At(key_, kFrom), 1), IBV_WC_REM_ACCESS_ERR);
}

TEST_P(Window2, BoundWindowCannotBeBoundAgain) {
  MustBind(Info());
  const uint32_t bound = key_;
  PostBind(Info());
  ExpectFailed(Await(pair_.b.send_cq), 71, IBV_WC_MW_BIND_ERR, pair_.b.qp.num());
  key_ = bound;
}

TEST_P(Window2, WindowBelongsToTheQpThatBoundIt) {
  MustBind(Info());
  Pair other = Connected();
  Must(other.a.qp.Post(SendWr::Write(1, a_.mr.Slice(0, 8), At(key_, kFrom))));
  ExpectFailed(Await(other.a.send_cq), 1, IBV_WC_REM_ACCESS_ERR, other.a.qp.num());
  ExpectAll(b_.bytes(0, 16384), kUntouched);
  EXPECT_EQ(Write(At(key_, kFrom), 8), IBV_WC_SUCCESS);
}

TEST_P(Window2, AccessEndsWithTheQpThatBoundIt) {
  MustBind(Info());
  Must(pair_.b.qp.Close());
  Must(pair_.a.qp.Close());
  pair_ = Connected();
  EXPECT_EQ(Write(At(key_, kFrom), 8), IBV_WC_REM_ACCESS_ERR);
  Must(mw_.Close());
}

TEST_P(Window2, OnlyTheLowByteOfTheKeyIsTheConsumers) {
  MustBind(Info());
  // The region lies beside the window, and what a key begins with is chosen at random: in one
  // of some hundred runs the key with that bit turned over is the region's own.
  if ((key_ ^ 0x100) == b_.mr->rkey) {
    MustInvalidate(key_);
    MustBind(Info());
  }
  EXPECT_EQ(Write(At(key_ ^ 0x100, kFrom), 8), IBV_WC_REM_ACCESS_ERR);
  Restart();
  MustBind(Info());
  EXPECT_EQ(Write(At(key_ ^ 0x01, kFrom), 8), IBV_WC_REM_ACCESS_ERR);
}

TEST_P(Window2, Type1CallRefusesAType2Window) {
  ibv_mw_bind bind = {.wr_id = 1, .send_flags = IBV_SEND_SIGNALED, .bind_info = Info()};
  EXPECT_EQ(ibv_bind_mw(pair_.b.qp.get(), mw_.get(), &bind), EINVAL);
}

TEST_P(Window2, RegionWithABoundWindowStays) {
  Mr mr = Must(Mr::Register(b_.pd, b_.bytes(0, 16384)));
  ibv_mw_bind_info info = Info();
  info.mr = mr.get();
  MustBind(info);
  EXPECT_EQ(mr.Close().error(), EBUSY);
  MustInvalidate(key_);
  EXPECT_EQ(mr.Close().error(), 0);
}

TEST_P(Window2, FreedWindowGivesNoAccess) {
  MustBind(Info());
  Must(mw_.Close());
  EXPECT_EQ(Write(At(key_, kFrom), 8), IBV_WC_REM_ACCESS_ERR);
}

class WindowAtHome : public HostTest {};

TEST_F(WindowAtHome, UnknownTypeIsRefused) {
  EXPECT_EQ(Mw::Create(a_.pd, ibv_mw_type(0)).error(), EINVAL);
  EXPECT_EQ(Mw::Create(a_.pd, ibv_mw_type(3)).error(), EINVAL);
}

TEST_F(WindowAtHome, ProtectionDomainWithAWindowIsBusy) {
  Mw mw = Must(Mw::Create(a_.pd, IBV_MW_TYPE_1));
  Must(a_.mr.Close());
  EXPECT_EQ(a_.pd.Close().error(), EBUSY);
  Must(mw.Close());
  EXPECT_EQ(a_.pd.Close().error(), 0);
}

SRN_OVER_BOTH_IP(Window1);
SRN_OVER_BOTH_IP(Window2);

}  // namespace
}  // namespace verbs_test
