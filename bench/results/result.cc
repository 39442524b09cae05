#include "results/result.h"

#include <cinttypes>
#include <cstdio>

// nlohmann's macro for 3.11 knows json alone, whose keys are sorted. This one is for ordered_json: the fields are
// written in this order, and all of them must be there when they are read.
#define CAMBIUM_BENCH_JSON_FIELDS(Type, ...)                                                    \
  static void to_json(nlohmann::ordered_json& nlohmann_json_j, const Type& nlohmann_json_t) {   \
    NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(NLOHMANN_JSON_TO, __VA_ARGS__))                    \
  }                                                                                             \
  static void from_json(const nlohmann::ordered_json& nlohmann_json_j, Type& nlohmann_json_t) { \
    NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(NLOHMANN_JSON_FROM, __VA_ARGS__))                  \
  }

// An optional without a value is null.
template <typename T>
struct nlohmann::adl_serializer<std::optional<T>> {
  static void to_json(ordered_json& json, const std::optional<T>& value) {
    json = value.has_value() ? ordered_json(*value) : ordered_json();
  }
  static void from_json(const ordered_json& json, std::optional<T>& value) {
    value = json.is_null() ? std::nullopt : std::optional<T>(json.get<T>());
  }
};

namespace cambium::bench {

using Json = nlohmann::ordered_json;

CAMBIUM_BENCH_JSON_FIELDS(IndexFigures, runs, run_keys, updates, bytes, law_bytes, merges, shape)
CAMBIUM_BENCH_JSON_FIELDS(WriterFigures, reads, ops, ops_per_sec, p99_us, max_us)
CAMBIUM_BENCH_JSON_FIELDS(WriteLedger, log, values, flush, merge, gc, manifest, other, log_keeps_values)
CAMBIUM_BENCH_JSON_FIELDS(DeviceStats, reads, read_bytes, writes, write_bytes)

// [seconds, operations until then, bytes on disk]
static void to_json(Json& json, const Sample& sample) { json = {sample.seconds, sample.ops, sample.disk_bytes}; }
static void from_json(const Json& json, Sample& sample) { sample = {json.at(0), json.at(1), json.at(2)}; }

CAMBIUM_BENCH_JSON_FIELDS(Result, experiment, engine, index, benchmark, step, round, key_size, value_size, num, threads,
                          ops, seconds, settle_seconds, ops_per_sec, mb_per_sec, p50_us, p75_us, p99_us, p999_us,
                          p9999_us, max_us, aborts, user_cpu_s, sys_cpu_s, user_bytes, user_write_bytes,
                          device_write_bytes, device_read_bytes, cancelled_write_bytes, device, write_amp, ledger,
                          stall_seconds, stall_threads, cache_hits, cache_misses, merge_read_bytes, disk_bytes,
                          disk_peak_bytes, live_bytes, space_amp, index_bytes, live_keys, rss_peak_bytes, writer,
                          index_figures, samples, latency_curve, message)

namespace {

double Micros(std::uint64_t nanos) { return static_cast<double>(nanos) * 1e-3; }

}  // namespace

std::string Label(const Result& r) { return r.index.empty() ? r.engine : r.engine + "/" + r.index; }

std::optional<double> WriteAmpOfThePost(const Result& r) {
  if (!r.ledger.has_value()) return std::nullopt;
  const WriteLedger& l = *r.ledger;
  const std::uint64_t first = l.values + l.flush + (l.log_keeps_values ? l.log : 0);
  if (first == 0) return std::nullopt;
  return static_cast<double>(first + l.merge + l.gc) / static_cast<double>(first);
}

std::optional<double> MergeReadsPerByte(const Result& r) {
  if (!r.merge_read_bytes.has_value() || r.user_write_bytes == 0) return std::nullopt;
  return static_cast<double>(*r.merge_read_bytes) / static_cast<double>(r.user_write_bytes);
}

std::optional<double> AbortsPerCommit(const Result& r) {
  if (!r.aborts.has_value() || r.ops == 0) return std::nullopt;
  return static_cast<double>(*r.aborts) / static_cast<double>(r.ops);
}

std::optional<double> StallPercent(const Result& r) {
  const double seconds = r.seconds - r.settle_seconds;
  if (!r.stall_seconds.has_value() || seconds <= 0 || r.stall_threads == 0) return std::nullopt;
  return *r.stall_seconds / (seconds * r.stall_threads) * 100;
}

// An empty index is null in the file, and results of earlier versions lack three fields.

Json ToJson(const Result& result) {
  Json json = result;
  if (result.index.empty()) json["index"] = nullptr;
  return json;
}

Result FromJson(const Json& json) {
  Json full = json;
  if (full.at("index").is_null()) full["index"] = "";
  full.emplace("stall_threads", 0);
  full.emplace("merge_read_bytes", nullptr);
  full.emplace("aborts", nullptr);
  return full.get<Result>();
}

std::string ToLine(const Result& r) {
  const double micros =
      r.ops == 0 ? 0 : r.seconds * 1e6 * static_cast<double>(r.threads) / static_cast<double>(r.ops);
  char line[256];
  std::snprintf(line, sizeof(line),
                "%-12s : %11.3f micros/op %" PRIu64 " ops/sec %.3f seconds %" PRIu64 " operations; %6.1f MB/s",
                r.benchmark.c_str(), micros, static_cast<std::uint64_t>(r.ops_per_sec), r.seconds, r.ops,
                r.mb_per_sec);
  return r.message.empty() ? line : line + (" (" + r.message + ")");
}

std::string ToPercentiles(const Result& r) {
  char line[256];
  std::snprintf(line, sizeof(line), "Percentiles: P50: %.2f P75: %.2f P99: %.2f P99.9: %.2f P99.99: %.2f",
                Micros(r.nanos.Percentile(50)), Micros(r.nanos.Percentile(75)), Micros(r.nanos.Percentile(99)),
                Micros(r.nanos.Percentile(99.9)), Micros(r.nanos.Percentile(99.99)));
  return line;
}

}  // namespace cambium::bench
