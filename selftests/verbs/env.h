// SPDX-License-Identifier: GPL-2.0-only
// What all verbs tests share: the devices under test, two hosts with memory,
// connected pairs, and the checks of completions.
//
// Environment:
//   SRN_DEV         device of host A (default srn0)
//   SRN_DEV2        device of host B (default the same: it talks to itself)
//   SRN_FOREIGN     1: the devices are not srn's; they may lack what srn promises (default 0)
//   SRN_TIME_SCALE  factor on every timeout, for slow kernels (default 1)
#pragma once

#include <optional>
#include <ostream>
#include <source_location>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <result/must.h>
#include <verbs/connect.h>

namespace verbs {

inline void PrintTo(Ip ip, std::ostream* os) { *os << ToString(ip); }

}  // namespace verbs

namespace verbs_test {

using namespace verbs;
using result::Must;
using result::SetupFailure;

// How long a test waits for what must come.
Timeout Patience(int ms = 10000);
// How long a test waits for what must not come.
Timeout Silence();

std::string DeviceA();
std::string DeviceB();
// The devices are of another driver: what they do not offer is skipped, and nobody knows what
// their counters mean.
bool Foreign();

// The device does not offer what this test is about. No srn may say so.
#define SRN_SKIP_FOREIGN()                                \
  switch (0)                                              \
  case 0:                                                 \
  default:                                                \
    if (!verbs_test::Foreign())                           \
      FAIL() << "srn promises what this test asks for: "; \
    else                                                  \
      GTEST_SKIP()

// A device with a registered buffer.
struct Host {
  Context ctx;
  Port port;
  Pd pd;
  Buffer buffer;
  Mr mr;

  static Host Open(const std::string& device, Ip ip, size_t buffer_size);

  Bytes bytes(size_t offset, size_t length) const { return buffer.Slice(offset, length); }
  // A key that names nothing: its index is far from those in use, whatever it begins with.
  uint32_t NobodysKey() const { return mr->lkey ^ 0x5a5a5a00; }
};

// A QP with completion queues of its own.
struct End {
  Cq send_cq;
  Cq recv_cq;
  Qp qp;

  static End Create(const Host& host, const Qp::Options& options = {}, int cq_entries = 256);
};

struct Pair {
  End a;
  End b;
};

// Two hosts, and connections between them over one IP version.
class WireTest : public testing::TestWithParam<Ip> {
 protected:
  explicit WireTest(size_t buffer_size = 256 << 10) : buffer_size_(buffer_size) {}
  void SetUp() override;

  Pair Connected(const Qp::Options& options = {}, const WireOptions& wire = {});
  // The path MTU that Connected() agrees on by default, in bytes.
  int mtu() const;

  Host a_;
  Host b_;

 private:
  size_t buffer_size_;
};

// One host, for tests in which nothing crosses the wire.
class HostTest : public testing::Test {
 protected:
  void SetUp() override;

  Host a_;
};

std::string IpName(const testing::TestParamInfo<Ip>& info);

// Runs a suite over both IP versions.
#define SRN_OVER_BOTH_IP(suite) \
  INSTANTIATE_TEST_SUITE_P(Ip, suite, testing::Values(Ip::kV4, Ip::kV6), IpName)

// The fields of a successful completion.
struct Wc {
  uint64_t wr_id;
  ibv_wc_opcode opcode;
  uint32_t qp_num;
  // Unset where verbs leaves it undefined (SEND and WRITE on the send side).
  std::optional<uint32_t> byte_len = {};
  unsigned flags = 0;
  std::optional<uint32_t> imm = {};
  std::optional<uint32_t> invalidated = {};
  std::optional<uint32_t> src_qp = {};
};

// Checks every field that verbs defines for a successful completion.
void ExpectWc(const ibv_wc& got, const Wc& want,
              std::source_location where = std::source_location::current());

// Checks every field that verbs defines for a failed completion.
void ExpectFailed(const ibv_wc& got, uint64_t wr_id, ibv_wc_status status, uint32_t qp_num,
                  std::source_location where = std::source_location::current());

// The next completion; the test ends if none comes.
ibv_wc Await(const Cq& cq, std::source_location where = std::source_location::current());
// Nothing comes.
void ExpectQuiet(const Cq& cq, std::source_location where = std::source_location::current());
// The QP reaches the state by itself.
void ExpectReaches(const Qp& qp, ibv_qp_state state,
                   std::source_location where = std::source_location::current());

// Bytes equal FillPattern(seed).
void ExpectPattern(ConstBytes bytes, uint32_t seed,
                   std::source_location where = std::source_location::current());
// Every byte has this value.
void ExpectAll(ConstBytes bytes, uint8_t value,
               std::source_location where = std::source_location::current());
void Fill(Bytes bytes, uint8_t value);

// One SEND from `from` to `to` that must arrive: the pair is healthy.
void ExpectWorks(const Host& a, const End& from, const Host& b, const End& to,
                 std::source_location where = std::source_location::current());

}  // namespace verbs_test
