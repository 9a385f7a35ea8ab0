// SPDX-License-Identifier: GPL-2.0-only
// A thousand connections flooded with all that a peer may send, by valid ICRC: what the device may
// hold has an end, nothing is logged, and another connection goes on. A program of its own
// (wire/flood, soak/flood).
//
// Environment: SRN_FLOOD_QPS, how many connections (1000); SRN_FLOOD_MEMORY=any, of a kernel whose
// checkers take memory with each object: how much there is free tells nothing, and is not looked
// at.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <result/must.h>

#include "congestion.h"
#include "counters.h"
#include "recovery.h"

namespace wire {
namespace {

using result::Must;

constexpr long kKiB = 1024, kMiB = 1024 * kKiB;
// Of a device, what came early and is held: 64 MiB, and as much again in equal parts (limits.h).
// What waits for a QP's turn has as much, but nobody keeps that waiting here.
constexpr long kCap = 128 * kMiB;
constexpr long kMost = kCap + kCap / 20;
constexpr uint32_t kMtu = 4096;
constexpr uint32_t kInFlight = 4;  // packets of each connection
constexpr uint32_t kRead = 16 << 10;
constexpr size_t kBatch = 50;  // connections, before others are looked at

int NumQps() {
  const char* number = getenv("SRN_FLOOD_QPS");
  return number ? atoi(number) : 1000;
}

bool CountsMemory() {
  const char* memory = getenv("SRN_FLOOD_MEMORY");
  return !memory || strcmp(memory, "any") != 0;
}

long Available() {
  std::ifstream file("/proc/meminfo");
  std::string name;
  for (long kib = 0; file >> name >> kib; file.ignore(64, '\n'))
    if (name == "MemAvailable:") return kib * kKiB;
  return 0;
}

// The kernel's log from here on.
class LogWatch {
 public:
  LogWatch() : fd_(::open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {
    if (fd_ < 0) throw result::SetupFailure("no kernel log");
    (void)::lseek(fd_, 0, SEEK_END);
  }
  ~LogWatch() { ::close(fd_); }
  // What the module said.
  std::string Said() {
    std::string said;
    char line[8192];
    for (;;) {
      const ssize_t got = ::read(fd_, line, sizeof(line));
      if (got < 0 && errno == EPIPE) {
        said += "more than the log has room for\n";
        continue;
      }
      if (got <= 0) break;
      const std::string text(line, static_cast<size_t>(got));
      if (text.find("srn") != std::string::npos && text.find("srn-test: ") == std::string::npos)
        said += text;
    }
    return said;
  }

 private:
  int fd_;
};

class Flood : public HoldTest {
 protected:
  void SetUp() override {
    HoldTest::SetUp();
    // Whom the flooded ones talk to: nobody looks at that.
    nobody_ = Peer::Create(GetParam())->qpn();
    Start({.mtu = kMtu, .timeout = 20});
    const verbs::Context& context = Wire::Get().context();
    port_ = Must(context.FindPort(ToGid(peer().device_address())));
    buffer_ = Must(verbs::Buffer::Map(kRead));
    pd_ = Must(verbs::Pd::Create(context));
    mr_ = Must(verbs::Mr::Register(pd_, buffer_.Slice(0, kRead),
                                   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ));
    cq_ = Must(verbs::Cq::Create(context, 1 << 14));
    for (int i = 0; i < NumQps(); ++i) Add();
    peer().Forget();
    before_ = Available();
  }

  void Add() {
    verbs::Qp qp = Must(verbs::Qp::Create(pd_, cq_, cq_, {.max_send_wr = 4, .max_recv_wr = 1}));
    Must(verbs::ConnectTo(
        qp, port_, ToGid(Wire::Get().peer(GetParam())), nobody_, kTheirs, kOurs,
        {.mtu = verbs::MtuOf(kMtu), .timeout = 20, .retry_cnt = 7, .rd_atomic = 16}));
    qps_.push_back(std::move(qp));
  }

