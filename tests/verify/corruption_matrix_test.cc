// The corruption matrix: every kind of file x every kind of damage, after a clean shutdown and after a crash. Each
// damaged copy is opened, read completely and verified.
//
// Rules for every copy: reads return no wrong value, and no key that never existed. If a synced key is missing, an
// error names the file. If Open or a read fails, VerifyDB reports a problem. In addition, kExpected lists the outcomes
// of each kind of damage, so that a change of behaviour shows in review.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <set>

#include "testing/test_store.h"
#include "index/page_format.h"
#include "testing/damage.h"
#include "testing/damage_subject.h"
#include "testing/mutant_scope.h"
#include "testing/scale.h"
#include "testing/seed.h"
#include "util/coding.h"
#include "util/prng.h"

namespace cambium::testing {
namespace {

// ---- Judging a damaged copy ----

enum class Outcome : char { kOpen = 'O', kRead = 'R', kHarmless = 'H' };

struct Verdict {
  Outcome outcome = Outcome::kHarmless;
  std::string violation;  // a violation of the rules above, or ""
  Status status;          // the first error
};

// The file system's own error counts as honest if a directory is in the place of a file.
bool IsHonest(const Status& s) {
  const bool is_directory = s.IsIOError() && s.message().find("is a directory") != std::string_view::npos;
  return s.IsCorruption() || s.IsNotSupported() || is_directory;
}

std::unique_ptr<TestStore> StoreOn(std::shared_ptr<SimFileSystem> fs) {
  auto store = std::make_unique<TestStore>(std::move(fs));
  UseSubjectOptions(&store->options);
  return store;
}

// Reads everything by Get and by an iterator. Returns what is wrong, or "". *error is the first honest error.
std::string ReadAll(DB* db, const Subject& subject, Status* error) {
  const auto judge = [&](const std::string& key, const Status& s, Slice value) -> std::string {
    const auto must = subject.model.find(key);
    const auto may = subject.maybe.find(key);
    if (s.ok()) {
      if (must != subject.model.end() && value == Slice(must->second)) return "";
      if (may != subject.maybe.end() && value == Slice(may->second)) return "";
      return "key " + key + " has a wrong value";
    }
    if (s.IsNotFound()) return must == subject.model.end() ? "" : "key " + key + " is missing";
    if (!IsHonest(s)) return "key " + key + ": " + s.ToString();
    if (error->ok()) *error = s;
    return "";
  };
  std::string value;
  for (const Model* each : {&subject.model, &subject.maybe}) {
    for (const auto& [key, expected] : *each) {
      const Status s = db->Get({}, key, &value);
      if (std::string wrong = judge(key, s, value); !wrong.empty()) return wrong;
    }
  }
  for (const char* absent : {"t120", "t130", "t1", "zz"}) {
    const Status s = db->Get({}, absent, &value);
    if (!s.IsNotFound() && !IsHonest(s)) return std::string(absent) + " should not exist: " + s.ToString();
    if (IsHonest(s) && error->ok()) *error = s;
  }
  const std::unique_ptr<Iterator> it(db->NewIterator({}));
  std::size_t seen = 0;
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    const std::string key = it->key().ToString();
    if (!subject.model.contains(key) && !subject.maybe.contains(key)) return "the iterator shows " + key;
    seen += subject.model.contains(key) ? 1 : 0;
    const std::string shown = it->value().ToString();
    if (std::string wrong = judge(key, it->status(), shown); !wrong.empty()) return "iterator: " + wrong;
  }
  if (!it->status().ok()) {
    if (!IsHonest(it->status())) return "iterator: " + it->status().ToString();
    if (error->ok()) *error = it->status();
  } else if (seen != subject.model.size()) {
    return "the iterator shows " + std::to_string(seen) + " of " + std::to_string(subject.model.size()) + " keys";
  }
  return "";
}

// The error says which file is damaged, and at which offset: "/db/000004.run:1536". It names no other file.
bool NamesPlace(const Status& s, const std::string& path) {
  const std::string text = s.ToString();
  const std::string directory = std::string(kStorePath) + "/";
  for (std::size_t at = text.find(directory); at != std::string::npos; at = text.find(directory, at + 1)) {
    const std::size_t end = at + path.size();
    const bool is_longer = end < text.size() && std::isalnum(static_cast<unsigned char>(text[end])) != 0;
    if (text.compare(at, path.size(), path) != 0 || is_longer) return false;
  }
  const std::size_t at = text.find(path + ":");
  return at != std::string::npos && std::isdigit(static_cast<unsigned char>(text[at + path.size() + 1])) != 0;
}

Verdict Judge(const std::shared_ptr<SimFileSystem>& fs, const Subject& subject, bool merge_too) {
  Verdict verdict;
  const auto verifier = StoreOn(fs);
  VerifyReport report;
  const Status verified = VerifyDB(kStorePath, verifier->options, {.deep = true}, &report);
  const auto store = StoreOn(fs);
  const auto before = store->Files();
  const Status opened = store->Open();
  if (!opened.ok()) {
    verdict.outcome = Outcome::kOpen;
    verdict.status = opened;
    if (!IsHonest(opened)) {
      verdict.violation = "Open: " + opened.ToString();
    } else if (store->Files() != before) {
      verdict.violation = "Open failed and changed files: " + opened.ToString();
    }
  } else {
    verdict.violation = ReadAll(store->db.get(), subject, &verdict.status);
    if (!verdict.status.ok()) verdict.outcome = Outcome::kRead;
    if (verdict.violation.empty() && merge_too) {
      // A compaction must not turn an unreadable entry into a readable one, or drop it.
      const Status merged = store->db->CompactRange({}, nullptr, nullptr);
      if (!merged.ok() && !IsHonest(merged)) verdict.violation = "CompactRange: " + merged.ToString();
      Status after;
      if (verdict.violation.empty()) verdict.violation = ReadAll(store->db.get(), subject, &after);
    }
    static_cast<void>(store->db->Close());
  }
  if (verdict.violation.empty() && !verdict.status.ok() && verified.ok() && report.problems.empty()) {
    verdict.violation = "VerifyDB finds no problem, but the reader fails: " + verdict.status.ToString();
  }
  return verdict;
}

// ---- The matrix ----

struct Row {
  const char* file;
  const char* damage;
  const char* clean;    // outcomes after a clean shutdown: O(pen fails), R(ead fails), H(armless)
  const char* crashed;  // outcomes after a crash
};

// Empty outcomes: the test has no older copy of such a file. Damage is harmless if it hits padding, free space of a
// page, a footer or filter that reads do not need, or the end of an unsynced tail. VerifyDB may still report it.
const Row kExpected[] = {
    {"MANIFEST", "16 random bytes", "HO", "HO"},
    {"MANIFEST", "a directory", "O", "O"},
    {"MANIFEST", "another database's", "O", "O"},
    {"MANIFEST", "cut off", "HO", "O"},
    {"MANIFEST", "deleted", "O", "O"},
    {"MANIFEST", "empty", "O", "O"},
    {"MANIFEST", "flip a bit", "HO", "O"},
    {"MANIFEST", "garbage appended", "H", "H"},
    {"MANIFEST", "older copy", "O", "O"},
    {"MANIFEST", "swap two blocks", "O", "O"},
    {"MANIFEST", "zero 512 bytes", "O", "O"},
    {"compressed level", "16 random bytes", "HOR", "HOR"},
    {"compressed level", "a directory", "O", "O"},
    {"compressed level", "another database's", "O", "O"},
    {"compressed level", "cut off", "O", "O"},
    {"compressed level", "deleted", "O", "O"},
    {"compressed level", "empty", "O", "O"},
    {"compressed level", "flip a bit", "HOR", "HOR"},
    {"compressed level", "garbage appended", "O", "O"},
    {"compressed level", "older copy", "", ""},
    {"compressed level", "swap two blocks", "OR", "OR"},
    {"compressed level", "zero 512 bytes", "OR", "OR"},
    {"index", "16 random bytes", "HOR", "HOR"},
    {"index", "a directory", "O", "O"},
    {"index", "another database's", "O", "O"},
    {"index", "cut off", "O", "O"},
    {"index", "deleted", "O", "O"},
    {"index", "empty", "O", "O"},
    {"index", "flip a bit", "HOR", "HOR"},
    {"index", "garbage appended", "H", "H"},
    {"index", "older copy", "", ""},
    {"index", "swap two blocks", "OR", "OR"},
    {"index", "zero 512 bytes", "OR", "OR"},
    {"level", "16 random bytes", "HOR", "HOR"},
    {"level", "a directory", "O", "O"},
    {"level", "another database's", "O", "O"},
    {"level", "cut off", "O", "O"},
    {"level", "deleted", "O", "O"},
    {"level", "empty", "O", "O"},
    {"level", "flip a bit", "HOR", "HOR"},
    {"level", "garbage appended", "O", "O"},
    {"level", "older copy", "", ""},
    {"level", "swap two blocks", "OR", "OR"},
    {"level", "zero 512 bytes", "OR", "OR"},
    {"large value", "16 random bytes", "HOR", "HOR"},
    {"large value", "a directory", "O", "O"},
    {"large value", "another database's", "O", "O"},
    {"large value", "cut off", "O", "O"},
    {"large value", "deleted", "O", "O"},
    {"large value", "empty", "O", "O"},
    {"large value", "flip a bit", "HOR", "HOR"},
    {"large value", "garbage appended", "H", "H"},
    {"large value", "older copy", "", ""},
    {"large value", "swap two blocks", "OR", "OR"},
    {"large value", "zero 512 bytes", "OR", "OR"},
    {"open log", "16 random bytes", "HOR", "HOR"},
    {"open log", "a directory", "O", "O"},
    {"open log", "another database's", "O", "O"},
    {"open log", "cut off", "O", "HO"},
    {"open log", "deleted", "O", "O"},
    {"open log", "empty", "O", "O"},
    {"open log", "flip a bit", "HOR", "HOR"},
    {"open log", "garbage appended", "H", "H"},
    {"open log", "older copy", "O", "O"},
    {"open log", "swap two blocks", "OR", "OR"},
    {"open log", "zero 512 bytes", "OR", "OR"},
    {"run", "16 random bytes", "HOR", "HOR"},
    {"run", "a directory", "O", "O"},
    {"run", "another database's", "O", "O"},
    {"run", "cut off", "O", "O"},
    {"run", "deleted", "O", "O"},
    {"run", "empty", "O", "O"},
    {"run", "flip a bit", "HOR", "HOR"},
    {"run", "garbage appended", "O", "O"},
    {"run", "older copy", "", ""},
    {"run", "swap two blocks", "OR", "OR"},
    {"run", "zero 512 bytes", "OR", "OR"},
    {"sealed log", "16 random bytes", "HOR", "HOR"},
    {"sealed log", "a directory", "O", "O"},
    {"sealed log", "another database's", "O", "O"},
    {"sealed log", "cut off", "HO", "HO"},
    {"sealed log", "deleted", "O", "O"},
    {"sealed log", "empty", "O", "O"},
    {"sealed log", "flip a bit", "HOR", "HOR"},
    {"sealed log", "garbage appended", "H", "H"},
    {"sealed log", "older copy", "", ""},
    {"sealed log", "swap two blocks", "HOR", "HOR"},
    {"sealed log", "zero 512 bytes", "HOR", "HOR"},
};

// The outcomes of each file and damage.
using Seen = std::map<std::pair<std::string, std::string>, std::string>;
using NamedFiles = std::vector<std::pair<std::string, std::string>>;  // the name in kExpected, and the path

class Matrix {
 public:
  // Damages each file that `files` returns, in every way.
  void Attack(End end, CompressionType compression, const std::function<NamedFiles(const Subject&)>& files) {
    const Subject subject = MakeSubject(7, end, false, compression);
    const Subject older = MakeSubject(7, end, true, compression);
    const Subject other = MakeSubject(8, end, false, compression);
    {
      const Verdict untouched = Judge(std::make_shared<SimFileSystem>(subject.image), subject, true);
      ASSERT_EQ(untouched.violation, "");
      ASSERT_TRUE(untouched.outcome == Outcome::kHarmless) << untouched.status.ToString();
    }
    for (const auto& [file, path] : files(subject)) {
      std::string bytes;
      ASSERT_TRUE(SimFileSystem(subject.image).probe().ReadContents(path, &bytes).ok()) << path;
      for (const Damage& damage : Damages(older.image, other.image)) {
        std::set<char> outcomes;
        std::uint64_t made = 0;
        damage.apply(path, bytes, prng_, [&, file = file, path = path](const Damage::Change& change) {
          if (made++ % kSweepStep != 0) return;
          const auto fs = std::make_shared<SimFileSystem>(subject.image);
          ASSERT_TRUE(change(fs.get()).ok());
          const Verdict verdict = Judge(fs, subject, images_++ % 4 == 0);
          outcomes.insert(static_cast<char>(verdict.outcome));
          EXPECT_EQ(verdict.violation, "") << file << " (" << path << "), " << damage.name << ", "
                                           << (end == End::kClean ? "clean" : "crashed") << ", image " << images_;
          if (!verdict.status.ok()) {
            EXPECT_NE(verdict.status.ToString().find(kStorePath), std::string::npos) << verdict.status.ToString();
          }
          if (verdict.outcome == Outcome::kRead && verdict.status.IsCorruption()) {
            EXPECT_TRUE(NamesPlace(verdict.status, path)) << file << ", " << damage.name << ": "
                                                          << verdict.status.ToString();
          }
        });
        seen_[static_cast<std::size_t>(end)][{file, damage.name}] = std::string(outcomes.begin(), outcomes.end());
      }
    }
  }

