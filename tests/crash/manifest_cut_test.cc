// The MANIFEST loses its end: it is cut off at each of its records, in databases at many moments of their lives.
// Nothing else is damaged, so all data can still be proven or salvaged.
//
// Must hold for every cut: either Open succeeds, and then everything is there that the uncut database has; or Open
// fails, names a file, and changes none. Then a salvage finds every key, with its newest value unless it reports the
// value as unproven.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cambium/checkpoint.h"
#include "cambium/listener.h"
#include "cambium/repair.h"
#include "manifest/file_names.h"
#include "manifest/manifest_reader.h"
#include "testing/grown_subject.h"
#include "testing/hook_scope.h"
#include "testing/mutant_scope.h"
#include "testing/program/program_database.h"
#include "testing/program/runner.h"
#include "testing/scale.h"
#include "testing/seed.h"

namespace cambium::testing {
namespace {

constexpr const char* kOutPath = "/out";
static_assert(std::string_view(kStorePath) == kSimDatabasePath);

using Entries = std::map<std::string, std::string>;  // by "family/key"
using SetOptions = std::function<void(FamilyStore*)>;

// Opens the database with all its families, or `path` for reading only, and reads everything.
Status ReadEntries(FamilyStore* store, Entries* entries) {
  std::vector<std::string> names;
  CAMBIUM_RETURN_IF_ERROR(DB::ListColumnFamilies(store->options, kStorePath, &names));
  std::erase(names, kDefaultColumnFamilyName);
  CAMBIUM_RETURN_IF_ERROR(store->OpenWith(names));
  Status first;
  for (ColumnFamilyHandle* const handle : store->handles) {
    const std::unique_ptr<Iterator> it(store->db->NewIterator({}, handle));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      (*entries)[handle->GetName() + "/" + it->key().ToString()] = it->value().ToString();
    }
    if (first.ok()) first = it->status();
  }
  return first;
}

class Cutter {
 public:
  // Cuts the MANIFEST of the image at each of its records. `set_options` is called for every store that opens it.
  void CutAll(const SimImage& image, const SetOptions& set_options) {
    Entries expected;
    const Status whole = Read(std::make_shared<SimFileSystem>(image), set_options, &expected);
    if (!whole.ok()) return Violation("the uncut database: " + whole.ToString());
    std::string manifest;
    std::vector<std::uint64_t> ends;
    FindRecords(image, &manifest, &ends);
    for (const std::uint64_t end : ends) {
      if (!violation_.empty()) return;
      const auto fs = std::make_shared<SimFileSystem>(image);
      EXPECT_TRUE(fs->tampering().Truncate(manifest, end).ok());
      where_ = manifest + " cut at " + std::to_string(end) + " of " + std::to_string(ends.back());
      Judge(fs, set_options, expected);
    }
  }
  [[nodiscard]] const std::string& violation() const { return violation_; }
  void Print() const {
    std::printf("%llu cuts: %llu opened with everything, %llu refused; salvage: %llu with all proven\n",
                static_cast<unsigned long long>(opened_ + refused_), static_cast<unsigned long long>(opened_),
                static_cast<unsigned long long>(refused_), static_cast<unsigned long long>(proven_));
  }
  [[nodiscard]] std::uint64_t opened() const { return opened_; }
  [[nodiscard]] std::uint64_t refused() const { return refused_; }

 private:
  static void FindRecords(const SimImage& image, std::string* manifest, std::vector<std::uint64_t>* ends) {
    SimFileSystem fs(image);
    const Result<ManifestRead> current = ReadManifest(fs, kStorePath);
    ASSERT_TRUE(current.ok()) << current.status().ToString();
    *manifest = cambium::FilePath(kStorePath, FileKind::kManifest, current->number);
    ManifestRead read;
    const auto note = [ends](const ManifestRecordSeen& record) { ends->push_back(record.offset + record.size); };
    ASSERT_TRUE(ReadManifestFile(fs, *manifest, note, &read).ok());
  }

  static Status Read(std::shared_ptr<SimFileSystem> fs, const SetOptions& set_options, Entries* entries) {
    FamilyStore store(std::move(fs));
    set_options(&store);
    const Status s = ReadEntries(&store, entries);
    store.DestroyHandles();
    return s;
  }

  static Status CopyOf(const SimImage& cut, const SetOptions& set_options) {
    FamilyStore store(std::make_shared<SimFileSystem>(cut));
    set_options(&store);
    return CheckpointOffline(store.options, kStorePath, kOutPath);
  }

