// SPDX-License-Identifier: GPL-2.0-only
// The checker is checked: the wire in memory carries rounds as they are planned, and then with one
// thing wrong at a time. Each must be reported, and by its name.
#include <algorithm>
#include <cstring>
#include <map>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grh.h"
#include "memory_wire.h"

namespace srnverify {
namespace {

using testing::HasSubstr;

TEST(Checker, FindsNothingWrongWhereNothingIs) {
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    for (bool lossy : {false, true}) {
      const Plan plan = PlanOf(seed, lossy);
      Planner planner(plan, 0);
      for (int i = 0; i < 6; ++i) {
        const Round round = planner.Next();
        Wire wire(plan, round);
        EXPECT_EQ(wire.Fault(), "") << "seed " << seed << " round " << i;
      }
    }
  }
}

TEST(Checker, CountsWhatArrived) {
  const Plan plan = PlanOf(2);
  Planner planner(plan, 0);
  const Round round = planner.Next();
  Wire wire(plan, round);
  wire.Run();
  Tally all;
  for (int side = 0; side < kSides; ++side) all.Add(wire.checker(side).tally());
  uint64_t messages = 0, bytes = 0, planned = 0;
  for (const auto& [name, count] : all.counts) messages += count.messages, bytes += count.bytes;
  for (const Step& step : round.steps) planned += step.size;
  EXPECT_EQ(messages, round.steps.size());
  EXPECT_EQ(bytes, planned);
}

const Wanted kSend = [](const Plan& plan, const Step& s) {
  return IsType(plan, s, IBV_QPT_RC) && IsSend(s.op) && s.size > 2000;
};
const Wanted kImm = [](const Plan&, const Step& s) { return HasImm(s.op); };
const Wanted kUd = [](const Plan& plan, const Step& s) { return IsType(plan, s, IBV_QPT_UD); };
const Wanted kRead = [](const Plan&, const Step& s) { return s.op == Op::kRead && s.size > 500; };
const Wanted kSignaled = [](const Plan&, const Step& s) { return s.signaled; };
const Wanted kImmSignaled = [](const Plan& p, const Step& s) { return kImm(p, s) && s.signaled; };

Wanted IsOp(Op op) {
  return [op](const Plan&, const Step& s) { return s.op == op; };
}

// A wrong byte, wherever it is.

TEST(Checker, ReportsAWrongByteOfAReceivedMessage) {
  ExpectReported(kSend, AtReceiver([](Wire& wire, Event& e) {
                   *wire.InReceive(*e.receive, 1777) ^= std::byte{1};
                   return true;
                 }),
                 "byte 1777 of what was received is 0x");
}

TEST(Checker, ReportsAByteThatIsMissingAtTheEnd) {
  ExpectReported(kSend, AtReceiver([](Wire& wire, Event& e) {
                   *wire.InReceive(*e.receive, wire.round().steps[e.step].size - 1) ^= std::byte{9};
                   return true;
                 }),
                 "(1 bytes from it on are wrong)");
}

TEST(Checker, ReportsAWrongByteOfAWrite) {
  ExpectReported([](const Plan&, const Step& s) { return s.op == Op::kWrite && s.size > 3000; },
                 InMemory([](Wire& w, size_t step) { return w.Remote(step) + 2321; }),
                 "byte 2321 of remote memory of ");
}

TEST(Checker, ReportsWhatIsWrongOfAnAtomicWrite) {
  ExpectReported(IsOp(Op::kAtomicWrite),
                 InMemory([](Wire& w, size_t step) { return w.Remote(step) + 7; }),
                 "byte 7 of remote memory of ");
  ExpectReported([](const Plan&, const Step& s) { return s.op == Op::kAtomicWrite && s.signaled; },
                 SentWith([](ibv_wc& wc) { wc.opcode = IBV_WC_RDMA_WRITE; }),
                 "completion has opcode ");
  // It must be there where the next message of its lane arrives.
  WithRounds([](const Plan& plan, const Round& round) {
    const auto step = FindStep(round, [](const Step& s) { return s.op == Op::kAtomicWrite; });
    if (!step) return false;
    const Step& write = round.steps[*step];
    Wire wire(plan, round);
    bool met = false;
    wire.event = [&](Event& e) {
      const Step& s = round.steps[e.step];
      if (e.step > *step && e.receive && s.lane == write.lane && s.from == write.from && !met) {
        met = true;
        *wire.Remote(*step) ^= std::byte{1};
      }
      return true;
    };
    const std::string fault = wire.Fault();
    if (!met) return false;
    EXPECT_THAT(fault, HasSubstr("byte 0 of what was written is 0x"));
    return true;
  });
}

TEST(Checker, ReportsAWriteThatIsLateBehindTheMessageAfterIt) {
  ExpectReported([](const Plan&, const Step& s) { return s.op == Op::kWriteImm && s.size > 0; },
                 AtReceiver([](Wire& wire, Event& e) {
                   *wire.Remote(e.step) ^= std::byte{1};
                   return true;
                 }),
                 "byte 0 of what was written is 0x");
}

TEST(Checker, ReportsAWrongByteOfARead) {
  ExpectReported([](const Plan& p, const Step& s) { return kRead(p, s) && s.signaled; },
                 AtSender([](Wire& wire, Event& e) {
                   *wire.InLocal(e.step, 400) ^= std::byte{1};
                   return true;
                 }),
                 "byte 400 of what it brought is 0x");
}

TEST(Checker, ReportsAWrongByteOfAReadThatDoesNotComplete) {
  ExpectReported([](const Plan& p, const Step& s) { return kRead(p, s) && !s.signaled; },
                 InMemory([](Wire& w, size_t step) { return w.InLocal(step, 333); }),
                 "byte 333 of local memory of ");
}

TEST(Checker, ReportsASourceThatChanged) {
  ExpectReported(
      [](const Plan& p, const Step& s) { return kSend(p, s) && s.echo < 0 && !s.inlined; },
      InMemory([](Wire& w, size_t step) { return w.InLocal(step, 5); }),
      "byte 5 of local memory of ");
}

TEST(Checker, ReportsAByteBehindAWrite) {
  ExpectReported(IsOp(Op::kWrite), InMemory([](Wire& w, size_t step) {
                   return w.Remote(step) + w.round().steps[step].size;
                 }),
                 "outside, 1 bytes behind the last byte of remote memory of ");
}

TEST(Checker, ReportsAByteBeforeAWrite) {
  ExpectReported(IsOp(Op::kWrite),
                 InMemory([](Wire& w, size_t step) { return w.Remote(step) - 1; }), "outside, ");
}

TEST(Checker, ReportsEveryByteOfTheArena) {
  const Plan plan = PlanOf(4);
  Planner planner(plan, 0);
  const Round round = planner.Next();
  Random random(1);
  for (int i = 0; i < 40; ++i) {
    Wire wire(plan, round);
    const int side = i % 2;
    const size_t at = i < 2   ? 0
                      : i < 4 ? wire.arena(side).size() - 1
                              : random.Below(static_cast<uint32_t>(wire.arena(side).size()));
    wire.memory = [=](Wire& w) { w.arena(side)[at] ^= std::byte{0x80}; };
    EXPECT_THAT(wire.Fault(),
                HasSubstr(fmt::format("memory of {}: byte {:#x} is ", wire.ends().name[side], at)));
  }
}

TEST(Checker, ReportsAPieceThatIsShifted) {
  ExpectReported([](const Plan&, const Step& s) { return s.op == Op::kWrite && s.size > 3000; },
                 [](Wire& wire, size_t step) {
                   wire.memory = [step](Wire& w) {
                     std::memmove(w.Remote(step) + 1024, w.Remote(step) + 1025, 99);
                   };
                 },
                 "of remote memory of ");
}

// Completions.

TEST(Checker, ReportsAWrongLength) {
  ExpectReported(kSend, ReceivedWith([](ibv_wc& wc) { --wc.byte_len; }), "received with byte_len ");
  ExpectReported([](const Plan& p, const Step& s) { return kRead(p, s) && s.signaled; },
                 SentWith([](ibv_wc& wc) { ++wc.byte_len; }), "completion has byte_len ");
}

TEST(Checker, ReportsWrongImmediateData) {
  ExpectReported(kImm, ReceivedWith([](ibv_wc& wc) { wc.imm_data ^= 1; }),
                 "received with imm_data ");
  ExpectReported(kImm, ReceivedWith([](ibv_wc& wc) { wc.wc_flags = 0; }),
                 "received with wc_flags ");
}

TEST(Checker, ReportsWrongFields) {
  ExpectReported(kSend, ReceivedWith([](ibv_wc& wc) { wc.opcode = IBV_WC_RECV_RDMA_WITH_IMM; }),
                 "received with opcode ");
  ExpectReported(kSend, ReceivedWith([](ibv_wc& wc) { wc.wc_flags ^= IBV_WC_WITH_INV; }),
                 "received with wc_flags ");
  // The flag that rxe gives, where nobody said that it is rxe.
  ExpectReported(IsOp(Op::kSendInv), ReceivedWith([](ibv_wc& wc) { wc.wc_flags = kKernelWithInv; }),
                 "received with wc_flags ");
  ExpectReported(kSend, ReceivedWith([](ibv_wc& wc) { wc.qp_num += 1000; }), "completed for QP ");
  ExpectReported(kSignaled, SentWith([](ibv_wc& wc) { ++wc.qp_num; }), "completion has QP ");
  ExpectReported(kSignaled, SentWith([](ibv_wc& wc) { wc.opcode = IBV_WC_LOCAL_INV; }),
                 "completion has opcode ");
  ExpectReported(kSignaled, SentWith([](ibv_wc& wc) { ++wc.wr_id; }), "which nothing has");
  ExpectReported(IsOp(Op::kSendInv), ReceivedWith([](ibv_wc& wc) { ++wc.invalidated_rkey; }),
                 "invalidated rkey ");
}

TEST(Checker, ReportsWhatASuccessHasNot) {
  for (const auto& change : {ReceivedWith, SentWith}) {
    ExpectReported(kImmSignaled, change([](ibv_wc& wc) { wc.vendor_err = 0x51; }),
                   "succeeded with vendor error 0x51");
    ExpectReported(kImmSignaled, change([](ibv_wc& wc) { wc.pkey_index = 1; }),
                   "completed with pkey_index 1");
  }
}

TEST(Checker, LetsTheFlagPassThatADeviceIsKnownFor) {
  WithRounds([](const Plan& plan, const Round& round) {
    const auto step = FindStep(round, [](const Step& s) { return s.op == Op::kSendInv; });
    if (!step) return false;
    const int to = 1 - round.steps[*step].from;
    Ends ends = EndsOf(plan);
    ends.inv_flag[to] = kKernelWithInv;
    EXPECT_EQ(Wire(plan, round, ends).Fault(), "");
    Wire wire(plan, round, ends);
    ReceivedWith([](ibv_wc& wc) { wc.wc_flags = IBV_WC_WITH_INV; })(wire, *step);
    EXPECT_THAT(wire.Fault(), HasSubstr("received with wc_flags "));
    return true;
  });
}

TEST(Checker, ReportsAnError) {
  ExpectReported(kSignaled, SentWith([](ibv_wc& wc) { wc.status = IBV_WC_RETRY_EXC_ERR; }),
                 "transport retry counter exceeded");
  ExpectReported(kSend, ReceivedWith([](ibv_wc& wc) { wc.status = IBV_WC_WR_FLUSH_ERR; }),
                 "Work Request Flushed Error");
}

TEST(Checker, ReportsWrongFieldsOfUd) {
  ExpectReported(kUd, ReceivedWith([](ibv_wc& wc) { ++wc.src_qp; }), "received with src_qp ");
  ExpectReported(kUd, ReceivedWith([](ibv_wc& wc) { wc.slid = 1; }), "received with slid 1");
  ExpectReported(kUd, ReceivedWith([](ibv_wc& wc) { wc.wc_flags &= ~IBV_WC_GRH; }),
                 "received with wc_flags ");
  ExpectReported(kUd, ReceivedWith([](ibv_wc& wc) { wc.sl = 8 | 1; }),
                 "received with sl 9, expected 10");
}

TEST(Checker, LooksForNoIpVersionWhereADeviceTellsNone) {
  WithRounds([](const Plan& plan, const Round& round) {
    const auto step = FindStep(round, [&](const Step& s) { return kUd(plan, s); });
    if (!step) return false;
    Ends ends = EndsOf(plan);
    ends.tells_sl[1 - round.steps[*step].from] = false;
    EXPECT_EQ(Wire(plan, round, ends).Fault(), "");
    return true;
  });
}

TEST(Checker, KnowsTheServiceLevelOfAnAddress) {
  const Ends ends = EndsOf(PlanOf(1));
  EXPECT_EQ(ServiceLevel(ends.gid[0]), 10);
  EXPECT_EQ(ServiceLevel(ibv_gid{.raw = {0xfd, 0x77}}), 9);
}

TEST(Checker, ReportsWrongNetworkHeaders) {
  for (const auto& [at, words] :
       std::vector<std::pair<size_t, std::string>>{{20, "version and length"},
                                                   {23, "total length"},
                                                   {29, "protocol"},
                                                   {35, "source of its IP header"},
                                                   {39, "destination of its IP header"}})
    ExpectReported(kUd, AtReceiver([at = at](Wire& wire, Event& e) {
                     *wire.InReceive(*e.receive, at) ^= std::byte{1};
                     return true;
                   }),
                   words);
}

// The one behind it is taken for it, and is another; where none is behind it, it is outstanding.
TEST(Checker, ReportsAMissingMessage) {
  const Plan plan = PlanOf(1);
  Planner planner(plan, 0);
  const Round round = planner.Next();
  int last = 0, all = 0;
  for (size_t i = 0; i < round.steps.size(); ++i) {
    const Step& step = round.steps[i];
    if (!Consumes(step.op)) continue;
    const auto after = std::find_if(round.steps.begin() + i + 1, round.steps.end(), [&](auto& s) {
      return s.lane == step.lane && s.from == step.from && Consumes(s.op);
    });
    Wire wire(plan, round);
    wire.event = [i](Event& e) { return e.step != i || !e.receive; };
    const std::string fault = wire.Fault();
    EXPECT_NE(fault, "") << wire.checker(0).Describe(i);
    ++all;
    if (after != round.steps.end()) continue;
    ++last;
    EXPECT_THAT(fault, HasSubstr("not received (1): " + wire.checker(0).Describe(i)));
  }
  EXPECT_GT(last, 5);
  EXPECT_GT(all, 2 * last);
}

TEST(Checker, ReportsAMessageThatComesTwice) {
  ExpectReported(kSend, AtReceiver([](Wire& wire, Event& e) {
                   wire.checker(e.side).Completed(e.wc, wire.arena(e.side));
                   return true;
                 }),
                 "completed twice");
  ExpectReported(kSignaled, AtSender([](Wire& wire, Event& e) {
                   wire.checker(e.side).Completed(e.wc, wire.arena(e.side));
                   return true;
                 }),
                 "completed twice");
}

TEST(Checker, ReportsACompletionOfWhatIsNotSignaled) {
  ExpectReported([](const Plan&, const Step& s) { return !s.signaled; },
                 [](Wire& wire, size_t step) {
                   wire.memory = [step](Wire& w) {
                     const Step& s = w.round().steps[step];
                     ibv_wc wc = {};
                     wc.wr_id = s.id;
                     wc.qp_num = w.ends().qpn[s.from][s.lane];
                     w.checker(s.from).Completed(wc, w.arena(s.from));
                   };
                 },
                 "completed though it is not signaled");
}

TEST(Checker, ReportsACompletionThatOvertakes) {
  WithRounds([](const Plan& plan, const Round& round) {
    Wire wire(plan, round);
    std::map<std::pair<int, int>, Event> held;
    wire.event = [&](Event& e) {
      const Step& s = round.steps[e.step];
      if (e.receive) return true;
      return !held.try_emplace({s.lane, s.from}, e).second;
    };
    EXPECT_THAT(wire.Fault(), HasSubstr("completed before an earlier one"));
    return true;
  });
}

TEST(Checker, ReportsAnAtomicThatWasExecutedTwiceOrNot) {
  for (const int64_t change : {1, -1})
    ExpectReported(
        [](const Plan&, const Step& s) { return s.op == Op::kFetchAdd && !s.shared && s.signaled; },
        AtSender([change](Wire& wire, Event& e) {
          wire.AddLocal(e.step, change * static_cast<int64_t>(wire.round().steps[e.step].operand));
          return true;
        }),
        "not executed once, in its turn");
}

TEST(Checker, ReportsASharedAddThatWasExecutedTwice) {
  ExpectReported(
      [](const Plan&, const Step& s) { return s.shared; },
      [](Wire& wire, size_t step) { wire.memory = [step](Wire& w) { w.AddLocal(step, 1000); }; },
      " such adds: ");
}

TEST(Checker, SaysWhatIsOutstanding) {
  const Plan plan = PlanOf(1);
  Planner planner(plan, 0);
  const Round round = planner.Next();
  Wire wire(plan, round);
  const auto last = static_cast<size_t>(round.steps.size() - 1);
  wire.event = [=](Event& e) { return e.step != last; };
  EXPECT_THAT(wire.Fault(), HasSubstr(wire.checker(0).Describe(last)));
}

}  // namespace
}  // namespace srnverify
