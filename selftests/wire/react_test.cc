// SPDX-License-Identifier: GPL-2.0-only
// Reaction to congestion notifications: who is told of marks sends less.
#include <fstream>

#include "congestion.h"
#include "counters.h"
#include "fixture.h"
#include "recovery.h"

namespace wire {
namespace {

using std::chrono::milliseconds;

// A parameter of the device, for as long as it lives.
class Knob {
 public:
  Knob(const std::string& name, const std::string& value)
      : path_("/sys/kernel/debug/srn/" + Wire::Get().config().device + "/cc_params/" + name) {
    std::ifstream(path_) >> before_;
    set_ = Set(value);
  }
  ~Knob() {
    if (set_) EXPECT_TRUE(Set(before_));
  }
  bool Set(const std::string& value) const {
    std::ofstream file(path_);
    file << value << std::flush;
    return file.good();
  }
  std::string Get() const {
    std::string value;
    std::ifstream(path_) >> value;
    return value;
  }
  bool set() const { return set_; }

 private:
  std::string path_;
  std::string before_;
  bool set_ = false;
};

class React : public WireTest {
 protected:
  // Without probes, which a machine that is late would cause.
  void SetUp() override {
    SRN_SKIP_LAX() << "others have other parameters";
    ASSERT_TRUE(SetRecovery("gbn"));
  }
  void TearDown() override { EXPECT_TRUE(SetRecovery(Wire::Get().config().recovery)); }
  // A limit begins at 8 Mb/s, and with it the first cut: 4 Mb/s, a packet in 2.3 ms. No step by
  // time comes meanwhile, nor one by bytes.
  static constexpr const char* kFirst = "8";
  static constexpr milliseconds kTwelve{15};  // that twelve packets take at least, two at once
  const Knob no_steps_{"rp_time_reset", "1000000"};
  // From the first of so many packets to the last.
  milliseconds Span(int packets, const std::function<void(int)>& check) {
    Clock::time_point begin;
    for (int i = 0; i < packets; ++i) {
      check(i);
      if (i == 0) begin = peer().last_arrival();
    }
    return std::chrono::duration_cast<milliseconds>(peer().last_arrival() - begin);
  }
  milliseconds SpanOfWrite(int first_psn, int packets = 12) {
    const size_t size = static_cast<size_t>(packets) * mtu();
    ep().Post(SendWr::Write(1, ep().Data(kPlace, size), {kRemoteVa, kRemoteKey}));
    const milliseconds span = Span(packets, [&](int i) {
      const Packet packet = peer().Expect();
      EXPECT_EQ(packet.bth.psn, DevPsn(first_psn + i));
      if (packet.bth.ack_req) peer().Send(Ack(packet.bth.psn, 1));
    });
    ExpectSent(1, IBV_WC_RDMA_WRITE);
    return span;
  }
};
SRN_BOTH_IP_VERSIONS(React);

TEST_P(React, RequestsSlowDown) {
  const Knob first("rp_rate_to_set_on_first_cnp", kFirst);
  ASSERT_TRUE(first.set());
  Start();
  const Counters counters;
  // At once, since a limit is forgotten after half a second in which nothing is sent.
  peer().Send(Cnp());
  EXPECT_GE(SpanOfWrite(0), kTwelve);
  EXPECT_TRUE(counters.Grew("rp_cnp_handled"));
  EXPECT_TRUE(counters.Grew("paced"));
  EXPECT_EQ(counters.Growth("rp_cnp_ignored"), 0u);
}

TEST_P(React, ReadResponsesSlowDown) {
  const Knob first("rp_rate_to_set_on_first_cnp", kFirst);
  ASSERT_TRUE(first.set());
  Start();
  peer().Send(Cnp());
  peer().Send(ReadRequest(PeerPsn(), Reth(kPlace, 12 * mtu())));
  EXPECT_GE(Span(12, [&](int i) { EXPECT_EQ(peer().Expect().bth.psn, PeerPsn(i)); }), kTwelve);
}

// What is cut is what was sent; a first notification starts to measure that, and one that comes
// more than a millisecond and less than ten after it ends that.
TEST_P(React, SecondOneLimitsToWhatWasSent) {
  Start();
  const Counters counters;
  peer().Send(Cnp());
  ASSERT_TRUE(counters.Grew("rp_cnp_handled"));
  SpanOfWrite(0);
  EXPECT_EQ(counters.Growth("paced"), 0u);
  // A machine that is late for one is in time for another.
  int psn = 12;
  for (; psn < 32; ++psn) {
    peer().Send(Cnp());
    peer().ExpectNothingYet(milliseconds(1));
    SpanOfWrite(psn, 1);
  }
  SpanOfWrite(psn);
  EXPECT_GT(counters.Growth("paced"), 0u);
}

// Nor is anything while what was marked has left before, and nothing leaves now.
TEST_P(React, DrainingQueueIsNoRate) {
  Start();
  const Counters counters;
  for (int i = 0; i < 20; ++i) {
    peer().Send(Cnp());
    peer().ExpectNothingYet(milliseconds(2));
  }
  ASSERT_TRUE(counters.Grew("rp_cnp_handled", 20));
  SpanOfWrite(0);
  EXPECT_EQ(counters.Growth("paced"), 0u);
}

// Over a pause of the program nothing is measured.
TEST_P(React, PauseIsNoRate) {
  Start();
  const Counters counters;
  for (int i = 0; i < 3; ++i) {
    peer().Send(Cnp());
    ASSERT_TRUE(counters.Grew("rp_cnp_handled", i + 1));
    peer().ExpectNothingYet(milliseconds(12));
  }
  SpanOfWrite(0);
  EXPECT_EQ(counters.Growth("paced"), 0u);
}

// Each other one, behind what left at the rate of the last cut, says that it must be less, down to
// the minimum.
TEST_P(React, ManyLeadToTheMinimum) {
  const Knob first("rp_rate_to_set_on_first_cnp", "64"), least("rp_min_rate", "4");
  ASSERT_TRUE(first.set() && least.set());
  Start();
  const Counters counters;
  static constexpr int kCnps = 10;
  for (int i = 0; i < kCnps; ++i) {
    if (i > 0) SpanOfWrite(i - 1, 1);
    peer().Send(Cnp());
    peer().ExpectNothingYet(milliseconds(2));
  }
  ASSERT_TRUE(counters.Grew("rp_cnp_handled", kCnps));
  const milliseconds span = SpanOfWrite(kCnps - 1);
  EXPECT_GE(span, kTwelve);
  EXPECT_LE(span, Wire::Get().Patience(8 * kTwelve)) << "4 Mb/s, and no less";
}

// Who is no peer slows nobody down.
TEST_P(React, StrangersHasNoEffect) {
  const Knob first("rp_rate_to_set_on_first_cnp", "1");
  ASSERT_TRUE(first.set());
  Start();
  const Counters counters;
  net::Datagram d = peer().Envelope();
  d.src = *net::IpAddress::Parse(GetParam() == net::IpVersion::kV4 ? "10.79.0.3" : "fd79::3");
  Packet cnp = Cnp();
  cnp.bth.dqpn = ep().qpn();
  roce::Encode(cnp, d);
  for (int i = 0; i < 100; ++i) peer().SendDatagram(d);
  ASSERT_TRUE(counters.Grew("rcvd_bad_address", 100));
  EXPECT_EQ(counters.Growth("rp_cnp_handled"), 0u);
  SpanOfWrite(0);
  EXPECT_EQ(counters.Growth("paced"), 0u);
}

TEST_P(React, OffIgnores) {
  const Knob first("rp_rate_to_set_on_first_cnp", "1");
  ASSERT_TRUE(SetCongestionControl("off"));
  Start();
  ASSERT_TRUE(SetCongestionControl("dcqcn"));
  peer().IgnoreRules();
  const Counters counters;
  peer().Send(Cnp());
  ASSERT_TRUE(counters.Grew("rp_cnp_ignored"));
  SpanOfWrite(0);
  EXPECT_EQ(counters.Growth("paced"), 0u);
  EXPECT_EQ(counters.Growth("rp_cnp_handled"), 0u);
}

TEST_P(React, UcIgnores) {
  Start({.type = IBV_QPT_UC});
  const Counters counters;
  peer().Send(Cnp());
  EXPECT_TRUE(counters.Grew("rp_cnp_ignored"));
  EXPECT_EQ(counters.Growth("rp_cnp_handled"), 0u);
}

// It has no peer.
TEST_P(React, UdIgnores) {
  Start({.type = IBV_QPT_UD, .mtu = 4096});
  const Counters counters;
  peer().Send(Cnp());
  EXPECT_TRUE(counters.Grew("rp_cnp_ignored"));
  EXPECT_EQ(counters.Growth("rp_cnp_handled"), 0u);
}

// A connection that begins anew knows nothing of what came before.
TEST_P(React, ResetForgets) {
  const Knob first("rp_rate_to_set_on_first_cnp", "100");
  ASSERT_TRUE(first.set());
  Start();
  const Counters counters;
  peer().Send(Cnp());
  ASSERT_TRUE(counters.Grew("rp_cnp_handled"));
  ep().Reconnect(peer());
  SpanOfWrite(0);
  // Nor is another one the second: it begins to measure.
  ASSERT_TRUE(first.Set("0"));
  peer().Send(Cnp());
  ASSERT_TRUE(counters.Grew("rp_cnp_handled", 2));
  SpanOfWrite(12);
  EXPECT_EQ(counters.Growth("paced"), 0u);
}

// How a notification looks and how often it comes are the device's.
TEST_P(React, NotificationPointHasItsParameters) {
  const Knob dscp("np_cnp_dscp", "9"), pause("np_min_time_between_cnps", "1000000");
  ASSERT_TRUE(dscp.set() && pause.set());
  Start();
  for (int i = 0; i < 2; ++i) {
    net::Datagram d = peer().Seal(
        WithoutAckReq(Write(Operation::kWriteOnly, PeerPsn(i), Pattern(16), Reth(kPlace, 16))));
    d.tos = 3;
    peer().SendDatagram(d);
  }
  EXPECT_EQ(peer().Expect().bth.opcode, roce::kOpcodeCnp);
  EXPECT_EQ(peer().last().datagram.tos, 9 << 2);
  peer().ExpectNothing();
}

TEST_P(React, ParametersHaveBounds) {
  const Knob dscp("np_cnp_dscp", "63"), gain("rp_dce_tcp_g", "1023"), divisor("rp_gd", "15");
  EXPECT_TRUE(dscp.set() && gain.set() && divisor.set());
  EXPECT_EQ(dscp.Get(), "63");
  for (const char* value : {"64", "-1", "x", "18446744073709551615"}) EXPECT_FALSE(dscp.Set(value));
  for (const char* value : {"0", "1024"}) EXPECT_FALSE(gain.Set(value));
  for (const char* value : {"9", "16"}) EXPECT_FALSE(divisor.Set(value));
  EXPECT_EQ(dscp.Get(), "63");
}

}  // namespace
}  // namespace wire
