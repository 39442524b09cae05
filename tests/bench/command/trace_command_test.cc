// The command lines of `cambium_bench trace`: what each abbreviates, what is refused and why, and what analyze writes.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "command/parse_flags.h"
#include "command/trace_command.h"
#include "testing/temp_directory.h"

namespace cambium::bench {
namespace {

using Words = std::vector<std::string>;

std::vector<char*> PointersTo(Words* words) {
  std::vector<char*> pointers;
  for (std::string& word : *words) pointers.push_back(word.data());
  return pointers;
}

struct Ran {
  TraceCommand command;
  std::string out;
  std::string err;
};

// Runs `cambium_bench trace` with these words.
Ran Trace(Words words) {
  words.insert(words.begin(), {"cambium_bench", "trace"});
  std::vector<char*> argv = PointersTo(&words);
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  Ran ran;
  ran.command = TraceMain(static_cast<int>(argv.size()), argv.data());
  ran.out = ::testing::internal::GetCapturedStdout();
  ran.err = ::testing::internal::GetCapturedStderr();
  return ran;
}

// Parses the command line that these words abbreviate.
ParsedFlags Parse(const Words& words, std::string* said) {
  Ran ran = Trace(words);
  EXPECT_FALSE(ran.command.exit_code.has_value()) << ran.err;
  std::vector<char*> argv = PointersTo(&ran.command.words);
  ::testing::internal::CaptureStderr();
  ParsedFlags parsed = ParseFlags(static_cast<int>(argv.size()), argv.data());
  *said = ::testing::internal::GetCapturedStderr();
  return parsed;
}

class TraceCommandTest : public ::testing::Test {
 protected:
  // Writes a trace of these lines, as text.
  void Write(const std::string& lines) const { std::ofstream(path_) << lines; }
  static std::string Read(const std::string& path) {
    std::ifstream file(path);
    EXPECT_TRUE(file) << path;
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }
  [[nodiscard]] std::string Output(const std::string& name) const { return Read(files_ + "/trace-" + name + ".txt"); }
  [[nodiscard]] static Words LinesOf(const std::string& text) {
    std::istringstream in(text);
    Words lines;
    for (std::string line; std::getline(in, line);) {
      if (!line.starts_with('#')) lines.push_back(line);
    }
    return lines;
  }
  // Runs analyze, expects success, and returns its output.
  [[nodiscard]] std::string Analyze(Words words) const {
    words.insert(words.begin(), {"analyze", "--trace_path=" + path_, "--output_dir=" + files_});
    const Ran ran = Trace(words);
    EXPECT_EQ(ran.command.exit_code, 0) << ran.err;
    EXPECT_EQ(ran.err, "");
    return ran.out;
  }
  void ExpectRefused(const Words& words, int exit_code, const std::string& why) const {
    const Ran ran = Trace(words);
    EXPECT_EQ(ran.command.exit_code, exit_code) << why;
    EXPECT_NE(ran.err.find(why), std::string::npos) << ran.err;
    EXPECT_EQ(ran.out, "");
  }

