// SPDX-License-Identifier: GPL-2.0-only
/// @file
/// A value or an error, for calls into the system that may fail.
#pragma once

#include <cstdlib>
#include <string>
#include <utility>
#include <variant>

namespace net {

/// What failed, in words, with the errno (or exit status) behind it.
struct Error {
  int code = 0;
  std::string what;
};

/// Holds a T or an Error. Test it before value(): reading the wrong one aborts.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}      // NOLINT: implicit on purpose
  Result(Error error) : state_(std::move(error)) {}  // NOLINT: implicit on purpose

  explicit operator bool() const { return std::holds_alternative<T>(state_); }

  T& value() & { return Get<T>(); }
  T value() && { return std::move(Get<T>()); }
  const Error& error() const { return const_cast<Result*>(this)->template Get<Error>(); }

 private:
  template <typename U>
  U& Get() {
    U* held = std::get_if<U>(&state_);
    if (held == nullptr) std::abort();
    return *held;
  }

  std::variant<T, Error> state_;
};

using Status = Result<std::monostate>;

inline Status Ok() { return Status(std::monostate{}); }

/// An Error from the current errno.
Error ErrnoError(std::string what);

}  // namespace net
