#include "trace/output.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <functional>
#include <unordered_map>

#include "trace/format.h"
#include "trace/text.h"
#include "util/result.h"

namespace cambium::bench {
namespace {

using Json = nlohmann::ordered_json;

std::string NameOf(const TraceStatistics::Place& place) {
  return std::string(kOpGroups[static_cast<std::size_t>(place.first)]) + "-" + std::to_string(place.second);
}

// Writes one file, whose lines `fill` adds.
Status WriteFile(const AnalyzeFlags& flags, const std::string& name, const std::function<void(OutputFile*)>& fill) {
  OutputFile file;
  CAMBIUM_RETURN_IF_ERROR(file.Open(flags, name));
  fill(&file);
  return file.End();
}

// Returns the keys in the order of their bytes.
std::vector<std::pair<std::string_view, KeyAccesses>> SortedKeys(const GroupStatistics& group) {
  std::vector<std::pair<std::string_view, KeyAccesses>> keys(group.keys.begin(), group.keys.end());
  std::sort(keys.begin(), keys.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return keys;
}

Counts AccessCounts(const GroupStatistics& group) {
  Counts counts;
  for (const auto& [key, accesses] : group.keys) ++counts[accesses.count];
  return counts;
}

Status WriteKeyStats(const AnalyzeFlags& flags, const TraceStatistics::Place& place, const GroupStatistics& group) {
  return WriteFile(flags, NameOf(place) + "-accessed_key_stats", [&](OutputFile* file) {
    file->Line("# family value_size key_id access_count key");
    std::uint64_t id = 0;
    for (const auto& [key, accesses] : SortedKeys(group)) {
      file->Line(std::to_string(place.second) + " " + std::to_string(accesses.value_size) + " " + std::to_string(id++) +
                 " " + std::to_string(accesses.count) + " " + EscapedKey(key));
    }
  });
}

Status WriteCounts(const AnalyzeFlags& flags, const std::string& name, const std::string& title, const Counts& counts) {
  return WriteFile(flags, name, [&](OutputFile* file) {
    file->Line(title);
    for (const auto& [value, count] : counts) file->Line(std::to_string(value) + " " + std::to_string(count));
  });
}

Status WriteValueSizes(const AnalyzeFlags& flags, const TraceStatistics::Place& place, const Counts& sizes) {
  Counts intervals;
  for (const auto& [size, count] : sizes) intervals[size / flags.value_interval] += count;
  return WriteFile(flags, NameOf(place) + "-accessed_value_size_distribution", [&](OutputFile* file) {
    file->Line("# first_size last_size count");
    for (const auto& [interval, count] : intervals) {
      const std::uint64_t first = interval * flags.value_interval;
      file->Line(std::to_string(first) + " " + std::to_string(first + flags.value_interval - 1) + " " +
                 std::to_string(count));
    }
  });
}

Status WritePrefixes(const AnalyzeFlags& flags, const TraceStatistics::Place& place, const GroupStatistics& group) {
  struct Prefix {
    std::uint64_t keys = 0;
    std::uint64_t accesses = 0;
  };
  std::map<std::string_view, Prefix> prefixes;
  for (const auto& [key, accesses] : group.keys) {
    Prefix& prefix = prefixes[std::string_view(key).substr(0, flags.output_prefix_cut)];
    ++prefix.keys;
    prefix.accesses += accesses.count;
  }
  return WriteFile(flags, NameOf(place) + "-accessed_key_prefix_cut", [&](OutputFile* file) {
    file->Line("# keys accesses accesses_per_key prefix");
    for (const auto& [prefix, its] : prefixes) {
      char average[32];
      std::snprintf(average, sizeof(average), "%.3f",
                    static_cast<double>(its.accesses) / static_cast<double>(its.keys));
      file->Line(std::to_string(its.keys) + " " + std::to_string(its.accesses) + " " + average + " " +
                 EscapedKey(prefix));
    }
  });
}

// Writes a column for each group, summed over families. Seconds without operations have no line.
Status WriteRates(const AnalyzeFlags& flags, const TraceStatistics& statistics) {
  std::map<std::uint64_t, std::array<std::uint64_t, kOpGroups.size()>> rates;
  for (const auto& [place, group] : statistics.groups()) {
    for (const auto& [second, count] : group.per_second) rates[second][static_cast<std::size_t>(place.first)] += count;
  }
  return WriteFile(flags, "qps_stats", [&](OutputFile* file) {
    std::string title = "# second";
    for (const std::string_view name : kOpGroups) title += " " + std::string(name);
    file->Line(title + " all");
    for (const auto& [second, its] : rates) {
      std::uint64_t all = 0;
      std::string line = std::to_string(second);
      for (const std::uint64_t rate : its) {
        line += " " + std::to_string(rate);
        all += rate;
      }
      file->Line(line + " " + std::to_string(all));
    }
  });
}

// Returns the k warmest keys, the warmest first, equal ones in the order of their bytes.
std::vector<std::pair<std::string_view, KeyAccesses>> WarmestKeys(const GroupStatistics& group, std::uint64_t k) {
  std::vector<std::pair<std::string_view, KeyAccesses>> keys(group.keys.begin(), group.keys.end());
  const auto end = keys.begin() + static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(k, keys.size()));
  std::partial_sort(keys.begin(), end, keys.end(), [](const auto& a, const auto& b) {
    return a.second.count != b.second.count ? a.second.count > b.second.count : a.first < b.first;
  });
  keys.erase(end, keys.end());
  return keys;
}

double Mean(std::uint64_t sum, std::uint64_t count) {
  return count == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(count);
}

double MeanOf(const Counts& counts) {
  double sum = 0;
  double all = 0;
  for (const auto& [value, count] : counts) {
    sum += static_cast<double>(value) * static_cast<double>(count);
    all += static_cast<double>(count);
  }
  return all == 0 ? 0 : sum / all;
}

std::uint64_t PercentileOf(const Counts& counts, double percent) {
  double all = 0;
  for (const auto& [value, count] : counts) all += static_cast<double>(count);
  double seen = 0;
  for (const auto& [value, count] : counts) {
    seen += static_cast<double>(count);
    if (seen >= all * percent / 100) return value;
  }
  return 0;
}

std::string SpreadOf(const Counts& counts) {
  return Format("mean %.1f, p50 %llu, p90 %llu, p99 %llu, max %llu", MeanOf(counts),
                static_cast<unsigned long long>(PercentileOf(counts, 50)),
                static_cast<unsigned long long>(PercentileOf(counts, 90)),
                static_cast<unsigned long long>(PercentileOf(counts, 99)),
                static_cast<unsigned long long>(counts.empty() ? 0 : counts.rbegin()->first));
}

std::string FitText(const MixgraphFit& fit) {
  std::string text = "Fitted to mixgraph:\n";
  text += Format("  keys      %llu, %s\n", static_cast<unsigned long long>(fit.num),
                 fit.keys_have_ids ? "numbered as db_bench's" : "numbered in the order of their bytes");
  text += Format("  mix       get %.4f, put %.4f, seek %.4f", fit.get_ratio, fit.put_ratio, fit.seek_ratio);
  text += fit.other_ratio > 0
              ? Format("; %.2f%% of the operations are deletes, which mixgraph does not have\n", fit.other_ratio * 100)
              : "\n";
  if (fit.values.has_value()) {
    text += Format("  values    generalised Pareto, theta %.6g, k %.6g, sigma %.6g\n", fit.values->theta, fit.values->k,
                   fit.values->sigma);
  }
  if (fit.scans.has_value()) {
    text += Format("  scans     generalised Pareto, theta %.6g, k %.6g, sigma %.6g\n", fit.scans->theta, fit.scans->k,
                   fit.scans->sigma);
  }
  if (!fit.range_parts.empty()) {
    text += Format("  ranges    the warmest of %zu gets %.2f%%", fit.range_parts.size(), fit.range_parts.front() * 100);
    text += fit.has_warm_ranges ? Format("; a %.6g, b %.6g, c %.6g, d %.6g\n", fit.ranges->a, fit.ranges->b,
                                         fit.ranges->c, fit.ranges->d)
                                : std::string(": all about equal, so mixgraph gets no ranges\n");
  }
  text += fit.keys.has_value()
              ? Format("  warm keys a %.6g, b %.6g%s, by the %llu warmest\n", fit.keys->a, fit.keys->b,
                       fit.has_warm_ranges ? " within a range" : "", static_cast<unsigned long long>(fit.keys->ranks))
              : std::string("  warm keys too few accesses for a fit\n");
  if (!fit.rate.has_value()) {
    text += "  rate      too short for a curve: less than 16 seconds\n";
  } else {
    text += Format("  rate      %.6g sin(%.6g t + %.6g) + %.6g explains %.0f%% of its changes%s\n", fit.rate->a,
                   fit.rate->b, fit.rate->c, fit.rate->d, fit.rate->explained * 100,
                   fit.has_sine ? "" : ": too little, so it is not used");
  }
  return text + "\n" + fit.Command() + "\n";
}

Json ToJson(const std::optional<ParetoFit>& fit) {
  return fit.has_value() ? Json{{"theta", fit->theta}, {"k", fit->k}, {"sigma", fit->sigma}} : Json();
}

Json ToJson(const Counts& counts) {
  Json pairs = Json::array();
  for (const auto& [value, count] : counts) pairs.push_back({value, count});
  return pairs;
}

}  // namespace

bool AnalyzeFlags::Analyzes(OpGroup group) const {
  switch (group) {
    case OpGroup::kGet: return analyze_get;
    case OpGroup::kMultiGet: return analyze_multiget;
    case OpGroup::kPut: return analyze_put;
    case OpGroup::kDelete: return analyze_delete;
    case OpGroup::kSingleDelete: return analyze_single_delete;
    case OpGroup::kDeleteRange: return analyze_range_delete;
    case OpGroup::kIterator: return analyze_iterator;
  }
  return true;
}

Status OutputFile::Open(const AnalyzeFlags& flags, const std::string& name) {
  path_ = flags.output_dir + "/" + flags.output_prefix + "-" + name + ".txt";
  out_.open(path_);
  if (!out_) return Status::IOError("cannot write " + path_ + ": " + std::strerror(errno));
  return {};
}

Status OutputFile::End() {
  out_.close();
  return out_ ? Status() : Status::IOError("writing " + path_ + " failed: " + std::strerror(errno));
}

Status WriteStatistics(const AnalyzeFlags& flags, const TraceStatistics& statistics) {
  for (const auto& [place, group] : statistics.groups()) {
    if (flags.output_key_stats) CAMBIUM_RETURN_IF_ERROR(WriteKeyStats(flags, place, group));
    if (flags.output_access_count_stats) {
      CAMBIUM_RETURN_IF_ERROR(WriteCounts(flags, NameOf(place) + "-accessed_key_count_distribution",
                                          "# access_count keys", AccessCounts(group)));
    }
    if (flags.output_value_distribution && !group.value_sizes.empty()) {
      CAMBIUM_RETURN_IF_ERROR(WriteValueSizes(flags, place, group.value_sizes));
    }
    if (flags.output_scan_lengths && !group.scan_lengths.empty()) {
      CAMBIUM_RETURN_IF_ERROR(
          WriteCounts(flags, NameOf(place) + "-scan_length_distribution", "# moves scans", group.scan_lengths));
    }
    if (flags.output_prefix_cut > 0) CAMBIUM_RETURN_IF_ERROR(WritePrefixes(flags, place, group));
  }
  return flags.output_qps_stats ? WriteRates(flags, statistics) : Status();
}

Status WriteSecondWalk(const AnalyzeFlags& flags, const TraceStatistics& statistics, const MixgraphFit& fit) {
  std::map<std::pair<std::uint32_t, std::string>, std::uint64_t> ids = statistics.Accesses();
  std::uint64_t next = 0;
  for (auto& [place, id] : ids) {
    id = next++;
    if (!fit.keys_have_ids) continue;
    id = 0;
    for (std::size_t i = 0; i < 8; ++i) id = id << 8 | static_cast<unsigned char>(place.second[i]);
  }
  const std::uint64_t ranges = std::max<std::uint64_t>(1, fit.range_parts.size());
  const std::uint64_t range_size = std::max<std::uint64_t>(1, fit.num / ranges);
  std::map<std::uint64_t, std::vector<std::uint64_t>> heat;  // by time
  OutputFile series;
  if (flags.output_time_series) CAMBIUM_RETURN_IF_ERROR(series.Open(flags, "time_series"));
  if (flags.output_time_series) series.Line("# op micros key_id");
  std::unique_ptr<TraceSource> source;
  CAMBIUM_RETURN_IF_ERROR(OpenTrace(flags.trace_path, &source));
  OpChoice choice(flags);
  TracedOp op;
  Status read;
  while ((read = source->Next(&op)).ok()) {
    if (!choice.Takes(op)) continue;
    const auto id = ids.find({op.family, op.key});
    if (op.key.empty() || id == ids.end()) continue;
    if (series.is_open()) {
      series.Line(std::string(op.Name()) + " " + std::to_string(op.micros) + " " + std::to_string(id->second));
    }
    std::vector<std::uint64_t>& row = heat[op.micros / 1'000'000 / flags.heat_map_seconds];
    row.resize(ranges);
    ++row[std::min(id->second / range_size, ranges - 1)];
  }
  if (!read.IsIncomplete()) return read;
  if (series.is_open()) CAMBIUM_RETURN_IF_ERROR(series.End());
  if (!flags.output_key_ranges) return {};
  return WriteFile(flags, "key_range_heat_map", [&](OutputFile* file) {
    file->Line("# first_second, then the accesses of each of " + std::to_string(ranges) + " ranges of " +
               std::to_string(range_size) + " keys");
    for (const auto& [time, row] : heat) {
      std::string line = std::to_string(time * flags.heat_map_seconds);
      for (const std::uint64_t count : row) line += " " + std::to_string(count);
      file->Line(line);
    }
  });
}

std::string SummaryOf(const AnalyzeFlags& flags, const TraceFacts& facts, const TraceStatistics& statistics,
                      const MixgraphFit& fit) {
  std::string text = flags.trace_path + Format(": %llu operations in %llu calls over %.3f seconds\n",
                                               static_cast<unsigned long long>(statistics.ops()),
                                               static_cast<unsigned long long>(statistics.calls()), fit.seconds);
  if (!facts.is_whole) {
    text += Format("It is truncated at offset %llu\n", static_cast<unsigned long long>(facts.end_offset));
  }
  if (facts.is_full) text += "It ended at max_trace_file_size\n";
  if (facts.sampling_frequency > 1) {
    text +=
        Format("It is a sample of one in %llu operations\n", static_cast<unsigned long long>(facts.sampling_frequency));
  }
  if (facts.filter != 0) {
    text += Format("Some kinds of operations were not recorded: filter %llu\n",
                   static_cast<unsigned long long>(facts.filter));
  }
  if (facts.left_out > 0) {
    text += Format("%llu batches were too large to be recorded\n", static_cast<unsigned long long>(facts.left_out));
  }
  if (facts.open_scans > 0) {
    text += Format("%llu scans have no known length\n", static_cast<unsigned long long>(facts.open_scans));
  }
  text += "\n";
  for (const auto& [place, group] : statistics.groups()) {
    text += Format("%s, family %u: %llu operations (%.2f%%), %zu keys, key size %.1f\n",
                   std::string(kOpGroups[static_cast<std::size_t>(place.first)]).c_str(), place.second,
                   static_cast<unsigned long long>(group.ops),
                   100 * Mean(group.ops, statistics.ops()), group.keys.size(), Mean(group.key_bytes, group.ops));
    if (place.first <= OpGroup::kMultiGet) {
      text += Format("  found %llu\n", static_cast<unsigned long long>(group.found));
    }
    if (!group.value_sizes.empty()) text += "  value sizes: " + SpreadOf(group.value_sizes) + "\n";
    if (!group.scan_lengths.empty()) text += "  scan lengths: " + SpreadOf(group.scan_lengths) + "\n";
    if (!group.keys.empty()) text += "  accesses per key: " + SpreadOf(AccessCounts(group)) + "\n";
    for (const auto& [key, accesses] : WarmestKeys(group, flags.print_top_k_access)) {
      text += Format("  %llu accesses of ", static_cast<unsigned long long>(accesses.count)) + EscapedKey(key) + "\n";
    }
  }
  return text + "\n" + FitText(fit);
}

Json JsonOf(const AnalyzeFlags& flags, const TraceFacts& facts, const TraceStatistics& statistics,
            const MixgraphFit& fit) {
  Json groups = Json::array();
  for (const auto& [place, group] : statistics.groups()) {
    Json warmest = Json::array();
    for (const auto& [key, accesses] : WarmestKeys(group, flags.print_top_k_access)) {
      warmest.push_back({{"key", EscapedKey(key)}, {"accesses", accesses.count}});
    }
    groups.push_back({{"op", kOpGroups[static_cast<std::size_t>(place.first)]},
                      {"family", place.second},
                      {"ops", group.ops},
                      {"found", group.found},
                      {"keys", group.keys.size()},
                      {"key_bytes", group.key_bytes},
                      {"value_bytes", group.value_bytes},
                      {"value_sizes", ToJson(group.value_sizes)},
                      {"scan_lengths", ToJson(group.scan_lengths)},
                      {"accesses_per_key", ToJson(AccessCounts(group))},
                      {"warmest", warmest}});
  }
  Json fitted = {{"num", fit.num},
                 {"keys_have_ids", fit.keys_have_ids},
                 {"key_size", fit.key_size},
                 {"get_ratio", fit.get_ratio},
                 {"put_ratio", fit.put_ratio},
                 {"seek_ratio", fit.seek_ratio},
                 {"value", ToJson(fit.values)},
                 {"iter", ToJson(fit.scans)},
                 {"range_parts", fit.range_parts},
                 {"has_warm_ranges", fit.has_warm_ranges}};
  fitted["keyrange_dist"] = fit.ranges.has_value() ? Json{{"a", fit.ranges->a}, {"b", fit.ranges->b}, {"c", fit.ranges->c},
                                                          {"d", fit.ranges->d}}
                                                   : Json();
  fitted["key_dist"] = fit.keys.has_value() ? Json{{"a", fit.keys->a}, {"b", fit.keys->b}} : Json();
  fitted["sine"] = fit.rate.has_value() ? Json{{"a", fit.rate->a}, {"b", fit.rate->b}, {"c", fit.rate->c},
                                               {"d", fit.rate->d}, {"explained", fit.rate->explained},
                                               {"used", fit.has_sine}}
                                        : Json();
  fitted["command"] = fit.Command();
  return {{"trace", flags.trace_path},
          {"whole", facts.is_whole},
          {"full", facts.is_full},
          {"end_offset", facts.end_offset},
          {"sampling_frequency", facts.sampling_frequency},
          {"filter", facts.filter},
          {"open_scans", facts.open_scans},
          {"wall_seconds", facts.wall_seconds},
          {"seconds", fit.seconds},
          {"ops", statistics.ops()},
          {"calls", statistics.calls()},
          {"per_second", ToJson(statistics.PerSecond())},
          {"groups", groups},
          {"mixgraph", fitted}};
}

}  // namespace cambium::bench
