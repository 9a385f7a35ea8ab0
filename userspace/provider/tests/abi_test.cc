// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// Does verbs_private.h describe the libibverbs that is installed? libibverbs copies most slots of
// the table of operations to places that public headers declare: a distinct value in each slot
// tells where it went. Slots without such a place are fixed by their neighbours in the alphabet.

#include <array>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <provider/srn.h>
#include <provider/verbs_private.h>

namespace srn {
namespace {

constexpr size_t kSlots = sizeof(verbs_context_ops) / sizeof(void*);
constexpr uintptr_t kFirstMark = 0x10000;

uintptr_t MarkOf(size_t slot) { return kFirstMark + slot; }

// Reads a function pointer as a number.
template <typename Pointer>
uintptr_t ToNumber(Pointer pointer) {
  static_assert(sizeof(pointer) == sizeof(uintptr_t));
  uintptr_t number;
  std::memcpy(&number, &pointer, sizeof(number));
  return number;
}

// A context of a device that does not exist, with a mark in each slot.
class AbiTest : public testing::Test {
 protected:
  void SetUp() override {
    device_.refcount = 1000;
    std::strcpy(device_.device.name, "none");
    context_ = static_cast<Context*>(_verbs_init_and_alloc_context(
        &device_.device, /*cmd_fd=*/-1, sizeof(Context), nullptr, SRN_DRIVER_ID));
    ASSERT_NE(context_, nullptr);

    std::array<uintptr_t, kSlots> marks;
    for (size_t slot = 0; slot < kSlots; ++slot) marks[slot] = MarkOf(slot);
    verbs_context_ops ops;
    std::memcpy(&ops, marks.data(), sizeof(ops));
    verbs_set_ops(&context_->vctx, &ops);
  }

  void TearDown() override {
    verbs_uninit_context(&context_->vctx);
    std::free(context_);
  }

