// SPDX-License-Identifier: GPL-2.0-only
// Named network namespaces, as `ip netns` keeps them.
#pragma once

#include <string>

#include <result/result.h>

namespace net {

// Owns a named network namespace: deletes it when it goes.
class Netns {
 public:
  static result::Result<Netns> Create(const std::string& name);
  Netns(Netns&& other) noexcept : name_(std::exchange(other.name_, {})) {}
  Netns& operator=(Netns&& other) noexcept {
    std::swap(name_, other.name_);
    return *this;
  }
  ~Netns();

  const std::string& name() const { return name_; }

 private:
  explicit Netns(std::string name) : name_(std::move(name)) {}
  std::string name_;
};

}  // namespace net
