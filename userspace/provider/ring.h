// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// The program's side of the shared rings: srn-abi.h tells who writes which index and which barrier
// pairs with which.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace srn {

inline uint32_t LoadAcquire(uint32_t& word) {
  return std::atomic_ref<uint32_t>(word).load(std::memory_order_acquire);
}

inline uint32_t LoadRelaxed(const uint32_t& word) {
  // An atomic_ref of what is const is C++26's.
  return std::atomic_ref<uint32_t>(const_cast<uint32_t&>(word)).load(std::memory_order_relaxed);
}

inline void StoreRelease(uint32_t& word, uint32_t value) {
  std::atomic_ref<uint32_t>(word).store(value, std::memory_order_release);
}

// Makes a store visible before a later load of another word.
inline void FullBarrier() { std::atomic_thread_fence(std::memory_order_seq_cst); }

// A ring that the program fills: SQ, RQ, SRQ.
//
// Filling and publishing are apart: slots are claimed one by one, seen by nobody, and Publish()
// shows them all. Callers serialize.
class WorkRing {
 public:
  // `tail`: the index in the control block that the program writes
  // `head`: the index in the control block that the kernel writes
  // `entries`: a power of two, or 0 for a queue that does not exist
  // `limit`: work requests that may be outstanding, at most `entries`
  void Init(uint32_t* tail, uint32_t* head, unsigned char* slots, uint32_t entries, uint32_t stride,
            uint32_t limit) {
    tail_word_ = tail;
    head_word_ = head;
    slots_ = slots;
    mask_ = entries - 1;
    stride_ = stride;
    limit_ = limit < entries ? limit : entries;
    Restart();
  }

  // Goes on in another mapping of the same slots' size, which has the kernel's index and what is
  // published; nothing else is claimed. The rest as for Init().
  void MoveTo(uint32_t* tail, uint32_t* head, unsigned char* slots, uint32_t entries) {
    tail_word_ = tail;
    head_word_ = head;
    slots_ = slots;
    mask_ = entries - 1;
    limit_ = entries;
  }

  // The next slot, or null when the queue is full. The slot stays claimed until Rewind().
  template <typename Wqe>
  Wqe* Claim() {
    if (next_ - head_ >= limit_) {
      head_ = LoadAcquire(*head_word_);
      if (next_ - head_ >= limit_) return nullptr;
    }
    return reinterpret_cast<Wqe*>(slots_ + static_cast<size_t>(next_++ & mask_) * stride_);
  }

  // Gives all slots back that are not published.
  void Rewind() { next_ = published_; }

  // Shows the claimed slots to the kernel; false when there are none.
  bool Publish() {
    if (next_ == published_) return false;
    published_ = next_;
    // Pairs with the acquire of the kernel's fetch: a slot is filled before the index covers it.
    StoreRelease(*tail_word_, next_);
    return true;
  }

  // After the kernel emptied the queue (QP to RESET): begin where it stands.
  void Restart() {
    head_ = next_ = published_ = LoadAcquire(*head_word_);
    StoreRelease(*tail_word_, next_);
  }

 private:
  uint32_t* tail_word_ = nullptr;
  uint32_t* head_word_ = nullptr;
  unsigned char* slots_ = nullptr;
  uint32_t mask_ = 0;
  uint32_t stride_ = 0;
  uint32_t limit_ = 0;
  uint32_t head_ = 0;       // as last seen: at most what the kernel has
  uint32_t next_ = 0;       // slots claimed
  uint32_t published_ = 0;  // slots the kernel may read
};

// A ring that the kernel fills and the program empties: CQ. Callers serialize.
template <typename Entry>
class CompletionRing {
 public:
  void Init(uint32_t* cons, uint32_t* prod, Entry* slots, uint32_t entries) {
    cons_word_ = cons;
    prod_word_ = prod;
    slots_ = slots;
    mask_ = entries - 1;
    cons_ = LoadRelaxed(*cons_word_);
    prod_ = cons_;
  }

  // The oldest entry that was not consumed, or null. Valid until Consume() and Release().
  const Entry* Peek() {
    if (cons_ == prod_) {
      // Pairs with the release of the kernel's post: the entry is complete before the index.
      prod_ = LoadAcquire(*prod_word_);
      if (cons_ == prod_) return nullptr;
    }
    return &slots_[cons_ & mask_];
  }

  // Done with the entry that Peek() returned.
  void Consume() { ++cons_; }

  // Gives the slots of all consumed entries back to the kernel.
  void Release() { StoreRelease(*cons_word_, cons_); }

  // Removes unconsumed entries of which `gone(entry)` says so. What stays moves up to the newer
  // end, since the older end is the one that the program owns.
  template <typename Gone>
  void Forget(Gone gone) {
    uint32_t to = prod_ = LoadAcquire(*prod_word_);
    if (prod_ - cons_ - 1 > mask_) return;  // none, or more than there can be
    for (uint32_t from = prod_; from != cons_;) {
      const Entry& entry = slots_[--from & mask_];
      if (!gone(entry)) slots_[--to & mask_] = entry;
    }
    cons_ = to;
    Release();
  }

 private:
  uint32_t* cons_word_ = nullptr;
  uint32_t* prod_word_ = nullptr;
  Entry* slots_ = nullptr;
  uint32_t mask_ = 0;
  uint32_t cons_ = 0;
  uint32_t prod_ = 0;  // as last seen
};

}  // namespace srn
