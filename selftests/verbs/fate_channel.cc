// SPDX-License-Identifier: GPL-2.0-only
#include "fate_channel.h"

#include <chrono>
#include <cstring>
#include <thread>

#include <share/parameter.h>

namespace verbs_test {
namespace {

constexpr uint8_t kUntouched = 0xa5;
constexpr uint32_t kPsnMask = 0xffffff;
constexpr uint32_t kImm = 0xfa7e0000;
constexpr size_t kShort = 61;  // a message of kShortSends
// Odd, so that nothing is aligned by accident; and what must not change around it.
constexpr size_t kSource = 65;
constexpr size_t kTarget = 131;
constexpr size_t kGuard = 64;
// Atomics: the word, and the results from kSource - 1 on; of writes the words, and what is written.
constexpr size_t kWord = 128;
constexpr uint64_t kStart = 0x0123456789abcdef;

uint64_t& Word(const Host& host, size_t offset) {
  return *reinterpret_cast<uint64_t*>(host.buffer.data() + offset);
}

// WRITEs, of one packet each, by which two that understand SACKs have met.
constexpr int kGreetings = 2;
constexpr std::chrono::milliseconds kFar(100);

bool HasResult(Kind kind) { return kind == Kind::kFetchAdd || kind == Kind::kCompareSwap; }

bool IsReceived(Kind kind) {
  return kind != Kind::kWrite && kind != Kind::kRead && !IsAtomic(kind);
}

ibv_wc_opcode CompletionOf(Kind kind) {
  switch (kind) {
    case Kind::kWrite:
    case Kind::kWriteImm:
      return IBV_WC_RDMA_WRITE;
    case Kind::kRead:
      return IBV_WC_RDMA_READ;
    case Kind::kFetchAdd:
      return IBV_WC_FETCH_ADD;
    case Kind::kCompareSwap:
      return IBV_WC_COMP_SWAP;
    case Kind::kAtomicWrite:
      return IBV_WC_ATOMIC_WRITE;
    default:
      return IBV_WC_SEND;
  }
}

}  // namespace

const char* ToString(Kind kind) {
  static const char* const names[] = {"SEND",
                                      "SEND with immediate",
                                      "SEND with invalidate",
                                      "SENDs",
                                      "WRITE",
                                      "WRITE with immediate",
                                      "READ",
                                      "FETCH_ADD",
                                      "COMPARE_SWAP",
                                      "ATOMIC_WRITE"};
  return names[static_cast<int>(kind)];
}

bool IsAtomic(Kind kind) { return HasResult(kind) || kind == Kind::kAtomicWrite; }

uint64_t Refused(const HwCounts& counts) {
  return counts.Sum({"rx_icrc_encapsulated", "rcvd_too_short", "rcvd_bad_length",
                     "rcvd_bad_version", "rcvd_bad_opcode", "rcvd_bad_pad", "rcvd_no_qp",
                     "rcvd_bad_pkey", "rcvd_bad_qp_state"});
}

void FateChannel::SetRecovery(const std::string& how) {
  if (recovery_.empty()) recovery_ = share::Parameter("recovery");
  ASSERT_TRUE(share::SetParameter("recovery", how));
}

bool FateChannel::Holds() {
  const std::string mode = share::Parameter("recovery");
  return !mode.empty() && mode != "gbn";
}

bool FateChannel::Sacks() { return share::Parameter("recovery") == "sack"; }

void FateChannel::SetUp() {
  WireTest::SetUp();
  a_end_ = End::Create(a_, {.max_inline = 8});
  b_end_ = End::Create(b_);
  a_counters_ = Must(HwCounters::Open(a_.ctx));
  b_counters_ = Must(HwCounters::Open(b_.ctx));
}

void FateChannel::TearDown() {
  // First, since it is the module's: what comes behind would find it.
  if (!recovery_.empty()) EXPECT_TRUE(share::SetParameter("recovery", recovery_));
  Must(SetFates({}));
}

void FateChannel::RenewUnmet(const Shape& shape, uint8_t timeout, const WireOptions& wire) {
  WireOptions options = wire;
  options.mtu = MtuOf(shape.mtu);
  options.timeout = timeout;
  options.psn_a = kPsnA;
  options.psn_b = kPsnB;

  shape_ = shape;
  first_psn_ = kPsnA;
  Must(a_end_.qp.ModifyState(IBV_QPS_RESET));
  Must(b_end_.qp.ModifyState(IBV_QPS_RESET));
  Must(SetFates({}));
  Must(Connect(a_end_.qp, a_.port, b_end_.qp, b_.port, options));
}

void FateChannel::Greet() {
  Must(a_end_.qp.Post(SendWr::Write(99, a_.mr.Slice(0, 8), b_.mr.At(0))));
}

void FateChannel::ExpectGreeted(int times) {
  for (int i = 0; i < times; i++)
    ASSERT_NO_FATAL_FAILURE(
        ExpectWc(Await(a_end_.send_cq),
                 {.wr_id = 99, .opcode = IBV_WC_RDMA_WRITE, .qp_num = a_end_.qp.num()}));
  first_psn_ = (first_psn_ + times) & kPsnMask;
}

void FateChannel::Meet() {
  for (int i = 0; i < kGreetings; i++) {
    Greet();
    ASSERT_NO_FATAL_FAILURE(ExpectGreeted(1));
  }
}

void FateChannel::Renew(const Shape& shape, uint8_t timeout, const WireOptions& wire) {
  RenewUnmet(shape, timeout, wire);
  if (Sacks()) Meet();
}

// The answer to the first message is late: the second one's lets it go.
void FateChannel::GreetLate() {
  Must(SetFates({{.action = "hold=1", .kind = "ack", .qpn = a_end_.qp.num()}}));
  Greet();
  std::this_thread::sleep_for(kFar);
  Greet();
  ASSERT_NO_FATAL_FAILURE(ExpectGreeted(2));
  ASSERT_EQ(Must(CountFates()).front().met, 1u);
  Must(SetFates({}));
}

// Where this machine slept for longer than an answer is waited for, what was asked meanwhile let it
// go.
void FateChannel::RenewFar(const Shape& shape, uint8_t timeout) {
  for (int turn = 0; turn < 10; turn++) {
    RenewUnmet(shape, timeout);
    const uint64_t before = a_counters_["retransmitted_pkts"];
    ASSERT_NO_FATAL_FAILURE(GreetLate());
    if (a_counters_["retransmitted_pkts"] == before) {
      Meet();
      return;
    }
  }
  FAIL() << "the machine is never in time";
}

void FateChannel::BindWindow() {
  window_ = Must(Mw::Create(b_.pd, IBV_MW_TYPE_2));
  window_key_ = ibv_inc_rkey(window_->rkey);
  const ibv_mw_bind_info info = {b_.mr.get(), b_.buffer.addr(), 4096, IBV_ACCESS_REMOTE_WRITE};
  Must(b_end_.qp.Post(SendWr::BindMw(71, window_.get(), window_key_, info)));
  ExpectWc(Await(b_end_.send_cq),
           {.wr_id = 71, .opcode = IBV_WC_BIND_MW, .qp_num = b_end_.qp.num()});
}

void FateChannel::Prepare(Kind kind) {
  const Host& from = kind == Kind::kRead ? b_ : a_;
  const Host& to = kind == Kind::kRead ? a_ : b_;

  FillPattern(from.bytes(kSource, size()), size());
  Fill(to.bytes(0, kTarget + size() + kGuard), kUntouched);
  if (HasResult(kind)) Word(b_, kWord) = kStart;
  if (kind == Kind::kAtomicWrite)
    for (int i = 0; i < shape_.packets; i++) Word(a_, kSource - 1 + 8 * i) = kStart + i;
  if (kind == Kind::kSendInv) BindWindow();
}

void FateChannel::PostReceives(Kind kind) {
  if (kind == Kind::kShortSends) {
    for (uint64_t i = 0; i < static_cast<uint64_t>(shape_.packets); i++)
      Must(b_end_.qp.Post(RecvWr(i, {b_.mr.Slice(kTarget + i * kShort, kShort)})));
  } else if (kind == Kind::kWriteImm) {
    Must(b_end_.qp.Post(RecvWr(0, {})));
  } else if (IsReceived(kind)) {
    Must(b_end_.qp.Post(RecvWr(0, {b_.mr.Slice(kTarget, size())})));
  }
}

SendWr FateChannel::Atomic(Kind kind, uint64_t i) const {
  const ibv_sge word = a_.mr.Slice(kSource - 1 + 8 * i, 8);

  if (kind == Kind::kFetchAdd) return SendWr::FetchAdd(i, word, b_.mr.At(kWord), 1);
  if (kind == Kind::kCompareSwap)
    return SendWr::CompareSwap(i, word, b_.mr.At(kWord), kStart + i, kStart + i + 1);
  return SendWr::AtomicWrite(i, word, b_.mr.At(kWord + 8 * i));
}

std::vector<SendWr> FateChannel::Requests(Kind kind) const {
  const ibv_sge source = a_.mr.Slice(kSource, size());
  std::vector<SendWr> list;

  switch (kind) {
    case Kind::kSend:
      return {SendWr::Send(0, source)};
    case Kind::kSendImm:
      return {SendWr::Send(0, source).Imm(kImm)};
    case Kind::kSendInv:
      return {SendWr::Send(0, source).Invalidate(window_key_)};
    case Kind::kWrite:
      return {SendWr::Write(0, source, b_.mr.At(kTarget))};
    case Kind::kWriteImm:
      return {SendWr::Write(0, source, b_.mr.At(kTarget)).Imm(kImm)};
    case Kind::kRead:
      return {SendWr::Read(0, a_.mr.Slice(kTarget, size()), b_.mr.At(kSource))};
    default:
      for (uint64_t i = 0; i < static_cast<uint64_t>(shape_.packets); i++)
        list.push_back(kind == Kind::kShortSends
                           ? SendWr::Send(i, a_.mr.Slice(kSource + i * kShort, kShort))
                           : Atomic(kind, i));
      return list;
  }
}

void FateChannel::Post(Kind kind) {
  std::vector<SendWr> list = Requests(kind);
  Must(a_end_.qp.Post(list, nullptr));
}

void FateChannel::ExpectRequestsDone(Kind kind) {
  const bool many = kind == Kind::kShortSends || IsAtomic(kind);
  Wc want = {.wr_id = 0, .opcode = CompletionOf(kind), .qp_num = a_end_.qp.num()};

  if (kind == Kind::kRead) want.byte_len = size();
  if (HasResult(kind)) want.byte_len = 8;
  for (int i = 0; i < (many ? shape_.packets : 1); i++, want.wr_id++)
    ASSERT_NO_FATAL_FAILURE(ExpectWc(Await(a_end_.send_cq), want));
}

void FateChannel::ExpectReceived(Kind kind) {
  Wc want = {.wr_id = 0,
             .opcode = kind == Kind::kWriteImm ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV,
             .qp_num = b_end_.qp.num(),
             .byte_len = kind == Kind::kShortSends ? kShort : size()};

  if (kind == Kind::kSendImm || kind == Kind::kWriteImm) {
    want.flags = IBV_WC_WITH_IMM;
    want.imm = kImm;
  }
  if (kind == Kind::kSendInv) {
    want.flags = IBV_WC_WITH_INV;
    want.invalidated = window_key_;
  }
  for (int i = 0; i < (kind == Kind::kShortSends ? shape_.packets : 1); i++, want.wr_id++)
    ASSERT_NO_FATAL_FAILURE(ExpectWc(Await(b_end_.recv_cq), want));
}

void FateChannel::ExpectBytes(Kind kind) {
  const Host& to = kind == Kind::kRead ? a_ : b_;
  const size_t whole = kind == Kind::kShortSends ? shape_.packets * kShort : size();

  if (kind == Kind::kShortSends)
    EXPECT_EQ(std::memcmp(b_.buffer.data() + kTarget, a_.buffer.data() + kSource, whole), 0);
  else
    ExpectPattern(to.bytes(kTarget, whole), size());
  ExpectAll(to.bytes(0, kTarget), kUntouched);
  ExpectAll(to.bytes(kTarget + whole, kGuard), kUntouched);
}

// Each was done once, in order.
void FateChannel::ExpectAtomics() {
  for (uint64_t i = 0; i < static_cast<uint64_t>(shape_.packets); i++)
    EXPECT_EQ(Word(a_, kSource - 1 + 8 * i), kStart + i) << "result " << i;
  EXPECT_EQ(Word(b_, kWord), kStart + shape_.packets);
}

void FateChannel::ExpectWords() {
  for (uint64_t i = 0; i < static_cast<uint64_t>(shape_.packets); i++)
    EXPECT_EQ(Word(b_, kWord + 8 * i), kStart + i) << "word " << i;
  ExpectAll(b_.bytes(0, kWord), kUntouched);
  ExpectAll(b_.bytes(kWord + 8 * shape_.packets, kGuard), kUntouched);
}

void FateChannel::ExpectDone(Kind kind) {
  ExpectRequestsDone(kind);
  if (HasFatalFailure()) return;
  if (IsReceived(kind)) ExpectReceived(kind);
  if (HasResult(kind))
    ExpectAtomics();
  else if (IsAtomic(kind))
    ExpectWords();
  else
    ExpectBytes(kind);
}

Fate FateChannel::RequestAt(int position, const std::string& action) const {
  return {.action = action,
          .kind = "request",
          .qpn = b_end_.qp.num(),
          .psn = (first_psn_ + position) & kPsnMask};
}

Fate FateChannel::ResponseAt(int position, const std::string& action) const {
  return {.action = action,
          .kind = "response",
          .qpn = a_end_.qp.num(),
          .psn = (first_psn_ + position) & kPsnMask};
}

void FateChannel::ExpectHealthy() const {
  EXPECT_FALSE(a_end_.send_cq.Poll());
  EXPECT_FALSE(a_end_.recv_cq.Poll());
  EXPECT_FALSE(b_end_.send_cq.Poll());
  EXPECT_FALSE(b_end_.recv_cq.Poll());
  EXPECT_EQ(a_end_.qp.State(), IBV_QPS_RTS);
  EXPECT_EQ(b_end_.qp.State(), IBV_QPS_RTS);
}

void FateChannel::LoseOneInTwenty(std::mt19937& random) {
  std::vector<Fate> fates;
  for (const Qp* to : {&a_end_.qp, &b_end_.qp})
    fates.push_back({.action = "drop",
                     .qpn = to->num(),
                     .times = 0,
                     .permille = 50,
                     .seed = static_cast<uint32_t>(random())});
  Must(SetFates(fates));
}

}  // namespace verbs_test
