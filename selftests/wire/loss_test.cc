// SPDX-License-Identifier: GPL-2.0-only
// Random operations over a wire that loses one packet in twenty, each way:
// every operation happens exactly once, in order, with the right data.
#include <algorithm>
#include <cstring>
#include <random>

#include <share/seed.h>

#include "fixture.h"
#include "model.h"

namespace wire {
namespace {

constexpr int kOperations = 200;
constexpr uint32_t kLossPercent = 5;
constexpr size_t kPending = 4;
constexpr std::chrono::seconds kDeadline{60};

// Zones of the memory that is worked on; READs have one of their own, since a
// READ that is repeated may see what was written after it.
constexpr size_t kSendZone = 0;
constexpr size_t kWriteZone = 128 << 10;
constexpr size_t kReadZone = 192 << 10;
constexpr size_t kZone = 32 << 10;
constexpr size_t kCounter = 240 << 10;
constexpr size_t kSlot = 2048;  // a SEND is not longer
constexpr size_t kSlots = 64;

class RcLoss : public WireTest {
 protected:
  bool Lost() { return random_() % 100 < kLossPercent; }
  uint32_t Random(uint32_t below) { return static_cast<uint32_t>(random_() % below); }
  std::mt19937_64 random_{share::SeedOfTest()};
};
SRN_BOTH_IP_VERSIONS(RcLoss);

TEST_P(RcLoss, RequesterGetsEverythingThroughOnce) {
  constexpr uint64_t kVa = 0x100000;
  constexpr uint32_t kKey = 0x77;
  constexpr size_t kResults = 200 << 10;  // of the atomics, in our memory
  Start({.sq_psn = 0xffffc0, .timeout = 13});
  ModelResponder model(kVa, kBufferSize, DevPsn(), mtu(), [this](const Packet& p) {
    if (!Lost()) peer().Send(p);
  });
  model.memory() = Pattern(kBufferSize, 9);
  std::fill_n(model.memory().begin() + kCounter, 8, uint8_t{0});
  Bytes written = model.memory();
  ep().FillPattern(0, kWriteZone, 5);
  std::vector<Bytes> sent;
  uint64_t added = 0;

  int posted = 0, done = 0;
  auto post = [&] {
    const uint32_t length = Random(4 * mtu());
    const size_t from = Random(kZone);
    const auto id = static_cast<uint64_t>(posted);
    switch (posted++ % 4) {
      case 0:
        sent.push_back(ep().Copy(from, length));
        ep().PostSend(id, from, length);
        break;
      case 1: {
        const size_t to = kWriteZone + Random(kZone);
        const Bytes data = ep().Copy(from, length);
        std::copy(data.begin(), data.end(), written.begin() + static_cast<ptrdiff_t>(to));
        ep().Post(SendWr::Write(id, ep().Data(from, length), {kVa + to, kKey}));
        break;
      }
      case 2:  // reads back what stands at the same place
        ep().Post(
            SendWr::Read(id, ep().Data(kWriteZone + from, length), {kVa + kReadZone + from, kKey}));
        break;
      default:
        ep().Post(SendWr::FetchAdd(id, ep().mr().Slice(kResults + 8 * added++, 8),
                                   {kVa + kCounter, kKey}, 1));
    }
  };

  const auto deadline = Clock::now() + Wire::Get().Patience(kDeadline);
  while (done < kOperations && Clock::now() < deadline && !HasFailure()) {
    while (posted < kOperations && posted - done < static_cast<int>(kPending)) post();
    if (const auto packet = peer().Receive(std::chrono::milliseconds(1)))
      if (!Lost()) model.Handle(*packet);
    while (const auto wc = ep().PollSend()) {
      EXPECT_EQ(wc->status, IBV_WC_SUCCESS) << ibv_wc_status_str(wc->status);
      EXPECT_EQ(wc->wr_id, static_cast<uint64_t>(done++));
    }
  }
  EXPECT_EQ(done, kOperations);
  EXPECT_EQ(model.sends(), sent);
  std::memcpy(&written[kCounter], &added, sizeof(added));
  EXPECT_TRUE(model.memory() == written) << "what was written is not what should be there";
  for (uint64_t i = 0; i < added; ++i) EXPECT_EQ(ep().Load64(kResults + 8 * i), i);
}

// One message of the peer, and what is known of its fate.
struct Message {
  std::vector<Packet> packets;
  uint32_t last_psn = 0;
  bool answered_by_response = false;
  Bytes expected;  // READ data, or the value before an atomic
  Bytes got;
  bool done = false;
};

class RcLossResponder : public RcLoss {
 protected:
  Message Make(int index);
  void Transmit(std::vector<Message>& window);
  // Takes what comes until all is done or it is quiet.
  void Listen(std::vector<Message>& window);
  void Take(const Packet& packet, std::vector<Message>& window);