  verbs_device device_ = {};
  Context* context_ = nullptr;
};

struct Place {
  std::string name;
  size_t offset;    // in verbs_context_ops
  uintptr_t found;  // what the public place holds
};

#define OFFSET(name) offsetof(verbs_context_ops, name)
#define IN_CONTEXT(name) \
  { #name, OFFSET(name), ToNumber(vctx.name) }
#define IN_OPS(name) \
  { #name, OFFSET(name), ToNumber(vctx.context.ops.name) }
#define IN_COMPAT(name) \
  { #name, OFFSET(name), ToNumber(vctx.context.ops._compat_##name) }

std::vector<Place> PublicPlaces(const verbs_context& vctx) {
  return {
      IN_CONTEXT(advise_mr),
      IN_CONTEXT(alloc_dm),
      IN_OPS(alloc_mw),
      IN_CONTEXT(alloc_null_mr),
      IN_COMPAT(alloc_pd),
      IN_CONTEXT(alloc_parent_domain),
      IN_CONTEXT(alloc_td),
      IN_CONTEXT(attach_counters_point_flow),
      IN_CONTEXT(create_counters),
      IN_COMPAT(async_event),
      IN_COMPAT(attach_mcast),
      IN_OPS(bind_mw),
      IN_CONTEXT(close_xrcd),
      IN_COMPAT(cq_event),
      IN_COMPAT(create_ah),
      IN_COMPAT(create_cq),
      {"create_flow", OFFSET(create_flow), ToNumber(vctx.ibv_create_flow)},
      IN_CONTEXT(create_flow_action_esp),
      IN_COMPAT(create_qp),
      IN_CONTEXT(create_qp_ex),
      IN_CONTEXT(create_rwq_ind_table),
      IN_COMPAT(create_srq),
      IN_CONTEXT(create_srq_ex),
      IN_CONTEXT(create_wq),
      IN_OPS(dealloc_mw),
      IN_COMPAT(dealloc_pd),
      IN_CONTEXT(dealloc_td),
      IN_CONTEXT(destroy_counters),
      IN_COMPAT(dereg_mr),
      IN_COMPAT(destroy_ah),
      IN_COMPAT(destroy_cq),
      {"destroy_flow", OFFSET(destroy_flow), ToNumber(vctx.ibv_destroy_flow)},
      IN_CONTEXT(destroy_flow_action),
      IN_COMPAT(destroy_qp),
      IN_CONTEXT(destroy_rwq_ind_table),
      IN_COMPAT(destroy_srq),
      IN_CONTEXT(destroy_wq),
      IN_COMPAT(detach_mcast),
      IN_CONTEXT(free_dm),
      IN_CONTEXT(get_srq_num),
      IN_CONTEXT(modify_cq),
      IN_CONTEXT(modify_flow_action_esp),
      IN_COMPAT(modify_qp),
      IN_CONTEXT(modify_qp_rate_limit),
      IN_COMPAT(modify_srq),
      IN_CONTEXT(modify_wq),
      IN_CONTEXT(open_qp),
      IN_CONTEXT(open_xrcd),
      IN_OPS(poll_cq),
      IN_OPS(post_recv),
      IN_OPS(post_send),
      IN_CONTEXT(post_srq_ops),
      IN_OPS(post_srq_recv),
      IN_CONTEXT(query_device_ex),
      IN_COMPAT(query_qp),
      IN_CONTEXT(query_rt_values),
      IN_CONTEXT(read_counters),
      IN_COMPAT(query_srq),
      IN_CONTEXT(reg_dm_mr),
      IN_COMPAT(reg_mr),
      IN_OPS(req_notify_cq),
      IN_COMPAT(rereg_mr),
      IN_COMPAT(resize_cq),
  };
}

TEST_F(AbiTest, SlotsReachThePlacesThatPublicHeadersName) {
  const std::vector<Place> places = PublicPlaces(context_->vctx);
  EXPECT_EQ(places.size(), 63u);
  for (const Place& place : places) {
    EXPECT_EQ(place.found, MarkOf(place.offset / sizeof(void*))) << place.name;
  }
}

TEST_F(AbiTest, EachSlotIsLookedAtOnce) {
  std::set<size_t> offsets;
  for (const Place& place : PublicPlaces(context_->vctx)) {
    EXPECT_TRUE(offsets.insert(place.offset).second) << place.name;
  }
}

TEST_F(AbiTest, ContextBelongsToTheDevice) {
  EXPECT_EQ(context_->vctx.context.device, &device_.device);
  EXPECT_EQ(context_->vctx.context.cmd_fd, -1);
  EXPECT_EQ(context_->vctx.sz, sizeof(verbs_context));
}

TEST_F(AbiTest, DeviceIsReferencedWhereWeSayItIs) {
  // The context holds one reference, which closing gives back.
  const int with_context = device_.refcount;
  void* second =
      _verbs_init_and_alloc_context(&device_.device, -1, sizeof(Context), nullptr, SRN_DRIVER_ID);
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(device_.refcount, with_context + 1);
  verbs_uninit_context(&static_cast<Context*>(second)->vctx);
  std::free(second);
  EXPECT_EQ(device_.refcount, with_context);
}

TEST(AbiTableTest, OperationsOfSrnAreSet) {
  EXPECT_NE(kContextOps.post_send, nullptr);
  EXPECT_NE(kContextOps.free_context, nullptr);
  EXPECT_EQ(kContextOps.advise_mr, nullptr);
  EXPECT_EQ(kContextOps.unimport_pd, nullptr);
}

TEST(AbiTableTest, DeviceIsMatchedByIdThenByName) {
  const verbs_match_ent* table = kDeviceOps.match_table;
  EXPECT_EQ(table[0].kind, VERBS_MATCH_DRIVER_ID);
  EXPECT_EQ(table[0].u.driver_id, static_cast<uint64_t>(SRN_DRIVER_ID));
  EXPECT_EQ(table[1].kind, VERBS_MATCH_MODALIAS);
  EXPECT_STREQ(table[1].u.modalias, "rdma_device:*Nsrn*");
  EXPECT_EQ(table[2].kind, VERBS_MATCH_SENTINEL);
}

}  // namespace
}  // namespace srn
