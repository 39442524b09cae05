// stats, dump, manifest and gc: figures are compared with what the test has written, and with the files.
#include <algorithm>
#include <cstdint>
#include <set>
#include <sstream>
#include <vector>

#include "cambium/comparator.h"
#include "testing/small_options.h"
#include "tool.h"
#include "util/manual_executor.h"

namespace cambium::testing::tool_inspect_test {
namespace {

using Json = nlohmann::json;

constexpr int kKeys = 120;
constexpr std::size_t kRecordHeader = 56;

std::string KeyOf(int i) {
  char key[16];
  std::snprintf(key, sizeof(key), "key%04d", i);
  return key;
}
// Every sixth value is small, and is in the index once flushed.
std::string ValueOf(int i, int version) {
  const std::string text = KeyOf(i) + "." + std::to_string(version);
  return i % 6 == 5 ? text : text + std::string(300, static_cast<char>('a' + i % 26));
}

std::vector<Json> DumpLines(const std::string& arguments, int exit_code = kClean) {
  const Ended ended = RunTool("dump " + arguments + " --json", "2>/dev/null");
  EXPECT_EQ(ended.exit_code, exit_code) << arguments << "\n" << ended.output.substr(0, 2000);
  std::vector<Json> lines;
  std::istringstream in(ended.output);
  for (std::string line; std::getline(in, line);) {
    lines.push_back(Json::parse(line, nullptr, false));
    EXPECT_FALSE(lines.back().is_discarded()) << line;
  }
  return lines;
}

class ToolInspectTest : public ToolTest {
 protected:
  using Model = std::map<std::string, std::string>;

