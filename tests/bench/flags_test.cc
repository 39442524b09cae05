// The command line: what is refused before anything runs, and how presets become runs.
#include "flags.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "nearest.h"
#include "preset.h"

namespace cambium::bench {
namespace {

ParsedFlags Parse(std::vector<std::string> words) {
  words.insert(words.begin(), "cambium_bench");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  return ParseFlags(static_cast<int>(argv.size()), argv.data());
}

// What is said on stderr when the words are refused.
std::string Refusal(const std::vector<std::string>& words) {
  ::testing::internal::CaptureStderr();
  const ParsedFlags parsed = Parse(words);
  std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(parsed.exit_code, 2) << said;
  return said;
}

TEST(FlagsTest, NamesThatNobodyKnowsComeWithAGuess) {
  EXPECT_NE(Refusal({"--benchmark=fillseq"}).find("did you mean --benchmarks?"), std::string::npos);
  EXPECT_NE(Refusal({"--benchmarks=fillrandm"}).find("did you mean fillrandom?"), std::string::npos);
  EXPECT_NE(Refusal({"--engine=rockdb_blob"}).find("did you mean rocksdb_blob?"), std::string::npos);
  EXPECT_NE(Refusal({"--preset=badger"}).find("did you mean badger2017?"), std::string::npos);
  EXPECT_NE(Refusal({"--benchmarks=zzzzzzzz"}).find("there is no benchmark zzzzzzzz;"), std::string::npos);
  EXPECT_EQ(Nearest("fillsqe", {"fillseq", "fillsync"}), "fillseq") << "two letters swapped are one mistake";
  EXPECT_EQ(Nearest("qqqq", {"fillseq"}), "");
}

TEST(FlagsTest, WhatDbBenchHasAndThisHasNotIsRefusedWithTheReason) {
  EXPECT_NE(Refusal({"--benchmarks=fillseq,mergerandom"}).find("mergerandom: Cambium has no Merge"), std::string::npos);
  for (const char* name : {"ingestexternalfile", "crc32c", "timeseries", "backup"}) {
    const std::string said = Refusal({std::string("--benchmarks=") + name});
    EXPECT_NE(said.find(std::string(name) + ": "), std::string::npos) << said;
    EXPECT_EQ(said.find("did you mean"), std::string::npos) << said;
  }
}

// Each for its own reason.
TEST(FlagsTest, ContradictionsAreRefused) {
  const struct {
    std::vector<std::string> words;
    const char* reason;
  } kWrong[] = {
      {{"--sync", "--disable_wal"}, "--sync and --disable_wal are opposites"},
      {{"--use_existing_db"}, "--use_existing_db needs --db"},
      {{"--scale=2"}, "--scale is of a --preset"},
      {{"--keys_per_prefix=5"}, "--prefix_size and --keys_per_prefix go together"},
      {{"--keys_per_prefix=5", "--prefix_size=12"}, "--key_size must be at least --prefix_size"},
      {{"--value_size_min=10", "--value_size_max=5"}, "--value_size_min is larger than --value_size_max"},
      {{"--memory_limit=64m", "--benchmarks=readrandom"}, "does not fit into --memory_limit"},
      {{"--drop_caches", "--benchmarks=fillseq"}, "need a workload that reads"},
      {{"--source=/proc/self", "--value_size=5"}, "--source says how large values are"},
      {{"--source=/proc/self", "--benchmarks=fillseq,fill100K"}, "fill100K makes values of other sizes"},
      {{"--source=/proc/self", "--benchmarks=fillseq,appendrandom"}, "appendrandom makes values of other sizes"},
      {{"--source=/proc/self", "--benchmarks=fillseq,mixgraph"}, "mixgraph makes values of other sizes"},
      {{"--source=/no/such/directory"}, "/no/such/directory"},
      {{"--benchmarks=mixgraph", "--mix_get_ratio=0"}, "mixgraph: of --mix_get_ratio"},
      {{"--benchmarks=mixgraph", "--mix_get_ratio=nan"}, "mixgraph: --mix_get_ratio is no number"},
      {{"--benchmarks=mixgraph", "--mix_max_scan_len=0"}, "mixgraph: --mix_max_scan_len"},
      {{"--benchmarks=appendrandom", "--value_size=0"}, "--value_size must be from 1 to 1048576"},
      {{"--benchmarks=ycsb_a", "--keys_per_prefix=5", "--prefix_size=4"}, "--keys_per_prefix is of db_bench's keys"},
      {{"--key_style=ycsb", "--value_size=10"}, "for which they need 16 bytes"},
      {{"--key_style=ycsb", "--benchmarks=fillseq,mixgraph"}, "for which they need 16 bytes"},
      {{"--disable_wal", "--benchmarks=fillsync"}, "fillsync syncs every write"},
      {{"--disable_wal", "--benchmarks=fillseq,readwhilesyncing"}, "readwhilesyncing syncs every write"},
      {{"--engine=raw,cambium,raw"}, "--engine names raw twice"},
      {{"--threads=0"}, "--threads"},
      {{"--num=none"}, "--num"},
  };
  for (const auto& wrong : kWrong) {
    const std::string said = Refusal(wrong.words);
    EXPECT_NE(said.find(wrong.reason), std::string::npos) << wrong.words[0] << ": " << said;
  }
}

TEST(FlagsTest, YcsbSaysWhatRecordsAreLike) {
  const BenchFlags flags = Parse({"--benchmarks=ycsb_load,ycsb_a", "--record_count=77", "--field_count=3"}).runs.at(0);
  EXPECT_EQ(flags.num, 77u);
  EXPECT_EQ(flags.value_size, 300u);
  EXPECT_EQ(flags.key_style, KeyStyle::kYcsb);
  EXPECT_EQ(Parse({"--benchmarks=ycsb_load", "--value_size=50"}).runs.at(0).value_size, 50u) << "what is given counts";
}

TEST(FlagsTest, EveryPresetIsRunsThatAreAllowedAtAnyScale) {
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

TEST(FlagsTest, WhatIsGivenGoesBeforeThePreset) {
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

TEST(FlagsTest, TheCommandLineCanBePastedIntoAShell) {
  const BenchFlags flags = Parse({"--db=/tmp/it's here", "--num=5"}).runs.at(0);
  EXPECT_EQ(flags.command_line, "cambium_bench '--db=/tmp/it'\\''s here' --num=5");
  const BenchFlags by_time = Parse({"--seed=0"}).runs.at(0);
  EXPECT_NE(by_time.seed, 0u);
  EXPECT_NE(by_time.command_line.find("--seed=" + std::to_string(by_time.seed)), std::string::npos);
}

}  // namespace
}  // namespace cambium::bench
