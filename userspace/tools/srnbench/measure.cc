// SPDX-License-Identifier: GPL-2.0-only
#include "measure.h"

#include <stdexcept>

#include <fmt/format.h>

namespace srnbench {
namespace {

class Measurement {
 public:
  Measurement(const Rounds& rounds, Report& report) : rounds_(rounds), report_(report) {}

  void WarmUp(const Workload& load, Pair& pair) {
    if (load.warm_up) Run(load, pair, rounds_.length / 4);
  }

  void Sample(const Workload& load, Pair& pair) {
    const std::vector<Figure> figures = Run(load, pair, rounds_.length);
    for (size_t i = 0; i < load.rows.size(); ++i)
      report_.Add(pair.name(), load.rows[i], figures.at(i));
  }

 private:
  std::vector<Figure> Run(const Workload& load, Pair& pair, Duration time) {
    try {
      return rounds_.check ? RunChecked(load, pair, time) : load.run(pair, time);
    } catch (const Unable& why) {
      return std::vector<Figure>(load.rows.size(), Figure::None(why.what()));
    }
  }

  std::vector<Figure> RunChecked(const Workload& load, Pair& pair, Duration time) {
    const verbs::Bytes a = pair.a().bytes, b = pair.b().bytes;
    const Inspection inspection(a, b, seed_++);
    std::vector<Figure> figures = load.run(pair, time);

    if (rounds_.flip) b[*rounds_.flip % b.size()] ^= std::byte{1};
    try {
      inspection.Check(load.moves);
    } catch (const std::runtime_error& wrong) {
      throw std::runtime_error(fmt::format("{}, {}: {}", pair.name(), load.name, wrong.what()));
    }
    return figures;
  }

  const Rounds& rounds_;
  Report& report_;
  uint32_t seed_ = 1;
};

}  // namespace

void Measure(const std::vector<Workload>& loads, const std::vector<std::unique_ptr<Pair>>& pairs,
             const Rounds& rounds, Report& report) {
  Measurement measurement(rounds, report);

  for (const Workload& load : loads) {
    for (const auto& pair : pairs) measurement.WarmUp(load, *pair);
    for (int round = 0; round < rounds.count; ++round)
      for (const auto& pair : pairs) measurement.Sample(load, *pair);
  }
}

}  // namespace srnbench
