// SPDX-License-Identifier: GPL-2.0-only
#include "plan.h"

#include <algorithm>

#include "fault.h"

namespace srnverify {
namespace {

constexpr uint32_t kPsnMask = 0xffffff;
// An unreliable lane's message may have so many packets: nothing slows its sender down, and what a
// queue on the way does not take is lost.
constexpr uint32_t kUnreliablePackets = 128;
// All receives of a shared queue are as large as the largest message that may come.
constexpr uint32_t kSharedQueueSize = 66000;

std::vector<ibv_qp_type> Types(const Features& features) {
  std::vector<ibv_qp_type> types;
  if (features.Has("rc")) types.push_back(IBV_QPT_RC);
  if (features.Has("uc")) types.push_back(IBV_QPT_UC);
  if (features.Has("ud")) types.push_back(IBV_QPT_UD);
  std::erase_if(types, [&](ibv_qp_type type) { return OpsOf(type, features).empty(); });
  return types;
}

std::vector<uint32_t> Mtus(const Recipe& recipe, const Features& features) {
  std::vector<uint32_t> mtus;
  for (uint32_t mtu = 256; mtu <= features.mtu; mtu *= 2)
    if ((recipe.mtu == 0 || recipe.mtu == mtu) && features.Has("mtu-" + std::to_string(mtu)))
      mtus.push_back(mtu);
  if (mtus.empty()) throw Fault("no path MTU that both ends have");
  return mtus;
}

uint32_t MaxSize(const Lane& lane, const Recipe& recipe, uint32_t port_mtu) {
  switch (lane.type) {
    case IBV_QPT_UD:
      return std::min(port_mtu, recipe.max_size);
    case IBV_QPT_UC:
      return std::min(kUnreliablePackets * lane.mtu, recipe.max_size);
    default:
      return recipe.max_size;
  }
}

// Half of them begin so that the 24 bits of the PSN wrap soon.
uint32_t FirstPsn(Random& random) {
  return random.Chance(50) ? random.Next32() & kPsnMask : kPsnMask - random.Below(64);
}

// Where receives are taken from, and how completions are waited for.
struct Manner {
  bool srq, events, solicited;
};

const std::vector<Manner> kManners = {{false, false, false}, {false, true, false},
                                      {false, true, true},   {true, false, false},
                                      {true, true, false},   {true, true, true}};

Lane MakeLane(ibv_qp_type type, uint32_t mtu, const Manner& manner, const Recipe& recipe,
              const Features& features, Random& random) {
  Lane lane;
  lane.type = type;
  lane.mtu = mtu;
  lane.srq = manner.srq && features.Has("srq") && CanShareQueue(type, recipe);
  lane.events = manner.events && features.Has("events");
  lane.solicited =
      manner.solicited && lane.events && features.Has("solicited") && CanBeSolicited(type, recipe);
  for (uint32_t& psn : lane.psn) psn = FirstPsn(random);
  lane.qkey = random.Next32() & 0x7fffffff;
  lane.max_size = MaxSize(lane, recipe, features.mtu);
  if (lane.srq) lane.max_size = std::min(lane.max_size, kSharedQueueSize);
  return lane;
}

void Mix(uint64_t& digest, uint64_t value) {
  digest = (digest ^ value) * 0x100000001b3;
  digest ^= digest >> 29;
}

}  // namespace

const char* Name(Op op) {
  switch (op) {
    case Op::kSend:
      return "SEND";
    case Op::kSendImm:
      return "SEND_WITH_IMM";
    case Op::kSendInv:
      return "SEND_WITH_INV";
    case Op::kWrite:
      return "WRITE";
    case Op::kWriteImm:
      return "WRITE_WITH_IMM";
    case Op::kRead:
      return "READ";
    case Op::kCompareSwap:
      return "CMP_SWAP";
    case Op::kFetchAdd:
      return "FETCH_ADD";
    case Op::kAtomicWrite:
      return "ATOMIC_WRITE";
  }
  return "?";
}

const char* Name(ibv_qp_type type) {
  switch (type) {
    case IBV_QPT_RC:
      return "RC";
    case IBV_QPT_UC:
      return "UC";
    default:
      return "UD";
  }
}

bool IsSend(Op op) { return op == Op::kSend || op == Op::kSendImm || op == Op::kSendInv; }
bool HasImm(Op op) { return op == Op::kSendImm || op == Op::kWriteImm; }
bool Consumes(Op op) { return IsSend(op) || op == Op::kWriteImm; }
bool IsAtomic(Op op) { return op == Op::kCompareSwap || op == Op::kFetchAdd; }
bool IsWrite(Op op) { return op == Op::kWrite || op == Op::kWriteImm || op == Op::kAtomicWrite; }
bool IsRdma(Op op) { return !IsSend(op); }

std::vector<Op> OpsOf(ibv_qp_type type, const Features& features) {
  std::vector<Op> ops;
  const auto add = [&](const char* name, std::initializer_list<Op> more) {
    if (features.Has(name)) ops.insert(ops.end(), more);
  };
  add("send", {Op::kSend, Op::kSend});
  if (features.Has("send")) add("imm", {Op::kSendImm});
  if (type == IBV_QPT_UD) return ops;
  add("write", {Op::kWrite, Op::kWrite});
  if (features.Has("write")) add("imm", {Op::kWriteImm});
  if (type == IBV_QPT_UC) return ops;
  add("read", {Op::kRead, Op::kRead});
  add("atomic", {Op::kCompareSwap, Op::kFetchAdd});
  add("atomic-write", {Op::kAtomicWrite});
  return ops;
}

bool HasWindow(const Lane& lane, const Features& features) {
  return lane.reliable() && features.Has("window") &&
         (features.Has("write") || features.Has("read"));
}

bool InvalidatesWindows(const Features& features) {
  return features.Has("send") && features.Has("fence");
}

// What is left in a shared queue after a loss would be another lane's.
bool CanShareQueue(ibv_qp_type type, const Recipe& recipe) {
  return type == IBV_QPT_RC || (type == IBV_QPT_UD && !recipe.lossy);
}

// Without the solicited message nobody would hear of the others.
bool CanBeSolicited(ibv_qp_type type, const Recipe& recipe) {
  return type == IBV_QPT_RC || !recipe.lossy;
}

uint64_t Round::Digest() const {
  uint64_t digest = 0xcbf29ce484222325;
  Mix(digest, number);
  Mix(digest, fill);
  for (const Step& step : steps) {
    Mix(digest, step.id);
    Mix(digest, static_cast<uint64_t>(step.lane) << 32 | step.size);
    Mix(digest, static_cast<uint64_t>(step.op) << 32 | step.pattern);
    for (uint32_t piece : step.pieces) Mix(digest, piece);
  }
  for (const Receive& receive : receives) {
    Mix(digest, receive.id);
    for (uint32_t piece : receive.pieces) Mix(digest, piece);
  }
  return digest;
}

std::vector<int> Plan::LanesOf(int thread) const {
  std::vector<int> own;
  for (size_t i = thread; i < lanes.size(); i += recipe.threads) own.push_back(static_cast<int>(i));
  return own;
}

Plan MakePlan(const Recipe& recipe, const Features& common) {
  Plan plan{.recipe = recipe, .features = common, .lanes = {}};
  for (const std::string& name : recipe.without) plan.features.names.erase(name);
  if (!plan.features.Has("events") || !plan.features.Has("send"))
    plan.features.names.erase("solicited");
  if (!plan.features.Has("wr")) plan.features.names.erase("atomic-write");
  const std::vector<ibv_qp_type> types = Types(plan.features);
  if (types.empty())
    throw Fault("no type of queue pair that both ends have, and no operation of one");

  Random random(recipe.seed);
  // Decks for each type: with six lanes or more of a type all manners and all MTUs are there.
  std::vector<Deck<uint32_t>> mtus(types.size(), Deck<uint32_t>(Mtus(recipe, plan.features)));
  std::vector<Deck<Manner>> manners(types.size(), Deck<Manner>(kManners));
  std::vector<Deck<int>> polling(types.size(), Deck<int>({0, 1}));
  // Threads take turns with the lanes: each gets all types.
  for (int i = 0; i < recipe.qps * recipe.threads; ++i) {
    const size_t type = i / recipe.threads % types.size();
    const uint32_t mtu = types[type] == IBV_QPT_UD ? plan.features.mtu : mtus[type].Draw(random);
    plan.lanes.push_back(
        MakeLane(types[type], mtu, manners[type].Draw(random), recipe, plan.features, random));
    plan.lanes.back().cq_ex = polling[type].Draw(random) == 1 && plan.features.Has("cq-ex");
  }
  return plan;
}

}  // namespace srnverify
