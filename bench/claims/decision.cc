#include "claims/decision.h"

#include <algorithm>
#include <cstddef>

namespace cambium::bench {
namespace {

using Names = std::vector<std::string>;

std::string Listed(const Names& names) {
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

void Decision::Note(const Names& names, const std::string& reason, Failures* failures) {
  if (names.empty()) return;
  failed_ += names.size();
  auto same = std::find_if(failures->begin(), failures->end(), [&](const Failure& f) { return f.reason == reason; });
  if (same == failures->end()) same = failures->insert(failures->end(), Failure{.reason = reason, .names = {}});
  for (const std::string& name : names) {
    if (!name.empty()) same->names.push_back(name);
  }
}

// "too low: a, b (a reason), c"
std::string Decision::Text(const char* what, const Failures& failures) {
  std::string parts;
  for (const Failure& failure : failures) {
    std::string part = Listed(failure.names);
    if (!failure.reason.empty()) part += (part.empty() ? "(" : " (") + failure.reason + ")";
    if (!part.empty()) parts += (parts.empty() ? "" : ", ") + part;
  }
  if (parts.empty()) return failures.empty() ? "" : what;
  return what + std::string(parts.front() == '(' ? " " : ": ") + parts;
}

void Decision::Add(const std::string& name, const Several& figures, Bounds bounds, Kind kind, const Reasons& reasons) {
  std::size_t measured = 0;
  Names low;
  Names high;
  for (const auto& [of, rounds] : figures) {
    const std::optional<Spread> spread = SpreadOf(rounds);
    if (!spread.has_value()) continue;
    ++measured;
    rounds_ = std::min(rounds_, spread->rounds);
    const std::vector<double> values = Values(rounds);
    const auto below = std::count_if(values.begin(), values.end(), [&](double value) { return value < bounds.low; });
    const auto above = std::count_if(values.begin(), values.end(), [&](double value) { return value > bounds.high; });
    const auto all = static_cast<std::ptrdiff_t>(values.size());
    const bool agree = below == all || above == all || below + above == 0;
    Names& names = !agree || (kind == Kind::kSpeed && AreFarApart(*spread)) ? doubtful_
                   : below == all                                          ? low
                   : above == all                                          ? high
                                                                           : held_;
    names.push_back(of.empty() ? name : name.empty() ? of : name + " " + of);
  }
  if (measured == 0) missing_.push_back(name);
  for (Names* names : {&low, &high}) {
    if (names->size() == measured && measured > 1 && !name.empty()) *names = {name};  // all sizes
  }
  Note(low, reasons.low, &low_);
  Note(high, reasons.high, &high_);
}

Claim Decision::On(Claim claim, const std::string& needed) const {
  if (held_.empty() && failed_ == 0 && doubtful_.empty()) return NotMeasured(std::move(claim), needed);
  claim.rounds = rounds_;
  const Verdict at_best = Of(held_.size() + doubtful_.size(), failed_, missing_.size());
  const Verdict at_worst = Of(held_.size(), failed_ + doubtful_.size(), missing_.size());
  claim.verdict = at_best == at_worst ? at_best : Verdict::kDoubtful;
  claim.why.clear();
  if (claim.verdict == Verdict::kHolds) return claim;
  if (!doubtful_.empty()) Append("rounds do not agree: " + Listed(doubtful_), &claim.why);
  Append(Text("too low", low_), &claim.why);
  Append(Text("too high", high_), &claim.why);
  if (!missing_.empty()) Append("not measured: " + Listed(missing_), &claim.why);
  return claim;
}

Claim NotMeasured(Claim claim, const std::string& needed) {
  claim.measured = "-";
  claim.verdict = Verdict::kNotMeasured;
  claim.why = needed;
  return claim;
}

}  // namespace cambium::bench
