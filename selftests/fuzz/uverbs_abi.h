// SPDX-License-Identifier: GPL-2.0-only
// The uverbs ABI as tables: what a command is made of, so that one can be made that is right but
// for what an input changes. rdma/ib_user_verbs.h and rdma/ib_user_ioctl_cmds.h have the names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fuzz {

// What a field of a command, or an attribute, holds.
enum class Kind : uint8_t {
  kPd,
  kCq,
  kQp,
  kSrq,
  kMr,
  kMw,
  kAh,
  kChannel,  // the first eight: objects, named by a handle (a channel: by a descriptor)
  kNone,
  kResponse,  // where the answer goes
  kAddress,   // of memory to register
  kLength,
  kCount,  // of entries or elements
  kAccess,
  kQpType,
  kGid,  // of an address vector
  kOne,  // a port, a version
};
inline constexpr size_t kObjectKinds = 8;

struct Field {
  Kind kind;
  uint16_t offset;
  uint16_t size;
};

// A command that is written to the device.
struct Command {
  uint32_t number;
  bool extended =
      false;  // its sizes are told apart, and the address of the answer is in its header
  uint16_t size;
  std::vector<Field> fields;
  uint16_t answer;           // bytes of the core's part
  uint16_t driver_in = 0;    // bytes that srn takes
  uint16_t driver_out = 0;   // and gives
  Kind makes = Kind::kNone;  // its handle is the answer's first word
  uint16_t mmap_at = 0;      // of the driver's part: offset and length of the queue to map
};

const std::vector<Command>& Commands();

// An attribute of an ioctl.
struct Attribute {
  enum Way : uint8_t { kIn, kOut, kHandle, kNew };
  uint16_t id;
  Way way;
  Kind kind;
  uint16_t size = 0;
};

struct Method {
  uint16_t object;
  uint16_t method;
  std::vector<Attribute> attributes;
};

const std::vector<Method>& Methods();

}  // namespace fuzz
