#include "trace/mixgraph_fit.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>

#include "data/key.h"

namespace cambium::bench {
namespace {

// A range is warm if it gets this many times its even share, and more than chance explains.
constexpr double kWarm = 1.5;
// Ranges with fewer accesses say little about how their keys differ.
constexpr std::uint64_t kAccessesOfRange = 1000;
// The rate is fitted over at most this many intervals.
constexpr std::size_t kRatesMax = 2000;

struct Access {
  std::uint64_t id;
  std::uint64_t count;
};

// Returns an id and the number of accesses for each key. Sets the members of `fit` about keys.
std::vector<Access> Number(const TraceStatistics& statistics, std::uint64_t num, MixgraphFit* fit) {
  const auto accesses = statistics.Accesses();
  std::uint64_t bytes = 0;
  bool have_ids = !accesses.empty();
  std::uint64_t largest = 0;
  std::vector<Access> numbered;
  numbered.reserve(accesses.size());
  const std::size_t size = accesses.empty() ? 0 : accesses.begin()->first.second.size();
  for (const auto& [place, count] : accesses) {
    const std::string& key = place.second;
    bytes += key.size();
    fit->accesses += count;
    const auto id = key.size() == size && size >= kKeySizeMin ? ParseKey(key, size) : std::nullopt;
    have_ids = have_ids && place.first == 0 && id.has_value();
    if (have_ids) {
      largest = std::max(largest, *id);
      numbered.push_back({*id, count});
    }
  }
  have_ids = have_ids && largest < (std::uint64_t{1} << 40);
  if (!have_ids) {
    numbered.clear();
    for (const auto& [place, count] : accesses) numbered.push_back({numbered.size(), count});
    largest = accesses.empty() ? 0 : accesses.size() - 1;
  }
  fit->keys_have_ids = have_ids;
  fit->num = std::max({num, largest + 1, std::uint64_t{1}});
  fit->key_size = accesses.empty() ? 16 : bytes / accesses.size();
  return numbered;
}

void FitKeys(const std::vector<Access>& accesses, std::uint64_t range_num, MixgraphFit* fit) {
  std::vector<std::vector<std::uint64_t>> by_range;
  const std::uint64_t ranges = std::min(std::max<std::uint64_t>(1, range_num), fit->num);
  const std::uint64_t size = fit->num / ranges;
  std::vector<std::uint64_t> counts(ranges);
  by_range.resize(ranges);
  for (const Access& access : accesses) {
    const std::uint64_t range = std::min(access.id / size, ranges - 1);
    counts[range] += access.count;
    by_range[range].push_back(access.count);
  }
  const auto all = static_cast<double>(fit->accesses);
  for (const std::uint64_t count : counts) fit->range_parts.push_back(static_cast<double>(count) / all);
  std::sort(fit->range_parts.begin(), fit->range_parts.end(), std::greater<>());
  const double even = 1 / static_cast<double>(ranges);
  // By chance a share varies by the root of share / all.
  fit->has_warm_ranges = ranges >= 4 && fit->range_parts.front() > kWarm * even + 6 * std::sqrt(even / all);
  if (fit->has_warm_ranges) fit->ranges = FitExponentials(fit->range_parts, all);
  fit->has_warm_ranges = fit->ranges.has_value();
  if (!fit->has_warm_ranges) {
    std::vector<std::uint64_t> together;
    for (const Access& access : accesses) together.push_back(access.count);
    fit->keys = FitPower({together});
    return;
  }
  std::vector<std::vector<std::uint64_t>> warm;
  for (std::uint64_t range = 0; range < ranges; ++range) {
    if (counts[range] >= kAccessesOfRange) warm.push_back(std::move(by_range[range]));
  }
  if (!warm.empty()) fit->keys = FitPower(warm);
}

void FitRate(const TraceStatistics& statistics, MixgraphFit* fit) {
  fit->seconds = static_cast<double>(statistics.last_micros()) * 1e-6;
  if (statistics.ops() == 0) return;
  const std::uint64_t seconds = statistics.last_micros() / 1'000'000 + 1;
  const std::uint64_t interval = (seconds - 1) / kRatesMax + 1;
  std::vector<double> rates((seconds - 1) / interval);  // without the last, incomplete interval
  for (const auto& [second, count] : statistics.PerSecond()) {
    if (second / interval < rates.size()) {
      rates[second / interval] += static_cast<double>(count) / static_cast<double>(interval);
    }
  }
  fit->rate = FitSine(rates, static_cast<double>(interval));
  fit->has_sine = fit->rate.has_value() && fit->rate->explained > 0.5;
}

std::string Text(double number) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.6g", number);
  return text;
}

}  // namespace

