// SPDX-License-Identifier: GPL-2.0-only
// Traffic of connected QPs while allocations fail, now and then, whoever asks for them: RC repairs
// what is lost by that, and every byte arrives. How often they fail is the suite's choice.
//
// Environment:
//   SRN_FAULT_SECONDS   how long each test goes on (1)
#include <chrono>
#include <cstdlib>
#include <numeric>

#include "env.h"

namespace fault {
namespace {

using namespace verbs;
using result::Must;
using verbs_test::Await;
using verbs_test::End;
using verbs_test::ExpectPattern;
using verbs_test::IpName;

std::chrono::steady_clock::time_point Deadline() {
  const char* text = std::getenv("SRN_FAULT_SECONDS");
  return std::chrono::steady_clock::now() + std::chrono::seconds(text ? std::atoi(text) : 1);
}

// What fails for want of memory is done again, a fair number of times.
template <typename F>
auto Again(F act) {
  for (int tries = 100;; tries--) {
    try {
      return act();
    } catch (const verbs_test::SetupFailure&) {
      if (!tries) throw;
    }
  }
}

class FailingTraffic : public verbs_test::WireTest {
 protected:
  void SetUp() override {
    Again([this] { verbs_test::WireTest::SetUp(); });
  }

  static constexpr size_t kSizes[] = {1, 200, 4096, 4097, 65536, 100000};

  // Patient enough to live through several losses of one packet, quick enough to get far.
  verbs_test::Pair Repairing() {
    return Again([this] { return Connected({}, {.timeout = 12, .rd_atomic = 4}); });
  }

  void ExpectDone(const Cq& cq, uint64_t wr_id) {
    const ibv_wc wc = Await(cq);
    ASSERT_EQ(wc.status, IBV_WC_SUCCESS) << ibv_wc_status_str(wc.status);
    EXPECT_EQ(wc.wr_id, wr_id);
  }

  void Send(const verbs_test::Pair& pair, size_t size, uint32_t seed) {
    FillPattern(a_.bytes(0, size), seed);
    verbs_test::Fill(b_.bytes(0, size), 0);
    Must(pair.b.qp.Post(RecvWr(seed, {b_.mr.Slice(0, size)})));
    Must(pair.a.qp.Post(SendWr::Send(seed, a_.mr.Slice(0, size))));
    ExpectDone(pair.a.send_cq, seed);
    ExpectDone(pair.b.recv_cq, seed);
    ExpectPattern(b_.bytes(0, size), seed);
  }

  void Write(const verbs_test::Pair& pair, size_t size, uint32_t seed) {
    FillPattern(a_.bytes(0, size), seed);
    verbs_test::Fill(b_.bytes(0, size), 0);
    Must(pair.a.qp.Post(SendWr::Write(seed, a_.mr.Slice(0, size), b_.mr.At(0))));
    ExpectDone(pair.a.send_cq, seed);
    ExpectPattern(b_.bytes(0, size), seed);
  }

  void Read(const verbs_test::Pair& pair, size_t size, uint32_t seed) {
    FillPattern(b_.bytes(0, size), seed);
    verbs_test::Fill(a_.bytes(0, size), 0);
    Must(pair.a.qp.Post(SendWr::Read(seed, a_.mr.Slice(0, size), b_.mr.At(0))));
    ExpectDone(pair.a.send_cq, seed);
    ExpectPattern(a_.bytes(0, size), seed);
  }
};

TEST_P(FailingTraffic, EveryByteArrives) {
  const verbs_test::Pair pair = Repairing();
  const auto deadline = Deadline();
  uint32_t seed = 0;

  while (std::chrono::steady_clock::now() < deadline && !HasFailure()) {
    for (size_t size : kSizes) {
      Send(pair, size, ++seed);
      Write(pair, size, ++seed);
      Read(pair, size, ++seed);
    }
  }
  RecordProperty("operations", static_cast<int>(seed));
}

// A sum that each of many atomics moves by one: none is lost, and none is done twice.
TEST_P(FailingTraffic, AtomicsAreDoneOnce) {
  const verbs_test::Pair pair = Repairing();
  const auto deadline = Deadline();
  uint64_t count = 0;

  auto* sum = reinterpret_cast<uint64_t*>(b_.buffer.data());
  auto* old = reinterpret_cast<uint64_t*>(a_.buffer.data());
  *sum = 0;
  while (std::chrono::steady_clock::now() < deadline && !HasFailure()) {
    Must(pair.a.qp.Post(SendWr::FetchAdd(count, a_.mr.Slice(0, 8), b_.mr.At(0), 1)));
    ExpectDone(pair.a.send_cq, count);
    EXPECT_EQ(*old, count++);
    EXPECT_EQ(*sum, count);
  }
}

SRN_OVER_BOTH_IP(FailingTraffic);

}  // namespace
}  // namespace fault
