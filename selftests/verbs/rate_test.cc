// SPDX-License-Identifier: GPL-2.0-only
// The rate of a QP: what may be set, and what goes then.
//
// Environment: SRN_RATE_EXACT=1 where the clock is the machine's own (CLOCK=instructions): what
// goes is then held to the rate from below as well.
#include <chrono>
#include <cstdlib>
#include <thread>

#include <share/counters.h>

#include "env.h"

namespace verbs_test {
namespace {

int Limit(const Qp& qp, uint32_t kbps) {
  ibv_qp_rate_limit_attr attr = {};
  attr.rate_limit = kbps;
  return ibv_modify_qp_rate_limit(qp.get(), &attr);
}

ibv_packet_pacing_caps Caps(const Context& ctx) {
  return Must(ctx.QueryDeviceEx()).packet_pacing_caps;
}

// On its way from RESET to RTS.
class RateOf : public HostTest {
 protected:
  void SetUp() override {
    HostTest::SetUp();
    cq_ = Must(Cq::Create(a_.ctx, 64));
  }
  Qp New(ibv_qp_type type) { return Must(Qp::Create(a_.pd, cq_, cq_, {.type = type})); }
  Transition Rtr(uint8_t static_rate) const {
    Transition t = ToRtr(IBV_QPT_RC, a_.port, a_.port.gid, 77, 0, {});
    t.attr.ah_attr.static_rate = static_rate;
    return t;
  }

  Cq cq_;
};

TEST_F(RateOf, LimitsAreTold) {
  const ibv_packet_pacing_caps caps = Caps(a_.ctx);
  EXPECT_EQ(caps.supported_qpts, 1u << IBV_QPT_RC | 1u << IBV_QPT_UC);
  EXPECT_GT(caps.qp_rate_limit_min, 0u);
  EXPECT_GE(caps.qp_rate_limit_max, 400'000'000u);
  for (ibv_qp_type type : {IBV_QPT_RC, IBV_QPT_UC}) {
    const Qp qp = New(type);
    EXPECT_EQ(Limit(qp, caps.qp_rate_limit_min), 0);
    EXPECT_EQ(Limit(qp, caps.qp_rate_limit_max), 0);
    EXPECT_EQ(Limit(qp, caps.qp_rate_limit_min - 1), EINVAL);
    EXPECT_EQ(Limit(qp, 0), 0);
  }
  EXPECT_EQ(Limit(New(IBV_QPT_UD), caps.qp_rate_limit_min), EOPNOTSUPP);
}

TEST_F(RateOf, LimitMayComeInAnyState) {
  const Qp qp = New(IBV_QPT_RC);
  Transition steps[] = {ToInit(IBV_QPT_RC, a_.port), Rtr(0), ToRts(IBV_QPT_RC, 0, {})};
  for (Transition& step : steps) {
    EXPECT_EQ(Limit(qp, 1000), 0) << qp.State();
    step.attr.rate_limit = 1;
    step.mask |= IBV_QP_RATE_LIMIT;
    EXPECT_EQ(Apply(qp, step).error(), EINVAL);
    step.attr.rate_limit = 2000;
    EXPECT_TRUE(Apply(qp, step).ok());
  }
  EXPECT_EQ(Limit(qp, 1000), 0);
  Must(qp.ModifyState(IBV_QPS_ERR));
  EXPECT_EQ(Limit(qp, 1000), 0);
  EXPECT_EQ(qp.State(), IBV_QPS_ERR);
}

TEST_F(RateOf, StaticRateIsOneThatThereIs) {
  const Qp qp = New(IBV_QPT_RC);
  Must(Apply(qp, ToInit(IBV_QPT_RC, a_.port)));
  for (uint8_t code : {1, 24, 255}) EXPECT_EQ(Apply(qp, Rtr(code)).error(), EINVAL) << +code;
  Must(Apply(qp, Rtr(IBV_RATE_2_5_GBPS)));
  EXPECT_EQ(Must(qp.Query()).attr.ah_attr.static_rate, IBV_RATE_2_5_GBPS);
}

struct Measured {
  const char* name;
  bool read;         // b sends: what a READs
  uint32_t kbps;     // rate limit; 0: the static rate
  uint32_t message;  // bytes
  double seconds;
};

void PrintTo(const Measured& m, std::ostream* os) { *os << m.name; }

class Rate : public testing::TestWithParam<Measured> {
 protected:
  using Clock = std::chrono::steady_clock;
  static constexpr uint8_t kReads = 16;  // at once
  static constexpr int kDepth = 64;      // more than a rate sends while a poller sleeps too long
  static constexpr double kStatic = 2.5e9;

  void SetUp() override {
    a_ = Host::Open(DeviceA(), Ip::kV4, 64 << 10);
    b_ = Host::Open(DeviceB(), Ip::kV4, 64 << 10);
  }

  Pair Connected() {
    Pair p{Stamped(), End::Create(b_)};
    WireOptions wire = {.rd_atomic = kReads};
    wire.mtu = std::min(a_.port.active_mtu, b_.port.active_mtu);
    Up(p.a.qp, a_, b_, p.b.qp.num(), wire);
    Up(p.b.qp, b_, a_, p.a.qp.num(), wire);
    const Qp& sender = GetParam().read ? p.b.qp : p.a.qp;
    EXPECT_EQ(Limit(sender, GetParam().kbps), 0);
    return p;
  }

