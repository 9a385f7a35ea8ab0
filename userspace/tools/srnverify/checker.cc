// SPDX-License-Identifier: GPL-2.0-only
#include "checker.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "fault.h"
#include "grh.h"

namespace srnverify {
namespace {

int Peer(int side) { return 1 - side; }

ibv_wc_opcode SendOpcode(Op op) {
  switch (op) {
    case Op::kWrite:
    case Op::kWriteImm:
      return IBV_WC_RDMA_WRITE;
    case Op::kRead:
      return IBV_WC_RDMA_READ;
    case Op::kCompareSwap:
      return IBV_WC_COMP_SWAP;
    case Op::kFetchAdd:
      return IBV_WC_FETCH_ADD;
    case Op::kAtomicWrite:
      return IBV_WC_ATOMIC_WRITE;
    default:
      return IBV_WC_SEND;
  }
}

uint64_t LengthOf(const std::vector<Extent>& extents) {
  uint64_t length = 0;
  for (const Extent& extent : extents) length += extent.length;
  return length;
}

}  // namespace

Checker::Checker(const Plan& plan, const Round& round, const Layout& layout, int side,
                 const Ends& ends, std::vector<uint32_t> rkeys)
    : plan_(plan),
      round_(round),
      layout_(layout),
      side_(side),
      ends_(ends),
      rkeys_(std::move(rkeys)),
      image_(round, layout, side),
      fates_(round.steps.size()),
      filled_(round.receives.size()) {
  for (size_t i = 0; i < round.steps.size(); ++i) {
    const Step& step = round.steps[i];
    if (step.from == side) {
      step_ids_[step.id] = i;
      if (step.signaled) {
        signaled_[step.lane].push_back(i);
        ++sends_left_;
      }
    } else if (Consumes(step.op)) {
      coming_[step.lane].push_back(i);
      if (!Lossy(step)) ++receives_left_;
    }
  }
  for (size_t i = 0; i < round.receives.size(); ++i) {
    if (round.receives[i].side != side) continue;
    receive_ids_[round.receives[i].id] = i;
    queued_[round.receives[i].lane].push_back(i);
  }
}

std::string Checker::Describe(size_t index) const {
  const Step& step = round_.steps[index];
  const int to = Peer(step.from);
  return fmt::format("round {}, message {}: {} {} of {} bytes{}{}{}{}, {} to {}, QP {:#x} to {:#x}",
                     round_.number, index, Name(LaneOf(step).type), Name(step.op), step.size,
                     step.inlined ? ", inline" : "", step.window ? ", by a window" : "",
                     step.echo >= 0 ? ", of what a READ brought" : "",
                     step.wr ? ", by ibv_wr_*" : "", ends_.name[step.from], ends_.name[to],
                     ends_.qpn[step.from][step.lane], ends_.qpn[to][step.lane]);
}

void Checker::Fail(size_t step, const std::string& what) const {
  throw Fault(fmt::format("{}: {}", Describe(step), what));
}

void Checker::Scribbled(size_t step, ConstBytes what) {
  image_.Scatter(layout_.local(step), 0, what);
}

// Which queue it is of tells the wr_id: where the status is an error, the opcode is not defined.
void Checker::Completed(const ibv_wc& wc, ConstBytes arena) {
  if (receive_ids_.count(wc.wr_id))
    Received(wc, arena);
  else
    Sent(wc, arena);
}

size_t Checker::StepOf(const ibv_wc& wc) const {
  const auto found = step_ids_.find(wc.wr_id);
  if (found != step_ids_.end()) return found->second;
  throw Fault(
      fmt::format("round {}: a completion with the wr_id {:#x}, which nothing has, of QP {:#x}: {}",
                  round_.number, wc.wr_id, wc.qp_num, ibv_wc_status_str(wc.status)));
}

size_t Checker::ReceiveOf(const ibv_wc& wc) const {
  const size_t receive = receive_ids_.at(wc.wr_id);
  if (filled_[receive])
    throw Fault(fmt::format("round {}: receive {} of QP {:#x} completed twice", round_.number,
                            receive, wc.qp_num));
  return receive;
}

void Checker::CheckSendOrder(size_t index, const ibv_wc& wc) {
  const Step& step = round_.steps[index];
  if (wc.qp_num != ends_.qpn[side_][step.lane])
    Fail(index, fmt::format("completion has QP {:#x}", wc.qp_num));
  if (wc.status != IBV_WC_SUCCESS)
    Fail(index,
         fmt::format("{} (vendor error {:#x})", ibv_wc_status_str(wc.status), wc.vendor_err));
  if (fates_[index].completed) Fail(index, "completed twice");
  if (!step.signaled) Fail(index, "completed though it is not signaled");
  std::deque<size_t>& due = signaled_[step.lane];
  if (due.front() != index)
    Fail(index, "completed before an earlier one, which was: " + Describe(due.front()));
  due.pop_front();
}

void Checker::Sent(const ibv_wc& wc, ConstBytes arena) {
  const size_t index = StepOf(wc);
  const Step& step = round_.steps[index];
  CheckSendOrder(index, wc);
  CheckCommonFields(index, wc);
  if (wc.opcode != SendOpcode(step.op))
    Fail(index, fmt::format("completion has opcode {}, expected {}", static_cast<int>(wc.opcode),
                            static_cast<int>(SendOpcode(step.op))));
  // Of others it is not defined.
  if ((step.op == Op::kRead || IsAtomic(step.op)) && wc.byte_len != step.size)
    Fail(index, fmt::format("completion has byte_len {}", wc.byte_len));
  fates_[index].completed = true;
  --sends_left_;
  CheckResult(index, arena);
}

// Of all that succeeded: there is nothing to tell, and RoCE has but one P_Key.
void Checker::CheckCommonFields(size_t index, const ibv_wc& wc) const {
  if (wc.vendor_err != 0)
    Fail(index, fmt::format("succeeded with vendor error {:#x}", wc.vendor_err));
  if (wc.pkey_index != 0) Fail(index, fmt::format("completed with pkey_index {}", wc.pkey_index));
}

// What a completed READ or atomic has brought is there with the completion.
void Checker::CheckResult(size_t index, ConstBytes arena) {
  const Step& step = round_.steps[index];
  if (step.op == Op::kRead) CheckBytes(arena, layout_.local(index), 0, index, "what it brought");
  if (!IsAtomic(step.op) || step.shared) return;
  uint64_t old;
  const std::vector<std::byte> bytes = Gather(arena, layout_.local(index), 0, sizeof(old));
  std::memcpy(&old, bytes.data(), sizeof(old));
  if (old != step.old)
    Fail(index, fmt::format("returned {:#x}, expected {:#x}: {}", old, step.old,
                            "not executed once, in its turn"));
}

int Checker::LaneOfQp(const ibv_wc& wc, size_t receive) const {
  const int queue = round_.receives[receive].lane;
  for (const auto& [lane, messages] : coming_) {
    if (ends_.qpn[side_][lane] != wc.qp_num) continue;
    if (queue == -1 ? plan_.lanes[lane].srq : queue == lane) return lane;
  }
  throw Fault(
      fmt::format("round {}: receive {} completed for QP {:#x}, which has not posted it or "
                  "has no message to come",
                  round_.number, receive, wc.qp_num));
}

void Checker::Received(const ibv_wc& wc, ConstBytes arena) {
  const size_t receive = ReceiveOf(wc);
  if (wc.status != IBV_WC_SUCCESS)
    throw Fault(fmt::format("round {}, receive {} of QP {:#x}: {} (vendor error {:#x})",
                            round_.number, receive, wc.qp_num, ibv_wc_status_str(wc.status),
                            wc.vendor_err));
  const int lane = LaneOfQp(wc, receive);
  std::deque<size_t>& queue = queued_[round_.receives[receive].lane];
  if (round_.receives[receive].lane >= 0 && queue.front() != receive)
    throw Fault(fmt::format("round {}: receive {} of QP {:#x} completed before receive {}",
                            round_.number, receive, wc.qp_num, queue.front()));
  std::erase(queue, receive);

  const bool lossy = plan_.Lossy(plan_.lanes[lane]);
  const size_t index =
      lossy ? ArrivedLossy(lane, receive, wc, arena) : Arrived(lane, receive, wc, arena);
  ++fates_[index].arrived;
  CheckCommonFields(index, wc);
  CheckFields(index, wc);
  CheckUd(index, receive, wc, arena);
  TakeIn(index, receive, arena);
}

// The next one of its lane, and none else.
size_t Checker::Arrived(int lane, size_t receive, const ibv_wc& wc, ConstBytes) {
  std::deque<size_t>& coming = coming_[lane];
  if (coming.empty())
    throw Fault(
        fmt::format("round {}: QP {:#x} received {} bytes (receive {}) after the last "
                    "message",
                    round_.number, wc.qp_num, wc.byte_len, receive));
  const size_t index = coming.front();
  coming.pop_front();
  --receives_left_;
  return index;
}

// Any one, again perhaps, but that one whole: the first that has not arrived goes first.
size_t Checker::ArrivedLossy(int lane, size_t receive, const ibv_wc& wc, ConstBytes arena) {
  const std::deque<size_t>& coming = coming_[lane];
  std::optional<size_t> again;
  for (size_t index : coming) {
    if (!IsMessage(index, receive, wc, arena)) continue;
    if (fates_[index].arrived == 0) return index;
    again = index;
  }
  if (again) return *again;
  throw Fault(
      fmt::format("round {}, {}: QP {:#x} received {} bytes (receive {}) that no message "
                  "has",
                  round_.number, Name(plan_.lanes[lane].type), wc.qp_num, wc.byte_len, receive));
}

bool Checker::IsMessage(size_t index, size_t receive, const ibv_wc& wc, ConstBytes arena) const {
  const Step& step = round_.steps[index];
  const uint32_t grh = LaneOf(step).type == IBV_QPT_UD ? kGrhSize : 0;
  const bool write = step.op == Op::kWriteImm;
  if (write != (wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM) || wc.byte_len != step.size + grh)
    return false;
  if (HasImm(step.op) != ((wc.wc_flags & IBV_WC_WITH_IMM) != 0)) return false;
  if (HasImm(step.op) && wc.imm_data != htonl(step.imm)) return false;
  const std::vector<Extent> at =
      write ? std::vector{layout_.remote(index)} : layout_.receive(receive);
  return Gather(arena, at, grh, step.size) == Payload(step);
}

void Checker::CheckFields(size_t index, const ibv_wc& wc) const {
  const Step& step = round_.steps[index];
  const bool ud = LaneOf(step).type == IBV_QPT_UD;
  const int opcode = step.op == Op::kWriteImm ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV;
  if (wc.opcode != opcode)
    Fail(index,
         fmt::format("received with opcode {}, expected {}", static_cast<int>(wc.opcode), opcode));
  const uint32_t length = step.size + (ud ? kGrhSize : 0);
  if (wc.byte_len != length)
    Fail(index, fmt::format("received with byte_len {}, expected {}", wc.byte_len, length));
  unsigned flags = HasImm(step.op) ? IBV_WC_WITH_IMM : 0;
  if (step.op == Op::kSendInv) flags |= ends_.inv_flag[side_];
  if (ud) flags |= IBV_WC_GRH;
  // Off UD the flag of a GRH is not defined, and there are devices that set it.
  const unsigned got = wc.wc_flags & ~(ud ? 0u : static_cast<unsigned>(IBV_WC_GRH));
  if (got != flags)
    Fail(index, fmt::format("received with wc_flags {:#x}, expected {:#x}", got, flags));
  if (HasImm(step.op) && wc.imm_data != htonl(step.imm))
    Fail(index,
         fmt::format("received with imm_data {:#x}, expected {:#x}", ntohl(wc.imm_data), step.imm));
  if (step.op != Op::kSendInv) return;
  for (size_t w = 0; w < round_.windows.size(); ++w)
    if (round_.windows[w].side == side_ && round_.windows[w].lane == step.lane &&
        wc.invalidated_rkey != rkeys_[w])
      Fail(index,
           fmt::format("invalidated rkey {:#x}, expected {:#x}", wc.invalidated_rkey, rkeys_[w]));
}

void Checker::CheckUd(size_t index, size_t receive, const ibv_wc& wc, ConstBytes arena) {
  const Step& step = round_.steps[index];
  if (LaneOf(step).type != IBV_QPT_UD) return;
  if (wc.src_qp != ends_.qpn[step.from][step.lane])
    Fail(index, fmt::format("received with src_qp {:#x}", wc.src_qp));
  const int sl = ServiceLevel(ends_.gid[side_]);
  if (ends_.tells_sl[side_] && wc.sl != sl)
    Fail(index, fmt::format("received with sl {}, expected {}", wc.sl, sl));
  // There are no LIDs over Ethernet.
  if (wc.slid != 0 || wc.dlid_path_bits != 0)
    Fail(index, fmt::format("received with slid {}, dlid_path_bits {}, expected 0", wc.slid,
                            wc.dlid_path_bits));
  const std::string wrong =
      WrongInGrh(Gather(arena, layout_.receive(receive), 0, kGrhSize), ends_.gid[step.from],
                 ends_.gid[side_], step.size, HasImm(step.op));
  if (!wrong.empty()) Fail(index, wrong);
  image_.Accept(layout_.receive(receive), 0, kGrhSize, arena);
}

// What a completed receive has is there with the completion, and so is what was written before it.
void Checker::TakeIn(size_t index, size_t receive, ConstBytes arena) {
  const Step& step = round_.steps[index];
  const uint32_t grh = LaneOf(step).type == IBV_QPT_UD ? kGrhSize : 0;
  filled_[receive] = 0;
  if (IsSend(step.op)) {
    filled_[receive] = grh + step.size;
    if (LengthOf(layout_.receive(receive)) < grh + step.size)
      Fail(index, "received in a request that has no room for it");
    CheckBytes(arena, layout_.receive(receive), grh, index, "what was received");
    image_.Scatter(layout_.receive(receive), grh, Payload(step));
  }
  if (step.op == Op::kWriteImm || !Lossy(step)) CheckWritesUpTo(index, arena);
}

void Checker::CheckWritesUpTo(size_t last, ConstBytes arena) {
  const Step& end = round_.steps[last];
  for (size_t i = Lossy(end) ? last : 0; i <= last; ++i) {
    const Step& step = round_.steps[i];
    if (step.lane != end.lane || step.from != end.from) continue;
    if (!IsWrite(step.op) || fates_[i].written) continue;
    fates_[i].written = true;
    CheckBytes(arena, {layout_.remote(i)}, 0, i, "what was written");
  }
}

void Checker::CheckBytes(ConstBytes arena, const std::vector<Extent>& extents, uint64_t skip,
                         size_t index, const char* where) const {
  const Step& step = round_.steps[index];
  const std::vector<std::byte> got = Gather(arena, extents, skip, step.size);
  const std::optional<size_t> at = verbs::FirstMismatch(got, step.pattern);
  if (!at) return;
  const std::vector<std::byte> want = Payload(step);
  size_t wrong = 0;
  for (size_t i = *at; i < got.size(); ++i) wrong += got[i] != want[i];
  Fail(index,
       fmt::format("byte {} of {} is {:#04x}, expected {:#04x} ({} bytes from it on are wrong)",
                   *at, where, static_cast<int>(got[*at]), static_cast<int>(want[*at]), wrong));
}

std::string Checker::Outstanding() const {
  std::string text = fmt::format("round {}: {} send completions and {} receives are outstanding",
                                 round_.number, sends_left_, receives_left_);
  for (const auto& [lane, due] : signaled_)
    if (!due.empty())
      text += fmt::format("\n  not completed ({}): {}", due.size(), Describe(due.front()));
  for (const auto& [lane, coming] : coming_)
    if (!coming.empty() && !plan_.Lossy(plan_.lanes[lane]))
      text += fmt::format("\n  not received ({}): {}", coming.size(), Describe(coming.front()));
  return text;
}

}  // namespace srnverify
