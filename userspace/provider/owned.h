// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// Objects on the heap without operator new, which would be libstdc++.
#pragma once

#include <cstdlib>
#include <memory>
#include <new>

namespace srn {

struct Dropper {
  template <typename T>
  void operator()(T* object) const {
    object->~T();
    std::free(object);
  }
};

// Owns an object until it is handed to the program with release().
template <typename T>
using Owned = std::unique_ptr<T, Dropper>;

// A zeroed object, or null with errno ENOMEM.
template <typename T>
Owned<T> Make() {
  void* memory = std::calloc(1, sizeof(T));
  return Owned<T>(memory == nullptr ? nullptr : new (memory) T());
}

// Destroys what Make() made and release() gave away.
template <typename T>
void Drop(T* object) {
  Dropper()(object);
}

}  // namespace srn
