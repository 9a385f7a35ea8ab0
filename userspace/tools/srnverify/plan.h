// SPDX-License-Identifier: GPL-2.0-only
// What is sent, by whom, in which shape: made from a seed and from what both devices can do, and
// so the same on both ends.
//
// A plan has lanes, each a queue pair on either end, that threads share out among themselves. A
// thread works in rounds: all steps of a round are posted without waiting for each other, on all
// its lanes and in both directions; when all are complete, all memory is compared.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <string>
#include <vector>

#include "features.h"
#include "random.h"
#include "recipe.h"

namespace srnverify {

// The two ends: the server is 0, the client 1.
inline constexpr int kSides = 2;

enum class Op : uint8_t {
  kSend,
  kSendImm,
  kSendInv,
  kWrite,
  kWriteImm,
  kRead,
  kCompareSwap,
  kFetchAdd,
  kAtomicWrite,
};

const char* Name(Op op);
const char* Name(ibv_qp_type type);
// Whether the other end's receive queue is used.
bool Consumes(Op op);
bool HasImm(Op op);
bool IsSend(Op op);
// What works on a word and returns what was there.
bool IsAtomic(Op op);
// What leaves its bytes in memory of the other end.
bool IsWrite(Op op);
// Whether it reaches memory of the other end by address.
bool IsRdma(Op op);

struct Lane {
  ibv_qp_type type = IBV_QPT_RC;
  bool srq = false;
  // Completions come after a notification; those of receives, if `solicited`, after one that was
  // asked for solicited messages alone.
  bool events = false;
  bool solicited = false;
  // Completions are polled by the calls of ibv_cq_ex.
  bool cq_ex = false;
  // Of the path; a datagram's is that of the port.
  uint32_t mtu = 1024;
  uint32_t psn[kSides] = {};
  uint32_t qkey = 0;
  // The largest message of an operation that is not cut in packets by the type.
  uint32_t max_size = 0;

  bool reliable() const { return type == IBV_QPT_RC; }
  bool connected() const { return type != IBV_QPT_UD; }
};

// A request of one end.
struct Step {
  uint64_t id = 0;
  int lane = 0;
  // The end that posts it.
  int from = 0;
  Op op = Op::kSend;
  uint32_t size = 0;
  // Of what is sent; of READ, of what is there to be read.
  uint32_t pattern = 0;
  // Lengths of the local scatter/gather elements.
  std::vector<uint32_t> pieces;
  bool inlined = false;
  bool signaled = true;
  bool fenced = false;
  bool solicited = false;
  // Posted by ibv_wr_*().
  bool wr = false;
  // Its remote key is that of the lane's memory window on the other end.
  bool window = false;
  // Its local memory is that of an earlier READ, the step of that index: what that READ has
  // brought is sent.
  int echo = -1;
  uint32_t imm = 0;
  // Atomics: on the word that all lanes of the thread share, not on the lane's own. What is there
  // before is known of the lane's own.
  bool shared = false;
  uint64_t compare = 0, operand = 0, old = 0;

  // What is sent was taken when it was posted.
  bool taken() const { return inlined || op == Op::kAtomicWrite; }
};

// A receive request.
struct Receive {
  uint64_t id = 0;
  int side = 0;
  // -1: of the shared receive queue.
  int lane = 0;
  // Without the 40 bytes in front that UD needs.
  uint32_t capacity = 0;
  bool grh = false;
  std::vector<uint32_t> pieces;
};

// What atomics work on.
struct Word {
  int side = 0;
  // -1: the shared one.
  int lane = 0;
  uint64_t before = 0, after = 0;
};

// A memory window that is bound before the round.
struct Window {
  int side = 0;
  int lane = 0;
  // A step invalidates it, else its owner does after the round.
  bool remote_inv = false;
};

struct Round {
  uint32_t number = 0;
  uint32_t fill = 0;
  // RC's receives, those of the shared queue among them, are posted when the other end sends
  // already. Datagrams would be lost: UD lanes with a shared queue rest.
  bool late = false;
  std::vector<Step> steps;
  std::vector<Receive> receives;
  std::vector<Word> words;
  std::vector<Window> windows;

  // Both ends compare it: they plan alike.
  uint64_t Digest() const;
};

struct Plan {
  Recipe recipe;
  Features features;
  // Of all threads: lane l is of thread l % threads.
  std::vector<Lane> lanes;

  std::vector<int> LanesOf(int thread) const;
  // Loss is no fault there.
  bool Lossy(const Lane& lane) const { return recipe.lossy && !lane.reliable(); }
};

// What lanes of a type do, those that are done more often as often again.
std::vector<Op> OpsOf(ibv_qp_type type, const Features& features);

// Whether windows are bound for its WRITEs and READs.
bool HasWindow(const Lane& lane, const Features& features);
// Whether SEND_WITH_INV invalidates some of them: it takes a fence, see Planner::AddWindow().
bool InvalidatesWindows(const Features& features);
bool CanShareQueue(ibv_qp_type type, const Recipe& recipe);
// Whether such a lane can wait for solicited messages alone.
bool CanBeSolicited(ibv_qp_type type, const Recipe& recipe);

// Throws Fault if there is nothing that both can do.
Plan MakePlan(const Recipe& recipe, const Features& common);

}  // namespace srnverify
