#include "report.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "workload.h"

namespace cambium::bench {
namespace {

constexpr std::size_t kFirstColumn = 24;
constexpr std::size_t kColumn = 26;
constexpr std::size_t kRatioColumn = 12;
constexpr const char* kBTree = "cambium/btree";
constexpr const char* kLsm = "cambium/lsm";

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

std::string Decimal(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.*f", digits, value);
  return text;
}

// 1234567 as "1,234,567"; three digits that count where it is small.
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

void AddOnce(std::vector<std::string>* names, const std::string& name) {
  if (std::find(names->begin(), names->end(), name) == names->end()) names->push_back(name);
}

// "readrandom", and "readrandom 2" where it comes again.
std::map<std::uint64_t, std::string> NameSteps(const std::vector<Result>& results) {
  std::map<std::uint64_t, std::string> names;
  for (const Result& result : results) names[result.step] = result.benchmark;
  std::map<std::string, int> seen;
  for (auto& [step, name] : names) {
    if (const int times = ++seen[name]; times > 1) name.append(" ").append(std::to_string(times));
  }
  return names;
}

// A figure of every round in which there is one.
using Rounds = std::map<unsigned, double>;

std::vector<double> Values(const Rounds& rounds) {
  std::vector<double> values;
  for (const auto& [round, value] : rounds) values.push_back(value);
  return values;
}

double Median(const Rounds& rounds) { return Median(Values(rounds)); }

// a / b of each round that both have.
Rounds Divide(const Rounds& a, const Rounds& b) {
  Rounds ratios;
  for (const auto& [round, value] : a) {
    const auto other = b.find(round);
    if (other != b.end() && other->second > 0) ratios[round] = value / other->second;
  }
  return ratios;
}

// "1.50x (1.41..1.62)": what the rounds' ratios have in the middle, and at both ends.
std::string Ratio(const Rounds& ratios) {
  if (ratios.empty()) return "-";
  const std::vector<double> values = Values(ratios);
  const std::string text = Decimal(Median(values), 2) + "x";
  if (values.size() == 1) return text;
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return text + " (" + Decimal(*low, 2) + ".." + Decimal(*high, 2) + ")";
}

// Which of two figures of the same kind is the better one.
enum class Better : unsigned char { kMore, kLess };

// The rounds of every pair of engine and benchmark.
class Table {
 public:
  explicit Table(const std::vector<Result>& results) : steps_(NameSteps(results)) {
    for (const Result& result : results) {
      AddOnce(&engines_, Label(result));
      cells_[{result.step, Label(result)}].push_back(&result);
    }
    const auto has = [this](const char* engine) {
      return std::find(engines_.begin(), engines_.end(), engine) != engines_.end();
    };
    has_both_indexes_ = has(kBTree) && has(kLsm);
  }

  using Metric = std::function<std::optional<double>(const Result&)>;
  using Format = std::function<std::string(const Rounds& rounds)>;

  // A row is left out if no engine has a value in it, and the table if no row is left.
  [[nodiscard]] std::string Draw(const std::string& title, const Metric& metric, const Format& format) const {
    std::string rows;
    for (const auto& [step, name] : steps_) {
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
      if (any) rows += row + "\n";
    }
    if (rows.empty()) return {};
    return Head(title, engines_) + (has_both_indexes_ ? PadLeft("btree:lsm", kRatioColumn) : "") + "\n" + rows + "\n";
  }

  // How many times as good as each other engine those are that stand for this project, or the first one.
  [[nodiscard]] std::string DrawRatios(const std::string& title, Better better, const Metric& metric) const {
    std::string text;
    for (const std::string& base : Bases()) text += DrawRatiosOf(base, title, better, metric);
    return text;
  }

 private:
  [[nodiscard]] std::vector<std::string> Bases() const {
    std::vector<std::string> bases;
    for (const std::string& engine : engines_) {
      if (engine == kBTree || engine == kLsm) bases.push_back(engine);
    }
    return bases.empty() ? std::vector{engines_.front()} : bases;
  }

  [[nodiscard]] std::string DrawRatiosOf(const std::string& base, const std::string& title, Better better,
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
    return what + "\n" + Head("", others) + "\n" + rows + "\n";
  }

  static std::string Head(const std::string& title, const std::vector<std::string>& engines) {
    std::string head = PadRight(title, kFirstColumn);
    for (const std::string& engine : engines) head += PadLeft(engine, kColumn);
    return head;
  }

  [[nodiscard]] Rounds RoundsOf(std::uint64_t step, const std::string& engine, const Metric& metric) const {
    Rounds values;
    const auto cell = cells_.find({step, engine});
    if (cell == cells_.end()) return values;
    for (const Result* result : cell->second) {
      if (const std::optional<double> value = metric(*result); value.has_value()) values[result->round] = *value;
    }
    return values;
  }

