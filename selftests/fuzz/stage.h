// SPDX-License-Identifier: GPL-2.0-only
// What all targets play on: a veth pair, srn on one end, the scripted peer of the wire tests on
// the other (../wire/wire.h has the picture).
#pragma once

#include <memory>

#include <wire/wire.h>

namespace fuzz {

class Stage {
 public:
  Stage();
  ~Stage();

 private:
  std::unique_ptr<wire::Topology> topology_;
};

}  // namespace fuzz
