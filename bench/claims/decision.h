// Decision: whether a claim holds, from the figures that its criterion asks for.
//
// A claim has parts (BlobDB over leveled tables, and over universal ones), and a part has figures (of each size of
// values). Every figure must lie within the bounds of its part. What holds only in part is told from what does not hold
// at all, and a verdict that hangs on a figure whose rounds do not agree is none: it is doubtful.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "claim.h"
#include "claims/figures.h"

namespace cambium::bench {

// What was published is rounded and read off charts.
inline constexpr double kTolerance = 0.05;

struct Bounds {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
};
inline Bounds AtLeast(double published) { return {.low = published * (1 - kTolerance)}; }
inline Bounds AtMost(double published) { return {.high = published * (1 + kTolerance)}; }

enum class Kind : unsigned char {
  kPlain,  // in doubt where its rounds lie on both sides of a bound
  kSpeed   // a ratio of speeds: also where its rounds lie further apart than half of their median
};

class Decision {
 public:
  // A part of which there is no figure at all was not measured, and the claim cannot hold as a whole.
  void Add(const std::string& name, const Several& figures, Bounds bounds, Kind kind);
  // Fills in verdict, why and rounds of `claim`. `needed`: what is missing if there is no figure; `reason`: what is
  // likely to be the reason where a part does not hold.
  [[nodiscard]] Claim On(Claim claim, const std::string& needed, const std::string& reason) const;

 private:
  std::vector<std::string> held_;
  std::vector<std::string> failed_;
  std::vector<std::string> doubtful_;
  std::vector<std::string> missing_;
  std::size_t rounds_ = std::numeric_limits<std::size_t>::max();
};

// A claim that nothing can be said about because `needed` is missing.
Claim NotMeasured(Claim claim, const std::string& needed);

}  // namespace cambium::bench
