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

constexpr std::size_t kFirstColumn = 18;
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
  using Format = std::function<std::string(const std::vector<double>& rounds, double first_engine)>;

  // A row is left out if no engine has a value in it, and the table if no row is left.
  [[nodiscard]] std::string Draw(const std::string& title, const Metric& metric, const Format& format) const {
    std::string rows;
    for (const auto& [step, name] : steps_) {
      const std::vector<double> first = Rounds(step, engines_.front(), metric);
      std::string row = PadRight(name, kFirstColumn);
      bool any = false;
      for (const std::string& engine : engines_) {
        const std::vector<double> rounds = Rounds(step, engine, metric);
        any = any || !rounds.empty();
        row += PadLeft(rounds.empty() ? "-" : format(rounds, first.empty() ? 0 : Median(first)), kColumn);
      }
      if (has_both_indexes_) row += PadLeft(IndexRatio(step, metric), kRatioColumn);
      if (any) rows += row + "\n";
    }
    if (rows.empty()) return {};
    std::string head = PadRight(title, kFirstColumn);
    for (const std::string& engine : engines_) head += PadLeft(engine, kColumn);
    if (has_both_indexes_) head += PadLeft("btree:lsm", kRatioColumn);
    return head + "\n" + rows + "\n";
  }

 private:
  [[nodiscard]] std::string IndexRatio(std::uint64_t step, const Metric& metric) const {
    const std::vector<double> btree = Rounds(step, kBTree, metric);
    const std::vector<double> lsm = Rounds(step, kLsm, metric);
    if (btree.empty() || lsm.empty() || Median(lsm) <= 0) return "-";
    return Decimal(Median(btree) / Median(lsm), 2) + "x";
  }

  [[nodiscard]] std::vector<double> Rounds(std::uint64_t step, const std::string& engine,
                                           const Metric& metric) const {
    std::vector<double> values;
    const auto cell = cells_.find({step, engine});
    if (cell == cells_.end()) return values;
    for (const Result* result : cell->second) {
      if (const std::optional<double> value = metric(*result); value.has_value()) values.push_back(*value);
    }
    return values;
  }

  std::map<std::uint64_t, std::string> steps_;
  std::vector<std::string> engines_;
  bool has_both_indexes_ = false;
  std::map<std::pair<std::uint64_t, std::string>, std::vector<const Result*>> cells_;
};

// "123,456 +-2%   1.50x": median, spread, and how many times as fast the first engine is.
std::string Speed(const std::vector<double>& rounds, double first_engine) {
  const double median = Median(rounds);
  std::string text = Number(median);
  if (rounds.size() > 1 && median > 0) {
    const auto [low, high] = std::minmax_element(rounds.begin(), rounds.end());
    text += " +-" + Decimal((*high - *low) / 2 / median * 100, 0) + "%";
  }
  if (first_engine > 0 && median > 0) text += PadLeft(Decimal(first_engine / median, 2) + "x", 8);
  return text;
}

std::string Plain(const std::vector<double>& rounds, double) { return Number(Median(rounds)); }

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
  std::string text = "Medians of all rounds; behind a speed how many times as fast the first engine is.\n\n";
  text += table.Draw("ops/sec", OfOperations([](const Result& r) { return r.ops_per_sec; }), Speed);
  text += table.Draw("seconds", [](const Result& r) {
    return EffectOf(r) == Effect::kMaintains ? std::optional(r.seconds) : std::nullopt;
  }, Plain);
  text += table.Draw("p50 us", OfOperations([](const Result& r) { return r.p50_us; }), Plain);
  text += table.Draw("p99 us", OfOperations([](const Result& r) { return r.p99_us; }), Plain);
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
