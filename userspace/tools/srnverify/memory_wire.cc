// SPDX-License-Identifier: GPL-2.0-only
#include "memory_wire.h"

#include <arpa/inet.h>
#include <netinet/ip.h>

#include <algorithm>
#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fault.h"
#include "grh.h"

namespace srnverify {
namespace {

constexpr uint32_t kRkey = 0x7700;
constexpr uint8_t kV4Gid[2][16] = {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1},
                                   {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 2}};

int Peer(int side) { return 1 - side; }

}  // namespace

Features All() {
  Features features;
  for (const std::string& name : FeatureNames()) features.names.insert(name);
  features.max_sge = features.max_sge_rd = 16;
  features.max_inline = 256;
  features.mtu = 4096;
  return features;
}

Plan PlanOf(uint64_t seed, bool lossy) {
  Recipe recipe;
  recipe.seed = seed;
  recipe.lossy = lossy;
  recipe.threads = 1;
  recipe.qps *= 2;
  return MakePlan(recipe, All());
}

Ends EndsOf(const Plan& plan) {
  Ends ends;
  for (int side = 0; side < kSides; ++side) {
    ends.name[side] = side ? "client" : "server";
    std::copy_n(kV4Gid[side], 16, ends.gid[side].raw);
    for (size_t lane = 0; lane < plan.lanes.size(); ++lane)
      ends.qpn[side].push_back(static_cast<uint32_t>(100 * (side + 1) + lane));
  }
  return ends;
}

Wire::Wire(const Plan& plan, const Round& round, const Ends& ends)
    : plan_(plan), round_(round), ends_(ends), layout_(round) {
  std::vector<uint32_t> keys;
  for (size_t i = 0; i < round.windows.size(); ++i) keys.push_back(kRkey + i);
  for (int side = 0; side < kSides; ++side) {
    checkers_.emplace_back(plan, round, layout_, side, ends_, keys);
    const ConstBytes image = checkers_[side].image().bytes();
    arena_[side].assign(image.begin(), image.end());
    before_[side] = arena_[side];
  }
}

void Wire::Run() {
  for (size_t i = 0; i < round_.steps.size(); ++i) Execute(i);
  memory(*this);
  for (int side = 0; side < kSides; ++side) checkers_[side].Finish(arena_[side]);
}

std::string Wire::Fault() {
  try {
    Run();
  } catch (const srnverify::Fault& fault) {
    return fault.what();
  }
  return {};
}

std::byte* Wire::Remote(size_t step) {
  return arena_[Peer(round_.steps[step].from)].data() + layout_.remote(step).offset;
}

void Wire::AddLocal(size_t step, int64_t value) {
  uint64_t word;
  std::memcpy(&word, InLocal(step, 0), sizeof(word));
  word += value;
  std::memcpy(InLocal(step, 0), &word, sizeof(word));
}

std::byte* Wire::In(int side, const std::vector<Extent>& extents, size_t position) {
  for (const Extent& extent : extents) {
    if (position < extent.length) return arena_[side].data() + extent.offset + position;
    position -= extent.length;
  }
  throw std::logic_error("no such byte");
}

void Wire::Copy(std::vector<std::byte>& arena, const std::vector<Extent>& extents,
                ConstBytes what) {
  size_t done = 0;
  for (const Extent& extent : extents) {
    const size_t part = std::min<size_t>(extent.length, what.size() - done);
    std::copy_n(what.begin() + done, part, arena.begin() + extent.offset);
    done += part;
  }
}

size_t Wire::TakeReceive(size_t step) {
  const Lane& lane = plan_.lanes[round_.steps[step].lane];
  for (size_t i = 0; i < round_.receives.size(); ++i) {
    const srnverify::Receive& receive = round_.receives[i];
    if (receive.side != Peer(round_.steps[step].from) || taken_.count(i)) continue;
    if (receive.lane != (lane.srq ? -1 : round_.steps[step].lane)) continue;
    taken_.insert(i);
    return i;
  }
  throw std::logic_error("no receive is left");
}

void Wire::PutGrh(std::vector<std::byte>& payload, size_t index) const {
  const Step& step = round_.steps[index];
  std::vector<std::byte> grh(kGrhSize);
  iphdr ip = {};
  ip.version = 4;
  ip.ihl = 5;
  ip.ttl = 64;
  ip.protocol = IPPROTO_UDP;
  ip.tot_len = htons(20 + 8 + 12 + 8 + (HasImm(step.op) ? 4 : 0) + (step.size + 3) / 4 * 4 + 4);
  std::memcpy(&ip.saddr, kV4Gid[step.from] + 12, 4);
  std::memcpy(&ip.daddr, kV4Gid[Peer(step.from)] + 12, 4);
  std::memcpy(grh.data() + 20, &ip, sizeof(ip));
  payload.insert(payload.begin(), grh.begin(), grh.end());
}

