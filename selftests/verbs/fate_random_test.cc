// SPDX-License-Identifier: GPL-2.0-only
// RC: messages of all kinds, in any order, over a channel in which any packet of either way may be
// lost, doubled, late or damaged, the first ones of a connection too: by which peers meet that
// understand SACKs. SRN_SEED repeats a run; SRN_FATE_MESSAGES makes it longer.
#include <cstdlib>
#include <optional>
#include <random>

#include <share/seed.h>

#include "fate_channel.h"

namespace verbs_test {
namespace {

constexpr int kMessages = 150;
constexpr int kRecoveries = 3;  // that share them
constexpr Kind kKinds[] = {Kind::kSend,        Kind::kSendImm,    Kind::kSendInv, Kind::kWrite,
                           Kind::kWriteImm,    Kind::kShortSends, Kind::kRead,    Kind::kFetchAdd,
                           Kind::kCompareSwap, Kind::kAtomicWrite};

int Messages() {
  const char* text = std::getenv("SRN_FATE_MESSAGES");
  return (text ? std::atoi(text) : kMessages) / kRecoveries;
}

class FateRandom : public FateChannel {
 protected:
  uint32_t Below(uint32_t end) { return static_cast<uint32_t>(random_() % end); }
  std::vector<Fate> Rules();
  void Run();
  void Carry(const std::string& recovery);
  // Of both ends, since the test began.
  uint64_t Grown(const char* name) const;

  uint32_t seed_ = static_cast<uint32_t>(share::Seed());
  std::mt19937 random_{seed_};
  std::optional<HwCounts> a_before_, b_before_;
};

uint64_t FateRandom::Grown(const char* name) const {
  return a_counters_[name] - a_before_->Sum({name}) + b_counters_[name] - b_before_->Sum({name});
}

// Each action for each way, each rare: in the middle one packet in fifty meets some fate; of the
// NAKs and SACKs, which are few, one in three.
std::vector<Fate> FateRandom::Rules() {
  const std::string late = "hold=" + std::to_string(1 + Below(8));
  const std::string damage = "corrupt=" + std::to_string(-static_cast<int>(1 + Below(16)));
  std::vector<Fate> fates;

  for (const auto& [kind, permille] : {std::pair("any", 20), {"nak", 160}})
    for (const Qp* to : {&a_end_.qp, &b_end_.qp})
      for (const std::string& action : {std::string("drop"), std::string("dup"), late, damage})
        fates.push_back({.action = action,
                         .kind = kind,
                         .qpn = to->num(),
                         .times = 0,
                         .permille = Below(permille),
                         .seed = static_cast<uint32_t>(random_())});
  return fates;
}

// Two messages of each kind in a row without a new connection between them.
void FateRandom::Run() {
  const Kind kind = kKinds[Below(std::size(kKinds))];
  const Shape shape = {static_cast<int>(1 + Below(60)), 256 << Below(2)};

  SCOPED_TRACE(testing::Message() << ToString(kind) << " of " << shape.packets << " packets of "
                                  << shape.mtu);
  RenewUnmet(shape, kShortTimeout);
  Must(SetFates(Rules()));
  for (int i = 0; i < 2; i++) {
    Prepare(kind);
    PostReceives(kind);
    Post(kind);
    ExpectDone(kind);
    if (HasFailure()) return;
  }
  ExpectHealthy();
}

void FateRandom::Carry(const std::string& recovery) {
  RecordProperty("seed", std::to_string(seed_));
  std::printf("SRN_SEED=%u\n", seed_);
  SCOPED_TRACE(testing::Message() << "SRN_SEED=" << seed_);
  ASSERT_NO_FATAL_FAILURE(SetRecovery(recovery));
  a_before_ = a_counters_.Read();
  b_before_ = b_counters_.Read();
  uint64_t met = 0;

  for (int i = 0; i < Messages() && !HasFailure(); i++) {
    Run();
    for (const FateCount& count : Must(CountFates())) met += count.met;
  }
  // Rules that act on nothing would prove nothing.
  EXPECT_GE(met, static_cast<uint64_t>(Messages() / 4));
  EXPECT_GE(Grown("retransmitted_pkts"), static_cast<uint64_t>(Messages() / 4));
  EXPECT_GE(Grown("sent_trains"), static_cast<uint64_t>(Messages() / 4));
}

// Messages arrive once and whole, however what is lost comes again.
TEST_P(FateRandom, Hold) {
  ASSERT_NO_FATAL_FAILURE(Carry("hold"));
  EXPECT_GE(Grown("rcvd_held"), 1u);
  EXPECT_EQ(Grown("sent_sack"), 0u);
}

TEST_P(FateRandom, Sack) {
  ASSERT_NO_FATAL_FAILURE(Carry("sack"));
  EXPECT_GE(Grown("sent_sack"), static_cast<uint64_t>(Messages() / 4));
  EXPECT_GE(Grown("sack_retrans"), 1u);
}

TEST_P(FateRandom, GoBackN) {
  ASSERT_NO_FATAL_FAILURE(Carry("gbn"));
  EXPECT_GE(Grown("sent_nak"), 1u);
  EXPECT_EQ(Grown("rcvd_held"), 0u);
}

SRN_OVER_BOTH_IP(FateRandom);

}  // namespace
}  // namespace verbs_test
