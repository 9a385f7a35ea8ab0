// SPDX-License-Identifier: GPL-2.0-only
#include "plot.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "size.h"
#include "svg.h"

namespace srnbench {
namespace {

constexpr const char* kColours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00"};
constexpr char kGrid[] = "#dddddd", kAxis[] = "#000000";
constexpr double kMargin = 20, kLineHeight = 18;

const char* ColourOf(size_t n) { return kColours[n % std::size(kColours)]; }

Dash DashOf(size_t n) { return Dash(n % 3); }

// A row of --curves.
struct VerbAndSize {
  std::string verb;
  size_t bytes;
};

std::optional<VerbAndSize> Parse(const std::string& row) {
  const size_t space = row.find(' ');
  if (space == std::string::npos) return std::nullopt;
  const std::optional<size_t> bytes = SizeOf(row.substr(space + 1));
  if (!bytes || *bytes == 0) return std::nullopt;
  return VerbAndSize{row.substr(0, space), *bytes};
}

bool AreCurves(const nlohmann::json& rows) {
  return std::all_of(rows.items().begin(), rows.items().end(), [](const auto& item) {
    return Parse(item.key()) && item.value().at("unit") == "MB/s";
  });
}

// Bandwidth by size.
using Curve = std::map<size_t, double>;

// By pair, and by verb.
std::map<std::string, std::map<std::string, Curve>> CurvesOf(const nlohmann::json& rows) {
  std::map<std::string, std::map<std::string, Curve>> curves;

  for (const auto& [name, row] : rows.items()) {
    const VerbAndSize is = *Parse(name);
    if (!row.contains("median")) continue;
    for (const auto& [pair, figure] : row.at("median").items())
      if (figure.get<double>() > 0) curves[pair][is.verb][is.bytes] = figure;
  }
  if (curves.empty()) throw std::runtime_error("nothing was measured");
  return curves;
}

// A logarithmic axis: where a value lies between two places.
class Axis {
 public:
  Axis(double least, double most, double from, double to)
      : least_(std::log(least)), range_(std::log(most) - least_), from_(from), to_(to) {}

  double At(double value) const {
    return range_ > 0 ? from_ + (to_ - from_) * (std::log(value) - least_) / range_ : from_;
  }

 private:
  double least_, range_, from_, to_;
};

class CurvePlot {
 public:
  explicit CurvePlot(const nlohmann::json& rows) : curves_(CurvesOf(rows)) {
    for (const auto& [pair, verbs] : curves_)
      for (const auto& [verb, curve] : verbs)
        for (const auto& [bytes, figure] : curve) {
          sizes_.insert(bytes);
          least_ = std::min(least_, figure);
          most_ = std::max(most_, figure);
        }
    least_ = std::pow(10, std::floor(std::log10(least_)));
    most_ = std::pow(10, std::ceil(std::log10(most_)));
  }

  std::string Draw(const std::string& title) const {
    const Axis x(*sizes_.begin(), *sizes_.rbegin(), kLeft, kRight);
    const Axis y(least_, most_, kBottom, kTop);
    Svg svg(kWidth, kBottom + 3 * kLineHeight);

    svg.Text({kLeft, kMargin}, title);
    Grid(svg, x, y);
    Curves(svg, x, y);
    return svg.str();
  }

 private:
  static constexpr double kWidth = 760, kLeft = 70, kRight = 600, kTop = 40, kBottom = 380;
  static constexpr double kNameWidth = 46;

  void Grid(Svg& svg, const Axis& x, const Axis& y) const {
    for (double value = least_; value <= most_ * 1.01; value *= 10) {
      svg.Line({kLeft, y.At(value)}, {kRight, y.At(value)}, kGrid);
      svg.Text({kLeft - 6, y.At(value) + 4}, fmt::format("{:g}", value), Anchor::kEnd);
    }
    for (auto size = sizes_.begin(); size != sizes_.end(); ++size) {
      const double at = x.At(*size);
      const auto next = std::next(size);
      svg.Line({at, kTop}, {at, kBottom}, kGrid);
      // Where there is no room for both names, the larger one has it.
      if (next == sizes_.end() || x.At(*next) - at >= kNameWidth)
        svg.Text({at, kBottom + kLineHeight}, SizeName(*size), Anchor::kMiddle);
    }
    svg.Line({kLeft, kBottom}, {kRight, kBottom}, kAxis);
    svg.Line({kLeft, kTop}, {kLeft, kBottom}, kAxis);
    svg.Text({kLeft, kTop - 6}, "MB/s", Anchor::kEnd);
    svg.Text({(kLeft + kRight) / 2, kBottom + 2 * kLineHeight}, "size of a message",
             Anchor::kMiddle);
  }

