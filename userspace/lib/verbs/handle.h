// SPDX-License-Identifier: GPL-2.0-only
// Move-only ownership of one verbs object.
#pragma once

#include <infiniband/verbs.h>

#include <utility>

#include "result.h"

namespace verbs {

// How an object of type T is destroyed; one specialisation per type.
template <typename T>
struct Destroyer;

template <>
struct Destroyer<ibv_context> {
  static constexpr char kName[] = "ibv_close_device";
  static int Call(ibv_context* p) { return ibv_close_device(p); }
};
template <>
struct Destroyer<ibv_pd> {
  static constexpr char kName[] = "ibv_dealloc_pd";
  static int Call(ibv_pd* p) { return ibv_dealloc_pd(p); }
};
template <>
struct Destroyer<ibv_mr> {
  static constexpr char kName[] = "ibv_dereg_mr";
  static int Call(ibv_mr* p) { return ibv_dereg_mr(p); }
};
template <>
struct Destroyer<ibv_mw> {
  static constexpr char kName[] = "ibv_dealloc_mw";
  static int Call(ibv_mw* p) { return ibv_dealloc_mw(p); }
};
template <>
struct Destroyer<ibv_comp_channel> {
  static constexpr char kName[] = "ibv_destroy_comp_channel";
  static int Call(ibv_comp_channel* p) { return ibv_destroy_comp_channel(p); }
};
template <>
struct Destroyer<ibv_cq> {
  static constexpr char kName[] = "ibv_destroy_cq";
  static int Call(ibv_cq* p) { return ibv_destroy_cq(p); }
};
template <>
struct Destroyer<ibv_srq> {
  static constexpr char kName[] = "ibv_destroy_srq";
  static int Call(ibv_srq* p) { return ibv_destroy_srq(p); }
};
template <>
struct Destroyer<ibv_qp> {
  static constexpr char kName[] = "ibv_destroy_qp";
  static int Call(ibv_qp* p) { return ibv_destroy_qp(p); }
};
template <>
struct Destroyer<ibv_ah> {
  static constexpr char kName[] = "ibv_destroy_ah";
  static int Call(ibv_ah* p) { return ibv_destroy_ah(p); }
};

// Owns one verbs object and destroys it, unless Close() did so before.
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

  // Destroys now and says how it went. On failure the object is kept, so that
  // the call can be made again once its users are gone.
  Status Close() {
    if (!raw_) return {};
    Status status = FromReturn(Destroyer<T>::Call(raw_), Destroyer<T>::kName);
    if (status.ok()) raw_ = nullptr;
    return status;
  }

 private:
  T* raw_ = nullptr;
};

// What the creating call `what` returned, as a Result of the handle class H.
template <typename H, typename T>
Result<H> Adopt(T* raw, const char* what) {
  if (!raw) return result::FromErrno(what);
  return H(raw);
}

}  // namespace verbs
