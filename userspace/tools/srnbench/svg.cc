// SPDX-License-Identifier: GPL-2.0-only
#include "svg.h"

#include <fmt/format.h>

namespace srnbench {
namespace {

std::string Escaped(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

const char* NameOf(Anchor anchor) {
  switch (anchor) {
    case Anchor::kMiddle:
      return "middle";
    case Anchor::kEnd:
      return "end";
    default:
      return "start";
  }
}

const char* PatternOf(Dash dash) {
  switch (dash) {
    case Dash::kDashed:
      return " stroke-dasharray=\"7 4\"";
    case Dash::kDotted:
      return " stroke-dasharray=\"2 4\"";
    default:
      return "";
  }
}

}  // namespace

Svg::Svg(double width, double height) : width_(width), height_(height) {}

void Svg::Line(Point from, Point to, const std::string& colour, Dash dash) {
  body_ += fmt::format(
      "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\"{}/>\n", from.x,
      from.y, to.x, to.y, Escaped(colour), PatternOf(dash));
}

void Svg::Lines(const std::vector<Point>& points, const std::string& colour, Dash dash) {
  std::string path;
  for (const Point& point : points)
    path += fmt::format("{}{:.1f},{:.1f}", path.empty() ? "" : " ", point.x, point.y);
  body_ +=
      fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"{}/>\n",
                  path, Escaped(colour), PatternOf(dash));
}

void Svg::Box(Point corner, double width, double height, const std::string& colour) {
  body_ += fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>\n",
      corner.x, corner.y, width, height, Escaped(colour));
}

void Svg::Text(Point at, const std::string& text, Anchor anchor) {
  body_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", at.x, at.y,
                       NameOf(anchor), Escaped(text));
}

std::string Svg::str() const {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\" font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"{0:.0f}\" height=\"{1:.0f}\" fill=\"white\"/>\n{2}</svg>\n",
      width_, height_, body_);
}

}  // namespace srnbench
