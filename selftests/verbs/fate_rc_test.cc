// SPDX-License-Identifier: GPL-2.0-only
// RC: a packet at each position of each kind of message is lost, doubled, late or damaged, when it
// is sent first and when it is sent again. The message arrives once and whole, no QP fails, and
// nobody waits for a timer where a later packet tells of the loss. What marks draw is lost or
// doubled, too.
#include <algorithm>
#include <array>
#include <chrono>

#include "fate_channel.h"

namespace verbs_test {
namespace {

using Clock = std::chrono::steady_clock;

enum class What { kDrop, kDup, kHold1, kHold3, kCorrupt };
enum class Way { kRequest, kResponse };

const std::vector<What> kWhats = {What::kDrop, What::kDup, What::kHold1, What::kHold3,
                                  What::kCorrupt};

struct Case {
  Kind kind;
  Way way;
  Shape shape;
  int position;
  What what;
  bool again;  // the second time that it is sent

  bool is_last() const { return position == shape.packets - 1; }
  bool loses() const { return what == What::kDrop || what == What::kCorrupt; }
};

// A byte that the ICRC covers: of the BTH (but its fifth, which may change on the way), of what
// follows, of the ICRC itself; another one at each position.
std::string Damage(int position) {
  static constexpr std::array bytes = {-1, 0, 7,  12, 1,  -4, 2,  11, 3,
                                       13, 5, -2, 8,  10, 6,  15, 9,  -3};
  return "corrupt=" + std::to_string(bytes[position % bytes.size()]);
}

std::string ActionOf(What what, int position) {
  switch (what) {
    case What::kDrop:
      return "drop";
    case What::kDup:
      return "dup";
    case What::kHold1:
      return "hold=1";
    case What::kHold3:
      return "hold=3";
    default:
      return Damage(position);
  }
}

std::ostream& operator<<(std::ostream& os, const Case& c) {
  return os << ToString(c.kind) << " of " << c.shape.packets << " packets, "
            << (c.way == Way::kRequest ? "request " : "response ") << c.position << ", "
            << ActionOf(c.what, c.position) << (c.again ? ", the second time" : "");
}

class FateRc : public FateChannel {
 protected:
  // Of both ends, before a case or since then.
  struct Told {
    uint64_t refused, again, timeouts, trains;
    uint64_t probes;  // some of what was sent again
    // What the side that misses a packet tells of that; requests that came twice.
    uint64_t missing, duplicate;
    uint64_t bad;   // answers that no request asked for
    uint64_t held;  // requests that came early and were kept
    uint64_t sacks;
  };

