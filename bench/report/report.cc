#include "report/report.h"

#include <algorithm>
#include <cstdio>
#include <optional>

#include "report/report_table.h"
#include "workloads/workload.h"

namespace cambium::bench {
namespace {

constexpr double kMiB = 1 << 20;

Effect EffectOf(const Result& result) {
  const Workload* workload = FindWorkload(result.benchmark);
  return workload == nullptr ? Effect::kMaintains : workload->effect;
}

// Return `value(result)`, but only for workloads that count operations, or only for those that change the database.
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

// Returns the longest put, or batch of puts, of a workload that puts.
std::optional<double> LongestPutMillis(const Result& r) {
  if (r.writer.has_value()) return r.writer->max_us * 1e-3;
  const Workload* workload = FindWorkload(r.benchmark);
  const bool puts = workload != nullptr && workload->effect == Effect::kWrites && workload->count != Count::kDeletes;
  return puts ? std::optional(r.max_us * 1e-3) : std::nullopt;
}

// Returns `bytes(ledger)` per byte that users wrote meanwhile.
template <typename Bytes>
Table::Metric PerWrittenByte(Bytes bytes) {
  return [bytes](const Result& r) -> std::optional<double> {
    if (!r.ledger.has_value() || r.user_write_bytes == 0) return std::nullopt;
    return static_cast<double>(bytes(*r.ledger)) / static_cast<double>(r.user_write_bytes);
  };
}

std::string LedgerTable(const Table& table) {
  std::vector<Table::Part> parts;
  const auto add = [&parts](const char* name, std::uint64_t WriteLedger::* cause) {
    parts.push_back({name, PerWrittenByte([cause](const WriteLedger& ledger) { return ledger.*cause; })});
  };
  add("log", &WriteLedger::log);
  add("values", &WriteLedger::values);
  add("flush", &WriteLedger::flush);
  add("merge", &WriteLedger::merge);
  add("gc", &WriteLedger::gc);
  add("manifest", &WriteLedger::manifest);
  add("other", &WriteLedger::other);
  const auto sum = PerWrittenByte([](const WriteLedger& ledger) { return ledger.Sum(); });
  return table.DrawParts("written B/B by cause", sum, parts, Plain);
}

std::optional<double> CacheHitPercent(const Result& r) {
  if (!r.cache_hits.has_value() || !r.cache_misses.has_value()) return std::nullopt;
  const double all = static_cast<double>(*r.cache_hits) + static_cast<double>(*r.cache_misses);
  return all == 0 ? std::nullopt : std::optional(static_cast<double>(*r.cache_hits) / all * 100);
}

std::optional<double> IndexBytesPerKey(const Result& r) {
  if (!r.index_bytes.has_value() || r.live_keys.value_or(0) == 0 || EffectOf(r) == Effect::kReads) return std::nullopt;
  return static_cast<double>(*r.index_bytes) / static_cast<double>(*r.live_keys);
}

// Returns a figure of the block device, per operation.
Table::Metric OfDevice(std::uint64_t DeviceStats::* what) {
  return [what](const Result& r) -> std::optional<double> {
    if (!r.device.has_value() || r.ops == 0 || EffectOf(r) == Effect::kMaintains) return std::nullopt;
    return static_cast<double>((*r.device).*what) / static_cast<double>(r.ops);
  };
}

// The median with three significant digits: aborts may be rare.
std::string Significant(const Rounds& rounds) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.3g", Median(rounds));
  return text;
}

// Adds `note` to *notes unless the table is empty.
std::string WithNote(const std::string& table, std::string* notes, const char* note) {
  if (!table.empty()) *notes += note;
  return table;
}

// The index in the last round only: shapes have no median over the rounds.
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
         "In the last round. B/update: bytes of index files written per key flushed from a memtable. By the law: what "
         "the\ncost law of that index predicts for uniform updates. Merges: sweeps or compactions.\n\n";
}

// Returns whether there is more than one round.
bool RunsAgain(const std::vector<Result>& results) {
  return std::ranges::any_of(results, [&](const Result& r) { return r.round != results.front().round; });
}

std::string SpeedTables(const Table& table) {
  const auto speed = OfOperations([](const Result& r) { return r.ops_per_sec; });
  std::string text = table.Draw("ops/sec", speed, Speed);
  text += table.DrawRatios("ops/sec", Better::kMore, speed);
  text += table.Draw("aborts per commit", AbortsPerCommit, Significant);
  text += table.Draw("writer ops/sec", [](const Result& r) {
    return r.writer.has_value() ? std::optional(r.writer->ops_per_sec) : std::nullopt;
  }, Speed);
  text += table.Draw("seconds", [](const Result& r) {
    return EffectOf(r) == Effect::kMaintains ? std::optional(r.seconds) : std::nullopt;
  }, Plain);
  return text;
}

