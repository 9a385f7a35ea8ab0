// SPDX-License-Identifier: GPL-2.0-only
// As much of the kernel as the module's pure rooms want (psn.h, psns.c, score.c, window.c,
// crowd.c, rota.c, rtt.h), to be compiled in user space: types, bits, sets of bits, lists. Their
// headers are for C++, too. Included before everything else; the kernel's headers that user space
// has not are empty files.
#pragma once

#include <assert.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;

#define EXPORT_SYMBOL_IF_KUNIT(symbol)

#ifdef __cplusplus
// Macros of these names would be in the way of the standard library.
template <typename T>
constexpr T min(T a, T b) {
  return b < a ? b : a;
}
template <typename T>
constexpr T max(T a, T b) {
  return a < b ? b : a;
}
constexpr bool likely(bool condition) { return condition; }
constexpr bool unlikely(bool condition) { return condition; }
#else
#define likely(condition) (condition)
#define unlikely(condition) (condition)
#define min(a, b)         \
  ({                      \
    __auto_type a_ = (a); \
    __auto_type b_ = (b); \
    a_ < b_ ? a_ : b_;    \
  })
#define max(a, b)         \
  ({                      \
    __auto_type a_ = (a); \
    __auto_type b_ = (b); \
    a_ > b_ ? a_ : b_;    \
  })
#endif
#define min_t(type, a, b) min((type)(a), (type)(b))
#define max_t(type, a, b) max((type)(a), (type)(b))
#define max3(a, b, c) max(max(a, b), c)
#define min3(a, b, c) min(min(a, b), c)
#define clamp_t(type, value, low, high) min_t(type, max_t(type, value, low), high)

#define div_u64(a, b) ((u64)(a) / (b))
#define div64_u64(a, b) ((u64)(a) / (b))
#define DIV_ROUND_UP(a, b) (((a) + (b)-1) / (b))

static inline unsigned long int_sqrt(unsigned long x) {
  unsigned long root = 0;
  for (unsigned long bit = 1UL << 31; bit; bit >>= 1)
    if ((root + bit) * (root + bit) <= x) root += bit;
  return root;
}

#define U8_MAX UINT8_MAX
#define U16_MAX UINT16_MAX
#define U32_MAX UINT32_MAX
#define U64_MAX UINT64_MAX
#define SZ_4K 4096
#define SZ_16K (16 << 10)
#define SZ_256K (256 << 10)
#define SZ_512K (512 << 10)
#define SZ_1M (1 << 20)
#define SZ_2M (2 << 20)
#define SZ_4M (4 << 20)
#define SZ_8M (8 << 20)
#define SZ_64M (64 << 20)
#define NSEC_PER_USEC 1000L
#define NSEC_PER_MSEC 1000000L
#define NSEC_PER_SEC 1000000000L

#define BITS_PER_LONG 64
#define BIT(n) (1UL << (n))
#define BIT_WORD(n) ((n) / BITS_PER_LONG)
#define GENMASK(h, l) ((~0UL >> (63 - (h))) & (~0UL << (l)))
#define BITS_TO_LONGS(bits) (((bits) + BITS_PER_LONG - 1) / BITS_PER_LONG)
#define DECLARE_BITMAP(name, bits) unsigned long name[BITS_TO_LONGS(bits)]
#define hweight_long(word) ((unsigned int)__builtin_popcountl(word))

static inline bool test_bit(unsigned long n, const unsigned long* map) {
  return map[BIT_WORD(n)] >> n % BITS_PER_LONG & 1;
}

static inline void bitmap_set(unsigned long* map, unsigned int from, unsigned int num) {
  for (; num; num--, from++) map[BIT_WORD(from)] |= BIT(from % BITS_PER_LONG);
}

static inline void bitmap_clear(unsigned long* map, unsigned int from, unsigned int num) {
  for (; num; num--, from++) map[BIT_WORD(from)] &= ~BIT(from % BITS_PER_LONG);
}

static inline unsigned long find_next_bit(const unsigned long* map, unsigned long size,
                                          unsigned long from) {
  while (from < size && !test_bit(from, map)) from++;
  return from < size ? from : size;
}

static inline unsigned long find_next_zero_bit(const unsigned long* map, unsigned long size,
                                               unsigned long from) {
  while (from < size && test_bit(from, map)) from++;
  return from < size ? from : size;
}

static inline unsigned long find_last_bit(const unsigned long* map, unsigned long size) {
  for (unsigned long n = size; n > 0; n--)
    if (test_bit(n - 1, map)) return n - 1;
  return size;
}

static inline bool bitmap_empty(const unsigned long* map, unsigned int size) {
  return find_next_bit(map, size, 0) == size;
}

// One thread: nobody looks meanwhile.
#define WRITE_ONCE(x, value) ((x) = (value))
#define READ_ONCE(x) (x)
#define smp_store_release(p, value) (*(p) = (value))
#define smp_load_acquire(p) (*(p))

struct list_head {
  struct list_head *next, *prev;
};

static inline void INIT_LIST_HEAD(struct list_head* list) { list->next = list->prev = list; }
static inline bool list_empty(const struct list_head* list) { return list->next == list; }

static inline void list_add_tail(struct list_head* node, struct list_head* list) {
  node->next = list;
  node->prev = list->prev;
  list->prev->next = node;
  list->prev = node;
}

static inline void list_del(struct list_head* node) {
  node->prev->next = node->next;
  node->next->prev = node->prev;
}

#define list_first_entry_or_null(list, type, member) \
  (list_empty(list) ? NULL : (type*)((char*)(list)->next - offsetof(type, member)))