MixgraphFit FitMixgraph(const TraceStatistics& statistics, std::uint64_t num, std::uint64_t range_num) {
  MixgraphFit fit;
  const std::vector<Access> accesses = Number(statistics, num, &fit);
  if (!accesses.empty()) FitKeys(accesses, range_num, &fit);
  const auto ops = [&](OpGroup group) { return static_cast<double>(statistics.OpsOf(group)); };
  const double gets = ops(OpGroup::kGet) + ops(OpGroup::kMultiGet);
  const double puts = ops(OpGroup::kPut);
  const double seeks = ops(OpGroup::kIterator);
  if (const double mixed = gets + puts + seeks; mixed > 0) {
    fit.get_ratio = gets / mixed;
    fit.put_ratio = puts / mixed;
    fit.seek_ratio = seeks / mixed;
    fit.other_ratio = 1 - mixed / static_cast<double>(statistics.ops());
  }
  // Sizes of values written; if there are none, of values read.
  Counts sizes = statistics.SizesOf(OpGroup::kPut);
  if (sizes.empty()) sizes = statistics.SizesOf(OpGroup::kGet);
  if (sizes.empty()) sizes = statistics.SizesOf(OpGroup::kMultiGet);
  fit.values = FitPareto(sizes);
  double bytes = 0;
  double values = 0;
  for (const auto& [size, count] : sizes) {
    bytes += static_cast<double>(size) * static_cast<double>(count);
    values += static_cast<double>(count);
  }
  if (!sizes.empty()) fit.value_size_max = sizes.rbegin()->first;
  if (values > 0) fit.value_size_mean = bytes / values;
  const Counts lengths = statistics.ScanLengths();
  fit.scans = FitPareto(lengths);
  if (!lengths.empty()) fit.scan_length_max = lengths.rbegin()->first;
  FitRate(statistics, &fit);
  return fit;
}

std::string MixgraphFit::Command() const {
  std::string line = "cambium_bench --benchmarks=filluniquerandom,mixgraph";
  const auto add = [&line](const char* name, const std::string& value) { line += std::string(" --") + name + "=" + value; };
  add("num", std::to_string(num));
  add("key_size", std::to_string(std::max(key_size, kKeySizeMin)));
  add("value_size", std::to_string(static_cast<std::uint64_t>(std::llround(value_size_mean))));
  add("reads", std::to_string(accesses));
  add("mix_get_ratio", Text(get_ratio));
  add("mix_put_ratio", Text(put_ratio));
  add("mix_seek_ratio", Text(seek_ratio));
  if (values.has_value()) {
    add("value_theta", Text(values->theta));
    add("value_k", Text(values->k));
    add("value_sigma", Text(values->sigma));
    add("mix_max_value_size", std::to_string(std::max<std::uint64_t>(value_size_max, 10)));
  }
  if (scans.has_value()) {
    add("iter_theta", Text(scans->theta));
    add("iter_k", Text(scans->k));
    add("iter_sigma", Text(scans->sigma));
    add("mix_max_scan_len", std::to_string(scan_length_max + 1));
  }
  if (has_warm_ranges) {
    add("keyrange_num", std::to_string(range_parts.size()));
    add("keyrange_dist_a", Text(ranges->a));
    add("keyrange_dist_b", Text(ranges->b));
    add("keyrange_dist_c", Text(ranges->c));
    add("keyrange_dist_d", Text(ranges->d));
  }
  if (keys.has_value()) {
    add("key_dist_a", Text(keys->a));
    add("key_dist_b", Text(keys->b));
  }
  if (has_sine) {
    line += " --sine_mix_rate";
    add("sine_a", Text(rate->a));
    add("sine_b", Text(rate->b));
    add("sine_c", Text(rate->c));
    add("sine_d", Text(rate->d));
  }
  return line;
}

}  // namespace cambium::bench
