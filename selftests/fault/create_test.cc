// SPDX-License-Identifier: GPL-2.0-only
// Devices, memory, queues: made and changed while allocations fail.
#include "env.h"
#include "nth.h"

namespace fault {
namespace {

using namespace verbs;
using result::Must;

class FailingHost : public verbs_test::HostTest {
 protected:
  // Makes an object with the call `make`, and drops it.
  template <typename H>
  Operation Making(std::function<Result<H>()> make) {
    auto kept = std::make_shared<H>();
    return {.act =
                [=] {
                  Result<H> made = make();
                  if (!made.ok()) return made.error();
                  *kept = std::move(*made);
                  return 0;
                },
            .undo = [=] { Must(kept->Close()); }};
  }
};

// The device is not opened here: Linux 6.12 leaks the task that opens one whose driver has no
// memory for it (UVERBS_METHOD_GET_CONTEXT frees the context without rdma_restrack_put()).

TEST_F(FailingHost, RegistersMemory) {
  FailEach(Making<Mr>([&] { return Mr::Register(a_.pd, a_.buffer.bytes()); }), 3);
}

TEST_F(FailingHost, RegistersMuchMemory) {
  Buffer much = Must(Buffer::Map(16 << 20));
  FailEach(Making<Mr>([&] { return Mr::Register(a_.pd, much.bytes()); }), 3);
}

TEST_F(FailingHost, ChangesARegion) {
  Buffer other = Must(Buffer::Map(1 << 20));
  Mr mr = Must(Mr::Register(a_.pd, a_.buffer.bytes()));
  bool moved = false;
  FailEach({.act =
                [&] {
                  const int rc = mr.Reregister(IBV_REREG_MR_CHANGE_TRANSLATION, nullptr,
                                               moved ? a_.buffer.bytes() : other.bytes(), 0);
                  if (rc) return errno;
                  moved = !moved;
                  return 0;
                }},
           3);
}

TEST_F(FailingHost, AllocatesWindows) {
  for (ibv_mw_type type : {IBV_MW_TYPE_1, IBV_MW_TYPE_2})
    FailEach(Making<Mw>([&] { return Mw::Create(a_.pd, type); }), 1);
}

TEST_F(FailingHost, CreatesCompletionQueues) {
  for (int entries : {1, 100, 5000})
    FailEach(Making<Cq>([&] { return Cq::Create(a_.ctx, entries); }), 5);
}

TEST_F(FailingHost, CreatesACompletionQueueWithAChannel) {
  CompChannel channel = Must(CompChannel::Create(a_.ctx));
  FailEach(Making<Cq>([&] { return Cq::Create(a_.ctx, 16, {.channel = &channel}); }), 5);
}

TEST_F(FailingHost, ResizesACompletionQueue) {
  Cq cq = Must(Cq::Create(a_.ctx, 10));
  FailEach({.act = [&] { return cq.Resize(cq->cqe < 1000 ? 3000 : 10).error(); }}, 5);
}

TEST_F(FailingHost, CreatesSharedReceiveQueues) {
  for (uint32_t depth : {1, 1000})
    FailEach(Making<Srq>([&] { return Srq::Create(a_.pd, depth, 4); }), 4);
}

TEST_F(FailingHost, ResizesASharedReceiveQueue) {
  Srq srq = Must(Srq::Create(a_.pd, 10, 4));
  FailEach({.act = [&] { return srq.Resize(Must(srq.Query()).max_wr < 1000 ? 3000 : 10).error(); }},
           5);
}

TEST_F(FailingHost, CreatesAddressHandles) {
  const ibv_ah_attr attr = AhAttr(a_.port, a_.port.gid);
  FailEach(Making<Ah>([&] { return Ah::Create(a_.pd, attr); }), 1);
}

}  // namespace
}  // namespace fault
