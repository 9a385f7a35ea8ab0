// SPDX-License-Identifier: GPL-2.0-only
// A drawing in SVG, which browsers and README files show.
#pragma once

#include <string>
#include <vector>

namespace srnbench {

struct Point {
  double x, y;
};

enum class Anchor { kStart, kMiddle, kEnd };

// How lines are drawn: none of them by colour alone.
enum class Dash { kSolid, kDashed, kDotted };

// Units are pixels, y grows downwards.
class Svg {
 public:
  Svg(double width, double height);

  void Line(Point from, Point to, const std::string& colour, Dash dash = Dash::kSolid);
  void Lines(const std::vector<Point>& points, const std::string& colour, Dash dash);
  void Box(Point corner, double width, double height, const std::string& colour);
  void Text(Point at, const std::string& text, Anchor anchor = Anchor::kStart);

  // The whole document.
  std::string str() const;

 private:
  double width_, height_;
  std::string body_;
};

}  // namespace srnbench