  void Compare() const {
    std::printf("%llu damaged databases\n", static_cast<unsigned long long>(images_));
    std::map<std::pair<std::string, std::string>, const Row*> expected;
    for (const Row& row : kExpected) {
      const bool is_of_other_index = row.file == std::string(TestsUseLsm() ? "index" : "level") ||
                                     (!TestsUseLsm() && row.file == std::string("compressed level"));
      if (!is_of_other_index) expected[{row.file, row.damage}] = &row;
    }
    std::string table;
    // Random damage may miss an outcome, and a longer run may find more outcomes.
    const auto fits = [](const std::string& damage, const std::string& outcomes, const std::string& wanted) {
      const bool exact = damage != "16 random bytes" && damage != "swap two blocks" && !kUnderSanitizer;
      if (exact && ScaleFromEnvironment() == 1) return outcomes == wanted;
      return std::all_of(outcomes.begin(), outcomes.end(), [&](char c) { return wanted.find(c) != std::string::npos; });
    };
    bool same = expected.size() == seen_[0].size();
    for (const auto& [cell, outcomes] : seen_[0]) {
      const std::string crashed = seen_[1].at(cell);
      table += "{\"" + cell.first + "\", \"" + cell.second + "\", \"" + outcomes + "\", \"" + crashed + "\"},\n";
      const auto row = expected.find(cell);
      same = same && row != expected.end() && fits(cell.second, outcomes, row->second->clean) &&
             fits(cell.second, crashed, row->second->crashed);
    }
    EXPECT_TRUE(same) << "the new table:\n" << table;
  }

