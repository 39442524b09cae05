// Tests reports of VerifyDB with many findings: damage in several places, unreadable files, and more findings than the
// report lists.
#include <algorithm>

#include "manifest/file_names.h"
#include "testing/mutant_scope.h"
#include "testing/test_store.h"

namespace cambium::testing {
namespace {

struct Verified {
  Status status;
  VerifyReport report;
};

// Verifies the store's files through a file system without faults.
Verified VerifyFiles(const TestStore& store, bool deep = true) {
  Options options = store.options;
  options.file_system = std::make_shared<SimFileSystem>(store.fs->Snapshot());
  Verified verified;
  verified.status = VerifyDB(kStorePath, options, {.deep = deep}, &verified.report);
  return verified;
}

std::size_t LinesWith(const std::vector<std::string>& lines, const std::string& part) {
  return static_cast<std::size_t>(
      std::ranges::count_if(lines, [&](const std::string& line) { return line.find(part) != std::string::npos; }));
}

// Values of 100 bytes are separated, those of 20 bytes are inline. All entries are in the tree, or in the lowest level.
void Fill(TestStore* store, int keys, std::size_t value_bytes) {
  for (int i = 0; i < keys; ++i) store->Put(NumberedKey(i), std::string(value_bytes, static_cast<char>('a' + i % 26)));
  store->Flush();
  store->Compact();
}

// Regression: the walk ended at the first damaged page, and the report had no other.
TEST(VerifyReportTest, EveryDamagedLeafOfATreeIsListed) {
  TestStore store;
  store.MustOpen();
  Fill(&store, 600, 20);
  store.MustClose();
  std::vector<std::string> files = store.FilesOf(TestsUseLsm() ? ".run" : ".idx");
  ASSERT_FALSE(files.empty());
  const auto bytes_of = [&](const std::string& path) { return store.Files().at(path).size(); };
  const std::string path = *std::ranges::max_element(files, {}, bytes_of);
  const std::uint64_t page = store.options.page_size;
  ASSERT_GT(bytes_of(path), 10 * page);
  for (const std::uint64_t at : {2 * page, 4 * page, 7 * page}) {
    ASSERT_TRUE(store.fs->tampering().FlipBit(path, at + 100, 3).ok());
  }
  const Verified verified = VerifyFiles(store);
  EXPECT_TRUE(verified.status.ok()) << verified.status.ToString();
  EXPECT_EQ(LinesWith(verified.report.problems, path + ":"), 3u) << verified.report.problems.size();
  EXPECT_EQ(verified.report.problem_count, verified.report.problems.size());
}

// Regression: for a value that was not flushed yet, only the record was checked, although reading it failed. Only
// forged bytes with a right checksum, or a defect of a codec, can cause this.
TEST(VerifyReportTest, ValueInTheTailOfTheLogThatDoesNotDecompressIsAProblem) {
  const MutantScope no_checksums(Mutant::kEveryChecksumMatches);
  for (const bool is_replaced : {false, true}) {
    SCOPED_TRACE(is_replaced ? "replaced" : "in use");
    TestStore store;
    store.options.blob_compression_type = CompressionType::kLZ4Compression;
    store.MustOpen();
    store.Put("forged_key", std::string(2000, 'a'));
    if (is_replaced) store.Put("forged_key", "new");
    store.MustClose();
    for (const std::string& path : store.FilesOf(".log")) {
      const std::size_t key = store.Files().at(path).find("forged_key");
      if (key == std::string::npos) continue;
      // The size before compression follows the key.
      ASSERT_TRUE(store.fs->tampering().FlipBit(path, key + std::string("forged_key").size(), 0).ok());
    }
    EXPECT_EQ(LinesWith(VerifyFiles(store).report.problems, "does not decompress"), is_replaced ? 0u : 1u);
    EXPECT_EQ(VerifyFiles(store, false).report.problem_count, 0u);
    store.MustOpen();
    EXPECT_EQ(store.Get("forged_key").find("does not decompress") != std::string::npos, !is_replaced);
  }
}

// Regression: an I/O error in one file hid the damage in all files after it.
TEST(VerifyReportTest, UnreadableFileDoesNotHideDamageInAnother) {
  TestStore store;
  store.MustOpen();
  Fill(&store, 600, 20);
  store.Put("large", std::string(10'000, 'l'));
  store.Flush();
  store.RunUntilIdle();
  const std::string pages = TestsUseLsm() ? ".run" : ".idx";
  const std::vector<std::string> of_default = store.FilesOf(pages);
  ColumnFamilyHandle* other = nullptr;
  ASSERT_TRUE(store.db->CreateColumnFamily(store.options, "other", &other).ok());
  for (int i = 0; i < 600; ++i) ASSERT_TRUE(store.db->Put({}, other, NumberedKey(i), "small").ok());
  ASSERT_TRUE(store.db->Flush({}, other).ok());
  ASSERT_TRUE(store.db->CompactRange({}, other, nullptr, nullptr).ok());
  ASSERT_TRUE(store.db->DestroyColumnFamilyHandle(other).ok());
  store.MustClose();
  std::string damaged;
  for (const std::string& path : store.FilesOf(pages)) {
    if (std::ranges::find(of_default, path) == of_default.end()) damaged = path;
  }
  ASSERT_NE(damaged, "");
  ASSERT_TRUE(store.fs->tampering().FlipBit(damaged, 2 * store.options.page_size + 100, 1).ok());
  for (const SimOpKind kind : {SimOpKind::kOpen, SimOpKind::kRead}) {
    for (const std::string& path : {of_default.front(), store.FilesOf(".val").front(), store.FilesOf(".log").front()}) {
      SCOPED_TRACE(SimOpName(kind) + (" of " + path));
      SimFault fault;
      fault.kind = kind;
      fault.matches = [path](SimOpKind, const std::string& its) { return its == path; };
      fault.sticky = true;
      fault.status = Status::IOError(path + ": injected");
      const auto fs = std::make_shared<SimFileSystem>(store.fs->Snapshot());
      fs->AddFault(fault);
      Options options = store.options;
      options.file_system = fs;
      VerifyReport report;
      const Status s = VerifyDB(kStorePath, options, {.deep = true}, &report);
      EXPECT_TRUE(s.IsIOError()) << s.ToString();
      EXPECT_GE(LinesWith(report.unreadable, path), 1u);
      EXPECT_EQ(report.unreadable_count, report.unreadable.size());
      EXPECT_EQ(LinesWith(report.problems, damaged), 1u);
      EXPECT_EQ(report.problems.size(), 1u) << report.problems.back();
    }
  }
}

// Open does not need an OPTIONS file, so even one that cannot be read is dead damage.
TEST(VerifyReportTest, OptionsFileThatIsADirectoryIsDeadDamage) {
  TestStore store;
  store.MustOpen();
  store.Put("key", "value");
  store.MustClose();
  const std::string path = FilePath(kStorePath, FileKind::kOptions, 99);
  ASSERT_TRUE(store.fs->CreateDirectory(path).ok());
  const Verified verified = VerifyFiles(store);
  EXPECT_TRUE(verified.status.ok()) << verified.status.ToString();
  EXPECT_TRUE(verified.report.problems.empty());
  EXPECT_EQ(LinesWith(verified.report.dead_damage, path), 1u);
}

// One that the system denies this process may be whole.
TEST(VerifyReportTest, DeniedOptionsFileIsUnreadable) {
  TestStore store;
  store.MustOpen();
  store.Put("key", "value");
  store.MustClose();
  const std::string path = store.FilesOf("OPTIONS").front();
  const auto fs = std::make_shared<SimFileSystem>(store.fs->Snapshot());
  SimFault fault;
  fault.matches = [path](SimOpKind kind, const std::string& its) { return kind == SimOpKind::kOpen && its == path; };
  fault.sticky = true;
  fault.status = Status::Denied(path + ": injected");
  fs->AddFault(fault);
  Options options = store.options;
  options.file_system = fs;
  VerifyReport report;
  const Status s = VerifyDB(kStorePath, options, {.deep = true}, &report);
  EXPECT_TRUE(s.IsDenied()) << s.ToString();
  EXPECT_EQ(LinesWith(report.unreadable, path), 1u);
  EXPECT_TRUE(report.dead_damage.empty());
}

// Regression: the report had a line for each value of a lost segment, and grew with the database.
TEST(VerifyReportTest, LostSegmentWithManyValuesGivesABoundedListAndTheRightCount) {
  constexpr int kValues = 3'000;
  TestStore store;
  store.options.blob_file_size = 4u << 20;
  store.options.write_buffer_size = 4u << 20;
  store.options.max_total_wal_size = 64u << 20;
  store.MustOpen();
  Fill(&store, kValues, 100);
  store.Put("last", "of another segment");
  store.MustClose();
  std::string lost;
  std::size_t largest = 0;
  for (const std::string& path : store.FilesOf(".log")) {
    const std::size_t size = store.Files().at(path).size();
    if (size > largest) largest = size, lost = path;
  }
  ASSERT_TRUE(store.fs->tampering().Remove(lost).ok());
  const Verified verified = VerifyFiles(store, false);
  EXPECT_TRUE(verified.status.ok()) << verified.status.ToString();
  EXPECT_EQ(verified.report.problems.size(), VerifyReport::kListedMax);
  // The segment itself, each of its values, and the log that Open could not replay.
  EXPECT_GE(verified.report.problem_count, kValues + 1u);
  EXPECT_LE(verified.report.problem_count, kValues + 3u);
}

// Regression: a file was taken for a named one if any named file had its number.
TEST(VerifyReportTest, OrphanIsRecognizedByKindAndNumber) {
  TestStore store;
  store.MustOpen();
  Fill(&store, 100, 100);
  store.MustClose();
  const std::string log = store.FilesOf(".log").front();
  const std::string orphan = log.substr(0, log.size() - 4) + ".run";
  ASSERT_TRUE(store.fs->tampering().Copy(log, orphan).ok());
  const Verified verified = VerifyFiles(store);
  EXPECT_TRUE(verified.status.ok()) << verified.status.ToString();
  EXPECT_TRUE(verified.report.problems.empty()) << verified.report.problems.front();
  EXPECT_EQ(LinesWith(verified.report.notes, orphan + ": orphan"), 1u);
  EXPECT_EQ(verified.report.note_count, verified.report.notes.size());
}

}  // namespace
}  // namespace cambium::testing
