#include "results/result.h"

#include <cinttypes>
#include <cstdio>

namespace cambium::bench {
namespace {

using Json = nlohmann::ordered_json;

template <typename T>
Json OrNull(const std::optional<T>& value) {
  return value.has_value() ? Json(*value) : Json();
}
template <typename T>
std::optional<T> FromNull(const Json& json) {
  return json.is_null() ? std::nullopt : std::optional<T>(json.get<T>());
}

Json FiguresToJson(const std::optional<IndexFigures>& f) {
  if (!f.has_value()) return {};
  return {{"runs", f->runs},   {"run_keys", f->run_keys},   {"updates", f->updates}, {"bytes", f->bytes},
          {"law_bytes", f->law_bytes}, {"merges", f->merges}, {"shape", f->shape}};
}
std::optional<IndexFigures> FiguresFromJson(const Json& json) {
  if (json.is_null()) return std::nullopt;
  IndexFigures f;
  json.at("runs").get_to(f.runs);
  json.at("run_keys").get_to(f.run_keys);
  json.at("updates").get_to(f.updates);
  json.at("bytes").get_to(f.bytes);
  json.at("law_bytes").get_to(f.law_bytes);
  json.at("merges").get_to(f.merges);
  json.at("shape").get_to(f.shape);
  return f;
}

Json WriterToJson(const std::optional<WriterFigures>& w) {
  if (!w.has_value()) return {};
  return {{"reads", w->reads}, {"ops", w->ops}, {"ops_per_sec", w->ops_per_sec}, {"p99_us", w->p99_us}, {"max_us", w->max_us}};
}
std::optional<WriterFigures> WriterFromJson(const Json& json) {
  if (json.is_null()) return std::nullopt;
  WriterFigures w;
  json.at("reads").get_to(w.reads);
  json.at("ops").get_to(w.ops);
  json.at("ops_per_sec").get_to(w.ops_per_sec);
  json.at("p99_us").get_to(w.p99_us);
  json.at("max_us").get_to(w.max_us);
  return w;
}

Json LedgerToJson(const std::optional<WriteLedger>& l) {
  if (!l.has_value()) return {};
  return {{"log", l->log},     {"values", l->values},     {"flush", l->flush}, {"merge", l->merge},
          {"gc", l->gc},       {"manifest", l->manifest}, {"other", l->other}, {"log_keeps_values", l->log_keeps_values}};
}
std::optional<WriteLedger> LedgerFromJson(const Json& json) {
  if (json.is_null()) return std::nullopt;
  WriteLedger l;
  json.at("log").get_to(l.log);
  json.at("values").get_to(l.values);
  json.at("flush").get_to(l.flush);
  json.at("merge").get_to(l.merge);
  json.at("gc").get_to(l.gc);
  json.at("manifest").get_to(l.manifest);
  json.at("other").get_to(l.other);
  json.at("log_keeps_values").get_to(l.log_keeps_values);
  return l;
}

Json DeviceToJson(const std::optional<DeviceStats>& d) {
  if (!d.has_value()) return {};
  return {{"reads", d->reads}, {"read_bytes", d->read_bytes}, {"writes", d->writes}, {"write_bytes", d->write_bytes}};
}
std::optional<DeviceStats> DeviceFromJson(const Json& json) {
  if (json.is_null()) return std::nullopt;
  DeviceStats d;
  json.at("reads").get_to(d.reads);
  json.at("read_bytes").get_to(d.read_bytes);
  json.at("writes").get_to(d.writes);
  json.at("write_bytes").get_to(d.write_bytes);
  return d;
}

// [[seconds, operations until then, bytes on disk], ...]
Json SamplesToJson(const std::vector<Sample>& samples) {
  Json json = Json::array();
  for (const Sample& s : samples) json.push_back({s.seconds, s.ops, s.disk_bytes});
  return json;
}
std::vector<Sample> SamplesFromJson(const Json& json) {
  std::vector<Sample> samples;
  for (const Json& s : json) samples.push_back({s.at(0), s.at(1), s.at(2)});
  return samples;
}

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

std::optional<double> StallPercent(const Result& r) {
  const double seconds = r.seconds - r.settle_seconds;
  if (!r.stall_seconds.has_value() || seconds <= 0 || r.stall_threads == 0) return std::nullopt;
  return *r.stall_seconds / (seconds * r.stall_threads) * 100;
}

Json ToJson(const Result& r) {
  return {{"experiment", r.experiment},
          {"engine", r.engine},
          {"index", r.index.empty() ? Json() : Json(r.index)},
          {"benchmark", r.benchmark},
          {"step", r.step},
          {"round", r.round},
          {"key_size", r.key_size},
          {"value_size", r.value_size},
          {"num", r.num},
          {"threads", r.threads},
          {"ops", r.ops},
          {"seconds", r.seconds},
          {"settle_seconds", r.settle_seconds},
          {"ops_per_sec", r.ops_per_sec},
          {"mb_per_sec", r.mb_per_sec},
          {"p50_us", r.p50_us},
          {"p75_us", r.p75_us},
          {"p99_us", r.p99_us},
          {"p999_us", r.p999_us},
          {"p9999_us", r.p9999_us},
          {"max_us", r.max_us},
          {"user_cpu_s", r.user_cpu_s},
          {"sys_cpu_s", r.sys_cpu_s},
          {"user_bytes", r.user_bytes},
          {"user_write_bytes", r.user_write_bytes},
          {"device_write_bytes", r.device_write_bytes},
          {"device_read_bytes", r.device_read_bytes},
          {"cancelled_write_bytes", r.cancelled_write_bytes},
          {"device", DeviceToJson(r.device)},
          {"write_amp", OrNull(r.write_amp)},
          {"ledger", LedgerToJson(r.ledger)},
          {"stall_seconds", OrNull(r.stall_seconds)},
          {"stall_threads", r.stall_threads},
          {"cache_hits", OrNull(r.cache_hits)},
          {"cache_misses", OrNull(r.cache_misses)},
          {"merge_read_bytes", OrNull(r.merge_read_bytes)},
          {"disk_bytes", r.disk_bytes},
          {"disk_peak_bytes", r.disk_peak_bytes},
          {"live_bytes", OrNull(r.live_bytes)},
          {"space_amp", OrNull(r.space_amp)},
          {"index_bytes", OrNull(r.index_bytes)},
          {"live_keys", OrNull(r.live_keys)},
          {"rss_peak_bytes", r.rss_peak_bytes},
          {"writer", WriterToJson(r.writer)},
          {"index_figures", FiguresToJson(r.index_figures)},
          {"samples", SamplesToJson(r.samples)},
          {"latency_curve", r.latency_curve},
          {"message", r.message}};
}

Result FromJson(const Json& json) {
  Result r;
  json.at("experiment").get_to(r.experiment);
  json.at("engine").get_to(r.engine);
  r.index = FromNull<std::string>(json.at("index")).value_or("");
  json.at("benchmark").get_to(r.benchmark);
  json.at("step").get_to(r.step);
  json.at("round").get_to(r.round);
  json.at("key_size").get_to(r.key_size);
  json.at("value_size").get_to(r.value_size);
  json.at("num").get_to(r.num);
  json.at("threads").get_to(r.threads);
  json.at("ops").get_to(r.ops);
  json.at("seconds").get_to(r.seconds);
  json.at("settle_seconds").get_to(r.settle_seconds);
  json.at("ops_per_sec").get_to(r.ops_per_sec);
  json.at("mb_per_sec").get_to(r.mb_per_sec);
  json.at("p50_us").get_to(r.p50_us);
  json.at("p75_us").get_to(r.p75_us);
  json.at("p99_us").get_to(r.p99_us);
  json.at("p999_us").get_to(r.p999_us);
  json.at("p9999_us").get_to(r.p9999_us);
  json.at("max_us").get_to(r.max_us);
  json.at("user_cpu_s").get_to(r.user_cpu_s);
  json.at("sys_cpu_s").get_to(r.sys_cpu_s);
  json.at("user_bytes").get_to(r.user_bytes);
  json.at("user_write_bytes").get_to(r.user_write_bytes);
  json.at("device_write_bytes").get_to(r.device_write_bytes);
  json.at("device_read_bytes").get_to(r.device_read_bytes);
  json.at("cancelled_write_bytes").get_to(r.cancelled_write_bytes);
  r.device = DeviceFromJson(json.at("device"));
  r.ledger = LedgerFromJson(json.at("ledger"));
  r.stall_seconds = FromNull<double>(json.at("stall_seconds"));
  r.stall_threads = json.value("stall_threads", 0u);  // results of earlier versions do not say
  r.cache_hits = FromNull<std::uint64_t>(json.at("cache_hits"));
  r.cache_misses = FromNull<std::uint64_t>(json.at("cache_misses"));
  r.merge_read_bytes = FromNull<std::uint64_t>(json.value("merge_read_bytes", Json()));  // nor what was read
  r.index_bytes = FromNull<std::uint64_t>(json.at("index_bytes"));
  r.live_keys = FromNull<std::uint64_t>(json.at("live_keys"));
  r.samples = SamplesFromJson(json.at("samples"));
  json.at("latency_curve").get_to(r.latency_curve);
  json.at("message").get_to(r.message);
  r.write_amp = FromNull<double>(json.at("write_amp"));
  json.at("disk_bytes").get_to(r.disk_bytes);
  json.at("disk_peak_bytes").get_to(r.disk_peak_bytes);
  r.live_bytes = FromNull<std::uint64_t>(json.at("live_bytes"));
  r.space_amp = FromNull<double>(json.at("space_amp"));
  json.at("rss_peak_bytes").get_to(r.rss_peak_bytes);
  r.writer = WriterFromJson(json.at("writer"));
  r.index_figures = FiguresFromJson(json.at("index_figures"));
  return r;
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
