// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// Index arithmetic of the shared rings.

#include <array>

#include <gtest/gtest.h>

#include <provider/ring.h>

namespace srn {
namespace {

struct Slot {
  uint32_t value;
};

// A work ring of four slots, of which `limit` may be used.
struct WorkQueue {
  explicit WorkQueue(uint32_t limit, uint32_t start = 0) : tail(start), head(start) {
    ring.Init(&tail, &head, reinterpret_cast<unsigned char*>(slots.data()), slots.size(),
              sizeof(Slot), limit);
  }

  bool Put(uint32_t value) {
    Slot* slot = ring.Claim<Slot>();
    if (slot != nullptr) slot->value = value;
    return slot != nullptr;
  }

  uint32_t tail;
  uint32_t head;
  std::array<Slot, 4> slots = {};
  WorkRing ring;
};

TEST(WorkRing, TailMovesOnlyWhenPublished) {
  WorkQueue queue(4);
  EXPECT_TRUE(queue.Put(1));
  EXPECT_TRUE(queue.Put(2));
  EXPECT_EQ(queue.tail, 0u);
  EXPECT_TRUE(queue.ring.Publish());
  EXPECT_EQ(queue.tail, 2u);
  EXPECT_FALSE(queue.ring.Publish());
}

TEST(WorkRing, IsFullAtTheLimitNotAtTheSize) {
  WorkQueue queue(3);
  EXPECT_TRUE(queue.Put(1) && queue.Put(2) && queue.Put(3));
  EXPECT_FALSE(queue.Put(4));
}

TEST(WorkRing, LimitAboveTheSizeIsTheSize) {
  WorkQueue queue(100);
  EXPECT_TRUE(queue.Put(1) && queue.Put(2) && queue.Put(3) && queue.Put(4));
  EXPECT_FALSE(queue.Put(5));
}

TEST(WorkRing, TakesOneMorePerSlotThatTheKernelFrees) {
  WorkQueue queue(3);
  EXPECT_TRUE(queue.Put(1) && queue.Put(2) && queue.Put(3));
  queue.ring.Publish();
  queue.head = 1;
  EXPECT_TRUE(queue.Put(4));
  EXPECT_FALSE(queue.Put(5));
}

TEST(WorkRing, RewindForgetsWhatWasNotPublished) {
  WorkQueue queue(4);
  EXPECT_TRUE(queue.Put(1));
  queue.ring.Publish();
  EXPECT_TRUE(queue.Put(2) && queue.Put(3));
  queue.ring.Rewind();
  EXPECT_FALSE(queue.ring.Publish());
  EXPECT_EQ(queue.tail, 1u);
  EXPECT_TRUE(queue.Put(9));
  EXPECT_EQ(queue.slots[1].value, 9u);
}

TEST(WorkRing, IndicesWrapAroundTwoToThe32) {
  WorkQueue queue(3, /*start=*/0xfffffffe);
  EXPECT_TRUE(queue.Put(1) && queue.Put(2) && queue.Put(3));
  EXPECT_FALSE(queue.Put(4));
  queue.ring.Publish();
  EXPECT_EQ(queue.tail, 1u);
  EXPECT_EQ(queue.slots[2].value, 1u);
  EXPECT_EQ(queue.slots[3].value, 2u);
  EXPECT_EQ(queue.slots[0].value, 3u);
  queue.head = 0xffffffff;
  EXPECT_TRUE(queue.Put(4));
  EXPECT_FALSE(queue.Put(5));
}

TEST(WorkRing, RestartBeginsWhereTheKernelStands) {
  WorkQueue queue(3);
  EXPECT_TRUE(queue.Put(1) && queue.Put(2));
  queue.ring.Publish();
  EXPECT_TRUE(queue.Put(3));
  queue.head = 2;
  queue.ring.Restart();
  EXPECT_EQ(queue.tail, 2u);
  EXPECT_FALSE(queue.ring.Publish());
  EXPECT_TRUE(queue.Put(4) && queue.Put(5) && queue.Put(6));
  EXPECT_FALSE(queue.Put(7));
}

TEST(WorkRing, MovesToASmallerRingAndALargerOne) {
  WorkQueue queue(3, /*start=*/0xffffffff);
  EXPECT_TRUE(queue.Put(1) && queue.Put(2));
  queue.ring.Publish();
  std::array<Slot, 8> slots = {};
  auto move = [&](uint32_t entries) {
    queue.ring.MoveTo(&queue.tail, &queue.head, reinterpret_cast<unsigned char*>(slots.data()),
                      entries);
  };
  move(2);
  EXPECT_FALSE(queue.ring.Publish());
  EXPECT_FALSE(queue.Put(3));
  queue.head = 0;
  EXPECT_TRUE(queue.Put(3));
  EXPECT_TRUE(queue.ring.Publish());
  EXPECT_EQ(queue.tail, 2u);
  EXPECT_EQ(slots[1].value, 3u);
  move(8);
  for (uint32_t value = 4; value < 10; ++value) EXPECT_TRUE(queue.Put(value));
  EXPECT_FALSE(queue.Put(10));
  EXPECT_EQ(slots[2].value, 4u);
}

TEST(WorkRing, QueueWithoutEntriesIsFull) {
  WorkQueue queue(3);
  queue.ring.Init(&queue.tail, &queue.head, nullptr, /*entries=*/0, /*stride=*/0, /*limit=*/3);
  EXPECT_FALSE(queue.Put(1));
}

struct CompletionQueue {
  explicit CompletionQueue(uint32_t start = 0) : cons(start), prod(start) {
    ring.Init(&cons, &prod, slots.data(), slots.size());
  }