  void Judge(const std::shared_ptr<SimFileSystem>& fs, const SetOptions& set_options, const Entries& expected) {
    const SimImage cut = fs->Snapshot();
    const auto before = FilesOfDatabase(*fs);
    Entries entries;
    const Status s = Read(fs, set_options, &entries);
    if (s.ok()) {
      ++opened_;
      if (entries != expected) Violation("opened without an error, and " + Difference(entries, expected));
      return;
    }
    ++refused_;
    if (!s.IsCorruption() || s.ToString().find(std::string(kStorePath) + "/") == std::string::npos) {
      return Violation("refused without the name of a file: " + s.ToString());
    }
    if (FilesOfDatabase(*fs) != before) return Violation("refused, and files were changed: " + s.ToString());
    if (CopyOf(cut, set_options).ok()) return Violation("refused by Open, and a checkpoint was made: " + s.ToString());
    Salvage(cut, set_options, expected, s.ToString());
  }

  void Salvage(const SimImage& cut, const SetOptions& set_options, const Entries& expected,
               const std::string& refusal) {
    FamilyStore store(std::make_shared<SimFileSystem>(cut));
    set_options(&store);
    std::vector<ColumnFamilyDescriptor> families{{kDefaultColumnFamilyName, store.options}};
    for (const auto& [name, options] : store.family_options) families.emplace_back(name, options);
    RepairOptions how;
    how.include_unproven = true;
    std::set<std::string> unproven;
    how.on_unproven = [&](const RepairUnproven& each) { unproven.insert(each.key); };
    RepairReport report;
    const Status repaired = RepairDB(kStorePath, kOutPath, store.options, families, how, &report);
    if (!repaired.ok()) return Violation("refused: " + refusal + "; salvage: " + repaired.ToString());
    Entries found;
    ReadOut(store, &found);
    if (unproven.empty()) ++proven_;
    for (const auto& [name, value] : expected) {
      const std::string key = name.substr(name.find('/') + 1);
      const auto its = std::ranges::find_if(found, [&key, &whole = name](const auto& each) {
        return each.first == whole || (each.first.starts_with("salvaged-") && each.first.ends_with("/" + key));
      });
      if (its == found.end()) return Violation("refused: " + refusal + "; salvage: " + Quote(name) + " is missing");
      if (its->second != value && !unproven.contains(key)) {
        return Violation("refused: " + refusal + "; salvage: " + Quote(name) + " has another value");
      }
    }
  }

  static void ReadOut(const FamilyStore& store, Entries* found) {
    std::vector<std::string> names;
    ASSERT_TRUE(DB::ListColumnFamilies(store.options, kOutPath, &names).ok());
    std::vector<ColumnFamilyDescriptor> families;
    for (const std::string& name : names) families.emplace_back(name, store.OptionsOf(name));
    std::vector<ColumnFamilyHandle*> handles;
    std::unique_ptr<DB> db;
    const Status opened = DB::OpenForReadOnly(store.options, kOutPath, families, &handles, &db);
    ASSERT_TRUE(opened.ok()) << opened.ToString();
    for (ColumnFamilyHandle* const handle : handles) {
      const std::unique_ptr<Iterator> it(db->NewIterator({}, handle));
      for (it->SeekToFirst(); it->Valid(); it->Next()) {
        (*found)[handle->GetName() + "/" + it->key().ToString()] = it->value().ToString();
      }
      EXPECT_TRUE(it->status().ok()) << it->status().ToString();
    }
    for (ColumnFamilyHandle* const handle : handles) delete handle;
  }

  static std::string Difference(const Entries& found, const Entries& expected) {
    for (const auto& [name, value] : expected) {
      const auto its = found.find(name);
      if (its == found.end()) return Quote(name) + " is missing";
      if (its->second != value) return Quote(name) + " has another value";
    }
    for (const auto& [name, value] : found) {
      if (!expected.contains(name)) return Quote(name) + " is there, and was deleted";
    }
    return "nothing differs";
  }

  void Violation(const std::string& what) {
    if (violation_.empty()) violation_ = where_ + ": " + what;
  }