  Options InspectOptions() const {
    Options options = SmallOptions();
    options.enable_blob_garbage_collection = false;
    options.blob_garbage_collection_age_cutoff = 1;
    options.page_size = 4096;
    UseIndexOfTest(&options);
    return options;
  }
  std::unique_ptr<DB> OpenIt(const Options& options) const {
    std::unique_ptr<DB> db;
    const Status s = DB::Open(options, Path(), &db);
    EXPECT_TRUE(s.ok()) << s.ToString();
    return db;
  }
  void Put(DB* db, const std::string& key, const std::string& value) {
    ASSERT_TRUE(db->Put({}, key, value).ok());
    model_[key] = value;
  }
  void Close(std::unique_ptr<DB> db) {
    ASSERT_TRUE(db->WaitForCompact().ok());
    ASSERT_TRUE(db->Close().ok());
  }
  // Two thirds of the first writes are overwritten, some keys are deleted, and all of it is flushed and compacted.
  std::unique_ptr<DB> MakeGarbage(const Options& options) {
    std::unique_ptr<DB> db = OpenIt(options);
    for (int i = 0; i < kKeys; ++i) Put(db.get(), KeyOf(i), ValueOf(i, 0));
    Put(db.get(), "large", std::string(20'000, 'L'));
    EXPECT_TRUE(db->Flush({}).ok());
    for (int i = 0; i < kKeys; ++i) {
      if (i % 3 != 0) Put(db.get(), KeyOf(i), ValueOf(i, 1));
    }
    for (int i = 0; i < kKeys; i += 10) {
      EXPECT_TRUE(db->Delete({}, KeyOf(i)).ok());
      model_.erase(KeyOf(i));
    }
    EXPECT_TRUE(db->CompactRange({}, nullptr, nullptr).ok());
    EXPECT_TRUE(db->WaitForCompact().ok());
    return db;
  }
  // Lets log GC move some values too.
  void Relocate(DB* db) {
    CompactRangeOptions compact;
    compact.blob_garbage_collection_policy = BlobGarbageCollectionPolicy::kForce;
    ASSERT_TRUE(db->CompactRange(compact, nullptr, nullptr).ok());
  }
  // Writes new keys, overwrites keys, and deletes a key and a range. Nothing is flushed.
  void AddTail(DB* db) {
    for (int i = 0; i < 20; ++i) Put(db, "tail" + KeyOf(i), ValueOf(i, 7));
    for (int i = 0; i < 10; ++i) Put(db, "tail" + KeyOf(i), ValueOf(i, 8));
    for (int i = 30; i < 40; ++i) Put(db, KeyOf(i), ValueOf(i, 9));
    ASSERT_TRUE(db->Delete({}, KeyOf(41)).ok());
    model_.erase(KeyOf(41));
    ASSERT_TRUE(db->DeleteRange({}, db->DefaultColumnFamily(), KeyOf(50), KeyOf(60)).ok());
    model_.erase(model_.lower_bound(KeyOf(50)), model_.lower_bound(KeyOf(60)));
  }

  std::uint64_t BytesOfFiles() const {
    std::uint64_t bytes = 0;
    for (const auto& [name, contents] : FilesIn(Path())) {
      if (name != "LOCK" && name != "LOG" && name != "LOG.old") bytes += contents.size();
    }
    return bytes;
  }
  // The accounts of all families in the MANIFEST, by file.
  std::map<std::string, std::uint64_t> Accounts() const {
    const Json state = RunForJson("manifest " + Path())["state"];
    std::map<int, std::uint64_t> by_slot;
    for (const Json& family : state["families"]) {
      for (const Json& account : family["accounts"]) by_slot[account["slot"]] += account["bytes"].get<std::uint64_t>();
    }
    std::map<std::string, std::uint64_t> by_file;
    for (const Json& segment : state["segments"]) by_file[segment["file"]] = by_slot[segment["slot"].get<int>()];
    return by_file;
  }
  // The sums are exact if no record is so long that the size in its address is rounded up.
  void ExpectSumsOf(const Json& stats, bool is_exact = true) const {
    const std::map<std::string, std::uint64_t> accounts = Accounts();
    EXPECT_EQ(stats["segments"].size(), accounts.size());
    for (const Json& segment : stats["segments"]) {
      const std::string file = segment["file"];
      EXPECT_EQ(segment["bytes"], std::filesystem::file_size(Path() + "/" + file)) << file;
      EXPECT_EQ(segment["live"], accounts.at(file)) << file;
      if (segment["kind"] == "large value") continue;  // its account counts whole blocks, and the file's header
      std::uint64_t sum = 0;
      for (const char* part : {"live", "dead", "pending", "overhead", "holes", "unused"}) {
        sum += segment[part].get<std::uint64_t>();
      }
      const auto bytes = segment["bytes"].get<std::uint64_t>();
      EXPECT_GE(sum, bytes) << segment;
      EXPECT_LE(sum, bytes + (is_exact ? 0 : segment["live"].get<std::uint64_t>() / 100)) << segment;
    }
    EXPECT_EQ(stats["bytes"], BytesOfFiles());
  }

  // Compares the lines with the bytes of the files: for each key, the value must be exactly where the newest record of
  // the key is reported to be.
  void ExpectMarksOf(const std::vector<Json>& lines) const {
    std::map<std::string, std::vector<Json>> newest;
    for (const Json& line : lines) {
      if (line["type"] == "record" && line["newest"].get<bool>() && line["op"] != "delete")
        newest[line["key"]].push_back(line);
    }
    for (const auto& [key, records] : newest) {
      ASSERT_EQ(records.size(), 1u) << key;
      ASSERT_TRUE(model_.contains(key)) << records[0];
      if (records[0]["op"] == "put large") continue;
      const std::string file = ReadFile(Path() + "/" + records[0]["file"].get<std::string>());
      const std::size_t at = records[0]["offset"].get<std::size_t>() + kRecordHeader + key.size();
      EXPECT_EQ(file.substr(at, records[0]["value_size"].get<std::size_t>()), model_.at(key)) << records[0];
    }
    for (const auto& [key, value] : model_) {
      if (value.size() >= 64) {
        EXPECT_TRUE(newest.contains(key)) << key;
      }
    }
  }

  Model model_;
};

TEST_F(ToolInspectTest, FiguresAddUp) {
  Close(MakeGarbage(InspectOptions()));
  const Json stats = RunForJson("stats " + Path());
  ExpectSumsOf(stats);
  const Json& family = stats["families"][0];
  EXPECT_EQ(family["keys"], model_.size());
  EXPECT_EQ(family["not_flushed"], 0);
  std::uint64_t value_bytes = 0;
  std::uint64_t small = 0;
  for (const auto& [key, value] : model_) {
    if (value.size() < 64) value_bytes += value.size(), ++small;
  }
  EXPECT_EQ(family["inline_values"], small);
  EXPECT_EQ(family["inline_bytes"], value_bytes);
  EXPECT_EQ(family["large_values"], 1);
  EXPECT_EQ(family["separated_values"], model_.size() - small - 1);
  std::uint64_t counted = 0;
  for (const Json& bucket : family["key_sizes"]) counted += bucket["count"].get<std::uint64_t>();
  EXPECT_EQ(counted, model_.size());
  // No entry is hidden, so accounts count exactly the newest entries.
  EXPECT_EQ(family["separated_bytes"].get<std::uint64_t>() + family["large_bytes"].get<std::uint64_t>(),
            family["account_bytes"]);
  const Ended text = RunTool("stats " + Path());
  EXPECT_EQ(text.exit_code, kClean);
  EXPECT_NE(text.output.find("possible savings"), std::string::npos) << text.output;
}

TEST_F(ToolInspectTest, FiguresAddUpWithATail) {
  std::unique_ptr<DB> db = MakeGarbage(InspectOptions());
  Relocate(db.get());
  AddTail(db.get());
  ASSERT_TRUE(db->Close().ok());
  const Json stats = RunForJson("stats " + Path());
  ExpectSumsOf(stats);
  EXPECT_EQ(stats["families"][0]["keys"], model_.size());
  EXPECT_EQ(stats["families"][0]["not_flushed"], 30);
  std::uint64_t pending = 0;
  std::uint64_t relocated = 0;
  for (const Json& segment : stats["segments"]) {
    pending += segment["pending"].get<std::uint64_t>();
    if (segment["kind"] == "relocation") relocated += segment["live"].get<std::uint64_t>();
  }
  EXPECT_GT(relocated, 0u);
  // Header, key and value of every operation that is not flushed, each rounded up to a multiple of 8.
  std::uint64_t expected = 0;
  for (const Json& line : DumpLines(Path() + " --what log")) {
    if (line["type"] == "record" && line["mark"] == "pending") expected += line["size"].get<std::uint64_t>();
  }
  EXPECT_EQ(pending, expected);
  EXPECT_GE(pending, 42 * kRecordHeader);
}

TEST_F(ToolInspectTest, MarksAgreeWithReads) {
  std::unique_ptr<DB> db = MakeGarbage(InspectOptions());
  ASSERT_TRUE(db->Close().ok());
  db.reset();
  const std::map<std::string, std::uint64_t> accounts = Accounts();
  std::map<std::string, std::uint64_t> live;
  const std::vector<Json> flushed = DumpLines(Path() + " --what log");
  ExpectMarksOf(flushed);
  for (const Json& line : flushed) {
    if (line["type"] != "record") continue;
    EXPECT_NE(line["mark"], "pending") << line;
    if (line["mark"] == "live") live[line["file"]] += line["size"].get<std::uint64_t>();
  }
  for (const auto& [file, bytes] : accounts) {
    if (file.ends_with(".log")) {
      EXPECT_EQ(live[file], bytes) << file;
    }
  }

  db = OpenIt(InspectOptions());
  Relocate(db.get());
  AddTail(db.get());
  ASSERT_TRUE(db->Close().ok());
  const std::vector<Json> lines = DumpLines(Path() + " --what log");
  ExpectMarksOf(lines);
  std::set<std::string> marks;
  std::set<std::string> live_files;
  for (const Json& line : lines) {
    if (line["type"] != "record") continue;
    marks.insert(line["mark"]);
    const std::string file = line["file"];
    if (line["mark"] == "live") live_files.insert(file.substr(file.find('.')));
    if (file.ends_with(".gc")) {
      EXPECT_NE(line["mark"], "pending") << line;
    }
    if (line["mark"] == "dead") {
      EXPECT_FALSE(line["why"].get<std::string>().empty()) << line;
    }
  }
  EXPECT_EQ(marks, (std::set<std::string>{"control", "dead", "live", "pending"}));
  EXPECT_TRUE(live_files.contains(".gc"));
}

TEST_F(ToolInspectTest, DumpSelectsKeysAndFiles) {
  std::unique_ptr<DB> db = MakeGarbage(InspectOptions());
  ASSERT_TRUE(db->Close().ok());
  std::set<std::string> keys;
  for (const Json& line : DumpLines(Path() + " --what log --from key0020 --to key0030")) {
    if (line["type"] == "record") keys.insert(line["key"]);
  }
  std::set<std::string> expected;
  for (int i = 20; i < 30; ++i) expected.insert(KeyOf(i));
  EXPECT_EQ(keys, expected);
  keys.clear();
  for (const Json& line : DumpLines(Path() + " --what log --hex --prefix 6b657930303231")) {
    if (line["type"] == "record") keys.insert(line["key"]);
  }
  EXPECT_EQ(keys, (std::set<std::string>{"6b657930303231"}));
  // After a CompactRange, runs and tree pages have all entries.
  keys.clear();
  for (const Json& line : DumpLines(Path() + " --what runs,pages")) {
    if (line["type"] == "entry" && line["kind"] != "tombstone") keys.insert(line["key"]);
  }
  for (const auto& [key, value] : model_) EXPECT_TRUE(keys.contains(key)) << key;
  for (const Json& line : DumpLines(Path() + " --file 999999")) ADD_FAILURE() << line;
  EXPECT_EQ(RunTool("dump " + Path() + " --what everything").exit_code, kCannot);
  EXPECT_EQ(RunTool("dump " + Path() + " --from '\\x0'").exit_code, kCannot);
  const Ended text = RunTool("dump " + Path());
  EXPECT_EQ(text.exit_code, kClean);
  EXPECT_NE(text.output.find("live"), std::string::npos);
}

// Every file of a database or a directory of backups can be dumped without a MANIFEST.
TEST_F(ToolInspectTest, DumpShowsEverySingleFile) {
  Options options = InspectOptions();
  options.level0_file_num_compaction_trigger = 15;
  options.level0_slowdown_writes_trigger = 20;
  options.level0_stop_writes_trigger = 36;
  std::unique_ptr<DB> db = MakeGarbage(options);
  Relocate(db.get());
  AddTail(db.get());
  ASSERT_TRUE(db->Flush({}).ok());
  ASSERT_TRUE(db->Close().ok());
  std::set<std::string> types;
  for (const auto& [name, bytes] : FilesIn(Path())) {
    if (name == "LOCK" || name == "LOG" || name == "LOG.old") {
      EXPECT_EQ(RunTool("dump " + Path() + "/" + name).exit_code, kCannot) << name;
      continue;
    }
    const std::vector<Json> lines = DumpLines(Path() + "/" + name);
    EXPECT_FALSE(lines.empty()) << name;
    for (const Json& line : lines) types.insert(line["type"].get<std::string>());
  }
  for (const char* type : {"header", "segment", "record", "page", "entry", "edit", "option"}) {
    EXPECT_TRUE(types.contains(type)) << type;
  }
  // Whether there is a run with range deletes depends on the index.
  const Json state = RunForJson("manifest " + Path())["state"];
  std::size_t runs = 0;
  std::uint64_t ranges = 0;
  for (const char* where : {"runs_newest_first", "level_runs"}) {
    for (const Json& run : state["families"][0].value(where, Json::array())) {
      ++runs;
      ranges += run["range_deletes"].get<std::uint64_t>();
    }
  }
  EXPECT_EQ(types.contains("run"), runs > 0);
  EXPECT_EQ(types.contains("range delete"), ranges > 0);
  if (options.index_type == kLsm) {
    EXPECT_GT(ranges, 0u);
  }
  const std::string backups = directory_.File("backups");
  ASSERT_EQ(RunTool("backup create " + Path() + " " + backups).exit_code, kClean);
  const std::vector<Json> lines = DumpLines(backups + "/000001.backup");
  ASSERT_FALSE(lines.empty());
  EXPECT_EQ(lines[0]["type"], "backup");
  for (const auto& [name, bytes] : FilesIn(backups + "/files")) {
    if (!name.ends_with(".dbtmp") && name.find("OPTIONS") == std::string::npos) {
      EXPECT_FALSE(DumpLines(backups + "/files/" + name).empty()) << name;
    }
  }
}

TEST_F(ToolInspectTest, DumpContinuesAfterADamagedRecord) {
  ASSERT_TRUE(MakeGarbage(InspectOptions())->Close().ok());
  const std::vector<Json> before = DumpLines(Path() + " --what log");
  std::vector<Json> records;
  for (const Json& line : before) {
    if (line["type"] == "record" && line["file"].get<std::string>().ends_with(".log")) records.push_back(line);
  }
  // Damages a record in its value, and then in its header. In the first case the header still leads to the next one.
  for (const std::size_t at : {kRecordHeader + 20, std::size_t{10}}) {
    const Json& hurt = records[5];
    const std::string file = Path() + "/" + hurt["file"].get<std::string>();
    const std::string bytes = ReadFile(file);
    FlipByte(file, hurt["offset"].get<std::size_t>() + at);
    std::size_t left = 0;
    bool told = false;
    const std::string place = file + ":" + std::to_string(hurt["offset"].get<std::size_t>());
    for (const Json& line : DumpLines(Path() + " --what log", kDamage)) {
      if (line["type"] == "record" && line["file"].get<std::string>().ends_with(".log")) ++left;
      told =
          told || (line["type"] == "problem" && line["what"].get<std::string>().find(place + ":") != std::string::npos);
    }
    EXPECT_EQ(left, records.size() - 1) << at;
    EXPECT_TRUE(told) << place;
    EXPECT_EQ(RunTool("dump " + file).exit_code, kDamage);
    WriteFile(file, bytes);
  }
  EXPECT_EQ(DumpLines(Path() + " --what log"), before);
}

// Regression: only the first damage was reported.
TEST_F(ToolInspectTest, TruncatedSegmentIsReportedWithOtherDamage) {
  Options options = InspectOptions();
  options.blob_file_size = 16u << 10;
  ASSERT_TRUE(MakeGarbage(options)->Close().ok());
  std::map<std::string, std::vector<Json>> records;  // of sealed segments
  const Json stats = RunForJson("stats " + Path());
  for (const Json& line : stats["segments"]) {
    if (line["sealed"].get<bool>() && line["kind"] == "log") records[line["file"]];
  }
  for (const Json& line : DumpLines(Path() + " --what log")) {
    if (line["type"] == "record" && records.contains(line["file"])) records[line["file"]].push_back(line);
  }
  ASSERT_GE(records.size(), 2u);
  const std::string first = Path() + "/" + records.begin()->first;
  const std::string last = Path() + "/" + records.rbegin()->first;
  FlipByte(first, records.begin()->second[2]["offset"].get<std::size_t>() + kRecordHeader + 20);
  const Json& end = records.rbegin()->second.back();
  std::string bytes = ReadFile(last);
  bytes.replace(end["offset"].get<std::size_t>(), end["size"].get<std::size_t>(),
                std::string(end["size"].get<std::size_t>(), '\0'));
  WriteFile(last, bytes);
  std::size_t told = 0;
  for (const Json& line : DumpLines(Path() + " --what log", kDamage)) {
    const std::string what = line["type"] == "problem" ? line["what"].get<std::string>() : "";
    const bool is_its = what.find(last + ":") != std::string::npos;
    told += is_its && what.find("the records end before the segment") != std::string::npos ? 1 : 0;
  }
  EXPECT_EQ(told, 1u);
}

TEST_F(ToolInspectTest, DamagedPagesAreReportedAndTheRestIsDumped) {
  Options options = InspectOptions();
  ASSERT_TRUE(MakeGarbage(options)->Close().ok());
  const std::vector<Json> before = DumpLines(Path() + " --what runs,pages");
  std::vector<Json> leaves;
  for (const Json& line : before) {
    if (line["type"] == "page" && line["page"] == "leaf" && line.value("mark", "live") == "live")
      leaves.push_back(line);
  }
  ASSERT_FALSE(leaves.empty());
  const std::string file = Path() + "/" + leaves[0]["file"].get<std::string>();
  const std::size_t offset = leaves[0]["offset"];
  FlipByte(file, offset + 100);
  const std::string place = file + ":" + std::to_string(offset);
  const Json stats = RunForJson("stats " + Path(), kDamage);
  EXPECT_NE(stats["problems"].dump().find(place), std::string::npos) << stats["problems"];
  EXPECT_EQ(stats["segments"].size(), Accounts().size()) << "the log is shown nevertheless";
  // Records whose mark depends on that page are not marked dead.
  std::size_t unknown = 0;
  std::size_t places = 0;
  for (const Json& line : DumpLines(Path() + " --what log", kDamage)) {
    unknown += line.value("mark", "") == "unknown" ? 1 : 0;
    places += line["type"] == "problem" && line["what"].get<std::string>().find(place) != std::string::npos ? 1 : 0;
  }
  EXPECT_GT(unknown, 0u);
  EXPECT_EQ(places, 1u);
  std::size_t left = 0;
  bool told = false;
  for (const Json& line : DumpLines(Path() + " --what runs,pages", kDamage)) {
    if (line["type"] == "page") ++left;
    told = told || (line["type"] == "problem" && line["what"].get<std::string>().find(place) != std::string::npos);
  }
  EXPECT_TRUE(told);
  EXPECT_EQ(left + 1, static_cast<std::size_t>(std::ranges::count(
                          before, "page", [](const Json& line) { return line["type"].get<std::string>(); })));
}

TEST_F(ToolInspectTest, ManifestShowsStateAndEdits) {
  std::unique_ptr<DB> db = MakeGarbage(InspectOptions());
  ColumnFamilyHandle* second = nullptr;
  ASSERT_TRUE(db->CreateColumnFamily(InspectOptions(), "second", &second).ok());
  ASSERT_TRUE(db->Put({}, second, "key", "value").ok());
  ASSERT_TRUE(db->Flush({}, second).ok());
  ASSERT_TRUE(db->DestroyColumnFamilyHandle(second).ok());
  const SequenceNumber last = db->GetLatestSequenceNumber();
  ASSERT_TRUE(db->Close().ok());
  const Json json = RunForJson("manifest " + Path());
  const Json& state = json["state"];
  EXPECT_EQ(state["last_sequence"], last);
  EXPECT_EQ(state["clean_shutdown"], true);
  ASSERT_EQ(state["families"].size(), 2u);
  EXPECT_EQ(state["families"][1]["name"], "second");
  std::set<std::string> named;
  for (const Json& segment : state["segments"]) named.insert(segment["file"].get<std::string>());
  for (const auto& [name, bytes] : FilesIn(Path())) {
    if (name.ends_with(".log") || name.ends_with(".gc") || name.ends_with(".val")) {
      EXPECT_TRUE(named.contains(name)) << name;
    }
  }
  const Json edits = RunForJson("manifest " + Path() + " --edits");
  ASSERT_EQ(edits["edits"].size(), json["records"]);
  EXPECT_EQ(edits["edits"][0]["type"], "snapshot");
  std::uint64_t offset = 128;  // records follow one another
  for (const Json& edit : edits["edits"]) {
    EXPECT_EQ(edit["offset"], offset);
    offset += edit["size"].get<std::uint64_t>();
  }
  EXPECT_EQ(offset, json["length"]);
  EXPECT_EQ(RunForJson("manifest " + json["manifest"].get<std::string>())["state"], state) << "a file by itself";

  // Edits before the damage are shown.
  const Json& hurt = edits["edits"][edits["edits"].size() - 2];
  FlipByte(json["manifest"], hurt["offset"].get<std::size_t>() + 45);
  const Json damaged = RunForJson("manifest " + Path() + " --edits", kDamage);
  EXPECT_EQ(damaged["edits"].size(), edits["edits"].size() - 2);
  EXPECT_NE(damaged["error"].get<std::string>().find(":" + std::to_string(hurt["offset"].get<std::uint64_t>())),
            std::string::npos)
      << damaged["error"];
}

// No entry is hidden, so the forecast is exact.
TEST_F(ToolInspectTest, GcForecastIsExact) {
  std::unique_ptr<DB> db = MakeGarbage(InspectOptions());
  ASSERT_TRUE(db->Close().ok());
  const auto before = FilesIn(Path());
  const Json plan = RunForJson("gc " + Path() + " --dry-run");
  EXPECT_EQ(FilesIn(Path()), before) << "a dry run writes nothing";
  EXPECT_GT(plan["round"]["segments"], 0);
  std::size_t chosen = 0;
  for (const Json& segment : plan["segments"]) {
    chosen += segment["chosen"].get<bool>() ? 1 : 0;
    EXPECT_FALSE(segment["why"].get<std::string>().empty());
    if (segment["chosen"].get<bool>()) {
      EXPECT_GT(segment["benefit"], 0.0) << segment;
    }
  }
  EXPECT_EQ(plan["round"]["segments"], chosen);
  const Json fact = RunForJson("gc " + Path());
  EXPECT_EQ(fact["segments_emptied"], plan["round"]["segments"]);
  EXPECT_EQ(fact["bytes_written"], plan["round"]["bytes_written"]);
  EXPECT_EQ(fact["bytes_freed"], plan["round"]["bytes_freed"]);
  EXPECT_EQ(fact["files_removed"].get<std::uint64_t>() >= chosen, true) << fact;
  EXPECT_EQ(RunForJson("gc " + Path() + " --dry-run")["round"]["segments"], 0);
  EXPECT_EQ(RunTool("verify " + Path() + " --deep").exit_code, kClean);
  EXPECT_EQ(RunForJson("scan " + Path() + " --count")["count"], model_.size());
}

TEST_F(ToolInspectTest, GcGivesReasonsForSegmentsNotChosen) {
  std::unique_ptr<DB> db = MakeGarbage(InspectOptions());
  AddTail(db.get());
  ASSERT_TRUE(db->Close().ok());
  std::set<std::string> reasons;
  const Json none = RunForJson("gc " + Path() + " --dry-run --age-cutoff 0");
  for (const Json& segment : none["segments"]) {
    EXPECT_FALSE(segment["chosen"].get<bool>()) << segment;
    reasons.insert(segment["why"].get<std::string>());
  }
  const auto has = [&](const std::string& part) {
    return std::ranges::any_of(reasons, [&](const std::string& why) { return why.find(part) != std::string::npos; });
  };
  EXPECT_TRUE(has("too young"));
  EXPECT_TRUE(has("not flushed"));
  EXPECT_TRUE(has("the file of a large value"));
  EXPECT_EQ(RunTool("gc " + Path() + " --dry-run --compact").exit_code, kCannot);
  EXPECT_EQ(RunTool("gc " + Path() + " --age-cutoff 2").exit_code, kCannot);
  // A damaged footer is reported, and its segment skipped.
  const Json plan = RunForJson("gc " + Path() + " --dry-run");
  std::string victim;
  for (const Json& segment : plan["segments"]) {
    if (segment["chosen"].get<bool>() && victim.empty()) victim = segment["file"];
  }
  const std::string path = Path() + "/" + victim;
  FlipByte(path, std::filesystem::file_size(path) - 40);
  const Json damaged = RunForJson("gc " + Path() + " --dry-run", kDamage);
  EXPECT_NE(damaged["problems"].dump().find(victim), std::string::npos);
}

// The forecasts for an idle open database and for the closed database are equal.
TEST_F(ToolInspectTest, GcForecastEqualsTheProperty) {
  Options options = InspectOptions();
  ASSERT_TRUE(MakeGarbage(options)->Close().ok());
  const std::string copy = directory_.File("copy");
  std::filesystem::copy(Path(), copy);
  options.enable_blob_garbage_collection = true;
  const auto executor = std::make_shared<ManualExecutor>();  // no work runs in the background
  options.executor = executor;
  std::unique_ptr<DB> db;
  ASSERT_TRUE(DB::Open(options, copy, &db).ok());
  std::map<std::string, std::string> property;
  ASSERT_TRUE(db->GetMapProperty("cambium.gc-forecast", &property));
  ASSERT_TRUE(db->Close().ok());
  const Json plan = RunForJson("gc " + copy + " --dry-run");
  EXPECT_EQ(plan["by_itself"]["reason"], property["reason"]);
  for (const char* figure : {"segments", "bytes_read", "bytes_written", "bytes_freed"}) {
    EXPECT_EQ(std::to_string(plan["by_itself"][figure].get<std::uint64_t>()), property["all_" + std::string(figure)])
        << figure;
    EXPECT_EQ(std::to_string(plan["by_itself"]["next"][figure].get<std::uint64_t>()),
              property["next_" + std::string(figure)]);
  }
  EXPECT_GT(plan["by_itself"]["segments"], 0);
}

TEST_F(ToolInspectTest, PunchedValuesAreHoles) {
  Options options = InspectOptions();
  options.min_punch_size = 16u << 10;
  options.blob_file_size = 256u << 10;
  options.large_value_size = 64u << 10;
  options.write_buffer_size = 1u << 20;
  options.max_total_wal_size = 8u << 20;
  options.enable_blob_garbage_collection = true;
  std::unique_ptr<DB> db = OpenIt(options);
  const auto value = [](int i, int version) {
    return std::to_string(version) + std::string(20'000, static_cast<char>('a' + i));
  };
  for (int i = 0; i < 20; ++i) Put(db.get(), KeyOf(i), value(i, 0));
  ASSERT_TRUE(db->Flush({}).ok());
  for (int i = 0; i < 20; i += 2) Put(db.get(), KeyOf(i), value(i, 1));
  ASSERT_TRUE(db->CompactRange({}, nullptr, nullptr).ok());
  Close(std::move(db));
  const Json stats = RunForJson("stats " + Path());
  ExpectSumsOf(stats, false);
  std::uint64_t holes = 0;
  for (const Json& segment : stats["segments"]) holes += segment["holes"].get<std::uint64_t>();
  if (holes == 0) GTEST_SKIP() << "SKIPPED: the file system cannot punch";
  std::size_t punched = 0;
  const std::vector<Json> lines = DumpLines(Path() + " --what log");
  ExpectMarksOf(lines);
  for (const Json& line : lines) {
    if (line["type"] != "record" || !line.value("punched", false)) continue;
    ++punched;
    EXPECT_EQ(line["mark"], "dead") << line;
  }
  EXPECT_GT(punched, 0u);
  EXPECT_EQ(RunTool("gc " + Path() + " --dry-run").exit_code, kClean);
}

// A torn tail, as a crash leaves it, is the end of the log and not damage.
TEST_F(ToolInspectTest, TornTailIsNotDamage) {
  std::unique_ptr<DB> db = OpenIt(InspectOptions());
  for (int i = 0; i < 5; ++i) Put(db.get(), KeyOf(i), ValueOf(i, 0));
  const std::string crashed = directory_.File("crashed");
  std::filesystem::copy(Path(), crashed);
  ASSERT_TRUE(db->Close().ok());
  std::vector<Json> lines = DumpLines(crashed + " --what log");
  EXPECT_EQ(std::ranges::count_if(lines, [](const Json& line) { return line.value("mark", "") == "pending"; }), 5);
  const Json& last = *std::ranges::find_if(lines, [](const Json& line) { return line.value("key", "") == KeyOf(4); });
  FlipByte(crashed + "/" + last["file"].get<std::string>(), last["offset"].get<std::size_t>() + kRecordHeader + 2);
  lines = DumpLines(crashed + " --what log");
  EXPECT_EQ(std::ranges::count_if(lines, [](const Json& line) { return line.value("mark", "") == "pending"; }), 4);
  EXPECT_TRUE(std::ranges::any_of(lines, [](const Json& line) { return line["type"] == "note"; }));
  EXPECT_EQ(RunForJson("stats " + crashed)["families"][0]["keys"], 4);
  EXPECT_EQ(RunTool("gc " + crashed + " --dry-run").exit_code, kClean);
}

TEST_F(ToolInspectTest, SavingsAreNamed) {
  Options options = InspectOptions();
  std::unique_ptr<DB> db = OpenIt(options);
  for (int i = 0; i < 300; ++i) Put(db.get(), KeyOf(i), std::string(500, static_cast<char>('a' + i % 26)));
  ASSERT_TRUE(db->CompactRange({}, nullptr, nullptr).ok());
  Close(std::move(db));
  const Json savings = RunForJson("stats " + Path())["savings"];
  const auto found =
      std::ranges::find_if(savings, [](const Json& s) { return s["what"] == "blob_compression_type=kZSTD"; });
  ASSERT_NE(found, savings.end()) << savings;
  // 500 equal bytes compress to almost nothing: nearly everything but headers, keys and frames is saved.
  EXPECT_GT((*found)["bytes"], 300 * 350);
  EXPECT_LT((*found)["bytes"], 300 * 500);
  for (const Json& saving : savings) EXPECT_FALSE(saving["how"].get<std::string>().empty());
}

// A second family with another comparator.
TEST_F(ToolInspectTest, FamiliesHaveTheirOwnOrderAndFigures) {
  Options options = InspectOptions();
  std::unique_ptr<DB> db = OpenIt(options);
  options.comparator = ReverseBytewiseComparator();
  ColumnFamilyHandle* second = nullptr;
  ASSERT_TRUE(db->CreateColumnFamily(options, "second", &second).ok());
  for (int i = 0; i < 40; ++i) {
    ASSERT_TRUE(db->Put({}, KeyOf(i), std::string(200, 'd')).ok());
    ASSERT_TRUE(db->Put({}, second, KeyOf(i), std::string(100, 's')).ok());
  }
  ASSERT_TRUE(db->Flush({}, second).ok());  // the default family stays in the tail
  ASSERT_TRUE(db->DestroyColumnFamilyHandle(second).ok());
  ASSERT_TRUE(db->Close().ok());
  const Json stats = RunForJson("stats " + Path());
  ExpectSumsOf(stats);
  ASSERT_EQ(stats["families"].size(), 2u);
  EXPECT_EQ(stats["families"][0]["keys"], 40);
  EXPECT_EQ(stats["families"][0]["not_flushed"], 40);
  EXPECT_EQ(stats["families"][1]["keys"], 40);
  EXPECT_EQ(stats["families"][1]["not_flushed"], 0);
  std::map<std::string, int> marks;
  for (const Json& line : DumpLines(Path() + " --what log")) {
    if (line["type"] != "record" || line["op"] != "put") continue;
    ++marks[std::to_string(line["family"].get<int>()) + " " + line["mark"].get<std::string>()];
  }
  EXPECT_EQ(marks, (std::map<std::string, int>{{"0 pending", 40}, {"1 live", 40}}));
  std::set<std::string> keys;
  for (const Json& line : DumpLines(Path() + " --what log --from key0012 --to key0010")) {
    if (line["type"] == "record" && line["family"] == 1) keys.insert(line["key"]);
  }
  EXPECT_EQ(keys, (std::set<std::string>{"key0011", "key0012"}));
}

TEST_F(ToolInspectTest, UnknownComparatorIsRejected) {
  class Folding final : public Comparator {
   public:
    [[nodiscard]] const char* Name() const override { return "test.Folding"; }
    [[nodiscard]] int Compare(Slice a, Slice b) const override { return a.compare(b); }
  };
  static const Folding kOrder;
  Options options = InspectOptions();
  options.comparator = &kOrder;
  std::unique_ptr<DB> db = OpenIt(options);
  ASSERT_TRUE(db->Put({}, "key", "value").ok());
  ASSERT_TRUE(db->Close().ok());
  for (const char* command : {"stats ", "dump ", "gc --dry-run ", "verify "}) {
    const Ended ended = RunTool(command + Path());
    EXPECT_EQ(ended.exit_code, kCannot) << command;
    EXPECT_NE(ended.output.find("test.Folding"), std::string::npos) << ended.output;
  }
  EXPECT_EQ(RunForJson("manifest " + Path())["state"]["families"][0]["comparator"], "test.Folding");
}

TEST_F(ToolInspectTest, CheckpointPinsSharedFiles) {
  ASSERT_TRUE(MakeGarbage(InspectOptions())->Close().ok());
  ASSERT_EQ(RunTool("checkpoint " + Path() + " " + directory_.File("checkpoint")).exit_code, kClean);
  std::size_t shared = 0;
  const Json stats = RunForJson("stats " + Path());
  for (const Json& segment : stats["segments"]) {
    if (segment["names"] == 1) continue;
    ++shared;
    EXPECT_EQ(segment["pinned"], segment["bytes"]) << segment;
  }
  if (shared == 0) GTEST_SKIP() << "SKIPPED: the file system has no hard links";
}

// A closed pipe is not a failure.
TEST_F(ToolInspectTest, ClosedPipeEndsTheDump) {
  std::unique_ptr<DB> db = OpenIt(InspectOptions());
  for (int i = 0; i < 3000; ++i) Put(db.get(), KeyOf(i), ValueOf(i, 0));
  Close(std::move(db));
  const std::string script = directory_.File("script");
  WriteFile(script,
            std::string("set -o pipefail\n") + CAMBIUM_TOOL + " dump " + Path() + " --json | head -n 1 > /dev/null\n");
  EXPECT_GT(RunTool("dump " + Path() + " --json").output.size(), 200'000u);
  EXPECT_EQ(std::system(("bash " + script).c_str()), 0);
}

}  // namespace
}  // namespace cambium::testing::tool_inspect_test
