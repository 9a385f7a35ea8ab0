// SPDX-License-Identifier: GPL-2.0-only
// RC, where the receiver's host is short of memory: what it held is let go of, and the sender,
// which may have been told that it was there, sends it again. No request fails, and every byte
// arrives.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <random>
#include <thread>

#include <share/seed.h>
#include <share/shrink.h>

#include "fate_channel.h"

namespace verbs_test {
namespace {

constexpr uint8_t kSeconds = 20;  // 4.3 s
constexpr Shape kLong{64, 1024};
using Clock = std::chrono::steady_clock;

// Asks for memory as long as it is there, with pauses in which others run.
class Pressure {
 public:
  Pressure()
      : thread_([this] {
          while (!stop_) {
            share::Shrink();
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
          }
        }) {}
  ~Pressure() {
    stop_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

class FateShed : public FateChannel {
 protected:
  void SetUp() override {
    FateChannel::SetUp();
    ASSERT_TRUE(share::Shrink());
  }
  // Until something that was held was let go of, which is all that is.
  void ExpectShed(const HwCounts& before) const {
    const uint64_t shed = before.Sum({"rcvd_hold_shed"});
    for (int i = 0; i < 1000 && b_counters_["rcvd_hold_shed"] == shed; i++) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      ASSERT_TRUE(share::Shrink());
    }
    EXPECT_GT(b_counters_["rcvd_hold_shed"], shed);
  }
  // A message whose `lost` packets are lost until all that was held behind them was let go of.
  void Run(Kind kind, const std::vector<int>& lost);
};

void FateShed::Run(Kind kind, const std::vector<int>& lost) {
  SCOPED_TRACE(testing::Message() << ToString(kind) << " from " << lost.front() << " on");
  Renew(kLong, kSeconds);
  Prepare(kind);
  PostReceives(kind);
  std::vector<Fate> fates;
  for (int position : lost) {
    fates.push_back(RequestAt(position, "drop"));
    fates.back().times = 0;
  }
  Must(SetFates(fates));
  const HwCounts before = a_counters_.Read(), shed = b_counters_.Read();
  Post(kind);
  ExpectShed(shed);
  const auto start = Clock::now();
  Must(SetFates({}));
  ExpectDone(kind);
  const std::chrono::duration<double, std::milli> took = Clock::now() - start;
  const HwCounts now = a_counters_.Read();
  const uint64_t probes = now.Sum({"sent_probes"}) - before.Sum({"sent_probes"});
  std::printf("%s: repaired in %.1f ms, probes: %llu\n", ToString(kind), took.count(),
              static_cast<unsigned long long>(probes));
  EXPECT_EQ(now.Sum({"local_ack_timeout_err"}), before.Sum({"local_ack_timeout_err"}));
  ExpectHealthy();
}

// All but the first packet is there, and was told; and then all but some.
TEST_P(FateShed, OneGap) {
  for (const Kind kind : {Kind::kSend, Kind::kWrite, Kind::kShortSends}) Run(kind, {0});
}

TEST_P(FateShed, SeveralGaps) {
  for (const Kind kind : {Kind::kSend, Kind::kWrite, Kind::kShortSends}) Run(kind, {3, 11, 12, 40});
}

// Of who was not told it is no different.
TEST_P(FateShed, WhoWasNotTold) {
  SetRecovery("hold");
  for (const Kind kind : {Kind::kSend, Kind::kWrite, Kind::kShortSends}) Run(kind, {2});
}

// Loss both ways, while memory is asked for all the time.
TEST_P(FateShed, LossUnderLastingPressure) {
  const auto seed = static_cast<uint32_t>(share::Seed());
  std::mt19937 random{seed};

  std::printf("SRN_SEED=%u\n", seed);
  SCOPED_TRACE(testing::Message() << "SRN_SEED=" << seed);
  const uint64_t before = b_counters_["rcvd_hold_shed"];
  const Pressure pressure;
  std::chrono::duration<double, std::milli> longest{0};
  for (int i = 0; i < 20 && !HasFailure(); i++)
    for (const Kind kind : {Kind::kSend, Kind::kWrite, Kind::kShortSends, Kind::kFetchAdd}) {
      Renew(kLong, kSeconds);
      Prepare(kind);
      PostReceives(kind);
      LoseOneInTwenty(random);
      const auto start = Clock::now();
      Post(kind);
      ExpectDone(kind);
      longest = std::max<decltype(longest)>(longest, Clock::now() - start);
    }
  std::printf("%.1f ms at most; packets that were let go of: %llu\n", longest.count(),
              static_cast<unsigned long long>(b_counters_["rcvd_hold_shed"] - before));
}

SRN_OVER_BOTH_IP(FateShed);

}  // namespace
}  // namespace verbs_test
