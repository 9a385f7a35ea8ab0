// SPDX-License-Identifier: GPL-2.0-only
// UC and UD: what is lost stays lost. A message whose packets did not all come, once each and in
// order, is not delivered at all; those before and behind it are.
#include <arpa/inet.h>

#include <array>
#include <string>
#include <vector>

#include "env.h"
#include "fates.h"
#include "hw_counters.h"

namespace verbs_test {
namespace {

constexpr uint8_t kUntouched = 0x5a;
constexpr uint32_t kPsn = 0xfffff8;
constexpr uint32_t kPsnMask = 0xffffff;
constexpr int kMtu = 256;
constexpr size_t kSlot = 20 << 10;
constexpr int kMessages = 4;  // the second one meets its fate

const std::array<std::string, 6> kActions = {"drop",   "dup",       "hold=1",
                                             "hold=3", "corrupt=0", "corrupt=-2"};

class FateUc : public WireTest {
 protected:
  void SetUp() override {
    WireTest::SetUp();
    pair_ = {End::Create(a_, {.type = IBV_QPT_UC}), End::Create(b_, {.type = IBV_QPT_UC})};
    counters_ = Must(HwCounters::Open(b_.ctx));
  }
  void TearDown() override { Must(SetFates({})); }

  void Renew();
  void Post(bool write, int packets);
  void Run(bool write, int packets, int position, const std::string& action);
  void EveryPosition(bool write);
  // Which of the messages came, by what their receive requests say.
  std::vector<bool> Arrived(bool write, size_t size);

  Pair pair_;
  HwCounters counters_;
};

void FateUc::Renew() {
  Must(pair_.a.qp.ModifyState(IBV_QPS_RESET));
  Must(pair_.b.qp.ModifyState(IBV_QPS_RESET));
  Must(SetFates({}));
  Must(Connect(pair_.a.qp, a_.port, pair_.b.qp, b_.port, {.mtu = MtuOf(kMtu), .psn_a = kPsn}));
}

void FateUc::Post(bool write, int packets) {
  const size_t size = packets * kMtu - 3;
  std::vector<SendWr> list;

  for (uint32_t i = 0; i < kMessages; i++) {
    FillPattern(a_.bytes(i * kSlot, size), i);
    Fill(b_.bytes(i * kSlot, kSlot), kUntouched);
    const ibv_sge source = a_.mr.Slice(i * kSlot, size);
    if (write) {
      Must(pair_.b.qp.Post(RecvWr(i, {})));
      list.push_back(SendWr::Write(i, source, b_.mr.At(i * kSlot)).Imm(i));
    } else {
      Must(pair_.b.qp.Post(RecvWr(i, {b_.mr.Slice(i * kSlot, kSlot)})));
      list.push_back(SendWr::Send(i, source).Imm(i));
    }
  }
  Must(pair_.a.qp.Post(list, nullptr));
}

std::vector<bool> FateUc::Arrived(bool write, size_t size) {
  std::vector<bool> arrived(kMessages);
  uint64_t next = 0;

  // The last message says that all before it have come, or will not.
  while (!arrived.back() && !HasFatalFailure()) {
    const ibv_wc wc = Await(pair_.b.recv_cq);
    const uint32_t id = ntohl(wc.imm_data);
    EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
    EXPECT_EQ(wc.wr_id, next++) << "a lost message took a receive request";
    EXPECT_EQ(wc.byte_len, size);
    if (id >= kMessages || arrived[id]) {
      ADD_FAILURE() << "message " << id << " came twice, or was never sent";
      break;
    }
    arrived[id] = true;
    // A SEND is where the receive request said.
    const size_t slot = write ? id : wc.wr_id;
    ExpectPattern(b_.bytes(slot * kSlot, size), id);
    ExpectAll(b_.bytes(slot * kSlot + size, kSlot - size), kUntouched);
  }
  return arrived;
}

void FateUc::Run(bool write, int packets, int position, const std::string& action) {
  SCOPED_TRACE(testing::Message() << packets << " packets, " << action << " at " << position);
  Renew();
  const uint32_t psn = (kPsn + packets + position) & kPsnMask;
  Must(SetFates({{.action = action, .kind = "request", .qpn = pair_.b.qp.num(), .psn = psn}}));
  const uint64_t lost = counters_["uc_messages_lost"];
  Post(write, packets);

  const std::vector<bool> arrived = Arrived(write, packets * kMtu - 3);
  // A first packet that comes twice begins the message anew, a last one ends it once. What is late
  // may be in the way of the next message.
  const bool whole = action == "dup" && (position == 0 || position == packets - 1);
  EXPECT_TRUE(arrived[0]);
  EXPECT_EQ(arrived[1], whole);
  EXPECT_TRUE(arrived[2] || action.starts_with("hold"));
  if (!whole) {
    EXPECT_GE(counters_["uc_messages_lost"] - lost, 1u);
  }
  for (int i = 0; i < kMessages; i++) EXPECT_EQ(Await(pair_.a.send_cq).status, IBV_WC_SUCCESS);
  EXPECT_EQ(Must(CountFates())[0].met, 1u);
  EXPECT_FALSE(pair_.b.recv_cq.Poll());
  EXPECT_EQ(pair_.b.qp.State(), IBV_QPS_RTS);
}

void FateUc::EveryPosition(bool write) {
  for (const int packets : {5, 9, 64}) {
    // One shape shows that IPv6 makes no difference.
    if (GetParam() == Ip::kV6 && packets > 5) continue;
    for (int position = 0; position < packets; position++)
      for (const std::string& action : kActions) {
        // What a packet in the middle of many meets makes no difference to where it is damaged.
        if (packets == 64 && (action == "hold=3" || action.starts_with("corrupt"))) continue;
        Run(write, packets, position, action);
        if (HasFailure()) return;
      }
  }
}

TEST_P(FateUc, Send) { EveryPosition(false); }

TEST_P(FateUc, WriteWithImmediate) { EveryPosition(true); }

class FateUd : public WireTest {
 protected:
  static constexpr uint32_t kQkey = 0x11223344;
  static constexpr size_t kGrh = 40;
  static constexpr size_t kSize = 301;
  static constexpr size_t kRoom = 512;
  static constexpr uint32_t kDatagrams = 9;