  const testing::TempDirectory directory_;
  const std::string path_ = directory_.File("text");
  const std::string files_ = directory_.File("files");
};

TEST_F(TraceCommandTest, HelpListsTheCommands) {
  const Ran help = Trace({"--help"});
  EXPECT_EQ(help.command.exit_code, 0);
  for (const char* name : {"trace record", "trace replay", "trace analyze"}) {
    EXPECT_NE(help.out.find(name), std::string::npos) << name;
  }
  EXPECT_EQ(Trace({}).err, help.out);
  ExpectRefused({}, 2, "trace record");
  ExpectRefused({"play"}, 2, "there is no command trace play");
}

TEST_F(TraceCommandTest, RecordIsARunWithRecordTrace) {
  std::string said;
  const ParsedFlags parsed =
      Parse({"record", "--trace_file=" + directory_.File("new"), "--benchmarks=fillseq", "--trace_values"}, &said);
  ASSERT_FALSE(parsed.exit_code.has_value()) << said;
  EXPECT_TRUE(parsed.runs.at(0).trace.record);
  EXPECT_TRUE(parsed.runs.at(0).trace.include_values);
  EXPECT_EQ(parsed.runs.at(0).trace.file, directory_.File("new"));
  EXPECT_EQ(parsed.runs.at(0).benchmarks, Words{"fillseq"});
}

TEST_F(TraceCommandTest, ImpossibleRecordingIsRefusedWithTheReason) {
  Write("");
  const std::string file = "--trace_file=" + directory_.File("new");
  for (const auto& [words, why] : std::vector<std::pair<Words, std::string>>{
           {{"--benchmarks=fillseq"}, "--record_trace needs --trace_file"},
           {{"--trace_file=" + path_, "--benchmarks=fillseq"}, "the file " + path_ + " exists already"},
           {{file, "--benchmarks=fillseq", "--engine=raw"}, "is for the engine cambium only"},
           {{file, "--benchmarks=fillseq", "--index=both"}, "takes one --index"},
           {{file, "--benchmarks=fillseq", "--rounds=2"}, "takes one round"},
           {{file, "--benchmarks=fillseq,fillrandom"}, "fillrandom would reopen the database"}}) {
    Words all = {"record"};
    all.insert(all.end(), words.begin(), words.end());
    std::string said;
    EXPECT_EQ(Parse(all, &said).exit_code, 2) << why;
    EXPECT_NE(said.find(why), std::string::npos) << said;
  }
}

TEST_F(TraceCommandTest, ReplayLoadsFirstUnlessTheDatabaseExists) {
  Write("1 get a 5 0\n");
  const std::string file = "--trace_file=" + path_;
  const auto benchmarks = [&](Words words) {
    words.insert(words.begin(), {"replay", file});
    std::string said;
    const ParsedFlags parsed = Parse(words, &said);
    EXPECT_FALSE(parsed.exit_code.has_value()) << said;
    return parsed.exit_code.has_value() ? Words() : parsed.runs.at(0).benchmarks;
  };
  EXPECT_EQ(benchmarks({}), (Words{"traceload", "replay"}));
  EXPECT_EQ(benchmarks({"--use_existing_db", "--db=" + directory_.path()}), Words{"replay"});
  EXPECT_EQ(benchmarks({"--benchmarks=fillseq,replay"}), (Words{"fillseq", "replay"}));
  std::string said;
  EXPECT_EQ(Parse({"replay"}, &said).exit_code, 2);
  EXPECT_NE(said.find("needs --trace_file"), std::string::npos) << said;
}

TEST_F(TraceCommandTest, ImpossibleAnalysisIsRefusedWithTheReason) {
  Write("1 get a 5 0\n2 get a\n");
  const std::string path = "--trace_path=" + path_;
  ExpectRefused({"analyze"}, 2, "--trace_path is required");
  ExpectRefused({"analyze", "--trace_path=" + directory_.File("none")}, 2, "none");
  ExpectRefused({"analyze", path, "--no_such_option"}, 2, "--no_such_option");
  ExpectRefused({"analyze", path, "--sample_ratio=0"}, 2, "--sample_ratio");
  ExpectRefused({"analyze", path, "--sample_ratio=1.5"}, 2, "--sample_ratio");
  ExpectRefused({"analyze", path, "--heat_map_seconds=0"}, 2, "--heat_map_seconds");
  ExpectRefused({"analyze", path, "--value_interval=0"}, 2, "--value_interval");
  ExpectRefused({"analyze", path, "--keyrange_num=0"}, 2, "--keyrange_num");
  ExpectRefused({"analyze", path, "--output_key_stats"}, 2, "these files need --output_dir");
  ExpectRefused({"analyze", path, "--output_dir=" + path_ + "/below"}, 2, path_ + "/below");
  ExpectRefused({"analyze", path}, 1, path_ + ":2: fewer than five words");
  Write("1 get a 5 0\n");
  ExpectRefused({"analyze", path, "--output_dir=" + files_, "--output_prefix=no/such", "--output_key_stats"}, 1,
                "cannot write " + files_ + "/no/such-get-0-accessed_key_stats.txt");
}

// Three seconds of a few operations. Times go back a little, as in traces of several threads.
constexpr char kSmall[] =
    "100 put b 9 0\n"
    "90 put a 16 0 sync\n"
    "1000000 get a 16 0\n"
    "1500000 get a 16 0\n"
    "1600000 get c -1 0\n"
    "1700000 multiget a 16 0 more\n"
    "1700000 multiget b 9 0\n"
    "3000000 seek a 0 2\n"
    "3000001 seek_to_first - 0 2\n"
    "3000002 delete b 0 0 family=7\n"
    "3000003 delete_range a 0 0 end=b\n";

TEST_F(TraceCommandTest, WritesTheRequestedFiles) {
  Write(kSmall);
  const std::string said =
      Analyze({"--output_key_stats", "--output_access_count_stats", "--output_value_distribution", "--output_scan_lengths",
               "--output_time_series", "--output_qps_stats", "--output_key_ranges", "--output_prefix_cut=1",
               "--convert_to_human_readable_trace", "--heat_map_seconds=2", "--keyrange_num=2"});
  EXPECT_NE(said.find("11 operations in 10 calls over 3.000 seconds"), std::string::npos) << said;
  EXPECT_EQ(LinesOf(Output("get-0-accessed_key_stats")), (Words{"0 16 0 2 a", "0 0 1 1 c"}));
  EXPECT_EQ(LinesOf(Output("delete-7-accessed_key_stats")), Words{"7 0 0 1 b"});
  EXPECT_EQ(LinesOf(Output("get-0-accessed_key_count_distribution")), (Words{"1 1", "2 1"}));
  EXPECT_EQ(LinesOf(Output("put-0-accessed_value_size_distribution")), (Words{"8 15 1", "16 23 1"}));
  EXPECT_EQ(LinesOf(Output("iterator-0-scan_length_distribution")), Words{"2 2"});
  EXPECT_EQ(LinesOf(Output("get-0-accessed_key_prefix_cut")), (Words{"1 2 2.000 a", "1 1 1.000 c"}));
  EXPECT_EQ(LinesOf(Output("qps_stats")), (Words{"0 0 0 2 0 0 0 0 2", "1 3 2 0 0 0 0 0 5", "3 0 0 0 1 0 1 2 4"}));
  // a, b, c of the default family and b of family 7 have the numbers 0 to 3; a scan from the first key has none.
  EXPECT_EQ(LinesOf(Output("time_series")),
            (Words{"put 100 1", "put 90 0", "get 1000000 0", "get 1500000 0", "get 1600000 2", "multiget 1700000 0",
                   "multiget 1700000 1", "seek 3000000 0", "delete 3000002 3", "delete_range 3000003 0"}));
  EXPECT_EQ(LinesOf(Output("key_range_heat_map")), (Words{"0 6 1", "2 2 1"}));
  EXPECT_EQ(Output("human_readable_trace"), "# ts op key vlen scanlen\n" + std::string(kSmall));
}

TEST_F(TraceCommandTest, AnalyzesOnlyTheRequestedGroups) {
  Write(kSmall);
  const std::string said = Analyze({"--analyze_get=false", "--analyze_iterator=0", "--analyze_range_delete=0",
                                    "--output_time_series", "--output_prefix=trace"});
  EXPECT_NE(said.find("5 operations in 4 calls"), std::string::npos) << said;
  EXPECT_EQ(said.find("get, family"), said.find("multiget, family") + 5) << said;
  EXPECT_EQ(LinesOf(Output("time_series")), (Words{"put 100 1", "put 90 0", "multiget 1700000 0", "multiget 1700000 1",
                                                   "delete 3000002 2"}));
}

TEST_F(TraceCommandTest, JsonHasAllFigures) {
  Write(kSmall);
  const std::string path = directory_.File("json");
  static_cast<void>(Analyze({"--json=" + path}));
  const auto json = nlohmann::json::parse(Read(path));
  EXPECT_EQ(json.at("ops"), 11);
  EXPECT_EQ(json.at("calls"), 10);
  EXPECT_EQ(json.at("per_second"), nlohmann::json::parse("[[0, 2], [1, 5], [3, 4]]"));
  EXPECT_EQ(json.at("groups").size(), 6u);
  EXPECT_EQ(json.at("groups").at(0).at("op"), "get");
  EXPECT_EQ(json.at("groups").at(0).at("found"), 2);
  EXPECT_EQ(json.at("groups").at(0).at("warmest").at(0).at("key"), "a");
  ExpectRefused({"analyze", "--trace_path=" + path_, "--print_top_k_access=x"}, 2, "--print_top_k_access");
  const Ran ran = Trace({"analyze", "--trace_path=" + path_, "--json=" + directory_.path()});
  EXPECT_EQ(ran.command.exit_code, 1);
  EXPECT_NE(ran.err.find("cannot write " + directory_.path()), std::string::npos) << ran.err;
}

// Regression: a random sample must be the same in each file. The time series and the heat map are made in a second pass
// over the trace, and contained all operations.
TEST_F(TraceCommandTest, SampleIsTheSameInEveryFile) {
  std::string lines;
  for (int i = 0; i < 2000; ++i) {
    lines += std::to_string(i * 1000) + (i % 2 == 0 ? " get k" : " delete k") + std::to_string(i % 50) + " 0 0\n";
  }
  Write(lines);
  const Words common = {"--sample_ratio=0.25", "--analyze_delete=0", "--seed=5", "--output_time_series",
                        "--output_key_ranges", "--output_key_stats", "--heat_map_seconds=1"};
  static_cast<void>(Analyze(common));
  std::map<std::uint64_t, std::uint64_t> expected;  // key id -> accesses
  std::uint64_t sum = 0;
  for (const std::string& line : LinesOf(Output("get-0-accessed_key_stats"))) {
    std::istringstream in(line);
    std::uint64_t family = 0, size = 0, id = 0, count = 0;
    ASSERT_TRUE(in >> family >> size >> id >> count);
    expected[id] = count;
    sum += count;
  }
  EXPECT_GT(sum, 150u);  // of 1000; five standard deviations are 68
  EXPECT_LT(sum, 350u);
  std::map<std::uint64_t, std::uint64_t> series;
  for (const std::string& line : LinesOf(Output("time_series"))) ++series[std::stoull(line.substr(line.rfind(' ')))];
  EXPECT_EQ(series, expected);
  std::uint64_t heat = 0;
  for (const std::string& line : LinesOf(Output("key_range_heat_map"))) {
    std::istringstream in(line);
    std::uint64_t number = 0;
    in >> number;
    while (in >> number) heat += number;
  }
  EXPECT_EQ(heat, sum);
}

// Regression: a table had one row for each second up to the last time in the trace: here, for half a million years.
TEST_F(TraceCommandTest, DistantTimeTakesNoMemory) {
  Write("5 get a 5 0\n18446744073709551615 get a 5 0\n1000005 get b 5 0\n");
  const std::string path = directory_.File("json");
  const std::string said = Analyze({"--output_qps_stats", "--output_key_ranges", "--json=" + path});
  EXPECT_NE(said.find("3 operations in 3 calls over 18446744073709.5"), std::string::npos) << said;
  EXPECT_EQ(LinesOf(Output("qps_stats")),
            (Words{"0 1 0 0 0 0 0 0 1", "1 1 0 0 0 0 0 0 1", "18446744073709 1 0 0 0 0 0 0 1"}));
  EXPECT_EQ(nlohmann::json::parse(Read(path)).at("per_second"),
            nlohmann::json::parse("[[0, 1], [1, 1], [18446744073709, 1]]"));
  EXPECT_EQ(LinesOf(Output("key_range_heat_map")).size(), 2u);
}

TEST_F(TraceCommandTest, EmptyTraceIsAnalyzed) {
  Write("# nothing\n");
  const std::string said = Analyze({"--output_qps_stats", "--output_time_series", "--output_key_ranges"});
  EXPECT_NE(said.find("0 operations in 0 calls over 0.000 seconds"), std::string::npos) << said;
  EXPECT_TRUE(LinesOf(Output("qps_stats")).empty());
}

}  // namespace
}  // namespace cambium::bench
