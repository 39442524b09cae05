// Decision: whether a claim holds, from the figures that its criterion asks for.
//
// A claim has parts (BlobDB over leveled tables, and over universal ones), and a part has figures (of each size of
// values). Every figure must lie within the bounds of its part. What holds only in part is told from what does not hold
// at all, and a verdict that hangs on a figure whose rounds do not agree is none: it is doubtful. Of what does not hold
// it is said whether it is too low or too high, and why only where that is known of this part in this direction.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "claims/claim.h"
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
inline Bounds About(double published) { return {.low = AtLeast(published).low, .high = AtMost(published).high}; }

// What is likely to be the reason where figures of a part lie below its bounds, or above; empty where none is known.
struct Reasons {
  std::string low = {};
  std::string high = {};
};

enum class Kind : unsigned char {
  kPlain,  // in doubt where its rounds lie on both sides of a bound
  kSpeed   // a ratio of speeds: also where its rounds lie further apart than half of their median
};

class Decision {
 public:
  // A part of which there is no figure at all was not measured, and the claim cannot hold as a whole.
  void Add(const std::string& name, const Several& figures, Bounds bounds, Kind kind, const Reasons& reasons = {});
  // Fills in verdict, why and rounds of `claim`. `needed`: what is missing if there is no figure.
  [[nodiscard]] Claim On(Claim claim, const std::string& needed) const;

 private:
  // Names that have a reason in common.
  struct Failure {
    std::string reason;
    std::vector<std::string> names;
  };
  using Failures = std::vector<Failure>;
  void Note(const std::vector<std::string>& names, const std::string& reason, Failures* failures);
  static std::string Text(const char* what, const Failures& failures);

  std::vector<std::string> held_;
  Failures low_;
  Failures high_;
  std::size_t failed_ = 0;
  std::vector<std::string> doubtful_;
  std::vector<std::string> missing_;
  std::size_t rounds_ = std::numeric_limits<std::size_t>::max();
};

// A claim that nothing can be said about because `needed` is missing.
Claim NotMeasured(Claim claim, const std::string& needed);

}  // namespace cambium::bench
