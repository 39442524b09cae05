#include "claims/decision.h"

#include <algorithm>

namespace cambium::bench {
namespace {

std::string Listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

void Append(const std::string& what, std::string* text) {
  if (!what.empty()) *text += (text->empty() ? "" : "; ") + what;
}

Verdict Of(std::size_t held, std::size_t failed, std::size_t missing) {
  if (held == 0) return Verdict::kDiffers;
  return failed + missing == 0 ? Verdict::kHolds : Verdict::kInPart;
}

}  // namespace

void Decision::Add(const std::string& name, const Several& figures, Bounds bounds, Kind kind) {
  bool any = false;
  for (const auto& [of, rounds] : figures) {
    const std::optional<Spread> spread = SpreadOf(rounds);
    if (!spread.has_value()) continue;
    any = true;
    rounds_ = std::min(rounds_, spread->rounds);
    const std::vector<double> values = Values(rounds);
    const auto is_within = [&](double value) { return value >= bounds.low && value <= bounds.high; };
    const auto within = static_cast<std::size_t>(std::count_if(values.begin(), values.end(), is_within));
    const bool disagree = (within > 0 && within < values.size()) || (kind == Kind::kSpeed && AreFarApart(*spread));
    std::vector<std::string>& list = disagree ? doubtful_ : within > 0 ? held_ : failed_;
    list.push_back(of.empty() ? name : name.empty() ? of : name + " " + of);
  }
  if (!any) missing_.push_back(name);
}

Claim Decision::On(Claim claim, const std::string& needed, const std::string& reason) const {
  if (held_.empty() && failed_.empty() && doubtful_.empty()) return NotMeasured(std::move(claim), needed);
  claim.rounds = rounds_;
  const Verdict at_best = Of(held_.size() + doubtful_.size(), failed_.size(), missing_.size());
  const Verdict at_worst = Of(held_.size(), failed_.size() + doubtful_.size(), missing_.size());
  claim.verdict = at_best == at_worst ? at_best : Verdict::kDoubtful;
  claim.why.clear();
  if (claim.verdict == Verdict::kHolds) return claim;
  if (!doubtful_.empty()) Append("rounds do not agree: " + Listed(doubtful_), &claim.why);
  if (!failed_.empty() && claim.verdict != Verdict::kDiffers) Append("does not hold: " + Listed(failed_), &claim.why);
  if (!missing_.empty()) Append("not measured: " + Listed(missing_), &claim.why);
  if (!failed_.empty()) Append(reason, &claim.why);
  return claim;
}

Claim NotMeasured(Claim claim, const std::string& needed) {
  claim.measured = "-";
  claim.verdict = Verdict::kNotMeasured;
  claim.why = needed;
  return claim;
}

}  // namespace cambium::bench
