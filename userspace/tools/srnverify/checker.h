// SPDX-License-Identifier: GPL-2.0-only
// Judges what one end sees of a round: its completions, field by field, and its memory, byte by
// byte. It calls no verbs: what completed and what is in memory is handed to it.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "image.h"
#include "layout.h"
#include "plan.h"
#include "reach.h"

namespace srnverify {

// Who is who. By side, and where there are many by lane.
struct Ends {
  std::string name[kSides];
  ibv_gid gid[kSides] = {};
  std::vector<uint32_t> qpn[kSides];
  // What a completion of SEND_WITH_INV has in wc_flags.
  unsigned inv_flag[kSides] = {IBV_WC_WITH_INV, IBV_WC_WITH_INV};
  // Whether a completion of a datagram tells the IP version in `sl`.
  bool tells_sl[kSides] = {true, true};
};

// The kernel's IB_WC_WITH_INVALIDATE, for Ends::inv_flag of devices that mistake it for
// libibverbs'.
inline constexpr unsigned kKernelWithInv = 1 << 2;

class Checker {
 public:
  // All must live as long. `rkeys` has those of the round's windows, by index.
  Checker(const Plan& plan, const Round& round, const Layout& layout, int side, const Ends& ends,
          std::vector<uint32_t> rkeys);

  // What memory must be filled with before the round.
  const Image& image() const { return image_; }
  // What has been posted inline may be overwritten: with this.
  void Scribbled(size_t step, ConstBytes what);

  // A completion; `arena` as it is now. Throws Fault.
  void Completed(const ibv_wc& wc, ConstBytes arena);

  // Whether all has completed that must.
  bool Done() const { return sends_left_ == 0 && receives_left_ == 0; }
  // Those that have not, the first of each lane by name.
  std::string Outstanding() const;

  // When both ends are done: nothing will come any more. Throws Fault.
  void Finish(ConstBytes arena);
  const Tally& tally() const { return tally_; }

  // "round 3, message 17: RC SEND of 5000 bytes, a to b, QP 0x11 to 0x12"
  std::string Describe(size_t step) const;

 private:
  void Sent(const ibv_wc& wc, ConstBytes arena);
  void Received(const ibv_wc& wc, ConstBytes arena);
  const Lane& LaneOf(const Step& step) const { return plan_.lanes[step.lane]; }
  bool Lossy(const Step& step) const { return plan_.Lossy(LaneOf(step)); }
  // The index of the request with this wr_id.
  size_t StepOf(const ibv_wc& wc) const;
  size_t ReceiveOf(const ibv_wc& wc) const;
  int LaneOfQp(const ibv_wc& wc, size_t receive) const;

  void CheckCommonFields(size_t step, const ibv_wc& wc) const;
  void CheckSendOrder(size_t step, const ibv_wc& wc);
  void CheckResult(size_t step, ConstBytes arena);
  size_t Arrived(int lane, size_t receive, const ibv_wc& wc, ConstBytes arena);
  size_t ArrivedLossy(int lane, size_t receive, const ibv_wc& wc, ConstBytes arena);
  bool IsMessage(size_t step, size_t receive, const ibv_wc& wc, ConstBytes arena) const;
  void CheckFields(size_t step, const ibv_wc& wc) const;
  void CheckUd(size_t step, size_t receive, const ibv_wc& wc, ConstBytes arena);
  void TakeIn(size_t step, size_t receive, ConstBytes arena);
  void CheckWritesUpTo(size_t step, ConstBytes arena);
  void CheckBytes(ConstBytes arena, const std::vector<Extent>& extents, uint64_t skip, size_t step,
                  const char* where) const;
  void FinishStep(size_t step, ConstBytes arena);
  void FinishWrite(size_t step, ConstBytes arena);
  void FinishShared(ConstBytes arena);
  void FinishReceives(ConstBytes arena);
  std::string DescribePlace(uint64_t offset) const;
  [[noreturn]] void Fail(size_t step, const std::string& what) const;

  const Plan& plan_;
  const Round& round_;
  const Layout& layout_;
  const int side_;
  const Ends& ends_;
  const std::vector<uint32_t> rkeys_;
  Image image_;
  Tally tally_;
  std::unordered_map<uint64_t, size_t> step_ids_, receive_ids_;

  struct Fate {
    bool completed = false;
    // At the receiver.
    int arrived = 0;
    bool written = false;
  };
  std::vector<Fate> fates_;
  // What has been received in a receive: bytes, the GRH included.
  std::vector<std::optional<uint64_t>> filled_;
  // By lane: signaled requests, messages, and own receives in their order.
  std::map<int, std::deque<size_t>> signaled_, coming_, queued_;
  size_t sends_left_ = 0, receives_left_ = 0;
};

}  // namespace srnverify