 private:
  Prng prng_{SeedFromEnvironment(101)};
  Seen seen_[2];
  std::uint64_t images_ = 0;
};

int CompressedLeavesOf(const Subject& subject) {
  std::string bytes;
  EXPECT_TRUE(SimFileSystem(subject.image).probe().ReadContents(subject.index, &bytes).ok());
  int leaves = 0;
  for (std::size_t at = 0; at + kPageSizeMin <= bytes.size(); at += kPageSizeMin) {
    const bool is_page = DecodeFixed<std::uint64_t>(bytes.data() + at + 8) != 0;  // its id
    leaves += is_page && bytes[at + 16] == static_cast<char>(PageType::kCompressedLeaf) ? 1 : 0;
  }
  return leaves;
}

TEST(CorruptionMatrixTest, EveryDamageHasTheExpectedOutcome) {
  Matrix matrix;
  for (const End end : {End::kClean, End::kCrash}) {
    matrix.Attack(end, CompressionType::kNoCompression, [](const Subject& subject) {
      return NamedFiles{{"MANIFEST", subject.manifest},
                        {"open log", subject.open_log},
                        {"sealed log", subject.sealed_log},
                        {"run", subject.run},
                        {TestsUseLsm() ? "level" : "index", subject.index},
                        {"large value", subject.large}};
    });
    if (!TestsUseLsm()) continue;
    matrix.Attack(end, CompressionType::kLZ4Compression, [](const Subject& subject) {
      EXPECT_GT(CompressedLeavesOf(subject), 0);
      return NamedFiles{{"compressed level", subject.index}};
    });
  }
  matrix.Compare();
}

// ---- Rules that the matrix relies on ----

// Rule D3: damage of any byte of the log below the durable witness must give an error. Returns the number of bytes
// whose damage broke a rule.
int SilentLosses(const Subject& subject, bool names_offset) {
  std::string bytes;
  EXPECT_TRUE(SimFileSystem(subject.image).probe().ReadContents(subject.open_log, &bytes).ok());
  int silent = 0;
  for (std::uint64_t at = 0; at < bytes.size(); at += kSweepStep * (bytes.size() > 3'000 ? 5 : 1)) {
    const auto fs = std::make_shared<SimFileSystem>(subject.image);
    EXPECT_TRUE(fs->tampering().FlipBit(subject.open_log, at, static_cast<int>(at % 8)).ok());
    const Verdict verdict = Judge(fs, subject, false);
    if (!verdict.violation.empty()) ++silent;
    if (names_offset && verdict.outcome == Outcome::kOpen) {
      EXPECT_NE(verdict.status.ToString().find(subject.open_log + ":"), std::string::npos) << verdict.status.ToString();
    }
  }
  return silent;
}

TEST(DurableWitnessTest, DamageBelowTheWitnessIsCorruptionAndNotLoss) {
  const Subject subject = MakeSubject(7, End::kCrash);
  EXPECT_EQ(SilentLosses(subject, true), 0);
  const MutantScope mutant(Mutant::kIgnoreDurableWitness);
  EXPECT_GT(SilentLosses(subject, false), 0);
}

TEST(CorruptionMatrixModesTest, EachModeHandlesDamageAsDocumented) {
  const Subject subject = MakeSubject(7, End::kCrash);
  std::string bytes;
  ASSERT_TRUE(SimFileSystem(subject.image).probe().ReadContents(subject.open_log, &bytes).ok());
  const std::size_t in_u1 = bytes.rfind("u1") + 10;
  ASSERT_LT(in_u1, bytes.size());
  const auto open = [&](WALRecoveryMode mode, const std::function<Status(SimFileSystem*)>& damage) {
    const auto fs = std::make_shared<SimFileSystem>(subject.image);
    EXPECT_TRUE(damage(fs.get()).ok());
    auto store = StoreOn(fs);
    store->options.wal_recovery_mode = mode;
    return std::pair(store->Open(), std::move(store));
  };
  const auto below = [&](SimFileSystem* fs) { return fs->tampering().FlipBit(subject.open_log, in_u1, 0); };
  const std::size_t end = bytes.find_last_not_of('\0') + 1;  // the file may have grown ahead
  const auto torn = [&](SimFileSystem* fs) { return fs->tampering().Truncate(subject.open_log, end - 9); };
  EXPECT_TRUE(open(WALRecoveryMode::kTolerateCorruptedTailRecords, below).first.IsCorruption());
  const Status tolerated = open(WALRecoveryMode::kTolerateCorruptedTailRecords, torn).first;
  EXPECT_TRUE(tolerated.ok()) << tolerated.ToString();
  EXPECT_TRUE(open(WALRecoveryMode::kAbsoluteConsistency, below).first.IsCorruption());
  EXPECT_TRUE(open(WALRecoveryMode::kAbsoluteConsistency, torn).first.IsCorruption());
  const auto [opened, store] = open(WALRecoveryMode::kPointInTimeRecovery, below);
  ASSERT_TRUE(opened.ok()) << opened.ToString();
  EXPECT_EQ(store->Get("u0"), subject.model.at("u0"));  // the prefix
  EXPECT_EQ(store->Get("u1"), "NotFound");
  EXPECT_EQ(store->Get("u2"), "NotFound");
  store->Put("u2", "new", true);
  store->MustClose();
  store->MustOpen();
  EXPECT_EQ(store->Get("u2"), "new");
  EXPECT_EQ(store->Get("u3"), "NotFound");  // the lost operations do not return
  store->MustClose();
  EXPECT_EQ(store->Verify(), "");
}

// Hazards H30, H31: a crash after a rotated segment received its footer and before the MANIFEST sealed it. Then the
// link in the next segment gives the end of the log in this segment. Without it, the footer would be taken for damage.
int FailuresAfterCrashesWhileSegmentsAreSealed() {
  std::vector<SimImage> images;
  {
    TestStore store;
    store.options.blob_file_size = 16 << 10;
    store.MustOpen();
    for (int i = 0; i < 60; ++i) store.Put("k" + std::to_string(i), std::string(1000, 'v'), true);
    store.fs->AddHook([&](const SimOp&) { images.push_back(store.fs->Snapshot()); });
    store.executor->RunAll();
    store.fs->PowerOff();
    store.db.reset();
  }
  int failed = 0;
  Prng prng(5);
  for (const SimImage& image : images) {
    TestStore after(std::make_shared<SimFileSystem>(image.Kill(prng)));
    after.options.blob_file_size = 16 << 10;
    if (!after.Open().ok()) {
      ++failed;
      continue;
    }
    for (int i = 0; i < 60; ++i) {
      if (after.Get("k" + std::to_string(i)) != std::string(1000, 'v')) ++failed;
    }
  }
  EXPECT_GT(images.size(), 10u);
  return failed;
}

TEST(LogChainTest, LinkGivesTheEndOfAnUnsealedSegment) {
  EXPECT_EQ(FailuresAfterCrashesWhileSegmentsAreSealed(), 0);
  const MutantScope mutant(Mutant::kIgnoreChain);
  EXPECT_GT(FailuresAfterCrashesWhileSegmentsAreSealed(), 0);
}

// Rule D6: if a log segment that the MANIFEST names is missing, Open returns Corruption. This also holds for the newest
// segment.
TEST(LogChainTest, MissingSegmentIsCorruption) {
  for (const End end : {End::kClean, End::kCrash}) {
    const Subject subject = MakeSubject(7, end);
    for (const auto& file : SimFileSystem(subject.image).probe().ListFiles()) {
      if (!file.path.ends_with(".log")) continue;
      const auto fs = std::make_shared<SimFileSystem>(subject.image);
      ASSERT_TRUE(fs->tampering().Remove(file.path).ok());
      const auto store = StoreOn(fs);
      const Status s = store->Open();
      EXPECT_TRUE(s.IsCorruption()) << file.path;
      EXPECT_NE(s.ToString().find(file.path), std::string::npos) << s.ToString();
    }
  }
}

// Only the name in the MANIFEST shows this loss: no segment follows, and no other record has a witness of its syncs.
Status OpenWithoutTheOnlySegment() {
  TestStore store;
  store.MustOpen();
  store.Put("a", "1", true);
  Prng prng(1);
  TestStore after(std::make_shared<SimFileSystem>(store.fs->Snapshot().Kill(prng)));
  const std::vector<std::string> logs = after.FilesOf(".log");
  EXPECT_EQ(logs.size(), 1u);
  EXPECT_TRUE(after.fs->tampering().Remove(logs.back()).ok());
  return after.Open();
}

TEST(LogChainTest, NameInTheManifestDetectsAMissingNewestSegment) {
  EXPECT_TRUE(OpenWithoutTheOnlySegment().IsCorruption());
  const MutantScope mutant(Mutant::kIgnoreMissingSegment);
  EXPECT_TRUE(OpenWithoutTheOnlySegment().ok());
}

}  // namespace
}  // namespace cambium::testing
