// Cao, Dong, Vemuri and Du, "Characterizing, Modeling, and Benchmarking RocksDB Key-Value Workloads at Facebook", FAST
// 2020. The parameters of prefix_dist are those that its authors published with db_bench's mixgraph for ZippyDB
// (RocksDB pull request 5953), so this run also stands for ZippyDB. all_dist has warm keys but no warm ranges,
// prefix_random warm ranges but no warm keys, and all_random neither. UDB has the paper's mean sizes, 27 bytes of key
// and 127 of value, and its mix of gets, puts and scans, without merges and single deletes. YCSB's keys are padded to
// the models' 48 bytes, so that a page holds as many of them. key_dist_a differs from the authors' value: see
// CoveringAll.
#include "presets/presets.h"

#include <array>
#include <cstdio>

namespace cambium::bench {
namespace {

constexpr double kPower = 0.3467;
constexpr std::uint64_t kRanges = 30;

// The x warmest keys get the share y = a x^b of all accesses. Returns the a with which y is 1 for all `n` keys. With
// the authors' a of 0.002312, y is only 28 % for the first million keys, and 9 % for a thirtieth of them. The other
// draws would be spread evenly over all keys, which leaves little locality (RocksDB pull requests 6794 and 6795).
std::string CoveringAll(std::uint64_t n) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "--key_dist_a=%.6g", std::pow(static_cast<double>(n), -kPower));
  return text.data();
}

}  // namespace

std::vector<PresetRun> Fast20Runs(double scale) {
  const std::uint64_t num = Scaled(5e6, scale, 10'000);
  const std::vector<std::string> common = {
      Flag("num", num), "--key_size=48", "--value_size=43", Flag("reads", Scaled(1e6, scale, 10'000)),
      Flag("cache_size", Scaled(256.0 * 1024 * 1024, scale / 8, 4u << 20)),
      "--engine=cambium,rocksdb_leveled,rocksdb_blob", "--index=both",
      "--benchmarks=filluniquerandom,mixgraph,verify"};
  const std::vector<std::string> zippydb_mix = {"--mix_get_ratio=0.85", "--mix_put_ratio=0.14", "--mix_seek_ratio=0.01"};
  const std::vector<std::string> udb_mix = {"--mix_get_ratio=0.75", "--mix_put_ratio=0.2", "--mix_seek_ratio=0.05"};
  const auto power = [](std::uint64_t keys) {
    return std::vector<std::string>{CoveringAll(keys), "--key_dist_b=0.3467"};
  };
  const std::uint64_t few = std::max<std::uint64_t>(num / 16, 5000);
  const std::vector<std::string> ranges = {"--keyrange_dist_a=14.18", "--keyrange_dist_b=-2.917", "--keyrange_dist_c=0.0164",
                                           "--keyrange_dist_d=-0.08082", Flag("keyrange_num", kRanges)};
  const auto run = [&common](const char* name, std::initializer_list<std::vector<std::string>> parts) {
    PresetRun made{std::string("fast20, ") + name, common};
    for (const std::vector<std::string>& part : parts) {
      for (const std::string& word : part) {
        const std::string option = word.substr(0, word.find('='));
        std::erase_if(made.arguments, [&](const std::string& old) { return old.substr(0, old.find('=')) == option; });
        made.arguments.push_back(word);
      }
    }
    const auto is_of = [](const std::string& word, const char* option) { return word.starts_with(option); };
    const auto has_records = [&](const std::string& word) { return is_of(word, "--record_count="); };
    if (std::any_of(made.arguments.begin(), made.arguments.end(), has_records)) {
      std::erase_if(made.arguments, [&](const std::string& word) { return is_of(word, "--num="); });
    }
    return made;
  };
  return {run("all_random", {zippydb_mix}),
          run("all_dist", {zippydb_mix, power(num)}),
          run("prefix_random", {zippydb_mix, ranges}),
          run("prefix_dist, zippydb", {zippydb_mix, ranges, power(num / kRanges)}),
          run("udb", {udb_mix, ranges, power(num / kRanges), {"--key_size=27", "--value_size=127", "--value_sigma=88"}}),
          run("prefix_dist, large values",
              {zippydb_mix, ranges, power(few / kRanges),
               {"--value_size=4300", "--value_sigma=2545", "--mix_max_value_size=1048576", Flag("num", few),
                Flag("reads", Scaled(1e6, scale / 4, 10'000))}}),
          run("ycsb's imitation of zippydb",
              {{"--benchmarks=ycsb_load,ycsb_b,verify", Flag("record_count", num), Flag("operation_count", Scaled(1e6, scale, 10'000)),
                "--field_count=1", "--field_length=43", "--zero_padding=44"}})};
}

}  // namespace cambium::bench
