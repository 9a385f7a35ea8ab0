// SPDX-License-Identifier: GPL-2.0-only
// RC: every refusal, with the status that each end sees.
#include <functional>

#include "pair.h"

namespace verbs_test {
namespace {

class RcError : public PairTest {
 protected:
  // `wr` fails at A with `status`, what is behind it is flushed, both QPs
  // end in ERR, and nothing was written at B.
  void ExpectRefused(SendWr wr, ibv_wc_status status) {
    wr.raw()->wr_id = 1;
    Must(pair_.b.qp.Post(RecvWr(50, {b_.mr.Slice(128 << 10, 64)})));
    Must(pair_.a.qp.Post(std::move(wr)));
    Must(pair_.a.qp.Post(SendWr::Send(2, a_.mr.Slice(0, 8)).Unsignaled()));
    ExpectFailed(Await(pair_.a.send_cq), 1, status, pair_.a.qp.num());
    ExpectFailed(Await(pair_.a.send_cq), 2, IBV_WC_WR_FLUSH_ERR, pair_.a.qp.num());
    ExpectReaches(pair_.a.qp, IBV_QPS_ERR);
    ExpectReaches(pair_.b.qp, IBV_QPS_ERR);
    // A refused WRITE with immediate may have consumed its receive request:
    // that is what the local access error is for.
    ibv_wc wc = Await(pair_.b.recv_cq);
    ExpectFailed(wc, 50,
                 wc.status == IBV_WC_LOC_ACCESS_ERR ? IBV_WC_LOC_ACCESS_ERR : IBV_WC_WR_FLUSH_ERR,
                 pair_.b.qp.num());
    ExpectAll(b_.bytes(0, 64 << 10), kUntouched);
  }
};

using MakeWr = std::function<SendWr(const ibv_sge&, Remote)>;

// The operations that name remote memory.
const std::vector<std::pair<const char*, MakeWr>>& RemoteOps() {
  static const std::vector<std::pair<const char*, MakeWr>> ops = {
      {"WRITE", [](auto& sge, Remote to) { return SendWr::Write(1, sge, to); }},
      {"WRITE with immediate",
       [](auto& sge, Remote to) { return SendWr::Write(1, sge, to).Imm(1); }},
      {"READ", [](auto& sge, Remote to) { return SendWr::Read(1, sge, to); }},
      {"CAS", [](auto& sge, Remote to) { return SendWr::CompareSwap(1, sge, to, 0, 1); }},
      {"FAA", [](auto& sge, Remote to) { return SendWr::FetchAdd(1, sge, to, 1); }},
  };
  return ops;
}

TEST_P(RcError, RemoteAddressMustLieInTheRegion) {
  constexpr uint64_t kSize = 8192;
  Mr mr = Must(Mr::Register(b_.pd, b_.bytes(4096, kSize)));

  for (const auto& [name, make] : RemoteOps()) {
    const bool atomic = name[0] == 'C' || name[0] == 'F';
    const size_t length = atomic ? 8 : 5000;
    for (uint64_t offset : {uint64_t{0} - 8, kSize, kSize - length + 8, uint64_t{1} << 40,
                            uint64_t{0} - mr.At(0).addr, uint64_t{0} - mr.At(0).addr - 8}) {
      SCOPED_TRACE(testing::Message() << name << " at offset " << offset);
      Renew();
      ExpectRefused(make(a_.mr.Slice(0, length), mr.At(0) + offset), IBV_WC_REM_ACCESS_ERR);
    }
  }
}

TEST_P(RcError, RemoteKeyMustBeAlive) {
  Mr mr = Must(Mr::Register(b_.pd, b_.bytes(0, 4096)));
  const Remote dead = mr.At(0);
  Must(mr.Close());

  for (const auto& [name, make] : RemoteOps()) {
    for (uint32_t key : {dead.rkey, 0u, ~0u, b_.mr->rkey ^ 1, b_.mr->rkey ^ 0x10000}) {
      SCOPED_TRACE(testing::Message() << name << " with key " << key);
      Renew();
      ExpectRefused(make(a_.mr.Slice(0, 8), {dead.addr, key}), IBV_WC_REM_ACCESS_ERR);
    }
  }
}

TEST_P(RcError, RemoteRegionMustBeInTheProtectionDomainOfTheQp) {
  Pd other = Must(Pd::Create(b_.ctx));
  Mr mr = Must(Mr::Register(other, b_.bytes(0, 4096)));

  for (const auto& [name, make] : RemoteOps()) {
    SCOPED_TRACE(name);
    Renew();
    ExpectRefused(make(a_.mr.Slice(0, 8), mr.At(0)), IBV_WC_REM_ACCESS_ERR);
  }
}

TEST_P(RcError, ZeroLengthNeedsNoKey) {
  const Remote nothing = {0xdead, 0xbeef};
  Must(pair_.a.qp.Post(SendWr::Write(1, SendWr::Sges{}, nothing)));
  EXPECT_EQ(Await(pair_.a.send_cq).status, IBV_WC_SUCCESS);
  Must(pair_.a.qp.Post(SendWr::Read(2, SendWr::Sges{}, nothing)));
  EXPECT_EQ(Await(pair_.a.send_cq).status, IBV_WC_SUCCESS);
  Must(pair_.b.qp.Post(RecvWr(3, {})));
  Must(pair_.a.qp.Post(SendWr::Write(4, SendWr::Sges{}, nothing).Imm(1)));
  EXPECT_EQ(Await(pair_.b.recv_cq).wr_id, 3u);
  EXPECT_EQ(Await(pair_.a.send_cq).status, IBV_WC_SUCCESS);
}

TEST_P(RcError, ReadsNeedResponderResources) {
  End a = End::Create(a_), b = End::Create(b_);
  WireOptions none = {.rd_atomic = 0}, some = {.rd_atomic = 4};
  Must(ConnectTo(a.qp, a_.port, b_.port.gid, b.qp.num(), 7, 9, some));
  Must(ConnectTo(b.qp, b_.port, a_.port.gid, a.qp.num(), 9, 7, none));

  Must(a.qp.Post(SendWr::Read(1, a_.mr.Slice(0, 64), b_.mr.At(0))));
  ExpectFailed(Await(a.send_cq), 1, IBV_WC_REM_INV_REQ_ERR, a.qp.num());
}

TEST_P(RcError, SendLongerThanTheReceiveBufferFailsBothEnds) {
  for (size_t size : {size_t{101}, size_t(mtu()) + 1, size_t(3) * mtu()}) {
    SCOPED_TRACE(size);
    Renew();
    Must(pair_.b.qp.Post(RecvWr(5, {b_.mr.Slice(0, 60), b_.mr.Slice(60, 40)})));
    Must(pair_.b.qp.Post(RecvWr(6, {b_.mr.Slice(200, 64)})));
    Must(pair_.a.qp.Post(SendWr::Send(1, a_.mr.Slice(0, size))));
    ExpectFailed(Await(pair_.b.recv_cq), 5, IBV_WC_LOC_LEN_ERR, pair_.b.qp.num());
    ExpectFailed(Await(pair_.b.recv_cq), 6, IBV_WC_WR_FLUSH_ERR, pair_.b.qp.num());
    ExpectFailed(Await(pair_.a.send_cq), 1, IBV_WC_REM_INV_REQ_ERR, pair_.a.qp.num());
    ExpectAll(b_.bytes(100, 60000), kUntouched);
    ExpectReaches(pair_.a.qp, IBV_QPS_ERR);
    ExpectReaches(pair_.b.qp, IBV_QPS_ERR);
  }
}

// Elements that the host of `mr` may not write to.
std::vector<std::pair<const char*, ibv_sge>> BadTargets(const Host& host, const Mr& read_only,
                                                        const Mr& foreign) {
  ibv_sge beyond = host.mr.Slice(host.buffer.size() - 10, 64);
  ibv_sge before = host.mr.Slice(0, 64);
  before.addr -= 32;
  ibv_sge wraps = host.mr.Slice(0, 64);
  wraps.addr = ~uint64_t{0} - 31;
  return {{"unknown key", {host.mr.At(0).addr, 64, 0x123400}},
          {"past the end", beyond},
          {"before the start", before},
          {"wraps around", wraps},
          {"no right to write", read_only.Slice(0, 64)},
          {"other protection domain", foreign.Slice(0, 64)}};
}

TEST_P(RcError, BadReceiveElementFailsBothEnds) {
  Pd other = Must(Pd::Create(b_.ctx));
  Mr foreign = Must(Mr::Register(other, b_.bytes(0, 4096)));
  Mr read_only = Must(Mr::Register(b_.pd, b_.bytes(0, 4096), IBV_ACCESS_REMOTE_READ));

  for (const auto& [name, sge] : BadTargets(b_, read_only, foreign)) {
    SCOPED_TRACE(name);
    Renew();
    Must(pair_.b.qp.Post(RecvWr(5, {sge})));
    Must(pair_.a.qp.Post(SendWr::Send(1, a_.mr.Slice(0, 64))));
    ExpectFailed(Await(pair_.b.recv_cq), 5, IBV_WC_LOC_PROT_ERR, pair_.b.qp.num());
    ExpectFailed(Await(pair_.a.send_cq), 1, IBV_WC_REM_OP_ERR, pair_.a.qp.num());
    ExpectAll(b_.bytes(0, 4096), kUntouched);
    ExpectReaches(pair_.a.qp, IBV_QPS_ERR);
    ExpectReaches(pair_.b.qp, IBV_QPS_ERR);
  }
}

TEST_P(RcError, BadReadTargetIsALocalProtectionError) {
  Pd other = Must(Pd::Create(a_.ctx));
  Mr foreign = Must(Mr::Register(other, a_.bytes(0, 4096)));
  Mr read_only = Must(Mr::Register(a_.pd, a_.bytes(0, 4096), IBV_ACCESS_REMOTE_READ));

  for (const auto& [name, sge] : BadTargets(a_, read_only, foreign)) {
    SCOPED_TRACE(name);
    for (bool atomic : {false, true}) {
      Renew();
      Fill(a_.bytes(0, 4096), 0x10);
      ibv_sge target = sge;
      if (atomic && std::string(name) != "past the end") target.length = 8;
      if (atomic && std::string(name) == "past the end") {
        target.addr += 6;
        target.length = 8;
      }
      // It is found when the answer comes, and a poller may have sent by then what is behind it.
      Must(pair_.b.qp.Post(RecvWr(1, {b_.mr.Slice(0, 8)})));
      Must(pair_.a.qp.Post(atomic ? SendWr::FetchAdd(1, target, b_.mr.At(0), 0)
                                  : SendWr::Read(1, target, b_.mr.At(0))));
      Must(pair_.a.qp.Post(SendWr::Send(2, a_.mr.Slice(0, 8))));
      ExpectFailed(Await(pair_.a.send_cq), 1, IBV_WC_LOC_PROT_ERR, pair_.a.qp.num());
      ExpectFailed(Await(pair_.a.send_cq), 2, IBV_WC_WR_FLUSH_ERR, pair_.a.qp.num());
      ExpectAll(a_.bytes(0, 4096), 0x10);
      ExpectReaches(pair_.a.qp, IBV_QPS_ERR);
    }
  }
}

TEST_P(RcError, BadSendElementIsALocalProtectionError) {
  Pd other = Must(Pd::Create(a_.ctx));
  Mr foreign = Must(Mr::Register(other, a_.bytes(0, 4096)));
  ibv_sge beyond = a_.mr.Slice(a_.buffer.size() - 10, 64);

  for (const ibv_sge& bad :
       {foreign.Slice(0, 64), beyond, ibv_sge{a_.mr.At(0).addr, 64, 0x123400}}) {
    // Alone, and as the last element of a list whose first ones are good.
    for (const SendWr::Sges& sges :
         {SendWr::Sges{bad}, SendWr::Sges{a_.mr.Slice(0, 100), a_.mr.Slice(8192, 200), bad}}) {
      for (bool write : {false, true}) {
        Renew();
        Must(pair_.b.qp.Post(RecvWr(5, {b_.mr.Slice(0, 4096)})));
        Must(pair_.a.qp.Post(write ? SendWr::Write(1, sges, b_.mr.At(0)) : SendWr::Send(1, sges)));
        Must(pair_.a.qp.Post(SendWr::Send(2, a_.mr.Slice(0, 8))));
        ExpectFailed(Await(pair_.a.send_cq), 1, IBV_WC_LOC_PROT_ERR, pair_.a.qp.num());
        ExpectFailed(Await(pair_.a.send_cq), 2, IBV_WC_WR_FLUSH_ERR, pair_.a.qp.num());
        ExpectReaches(pair_.a.qp, IBV_QPS_ERR);
        // The peer has not seen a whole message.
        ExpectQuiet(pair_.b.recv_cq);
      }
    }
  }
}

TEST_P(RcError, RequestsBeforeTheFailedOneSucceed) {
  std::vector<SendWr> list;
  for (uint64_t id = 0; id < 10; id++) {
    const Remote to = id == 6 ? Remote{b_.mr.At(0).addr, 0} : b_.mr.At(0);
    list.push_back(SendWr::Write(id, a_.mr.Slice(0, 5000), to));
  }
  Must(pair_.a.qp.Post(list, nullptr));
  for (uint64_t id = 0; id < 6; id++)
    ExpectWc(Await(pair_.a.send_cq),
             {.wr_id = id, .opcode = IBV_WC_RDMA_WRITE, .qp_num = pair_.a.qp.num()});
  ExpectFailed(Await(pair_.a.send_cq), 6, IBV_WC_REM_ACCESS_ERR, pair_.a.qp.num());
  for (uint64_t id = 7; id < 10; id++)
    ExpectFailed(Await(pair_.a.send_cq), id, IBV_WC_WR_FLUSH_ERR, pair_.a.qp.num());
  ExpectQuiet(pair_.a.send_cq);
}

TEST_P(RcError, FailedUnsignalledRequestIsReported) {
  Must(pair_.a.qp.Post(SendWr::Write(1, a_.mr.Slice(0, 8), b_.mr.At(0)).Unsignaled()));
  Must(pair_.a.qp.Post(SendWr::Write(2, a_.mr.Slice(0, 8), {b_.mr.At(0).addr, 0}).Unsignaled()));
  ExpectFailed(Await(pair_.a.send_cq), 2, IBV_WC_REM_ACCESS_ERR, pair_.a.qp.num());
}

TEST_P(RcError, OtherConnectionsOfTheSameHostsAreNotHarmed) {
  Pair healthy = Connected();

  ExpectRefused(SendWr::Write(1, a_.mr.Slice(0, 8), {b_.mr.At(0).addr, 0}), IBV_WC_REM_ACCESS_ERR);
  ExpectWorks(a_, healthy.a, b_, healthy.b);
  ExpectWorks(b_, healthy.b, a_, healthy.a);
}

TEST_P(RcError, QpWorksAgainAfterReset) {
  ExpectRefused(SendWr::Write(1, a_.mr.Slice(0, 8), {b_.mr.At(0).addr, 0}), IBV_WC_REM_ACCESS_ERR);
  Must(pair_.a.qp.ModifyState(IBV_QPS_RESET));
  Must(pair_.b.qp.ModifyState(IBV_QPS_RESET));
  Must(Connect(pair_.a.qp, a_.port, pair_.b.qp, b_.port, {.psn_a = 77}));
  ExpectWorks(a_, pair_.a, b_, pair_.b);
  ExpectWorks(b_, pair_.b, a_, pair_.a);
}

SRN_OVER_BOTH_IP(RcError);

}  // namespace
}  // namespace verbs_test