void Wire::Receive(size_t index) {
  const Step& step = round_.steps[index];
  const int to = Peer(step.from);
  const size_t receive = TakeReceive(index);
  const bool ud = plan_.lanes[step.lane].type == IBV_QPT_UD;
  ibv_wc wc = {};
  wc.wr_id = round_.receives[receive].id;
  wc.qp_num = ends_.qpn[to][step.lane];
  wc.opcode = step.op == Op::kWriteImm ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV;
  wc.byte_len = step.size + (ud ? kGrhSize : 0);
  if (ud) wc.src_qp = ends_.qpn[step.from][step.lane];
  if (ud && ends_.tells_sl[to]) wc.sl = 8 | 2;
  wc.wc_flags = (ud ? IBV_WC_GRH : 0) | (HasImm(step.op) ? IBV_WC_WITH_IMM : 0);
  if (HasImm(step.op)) wc.imm_data = htonl(step.imm);
  if (step.op == Op::kSendInv) {
    wc.wc_flags = ends_.inv_flag[to];
    for (size_t w = 0; w < round_.windows.size(); ++w)
      if (round_.windows[w].side == to && round_.windows[w].lane == step.lane)
        wc.invalidated_rkey = kRkey + w;
  }
  if (IsSend(step.op)) {
    std::vector<std::byte> payload = Payload(step);
    if (ud) PutGrh(payload, index);
    Copy(arena_[to], layout_.receive(receive), payload);
  }
  Deliver({to, index, receive, wc});
}

void Wire::Atomic(size_t index) {
  const Step& step = round_.steps[index];
  uint64_t old;
  std::byte* word = arena_[Peer(step.from)].data() + layout_.remote(index).offset;
  std::memcpy(&old, word, sizeof(old));
  uint64_t value = old + step.operand;
  if (step.op == Op::kCompareSwap) value = old == step.compare ? step.operand : old;
  std::memcpy(word, &value, sizeof(value));
  Copy(arena_[step.from], layout_.local(index), std::as_bytes(std::span(&old, 1)));
}

void Wire::Execute(size_t index) {
  static constexpr ibv_wc_opcode kOpcodes[] = {
      IBV_WC_SEND,      IBV_WC_SEND,      IBV_WC_SEND,      IBV_WC_RDMA_WRITE,  IBV_WC_RDMA_WRITE,
      IBV_WC_RDMA_READ, IBV_WC_COMP_SWAP, IBV_WC_FETCH_ADD, IBV_WC_ATOMIC_WRITE};
  const Step& step = round_.steps[index];
  if (!lost.count(index)) Carry(index);
  if (twice.count(index)) Carry(index);
  if (!step.signaled) return;
  ibv_wc wc = {};
  wc.wr_id = step.id;
  wc.qp_num = ends_.qpn[step.from][step.lane];
  wc.opcode = kOpcodes[static_cast<int>(step.op)];
  wc.byte_len = step.size;
  Deliver({step.from, index, std::nullopt, wc});
}

void Wire::Carry(size_t index) {
  const Step& step = round_.steps[index];
  if (IsWrite(step.op)) Copy(arena_[Peer(step.from)], {layout_.remote(index)}, Payload(step));
  if (step.op == Op::kRead) Copy(arena_[step.from], layout_.local(index), Payload(step));
  if (IsAtomic(step.op)) Atomic(index);
  if (Consumes(step.op)) Receive(index);
}

void WithRounds(const std::function<bool(const Plan&, const Round&)>& use, bool lossy) {
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    const Plan plan = PlanOf(seed, lossy);
    Planner planner(plan, 0);
    for (int i = 0; i < 12; ++i)
      if (use(plan, planner.Next())) return;
  }
  ADD_FAILURE() << "no round has what this test needs";
}

void ExpectReported(const Wanted& wanted, const Spoil& spoil, const std::string& words,
                    bool lossy) {
  WithRounds(
      [&](const Plan& plan, const Round& round) {
        const auto step = FindStep(round, [&](const Step& s) { return wanted(plan, s); });
        if (!step) return false;
        Wire wire(plan, round);
        spoil(wire, *step);
        EXPECT_THAT(wire.Fault(), testing::HasSubstr(words));
        return true;
      },
      lossy);
}

Spoil AtReceiver(const std::function<bool(Wire&, Event&)>& change) {
  return [change](Wire& wire, size_t step) {
    wire.event = [&wire, step, change](Event& e) {
      return e.step != step || !e.receive || change(wire, e);
    };
  };
}
Spoil AtSender(const std::function<bool(Wire&, Event&)>& change) {
  return [change](Wire& wire, size_t step) {
    wire.event = [&wire, step, change](Event& e) {
      return e.step != step || e.receive || change(wire, e);
    };
  };
}
Spoil ReceivedWith(const std::function<void(ibv_wc&)>& change) {
  return AtReceiver([change](Wire&, Event& e) {
    change(e.wc);
    return true;
  });
}
Spoil SentWith(const std::function<void(ibv_wc&)>& change) {
  return AtSender([change](Wire&, Event& e) {
    change(e.wc);
    return true;
  });
}

Spoil InMemory(const std::function<std::byte*(Wire&, size_t)>& at) {
  return [at](Wire& wire, size_t step) {
    wire.memory = [step, at](Wire& w) { *at(w, step) ^= std::byte{0x10}; };
  };
}

}  // namespace srnverify