  std::string where_ = "not cut";
  std::string violation_;
  std::uint64_t opened_ = 0;
  std::uint64_t refused_ = 0;
  std::uint64_t proven_ = 0;
};

// ---- Random programs ----

SetOptions OptionsOf(const Program& program) {
  return [config = program.config](FamilyStore* store) {
    config.ApplyTo(&store->options);
    UseIndexOfTest(&store->options);
  };
}

// Runs the program, and cuts the MANIFESTs of a few moments: within operations, between them, and after Close. A write
// in progress may be there or not, so no moment is within a write.
void CutProgram(std::uint64_t seed, Cutter* cutter) {
  ProgramShape shape;
  shape.operations = 60;
  shape.value_size_max = 6000;
  shape.batch_size_max = 8;
  shape.key_count_max = 24;
  shape.reads = false;
  shape.long_keys = false;
  shape.filters = false;  // values that a filter has removed may come back
  const Program program = DrawProgram(seed, shape);
  const auto fs = std::make_shared<SimFileSystem>();
  ProgramDatabase database(program.config, fs, program.seed);
  ASSERT_TRUE(database.Open().ok());
  Runner runner(program, &database, NewTimeline(program), {});
  Prng prng(seed);
  std::vector<SimImage> images;
  bool in_write = false;
  const HookScope hook(fs, [&](const SimOp& op) {
    if (op.phase == SimPhase::kBefore && !in_write && prng.OneIn(60)) images.push_back(fs->Snapshot());
  });
  for (const Operation& op : program.operations) {
    in_write = op.verb == Operation::Verb::kWrite;
    const std::string wrong = runner.Run(op);
    ASSERT_EQ(wrong, "");
    in_write = false;
    if (prng.OneIn(12)) images.push_back(fs->Snapshot());
  }
  images.push_back(fs->Snapshot());
  runner.ReleaseAll();
  ASSERT_TRUE(database.Close().ok());
  images.push_back(fs->Snapshot());
  for (const SimImage& image : images) {
    Prng kill(seed);
    cutter->CutAll(image.Kill(kill), OptionsOf(program));
    if (!cutter->violation().empty()) {
      FAIL() << "CAMBIUM_SEED=" << seed << "\n" << cutter->violation() << "\n" << program.ToString();
    }
  }
}

TEST(ManifestCutTest, EveryCutOfRandomProgramsIsNoticedOrHarmless) {
  const std::uint64_t first = SeedFromEnvironment(1);
  Cutter cutter;
  for (std::uint64_t seed = first; seed < first + ScaledPrograms(100); ++seed) {
    CutProgram(seed, &cutter);
    if (HasFatalFailure()) return;
  }
  cutter.Print();
  EXPECT_GT(cutter.opened(), 0u);
  EXPECT_GT(cutter.refused(), 0u);
}

// ---- Databases with a history ----

TEST(ManifestCutTest, EveryCutOfAGrownDatabaseIsNoticedOrHarmless) {
  Cutter cutter;
  for (const grown::Subject& subject :
       {grown::Families(), grown::Collected(), grown::Punched(), grown::LargeValues()}) {
    for (const SimImage* image : {&subject.image, &subject.older}) {
      Prng kill(1);
      cutter.CutAll(image->Kill(kill), subject.set_options);
      ASSERT_EQ(cutter.violation(), "") << subject.name;
    }
  }
  cutter.Print();
}

void UseInlineValues(FamilyStore* store) {
  store->options.enable_blob_files = false;
  store->options.blob_file_size = 16u << 10;
  store->options.max_space_amplification = 1.5;
  // With an LSM, older files stay when newer ones come.
  store->options.level0_file_num_compaction_trigger = 50;
  store->options.level0_slowdown_writes_trigger = 60;
  store->options.level0_stop_writes_trigger = 70;
}

// In each round a few inline values are written and flushed. When no write comes, the log is sealed, and its segments
// are dropped. If `reopened`, each round is an Open of its own: its first MANIFEST record names no segment that will
// take writes. Otherwise the first segments have values that stay, and so they stay too.
std::vector<SimImage> ImagesWithoutALog(bool reopened) {
  std::vector<SimImage> images;
  FamilyStore store;
  UseInlineValues(&store);
  store.options.enable_blob_files = !reopened;
  store.options.min_blob_size = 64;
  store.MustOpenWith({});
  // Keys of their own, so that no compaction replaces the files of earlier rounds: a missing file would show the loss.
  const int step = reopened ? 250 : 150;
  for (int round = 0; round < 3; ++round) {
    if (!reopened) store.Put("separated" + std::to_string(round), std::string(9'000, 's'));
    for (int i = 0; i < 200; ++i)
      store.Put(NumberedKey(round * step + i), std::string(50, static_cast<char>('a' + round)));
    EXPECT_TRUE(store.db->Delete({}, NumberedKey(round * step)).ok());
    store.Flush();
    images.push_back(store.fs->Snapshot());
    store.LetSecondsPass(10);
    images.push_back(store.fs->Snapshot());
    if (!reopened) continue;
    store.Close();
    images.push_back(store.fs->Snapshot());
    store.MustOpenWith({});
  }
  store.Close();
  images.push_back(store.fs->Snapshot());
  return images;
}

std::string FirstUnnoticedLossWithoutALog(bool reopened) {
  Cutter cutter;
  for (const SimImage& image : ImagesWithoutALog(reopened)) {
    Prng kill(1);
    cutter.CutAll(image.Kill(kill), UseInlineValues);
  }
  return cutter.violation();
}

// Regression: the segments of the log that showed the loss had been dropped. The database opened with an older state,
// or empty, and the files of its index were removed.
TEST(ManifestCutTest, LossIsDetectedAfterLogSegmentsAreDropped) {
  for (const bool reopened : {false, true}) {
    SCOPED_TRACE(reopened ? "reopened" : "with separated values");
    EXPECT_EQ(FirstUnnoticedLossWithoutALog(reopened), "");
    const MutantScope mutant(Mutant::kDropNewestLogByEdit);
    EXPECT_NE(FirstUnnoticedLossWithoutALog(reopened), "");
  }
}

// Runs the background while a large value is written to its file.
class RunsMeanwhile final : public EventListener {
 public:
  explicit RunsMeanwhile(std::shared_ptr<ManualExecutor> executor) : executor_(std::move(executor)) {}
  void OnBlobFileCreationStarted(const BlobFileCreationBriefInfo& info) override {
    if (info.file_path.ends_with(".val")) executor_->RunAll();
  }

 private:
  const std::shared_ptr<ManualExecutor> executor_;
};

std::string FirstUnnoticedLossOfALargeValue() {
  FamilyStore store;
  store.options.listeners = {std::make_shared<RunsMeanwhile>(store.executor)};
  store.MustOpenWith({});
  store.Put("a", "1", true);
  store.Flush();
  store.Put("b", "2", true);
  FlushOptions no_wait;
  no_wait.wait = false;
  EXPECT_TRUE(store.db->Flush(no_wait).ok());
  store.Put("large", std::string(10'000, 'l'), true);
  Cutter cutter;
  Prng kill(1);
  cutter.CutAll(store.fs->Snapshot().Kill(kill), [](FamilyStore*) {});
  return cutter.violation();
}

// Regression: a flush was committed while the file of a large value was written, so its edit already counted the file's
// number as assigned. Then the MANIFEST lost the edit that named the file. Recovery took the log's record of the value,
// the last record, for a torn tail.
TEST(ManifestCutTest, RecordOfUnnamedLargeValueIsNotATornTail) {
  EXPECT_EQ(FirstUnnoticedLossOfALargeValue(), "");
  const MutantScope mutant(Mutant::kUnnamedLargeValueIsTorn);
  EXPECT_NE(FirstUnnoticedLossOfALargeValue(), "");
}

Status OpenWithTheFirstManifest() {
  FamilyStore store;
  UseInlineValues(&store);
  store.MustOpenWith({});
  const std::string manifest = store.FilesOf("MANIFEST").back();
  std::string bytes;
  EXPECT_TRUE(store.fs->probe().ReadContents(manifest, &bytes).ok());
  for (int i = 0; i < 100; ++i) store.Put(NumberedKey(i), std::string(50, 'v'));
  store.Flush();
  store.LetSecondsPass(10);
  store.Close();
  for (const std::string& path : store.FilesOf("MANIFEST")) EXPECT_TRUE(store.fs->tampering().Remove(path).ok());
  EXPECT_TRUE(store.fs->tampering().WriteContents(manifest, bytes).ok());
  const auto before = FilesOfDatabase(*store.fs);
  const Status s = store.OpenWith({});
  if (!s.ok()) {
    EXPECT_EQ(FilesOfDatabase(*store.fs), before);
  }
  return s;
}

// All later MANIFESTs are lost, and the first one, which names nothing, is back.
TEST(ManifestCutTest, IndexFilesOfADatabaseWithoutAnyWriteAreRefused) {
  const Status s = OpenWithTheFirstManifest();
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
  EXPECT_NE(s.ToString().find(IndexFileSuffix()), std::string::npos) << s.ToString();
  const MutantScope mutant(Mutant::kIgnoreStrayIndexFiles);
  EXPECT_TRUE(OpenWithTheFirstManifest().ok());
}

}  // namespace
}  // namespace cambium::testing
