#include <array>

#include "html/plots.h"
#include "html/plots/bars.h"

namespace cambium::bench {
namespace {

constexpr std::size_t kLog = 0;
constexpr std::size_t kNotSplit = 6;
const std::vector<std::string> kCauses = {
    "log", "values", "flush", "sweep or compaction", "GC", "MANIFEST and other", "not split"};

// A page that is written several times before its write-back counts once.
constexpr const char* kDirtied = "Bytes of pages that the process made dirty per byte of keys and values";

// Returns the bytes written by cause, per byte that users wrote.
std::optional<std::array<double, kNotSplit>> PartsOf(const Result& r) {
  if (!r.ledger.has_value() || r.user_write_bytes == 0) return std::nullopt;
  const WriteLedger& l = *r.ledger;
  const auto per_byte = [&r](std::uint64_t bytes) {
    return static_cast<double>(bytes) / static_cast<double>(r.user_write_bytes);
  };
  return std::array{per_byte(l.log),   per_byte(l.values), per_byte(l.flush),
                    per_byte(l.merge), per_byte(l.gc),     per_byte(l.manifest + l.other)};
}

std::optional<double> PartOf(const Result& r, std::size_t cause) {
  const auto parts = PartsOf(r);
  return parts.has_value() ? std::optional((*parts)[cause]) : std::nullopt;
}

// Splits the bars of engines that keep a ledger. Returns whether any does.
bool Split(const RunView& run, BarChart* chart) {
  bool any = false;
  for (BarPanel& panel : chart->panels) {
    for (const StepOfRun& step : run.steps()) {
      if (step.name != panel.title) continue;
      for (Bar& bar : panel.bars) {
        for (std::size_t cause = kLog; cause < kNotSplit; ++cause) {
          const auto part =
              run.SpreadOfRounds(step.step, bar.name, [cause](const Result& r) { return PartOf(r, cause); });
          if (part.has_value() && part->median > 0) bar.parts.push_back({static_cast<int>(cause), part->median});
        }
        any |= !bar.parts.empty();
      }
    }
  }
  return any;
}

void AddCausesToTable(const RunView& run, DataTable* table) {
  for (std::size_t cause = kLog; cause < kNotSplit; ++cause) table->head.push_back(kCauses[cause]);
  table->head.push_back("by the post's definition");
  for (std::vector<std::string>& row : table->rows) {
    for (const StepOfRun& step : run.steps()) {
      if (step.name != row[0]) continue;
      const std::string engine = row[1];
      const auto add = [&](const Metric& metric) {
        const auto spread = run.SpreadOfRounds(step.step, engine, metric);
        row.push_back(spread.has_value() ? Format(Unit::kPlain, spread->median) : "-");
      };
      for (std::size_t cause = kLog; cause < kNotSplit; ++cause)
        add([cause](const Result& r) { return PartOf(r, cause); });
      add(WriteAmpOfThePost);
    }
  }
}

}  // namespace

std::optional<Plot> PlotWriteAmp(const Palette& palette, const RunView& run) {
  std::optional<Plot> plot = PlotBars(
      palette, run,
      {.name = "write-amplification",
       .title = "Write amplification",
       .caption = kDirtied + std::string("; shorter is better") + RoundsNote(run) + ".",
       .unit = Unit::kTimes,
       .metric = [](const Result& r) { return r.write_amp; }},
      [](const StepOfRun&) { return true; });
  if (!plot.has_value()) return plot;
  auto& chart = std::get<BarChart>(plot->chart);
  if (Split(run, &chart)) {
    chart.causes = kCauses;
    for (BarPanel& panel : chart.panels) {
      for (Bar& bar : panel.bars) {
        if (bar.parts.empty()) bar.parts = {{static_cast<int>(kNotSplit), bar.value}};
      }
    }
    AddCausesToTable(run, &plot->table);
    plot->caption =
        kDirtied + std::string(" (the upright line), and the bytes that engines count themselves, by cause; shorter is "
                               "better") +
        RoundsNote(run) + ".";
  }
  return plot;
}

std::optional<Plot> PlotSpaceAmp(const Palette& palette, const RunView& run) {
  return PlotBars(
      palette, run,
      {.name = "space-amplification",
       .title = "Space amplification",
       .caption = "Bytes on disk after each benchmark that changes something, per byte of keys and values that "
                  "exist; shorter is better" +
                  RoundsNote(run) + ".",
       .unit = Unit::kTimes,
       .metric = [](const Result& r) { return r.space_amp; }},
      [](const StepOfRun& step) { return step.changes; });
}

std::optional<Plot> PlotIndexBytes(const Palette& palette, const RunView& run) {
  return PlotBars(palette, run,
                  {.name = "index-bytes",
                   .title = "Index per key",
                   .caption = "Bytes on disk per key without the values that are kept apart; shorter is better" +
                              RoundsNote(run) + ".",
                   .unit = Unit::kBytes,
                   .metric = [](const Result& r) -> std::optional<double> {
                     if (!r.index_bytes.has_value() || r.live_keys.value_or(0) == 0) return std::nullopt;
                     return static_cast<double>(*r.index_bytes) / static_cast<double>(*r.live_keys);
                   }},
                  [](const StepOfRun& step) { return step.changes; });
}

}  // namespace cambium::bench
