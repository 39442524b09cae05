// get, put, delete, scan, options: single entries and options.
#include <optional>

#include "tool.h"
#include "util/sealed_text.h"

#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <vector>

#include "cambium/comparator.h"
#include "testing/scale.h"

namespace cambium::testing {
namespace {

class ToolEntriesTest : public ToolTest {
 protected:
  void Make(const std::map<std::string, std::string>& entries) const {
    const std::unique_ptr<DB> db = Open();
    for (const auto& [key, value] : entries) ASSERT_TRUE(db->Put({}, key, value).ok());
    ASSERT_TRUE(db->Close().ok());
  }
};

TEST_F(ToolEntriesTest, GetReturnsValueOfPut) {
  Make({});
  const std::string large(5000, 'l');
  EXPECT_EQ(RunTool("put " + Path() + " oak 'a ring a year'").exit_code, kClean);
  EXPECT_EQ(RunTool("put " + Path() + " 'a\\x00\\\\b' 'c\\xffd'").exit_code, kClean);
  EXPECT_EQ(RunTool("put " + Path() + " large " + large).exit_code, kClean);
  EXPECT_EQ(RunTool("put " + Path() + " empty ''").exit_code, kClean);
  EXPECT_EQ(RunTool("get " + Path() + " oak").output, "a ring a year\n");
  EXPECT_EQ(RunTool("get " + Path() + " large").output, large + "\n");
  EXPECT_EQ(RunTool("get " + Path() + " empty").output, "\n");
  EXPECT_EQ(RunTool("get " + Path() + " 'a\\x00\\\\b'").output, "c\\xffd\n");
  EXPECT_EQ(RunTool("get " + Path() + " --hex 61005c62").output, "63ff64\n");
  EXPECT_EQ(RunForJson("get " + Path() + " oak").at("value"), "a ring a year");
  std::string value;
  ASSERT_TRUE(Open()->Get({}, std::string("a\0\\b", 4), &value).ok());
  EXPECT_EQ(value, "c\xff" "d");
  EXPECT_TRUE(RunForJson("put " + Path() + " oak new").at("replaces"));
  EXPECT_FALSE(RunForJson("put " + Path() + " elm new --dry-run").at("replaces"));
  EXPECT_EQ(RunTool("get " + Path() + " elm").exit_code, kDamage) << "it was a dry run";
}

TEST_F(ToolEntriesTest, ValuesFromAndToFiles) {
  Make({});
  std::string bytes;
  for (int i = 0; i < 100'000; ++i) bytes += static_cast<char>(i * 7);
  WriteFile(directory_.File("in"), bytes);
  EXPECT_EQ(RunTool("put " + Path() + " k --value-file " + directory_.File("in")).exit_code, kClean);
  EXPECT_EQ(RunTool("get " + Path() + " k --output " + directory_.File("out")).exit_code, kClean);
  EXPECT_EQ(ReadFile(directory_.File("out")), bytes);
  EXPECT_EQ(RunTool("get " + Path() + " k --output -").output, bytes);
  EXPECT_EQ(RunTool("put " + Path() + " k2 --value-file - < " + directory_.File("in")).exit_code, kClean);
  EXPECT_EQ(RunTool("get " + Path() + " k2 --output -").output, bytes);
  const Ended missing = RunTool("put " + Path() + " k3 --value-file " + directory_.File("nothing"));
  EXPECT_EQ(missing.exit_code, kCannot);
  EXPECT_NE(missing.output.find("nothing"), std::string::npos) << missing.output;
  EXPECT_EQ(RunTool("get " + Path() + " k --output " + directory_.File("no/such/folder")).exit_code, kCannot);
  EXPECT_EQ(RunTool("get " + Path() + " k --output /dev/full").exit_code, kCannot);
  EXPECT_EQ(RunTool("put " + Path() + " k").exit_code, kCannot);
  EXPECT_EQ(RunTool("put " + Path() + " k v --value-file x").exit_code, kCannot);
}

// The text of a value is made and written in pieces. The output must be the same as if it were made at once.
TEST_F(ToolEntriesTest, LongValuesArePrintedWhole) {
  std::string bytes;
  for (int i = 0; i < 200'001; ++i) bytes += static_cast<char>(i * 7 % 251);
  Make({{"a\"b\\", bytes}});
  std::string text;
  std::string digits;
  for (const char c : bytes) {
    char hex[3];
    std::snprintf(hex, sizeof(hex), "%02x", static_cast<unsigned char>(c));
    digits += hex;
    const bool is_plain = c >= 0x20 && c <= 0x7e && c != '\\';
    text += is_plain ? std::string(1, c) : c == '\\' ? "\\\\" : std::string("\\x") + hex;
  }
  const std::string key = " 'a\"b\\\\' ";
  EXPECT_TRUE(RunTool("get " + Path() + key).output == text + "\n");
  EXPECT_TRUE(RunTool("get " + Path() + " --hex 6122625c").output == digits + "\n");
  const nlohmann::json got = RunForJson("get " + Path() + key);
  EXPECT_TRUE(got == nlohmann::json({{"key", "a\"b\\\\"}, {"value", text}}));
  EXPECT_TRUE(RunForJson("get " + Path() + " --hex 6122625c").at("value") == digits);
  EXPECT_TRUE(RunTool("scan " + Path()).output == "a\"b\\\\\t" + text + "\n");
  EXPECT_TRUE(RunForJson("scan " + Path()) == got);
  EXPECT_EQ(RunTool("scan " + Path() + " --keys-only").output, "a\"b\\\\\n");
  EXPECT_EQ(RunTool("scan " + Path() + " --keys-only --json").output, "{\"key\":\"a\\\"b\\\\\\\\\"}\n");
  const std::string exported = RunTool("export " + Path() + " -").output;
  const std::size_t begin = exported.find('\n', exported.find('\n') + 1) + 1;  // after the head and the family's line
  const auto line = nlohmann::json::parse(exported.substr(begin, exported.find('\n', begin) - begin));
  EXPECT_TRUE(line == nlohmann::json({{"family", "default"}, {"key", got.at("key")}, {"value", text}}));
}

// Returns the most memory that a command run so far has taken.
std::uint64_t MostMemoryOfCommands() {
  rusage usage{};
  EXPECT_EQ(::getrusage(RUSAGE_CHILDREN, &usage), 0);
  return static_cast<std::uint64_t>(usage.ru_maxrss) << 10;
}

// Commands run without the variables of glibc that ctest sets, which make malloc keep more.
TEST_F(ToolEntriesTest, LongValuesStayWithinDocumentedMemory) {
  if (kUnderSanitizer) GTEST_SKIP() << "SKIPPED under a sanitizer: it takes memory of its own";
  constexpr std::uint64_t kMiB = 1u << 20;
  constexpr std::uint64_t kRest = 20 * kMiB;  // the tool takes this for itself
  constexpr std::uint64_t kValue = 32 * kMiB;  // larger than this process
  ::unsetenv("GLIBC_TUNABLES");
  Make({{"k", std::string(kValue, 'v')}});
  const std::string file = directory_.File("exported");
  EXPECT_EQ(RunTool("--version").exit_code, kClean);
  const std::uint64_t earlier = MostMemoryOfCommands();  // includes the memory of this process
  for (const std::string& command :
       {"get " + Path() + " k >/dev/null", "scan " + Path() + " >/dev/null", "export " + Path() + " " + file}) {
    EXPECT_EQ(RunTool(command, "").exit_code, kClean) << command;
    EXPECT_LE(MostMemoryOfCommands(), std::max(earlier, kValue + kRest)) << command;
  }
  EXPECT_GE(std::filesystem::file_size(file), kValue);
  EXPECT_EQ(RunTool("import " + directory_.File("imported") + " " + file).exit_code, kClean);
  EXPECT_LE(MostMemoryOfCommands(), std::max(earlier, 5 * kValue + kRest));
}

TEST_F(ToolEntriesTest, DeletesKeysAndRanges) {
  Make({{"a", "1"}, {"b", "2"}, {"c", "3"}, {"d", "4"}});
  EXPECT_EQ(RunForJson("delete " + Path() + " b --end d --dry-run").at("deleted"), 2);
  EXPECT_EQ(RunTool("scan " + Path() + " --count").output, "4\n");
  EXPECT_EQ(RunTool("delete " + Path() + " b --end d").output, "deleted 2 keys\n");
  EXPECT_EQ(RunTool("delete " + Path() + " a").output, "deleted 1 key\n");
  EXPECT_EQ(RunTool("delete " + Path() + " a").output, "deleted 0 keys\n");
  EXPECT_EQ(RunTool("scan " + Path()).output, "d\t4\n");
  EXPECT_EQ(RunTool("delete " + Path() + " a").exit_code, kClean) << "it is as it was asked to be";
  EXPECT_EQ(RunTool("delete " + Path() + " z --end a").exit_code, kCannot);
  EXPECT_EQ(RunTool("delete " + Path() + " z --end a --dry-run").exit_code, kCannot);
}

// Regression: put and delete read the old value before they wrote, so a damaged value could not be removed.
TEST_F(ToolEntriesTest, DamagedValueCanBeReplacedAndDeleted) {
  const std::string value(5000, 'v');
  Make({{"a", value}, {"b", value + "b"}});
  {
    const std::unique_ptr<DB> db = Open();
    ASSERT_TRUE(db->Flush({}).ok());
    ASSERT_TRUE(db->Close().ok());
  }
  for (const auto& [name, bytes] : FilesIn(Path())) {
    if (!name.ends_with(".log")) continue;
    for (std::size_t at = bytes.find(value); at != std::string::npos; at = bytes.find(value, at + 4000)) {
      FlipByte(Path() + "/" + name, at + 100);
    }
  }
  for (const std::string key : {"a", "b"}) ASSERT_EQ(RunTool("get " + Path() + " " + key).exit_code, kDamage) << key;
  EXPECT_TRUE(RunForJson("put " + Path() + " a new --dry-run").at("replaces"));
  EXPECT_TRUE(RunForJson("put " + Path() + " a new").at("replaces"));
  EXPECT_EQ(RunTool("get " + Path() + " a").output, "new\n");
  EXPECT_EQ(RunForJson("delete " + Path() + " b --dry-run").at("deleted"), 1);
  EXPECT_EQ(RunForJson("delete " + Path() + " b").at("deleted"), 1);
  EXPECT_EQ(RunTool("scan " + Path()).output, "a\tnew\n");
}

// Regression: every write replaced a damaged OPTIONS file by one with defaults.
TEST_F(ToolEntriesTest, DamagedOptionsFileIsNotReplacedByDefaults) {
  {
    Options options = TheOptions();
    options.min_blob_size = 777;
    std::unique_ptr<DB> db;
    ASSERT_TRUE(DB::Open(options, Path(), &db).ok());
    ASSERT_TRUE(db->Put({}, "a", "1").ok());
    ASSERT_TRUE(db->Close().ok());
  }
  const std::string file = FileLike("OPTIONS");
  const std::string entries = directory_.File("entries");
  WriteFile(entries, "{\"cambium_export\":1}\n{\"end\":true,\"entries\":0}\n");
  FlipByte(file, ReadFile(file).find("777"));
  const auto before = FilesIn(Path());
  for (const std::string& line : {"put " + Path() + " k v", "delete " + Path() + " a", "gc " + Path(), "compact " + Path(),
                                  "import " + Path() + " " + entries + " --add", "put " + Path() + " k v --dry-run",
                                  "delete " + Path() + " a --dry-run",
                                  "import " + Path() + " " + entries + " --add --dry-run"}) {
    const Ended ended = RunTool(line);
    EXPECT_EQ(ended.exit_code, kDamage) << line << "\n" << ended.output;
    EXPECT_NE(ended.output.find(file + ":"), std::string::npos) << ended.output;
    EXPECT_NE(ended.output.find("--default-options"), std::string::npos) << ended.output;
    EXPECT_EQ(FilesIn(Path()), before) << line;
  }
  EXPECT_EQ(RunTool("options " + Path()).exit_code, kDamage);
  EXPECT_EQ(RunTool("get " + Path() + " a").output, "1\n");
  EXPECT_EQ(RunTool("put " + Path() + " k v --default-options").exit_code, kClean);
  EXPECT_EQ(RunForJson("options " + Path()).at("CFOptions \"default\"").at("min_blob_size").at("value"), "512");
  EXPECT_EQ(RunTool("scan " + Path()).output, "a\t1\nk\tv\n");
}

// Regression: with --json, nothing was printed on stderr.
TEST_F(ToolEntriesTest, GcErrorsArePrintedToStderrToo) {
  const Ended errors = RunTool("gc " + Path() + " --json", "2>&1 >/dev/null");
  EXPECT_EQ(errors.exit_code, kCannot);
  EXPECT_NE(errors.output.find(Path()), std::string::npos) << errors.output;
  EXPECT_TRUE(RunForJson("gc " + Path(), kCannot).at("error").is_string());
}

// Regression: a write recorded create_if_missing as off, and dropped unknown options.
TEST_F(ToolEntriesTest, WriteKeepsTheOptionsFile) {
  Make({});
  const std::string file = FileLike("OPTIONS");
  const std::string now = ReadFile(file);
  const std::optional<Slice> body = UnsealText(now);
  ASSERT_TRUE(body.has_value());
  std::string later = body->ToString();
  const std::size_t at = later.find("  create_if_missing=true\n");
  ASSERT_NE(at, std::string::npos);
  later.insert(at, "  shiny=1\n");
  WriteFile(file, SealText(later));
  const std::string before = ReadFile(file);
  EXPECT_EQ(RunTool("put " + Path() + " k v").exit_code, kClean);
  EXPECT_EQ(RunTool("delete " + Path() + " k").exit_code, kClean);
  EXPECT_EQ(RunTool("gc " + Path()).exit_code, kClean);
  EXPECT_EQ(FileLike("OPTIONS"), file);
  EXPECT_EQ(ReadFile(file), before);
}

TEST_F(ToolEntriesTest, ScanAppliesItsFlags) {
  Make({{"a", "1"}, {"b1", std::string(2000, 'v')}, {"b2", "3"}, {"c\n", "4\t"}});
  const std::string scan = "scan " + Path();
  EXPECT_EQ(RunTool(scan + " --keys-only").output, "a\nb1\nb2\nc\\x0a\n");
  EXPECT_EQ(RunTool(scan + " --keys-only --reverse --limit 2").output, "c\\x0a\nb2\n");
  EXPECT_EQ(RunTool(scan + " --keys-only --prefix b").output, "b1\nb2\n");
  EXPECT_EQ(RunTool(scan + " --keys-only --from b2 --to c").output, "b2\n");
  EXPECT_EQ(RunTool(scan + " --from b2").output, "b2\t3\nc\\x0a\t4\\x09\n");
  EXPECT_EQ(RunTool(scan + " --from b --hex").exit_code, kCannot) << "half a byte";
  EXPECT_EQ(RunTool(scan + " --from 6232 --hex").output, "6232\t33\n630a\t3409\n");
  EXPECT_EQ(RunTool(scan + " --prefix b --count").output, "2\n");
  EXPECT_EQ(RunForJson(scan + " --count").at("count"), 4);
  EXPECT_EQ(RunForJson(scan + " --limit 1").at("key"), "a");
  EXPECT_EQ(RunTool(scan + " --from 'x\\y'").exit_code, kCannot);
}

// Tests both key orders and both directions, with bounds inside and around the prefix.
TEST_F(ToolEntriesTest, PrefixIsARangeInEitherOrder) {
  const std::vector<std::string> keys = {"a", "b", "b\xff", "b\xff\xff", "b\xff\xff!", "bz", "c", "\xff", "\xff\xff!"};
  for (const Comparator* const order : {BytewiseComparator(), ReverseBytewiseComparator()}) {
    std::filesystem::remove_all(Path());
    {
      Options options = TheOptions();
      options.comparator = order;
      std::unique_ptr<DB> db;
      ASSERT_TRUE(DB::Open(options, Path(), &db).ok());
      for (const std::string& key : keys) ASSERT_TRUE(db->Put({}, key, "").ok());
    }
    std::vector<std::string> sorted = keys;
    std::ranges::sort(sorted, [&](const auto& a, const auto& b) { return order->Compare(a, b) < 0; });
    const auto hex = [](const std::string& bytes) { return Slice(bytes).ToString(true); };
    for (const std::string prefix : {"b", "b\xff", "\xff", "\xff\xff", "bb", "c"}) {
      for (const std::string from : {"", "b\xff", "bz", "a"}) {
        for (const bool reverse : {false, true}) {
          std::string expected;
          for (const std::string& key : sorted) {
            const bool is_wanted = key.starts_with(prefix) && (from.empty() || order->Compare(key, from) >= 0);
            if (is_wanted) expected = reverse ? hex(key) + "\n" + expected : expected + hex(key) + "\n";
          }
          const std::string arguments = "scan " + Path() + " --hex --keys-only --prefix " + hex(prefix) +
                                        (from.empty() ? "" : " --from " + hex(from)) + (reverse ? " --reverse" : "");
          EXPECT_EQ(RunTool(arguments).output, expected) << order->Name() << ": " << arguments;
        }
      }
    }
  }
}

// Regression: a scan with a prefix read all keys, and failed on damage in keys without the prefix.
TEST_F(ToolEntriesTest, ScanOfAPrefixReadsNothingElse) {
  std::map<std::string, std::string> entries;
  for (int i = 0; i < 20'000; ++i) entries["k" + std::to_string(100'000 + i)] = "small";
  Make(entries);
  {
    const std::unique_ptr<DB> db = Open();
    ASSERT_TRUE(db->CompactRange({}, nullptr, nullptr).ok());
    ASSERT_TRUE(db->Close().ok());
  }
  std::vector<nlohmann::json> leaves;
  std::istringstream lines(RunTool("dump " + Path() + " --what runs,pages --no-entries --json").output);
  for (std::string line; std::getline(lines, line);) {
    nlohmann::json page = nlohmann::json::parse(line, nullptr, false);
    const bool is_live = page.value("page", "") == "leaf" && page.value("mark", "live") == "live";
    if (is_live) leaves.push_back(std::move(page));
  }
  ASSERT_GE(leaves.size(), 5u);
  const nlohmann::json& middle = leaves[leaves.size() / 2];
  FlipByte(Path() + "/" + middle["file"].get<std::string>(), middle["offset"].get<std::size_t>() + 100);
  EXPECT_EQ(RunTool("scan " + Path() + " --count").exit_code, kDamage);
  for (const std::string prefix : {"k1000", "k1199"}) {
    for (const std::string reverse : {"", " --reverse"}) {
      const Ended ended = RunTool("scan " + Path() + " --count --prefix " + prefix + reverse);
      EXPECT_EQ(ended.exit_code, kClean) << ended.output;
      EXPECT_EQ(ended.output, "100\n") << prefix;
    }
  }
}

// Regression: the error of a failed scan was a JSON object on three lines, although each entry has one line.
TEST_F(ToolEntriesTest, FailedScanEndsWithAnErrorLine) {
  Make({{"a", "1"}, {"b", std::string(2000, 'v')}, {"c", "3"}});
  {
    const std::unique_ptr<DB> db = Open();  // flush, since a scan prints nothing if Open cannot replay the log
    ASSERT_TRUE(db->Flush({}).ok());
    ASSERT_TRUE(db->Close().ok());
  }
  for (const auto& [name, bytes] : FilesIn(Path())) {
    const std::size_t value = bytes.find("vvvv");
    if (name.ends_with(".log") && value != std::string::npos) FlipByte(Path() + "/" + name, value + 1000);
  }
  const Ended ended = RunTool("scan " + Path() + " --json", "2>/dev/null");
  EXPECT_EQ(ended.exit_code, kDamage);
  std::istringstream lines(ended.output);
  std::vector<nlohmann::json> objects;
  for (std::string line; std::getline(lines, line);) {
    objects.push_back(nlohmann::json::parse(line, nullptr, false));
    EXPECT_FALSE(objects.back().is_discarded()) << line;
  }
  ASSERT_EQ(objects.size(), 2u) << ended.output;
  EXPECT_EQ(objects[0].at("key"), "a");
  EXPECT_TRUE(objects[1].contains("error"));
}

TEST_F(ToolEntriesTest, ClosedPipeEndsAScan) {
  std::map<std::string, std::string> entries;
  for (int i = 0; i < 20'000; ++i) entries["k" + std::to_string(i)] = "a value of some length";
  Make(entries);
  WriteFile(directory_.File("script"),
            std::string("set -o pipefail\n") + CAMBIUM_TOOL + " scan " + Path() + " | head -n 1 > /dev/null\n");
  EXPECT_EQ(std::system(("bash " + directory_.File("script")).c_str()), 0);
}

TEST_F(ToolEntriesTest, FamiliesAreSelectedByName) {
  {
    const std::unique_ptr<DB> db = Open();
    ColumnFamilyOptions other = TheOptions();
    other.comparator = ReverseBytewiseComparator();
    other.index_type = TheOptions().index_type == kLsm ? kBTree : kLsm;
    ColumnFamilyHandle* handle = nullptr;
    ASSERT_TRUE(db->CreateColumnFamily(other, "other", &handle).ok());
    ASSERT_TRUE(db->Put({}, handle, "a", "1").ok());
    ASSERT_TRUE(db->Put({}, handle, "b", "2").ok());
    ASSERT_TRUE(db->DestroyColumnFamilyHandle(handle).ok());
    ASSERT_TRUE(db->Close().ok());
  }
  const auto check = [this] {
    EXPECT_EQ(RunTool("scan " + Path() + " --column-family other").output, "b\t2\na\t1\n");
    EXPECT_EQ(RunTool("scan " + Path()).output, "");
  };
  check();
  EXPECT_EQ(RunTool("put " + Path() + " c 3 --column-family other").exit_code, kClean);
  EXPECT_EQ(RunTool("get " + Path() + " c --column-family other").output, "3\n");
  EXPECT_EQ(RunTool("delete " + Path() + " c --column-family other").exit_code, kClean);
  const Ended absent = RunTool("get " + Path() + " c --column-family another");
  EXPECT_EQ(absent.exit_code, kCannot);
  EXPECT_NE(absent.output.find("another"), std::string::npos) << absent.output;
  // Without an OPTIONS file, the families' options are found by trying.
  for (const auto& [name, bytes] : FilesIn(Path())) {
    if (name.starts_with("OPTIONS")) std::filesystem::remove(Path() + "/" + name);
  }
  check();
}

TEST_F(ToolEntriesTest, OptionsShowDefaultsThatDiffer) {
  {
    Options options = TheOptions();
    options.min_blob_size = 777;
    std::unique_ptr<DB> db;
    ASSERT_TRUE(DB::Open(options, Path(), &db).ok());
    ASSERT_TRUE(db->Close().ok());
  }
  const Ended all = RunTool("options " + Path());
  EXPECT_EQ(all.exit_code, kClean);
  EXPECT_NE(all.output.find("min_blob_size=777    (default: 512)\n"), std::string::npos) << all.output;
  EXPECT_NE(all.output.find("sweep_ratio=8\n"), std::string::npos) << all.output;
  const Ended changed = RunTool("options " + Path() + " --changed");
  EXPECT_NE(changed.output.find("min_blob_size=777"), std::string::npos) << changed.output;
  EXPECT_EQ(changed.output.find("sweep_ratio"), std::string::npos) << changed.output;
  EXPECT_EQ(changed.output.find("max_total_wal_size"), std::string::npos) << "not set\n" << changed.output;
  const nlohmann::json json = RunForJson("options " + Path());
  EXPECT_EQ(json.at("CFOptions \"default\"").at("min_blob_size").at("value"), "777");
  EXPECT_EQ(json.at("DBOptions").at("max_space_amplification").at("default"), "1.5");
}

}  // namespace
}  // namespace cambium::testing
