// Replays over a std::map: each call of a trace is made, in order and in time, and wrong answers are noticed.
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "bench/workloads/workload_on_map.h"
#include "testing/temp_directory.h"
#include "trace/values.h"

namespace cambium::bench {
namespace {

class ReplayTest : public WorkloadOnMap {
 protected:
  ReplayTest() : WorkloadOnMap(100) {
    flags_.benchmarks = {"traceload", "replay"};
    flags_.trace.file = directory_.File("trace");
    flags_.trace.replay_fast_forward = 0;
  }

  void Trace(const std::string& lines) { std::ofstream(flags_.trace.file) << lines; }
  // Loads the trace's keys again, and expects that the replay reports Corruption.
  void ExpectNoticed() {
    MustRun("traceload");
    const Status s = Run("replay");
    EXPECT_TRUE(s.IsCorruption()) << s.ToString();
  }
  void MustRun(const std::string& name) {
    const Status s = Run(name);
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  [[nodiscard]] std::string ValueOf(const std::string& key, std::size_t size) const {
    return ReplayValues(pool_.bytes(), flags_.seed).Make(key, size).ToString();
  }
  [[nodiscard]] bool Says(const std::string& text) const { return result_.message.find(text) != std::string::npos; }

  const testing::TempDirectory directory_;
};

TEST_F(ReplayTest, LoadsKeysThatTheTraceReadsBeforeWriting) {
  Trace("0 get a 5 0\n1 put b 7 0\n2 get b 7 0\n3 get c -1 0\n4 put c 3 0\n5 multiget d 0 0 more\n5 multiget a 5 0\n"
        "6 delete e 0 0\n7 seek f 0 3\n");
  MustRun("traceload");
  EXPECT_EQ(engine_.map, (std::map<std::string, std::string>{{"a", ValueOf("a", 5)}, {"d", ""}}));
  EXPECT_EQ(result_.ops, 2u);
  EXPECT_EQ(result_.threads, 1u);
}

TEST_F(ReplayTest, MakesEachCall) {
  Trace("0 put a 20 0\n0 put b 3000 0 more\n0 put c 0 0\n0 delete a 0 0\n0 get b 3000 0\n0 get a -1 0\n"
        "0 multiget b 3000 0 more\n0 multiget c 0 0\n0 put d 1 0 family=2\n0 seek_to_first - 0 1\n0 seek_to_last - 0 9\n"
        "0 put x 1 0 more\n0 delete c 0 0 more\n0 put y 1 0\n0 delete_range a 0 0 end=z\n0 seek b 0 -1\n");
  MustRun("traceload");
  MustRun("replay");
  EXPECT_EQ(engine_.map, (std::map<std::string, std::string>{{"b", ValueOf("b", 3000)},
                                                             {std::string("\0\0\0\2d", 5), ValueOf({"\0\0\0\2d", 5}, 1)},
                                                             {"x", ValueOf("x", 1)},
                                                             {"y", ValueOf("y", 1)}}));
  EXPECT_EQ(result_.ops, 16u) << "keys of a batch count each";
  EXPECT_EQ(engine_.calls, 1u) << "of MultiGet";
  EXPECT_EQ(result_.nanos.count(), 12u) << "calls";
  EXPECT_TRUE(engine_.settled);
  EXPECT_TRUE(Says("get 2, p50")) << result_.message;
  EXPECT_TRUE(Says("of these found 1, 1 in the trace")) << result_.message;
  EXPECT_TRUE(Says("of these found 2, 2 in the trace")) << result_.message;
  EXPECT_TRUE(Says("scans moved 4, 10 in the trace")) << "no more than there is: " << result_.message;
  EXPECT_TRUE(Says("1 scans without a length")) << result_.message;
  EXPECT_TRUE(Says("1 range deletes left out")) << result_.message;
  EXPECT_TRUE(Says("1 batches with deletes split")) << result_.message;
  EXPECT_FALSE(Says("not compared")) << result_.message;
}

TEST_F(ReplayTest, ScansReachTheRecordedEntries) {
  Trace("0 put a 1 0\n0 put c 2 0\n0 put e 3 0\n0 seek b 0 0\n0 seek_for_prev b 0 0\n0 seek_for_prev c 0 1\n"
        "0 seek_for_prev z 0 0\n");
  MustRun("traceload");
  MustRun("replay");
  // Keys and values that were walked over: c; a; c and a; e. Three keys and six bytes were put.
  EXPECT_EQ(result_.user_bytes, 3u + 6 + (1 + 2) + (1 + 1) + (1 + 2) + (1 + 1) + (1 + 3));
  EXPECT_EQ(engine_.values_walked, 5u);
}

TEST_F(ReplayTest, DetectsAWrongValue) {
  Trace("0 put a 20 0\n0 get a 20 0\n0 seek a 0 0\n");
  engine_.lies.value = [](std::string* value) { value->back() ^= 1; };
  ExpectNoticed();
}

// Regression: losing keys only lowered a counter in the result line.
TEST_F(ReplayTest, DetectsALostKey) {
  for (const char* read : {"get b 7 0", "multiget a 5 0 more\n4 multiget b 7 0", "seek a 0 1", "seek_to_last - 0 0"}) {
    SCOPED_TRACE(read);
    Trace(std::string("0 get a 5 0\n1 put b 7 0\n2 put c 7 0\n3 delete c 0 0\n4 ") + read + "\n");
    ordinal_ = 0;
    engine_.lies.lost = nullptr;
    MustRun("traceload");
    MustRun("replay");
    EXPECT_FALSE(Says("not compared")) << result_.message;
    ordinal_ = 0;
    engine_.lies.lost = [](const std::string& key) { return key == "b"; };
    ExpectNoticed();
  }
}

// A value of another length is an older one, whose bytes are right for its length.
TEST_F(ReplayTest, DetectsAnOldValue) {
  for (const char* read : {"get a 9 0", "seek a 0 0"}) {
    SCOPED_TRACE(read);
    Trace(std::string("0 put a 5 0\n1 put a 9 0\n2 ") + read + "\n");
    ordinal_ = 0;
    engine_.lies.value = [this](std::string* value) { *value = ValueOf("a", 5); };
    ExpectNoticed();
  }
}

// A deleted key must not come back. A second replay begins with the keys that the first has left, not with those that
// were loaded.
TEST_F(ReplayTest, DetectsADeletedKey) {
  flags_.benchmarks = {"traceload", "replay", "replay"};
  Trace("0 get a 5 0\n1 get b -1 0\n2 put b 7 0\n3 delete a 0 0\n4 get a -1 0\n");
  MustRun("traceload");
  MustRun("replay");
  MustRun("replay");
  EXPECT_TRUE(Says("of these found 1, 1 in the trace")) << "b and not a: " << result_.message;
  ordinal_ = 0;
  engine_.lies.ghost = [](const std::string& key) { return key == "a"; };
  ExpectNoticed();
}

// With --use_existing_db nothing is loaded, whatever the list says.
TEST_F(ReplayTest, ExistingDatabaseIsNotCompared) {
  flags_.use_existing_db = true;
  Trace("0 get a 20 0\n");
  engine_.map["a"] = "foreign";
  ordinal_ = 1;
  MustRun("replay");
  EXPECT_TRUE(Says("values not compared")) << result_.message;
}

// If the values of a database were not written by traceload, they cannot be compared, and the message says so.
TEST_F(ReplayTest, ForeignValuesAreNotCompared) {
  flags_.benchmarks = {"fillseq", "replay"};
  Trace("0 get a 20 0\n");
  engine_.map["a"] = "foreign";
  ordinal_ = 1;
  MustRun("replay");
  EXPECT_TRUE(Says("values not compared")) << result_.message;
}

TEST_F(ReplayTest, ManyThreadsMakeAllCalls) {
  std::string lines;
  for (int i = 0; i < 5000; ++i) {
    lines += std::to_string(i) + " put key" + std::to_string(i % 700) + " " + std::to_string(i % 50) + " 0\n";
    lines += std::to_string(i) + " get key" + std::to_string(i % 700) + " " + std::to_string(i % 50) + " 0\n";
  }
  Trace(lines);
  flags_.trace.replay_threads = 4;
  MustRun("traceload");
  MustRun("replay");
  EXPECT_EQ(result_.threads, 4u);
  EXPECT_EQ(result_.ops, 10'000u);
  EXPECT_EQ(engine_.map.size(), 700u);
  EXPECT_TRUE(Says("whether keys are found, and lengths, not compared")) << result_.message;
}

// 40 calls in 200 ms; twice as fast; and as fast as possible.
TEST_F(ReplayTest, KeepsTheTimesOfTheTrace) {
  std::string lines;
  for (int i = 0; i <= 40; ++i) lines += std::to_string(i * 5000) + " get key -1 0\n";
  Trace(lines);
  for (const double speed : {1.0, 2.0}) {
    flags_.trace.replay_fast_forward = speed;
    MustRun("replay");
    EXPECT_GE(result_.seconds, 0.2 / speed);
    EXPECT_LT(result_.p50_us, 4000) << "to wait is no latency";
  }
  flags_.trace.replay_fast_forward = 0;
  MustRun("replay");
  EXPECT_LT(result_.seconds, 0.1);
}

TEST_F(ReplayTest, DamagedLineFailsTheRun) {
  Trace("0 get a -1 0\n0 got a -1 0\n");
  const Status s = Run("replay");
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
  EXPECT_NE(s.ToString().find(flags_.trace.file + ":2"), std::string::npos) << s.ToString();
}

TEST_F(ReplayTest, RefusesUnusableTraces) {
  flags_.trace.file = directory_.File("none");
  EXPECT_NE(ComplainOfTrace(flags_).find("none"), std::string::npos);
  flags_.trace.file.clear();
  EXPECT_EQ(ComplainOfTrace(flags_), "needs --trace_file");
  flags_.trace.file = directory_.File("trace");
  Trace("0 get a -1 0\n");
  EXPECT_EQ(ComplainOfTrace(flags_), "");
  flags_.benchmarks = {"replay", "compact", "replay"};
  EXPECT_EQ(ComplainOfTrace(flags_), "");
  flags_.benchmarks = {"replay", "fillseq", "readrandom"};
  EXPECT_EQ(ComplainOfTrace(flags_), "");
  flags_.benchmarks = {"fillseq", "replay", "readrandom"};
  EXPECT_NE(ComplainOfTrace(flags_).find("readrandom cannot follow"), std::string::npos);
  flags_.benchmarks = {"traceload", "verify"};
  EXPECT_NE(ComplainOfTrace(flags_).find("verify cannot follow"), std::string::npos);
}

TEST_F(ReplayTest, RecordingNeedsASingleOpen) {
  flags_.trace.record = true;
  flags_.trace.file = directory_.File("new");
  flags_.benchmarks = {"fillseq", "readrandom"};
  EXPECT_EQ(ComplainOfRecording(flags_), "");
  flags_.benchmarks = {"readrandom", "fillseq"};
  EXPECT_NE(ComplainOfRecording(flags_).find("fillseq"), std::string::npos);
  flags_.benchmarks = {"fillseq", "verify"};
  EXPECT_NE(ComplainOfRecording(flags_).find("verify"), std::string::npos);
  flags_.benchmarks = {"fillseq"};
  flags_.engines = {"cambium", "lmdb"};
  EXPECT_NE(ComplainOfRecording(flags_), "");
  flags_.engines = {"cambium"};
  flags_.rounds = 2;
  EXPECT_NE(ComplainOfRecording(flags_), "");
  flags_.rounds = 1;
  flags_.trace.file = directory_.File("trace");
  Trace("");
  EXPECT_NE(ComplainOfRecording(flags_).find("already"), std::string::npos);
}

TEST(ReplayValuesTest, FollowFromKeyAndLength) {
  const std::string pool = "0123456789";
  ReplayValues values(pool, 1);
  for (const std::size_t size : {0u, 1u, 7u, 8u, 9u, 30u, 1000u}) {
    const std::string made = values.Make("key", size).ToString();
    EXPECT_EQ(made.size(), size);
    EXPECT_EQ(values.Make("key", size).ToString(), made);
    EXPECT_TRUE(values.Matches("key", made));
    if (size == 0) continue;
    EXPECT_FALSE(values.Matches("other", made));
    std::string wrong = made;
    wrong[size / 2] ^= 1;
    EXPECT_FALSE(values.Matches("key", wrong));
  }
}

}  // namespace
}  // namespace cambium::bench