  std::map<std::uint64_t, std::string> steps_;
  std::vector<std::string> engines_;
  bool has_both_indexes_ = false;
  std::map<std::pair<std::uint64_t, std::string>, std::vector<const Result*>> cells_;
};

// "123,456 +-2%": median and spread.
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

constexpr double kMiB = 1 << 20;

Effect EffectOf(const Result& result) {
  const Workload* workload = FindWorkload(result.benchmark);
  return workload == nullptr ? Effect::kMaintains : workload->effect;
}

// `value(result)`, but only of workloads that count operations, or only of those that do not just read.
template <typename Value>
Table::Metric OfOperations(Value value) {
  return [value](const Result& r) {
    return EffectOf(r) == Effect::kMaintains ? std::nullopt : std::optional<double>(value(r));
  };
}
template <typename Value>
Table::Metric OfChanges(Value value) {
  return [value](const Result& r) {
    return EffectOf(r) == Effect::kReads ? std::nullopt : std::optional<double>(value(r));
  };
}

// Of workloads that put: of all puts, or batches of them, the one that took longest.
std::optional<double> LongestPutMillis(const Result& r) {
  if (r.writer.has_value()) return r.writer->max_us * 1e-3;
  const Workload* workload = FindWorkload(r.benchmark);
  const bool puts = workload != nullptr && workload->effect == Effect::kWrites && workload->count != Count::kDeletes;
  return puts ? std::optional(r.max_us * 1e-3) : std::nullopt;
}

// Of the last round: shapes have no median.
std::string IndexTable(const std::vector<Result>& results) {
  unsigned last = 0;
  for (const Result& result : results) last = std::max(last, result.round);
  std::string text;
  for (const auto& [step, name] : NameSteps(results)) {
    for (const Result& r : results) {
      if (r.step != step || r.round != last || !r.index_figures.has_value()) continue;
      const IndexFigures& f = *r.index_figures;
      const auto per_update = [&f](std::uint64_t bytes) {
        return f.updates == 0 ? std::string("-") : Number(static_cast<double>(bytes) / static_cast<double>(f.updates));
      };
      text += PadRight(name, kFirstColumn) + PadRight(Label(r), 14) + PadLeft(per_update(f.bytes), 12) +
              PadLeft(per_update(f.law_bytes), 12) + PadLeft(std::to_string(f.updates), 12) +
              PadLeft(std::to_string(f.merges), 8) + PadLeft(std::to_string(f.runs), 6) +
              PadLeft(std::to_string(f.run_keys), 14) + "   " + f.shape + "\n";
    }
  }
  if (text.empty()) return {};
  return PadRight("index", kFirstColumn) + PadRight("", 14) + PadLeft("B/update", 12) + PadLeft("by the law", 12) +
         PadLeft("updates", 12) + PadLeft("merges", 8) + PadLeft("runs", 6) + PadLeft("keys in runs", 14) +
         "   below them\n" + text +
         "Of the last round. B/update: bytes of index files written per key that left a memory table. By the law: what "
         "the\ncost law of that index expects of uniform updates. Merges: into the tree, or compactions.\n\n";
}

}  // namespace

std::string MakeReport(const std::vector<Result>& results) {
  if (results.empty()) return {};
  const Table table(results);
  const auto speed = OfOperations([](const Result& r) { return r.ops_per_sec; });
  const auto p99 = OfOperations([](const Result& r) { return r.p99_us; });
  std::string text =
      "Medians of all rounds. A ratio is taken in each round; shown is the median of these ratios, and in brackets\n"
      "the smallest and the largest.\n\n";
  text += table.Draw("ops/sec", speed, Speed);
  text += table.DrawRatios("ops/sec", Better::kMore, speed);
  text += table.Draw("writer ops/sec", [](const Result& r) {
    return r.writer.has_value() ? std::optional(r.writer->ops_per_sec) : std::nullopt;
  }, Speed);
  text += table.Draw("seconds", [](const Result& r) {
    return EffectOf(r) == Effect::kMaintains ? std::optional(r.seconds) : std::nullopt;
  }, Plain);
  text += table.Draw("p50 us", OfOperations([](const Result& r) { return r.p50_us; }), Plain);
  text += table.Draw("p99 us", p99, Plain);
  text += table.DrawRatios("p99 us", Better::kLess, p99);
  text += table.Draw("p99.9 us", OfOperations([](const Result& r) { return r.p999_us; }), Plain);
  text += table.Draw("longest put ms", LongestPutMillis, Plain);
  text += table.DrawRatios("longest put ms", Better::kLess, LongestPutMillis);
  text += table.Draw("CPU us/op", OfOperations([](const Result& r) {
    return r.ops == 0 ? 0.0 : (r.user_cpu_s + r.sys_cpu_s) * 1e6 / static_cast<double>(r.ops);
  }), Plain);
  text += table.Draw("write amp", [](const Result& r) { return r.write_amp; }, Plain);
  text += table.Draw("space amp", [](const Result& r) {
    return EffectOf(r) == Effect::kReads ? std::nullopt : r.space_amp;
  }, Plain);
  text += table.Draw("disk MiB", OfChanges([](const Result& r) {
    return static_cast<double>(r.disk_bytes) / kMiB;
  }), Plain);
  text += table.Draw("disk peak MiB", OfChanges([](const Result& r) {
    return static_cast<double>(r.disk_peak_bytes) / kMiB;
  }), Plain);
  text += table.Draw("peak RSS MiB", OfOperations([](const Result& r) {
    return static_cast<double>(r.rss_peak_bytes) / kMiB;
  }), Plain);
  text += IndexTable(results);
  text += "Write amp: bytes of pages made dirty in the page cache, as /proc/self/io counts them, per byte of keys and "
          "values.\nSpace amp: blocks of all files of the database per byte of keys and values that exist.\n"
          "Peak RSS: pages of files that are mapped count too.\n";
  return text;
}

}  // namespace cambium::bench