  // What `flood` sends to each of them; another connection works meanwhile, and the memory that is
  // held is looked at.
  void Run(const char* what, const std::function<void(size_t)>& flood) {
    const auto begin = std::chrono::steady_clock::now();
    long most = 0;
    for (size_t i = 0; i < qps_.size() && !HasFailure(); ++i) {
      flood(i);
      if ((i + 1) % kBatch) continue;
      peer().Forget();
      ExpectOthersGoOn();
      most = std::max(most, before_ - Available());
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    std::printf(
        "# %zu connections, flood of %s: %d packets in %.1f s, %.1f MiB held (%.0f allowed)\n",
        qps_.size(), what, sent_, took.count(), static_cast<double>(most) / kMiB,
        static_cast<double>(kMost) / kMiB);
    sent_ = 0;
    held_ = most;
    for (const verbs::Qp& qp : qps_)
      if (!HasFailure()) EXPECT_EQ(qp.State(), IBV_QPS_RTS) << what << " ended a connection";
    if (CountsMemory()) EXPECT_LE(most, kMost) << what;
    EXPECT_EQ(log_.Said(), "") << what;
  }

  void SendTo(size_t i, Packet packet) {
    packet.bth.dqpn = qps_[i].num();
    peer().Send(std::move(packet));
    ++sent_;
  }

  // Both sides of the connection that nobody floods.
  void ExpectOthersGoOn() {
    ExpectResponderWorks(PeerPsn(rounds_ * 2), static_cast<uint32_t>(rounds_ * 2));
    ep().PostSend(1, 0, 8);
    EXPECT_THAT(peer().Expect(), IsRequest(Operation::kSendOnly, DevPsn(rounds_)));
    peer().Send(Ack(DevPsn(rounds_), static_cast<uint32_t>(rounds_ + 1)));
    ExpectSent(1, IBV_WC_SEND);
    ++rounds_;
  }

  roce::Reth Key(uint32_t length) const { return {mr_.At(0).addr, mr_->rkey, length}; }

  // How far ahead of what is expected.
  static int Far(size_t i) { return i % 2 ? 3000 : 400; }

  static constexpr uint32_t kTheirs = 0xffff00, kOurs = 0x100;  // first PSNs
  std::vector<verbs::Qp> qps_;
  verbs::Mr mr_;
  long held_ = 0;

 private:
  uint32_t nobody_ = 0;
  verbs::Port port_;
  verbs::Buffer buffer_;
  verbs::Pd pd_;
  verbs::Cq cq_;
  LogWatch log_;
  long before_ = 0;
  int sent_ = 0;
  int rounds_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Ip, Flood, testing::Values(net::IpVersion::kV4), VersionName);

// To the first ones as much as each may hold where there is room, to the others their part: more
// than the device may hold in all.
TEST_P(Flood, FarAheadIsHeldWithinBounds) {
  const Bytes payload = Pattern(kMtu);
  Run("PSNs far ahead", [&](size_t i) {
    if (i % 2) SendTo(i, roce::EncodeSack(kTheirs - 1, {.kind = roce::SackKind::kHello}));
    for (int n = 0; n < (i < qps_.size() / 3 ? 36 : 10); ++n)
      SendTo(i,
             Write(Operation::kWriteOnly, roce::PsnAdd(kTheirs, Far(i) + n), payload, Key(kMtu)));
  });
  if (CountsMemory())
    EXPECT_GE(held_, kCap * 3 / 4 * NumQps() / 1000) << "the flood is too small to tell anything";
  Run("PSNs far ahead that come again", [&](size_t i) {
    for (int n = 0; n < 4; ++n)
      SendTo(i,
             Write(Operation::kWriteOnly, roce::PsnAdd(kTheirs, Far(i) + n), payload, Key(kMtu)));
  });
}

// To those who have requests in flight.
TEST_P(Flood, AnswersAndNotices) {
  for (const verbs::Qp& qp : qps_)
    Must(qp.Post(verbs::SendWr::Write(0, mr_.Slice(0, kInFlight * kMtu), {0x7000, 7})));
  peer().Forget();
  Run("CNPs", [&](size_t i) {
    for (int n = 0; n < 8; ++n) SendTo(i, Cnp());
  });
  Run("SACKs", [&](size_t i) {
    for (uint32_t n = 0; n < 8; ++n)
      SendTo(i, roce::EncodeSack(kOurs, {.twice = n, .held = {1 + n % 3, 2 + n % 2, 500 + n}}));
  });
  Run("NAKs", [&](size_t i) {
    for (int n = 0; n < 8; ++n) SendTo(i, Nak(roce::PsnAdd(kOurs, n % 3), 0, roce::kNakSequence));
  });
}

// Of as many bytes as there are, as many as may be open, and again and again.
TEST_P(Flood, ReadRequests) {
  Run("READ requests", [&](size_t i) {
    for (uint32_t n = 0; n < 8; ++n)
      SendTo(i, ReadRequest(roce::PsnAdd(kTheirs, static_cast<int>(n / 2 * kRead / kMtu)),
                            Key(kRead)));
  });
}

}  // namespace
}  // namespace wire