  // Its completions say when they came.
  End Stamped() {
    ibv_cq_init_attr_ex attr = {};
    attr.cqe = kDepth;
    attr.wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP;
    stamped_ = ibv_create_cq_ex(a_.ctx.get(), &attr);
    if (!stamped_) throw SetupFailure("no CQ with timestamps");
    End end{Cq(ibv_cq_ex_to_cq(stamped_)), Must(Cq::Create(a_.ctx, 1)), {}};
    end.qp = Must(Qp::Create(a_.pd, end.send_cq, end.recv_cq, {.max_send_wr = kDepth}));
    return end;
  }

  static void Up(const Qp& qp, const Host& from, const Host& to, uint32_t qpn,
                 const WireOptions& wire) {
    Transition rtr = ToRtr(IBV_QPT_RC, from.port, to.port.gid, qpn, 0, wire);
    if (!GetParam().kbps) rtr.attr.ah_attr.static_rate = IBV_RATE_2_5_GBPS;
    Must(Apply(qp, ToInit(IBV_QPT_RC, from.port, wire)));
    Must(Apply(qp, rtr));
    Must(Apply(qp, ToRts(IBV_QPT_RC, 0, wire)));
  }

  void Post(const Pair& p) {
    const auto here = a_.mr.Slice(0, GetParam().message);
    Must(p.a.qp.Post(GetParam().read ? SendWr::Read(0, here, b_.mr.At(0))
                                     : SendWr::Write(0, here, b_.mr.At(0))));
  }

  // When a completion came, in seconds, by the device: who polls may be late. The CPU, whose
  // instructions are the clock, is not kept busy.
  double Done() {
    const auto end = Clock::now() + std::chrono::seconds(10);
    ibv_poll_cq_attr poll = {};
    while (ibv_start_poll(stamped_, &poll)) {
      if (Clock::now() > end) throw SetupFailure("no completion");
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    EXPECT_EQ(stamped_->status, IBV_WC_SUCCESS);
    const double at = ibv_wc_read_completion_ts(stamped_) * 1e-9;
    ibv_end_poll(stamped_);
    return at;
  }

  // When each message was done.
  std::vector<double> Run() {
    const Pair p = Connected();
    std::vector<double> done;
    for (int i = 0; i < kDepth; ++i) Post(p);
    do {
      done.push_back(Done());
      Post(p);
    } while (done.back() - done.front() < GetParam().seconds);
    // What still comes when its QP has gone would be damage.
    for (int i = 0; i < kDepth; ++i) Done();
    return done;
  }

  double BytesPerSecond() const { return GetParam().kbps ? GetParam().kbps * 125.0 : kStatic / 8; }

  // Of a message on the wire: Ethernet, IPv4, UDP, BTH, ICRC of each packet; RETH, or AETHs.
  double FrameBytes() const {
    const int mtu = MtuBytes(std::min(a_.port.active_mtu, b_.port.active_mtu));
    const uint32_t num = (GetParam().message + mtu - 1) / mtu;
    return GetParam().message + 58.0 * num + (GetParam().read ? (num > 1 ? 8 : 4) : 16);
  }

  Host a_, b_;
  ibv_cq_ex* stamped_ = nullptr;
};

// The most and the least that were done in any time of `span` between two completions.
std::pair<double, double> Extremes(const std::vector<double>& done, double span) {
  double most = 0, least = done.size();
  for (size_t from = 0, to = 0; from < done.size(); ++from) {
    while (to < done.size() && done[to] < done[from] + span) ++to;
    if (to == done.size()) break;
    most = std::max<double>(most, to - from);
    least = std::min<double>(least, to - from);
  }
  return {least, most};
}

TEST_P(Rate, IsKept) {
  const bool exact = getenv("SRN_RATE_EXACT") != nullptr;
  const auto probes = [&] {
    return exact ? share::ReadCounters(DeviceA()).at("sent_probes") : uint64_t{0};
  };
  const auto probes_before = probes();
  const std::vector<double> done = Run();
  ASSERT_GT(done.size(), 2u);
  const double all = (done.size() - 1) * FrameBytes() / (done.back() - done.front());
  const double ratio = all / BytesPerSecond();
  const auto [least, most] = Extremes(done, 0.01);
  const double in_10_ms = BytesPerSecond() * 0.01 / FrameBytes();
  printf("# %s: %.4f of the rate; in 10 ms %.2f to %.2f\n", GetParam().name, ratio,
         least / in_10_ms, most / in_10_ms);
  EXPECT_LE(ratio, 1.03);
  if (!exact) {  // a machine that does other things is late; but at 100 Mb/s nobody crawls
    if (GetParam().kbps) EXPECT_GE(ratio, 0.1);
    return;
  }
  EXPECT_EQ(probes(), probes_before);
  EXPECT_GE(ratio, 0.97);
  EXPECT_GE(least, 0.8 * in_10_ms);
  EXPECT_LE(most, 1.2 * in_10_ms);
}
INSTANTIATE_TEST_SUITE_P(Of, Rate,
                         testing::Values(Measured{"WriteByLimit", false, 100'000, 4096, 1},
                                         Measured{"ReadByLimit", true, 100'000, 4096, 1},
                                         Measured{"WriteByStaticRate", false, 0, 65536, 0.3},
                                         Measured{"ReadByStaticRate", true, 0, 65536, 0.3}),
                         [](const testing::TestParamInfo<Measured>& info) {
                           return std::string(info.param.name);
                         });

}  // namespace
}  // namespace verbs_test
