// SPDX-License-Identifier: GPL-2.0-only
// Messages of each kind over a connection that starts anew for each of them, so that the PSN of
// every packet is known, and what must be true of them whatever became of their packets.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "env.h"
#include "fates.h"
#include "hw_counters.h"

namespace verbs_test {

enum class Kind {
  kSend,
  kSendImm,
  kSendInv,
  kShortSends,  // as many messages of one packet as the others have packets
  kWrite,
  kWriteImm,
  kRead,
  kFetchAdd,  // as many as the others have packets
  kCompareSwap,
  kAtomicWrite,
};

const char* ToString(Kind kind);
// As many of one packet as the others have packets, which are answered one by one.
bool IsAtomic(Kind kind);

// How many packets of which path MTU, of 256 bytes or more.
struct Shape {
  int packets = 5;
  int mtu = 1024;
};

// Packets that were refused before a QP saw them.
uint64_t Refused(const HwCounts& counts);

class FateChannel : public WireTest {
 protected:
  static constexpr uint32_t kPsnA = 0xfffffd;  // it wraps in each message
  static constexpr uint32_t kPsnB = 0x001234;
  // As long as nobody has to wait for it, and as short as waiting a thousand times takes.
  static constexpr uint8_t kLongTimeout = 17;   // 537 ms
  static constexpr uint8_t kShortTimeout = 11;  // 8.4 ms

  FateChannel() : WireTest(128 << 10) {}
  void SetUp() override;
  void TearDown() override;

  // How connections that begin from now on repair loss (the module's parameter "recovery"), until
  // the test ends.
  void SetRecovery(const std::string& how);
  // Whether they hold what comes early; and tell of it by SACKs.
  static bool Holds();
  static bool Sacks();

  // Both QPs from RESET to RTS, and no fate for anybody. Peers that understand SACKs have met:
  // what they say to each other for that is no part of the messages that follow.
  void Renew(const Shape& shape, uint8_t timeout, const WireOptions& wire = {});
  // Of what either QP is sent, at random, from here on; what goes again, too.
  void LoseOneInTwenty(std::mt19937& random);
  // As Renew(), and A takes answers for 100 ms away: how long it waits for them is not a matter of
  // how busy the host is. For timeouts of seconds.
  void RenewFar(const Shape& shape, uint8_t timeout);
  // As Renew(), but they have yet to meet.
  void RenewUnmet(const Shape& shape, uint8_t timeout, const WireOptions& wire = {});
  // Both buffers, and what the peer has to have: a window, receive requests.
  void Prepare(Kind kind);
  void PostReceives(Kind kind);
  void Post(Kind kind);
  // All completions, each once and as they should be, and each byte.
  void ExpectDone(Kind kind);
  // The n-th packet of the messages as sent by A, to B.
  Fate RequestAt(int position, const std::string& action) const;
  // The n-th packet of their answers, where each has a PSN of its own.
  Fate ResponseAt(int position, const std::string& action) const;
  // Nothing else came, and both QPs are in order.
  void ExpectHealthy() const;

  size_t size() const { return static_cast<size_t>(shape_.packets) * shape_.mtu - 3; }

  End a_end_, b_end_;
  HwCounters a_counters_, b_counters_;
  Shape shape_;

 private:
  void Greet();
  void GreetLate();
  void ExpectGreeted(int times);
  void Meet();
  void BindWindow();
  std::vector<SendWr> Requests(Kind kind) const;
  SendWr Atomic(Kind kind, uint64_t i) const;
  void ExpectRequestsDone(Kind kind);
  void ExpectReceived(Kind kind);
  void ExpectBytes(Kind kind);
  void ExpectAtomics();
  void ExpectWords();

  uint32_t first_psn_ = kPsnA;  // of the messages
  std::string recovery_;        // before the test
  Mw window_;
  uint32_t window_key_ = 0;
};

}  // namespace verbs_test
