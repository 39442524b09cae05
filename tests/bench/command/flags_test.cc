// The command line: what is refused before anything runs, and how presets become runs.
#include "command/parse_flags.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "command/nearest.h"
#include "presets/preset.h"
#include "workloads/workload.h"
#include "workloads/ycsb/ycsb.h"

namespace cambium::bench {
namespace {

ParsedFlags Parse(std::vector<std::string> words) {
  words.insert(words.begin(), "cambium_bench");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  return ParseFlags(static_cast<int>(argv.size()), argv.data());
}

std::string OptionOf(const std::string& word) { return word.substr(0, word.find('=')); }

// Returns what stderr says when the words are refused.
std::string Refusal(const std::vector<std::string>& words) {
  ::testing::internal::CaptureStderr();
  const ParsedFlags parsed = Parse(words);
  std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(parsed.exit_code, 2) << said;
  return said;
}

TEST(FlagsTest, UnknownNameGetsASuggestion) {
  EXPECT_NE(Refusal({"--benchmark=fillseq"}).find("did you mean --benchmarks?"), std::string::npos);
  EXPECT_NE(Refusal({"--benchmarks=fillrandm"}).find("did you mean fillrandom?"), std::string::npos);
  EXPECT_NE(Refusal({"--engine=rockdb_blob"}).find("did you mean rocksdb_blob?"), std::string::npos);
  EXPECT_NE(Refusal({"--preset=badger"}).find("did you mean badger2017?"), std::string::npos);
  EXPECT_NE(Refusal({"--benchmarks=zzzzzzzz"}).find("there is no benchmark zzzzzzzz;"), std::string::npos);
  EXPECT_EQ(Nearest("fillsqe", {"fillseq", "fillsync"}), "fillseq") << "two letters swapped are one mistake";
  EXPECT_EQ(Nearest("qqqq", {"fillseq"}), "");
}

// Regression: the message showed internals of the option library.
TEST(FlagsTest, UnknownChoiceListsTheChoices) {
  EXPECT_NE(Refusal({"--compaction_style=lvel"}).find("there is no lvel; did you mean level? use one of level,lazy"),
            std::string::npos);
  EXPECT_NE(Refusal({"--index=lms"}).find("did you mean lsm?"), std::string::npos);
  EXPECT_NE(Refusal({"--compression_type=zst"}).find("did you mean zstd?"), std::string::npos);
  for (const char* option : {"--key_style", "--value_size_distribution_type", "--check", "--value_clustering"}) {
    const std::string said = Refusal({std::string(option) + "=qqqq"});
    EXPECT_NE(said.find(std::string(option) + ": there is no qqqq; use one of "), std::string::npos) << said;
  }
  EXPECT_EQ(Parse({"--check=ends"}).runs.at(0).check, CheckDepth::kEnds);
  EXPECT_EQ(Parse({"--benchmarks= fillseq, readseq"}).runs.at(0).benchmarks,
            (std::vector<std::string>{"fillseq", "readseq"}));
}

TEST(FlagsTest, OptionWithoutEffectIsRefused) {
  const auto says = [](const std::vector<std::string>& words, const char* what) {
    const std::string said = Refusal(words);
    EXPECT_NE(said.find(what), std::string::npos) << said;
  };
  says({"--value_size_distribution_type=normal", "--value_size=10"}, "--value_size is for values");
  says({"--value_size_max=10"}, "--value_size_max needs --value_size_distribution_type");
  says({"--trace_file=t"}, "--trace_file is for");
  for (const char* word : {"--transaction_kind=locking", "--transaction_keys=2", "--transaction_zipf=0.5",
                           "--transaction_set_snapshot"}) {
    says({word}, "is for the benchmark transaction");
  }
  EXPECT_FALSE(Parse({"--value_size_distribution_type=uniform", "--value_size_max=10", "--value_size_min=1"}).exit_code);
}

TEST(FlagsTest, AbsentBenchmarkIsRefusedWithItsReason) {
  EXPECT_NE(Refusal({"--benchmarks=fillseq,mergerandom"}).find("mergerandom: Cambium has no Merge"), std::string::npos);
  for (const char* name : {"ingestexternalfile", "crc32c", "timeseries", "backup", "randomtransaction"}) {
    const std::string said = Refusal({std::string("--benchmarks=") + name});
    EXPECT_NE(said.find(std::string(name) + ": "), std::string::npos) << said;
    EXPECT_EQ(said.find("did you mean"), std::string::npos) << said;
  }
}

// Scripts for db_bench have such options.
TEST(FlagsTest, AbsentOptionIsRefusedWithItsReason) {
  for (const char* word : {"--stats_interval_seconds=60", "--perf_level=2", "--enable_blob_files=true",
                           "--blob_compression_type=lz4", "--use_blob_cache", "--blob_db_min_blob_size=1",
                           "--transaction_db"}) {
    const std::string said = Refusal({word});
    EXPECT_NE(said.find("there is no option " + OptionOf(word) + ": "), std::string::npos) << said;
    EXPECT_EQ(said.find("did you mean"), std::string::npos) << said;
  }
}

// db_bench's default, which scripts pass explicitly.
TEST(FlagsTest, BloomBitsMinusOneIsTheDefault) {
  EXPECT_EQ(Parse({"--bloom_bits=-1"}).runs.at(0).bloom_bits, Parse({"--num=1"}).runs.at(0).bloom_bits);
  EXPECT_EQ(Parse({"--bloom_bits=0"}).runs.at(0).bloom_bits, 0);
  EXPECT_NE(Refusal({"--bloom_bits=-2"}).find("--bloom_bits"), std::string::npos);
}

// Each message has its own reason.
TEST(FlagsTest, ContradictionsAreRefused) {
  const struct {
    std::vector<std::string> words;
    const char* reason;
  } kWrong[] = {
      {{"--sync", "--disable_wal"}, "--sync and --disable_wal are opposites"},
      {{"--sync_every=10", "--disable_wal"}, "--sync_every and --disable_wal are opposites"},
      {{"--sync_every=10", "--sync"}, "with --sync every write is synced already"},
      {{"--use_existing_db"}, "--use_existing_db needs --db"},
      {{"--scale=2"}, "--scale needs a --preset"},
      {{"--keys_per_prefix=5"}, "--prefix_size and --keys_per_prefix go together"},
      {{"--keys_per_prefix=5", "--prefix_size=12"}, "--key_size must be at least --prefix_size"},
      {{"--value_size_distribution_type=uniform", "--value_size_min=10", "--value_size_max=5"},
       "--value_size_min is larger than --value_size_max"},
      {{"--memory_limit=64m", "--benchmarks=readrandom"}, "does not fit into --memory_limit"},
      {{"--drop_caches", "--benchmarks=fillseq"}, "need a benchmark that reads"},
      {{"--source=/proc/self", "--value_size=5"}, "--source sets the sizes of values"},
      {{"--source=/proc/self", "--benchmarks=fillseq,fill100K"}, "fill100K makes values of other sizes"},
      {{"--source=/proc/self", "--benchmarks=fillseq,appendrandom"}, "appendrandom makes values of other sizes"},
      {{"--source=/proc/self", "--benchmarks=fillseq,mixgraph"}, "mixgraph makes values of other sizes"},
      {{"--source=/no/such/directory"}, "/no/such/directory"},
      {{"--benchmarks=mixgraph", "--mix_get_ratio=0"}, "mixgraph: --mix_get_ratio"},
      {{"--benchmarks=mixgraph", "--mix_get_ratio=nan"}, "--mix_get_ratio=nan is not a finite number"},
      {{"--read_random_exp_range=nan"}, "--read_random_exp_range=nan is not a finite number"},
      {{"--preset=quick", "--scale=nan"}, "--scale=nan is not a finite number"},
      {{"--prefix_size=-1"}, "--prefix_size=-1 is negative"},
      {{"--benchmarks=mixgraph", "--mix_max_scan_len=0"}, "mixgraph: --mix_max_scan_len"},
      {{"--benchmarks=appendrandom", "--value_size=0"}, "--value_size must be from 1 to 1048576"},
      {{"--benchmarks=ycsb_a", "--keys_per_prefix=5", "--prefix_size=4"},
       "--keys_per_prefix is for db_bench's keys only"},
      {{"--key_style=ycsb", "--value_size=10"}, "need a header of 16 bytes"},
      {{"--key_style=ycsb", "--benchmarks=fillseq,mixgraph"}, "need a header of 16 bytes"},
      {{"--disable_wal", "--benchmarks=fillsync"}, "fillsync syncs every write"},
      {{"--disable_wal", "--benchmarks=fillseq,readwhilesyncing"}, "readwhilesyncing syncs every write"},
      {{"--benchmarks=transaction", "--num=3"}, "transaction: --num has too few keys"},
      {{"--benchmarks=transaction", "--value_size=15"}, "transaction: values count the transactions"},
      {{"--benchmarks=transaction", "--transaction_zipf=1"}, "--transaction_zipf"},
      {{"--benchmarks=transaction", "--transaction_zipf=0.9", "--read_random_exp_range=5"},
       "transaction: --transaction_zipf and --read_random_exp_range"},
      {{"--engine=raw,cambium,raw"}, "--engine names raw twice"},
      {{"--threads=0"}, "--threads"},
      {{"--num=none"}, "--num"},
  };
  for (const auto& wrong : kWrong) {
    const std::string said = Refusal(wrong.words);
    EXPECT_NE(said.find(wrong.reason), std::string::npos) << wrong.words[0] << ": " << said;
  }
}

TEST(FlagsTest, YcsbFlagsSetTheRecords) {
  const BenchFlags flags = Parse({"--benchmarks=ycsb_load,ycsb_a", "--record_count=77", "--field_count=3"}).runs.at(0);
  EXPECT_EQ(flags.num, 77u);
  EXPECT_EQ(flags.value_size, 300u);
  EXPECT_EQ(flags.key_style, KeyStyle::kYcsb);
  EXPECT_EQ(Parse({"--benchmarks=ycsb_load", "--value_size=50"}).runs.at(0).value_size, 50u) << "what is given counts";
}

TEST(FlagsTest, EveryPresetIsValidAtAnyScale) {
  for (const Preset& preset : Presets()) {
    for (const char* scale : {"--scale=1", "--scale=0.0001", "--scale=0.0000001", "--scale=0"}) {
      const ParsedFlags parsed = Parse({std::string("--preset=") + preset.name, scale});
      ASSERT_FALSE(parsed.exit_code.has_value()) << preset.name << " " << scale;
      ASSERT_FALSE(parsed.runs.empty());
      std::vector<std::string> names;
      for (const BenchFlags& run : parsed.runs) names.push_back(run.experiment);
      std::sort(names.begin(), names.end());
      EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end()) << "every run has a name of its own";
    }
  }
}

// Keys of 23 bytes instead of 48 let more keys fit into a cache.
TEST(FlagsTest, YcsbImitationHasKeysAsLongAsTheModels) {
  for (const BenchFlags& run : Parse({"--preset=fast20"}).runs) {
    if (run.experiment == "fast20, udb") continue;
    EXPECT_EQ(KeyShapeOf(run).TypicalSize(), 48u) << run.experiment;
    EXPECT_EQ(KeyBuffer(KeyShapeOf(run)).Make(7).size(), 48u) << run.experiment;
  }
}

// The original loads without blob GC, and overwrites with it.
TEST(FlagsTest, BlobDbLoadsHaveARunWithoutBlobGc) {
  const ParsedFlags parsed = Parse({"--preset=blobdb2021"});
  ASSERT_EQ(parsed.runs.size(), 12u);
  for (std::size_t i = 0; i < parsed.runs.size(); i += 2) {
    EXPECT_EQ(parsed.runs[i + 1].experiment, parsed.runs[i].experiment + ", load without blob GC");
    EXPECT_EQ(parsed.runs[i + 1].engines, (std::vector<std::string>{"rocksdb_leveled", "rocksdb_blob_nogc"}));
    EXPECT_EQ(parsed.runs[i + 1].benchmarks, (std::vector<std::string>{"fillrandom", "compact"}));
    EXPECT_EQ(parsed.runs[i + 1].value_size, parsed.runs[i].value_size);
    EXPECT_EQ(parsed.runs[i + 1].write_buffer_size, parsed.runs[i].write_buffer_size);
  }
}

TEST(FlagsTest, RunsWithoutBlobGcNeedTheirEngine) {
  for (const char* engines : {"--engine=cambium", "--engine=rocksdb_leveled,rocksdb_blob"}) {
    EXPECT_EQ(Parse({"--preset=blobdb2021", engines}).runs.size(), 6u) << engines;
  }
  const ParsedFlags parsed = Parse({"--preset=blobdb2021", "--engine", "rocksdb_leveled,rocksdb_blob_nogc"});
  ASSERT_EQ(parsed.runs.size(), 12u);
  EXPECT_EQ(parsed.runs[11].experiment, "blobdb2021, 1 MiB, load without blob GC");
}

TEST(FlagsTest, GivenOptionsOverrideThePreset) {
  const ParsedFlags parsed = Parse({"--preset", "slides4", "--scale", "0.01", "--engine=cambium", "--rounds=3"});
  ASSERT_FALSE(parsed.exit_code.has_value());
  ASSERT_EQ(parsed.runs.size(), 2u);
  for (const BenchFlags& run : parsed.runs) {
    EXPECT_EQ(run.engines, std::vector<std::string>{"cambium"});
    EXPECT_EQ(run.rounds, 3u);
    EXPECT_EQ(run.num, 1000u);
    EXPECT_EQ(run.command_line.find("--preset"), std::string::npos) << "the line repeats this run alone";
    EXPECT_EQ(run.command_line.find("0.01"), std::string::npos);
  }
  EXPECT_EQ(parsed.runs[0].value_size, 32u << 10);
  EXPECT_EQ(parsed.runs[1].value_size, 256u);
}

// Regression: --memory_limit was checked with the default cache. A preset's own cache is a hundredth of that.
TEST(FlagsTest, ContradictionsAreCheckedForEachRunOfAPreset) {
  EXPECT_FALSE(Parse({"--preset=fast20", "--memory_limit=64m"}).exit_code.has_value());
  std::string said = Refusal({"--preset=fast20", "--memory_limit=1m"});
  EXPECT_NE(said.find("fast20, all_random: --cache_size"), std::string::npos) << said;
  said = Refusal({"--preset=cross", "--drop_caches"});
  EXPECT_NE(said.find("cross, E1, ceiling 1.1: --drop_caches and --memory_limit need a benchmark that reads"),
            std::string::npos)
      << said;
}

// Regression: the label stayed "1 MiB", and claims were judged by it, whatever --value_size was.
TEST(FlagsTest, DefiningOptionsOfAPresetCannotBeOverridden) {
  const struct {
    const char* preset;
    const char* word;
  } kWrong[] = {{"blobdb2021", "--value_size=100"},      {"slides4", "--source=/proc/self"},
                {"badger2017", "--value_size=5"},        {"cross", "--max_space_amplification=3"},
                {"cross", "--cluster_values"},           {"fast20", "--keyrange_num=7"},
                {"ycsb", "--benchmarks=ycsb_load"},      {"blobdb2021", "--value_size_distribution_type=normal"}};
  for (const auto& wrong : kWrong) {
    const std::string preset = std::string("--preset=") + wrong.preset;
    const std::string said = Refusal({preset, wrong.word});
    EXPECT_NE(said.find(OptionOf(wrong.word) + " distinguishes the runs of " + preset), std::string::npos) << said;
  }
}

// A preset need not list sizes and engines: these may differ.
TEST(FlagsTest, PresetsListAllOptionsThatDistinguishRuns) {
  const std::vector<std::string> sizes = {"--num", "--reads", "--writes", "--record_count", "--operation_count",
                                          "--keys_target_file_size_base", "--keys_max_bytes_for_level_base", "--engine",
                                          "--index"};
  const auto has = [](const std::vector<std::string>& words, const std::string& word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  for (const Preset& preset : Presets()) {
    const std::vector<PresetRun> runs = preset.runs(preset.scale);
    for (const PresetRun& run : runs) {
      for (const std::string& word : run.arguments) {
        const auto agrees = [&](const PresetRun& other) { return has(other.arguments, word); };
        if (std::all_of(runs.begin(), runs.end(), agrees) || has(sizes, OptionOf(word))) continue;
        EXPECT_TRUE(has(preset.defining, OptionOf(word))) << preset.name << ": " << word;
      }
    }
  }
}

// Regression: --preset=ycsb ignored --num, because --record_count has precedence. With --preset=fast20, --num changed
// only six of the seven runs.
TEST(FlagsTest, NumOverridesRecordCount) {
  for (const char* preset : {"--preset=ycsb", "--preset=fast20"}) {
    const ParsedFlags parsed = Parse({preset, "--num=1000"});
    ASSERT_FALSE(parsed.exit_code.has_value());
    for (const BenchFlags& run : parsed.runs) EXPECT_EQ(run.num, 1000u) << run.experiment;
  }
  EXPECT_EQ(Parse({"--preset=ycsb", "--record_count=1000"}).runs.at(1).num, 1000u);
  EXPECT_NE(Refusal({"--preset=fast20", "--record_count=1000"}).find("--num does"), std::string::npos);
  EXPECT_NE(Refusal({"--benchmarks=ycsb_load", "--num=5", "--record_count=6"}).find("--num and --record_count both"),
            std::string::npos);
  EXPECT_NE(Refusal({"--preset=ycsb", "--num=5", "--record_count=6"}).find("--num and --record_count both"),
            std::string::npos);
}

// Regression: YCSB's workloads ignored --reads, also in the run of fast20 that has such a workload.
TEST(FlagsTest, ReadsOverrideOperationCount) {
  const auto operations = [](const std::vector<std::string>& words, std::size_t run) {
    return YcsbOperations(Parse(words).runs.at(run));
  };
  EXPECT_EQ(operations({"--benchmarks=ycsb_load,ycsb_a", "--num=500"}, 0), 500u);
  EXPECT_EQ(operations({"--benchmarks=ycsb_load,ycsb_a", "--reads=70", "--threads=2"}, 0), 140u) << "of each thread";
  EXPECT_EQ(operations({"--benchmarks=ycsb_load,ycsb_a", "--reads=70", "--operation_count=8"}, 0), 8u);
  EXPECT_EQ(operations({"--preset=fast20", "--reads=70"}, 6), 70u);
  EXPECT_EQ(operations({"--preset=fast20", "--reads=70", "--operation_count=8"}, 6), 8u);
  EXPECT_EQ(operations({"--preset=ycsb", "--reads=70"}, 1), 140u);
}

// Each run of a preset prints a command that repeats this run alone. The command must be accepted.
TEST(FlagsTest, RunsOfAPresetCanBeRepeatedAlone) {
  for (const Preset& preset : Presets()) {
    for (const BenchFlags& run : Parse({std::string("--preset=") + preset.name}).runs) {
      std::vector<std::string> words;
      for (std::size_t at = run.command_line.find(' '); at != std::string::npos;) {
        const std::size_t end = run.command_line.find(' ', at + 1);
        words.push_back(run.command_line.substr(at + 1, end == std::string::npos ? end : end - at - 1));
        at = end;
      }
      const ParsedFlags again = Parse(words);
      ASSERT_FALSE(again.exit_code.has_value()) << run.command_line;
      EXPECT_EQ(again.runs.at(0).num, run.num);
      EXPECT_EQ(again.runs.at(0).benchmarks, run.benchmarks);
    }
  }
}

TEST(FlagsTest, CommandLineIsQuotedForTheShell) {
  const BenchFlags flags = Parse({"--db=/tmp/it's here", "--num=5"}).runs.at(0);
  EXPECT_EQ(flags.command_line, "cambium_bench '--db=/tmp/it'\\''s here' --num=5");
  const BenchFlags by_time = Parse({"--seed=0"}).runs.at(0);
  EXPECT_NE(by_time.seed, 0u);
  EXPECT_NE(by_time.command_line.find("--seed=" + std::to_string(by_time.seed)), std::string::npos);
}

}  // namespace
}  // namespace cambium::bench
