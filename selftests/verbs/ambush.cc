// SPDX-License-Identifier: GPL-2.0-only
#include "ambush.h"

#include <linux/bpf.h>
#include <net/if.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <optional>

#include "inside.h"

namespace verbs_test {
namespace {

using result::SetupFailure;

// Younger than the headers of some: a program at the front of what a netdev has received.
constexpr auto kTcxIngress = static_cast<bpf_attach_type>(46);
constexpr int kTcxNext = -1;
constexpr int kTcxDrop = 2;

// Offsets in the frame.
constexpr int kBth = 14 + 20 + 8;
constexpr int kPsn = kBth + 8;
constexpr int kSyndrome = kBth + 12;
constexpr int kNakClass = 0x60;  // of a syndrome, and its mask

constexpr uint32_t kMost = 64;

struct Trap {
  uint32_t skip, left, lost;
};

uint32_t Key(Prey prey, uint32_t psn) { return static_cast<uint32_t>(prey) << 24 | psn; }

int Bpf(bpf_cmd command, bpf_attr& attr) {
  return static_cast<int>(syscall(SYS_bpf, command, &attr, sizeof(attr)));
}

int MustBpf(bpf_cmd command, bpf_attr& attr, const char* what) {
  const int fd = Bpf(command, attr);
  if (fd < 0) throw SetupFailure(std::string(what) + ": " + strerror(errno));
  return fd;
}

// Instructions. Jumps are counted from the next one.
constexpr bpf_insn Op(int code, int dst, int src, int off, int imm) {
  bpf_insn insn = {};
  insn.code = static_cast<__u8>(code);
  insn.dst_reg = dst & 0xf;
  insn.src_reg = src & 0xf;
  insn.off = static_cast<__s16>(off);
  insn.imm = imm;
  return insn;
}
constexpr bpf_insn Set(int dst, int imm) { return Op(BPF_ALU64 | BPF_MOV | BPF_K, dst, 0, 0, imm); }
constexpr bpf_insn Copy(int dst, int src) {
  return Op(BPF_ALU64 | BPF_MOV | BPF_X, dst, src, 0, 0);
}
constexpr bpf_insn Do(int op, int dst, int imm) {
  return Op(BPF_ALU64 | op | BPF_K, dst, 0, 0, imm);
}
constexpr bpf_insn If(int op, int dst, int imm, int skip) {
  return Op(BPF_JMP | op | BPF_K, dst, 0, skip, imm);
}
constexpr bpf_insn Go(int skip) { return Op(BPF_JMP | BPF_JA, 0, 0, skip, 0); }
constexpr bpf_insn FromPacket(int size, int offset) {  // to register 0
  return Op(BPF_LD | BPF_ABS | size, 0, 0, 0, offset);
}
constexpr bpf_insn Load(int dst, int src, int offset) {
  return Op(BPF_LDX | BPF_MEM | BPF_W, dst, src, offset, 0);
}
constexpr bpf_insn Store(int dst, int src, int offset) {
  return Op(BPF_STX | BPF_MEM | BPF_W, dst, src, offset, 0);
}
constexpr bpf_insn Call(int function) { return Op(BPF_JMP | BPF_CALL, 0, 0, 0, function); }
constexpr bpf_insn Exit() { return Op(BPF_JMP | BPF_EXIT, 0, 0, 0, 0); }

constexpr int Number(Prey prey) { return static_cast<int>(prey); }

int LoadProgram(int map) {
  // 6: the packet, 7: what it is. A packet that is too short ends it, and passes.
  const bpf_insn program[] = {
      Copy(6, 1),
      FromPacket(BPF_B, kBth),
      Set(7, Number(Prey::kRequest)),
      If(BPF_JLT, 0, 0x0c, 12),  // psn
      Set(7, Number(Prey::kReadRequest)),
      If(BPF_JEQ, 0, 0x0c, 10),
      Set(7, Number(Prey::kResponse)),
      If(BPF_JLT, 0, 0x11, 8),
      Set(7, Number(Prey::kSack)),
      If(BPF_JEQ, 0, 0xc7, 6),
      If(BPF_JNE, 0, 0x11, 34),  // pass
      Set(7, Number(Prey::kAck)),
      FromPacket(BPF_B, kSyndrome),
      Do(BPF_AND, 0, kNakClass),
      If(BPF_JNE, 0, kNakClass, 1),
      Set(7, Number(Prey::kNak)),
      // psn:
      Do(BPF_LSH, 7, 24),
      FromPacket(BPF_W, kPsn),
      Do(BPF_AND, 0, 0xffffff),
      Op(BPF_ALU64 | BPF_OR | BPF_X, 0, 7, 0, 0),
      Store(10, 0, -4),
      Op(BPF_LD | BPF_DW | BPF_IMM, 1, BPF_PSEUDO_MAP_FD, 0, map),
      {},
      Copy(2, 10),
      Do(BPF_ADD, 2, -4),
      Call(BPF_FUNC_map_lookup_elem),
      If(BPF_JNE, 0, 0, 8),  // found
      Do(BPF_OR, 7, Ambush::kAnyPsn),
      Store(10, 7, -4),
      Op(BPF_LD | BPF_DW | BPF_IMM, 1, BPF_PSEUDO_MAP_FD, 0, map),
      {},
      Copy(2, 10),
      Do(BPF_ADD, 2, -4),
      Call(BPF_FUNC_map_lookup_elem),
      If(BPF_JEQ, 0, 0, 10),  // pass
      // found:
      Load(1, 0, offsetof(Trap, skip)),
      If(BPF_JEQ, 1, 0, 3),
      Do(BPF_SUB, 1, 1),
      Store(0, 1, offsetof(Trap, skip)),
      Go(5),  // pass
      Load(1, 0, offsetof(Trap, left)),
      If(BPF_JEQ, 1, 0, 3),
      Do(BPF_SUB, 1, 1),
      Store(0, 1, offsetof(Trap, left)),
      Go(2),  // lose
      // pass:
      Set(0, kTcxNext),
      Exit(),
      // lose:
      Load(1, 0, offsetof(Trap, lost)),
      Do(BPF_ADD, 1, 1),
      Store(0, 1, offsetof(Trap, lost)),
      Set(0, kTcxDrop),
      Exit(),
  };
  char log[8192] = {};
  bpf_attr attr = {};
  attr.prog_type = BPF_PROG_TYPE_SCHED_CLS;
  attr.expected_attach_type = kTcxIngress;
  attr.insns = reinterpret_cast<uintptr_t>(program);
  attr.insn_cnt = std::size(program);
  attr.license = reinterpret_cast<uintptr_t>("GPL");
  attr.log_buf = reinterpret_cast<uintptr_t>(log);
  attr.log_size = sizeof(log);
  attr.log_level = 1;
  const int fd = Bpf(BPF_PROG_LOAD, attr);
  if (fd < 0) throw SetupFailure(std::string("BPF_PROG_LOAD: ") + strerror(errno) + "\n" + log);
  return fd;
}

int CreateMap() {
  bpf_attr attr = {};
  attr.map_type = BPF_MAP_TYPE_HASH;
  attr.key_size = sizeof(uint32_t);
  attr.value_size = sizeof(Trap);
  attr.max_entries = kMost;
  return MustBpf(BPF_MAP_CREATE, attr, "BPF_MAP_CREATE");
}

int Attach(int program, const std::string& netns, const std::string& dev) {
  std::optional<Inside> inside;
  if (!netns.empty()) inside.emplace(netns);
  bpf_attr attr = {};
  attr.link_create.prog_fd = static_cast<__u32>(program);
  attr.link_create.target_ifindex = if_nametoindex(dev.c_str());
  attr.link_create.attach_type = kTcxIngress;
  return MustBpf(BPF_LINK_CREATE, attr, "BPF_LINK_CREATE");
}

}  // namespace

Ambush::Ambush(const std::string& netns, const std::string& dev)
    : map_(CreateMap()), program_(LoadProgram(map_.get())) {
  link_ = net::UniqueFd(Attach(program_.get(), netns, dev));
}

void Ambush::Lose(Prey prey, uint32_t psn, uint32_t times, uint32_t skip) {
  uint32_t key = Key(prey, psn);
  Trap trap = {.skip = skip, .left = times, .lost = 0};
  bpf_attr attr = {};
  attr.map_fd = static_cast<__u32>(map_.get());
  attr.key = reinterpret_cast<uintptr_t>(&key);
  attr.value = reinterpret_cast<uintptr_t>(&trap);
  MustBpf(BPF_MAP_UPDATE_ELEM, attr, "BPF_MAP_UPDATE_ELEM");
}

uint32_t Ambush::Lost(Prey prey, uint32_t psn) {
  uint32_t key = Key(prey, psn);
  Trap trap = {};
  bpf_attr attr = {};
  attr.map_fd = static_cast<__u32>(map_.get());
  attr.key = reinterpret_cast<uintptr_t>(&key);
  attr.value = reinterpret_cast<uintptr_t>(&trap);
  MustBpf(BPF_MAP_LOOKUP_ELEM, attr, "BPF_MAP_LOOKUP_ELEM");
  attr.value = 0;
  MustBpf(BPF_MAP_DELETE_ELEM, attr, "BPF_MAP_DELETE_ELEM");
  return trap.lost;
}

}  // namespace verbs_test