  uint32_t psn_ = 0;
  size_t sends_ = 0;
  uint64_t adds_ = 0;
  std::vector<Bytes> sent_;
  Bytes written_ = Bytes(2 * kZone, 0);
};
SRN_BOTH_IP_VERSIONS(RcLossResponder);

Message RcLossResponder::Make(int index) {
  Message m;
  const uint32_t length = Random(4 * mtu());
  const size_t at = Random(kZone);
  const Bytes data = Pattern(length, static_cast<uint32_t>(index));
  uint32_t span = roce::PsnCount(length, mtu());
  switch (index % 4) {
    case 0: {
      const Bytes message(data.begin(), data.begin() + std::min<ptrdiff_t>(length, kSlot));
      m.packets = SendMessage(psn_, message, mtu());
      span = roce::PsnCount(message.size(), mtu());
      sent_.push_back(message);
      break;
    }
    case 1:
      m.packets = WriteMessage(psn_, data, mtu(), ep().Va(kWriteZone + at), ep().rkey());
      std::copy(data.begin(), data.end(), written_.begin() + static_cast<ptrdiff_t>(at));
      break;
    case 2:
      m.packets = {ReadRequest(psn_, Reth(kReadZone + at, length))};
      m.answered_by_response = true;
      m.expected = ep().Copy(kReadZone + at, length);
      break;
    default:
      m.packets = {FetchAdd(psn_, ep().Va(kCounter), ep().rkey(), 1)};
      m.answered_by_response = true;
      m.expected.resize(8);
      std::memcpy(m.expected.data(), &adds_, 8);
      ++adds_;
      span = 1;
  }
  m.last_psn = roce::PsnAdd(psn_, span - 1);
  psn_ = roce::PsnAdd(psn_, span);
  return m;
}

void RcLossResponder::Transmit(std::vector<Message>& window) {
  for (Message& m : window) {
    if (m.done) continue;
    m.got.clear();
    for (const Packet& p : m.packets)
      if (!Lost()) peer().Send(p);
  }
}

void RcLossResponder::Take(const Packet& packet, std::vector<Message>& window) {
  for (Message& m : window) {
    if (m.done) continue;
    const uint32_t first = m.packets[0].bth.psn;
    const bool is_ack = packet.info().operation == Operation::kAcknowledge;
    // A positive answer to something later acknowledges SENDs and WRITEs, nothing else.
    if (!m.answered_by_response) {
      const bool positive = !is_ack || roce::KindOf(packet.aeth->syndrome) == roce::AethKind::kAck;
      m.done = roce::PsnDiff(packet.bth.psn, m.last_psn) >= (positive ? 0 : 1);
      if (!m.done) return;
      continue;
    }
    if (is_ack) return;
    const bool is_atomic = packet.info().operation == Operation::kAtomicAcknowledge;
    const uint32_t next = roce::PsnAdd(first, static_cast<int64_t>(m.got.size() / mtu()));
    if (packet.bth.psn != next) return;
    if (is_atomic) {
      m.got.resize(8);
      std::memcpy(m.got.data(), &*packet.atomic_ack, 8);
    } else {
      m.got.insert(m.got.end(), packet.payload.begin(), packet.payload.end());
    }
    m.done = packet.bth.psn == m.last_psn;
    EXPECT_TRUE(!m.done || m.got == m.expected) << m.packets[0].ToString();
    return;
  }
}

void RcLossResponder::Listen(std::vector<Message>& window) {
  const auto quiet = Wire::Get().Patience(std::chrono::milliseconds(5));
  while (!window.back().done) {
    const auto packet = peer().Receive(quiet);
    if (!packet) return;
    if (!Lost()) Take(*packet, window);
  }
}

TEST_P(RcLossResponder, ResponderExecutesEverythingOnce) {
  Start({.rq_psn = 0xffffc0});
  psn_ = PeerPsn();
  ep().FillPattern(kReadZone, 2 * kZone - kSlot, 3);
  ep().Store64(kCounter, 0);
  std::ranges::fill(ep().Memory(kWriteZone, 2 * kZone), std::byte{0});
  for (size_t i = 0; i < kSlots; ++i) ep().PostRecv(i, kSendZone + i * kSlot, kSlot);

  const auto deadline = Clock::now() + Wire::Get().Patience(kDeadline);
  for (int index = 0; index < kOperations && !HasFailure();) {
    std::vector<Message> window;
    while (window.size() < kPending) window.push_back(Make(index++));
    while (!window.back().done && !HasFailure()) {
      ASSERT_LT(Clock::now(), deadline) << "no progress at " << index;
      Transmit(window);
      Listen(window);
    }
  }

  for (size_t i = 0; i < sent_.size(); ++i) {
    ExpectReceived(i, static_cast<uint32_t>(sent_[i].size()));
    EXPECT_EQ(ep().Copy(kSendZone + i * kSlot, sent_[i].size()), sent_[i]);
  }
  EXPECT_TRUE(ep().Copy(kWriteZone, 2 * kZone) == written_) << "written data differ";
  EXPECT_EQ(ep().Load64(kCounter), adds_);
  ep().ExpectNoCompletion();
}

}  // namespace
}  // namespace wire
