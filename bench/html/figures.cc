#include <optional>

#include "html/tables.h"

namespace cambium::bench {
namespace {

using Maybe = std::optional<double>;

// Return `value(r)`, but only for workloads that count operations, or only for those that change the database.
template <typename Value>
Metric OfOperations(Value value) {
  return [value](const Result& r) { return EffectOf(r) == Effect::kMaintains ? std::nullopt : Maybe(value(r)); };
}
template <typename Value>
Metric OfChanges(Value value) {
  return [value](const Result& r) { return EffectOf(r) == Effect::kReads ? std::nullopt : Maybe(value(r)); };
}

Maybe PerOp(const Result& r, double amount) {
  if (r.ops == 0 || EffectOf(r) == Effect::kMaintains) return std::nullopt;
  return amount / static_cast<double>(r.ops);
}

// Returns a figure of the block device, for all processes, per operation.
Metric OfDevice(std::uint64_t DeviceStats::* what) {
  return [what](const Result& r) {
    return r.device.has_value() ? PerOp(r, static_cast<double>((*r.device).*what)) : std::nullopt;
  };
}

Maybe CacheHits(const Result& r) {
  const std::uint64_t asked = r.cache_hits.value_or(0) + r.cache_misses.value_or(0);
  if (!r.cache_hits.has_value() || asked == 0) return std::nullopt;
  return 100 * static_cast<double>(*r.cache_hits) / static_cast<double>(asked);
}

template <typename Value>
Metric OfWriter(Value value) {
  return [value](const Result& r) { return r.writer.has_value() ? Maybe(value(*r.writer)) : std::nullopt; };
}

}  // namespace

const std::vector<Figure>& ComparedFigures() {
  static const std::vector<Figure> kFigures = {
      {"Operations per second", Unit::kOpsPerSec, Better::kMore,
       OfOperations([](const Result& r) { return r.ops_per_sec; })},
      {"Latency, median", Unit::kMicros, Better::kLess, OfOperations([](const Result& r) { return r.p50_us; })},
      {"Latency, 99 %", Unit::kMicros, Better::kLess, OfOperations([](const Result& r) { return r.p99_us; })},
      {"Latency, 99.9 %", Unit::kMicros, Better::kLess, OfOperations([](const Result& r) { return r.p999_us; })},
      {"Latency, 99.99 %", Unit::kMicros, Better::kLess, OfOperations([](const Result& r) { return r.p9999_us; })},
      {"Latency, longest call", Unit::kMicros, Better::kLess, OfOperations([](const Result& r) { return r.max_us; })},
      {"Transactions that a conflict ended, per commit", Unit::kPlain, std::nullopt, AbortsPerCommit},
      {"Duration of upkeep", Unit::kSeconds, Better::kLess,
       [](const Result& r) { return EffectOf(r) == Effect::kMaintains ? Maybe(r.seconds) : std::nullopt; }},
      {"Time to settle", Unit::kSeconds, Better::kLess,
       [](const Result& r) { return EffectOf(r) == Effect::kWrites ? Maybe(r.settle_seconds) : std::nullopt; }},
      {"Writer during reads, operations per second", Unit::kOpsPerSec, Better::kMore,
       OfWriter([](const WriterFigures& w) { return w.ops_per_sec; })},
      {"Writer during reads, 99 %", Unit::kMicros, Better::kLess,
       OfWriter([](const WriterFigures& w) { return w.p99_us; })},
      {"Time in which writes were held back", Unit::kPercent, std::nullopt, StallPercent},
      {"Write amplification", Unit::kTimes, Better::kLess, [](const Result& r) { return r.write_amp; }},
      {"Write amplification, as the post on BlobDB defines it", Unit::kTimes, Better::kLess, WriteAmpOfThePost},
      {"Read of the index or of tables by sweeps or compactions, per byte written", Unit::kPlain, Better::kLess,
       MergeReadsPerByte},
      {"Space amplification", Unit::kTimes, Better::kLess,
       [](const Result& r) { return EffectOf(r) == Effect::kReads ? std::nullopt : r.space_amp; }},
      {"Bytes on disk", Unit::kBytes, Better::kLess,
       OfChanges([](const Result& r) { return static_cast<double>(r.disk_bytes); })},
      {"Bytes on disk, the most", Unit::kBytes, Better::kLess,
       OfChanges([](const Result& r) { return static_cast<double>(r.disk_peak_bytes); })},
      {"Bytes read per operation that the page cache did not have", Unit::kBytes, std::nullopt,
       [](const Result& r) { return PerOp(r, static_cast<double>(r.device_read_bytes)); }},
      {"Bytes made dirty in the page cache per operation", Unit::kBytes, std::nullopt,
       [](const Result& r) { return PerOp(r, static_cast<double>(r.device_write_bytes)); }},
      {"Block device, bytes read per operation", Unit::kBytes, std::nullopt, OfDevice(&DeviceStats::read_bytes)},
      {"Block device, reads per operation", Unit::kPlain, std::nullopt, OfDevice(&DeviceStats::reads)},
      {"Block device, bytes written per operation", Unit::kBytes, std::nullopt, OfDevice(&DeviceStats::write_bytes)},
      {"Block device, writes per operation", Unit::kPlain, std::nullopt, OfDevice(&DeviceStats::writes)},
      {"Processor time per operation, the program's", Unit::kMicros, Better::kLess,
       [](const Result& r) { return PerOp(r, r.user_cpu_s * 1e6); }},
      {"Processor time per operation, the system's", Unit::kMicros, Better::kLess,
       [](const Result& r) { return PerOp(r, r.sys_cpu_s * 1e6); }},
      {"Memory, resident, the most", Unit::kBytes, Better::kLess,
       OfOperations([](const Result& r) { return static_cast<double>(r.rss_peak_bytes); })},
      {"Cache hits", Unit::kPercent, std::nullopt, CacheHits},
  };
  return kFigures;
}

}  // namespace cambium::bench