  Told Look(Way way) const;
  std::vector<Fate> FatesOf(const Case& c) const;
  void Run(const Case& c);
  // But for probes, of which a host that is slow sends some for nothing.
  static void ExpectNothingAgain(const Told& before, const Told& now) {
    EXPECT_EQ(now.again - before.again, now.probes - before.probes);
  }
  void ExpectTold(const Case& c, const Told& before) const;
  void ExpectToldByRecovery(const Case& c, const Told& before, const Told& now) const;
  void EveryPosition(Kind kind, Way way, const std::vector<Shape>& shapes,
                     const std::vector<What>& whats = kWhats);
  void Notify(const std::string& action, int lost);
};

FateRc::Told FateRc::Look(Way way) const {
  const bool request = way == Way::kRequest;
  const HwCounts a = a_counters_.Read(), b = b_counters_.Read();
  return {.refused = Refused(request ? b : a),
          .again = a.Sum({"retransmitted_pkts"}),
          .timeouts = a.Sum({"local_ack_timeout_err"}),
          .trains = (request ? a : b).Sum({"sent_trains"}),
          .probes = a.Sum({"sent_probes"}),
          .missing = request ? b.Sum({"out_of_sequence"}) : a.Sum({"implied_nak_seq_err"}),
          .duplicate = b.Sum({"duplicate_request"}),
          .bad = a.Sum({"rcvd_bad_response"}),
          .held = b.Sum({"rcvd_held"}),
          .sacks = b.Sum({"sent_sack"})};
}

std::vector<Fate> FateRc::FatesOf(const Case& c) const {
  const auto at = [&](const std::string& action) {
    return c.way == Way::kRequest ? RequestAt(c.position, action) : ResponseAt(c.position, action);
  };
  Fate fate = at(ActionOf(c.what, c.position));
  if (!c.again) return {fate};
  fate.skip = 1;
  return {at("drop"), fate};
}

// Whether it may take the timer to find out what is missing: no later packet tells of a tail, nor
// surely of a response that is missing a second time. Whoever asks sooner (a probe) is welcome to.
bool MayTakeTheTimer(const Case& c) {
  const bool missing = c.again || c.what != What::kDup;
  if (c.is_last()) return missing;
  return c.way == Way::kResponse && c.again && c.what != What::kDup;
}

// Who goes back keeps nothing, and sends all from the gap on; who tells of gaps does it by SACKs.
void FateRc::ExpectToldByRecovery(const Case& c, const Told& before, const Told& now) const {
  const bool gap = c.way == Way::kRequest && c.loses() && !c.is_last();

  if (gap) {
    EXPECT_EQ(now.held > before.held, Holds());
    EXPECT_EQ(now.sacks > before.sacks, Sacks());
  }
  // A connection begins with that many in flight.
  if (gap && !Holds() && c.shape.packets <= 16) {
    EXPECT_GE(now.again - before.again, static_cast<uint64_t>(c.shape.packets - c.position));
  }
}

void FateRc::ExpectTold(const Case& c, const Told& before) const {
  const Told now = Look(c.way);
  const uint64_t again = now.again - before.again;
  const uint64_t timeouts = now.timeouts - before.timeouts;

  EXPECT_EQ(now.refused - before.refused, c.what == What::kCorrupt ? 1 : 0);
  EXPECT_LE(timeouts, MayTakeTheTimer(c) ? 4u : 0u);
  if (c.again || c.loses()) {
    EXPECT_GE(again, 1u);
  } else if (c.what == What::kDup) {
    ExpectNothingAgain(before, now);
  }
  if (!c.is_last() && (c.again || c.what != What::kDup)) {
    EXPECT_GE(now.missing - before.missing, 1u);
  }
  if (c.what == What::kDup && c.way == Way::kRequest) {
    EXPECT_GE(now.duplicate - before.duplicate, 1u);
  }
  EXPECT_EQ(now.bad, before.bad);
  ExpectToldByRecovery(c, before, now);
}

void FateRc::Run(const Case& c) {
  SCOPED_TRACE(testing::Message() << c);
  Renew(c.shape, MayTakeTheTimer(c) ? kShortTimeout : kLongTimeout);
  Prepare(c.kind);
  PostReceives(c.kind);
  Must(SetFates(FatesOf(c)));
  const Told before = Look(c.way);

  const auto start = Clock::now();
  Post(c.kind);
  ExpectDone(c.kind);
  // Timeouts are counted. This is for whoever waits for something else.
  EXPECT_LT(Clock::now() - start, Patience(2000));
  for (const FateCount& count : Must(CountFates())) EXPECT_EQ(count.met, 1u);
  ExpectTold(c, before);
  ExpectHealthy();
}

// What is sent again goes a way of its own at each position of a short message; of a long one some
// are enough.
bool MetAgain(const Shape& shape, int position) {
  return shape.packets < 10 || position % 9 == 0 || position >= shape.packets - 2;
}

void FateRc::EveryPosition(Kind kind, Way way, const std::vector<Shape>& shapes,
                           const std::vector<What>& whats) {
  const uint64_t trains = Look(way).trains;
  uint64_t messages = 0;

  for (const Shape& shape : shapes) {
    // What becomes of a packet does not depend on its IP header; that it can, one shape shows.
    if (GetParam() == Ip::kV6 && shape.packets > 5) continue;
    for (int position = 0; position < shape.packets; position++)
      for (const What what : whats)
        for (const bool again : {false, true}) {
          if (again && !MetAgain(shape, position)) continue;
          Run({kind, way, shape, position, what, again});
          if (HasFailure()) return;
          messages++;
        }
  }
  if (IsAtomic(kind)) return;
  // Each message was a train: what was lost, was lost inside of one.
  EXPECT_GE(Look(way).trains - trains, messages);
}

const std::vector<Shape> kShortOnes = {{5, 1024}, {9, 256}};
const std::vector<Shape> kAll = {{5, 1024}, {9, 256}, {64, 256}};

TEST_P(FateRc, Send) { EveryPosition(Kind::kSend, Way::kRequest, kAll); }

TEST_P(FateRc, SendWithImmediate) { EveryPosition(Kind::kSendImm, Way::kRequest, kShortOnes); }

TEST_P(FateRc, SendWithInvalidate) { EveryPosition(Kind::kSendInv, Way::kRequest, kShortOnes); }

TEST_P(FateRc, MessagesOfOnePacketInATrain) {
  EveryPosition(Kind::kShortSends, Way::kRequest, kAll);
}

TEST_P(FateRc, Write) { EveryPosition(Kind::kWrite, Way::kRequest, kAll); }

TEST_P(FateRc, WriteThatIsHeld) {
  SetRecovery("hold");
  EveryPosition(Kind::kWrite, Way::kRequest, {{5, 1024}});
  EveryPosition(Kind::kWrite, Way::kRequest, {{9, 256}, {64, 256}}, {What::kDrop});
}

TEST_P(FateRc, WriteThatGoesBack) {
  SetRecovery("gbn");
  EveryPosition(Kind::kWrite, Way::kRequest, kShortOnes, {What::kDrop, What::kHold1});
}

TEST_P(FateRc, WriteWithImmediate) { EveryPosition(Kind::kWriteImm, Way::kRequest, kShortOnes); }

TEST_P(FateRc, ReadResponse) { EveryPosition(Kind::kRead, Way::kResponse, kAll); }

TEST_P(FateRc, ReadResponseThatIsHeld) {
  SetRecovery("hold");
  EveryPosition(Kind::kRead, Way::kResponse, kShortOnes);
}

TEST_P(FateRc, ReadResponseThatGoesBack) {
  SetRecovery("gbn");
  EveryPosition(Kind::kRead, Way::kResponse, kShortOnes, {What::kDrop, What::kHold1});
}

TEST_P(FateRc, FetchAddRequest) { EveryPosition(Kind::kFetchAdd, Way::kRequest, kShortOnes); }

TEST_P(FateRc, FetchAddResponse) { EveryPosition(Kind::kFetchAdd, Way::kResponse, kShortOnes); }

TEST_P(FateRc, CompareSwapRequest) { EveryPosition(Kind::kCompareSwap, Way::kRequest, kShortOnes); }

TEST_P(FateRc, CompareSwapResponse) {
  EveryPosition(Kind::kCompareSwap, Way::kResponse, kShortOnes);
}

TEST_P(FateRc, AtomicWriteRequest) {
  EveryPosition(Kind::kAtomicWrite, Way::kRequest, {{5, 1024}});
}

TEST_P(FateRc, AtomicWriteResponse) {
  EveryPosition(Kind::kAtomicWrite, Way::kResponse, {{5, 1024}});
}

// Who sent marked data is told; nothing is sent again or refused for it.
TEST_P(FateRc, MarksOfCongestionAreToldAndNoMore) {
  for (const Kind kind : {Kind::kSend, Kind::kWriteImm, Kind::kRead, Kind::kFetchAdd}) {
    SCOPED_TRACE(ToString(kind));
    Renew({64, 256}, kLongTimeout);
    Prepare(kind);
    PostReceives(kind);
    const Told before = Look(Way::kRequest);
    const auto told = [this] { return a_counters_["np_cnp_sent"] + b_counters_["np_cnp_sent"]; };
    const uint64_t told_before = told();
    Must(SetFates({{.action = "mark", .times = 0}}));
    Post(kind);
    ExpectDone(kind);
    const FateCount count = Must(CountFates())[0];
    EXPECT_GE(count.met, kind == Kind::kRead ? 2u : 64u);
    const Told now = Look(Way::kRequest);
    // Two notifications in a row slow it down: see Notify().
    const bool may_ask = kind == Kind::kSend || kind == Kind::kWriteImm;
    EXPECT_LE(now.again - before.again, now.probes - before.probes + may_ask);
    EXPECT_EQ(now.refused, before.refused);
    EXPECT_EQ(told() > told_before, kind != Kind::kFetchAdd) << "atomics bring no data";
    ExpectHealthy();
  }
}

// One of the notifications that marked data draw meets its fate: as many as arrive are heeded, and
// nothing is sent again for one that did not, or came twice.
void FateRc::Notify(const std::string& action, int lost) {
  SCOPED_TRACE(action);
  Renew({64, 256}, kLongTimeout);
  Prepare(Kind::kWrite);
  const Told before = Look(Way::kResponse);
  const uint64_t sent = b_counters_["np_cnp_sent"], heeded = a_counters_["rp_cnp_handled"];
  Must(SetFates({{.action = "mark", .kind = "request", .qpn = b_end_.qp.num(), .times = 0},
                 {.action = action, .kind = "cnp", .qpn = a_end_.qp.num()}}));
  Post(Kind::kWrite);
  ExpectDone(Kind::kWrite);
  EXPECT_EQ(Must(CountFates())[1].met, 1u);
  const uint64_t cnps = b_counters_["np_cnp_sent"] - sent;
  EXPECT_GE(cnps, 1u);
  EXPECT_EQ(a_counters_["rp_cnp_handled"] - heeded, cnps - lost);
  const Told now = Look(Way::kResponse);
  // What left just before the first one, with others to follow, did not ask; slowed down, they
  // wait, and the last that left goes twice, to ask.
  EXPECT_LE(now.again - before.again, now.probes - before.probes + 1);
  EXPECT_EQ(now.refused - before.refused, action.starts_with("corrupt") ? 1u : 0u);
  ExpectHealthy();
}

TEST_P(FateRc, CongestionNotifications) {
  Notify("drop", 1);
  Notify("dup", -1);
  Notify("corrupt=0", 1);
  Notify("corrupt=-2", 1);
}

SRN_OVER_BOTH_IP(FateRc);

}  // namespace
}  // namespace verbs_test
