// SPDX-License-Identifier: GPL-2.0-only
// Each refusal leaves a trace event: what a person looks at when packets vanish.
#include <fstream>
#include <iterator>

#include "fixture.h"

namespace wire {
namespace {

const std::string kTracing = "/sys/kernel/tracing/";
constexpr const char* kEvents[] = {"srn_drop",    "srn_verdict", "srn_nak",
                                   "srn_silence", "srn_window",  "srn_rnr_wait"};

class Trace : public WireTest {
 protected:
  void SetUp() override {
    for (const char* event : kEvents) Switch(event, "1");
    std::ofstream(kTracing + "trace") << "";
  }
  void TearDown() override {
    for (const char* event : kEvents) Switch(event, "0");
  }
  // The event comes, with this text in it.
  void ExpectEvent(const std::string& event, const std::string& text) {
    for (int tries = 0; tries < 100; ++tries) {
      std::ifstream trace(kTracing + "trace");
      for (std::string line; std::getline(trace, line);)
        if (line.find(event + ": ") != std::string::npos && line.find(text) != std::string::npos)
          return;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    std::ifstream trace(kTracing + "trace");
    ADD_FAILURE() << "no " << event << " with '" << text << "' in\n"
                  << std::string(std::istreambuf_iterator<char>(trace), {});
  }
  Packet GoodWrite() {
    return Write(Operation::kWriteOnly, PeerPsn(), Pattern(8), Reth(kPlace, 8));
  }

 private:
  static void Switch(const std::string& event, const char* on) {
    std::ofstream file(kTracing + "events/srn/" + event + "/enable");
    file << on << std::flush;
    ASSERT_TRUE(file) << event;
  }
};
INSTANTIATE_TEST_SUITE_P(Ip, Trace, testing::Values(net::IpVersion::kV4), VersionName);

TEST_P(Trace, OfAPacketThatNoQpTakes) {
  Start();
  const std::string device = Wire::Get().config().device;
  Packet p = GoodWrite();
  p.bth.pkey = 0x1234;
  peer().Send(p);
  ExpectEvent("srn_drop", device + " rcvd_bad_pkey");
  p = GoodWrite();
  p.bth.dqpn = ep().qpn() + 0x7000;
  peer().Send(p);
  ExpectEvent("srn_drop", device + " rcvd_no_qp");
}

TEST_P(Trace, OfARequestThatIsRefused) {
  Start();
  peer().Send(ReadRequest(PeerPsn(), {ep().Va(), ep().rkey() ^ 0x5a5a00, 8}));
  EXPECT_THAT(peer().Expect(), IsNak(PeerPsn(), roce::kNakRemoteAccess));
  ExpectEvent("srn_verdict", "RC_RDMA_READ_REQUEST");
  ExpectEvent("srn_nak", "sent access psn");
}

TEST_P(Trace, OfAPeerThatMissesAPacket) {
  Start();
  ep().PostSend(1, 0, 8);
  EXPECT_EQ(peer().Expect().bth.psn, DevPsn());
  peer().Send(Nak(DevPsn(), 0, roce::kNakSequence));
  ExpectEvent("srn_nak", "received sequence psn");
  ExpectEvent("srn_window", "(gap)");
  peer().Send(Ack(DevPsn(), 1));
  ExpectSent(1, IBV_WC_SEND);
}

TEST_P(Trace, OfAPeerThatIsNotReady) {
  Start();
  ep().PostSend(1, 0, 8);
  EXPECT_EQ(peer().Expect().bth.psn, DevPsn());
  peer().Send(Nak(DevPsn(), 0, roce::RnrNak(14)));  // 1.28 ms
  ExpectEvent("srn_nak", "received rnr psn");
  ExpectEvent("srn_rnr_wait", " 1280000 ns ");
  EXPECT_EQ(peer().Expect().bth.psn, DevPsn());
  peer().Send(Ack(DevPsn(), 1));
  ExpectSent(1, IBV_WC_SEND);
}

TEST_P(Trace, OfAPeerThatIsSilent) {
  Start({.timeout = 12, .retry_cnt = 0});
  ep().PostSend(1, 0, 8);
  ExpectSendFails(1, IBV_WC_RETRY_EXC_ERR);
  ExpectEvent("srn_silence", " timeout una ");
  ExpectEvent("srn_window", "(silence)");
}

}  // namespace
}  // namespace wire
