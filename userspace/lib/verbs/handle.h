// SPDX-License-Identifier: GPL-2.0-only
/// @file
/// Move-only ownership of one verbs object.
#ifndef SRN_LIB_VERBS_HANDLE_H_
#define SRN_LIB_VERBS_HANDLE_H_

#include <infiniband/verbs.h>

#include <utility>

#include "verbs/result.h"

namespace verbs {

/// How an object of type T is destroyed; one specialisation per type.
template <typename T>
struct Destroyer;

template <>
struct Destroyer<ibv_context> {
  static int Call(ibv_context* p) { return ibv_close_device(p); }
};
template <>
struct Destroyer<ibv_pd> {
  static int Call(ibv_pd* p) { return ibv_dealloc_pd(p); }
};
template <>
struct Destroyer<ibv_mr> {
  static int Call(ibv_mr* p) { return ibv_dereg_mr(p); }
};
template <>
struct Destroyer<ibv_mw> {
  static int Call(ibv_mw* p) { return ibv_dealloc_mw(p); }
};
template <>
struct Destroyer<ibv_comp_channel> {
  static int Call(ibv_comp_channel* p) { return ibv_destroy_comp_channel(p); }
};
template <>
struct Destroyer<ibv_cq> {
  static int Call(ibv_cq* p) { return ibv_destroy_cq(p); }
};
template <>
struct Destroyer<ibv_srq> {
  static int Call(ibv_srq* p) { return ibv_destroy_srq(p); }
};
template <>
struct Destroyer<ibv_qp> {
  static int Call(ibv_qp* p) { return ibv_destroy_qp(p); }
};
template <>
struct Destroyer<ibv_ah> {
  static int Call(ibv_ah* p) { return ibv_destroy_ah(p); }
};

/// Owns one verbs object and destroys it, unless Close() did so before.
template <typename T>
class Handle {
 public:
  Handle() = default;
  explicit Handle(T* raw) : raw_(raw) {}
  Handle(Handle&& other) noexcept : raw_(std::exchange(other.raw_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    if (this != &other) {
      (void)Close();
      raw_ = std::exchange(other.raw_, nullptr);
    }
    return *this;
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { (void)Close(); }

  T* get() const { return raw_; }
  T* operator->() const { return raw_; }
  explicit operator bool() const { return raw_ != nullptr; }
  T* Release() { return std::exchange(raw_, nullptr); }

  /// Destroys now and says how it went. On failure the object is kept, so that
  /// the call can be made again once its users are gone.
  Status Close() {
    if (!raw_) return {};
    Status status = Status::FromReturn(Destroyer<T>::Call(raw_));
    if (status.ok()) raw_ = nullptr;
    return status;
  }

 private:
  T* raw_ = nullptr;
};

/// What a creating call returned, as a Result of the handle class H. Zero in
/// errno after a failure would read as success, hence EIO.
template <typename H, typename T>
Result<H> Adopt(T* raw) {
  if (!raw) return Error{errno ? errno : EIO};
  return H(raw);
}

}  // namespace verbs

#endif  // SRN_LIB_VERBS_HANDLE_H_