  void Curves(Svg& svg, const Axis& x, const Axis& y) const {
    size_t pair_no = 0, entry = 0;
    for (const auto& [pair, verbs] : curves_) {
      size_t verb_no = 0;
      for (const auto& [verb, curve] : verbs) {
        std::vector<Point> points;
        for (const auto& [bytes, figure] : curve) points.push_back({x.At(bytes), y.At(figure)});
        const double at = kTop + entry++ * kLineHeight;
        svg.Lines(points, ColourOf(verb_no), DashOf(pair_no));
        svg.Line({kRight + 14, at}, {kRight + 44, at}, ColourOf(verb_no), DashOf(pair_no));
        svg.Text({kRight + 50, at + 4}, fmt::format("{}, {}", pair, verb));
        ++verb_no;
      }
      ++pair_no;
    }
  }

  std::map<std::string, std::map<std::string, Curve>> curves_;
  std::set<size_t> sizes_;
  double least_ = HUGE_VAL, most_ = 0;
};

// How many times better the first pair of a ratio is.
struct Bar {
  std::string row;
  std::string pairs;
  double times;
};

std::vector<Bar> BarsOf(const nlohmann::json& rows) {
  std::vector<Bar> bars;

  for (const auto& [name, row] : rows.items()) {
    if (!row.contains("ratio")) continue;
    for (const auto& [pairs, figure] : row.at("ratio").items()) {
      const double ratio = figure;
      if (ratio <= 0) continue;
      bars.push_back({name, pairs, row.at("more_is_better").get<bool>() ? ratio : 1 / ratio});
    }
  }
  if (bars.empty()) throw std::runtime_error("there is no ratio of two pairs");
  return bars;
}

std::string DrawBars(const std::vector<Bar>& bars, const std::string& title) {
  constexpr double kLeft = 260, kRight = 640, kTop = 50;
  std::map<std::string, size_t> pairs;
  double most = 1;

  for (const Bar& bar : bars) {
    pairs.emplace(bar.pairs, pairs.size());
    most = std::max(most, bar.times);
  }
  const double bottom = kTop + bars.size() * kLineHeight;
  const double unit = (kRight - kLeft) / most;
  Svg svg(kRight + 120, bottom + 2 * kLineHeight);
  svg.Text({kMargin, kMargin}, title);
  double at = kTop;
  for (const Bar& bar : bars) {
    svg.Text({kLeft - 6, at + 12}, bar.row, Anchor::kEnd);
    svg.Box({kLeft, at + 2}, bar.times * unit, kLineHeight - 5, ColourOf(pairs.at(bar.pairs)));
    svg.Text({kLeft + bar.times * unit + 6, at + 12},
             fmt::format("{:.2f} {}", bar.times, bar.pairs));
    at += kLineHeight;
  }
  // Where both are alike.
  svg.Line({kLeft + unit, kTop - 4}, {kLeft + unit, bottom}, kAxis, Dash::kDashed);
  svg.Line({kLeft, kTop - 4}, {kLeft, bottom}, kAxis);
  svg.Text({kLeft, kTop - 10}, "times better", Anchor::kStart);
  return svg.str();
}

}  // namespace

std::string Plot(const nlohmann::json& report) {
  const nlohmann::json& rows = report.at("rows");
  const std::string title = fmt::format("Linux {}", report.at("kernel").get<std::string>());

  if (!rows.is_object() || rows.empty()) throw std::runtime_error("a report without rows");
  if (AreCurves(rows)) return CurvePlot(rows).Draw(title);
  return DrawBars(BarsOf(rows), title);
}

}  // namespace srnbench
