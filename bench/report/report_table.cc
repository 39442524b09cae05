#include "report/report_table.h"

#include <algorithm>
#include <cstdio>

namespace cambium::bench {
namespace {

constexpr std::size_t kColumn = 26;
constexpr std::size_t kRatioColumn = 12;
constexpr const char* kBTree = "cambium/btree";
constexpr const char* kLsm = "cambium/lsm";
constexpr const char* kDoubt =
    "?: the rounds do not agree. Their ratios lie on both sides of 1, or further apart than half of their median.\n";

std::string Decimal(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.*f", digits, value);
  return text;
}

// Returns the median and both ends of the rounds' ratios: "1.50x (1.41..1.62)", or "1.50x? (0.90..1.62)" if in doubt.
std::string Ratio(const Rounds& rounds) {
  const std::optional<Spread> ratio = SpreadOf(rounds);
  if (!ratio.has_value()) return "-";
  const std::string text = Decimal(ratio->median, 2) + "x";
  if (ratio->rounds == 1) return text;
  return text + (IsDoubtful(*ratio) ? "?" : "") + " (" + Decimal(ratio->low, 2) + ".." + Decimal(ratio->high, 2) + ")";
}

std::string Head(const std::string& title, const std::vector<std::string>& engines) {
  std::string head = PadRight(title, kFirstColumn);
  for (const std::string& engine : engines) head += PadLeft(engine, kColumn);
  return head;
}

}  // namespace

std::string Number(double value) {
  if (value < 100) return Decimal(value, value < 10 ? 2 : 1);
  const std::string digits = Decimal(value, 0);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string PadLeft(const std::string& text, std::size_t width) {
  return text.size() >= width ? " " + text : std::string(width - text.size(), ' ') + text;
}
std::string PadRight(const std::string& text, std::size_t width) {
  return text.size() >= width ? text + " " : text + std::string(width - text.size(), ' ');
}

std::string Speed(const Rounds& rounds) {
  const std::vector<double> values = Values(rounds);
  const double median = Median(values);
  std::string text = Number(median);
  if (values.size() > 1 && median > 0) {
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    text += " +-" + Decimal((*high - *low) / 2 / median * 100, 0) + "%";
  }
  return text;
}

std::string Plain(const Rounds& rounds) { return Number(Median(rounds)); }

Table::Table(const std::vector<Result>& results) : steps_(NameSteps(results)) {
  for (const Result& result : results) {
    AddOnce(&engines_, Label(result));
    cells_[{result.step, Label(result)}].push_back(&result);
  }
  const auto has = [this](const char* engine) {
    return std::find(engines_.begin(), engines_.end(), engine) != engines_.end();
  };
  has_both_indexes_ = has(kBTree) && has(kLsm);
}

std::string Table::Draw(const std::string& title, const Metric& metric, const Format& format) const {
  std::string rows;
  for (const auto& [step, name] : steps_) rows += Row(step, name, metric, format);
  return Framed(title, rows);
}

std::string Table::DrawParts(const std::string& title, const Metric& sum, const std::vector<Part>& parts,
                             const Format& format) const {
  const std::string nothing = format({{0, 0.0}});
  std::string rows;
  for (const auto& [step, name] : steps_) {
    rows += Row(step, name, sum, format);
    for (const Part& part : parts) {
      const bool is_any = std::ranges::any_of(engines_, [&, at = step](const std::string& engine) {
        const Rounds rounds = RoundsOf(at, engine, part.metric);
        return !rounds.empty() && format(rounds) != nothing;
      });
      if (is_any) rows += Row(step, "  " + part.name, part.metric, format);
    }
  }
  return Framed(title, rows);
}

std::string Table::DrawRatios(const std::string& title, Better better, const Metric& metric) const {
  std::string text;
  for (const std::string& base : Bases()) text += DrawRatiosOf(base, title, better, metric);
  return text;
}

std::vector<std::string> Table::Bases() const {
  std::vector<std::string> bases;
  for (const std::string& engine : engines_) {
    if (engine == kBTree || engine == kLsm) bases.push_back(engine);
  }
  return bases.empty() ? std::vector{engines_.front()} : bases;
}

std::string Table::DrawRatiosOf(const std::string& base, const std::string& title, Better better,
                                const Metric& metric) const {
  std::vector<std::string> others = engines_;
  std::erase(others, base);
  std::string rows;
  for (const auto& [step, name] : steps_) {
    const Rounds own = RoundsOf(step, base, metric);
    std::string row = PadRight(name, kFirstColumn);
    bool any = false;
    for (const std::string& other : others) {
      const Rounds theirs = RoundsOf(step, other, metric);
      const Rounds ratios = better == Better::kMore ? Divide(own, theirs) : Divide(theirs, own);
      any = any || !ratios.empty();
      row += PadLeft(Ratio(ratios), kColumn);
    }
    if (any) rows += row + "\n";
  }
  if (rows.empty()) return {};
  const std::string what = better == Better::kMore ? title + " of " + base + " : that of"
                                                   : title + " of these : that of " + base;
  return what + "\n" + Head("", others) + "\n" + rows + (rows.find("x?") != std::string::npos ? kDoubt : "") + "\n";
}

std::string Table::Row(std::uint64_t step, const std::string& name, const Metric& metric, const Format& format) const {
  std::string row = PadRight(name, kFirstColumn);
  bool any = false;
  for (const std::string& engine : engines_) {
    const Rounds rounds = RoundsOf(step, engine, metric);
    any = any || !rounds.empty();
    row += PadLeft(rounds.empty() ? "-" : format(rounds), kColumn);
  }
  if (has_both_indexes_) {
    const Rounds ratios = Divide(RoundsOf(step, kBTree, metric), RoundsOf(step, kLsm, metric));
    row += PadLeft(ratios.empty() ? "-" : Decimal(Median(ratios), 2) + "x", kRatioColumn);
  }
  return any ? row + "\n" : "";
}

std::string Table::Framed(const std::string& title, const std::string& rows) const {
  if (rows.empty()) return {};
  return Head(title, engines_) + (has_both_indexes_ ? PadLeft("btree:lsm", kRatioColumn) : "") + "\n" + rows + "\n";
}

Rounds Table::RoundsOf(std::uint64_t step, const std::string& engine, const Metric& metric) const {
  Rounds values;
  const auto cell = cells_.find({step, engine});
  if (cell == cells_.end()) return values;
  for (const Result* result : cell->second) {
    if (const std::optional<double> value = metric(*result); value.has_value()) values[result->round] = *value;
  }
  return values;
}

}  // namespace cambium::bench
