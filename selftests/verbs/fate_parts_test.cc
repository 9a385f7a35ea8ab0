// SPDX-License-Identifier: GPL-2.0-only
// RC between peers that answer each part of a READ that is asked for again ("recovery" sack): what
// is lost of an answer comes again and nothing else does, the first time and the second, and nobody
// waits for the local ACK timeout, which is seconds here.
#include <set>

#include "fate_channel.h"

namespace verbs_test {
namespace {

constexpr uint8_t kSeconds = 20;  // 4.3 s
constexpr Shape kLong{48, 1024};

class FateParts : public FateChannel {
 protected:
  void SetUp() override {
    FateChannel::SetUp();
    SetRecovery("sack");
  }
  // A READ, or atomics, that many of whose answers are lost, once or twice.
  void Run(Kind kind, const std::set<int>& once, const std::set<int>& twice = {});
};

void FateParts::Run(Kind kind, const std::set<int>& once, const std::set<int>& twice) {
  SCOPED_TRACE(testing::Message() << ToString(kind) << ", from " << *once.begin() << " on "
                                  << once.size() << ", twice " << twice.size());
  ASSERT_NO_FATAL_FAILURE(Renew(kLong, kSeconds));
  Prepare(kind);
  std::vector<Fate> fates;
  for (int position : once) {
    fates.push_back(ResponseAt(position, "drop"));
    fates.back().times = 1 + twice.contains(position);
  }
  Must(SetFates(fates));
  const HwCounts before = a_counters_.Read();
  Post(kind);
  ExpectDone(kind);
  const HwCounts now = a_counters_.Read();
  const auto grown = [&](const char* name) { return now.Sum({name}) - before.Sum({name}); };
  EXPECT_EQ(grown("local_ack_timeout_err"), 0u);
  // How often is not counted: a host that is slow probes, too. NothingElseComesAgain looks at that.
  EXPECT_GE(grown("retransmitted_pkts"), 1u);
  for (size_t i = 0; i < once.size(); i++)
    EXPECT_EQ(Must(CountFates())[i].met, fates[i].times) << "rule " << i;
  ExpectHealthy();
}

TEST_P(FateParts, OneAtEachPosition) {
  for (int position = 0; position < kLong.packets && !HasFailure(); position++)
    Run(Kind::kRead, {position});
}

TEST_P(FateParts, OneAtEachPositionTwice) {
  for (int position = 0; position < kLong.packets && !HasFailure(); position++)
    Run(Kind::kRead, {position}, {position});
}

TEST_P(FateParts, ManyGaps) {
  for (int step : {2, 3, 7}) {
    std::set<int> lost;
    for (int i = 0; i < kLong.packets; i += step) lost.insert(i);
    Run(Kind::kRead, lost);
    Run(Kind::kRead, lost, {0, 6 * step});
    Run(Kind::kRead, lost, lost);
  }
}

// Each is done once, whatever becomes of its answer.
TEST_P(FateParts, Atomics) {
  for (int position = 0; position < kLong.packets && !HasFailure(); position += 5) {
    Run(Kind::kFetchAdd, {position});
    Run(Kind::kFetchAdd, {position, position + 2}, {position});
  }
}

// Of what is lost in one long answer no more comes again than that: as many packets as without
// loss, and those. Who is slow would take for lost what is on its way, and ask for it; not here,
// where nothing is lost again by time: srn_score has that.
TEST_P(FateParts, NothingElseComesAgain) {
  const std::set<int> lost = {1, 5, 6, 9};
  // Two that are next to each other are one request.
  constexpr uint64_t kRequests = 3;
  // What is answered at once: of more, the rest waits for room in the queues below, longer than
  // what was asked for again is waited for.
  constexpr Shape kShort{12, 1024};

  ASSERT_NO_FATAL_FAILURE(RenewFar(kShort, kSeconds));
  Prepare(Kind::kRead);
  std::vector<Fate> fates;
  for (int position : lost) fates.push_back(ResponseAt(position, "drop"));
  fates.push_back(
      {.action = "drop", .kind = "response", .qpn = a_end_.qp.num(), .times = 0, .permille = 0});
  Must(SetFates(fates));
  const uint64_t before = a_counters_["retransmitted_pkts"];
  Post(Kind::kRead);
  ExpectDone(Kind::kRead);
  ExpectHealthy();
  EXPECT_EQ(a_counters_["retransmitted_pkts"] - before, kRequests);
  EXPECT_EQ(Must(CountFates()).back().seen, kShort.packets + lost.size());
}

SRN_OVER_BOTH_IP(FateParts);

}  // namespace
}  // namespace verbs_test
