// SPDX-License-Identifier: GPL-2.0-only
#include "stage.h"

#include <result/must.h>

namespace fuzz {

using result::Must;

Stage::Stage() {
  const wire::Config config = wire::Config::FromEnvironment();
  topology_ = Must(wire::Topology::Create(config));
  Must(wire::Wire::Get().Open(config));
}

Stage::~Stage() { wire::Wire::Get().Close(); }

}  // namespace fuzz