  void SetUp() override {
    WireTest::SetUp();
    ah_ = Must(Ah::Create(a_.pd, AhAttr(a_.port, b_.port.gid)));
  }
  void TearDown() override { Must(SetFates({})); }

  // The numbers of the datagrams that came, in their order.
  std::vector<uint32_t> Carry(const std::string& action, uint32_t position);
  std::vector<uint32_t> Received(const End& end, size_t count);

  Ah ah_;
};

std::vector<uint32_t> FateUd::Received(const End& end, size_t count) {
  std::vector<uint32_t> numbers;

  for (size_t i = 0; i < count; i++) {
    const ibv_wc wc = Await(end.recv_cq);
    const uint32_t number = ntohl(wc.imm_data);
    EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
    EXPECT_EQ(wc.byte_len, kSize + kGrh);
    EXPECT_EQ(wc.wr_id, i);
    ExpectPattern(b_.bytes(i * kRoom + kGrh, kSize), number);
    numbers.push_back(number);
  }
  EXPECT_FALSE(end.recv_cq.Poll());
  return numbers;
}

std::vector<uint32_t> FateUd::Carry(const std::string& action, uint32_t position) {
  End x = End::Create(a_, {.type = IBV_QPT_UD}), y = End::Create(b_, {.type = IBV_QPT_UD});
  Must(BringUpUd(x.qp, a_.port, kQkey));
  Must(BringUpUd(y.qp, b_.port, kQkey));
  Must(SetFates({{.action = action, .qpn = y.qp.num(), .skip = position}}));
  for (uint32_t i = 0; i <= kDatagrams; i++)
    Must(y.qp.Post(RecvWr(i, {b_.mr.Slice(i * kRoom, kRoom)})));
  for (uint32_t i = 0; i < kDatagrams; i++) {
    FillPattern(a_.bytes(i * kRoom, kSize), i);
    Must(x.qp.Post(
        SendWr::Send(i, a_.mr.Slice(i * kRoom, kSize)).Imm(i).To(ah_.get(), y.qp.num(), kQkey)));
    EXPECT_EQ(Await(x.send_cq).status, IBV_WC_SUCCESS);
  }
  const bool lost = action == "drop" || action.starts_with("corrupt");
  const size_t count = kDatagrams - (lost ? 1 : 0) + (action == "dup" ? 1 : 0);
  const std::vector<uint32_t> numbers = Received(y, count);
  EXPECT_EQ(Must(CountFates())[0].met, 1u);
  return numbers;
}

TEST_P(FateUd, LostAndDamagedDatagramsStayAway) {
  for (const char* action : {"drop", "corrupt=0", "corrupt=13", "corrupt=18", "corrupt=-1"})
    for (uint32_t position = 0; position < kDatagrams; position++) {
      SCOPED_TRACE(testing::Message() << action << " at " << position);
      std::vector<uint32_t> want;
      for (uint32_t i = 0; i < kDatagrams; i++)
        if (i != position) want.push_back(i);
      EXPECT_EQ(Carry(action, position), want);
    }
}

TEST_P(FateUd, DoubledDatagramsComeTwice) {
  for (uint32_t position = 0; position < kDatagrams; position++) {
    SCOPED_TRACE(position);
    std::vector<uint32_t> want;
    for (uint32_t i = 0; i < kDatagrams; i++) want.insert(want.end(), 1 + (i == position), i);
    EXPECT_EQ(Carry("dup", position), want);
  }
}

TEST_P(FateUd, LateDatagramsComeLate) {
  for (uint32_t position = 0; position + 3 < kDatagrams; position++) {
    SCOPED_TRACE(position);
    std::vector<uint32_t> want;
    for (uint32_t i = 0; i < kDatagrams; i++)
      if (i != position) want.push_back(i);
    want.insert(want.begin() + position + 3, position);
    EXPECT_EQ(Carry("hold=3", position), want);
  }
}

// A datagram that the network marked is delivered, with the mark in its header.
TEST_P(FateUd, MarkOfCongestionIsDelivered) {
  std::vector<uint32_t> want;
  for (uint32_t i = 0; i < kDatagrams; i++) want.push_back(i);
  EXPECT_EQ(Carry("mark", 4), want);
  for (uint32_t i = 0; i < kDatagrams; i++) {
    const auto header = b_.bytes(i * kRoom, kGrh);
    const auto ecn =
        GetParam() == Ip::kV4 ? header[20 + 1] & std::byte{3} : header[1] >> 4 & std::byte{3};
    EXPECT_EQ(std::to_integer<int>(ecn), i == 4 ? 3 : 0) << "datagram " << i;
  }
}

SRN_OVER_BOTH_IP(FateUc);
SRN_OVER_BOTH_IP(FateUd);

}  // namespace
}  // namespace verbs_test
