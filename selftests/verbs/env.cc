// SPDX-License-Identifier: GPL-2.0-only
#include "env.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cstdlib>

namespace verbs_test {
namespace {

double TimeScale() {
  const char* text = std::getenv("SRN_TIME_SCALE");
  return text ? std::max(0.1, std::atof(text)) : 1.0;
}

testing::ScopedTrace TraceOf(std::source_location where, const char* what) {
  return testing::ScopedTrace(where.file_name(), static_cast<int>(where.line()), what);
}

}  // namespace

Timeout Patience(int ms) { return Timeout(static_cast<int64_t>(ms * TimeScale())); }

Timeout Silence() { return Timeout(static_cast<int64_t>(60 * TimeScale())); }

std::string DeviceA() {
  const char* name = std::getenv("SRN_DEV");
  return name ? name : "srn0";
}

std::string DeviceB() {
  const char* name = std::getenv("SRN_DEV2");
  return name ? name : DeviceA();
}

bool Foreign() {
  const char* text = std::getenv("SRN_FOREIGN");
  return text && *text == '1';
}

Host Host::Open(const std::string& device, Ip ip, size_t buffer_size) {
  Host host;
  host.ctx = Must(Context::Open(device));
  host.port = Must(host.ctx.FindPort(ip));
  host.pd = Must(Pd::Create(host.ctx));
  host.buffer = Must(Buffer::Map(buffer_size));
  host.mr = Must(Mr::Register(host.pd, host.buffer.bytes()));
  return host;
}

End End::Create(const Host& host, const Qp::Options& options, int cq_entries) {
  End end;
  end.send_cq = Must(Cq::Create(host.ctx, cq_entries));
  end.recv_cq = Must(Cq::Create(host.ctx, cq_entries));
  end.qp = Must(Qp::Create(host.pd, end.send_cq, end.recv_cq, options));
  return end;
}

void WireTest::SetUp() {
  a_ = Host::Open(DeviceA(), GetParam(), buffer_size_);
  b_ = Host::Open(DeviceB(), GetParam(), buffer_size_);
}

Pair WireTest::Connected(const Qp::Options& options, const WireOptions& wire) {
  Pair pair = {End::Create(a_, options), End::Create(b_, options)};
  Must(Connect(pair.a.qp, a_.port, pair.b.qp, b_.port, wire));
  return pair;
}

int WireTest::mtu() const { return MtuBytes(std::min(a_.port.active_mtu, b_.port.active_mtu)); }

void HostTest::SetUp() { a_ = Host::Open(DeviceA(), Ip::kV4, 64 << 10); }

std::string IpName(const testing::TestParamInfo<Ip>& info) { return ToString(info.param); }

void ExpectWc(const ibv_wc& got, const Wc& want, std::source_location where) {
  auto trace = TraceOf(where, "completion");

  ASSERT_EQ(got.status, IBV_WC_SUCCESS) << ibv_wc_status_str(got.status) << ", vendor error "
                                        << got.vendor_err << ", wr_id " << got.wr_id;
  EXPECT_EQ(got.wr_id, want.wr_id);
  EXPECT_EQ(got.opcode, want.opcode);
  EXPECT_EQ(got.vendor_err, 0u);
  EXPECT_EQ(got.qp_num, want.qp_num);
  // Flags belong to received messages, and the GRH to UD (where the source QP
  // is known); elsewhere devices differ.
  if (want.opcode & IBV_WC_RECV) {
    const unsigned ignored = want.src_qp ? 0 : IBV_WC_GRH;
    EXPECT_EQ(got.wc_flags & ~ignored, want.flags);
  }
  if (want.byte_len) {
    EXPECT_EQ(got.byte_len, *want.byte_len);
  }
  if (want.imm) {
    EXPECT_EQ(ntohl(got.imm_data), *want.imm);
  }
  if (want.invalidated) {
    EXPECT_EQ(got.invalidated_rkey, *want.invalidated);
  }
  if (want.src_qp) {
    EXPECT_EQ(got.src_qp, *want.src_qp);
  }
  EXPECT_EQ(got.pkey_index, 0u);
  EXPECT_EQ(got.slid, 0u);
  EXPECT_EQ(got.dlid_path_bits, 0u);
}

void ExpectFailed(const ibv_wc& got, uint64_t wr_id, ibv_wc_status status, uint32_t qp_num,
                  std::source_location where) {
  auto trace = TraceOf(where, "failed completion");

  EXPECT_EQ(got.status, status) << "got " << ibv_wc_status_str(got.status) << ", want "
                                << ibv_wc_status_str(status);
  EXPECT_EQ(got.wr_id, wr_id);
  EXPECT_EQ(got.qp_num, qp_num);
}

ibv_wc Await(const Cq& cq, std::source_location where) { return Must(cq.Wait(Patience()), where); }

void ExpectQuiet(const Cq& cq, std::source_location where) {
  auto trace = TraceOf(where, "quiet");
  Result<ibv_wc> wc = cq.Wait(Silence());

  EXPECT_EQ(wc.error(), ETIMEDOUT) << "completion " << (wc.ok() ? wc->wr_id : 0)
                                   << " came: " << (wc.ok() ? ibv_wc_status_str(wc->status) : "-");
}

void ExpectReaches(const Qp& qp, ibv_qp_state state, std::source_location where) {
  auto trace = TraceOf(where, "QP state");
  Status reached = qp.WaitState(state, Patience());

  EXPECT_TRUE(reached.ok()) << reached.message() << ": want " << state << ", is " << qp.State();
}

void ExpectPattern(ConstBytes bytes, uint32_t seed, std::source_location where) {
  auto trace = TraceOf(where, "bytes");
  std::optional<size_t> bad = FirstMismatch(bytes, seed);

  EXPECT_FALSE(bad) << "byte " << *bad << " of " << bytes.size() << " differs";
}

void ExpectAll(ConstBytes bytes, uint8_t value, std::source_location where) {
  auto trace = TraceOf(where, "bytes");
  std::optional<size_t> bad = FirstOther(bytes, std::byte{value});

  EXPECT_FALSE(bad) << "byte " << *bad << " of " << bytes.size() << " was written";
}

void Fill(Bytes bytes, uint8_t value) { std::fill(bytes.begin(), bytes.end(), std::byte{value}); }

void ExpectWorks(const Host& a, const End& from, const Host& b, const End& to,
                 std::source_location where) {
  constexpr size_t kSize = 777;
  auto trace = TraceOf(where, "health check");
  const size_t at = a.buffer.size() - kSize;
  const size_t to_at = b.buffer.size() - kSize;

  FillPattern(a.bytes(at, kSize), 4711);
  // Where both hosts are one, source and target would be the same bytes.
  const bool one = a.buffer.data() == b.buffer.data();
  const size_t target = one ? to_at - kSize : to_at;
  Fill(b.bytes(target, kSize), 0);
  Must(to.qp.Post(RecvWr(9001, {b.mr.Slice(target, kSize)})), where);
  Must(from.qp.Post(SendWr::Send(9000, a.mr.Slice(at, kSize))), where);
  ExpectWc(Await(to.recv_cq, where),
           {.wr_id = 9001, .opcode = IBV_WC_RECV, .qp_num = to.qp.num(), .byte_len = kSize});
  ExpectWc(Await(from.send_cq, where),
           {.wr_id = 9000, .opcode = IBV_WC_SEND, .qp_num = from.qp.num()});
  ExpectPattern(b.bytes(target, kSize), 4711);
}

}  // namespace verbs_test
