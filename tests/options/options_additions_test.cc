// OPTIONS files of databases with many families: creating or dropping one writes an addition to an older file.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/options_additions.h"
#include "cambium/convenience.h"
#include "cambium/statistics.h"
#include "manifest/file_names.h"
#include "options/options_file.h"
#include "recovery/capture.h"
#include "testing/family_store.h"
#include "testing/mutant_scope.h"
#include "testing/seed.h"
#include "util/prng.h"
#include "util/sealed_text.h"

namespace cambium::testing {
namespace {

// ---- Which files an addition takes in ----

TEST(OptionsAdditionsTest, FilesHalveInSize) {
  OptionsAdditions additions;
  EXPECT_EQ(additions.Plan({{"a", {false, 1}}}, 100).adds_to, 0u) << "no file is known";
  constexpr std::uint64_t kWhole = 1u << 20;
  constexpr std::uint64_t kEach = 100;
  additions.SetWhole(1, kWhole);
  std::map<std::uint64_t, std::uint64_t> files;  // number and bytes of the additions
  std::uint64_t written = 0;
  std::uint64_t number = 1;
  std::uint32_t created = 0;
  while (true) {
    OptionsAdditions::Addition addition = additions.Plan({{"f" + std::to_string(created), {false, created + 1}}}, kEach);
    if (addition.adds_to == 0) break;
    ++created;
    const std::uint64_t bytes = addition.changes.size() * kEach;
    for (const std::uint64_t replaced : addition.replaced) ASSERT_EQ(files.erase(replaced), 1u);
    ASSERT_EQ(addition.adds_to, files.empty() ? 1 : files.rbegin()->first);
    if (!files.empty()) {
      ASSERT_GE(files.rbegin()->second, 2 * bytes);
    }
    files[++number] = bytes;
    written += bytes;
    additions.Written(std::move(addition), number, bytes);
    std::uint64_t all = 0;
    for (const auto& file : files) all += file.second;
    ASSERT_EQ(all, created * kEach) << "each change is in one file";
  }
  EXPECT_GE(created * kEach, kWhole / 4);  // then the file is written anew
  EXPECT_LE(written, created * kEach * std::bit_width(created));
}

TEST(OptionsAdditionsTest, NewestChangeOfANameApplies) {
  FamilyChanges changes{{"again", {false, 7}}, {"gone", {true, 0}}};
  AddOlder({{"again", {true, 0}}, {"gone", {false, 5}}, {"other", {false, 6}}}, &changes);
  EXPECT_TRUE(changes["again"].was_dropped);
  EXPECT_EQ(changes["again"].created_id, 7u);
  EXPECT_TRUE(changes["gone"].was_dropped);
  EXPECT_EQ(changes["gone"].created_id, 0u);
  EXPECT_EQ(changes["other"].created_id, 6u);
}

// ---- In a database ----

struct FoundOptions {
  Status status;
  std::map<std::string, std::int64_t> ratios;  // the option sweep_ratio of each family
};

FoundOptions FindOptions(const std::shared_ptr<FileSystem>& fs) {
  ConfigOptions config;
  config.file_system = fs;
  DBOptions options;
  std::vector<ColumnFamilyDescriptor> families;
  FoundOptions loaded;
  loaded.status = LoadLatestOptions(config, kStorePath, &options, &families);
  for (const ColumnFamilyDescriptor& family : families) loaded.ratios[family.name] = family.options.sweep_ratio;
  if (loaded.status.ok()) {
    EXPECT_EQ(families.front().name, kDefaultColumnFamilyName);
  }
  return loaded;
}

// Creates families in one call.
void CreateAll(FamilyStore* store, const std::vector<std::string>& names) {
  std::vector<ColumnFamilyHandle*> made;
  EXPECT_TRUE(store->db->CreateColumnFamilies(store->options, names, &made).ok());
  store->handles.insert(store->handles.end(), made.begin(), made.end());
}

// Returns the bytes that the creation of 100 families, one by one, writes if there are `before` families already.
std::uint64_t BytesOf100(int before) {
  FamilyStore store;
  store.options.statistics = CreateDBStatistics();
  store.MustOpenWith({});
  std::vector<std::string> names;
  for (int i = 0; i < before; ++i) names.push_back("before" + std::to_string(i));
  CreateAll(&store, names);
  const std::uint64_t start = store.options.statistics->getTickerCount(FILE_BYTES_OTHER);
  for (int i = 0; i < 100; ++i) store.Create("new" + std::to_string(i));
  return store.options.statistics->getTickerCount(FILE_BYTES_OTHER) - start;
}

TEST(OptionsAdditionsTest, CostOfAFamilyDoesNotGrowWithTheirNumber) {
  const std::uint64_t few = BytesOf100(400);
  EXPECT_LE(BytesOf100(2000), few + few / 4);
  const MutantScope mutant(Mutant::kOptionsWrittenWhole);
  EXPECT_GE(BytesOf100(400), 10 * few);
}

// Creates and drops families, also several times with the same name and other options. After each step, also after a
// kill, the options of all families are found.
TEST(OptionsAdditionsTest, FamiliesAreFoundWithTheirOptions) {
  const std::uint64_t seed = SeedFromEnvironment(0xadd);
  Prng prng(seed);
  FamilyStore store;
  store.MustOpenWith({});
  std::map<std::string, std::int64_t> expected{{kDefaultColumnFamilyName, store.options.sweep_ratio}};
  std::map<std::string, ColumnFamilyHandle*> handles;
  const auto create = [&](const std::string& name) {
    ColumnFamilyOptions its = store.options;
    expected[name] = its.sweep_ratio = static_cast<int>(prng.Between(1, 99));
    ASSERT_TRUE(store.db->CreateColumnFamily(its, name, &handles[name]).ok()) << name;
  };
  for (int i = 0; i < 40; ++i) create("family" + std::to_string(i));
  std::size_t most_files = 0;
  for (int step = 0; step < 200; ++step) {
    const std::string name = "family" + std::to_string(prng.Uniform(60));
    if (!handles.contains(name)) {
      create(name);
    } else {
      ASSERT_TRUE(store.db->DropColumnFamily(handles[name]).ok());
      delete handles[name];
      handles.erase(name);
      expected.erase(name);
    }
    if (prng.OneIn(40)) {
      expected[kDefaultColumnFamilyName] = static_cast<int>(prng.Between(1, 99));
      const std::string ratio = std::to_string(expected[kDefaultColumnFamilyName]);
      ASSERT_TRUE(store.db->SetOptions({{"sweep_ratio", ratio}}).ok());
    }
    const FoundOptions loaded = FindOptions(std::make_shared<SimFileSystem>(store.fs->Snapshot()));
    ASSERT_TRUE(loaded.status.ok()) << loaded.status.ToString();
    ASSERT_EQ(loaded.ratios, expected) << "seed " << seed << ", step " << step;
    most_files = std::max(most_files, store.FilesOf("OPTIONS-").size());
  }
  EXPECT_GT(most_files, 3u);
  EXPECT_LE(most_files, 10u);
  for (const auto& [name, handle] : handles) delete handle;
  store.Kill();
  EXPECT_EQ(store.Verify(), "");
  // The next Open with these options writes them as a whole, and removes all but one older file.
  std::vector<ColumnFamilyDescriptor> families;
  for (const auto& [name, ratio] : expected) {
    ColumnFamilyOptions its = store.options;
    its.sweep_ratio = static_cast<int>(ratio);
    families.emplace_back(name, its);
  }
  ASSERT_TRUE(DB::Open(store.options, kStorePath, families, &store.handles, &store.db).ok());
  EXPECT_LE(store.FilesOf("OPTIONS-").size(), 2u);
  EXPECT_EQ(FindOptions(store.fs).ratios, expected);
}

// A database of 30 families, killed after the creation of three more: its newest OPTIONS file is an addition.
std::unique_ptr<FamilyStore> WithAdditions() {
  auto store = std::make_unique<FamilyStore>();
  store->MustOpenWith({});
  std::vector<std::string> names;
  for (int i = 0; i < 30; ++i) names.push_back("family" + std::to_string(i));
  CreateAll(store.get(), names);
  for (const char* const name : {"x", "y", "z"}) store->Create(name);
  store->Kill();
  EXPECT_GE(store->FilesOf("OPTIONS-").size(), 2u);
  return store;
}

TEST(OptionsAdditionsTest, MissingOrDamagedBaseIsCorruptionAndVerifyReportsIt) {
  const std::unique_ptr<FamilyStore> store = WithAdditions();
  const Result<NewestOptions> newest = ReadNewestOptions(*store->fs, kStorePath);
  ASSERT_TRUE(newest.ok()) << newest.status().ToString();
  ASSERT_NE(newest->base, newest->number);
  EXPECT_EQ(newest->text.families.size(), 34u);
  const std::string base = FilePath(kStorePath, FileKind::kOptions, newest->base);
  const auto changed = std::make_shared<SimFileSystem>(store->fs->Snapshot());
  ASSERT_TRUE(changed->tampering().FlipBit(base, 300, 2).ok());
  EXPECT_TRUE(FindOptions(changed).status.IsCorruption());
  ASSERT_TRUE(store->fs->Unlink(base).ok());
  const Status missing = FindOptions(store->fs).status;
  EXPECT_TRUE(missing.IsCorruption()) << missing.ToString();
  EXPECT_NE(missing.ToString().find(base), std::string::npos) << missing.ToString();
  EXPECT_NE(store->Verify(), "");
}

// A copy of a directory has a whole file.
TEST(OptionsAdditionsTest, CopiesHaveWholeFiles) {
  const std::unique_ptr<FamilyStore> store = WithAdditions();
  const auto expected = FindOptions(store->fs).ratios;
  const std::shared_ptr<RandomSource> random = RandomSource::Default();
  Result<Capture> capture = CaptureClosed(*store->fs, kStorePath, *random);
  ASSERT_TRUE(capture.ok()) << capture.status().ToString();
  const Result<OptionsFileText> text = DecodeOptionsFile(capture->options_text, "copy");
  ASSERT_TRUE(text.ok()) << text.status().ToString();
  EXPECT_EQ(text->adds_to, 0u);
  EXPECT_EQ(text->version, kWholeOptionsFileVersion);
  EXPECT_EQ(text->families.size(), expected.size());
  // If the addition cannot be used, the capture has no valid OPTIONS file, so that a backup reports it.
  const Result<NewestOptions> newest = ReadNewestOptions(*store->fs, kStorePath);
  ASSERT_TRUE(store->fs->Unlink(FilePath(kStorePath, FileKind::kOptions, newest->base)).ok());
  capture = CaptureClosed(*store->fs, kStorePath, *random);
  ASSERT_TRUE(capture.ok()) << capture.status().ToString();
  EXPECT_FALSE(capture->options_text.empty());
  EXPECT_FALSE(DecodeOptionsFile(capture->options_text, "copy").ok());
}

// If the write of an addition fails, the next change writes it too.
TEST(OptionsAdditionsTest, FailedAdditionIsInTheNextFile) {
  for (const SimOpKind kind : {SimOpKind::kCreate, SimOpKind::kWrite, SimOpKind::kSync, SimOpKind::kRename}) {
    const std::unique_ptr<FamilyStore> store = WithAdditions();
    std::vector<std::string> names;
    ASSERT_TRUE(DB::ListColumnFamilies(store->options, kStorePath, &names).ok());
    std::erase(names, kDefaultColumnFamilyName);
    store->MustOpenWith(names);
    SimFault fault;
    fault.kind = kind;
    fault.matches = [](SimOpKind, const std::string& path) {
      return path.find(".dbtmp") != std::string::npos || path.find("OPTIONS-") != std::string::npos;
    };
    fault.status = Status::IOError("injected fault");
    const int id = store->fs->AddFault(fault);
    store->Create("unlucky");
    EXPECT_EQ(FindOptions(store->fs).ratios.count("unlucky"), 0u);
    store->fs->RemoveFault(id);
    store->Create("next");
    const FoundOptions loaded = FindOptions(store->fs);
    EXPECT_EQ(loaded.ratios.size(), names.size() + 3);
    EXPECT_EQ(loaded.ratios.count("unlucky"), 1u);
  }
}

TEST(OptionsAdditionsTest, MalformedAdditionsAreCorruption) {
  const auto decode = [](const std::string& body) {
    return DecodeOptionsFile(SealText("[Version]\n  options_file_version=2\n" + body), "file").status();
  };
  EXPECT_TRUE(decode("  adds_to=3\n").ok());
  EXPECT_TRUE(decode("  adds_to=3\n[DroppedCFOptions \"a\"]\n[CFOptions \"a\"]\n  sweep_ratio=3\n").ok());
  EXPECT_TRUE(decode("  adds_to=0\n").IsCorruption());
  EXPECT_TRUE(decode("  adds_to=x\n").IsCorruption());
  EXPECT_TRUE(decode("  adds_to=3\n[DBOptions]\n").IsCorruption());
  EXPECT_TRUE(decode("  adds_to=3\n[DroppedCFOptions a]\n").IsCorruption());
  EXPECT_TRUE(decode("[DBOptions]\n[DroppedCFOptions \"a\"]\n[CFOptions \"default\"]\n").IsCorruption());
  // A file cannot add to a newer one, or to itself.
  SimFileSystem fs;
  ASSERT_TRUE(fs.CreateDirectory("/d").ok());
  for (const char* const adds_to : {"5", "9"}) {
    const std::string text = SealText("[Version]\n  options_file_version=2\n  adds_to=" + std::string(adds_to) + "\n");
    ASSERT_TRUE(fs.tampering().WriteContents("/d/OPTIONS-000005", text).ok());
    const Status s = ReadNewestOptions(fs, "/d").status();
    EXPECT_TRUE(s.IsCorruption()) << s.ToString();
  }
}

}  // namespace
}  // namespace cambium::testing