std::string LatencyTables(const Table& table) {
  const auto p99 = OfOperations([](const Result& r) { return r.p99_us; });
  std::string text = table.Draw("p50 us", OfOperations([](const Result& r) { return r.p50_us; }), Plain);
  text += table.Draw("p99 us", p99, Plain);
  text += table.DrawRatios("p99 us", Better::kLess, p99);
  text += table.Draw("p99.9 us", OfOperations([](const Result& r) { return r.p999_us; }), Plain);
  text += table.Draw("p99.99 us", OfOperations([](const Result& r) { return r.p9999_us; }), Plain);
  text += table.Draw("longest put ms", LongestPutMillis, Plain);
  text += table.DrawRatios("longest put ms", Better::kLess, LongestPutMillis);
  return text;
}

std::string CpuTables(const Table& table) {
  const auto cpu_micros = [](double Result::* seconds) {
    return OfOperations([seconds](const Result& r) {
      return r.ops == 0 ? 0.0 : r.*seconds * 1e6 / static_cast<double>(r.ops);
    });
  };
  std::string text = table.Draw("user CPU us/op", cpu_micros(&Result::user_cpu_s), Plain);
  text += table.Draw("system CPU us/op", cpu_micros(&Result::sys_cpu_s), Plain);
  return text;
}

// This and the following functions add to *notes what readers need to understand their tables.
std::string WriteTables(const Table& table, std::string* notes) {
  std::string text =
      WithNote(table.Draw("stall %", StallPercent, Plain), notes,
               "Stall: the share of the time, without settling, in which writes waited for background work. If an "
               "engine counts\nit per thread, the share of the sum of the threads' times.\n");
  text += table.Draw("write amp", [](const Result& r) { return r.write_amp; }, Plain);
  text +=
      WithNote(table.Draw("write amp, the post's", WriteAmpOfThePost, Plain), notes,
               "The post's: bytes written by flushes and compactions, values included, over those written by flushes; "
               "a log\nthat keeps the values counts as a flush of them.\n");
  text +=
      WithNote(table.Draw("merge reads B/B", MergeReadsPerByte, Plain), notes,
               "Merge reads: read from index files or tables by sweeps or compactions, per byte that users wrote.\n");
  text += WithNote(LedgerTable(table), notes,
                   "Written by cause: counted by the engine itself, per byte of keys and values that users wrote.\n");
  return text;
}

std::string SpaceTables(const Table& table, std::string* notes) {
  std::string text = table.Draw(
      "space amp", [](const Result& r) { return EffectOf(r) == Effect::kReads ? std::nullopt : r.space_amp; }, Plain);
  text += WithNote(table.Draw("index B/key", IndexBytesPerKey, Plain), notes,
                   "Index: bytes on disk per existing key, without separated values; if all values are in tables, they "
                   "are\nincluded.\n");
  text += table.Draw("disk MiB", OfChanges([](const Result& r) {
    return static_cast<double>(r.disk_bytes) / kMiB;
  }), Plain);
  text += table.Draw("disk peak MiB", OfChanges([](const Result& r) {
    return static_cast<double>(r.disk_peak_bytes) / kMiB;
  }), Plain);
  text += table.Draw("peak RSS MiB", OfOperations([](const Result& r) {
    return static_cast<double>(r.rss_peak_bytes) / kMiB;
  }), Plain);
  text += WithNote(table.Draw("cache hit %", CacheHitPercent, Plain), notes,
                   "Cache: an engine's own cache of pages or blocks.\n");
  return text;
}

std::string DeviceTables(const Table& table, std::string* notes) {
  std::string device = table.Draw("device read B/op", OfDevice(&DeviceStats::read_bytes), Plain);
  device += table.Draw("device reads/op", OfDevice(&DeviceStats::reads), Plain);
  device += table.Draw("device written B/op", OfDevice(&DeviceStats::write_bytes), Plain);
  device += table.Draw("device writes/op", OfDevice(&DeviceStats::writes), Plain);
  return WithNote(device, notes,
                  "Device: what the block device completed meanwhile, for all processes, without what is written back "
                  "later.\n");
}

}  // namespace

std::string MakeReport(const std::vector<Result>& results) {
  if (results.empty()) return {};
  const Table table(results);
  std::string text =
      RunsAgain(results)
          ? "Medians of all rounds. A ratio is taken within each round; a cell has the median of these ratios, and in\n"
            "brackets the smallest and the largest.\n\n"
          : "One round: another might not agree, and a ratio near 1 means nothing (use --rounds=3).\n\n";
  std::string notes;
  text += SpeedTables(table) + LatencyTables(table) + CpuTables(table);
  text += WriteTables(table, &notes);
  text += SpaceTables(table, &notes);
  text += DeviceTables(table, &notes);
  text += IndexTable(results);
  text +=
      "Write amp: bytes of pages made dirty in the page cache, as /proc/self/io counts them, per byte of keys and "
      "values.\nSpace amp: blocks of all files of the database per byte of existing keys and values.\n"
      "Peak RSS: includes pages of mapped files.\n";
  return text + notes;
}

}  // namespace cambium::bench
