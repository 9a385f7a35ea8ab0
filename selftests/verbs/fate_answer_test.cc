// SPDX-License-Identifier: GPL-2.0-only
// RC: what carries no data is lost, doubled, late or damaged: READ requests, ACKs, NAKs of each
// class, the first of them and the one that follows when it did not come. And no byte of any packet
// may change unseen.
#include <array>
#include <chrono>
#include <functional>

#include "fate_channel.h"

namespace verbs_test {
namespace {

using Clock = std::chrono::steady_clock;

const std::array<std::string, 6> kActions = {"drop",   "dup",       "hold=1",
                                             "hold=3", "corrupt=0", "corrupt=-2"};

const std::vector<Kind> kAcked = {Kind::kSend, Kind::kSendInv, Kind::kShortSends, Kind::kWriteImm};
const std::vector<Kind> kRefused = {Kind::kSend, Kind::kWrite, Kind::kShortSends, Kind::kFetchAdd};

class FateAnswer : public FateChannel {
 protected:
  Fate AnswerOf(const std::string& kind, const std::string& action, bool again) const {
    return {.action = action, .kind = kind, .qpn = a_end_.qp.num(), .skip = again};
  }
  // Runs `test` for each action, for the first and for the second of the packets that are meant.
  void ForEach(const std::function<void(const std::string& action, bool again)>& test);
  // These rules, of which the last must have acted once when the messages are done.
  void ExpectDoneUnder(Kind kind, const std::vector<Fate>& fates);
  void EveryAck(const std::vector<Kind>& kinds = kAcked);
  void EveryNak(const std::vector<Kind>& kinds = kRefused);
  void EverySack();
  void MeetUnder(const Fate& fate);
  bool Acted() const { return Must(CountFates()).back().met == 1; }
};

void FateAnswer::ForEach(const std::function<void(const std::string& action, bool again)>& test) {
  for (const std::string& action : kActions)
    for (const bool again : {false, true}) {
      SCOPED_TRACE(action + (again ? ", the second" : ", the first"));
      test(action, again);
      if (HasFailure()) return;
    }
}

void FateAnswer::ExpectDoneUnder(Kind kind, const std::vector<Fate>& fates) {
  Must(SetFates(fates));
  const auto start = Clock::now();
  Post(kind);
  ExpectDone(kind);
  // A few timeouts of 8.4 ms, and of four times that; the rest is for a slow machine.
  EXPECT_LT(Clock::now() - start, Patience(2000));
  EXPECT_TRUE(Acted());
  ExpectHealthy();
}

void FateAnswer::EveryAck(const std::vector<Kind>& kinds) {
  for (const Kind kind : kinds)
    ForEach([&](const std::string& action, bool again) {
      SCOPED_TRACE(ToString(kind));
      Renew({}, kShortTimeout);
      // The first packet of a connection asks for an ACK, too.
      Prepare(Kind::kWriteImm);
      PostReceives(Kind::kWriteImm);
      Post(Kind::kWriteImm);
      ExpectDone(Kind::kWriteImm);
      Prepare(kind);
      PostReceives(kind);
      std::vector<Fate> fates;
      if (again) fates.push_back(AnswerOf("ack", "drop", false));
      fates.push_back(AnswerOf("ack", action, again));
      const uint64_t before = a_counters_["retransmitted_pkts"];
      ExpectDoneUnder(kind, fates);
      EXPECT_GE(a_counters_["retransmitted_pkts"] - before, again || action != "dup" ? 1u : 0u);
    });
}

TEST_P(FateAnswer, Ack) {
  SetRecovery("hold");
  EveryAck();
}

TEST_P(FateAnswer, AckBetweenPeersThatSack) {
  SetRecovery("sack");
  EveryAck({Kind::kSend, Kind::kShortSends});
}

TEST_P(FateAnswer, AckOfOneThatGoesBack) {
  SetRecovery("gbn");
  EveryAck({Kind::kSend, Kind::kShortSends});
}

// A packet is lost, and the NAK that tells of it meets its fate. The second NAK is that for the
// packet when it is lost once more; or, since a receiver that holds what follows it names no packet
// twice, that for the next one but one.
void FateAnswer::EveryNak(const std::vector<Kind>& kinds) {
  for (const Kind kind : kinds)
    for (int position = 0; position < Shape().packets - 1; position++)
      ForEach([&](const std::string& action, bool again) {
        SCOPED_TRACE(testing::Message() << ToString(kind) << ", packet " << position);
        Renew({}, kShortTimeout);
        Prepare(kind);
        PostReceives(kind);
        std::vector<Fate> fates = {RequestAt(position, "drop")};
        if (again && !Holds()) fates[0].times = 2;
        if (again && Holds()) {
          if (position + 2 >= Shape().packets - 1) return;
          fates.push_back(RequestAt(position + 2, "drop"));
        }
        fates.push_back(AnswerOf("nak", action, again));
        const uint64_t before = b_counters_["sent_nak"];
        ExpectDoneUnder(kind, fates);
        EXPECT_GE(b_counters_["sent_nak"] - before, 1u + again);
      });
}

TEST_P(FateAnswer, NakOfALostPacket) {
  SetRecovery("hold");
  EveryNak();
}

TEST_P(FateAnswer, NakOfOneThatGoesBack) {
  SetRecovery("gbn");
  EveryNak({Kind::kSend});
}

// As the NAK, but for the second one: the first is lost, and whoever heard nothing asks; of an
// atomic for what is missing, and draws none. Nobody waits for the local ACK timeout.
void FateAnswer::EverySack() {
  for (const Kind kind : {Kind::kWrite, Kind::kShortSends, Kind::kFetchAdd})
    for (int position = 0; position < Shape().packets - 1; position++)
      ForEach([&](const std::string& action, bool again) {
        SCOPED_TRACE(testing::Message() << ToString(kind) << ", packet " << position);
        if (again && IsAtomic(kind)) return;
        Renew({}, kLongTimeout);
        Prepare(kind);
        PostReceives(kind);
        std::vector<Fate> fates = {RequestAt(position, "drop")};
        if (again) fates.push_back(AnswerOf("nak", "drop", false));
        fates.push_back(AnswerOf("nak", action, again));
        const HwCounts a = a_counters_.Read(), b = b_counters_.Read();
        ExpectDoneUnder(kind, fates);
        EXPECT_GE(b_counters_["sent_sack"] - b.Sum({"sent_sack"}), 1u + again);
        EXPECT_EQ(b_counters_["sent_nak"], b.Sum({"sent_nak"}));
        EXPECT_EQ(a_counters_["local_ack_timeout_err"], a.Sum({"local_ack_timeout_err"}));
      });
}

TEST_P(FateAnswer, Sack) {
  SetRecovery("sack");
  const uint64_t before = a_counters_["sack_retrans"];
  EverySack();
  // Half of the first ones arrive.
  EXPECT_GE(a_counters_["sack_retrans"] - before, 3u * 4);
}

// Behind the first message comes the question, with the next, and where it was lost once more when
// a packet was timed: one in 32 is. Then what is lost draws a SACK.
void FateAnswer::MeetUnder(const Fate& fate) {
  constexpr int kLater = 40;

  RenewUnmet({}, kShortTimeout);
  for (int i = 0; i <= kLater; i++) {
    Must(a_end_.qp.Post(SendWr::Write(i, a_.mr.Slice(0, 8), b_.mr.At(0))));
    EXPECT_EQ(Await(a_end_.send_cq).status, IBV_WC_SUCCESS);
    if (i == 0) Must(SetFates({fate}));
  }
  EXPECT_EQ(Must(CountFates())[0].met, 1u);
  Prepare(Kind::kWrite);
  const uint64_t sacks = b_counters_["sent_sack"];
  Must(SetFates(
      {{.action = "drop", .kind = "request", .qpn = b_end_.qp.num(), .skip = 1, .times = 2}}));
  Post(Kind::kWrite);
  ExpectDone(Kind::kWrite);
  EXPECT_GE(b_counters_["sent_sack"] - sacks, 1u);
  ExpectHealthy();
}

// To B the question comes first, and then what it stands in front of; to A the ACK of that and the
// answer, whichever is first.
TEST_P(FateAnswer, WhatPeersMeetBy) {
  SetRecovery("sack");
  for (const auto& [to, packets] : {std::pair(&b_end_, 2u), {&a_end_, 2u}})
    for (unsigned position = 0; position < packets; position++)
      for (const std::string& action : kActions) {
        SCOPED_TRACE(testing::Message()
                     << action << ", packet " << position << " to " << (to == &b_end_ ? "B" : "A"));
        MeetUnder({.action = action, .qpn = to->qp.num(), .skip = position});
        if (HasFailure()) return;
      }
}

// The receive request comes after one RNR NAK, or two.
TEST_P(FateAnswer, RnrNak) {
  for (const Kind kind : {Kind::kSend, Kind::kSendImm, Kind::kWriteImm, Kind::kShortSends})
    ForEach([&](const std::string& action, bool again) {
      SCOPED_TRACE(ToString(kind));
      Renew({}, kShortTimeout, {.min_rnr_timer = 1});
      Prepare(kind);
      Must(SetFates({AnswerOf("rnr", action, again)}));
      Post(kind);
      const auto deadline = Clock::now() + Patience();
      while (!Acted() && Clock::now() < deadline) continue;
      EXPECT_TRUE(Acted());
      PostReceives(kind);
      const auto start = Clock::now();
      ExpectDone(kind);
      EXPECT_LT(Clock::now() - start, Patience(2000));
      ExpectHealthy();
    });
}

// As long as any NAK comes, the error is what it says. If none does, it is that nobody answers; it
// never is success, and nothing is written.
TEST_P(FateAnswer, NakOfARemoteError) {
  constexpr uint8_t kUntouched = 0x77;
  for (const std::string& action : kActions) {
    SCOPED_TRACE(action);
    Renew({}, kShortTimeout, {.retry_cnt = 1});
    Fill(b_.bytes(0, 8192), kUntouched);
    Must(SetFates({AnswerOf("nak", action, false)}));
    const Remote forbidden = {b_.mr.At(0).addr, b_.mr->rkey ^ 0x5500};
    Must(a_end_.qp.Post(SendWr::Write(1, a_.mr.Slice(0, 5000), forbidden)));
    ExpectFailed(Await(a_end_.send_cq), 1,
                 action == "dup" ? IBV_WC_REM_ACCESS_ERR : IBV_WC_RETRY_EXC_ERR, a_end_.qp.num());
    EXPECT_TRUE(Acted());
    ExpectReaches(a_end_.qp, IBV_QPS_ERR);
    ExpectReaches(b_end_.qp, IBV_QPS_ERR);
    ExpectAll(b_.bytes(0, 8192), kUntouched);
  }
}

// A READ of 64 packets takes several requests.
TEST_P(FateAnswer, ReadRequest) {
  for (const Shape& shape : {Shape{5, 1024}, Shape{64, 256}}) {
    Renew(shape, kLongTimeout);
    Prepare(Kind::kRead);
    Must(SetFates({{.action = "drop",
                    .kind = "request",
                    .qpn = b_end_.qp.num(),
                    .times = 0,
                    .permille = 0}}));
    Post(Kind::kRead);
    ExpectDone(Kind::kRead);
    const unsigned requests = Must(CountFates()).back().seen;
    ASSERT_GE(requests, 1u);
    for (unsigned position = 0; position < requests; position++)
      ForEach([&](const std::string& action, bool again) {
        SCOPED_TRACE(testing::Message() << "request " << position << " of " << requests);
        Renew(shape, kShortTimeout);
        Prepare(Kind::kRead);
        Fate fate = {.action = action, .kind = "request", .qpn = b_end_.qp.num(), .skip = position};
        Fate lost = fate;
        lost.action = "drop";
        std::vector<Fate> fates;
        if (again) fates.push_back(lost);
        fate.skip += again;
        fates.push_back(fate);
        ExpectDoneUnder(Kind::kRead, fates);
      });
  }
}

// Of a packet of each kind: its headers, the first bytes behind them, and the last ones.
struct Packet {
  Kind kind;
  const char* what;
  int headers;  // bytes
};

constexpr int kBth = 12;
constexpr int kSome = 12;
constexpr std::array kPackets = {
    Packet{Kind::kWriteImm, "request", kBth + 16 + 4},
    Packet{Kind::kSendInv, "request", kBth + 4},
    Packet{Kind::kRead, "request", kBth + 16},
    Packet{Kind::kRead, "response", kBth + 4},
    Packet{Kind::kFetchAdd, "request", kBth + 28},
    Packet{Kind::kFetchAdd, "response", kBth + 4},
    Packet{Kind::kSend, "ack", kBth + 4},
};

// The fifth byte of the BTH is for the network (FECN, BECN): it changes without harm.
TEST_P(FateAnswer, NoByteChangesUnseen) {
  constexpr int kFree = 4;
  for (const Packet& packet : kPackets)
    for (int byte = -kSome; byte < packet.headers + 4; byte++) {
      SCOPED_TRACE(testing::Message()
                   << packet.what << " of " << ToString(packet.kind) << ", byte " << byte);
      Renew({1, 256}, kShortTimeout);
      Prepare(packet.kind);
      PostReceives(packet.kind);
      const bool to_b = packet.what == std::string("request");
      const HwCounters& there = to_b ? b_counters_ : a_counters_;
      const uint64_t refused = Refused(there.Read()), again = a_counters_["retransmitted_pkts"];
      ExpectDoneUnder(packet.kind, {{.action = "corrupt=" + std::to_string(byte),
                                     .kind = packet.what,
                                     .qpn = (to_b ? b_end_ : a_end_).qp.num()}});
      EXPECT_EQ(Refused(there.Read()) - refused, byte == kFree ? 0u : 1u);
      EXPECT_GE(a_counters_["retransmitted_pkts"] - again, byte == kFree ? 0u : 1u);
      if (HasFailure()) return;
    }
}

INSTANTIATE_TEST_SUITE_P(Ip, FateAnswer, testing::Values(Ip::kV4), IpName);

}  // namespace
}  // namespace verbs_test
