// SPDX-License-Identifier: GPL-2.0-only
#include "hostile_ring.h"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

namespace verbs_test {

std::vector<Mapping> MappedQueues() {
  std::vector<Mapping> queues;
  std::ifstream maps("/proc/self/maps");

  for (std::string line; std::getline(maps, line);) {
    if (line.find("/dev/infiniband/uverbs") == std::string::npos) continue;
    uint64_t start = 0, end = 0;
    char dash = 0;
    std::istringstream(line) >> std::hex >> start >> dash >> end;
    queues.push_back({start, end - start});
  }
  return queues;
}

std::vector<Mapping> Added(const std::vector<Mapping>& before, const std::vector<Mapping>& now) {
  std::vector<Mapping> added;
  for (const Mapping& queue : now)
    if (std::find(before.begin(), before.end(), queue) == before.end()) added.push_back(queue);
  return added;
}

std::vector<int> DoorbellFds() {
  std::vector<int> fds;
  DIR* dir = opendir("/proc/self/fd");
  if (!dir) return fds;

  while (dirent* entry = readdir(dir)) {
    char target[256] = {};
    const std::string path = std::string("/proc/self/fd/") + entry->d_name;
    if (readlink(path.c_str(), target, sizeof(target) - 1) <= 0) continue;
    if (std::strstr(target, "srn")) fds.push_back(std::atoi(entry->d_name));
  }
  closedir(dir);
  return fds;
}

uint32_t Vandal::Edge() {
  static constexpr uint32_t kEdges[] = {
      0,          1,          2,          7,          8,          15,        16,       31,
      32,         33,         63,         64,         127,        128,       255,      256,
      257,        4095,       4096,       4097,       0xffff,     0x10000,   0xffffff, 0x1000000,
      0x7fffffff, 0x80000000, 0x80000001, 0xfffffff0, 0xfffffffe, 0xffffffff};
  return kEdges[random_() % std::size(kEdges)];
}

void Vandal::Scribble(const Mapping& queue) {
  for (uint32_t& word : queue.words()) word = Word();
}

void Vandal::Flood(const Mapping& queue, uint32_t word) { std::ranges::fill(queue.words(), word); }

void Vandal::Sprinkle(const Mapping& queue, int count) {
  std::span<uint32_t> words = queue.words();
  for (int i = 0; i < count; i++) words[Word() % words.size()] = Word() % 2 ? Word() : Edge();
}

ibv_sge Vandal::ForgeSge() {
  ibv_sge sge = Pick(loot_.sges);

  switch (Word() % 6) {
    case 0:
      sge.length = Edge();
      break;
    case 1:
      sge.lkey = Word();
      break;
    case 2:
      sge.addr = (uint64_t{Word()} << 32) | Word();
      break;
    case 3:
      sge.addr += Edge();
      break;
    default:
      sge.length = Word() % 10000;  // good enough to run
  }
  return sge;
}

void Vandal::ForgeWqe(std::byte* slot) {
  const verbs::Remote remote = Pick(loot_.remotes);
  srn_send_wqe wqe = {};

  wqe.wr_id = Word();
  wqe.opcode = Word() % 4 ? Word() % 20 : Word();
  wqe.flags = Word() % 4 ? Word() % 32 : Word();
  wqe.num_sge = Word() % 3 ? Word() % 5 : Edge();
  wqe.inline_len = Word() % 3 ? Word() % 200 : Edge();
  wqe.imm = Word();
  wqe.inv_rkey = Word() % 2 ? remote.rkey : Word();
  switch (Word() % 3) {
    case 0:
      wqe.rdma.remote_addr = remote.addr + (Word() % 2 ? 0 : Edge());
      wqe.rdma.compare_add = Word();
      wqe.rdma.swap = Word();
      wqe.rdma.rkey = Word() % 4 ? remote.rkey : Word();
      break;
    case 1:
      wqe.ud.ah = Word() % 2 ? Word() % 64 : Word();
      wqe.ud.remote_qpn = Word() % 2 ? Pick(loot_.qpns) : Word();
      wqe.ud.remote_qkey = Word();
      break;
    default:
      wqe.bind.addr = remote.addr;
      wqe.bind.length = Word() % 2 ? Word() : ~uint64_t{0};
      wqe.bind.mr_lkey = Pick(loot_.sges).lkey;
      wqe.bind.mw_rkey = Word() % 2 ? remote.rkey : Word();
      wqe.bind.new_rkey = wqe.bind.mw_rkey ^ (Word() % 512);
      wqe.bind.access = Word() % 2 ? Word() % 64 : Word();
  }
  std::memcpy(slot, &wqe, sizeof(wqe));
}

void Vandal::ForgeWqes(const Mapping& queue) {
  // The distance of slots is a power of two of at least the size of a WQE.
  // What lies between two beginnings is a slot's list of elements.
  const size_t stride = sizeof(srn_send_wqe) << (Word() % 3);
  for (size_t at = SRN_QUEUE_OFFSET; at + stride <= queue.size; at += stride) {
    std::byte* slot = queue.data() + at;
    ForgeWqe(slot);
    for (size_t sge = sizeof(srn_send_wqe); sge < stride; sge += sizeof(srn_sge)) {
      const ibv_sge forged = ForgeSge();
      std::memcpy(slot + sge, &forged, sizeof(forged));
    }
  }
  ShiftIndices(queue);
}

void Vandal::ShiftIndices(const Mapping& queue) {
  srn_qp_page* page = queue.qp_page();
  auto shifted = [&](uint32_t index) { return Word() % 3 ? index + Word() % 64 : index + Edge(); };

  __atomic_store_n(&page->sq_tail, shifted(page->sq_tail), __ATOMIC_RELEASE);
  __atomic_store_n(&page->rq_tail, shifted(page->rq_tail), __ATOMIC_RELEASE);
  if (Word() % 4) return;
  page->sq_head = shifted(page->sq_head);
  page->rq_head = shifted(page->rq_head);
  page->status = Word();
  page->state = Word() % 2 ? Word() % 8 : Word();
}

}  // namespace verbs_test
