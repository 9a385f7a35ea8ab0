// SPDX-License-Identifier: GPL-2.0-only
// What a call that may fail returns: a value, or what was tried and why it failed.
#pragma once

#include <cerrno>
#include <cstdlib>
#include <string>
#include <utility>
#include <variant>

namespace result {

struct Error {
  int code = 0;           // an errno, or the exit status of a program
  std::string what = {};  // what was tried
  std::string why = {};   // in words, where strerror() does not say it

  // "ibv_create_qp: Cannot allocate memory"
  std::string message() const;
};

// An Error from errno, which some libraries leave at 0 when they fail: that would read as success.
Error FromErrno(std::string what);

// Test it before value(): reading what is not there aborts.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}
  Result(Error error) : state_(std::move(error)) {}

  bool ok() const { return std::holds_alternative<T>(state_); }
  explicit operator bool() const { return ok(); }
  // The code of the failure, 0 on success.
  int error() const { return ok() ? 0 : failure().code; }
  std::string message() const { return ok() ? "OK" : failure().message(); }

  // To pass on: `if (!made) return made.failure();`
  const Error& failure() const { return *Held<Error>(state_); }

  T& value() & { return *Held<T>(state_); }
  const T& value() const& { return *Held<T>(state_); }
  T&& value() && { return std::move(*Held<T>(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  template <typename U, typename State>
  static auto* Held(State& state) {
    auto* held = std::get_if<U>(&state);
    if (held == nullptr) std::abort();
    return held;
  }

  std::variant<T, Error> state_;
};

// Success, or an Error.
template <>
class [[nodiscard]] Result<void> : public Result<std::monostate> {
 public:
  Result() : Result<std::monostate>(std::monostate()) {}
  Result(Error error) : Result<std::monostate>(std::move(error)) {}
};

using Status = Result<void>;

}  // namespace result
