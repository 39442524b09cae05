// Decision: judges a claim by the figures that its criterion names.
//
// A claim has parts (BlobDB over leveled tables, and over universal ones), and a part has a figure for each value size.
// Every figure must lie within the bounds of its part. If some figures do, the claim holds in part; if none does, it
// differs. If the verdict depends on a figure whose rounds do not agree, it is doubtful. For figures out of bounds the
// text says whether they are too low or too high, and why if the reason is known for that part and direction.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "claims/claim.h"
#include "claims/figures.h"

namespace cambium::bench {

// Published figures are rounded or read off charts.
inline constexpr double kTolerance = 0.05;

struct Bounds {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
};
inline Bounds AtLeast(double published) { return {.low = published * (1 - kTolerance)}; }
inline Bounds AtMost(double published) { return {.high = published * (1 + kTolerance)}; }
inline Bounds About(double published) { return {.low = AtLeast(published).low, .high = AtMost(published).high}; }

// The likely reason why figures of a part lie below or above its bounds; empty if none is known.
struct Reasons {
  std::string low = {};
  std::string high = {};
};

enum class Kind : unsigned char {
  kPlain,  // doubtful if its rounds lie on both sides of a bound
  kSpeed   // a ratio of speeds: doubtful too if its rounds lie further apart than half of their median
};

class Decision {
 public:
  // Adds a part. If it has no figure at all, it was not measured, and the claim cannot hold as a whole.
  void Add(const std::string& name, const Several& figures, Bounds bounds, Kind kind, const Reasons& reasons = {});
  // Returns `claim` with verdict, why and rounds filled in. `needed`: the reason if there is no figure.
  [[nodiscard]] Claim On(Claim claim, const std::string& needed) const;

 private:
  // Names of figures with the same reason.
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

// Returns `claim` as not measured, for the reason `needed`.
Claim NotMeasured(Claim claim, const std::string& needed);

}  // namespace cambium::bench