  void Post(uint32_t value) { slots[prod++ & 3].value = value; }

  uint32_t cons;
  uint32_t prod;
  std::array<Slot, 4> slots = {};
  CompletionRing<Slot> ring;
};

TEST(CompletionRing, EmptyHasNothing) {
  CompletionQueue queue;
  EXPECT_EQ(queue.ring.Peek(), nullptr);
}

TEST(CompletionRing, SlotIsTheKernelsAgainOnlyWhenReleased) {
  CompletionQueue queue;
  queue.Post(7);
  const Slot* slot = queue.ring.Peek();
  ASSERT_NE(slot, nullptr);
  EXPECT_EQ(slot->value, 7u);
  queue.ring.Consume();
  EXPECT_EQ(queue.cons, 0u);
  queue.ring.Release();
  EXPECT_EQ(queue.cons, 1u);
}

TEST(CompletionRing, KeepsOrderAcrossTwoToThe32) {
  CompletionQueue queue(0xfffffffe);
  for (uint32_t value = 1; value <= 4; ++value) queue.Post(value);
  for (uint32_t value = 1; value <= 4; ++value) {
    const Slot* slot = queue.ring.Peek();
    ASSERT_NE(slot, nullptr);
    EXPECT_EQ(slot->value, value);
    queue.ring.Consume();
  }
  EXPECT_EQ(queue.ring.Peek(), nullptr);
  queue.ring.Release();
  EXPECT_EQ(queue.cons, 2u);
}

TEST(CompletionRing, TakesUpWhereTheControlPageSays) {
  CompletionQueue queue;
  queue.cons = 5;
  queue.prod = 6;
  queue.slots[1].value = 42;
  queue.ring.Init(&queue.cons, &queue.prod, queue.slots.data(), 4);
  const Slot* slot = queue.ring.Peek();
  ASSERT_NE(slot, nullptr);
  EXPECT_EQ(slot->value, 42u);
}

// What stays keeps its order at the newer end; the slots of the others are the kernel's at once.
TEST(CompletionRing, ForgettingFreesSlotsInAFullRing) {
  CompletionQueue queue(0xfffffffe);
  for (uint32_t value = 1; value <= 4; ++value) queue.Post(value);
  queue.ring.Forget([](const Slot& slot) { return slot.value % 2 == 0; });
  EXPECT_EQ(queue.cons, 0u);
  queue.Post(5);
  for (uint32_t value : {1u, 3u, 5u}) {
    const Slot* slot = queue.ring.Peek();
    ASSERT_NE(slot, nullptr);
    EXPECT_EQ(slot->value, value);
    queue.ring.Consume();
  }
  EXPECT_EQ(queue.ring.Peek(), nullptr);
}

// More than there are slots: the ring is overrun, and nothing in it is moved.
TEST(CompletionRing, NothingIsForgottenBeyondWhatThereCanBe) {
  CompletionQueue queue;
  for (uint32_t value = 1; value <= 5; ++value) queue.Post(value);
  queue.ring.Forget([](const Slot&) { return true; });
  EXPECT_EQ(queue.cons, 0u);
}

}  // namespace
}  // namespace srn
