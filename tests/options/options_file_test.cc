// Tests of the OPTIONS file: its contents, when it is written, and that Open does not depend on it.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "options/options_file.h"
#include "options/random_options.h"
#include "testing/hook_scope.h"
#include "testing/test_store.h"
#include "cambium/convenience.h"
#include "testing/mutant_scope.h"
#include "testing/scale.h"
#include "testing/seed.h"
#include "testing/test_comparators.h"
#include "util/checksum.h"
#include "util/sealed_text.h"

namespace cambium::testing {
namespace {

using Families = std::vector<ColumnFamilyDescriptor>;

struct Loaded {
  Status status;
  DBOptions db;
  Families families;
};

Loaded Load(const std::shared_ptr<FileSystem>& fs, ConfigOptions config = {}) {
  Loaded loaded;
  config.file_system = fs;
  loaded.status = LoadLatestOptions(config, kStorePath, &loaded.db, &loaded.families);
  return loaded;
}

// Returns the text with its checksum line.
std::string Sealed(std::string text) {
  char line[32];
  std::snprintf(line, sizeof(line), "checksum=%016llx\n", static_cast<unsigned long long>(Checksum64(text, 0)));
  return text + line;
}

constexpr const char* kSmallest = "[Version]\noptions_file_version=1\n[DBOptions]\n[CFOptions \"default\"]\n";

TEST(OptionsFileTest, HasTheOptionsInForce) {
  TestStore store;
  store.options.page_cache_size = 12 << 20;
  store.options.sweep_ratio = 5;
  store.MustOpen();
  ColumnFamilyOptions other = store.options;
  other.min_blob_size = 999;
  other.comparator = CaseFoldingComparator();
  ColumnFamilyHandle* handle = nullptr;
  const std::string name = "of [odd] \"name\"\n";
  ASSERT_TRUE(store.db->CreateColumnFamily(other, name, &handle).ok());

  Loaded loaded = Load(store.fs);
  EXPECT_TRUE(loaded.status.IsInvalidArgument()) << loaded.status.ToString();
  EXPECT_NE(loaded.status.ToString().find(CaseFoldingComparator()->Name()), std::string::npos)
      << loaded.status.ToString();
  ConfigOptions config;
  config.comparators = {CaseFoldingComparator()};
  loaded = Load(store.fs, config);
  ASSERT_TRUE(loaded.status.ok()) << loaded.status.ToString();
  EXPECT_EQ(loaded.db.file_system, store.fs);
  EXPECT_TRUE(SameOptions<DBOptions>(loaded.db, store.db->GetOptions()));
  ASSERT_EQ(loaded.families.size(), 2u);
  EXPECT_EQ(loaded.families[0].name, "default");
  EXPECT_EQ(loaded.families[1].name, name);
  EXPECT_TRUE(SameOptions<ColumnFamilyOptions>(loaded.families[0].options, store.db->GetOptions()));
  EXPECT_TRUE(SameOptions<ColumnFamilyOptions>(loaded.families[1].options, store.db->GetOptions(handle)));
  EXPECT_EQ(loaded.families[1].options.comparator, CaseFoldingComparator());

  // Open needs no other options.
  ASSERT_TRUE(store.db->DestroyColumnFamilyHandle(handle).ok());
  store.MustClose();
  loaded.db.executor = store.executor;
  std::vector<ColumnFamilyHandle*> handles;
  const Status s = DB::Open(loaded.db, kStorePath, loaded.families, &handles, &store.db);
  ASSERT_TRUE(s.ok()) << s.ToString();
  ASSERT_TRUE(store.db->DropColumnFamily(handles[1]).ok());
  loaded = Load(store.fs);
  ASSERT_TRUE(loaded.status.ok()) << loaded.status.ToString();
  EXPECT_EQ(loaded.families.size(), 1u);
  for (ColumnFamilyHandle* const each : handles) delete each;
  store.MustClose();
}

// If a word for the kept form is unknown, all known words are assumed.
TEST(OptionsFileTest, KeptFormIsReadBack) {
  const std::vector<ColumnFamilyDescriptor> families = {{kDefaultColumnFamilyName, Options()}};
  for (const KeptForm kept : {KeptForm{false, false}, KeptForm{true, false}, KeptForm{false, true}, KeptForm{true, true}}) {
    const std::string bytes = EncodeOptionsFile(DBOptions(), families, kept);
    EXPECT_EQ(bytes == EncodeOptionsFile(DBOptions(), families), !kept.any());
    const Result<OptionsFileText> text = DecodeOptionsFile(bytes, "OPTIONS");
    ASSERT_TRUE(text.ok()) << text.status().ToString();
    EXPECT_EQ(text->kept, kept);
  }
  std::string body = EncodeOptionsFile(DBOptions(), families, {true, false});
  body.replace(body.find("=codec\n"), 7, "=order\n");
  const Result<OptionsFileText> text = DecodeOptionsFile(SealText(body.substr(0, body.rfind("checksum="))), "OPTIONS");
  ASSERT_TRUE(text.ok()) << text.status().ToString();
  EXPECT_EQ(text->kept, (KeptForm{true, true}));
}

TEST(OptionsFileTest, PathWithoutAFileIsNotFound) {
  const auto fs = std::make_shared<SimFileSystem>();
  EXPECT_TRUE(Load(fs).status.IsPathNotFound());
  ASSERT_TRUE(fs->CreateDirectory(kStorePath).ok());
  EXPECT_TRUE(Load(fs).status.IsNotFound());
}

TEST(OptionsFileTest, RandomOptionsOfAnyNumberOfFamiliesAreReadBack) {
  const std::uint64_t seed = SeedFromEnvironment(0x0f11e);
  Prng prng(seed);
  for (std::uint64_t i = 0; i < ScaledCount(200); ++i) {
    const auto db = RandomOptions<DBOptions>(prng);
    Families families{{kDefaultColumnFamilyName, RandomOptions<ColumnFamilyOptions>(prng)}};
    for (std::uint64_t n = prng.Uniform(5); n > 0; --n) {
      families.emplace_back(std::to_string(n) + prng.Bytes(prng.Uniform(40)), RandomOptions<ColumnFamilyOptions>(prng));
    }
    const std::string bytes = EncodeOptionsFile(db, families);
    const Result<OptionsFileText> text = DecodeOptionsFile(bytes, "OPTIONS");
    ASSERT_TRUE(text.ok()) << text.status().ToString() << "\n" << bytes;
    DBOptions db_again;
    Families again;
    const Status s = OptionsFromFileText(*text, {}, "OPTIONS", &db_again, &again);
    ASSERT_TRUE(s.ok()) << s.ToString() << "\n" << bytes;
    EXPECT_TRUE(SameOptions(db, db_again));
    ASSERT_EQ(again.size(), families.size());
    for (std::size_t f = 0; f < families.size(); ++f) {
      EXPECT_EQ(again[f].name, families[f].name);
      EXPECT_TRUE(SameOptions(again[f].options, families[f].options));
    }
  }
}

// The bytes of version 1. A new option changes this text, and the old text must still be read. Any other change of this
// text needs a new options_file_version.
TEST(OptionsFileTest, BytesOfVersion1) {
  const std::string golden =
      "# The options of a Cambium database, as they were in force when this file was written. DB::Open does not read\n"
      "# it; LoadLatestOptions does, and refuses it once it was edited: the last line is a checksum.\n"
      "\n[Version]\n  options_file_version=1\n"
      "\n[DBOptions]\n"
      "  create_if_missing=false\n  create_missing_column_families=false\n  error_if_exists=false\n"
      "  wal_recovery_mode=kTolerateCorruptedTailRecords\n  lock_wait_micros=0\n  page_cache_size=268435456\n"
      "  db_write_buffer_size=0\n  max_total_wal_size=0\n  max_space_amplification=1.5\n  min_space_limit=16777216\n  min_punch_size=262144\n"
      "  allow_mmap_reads=false\n  max_open_files=0\n  max_background_jobs=2\n"
      "\n[CFOptions \"default\"]\n"
      "  comparator=cambium.BytewiseComparator\n  index_type=kBTree\n  page_size=4096\n  filter_bits_per_key=10\n"
      "  write_buffer_size=67108864\n  max_write_buffer_number=3\n  enable_blob_files=true\n  min_blob_size=512\n"
      "  large_value_size=16777216\n  blob_compression_type=kNoCompression\n  blob_file_size=268435456\n"
      "  value_clustering=off\n"
      "  enable_blob_garbage_collection=true\n  blob_garbage_collection_age_cutoff=0.25\n"
      "  blob_garbage_collection_force_threshold=1\n"
      "  sweep_ratio=8\n  compaction_style=kCompactionStyleLevel\n  level0_file_num_compaction_trigger=4\n"
      "  level0_slowdown_writes_trigger=20\n  level0_stop_writes_trigger=36\n  target_file_size_base=67108864\n"
      "  target_file_size_multiplier=1\n  max_bytes_for_level_base=268435456\n  max_bytes_for_level_multiplier=10\n"
      "  num_levels=7\n  compression=kNoCompression\n"
      "\nchecksum=4c827cbe7127498e\n";
  DBOptions options;
  options.allow_mmap_reads = false;  // the default of that version
  EXPECT_EQ(EncodeOptionsFile(options, {{kDefaultColumnFamilyName, {}}}), golden);
  EXPECT_TRUE(DecodeOptionsFile(golden, "OPTIONS").ok());
  // The text of Cambium 0.1.0, which lacks these options.
  std::string older = golden;
  for (const std::string_view newer_line : {"  db_write_buffer_size=0\n", "  min_space_limit=16777216\n",
                                            "  max_open_files=0\n"}) {
    older.erase(older.find(newer_line), newer_line.size());
  }
  older.replace(older.find("checksum="), std::string::npos, "checksum=1a30b29090382d56\n");
  EXPECT_TRUE(DecodeOptionsFile(older, "OPTIONS").ok());
}

TEST(OptionsFileTest, DamagedFileIsCorruptionForReadersButOpenSucceeds) {
  TestStore store;
  store.MustOpen();
  store.Put("key", "value", true);
  store.MustClose();
  const std::vector<std::string> files = store.FilesOf("OPTIONS");
  ASSERT_EQ(files.size(), 1u);
  const std::string& path = files[0];
  std::string whole;
  ASSERT_TRUE(store.fs->probe().ReadContents(path, &whole).ok());
  const auto check = [&](const std::string& bytes) {
    ASSERT_TRUE(store.fs->tampering().WriteContents(path, bytes).ok());
    const Status s = Load(store.fs).status;
    ASSERT_TRUE(s.IsCorruption()) << s.ToString();
    ASSERT_NE(s.ToString().find(path + ":"), std::string::npos) << s.ToString();
  };
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    check(bytes);
    check(whole.substr(0, at));
  }
  check(whole + "\n");
  check(whole + whole);
  EXPECT_NE(store.Verify().find(path + ":"), std::string::npos) << store.Verify();
  store.MustOpen();
  EXPECT_EQ(store.Get("key"), "value");
  EXPECT_TRUE(Load(store.fs).status.ok()) << "Open wrote a new file";
  store.MustClose();
}

TEST(OptionsFileTest, MalformedLinesAreCorruptionAtTheirOffset) {
  const struct {
    std::string text;
    const char* says;
  } kCases[] = {
      {"", "OPTIONS:0: there is no options_file_version"},
      {"[Version]\noptions_file_version=1\n", "no section DBOptions"},
      {"[Version]\noptions_file_version=1\n[DBOptions]\n", "column family \"default\""},
      {"[Version]\noptions_file_version=x\n[DBOptions]\n", "is not a number"},
      {"a=b\n" + std::string(kSmallest), "OPTIONS:0: \"a\\x3db\": a line before the first section"},
      {std::string(kSmallest) + "nonsense\n", "nonsense\": not name=value"},
      {std::string(kSmallest) + "sweep_ratio=1\n  sweep_ratio=2\n", "given before"},
      {std::string(kSmallest) + "[DBOptions]\n", "a second section"},
      {std::string(kSmallest) + "[CFOptions \"default\"]\n", "a second section"},
      {std::string(kSmallest) + "[CFOptions default]\n", "not the name"},
      {std::string(kSmallest) + "[CFOptions \"\"]\n", "not the name"},
      {std::string(kSmallest) + "[CFOptions \"\\x\"]\n", "not the name"},
      {std::string(kSmallest) + "[CFOptions \"x\"\n", "no ']'"},
  };
  for (const auto& c : kCases) {
    const Status s = DecodeOptionsFile(Sealed(c.text), "OPTIONS").status();
    EXPECT_TRUE(s.IsCorruption()) << c.text;
    EXPECT_NE(s.ToString().find(c.says), std::string::npos) << s.ToString();
  }
  EXPECT_TRUE(DecodeOptionsFile(Sealed(kSmallest), "OPTIONS").ok());
}

TEST(OptionsFileTest, ContentsOfALaterVersionAreRejectedOrSkipped) {
  const std::string options = std::string(kSmallest) + "sweep_ratio=3\n";
  std::string later_format = options;
  later_format.replace(later_format.find("version=1"), 9, "version=3");
  const struct {
    std::string text;
    Status::Code code;
    const char* says;
  } kCases[] = {
      {options + "shiny=1\n", Status::Code::kInvalidArgument, "\"shiny\""},
      {options + "[Shiny \"x\"]\na=b\n", Status::Code::kInvalidArgument, "Shiny"},
      {later_format, Status::Code::kNotSupported, "options_file_version is 3"},
  };
  const auto fs = std::make_shared<SimFileSystem>();
  for (const auto& c : kCases) {
    ASSERT_TRUE(fs->tampering().WriteContents(std::string(kStorePath) + "/OPTIONS-000007", Sealed(c.text)).ok());
    Loaded loaded = Load(fs);
    EXPECT_EQ(loaded.status.code(), c.code) << loaded.status.ToString();
    EXPECT_NE(loaded.status.ToString().find(c.says), std::string::npos) << loaded.status.ToString();
    EXPECT_NE(loaded.status.ToString().find("OPTIONS-000007"), std::string::npos) << loaded.status.ToString();
    ConfigOptions config;
    config.ignore_unknown_options = true;
    loaded = Load(fs, config);
    ASSERT_TRUE(loaded.status.ok()) << loaded.status.ToString();
    EXPECT_EQ(loaded.families.at(0).options.sweep_ratio, 3);
  }
  // An illegal value is never skipped.
  ASSERT_TRUE(fs->tampering()
                  .WriteContents(std::string(kStorePath) + "/OPTIONS-000008",
                                 Sealed(std::string(kSmallest) + "sweep_ratio=5000\n"))
                  .ok());
  ConfigOptions config;
  config.ignore_unknown_options = true;
  const Status s = Load(fs, config).status;
  EXPECT_TRUE(s.IsInvalidArgument());
  EXPECT_NE(s.ToString().find("sweep_ratio is 5000; legal is 1 to 1000"), std::string::npos) << s.ToString();
}

TEST(OptionsFileTest, NewestTwoAreKeptAndDestroyedWithTheDatabase) {
  TestStore store;
  store.MustOpen();
  EXPECT_EQ(store.FilesOf("OPTIONS").size(), 1u);
  EXPECT_LE(store.BytesOnDisk(), 64u << 10);
  for (int i = 1; i < 10; ++i) {
    ASSERT_TRUE(store.db->SetOptions({{"sweep_ratio", std::to_string(i)}}).ok());
    EXPECT_EQ(store.FilesOf("OPTIONS").size(), 2u);
    EXPECT_EQ(Load(store.fs).families.at(0).options.sweep_ratio, i);
  }
  for (int i = 0; i < 3; ++i) store.Reopen();
  EXPECT_EQ(store.FilesOf("OPTIONS").size(), 2u);
  EXPECT_TRUE(store.FilesOf(".dbtmp").empty());
  store.MustClose();
  EXPECT_EQ(store.Verify(), "");

  // Open for writing removes files that interrupted writes left; OpenForReadOnly does not.
  const auto before = store.Files();
  ASSERT_TRUE(store.fs->tampering().WriteContents(std::string(kStorePath) + "/000999.dbtmp", "half").ok());
  const Status opened = DB::OpenForReadOnly(store.options, kStorePath, &store.db);
  ASSERT_TRUE(opened.ok()) << opened.ToString();
  EXPECT_TRUE(store.db->SetOptions({{"sweep_ratio", "3"}}).IsNotSupported());
  store.MustClose();
  EXPECT_EQ(store.Files().size(), before.size() + 1);
  store.MustOpen();
  EXPECT_TRUE(store.FilesOf(".dbtmp").empty());
  store.MustClose();
  ASSERT_TRUE(DestroyDB(kStorePath, store.options).ok());
  EXPECT_TRUE(store.Files().empty());
}

bool IsOptionsFile(SimOpKind, const std::string& path) {
  return path.find(".dbtmp") != std::string::npos || path.find("OPTIONS-") != std::string::npos;
}

// Regression: an Open without create_if_missing, as by a tool, rewrote the file. The new file had
// create_if_missing=false, and lacked the options of a later version.
TEST(OptionsFileTest, OpenWithUnchangedOptionsKeepsTheFile) {
  TestStore store;
  store.options.create_if_missing = true;
  store.options.sweep_ratio = 5;
  store.MustOpen();
  store.MustClose();
  const std::string path = store.FilesOf("OPTIONS").at(0);
  std::string text;
  ASSERT_TRUE(store.fs->probe().ReadContents(path, &text).ok());
  text.resize(text.rfind("checksum="));
  text.insert(text.find("  create_if_missing"), "  shiny=1\n");
  text += "[Shiny]\n  a=b\n";
  text = Sealed(text);
  ASSERT_TRUE(store.fs->tampering().WriteContents(path, text).ok());
  store.options.create_if_missing = false;
  store.MustOpen();
  store.MustClose();
  std::string now;
  ASSERT_TRUE(store.fs->probe().ReadContents(path, &now).ok());
  EXPECT_EQ(store.FilesOf("OPTIONS").size(), 1u);
  EXPECT_EQ(now, text);
  // A change of any other option is written.
  store.options.sweep_ratio = 6;
  store.MustOpen();
  store.MustClose();
  EXPECT_EQ(store.FilesOf("OPTIONS").size(), 2u);
  const Loaded loaded = Load(store.fs);
  ASSERT_TRUE(loaded.status.ok()) << loaded.status.ToString();
  EXPECT_EQ(loaded.families.at(0).options.sweep_ratio, 6);
}

// If the file cannot be written, the database still opens, writes, and applies new options; only SetOptions and
// SetDBOptions return an error.
TEST(OptionsFileTest, FailedWriteOfTheFileFailsOnlyOptionChanges) {
  for (const SimOpKind kind : {SimOpKind::kCreate, SimOpKind::kWrite, SimOpKind::kSync, SimOpKind::kRename}) {
    for (const bool no_space : {false, true}) {
      TestStore store;
      SimFault fault;
      fault.kind = kind;
      fault.matches = IsOptionsFile;
      fault.sticky = true;
      if (no_space) fault.status = Status::NoSpace("injected");
      const int id = store.fs->AddFault(fault);
      store.MustOpen();
      EXPECT_TRUE(Load(store.fs).status.IsNotFound());
      store.Put("a", "1", true);
      const Status s = store.db->SetOptions({{"sweep_ratio", "3"}, {"min_blob_size", "77"}});
      EXPECT_TRUE(s.IsIOError()) << s.ToString();
      EXPECT_EQ(s.severity(), Status::Severity::kNone) << s.ToString();
      EXPECT_NE(s.ToString().find("in force but not persisted"), std::string::npos) << s.ToString();
      EXPECT_EQ(store.db->GetOptions().sweep_ratio, 3);
      EXPECT_EQ(store.db->GetOptions().min_blob_size, 77u);
      EXPECT_TRUE(store.db->SetDBOptions({{"page_cache_size", "1M"}}).IsIOError());
      ColumnFamilyHandle* handle = nullptr;
      ASSERT_TRUE(store.db->CreateColumnFamily(store.options, "one", &handle).ok());
      ASSERT_TRUE(store.db->DropColumnFamily(handle).ok());
      delete handle;
      store.Put("b", "2", true);
      EXPECT_GE(store.fs->fault_hits(), 5u);
      store.fs->RemoveFault(id);
      EXPECT_TRUE(store.FilesOf(".dbtmp").empty());
      ASSERT_TRUE(store.db->SetDBOptions({{"page_cache_size", "2M"}}).ok());
      const Loaded loaded = Load(store.fs);
      ASSERT_TRUE(loaded.status.ok()) << loaded.status.ToString();
      EXPECT_EQ(loaded.db.page_cache_size, 2u << 20);
      EXPECT_EQ(loaded.families.at(0).options.sweep_ratio, 3) << "the earlier change was not persisted with this one";
      store.Reopen();
      EXPECT_EQ(store.Get("b"), "2");
      store.MustClose();
      EXPECT_EQ(store.Verify(), "");
    }
  }
}

// A sync of the directory also covers names that other threads have created.
TEST(OptionsFileTest, FailedSyncOfTheDirectoryFailsOpenAndIsFatalLater) {
  TestStore store;
  bool renamed = false;
  const HookScope hook(store.fs, [&](const SimOp& op) {
    if (op.kind == SimOpKind::kRename && op.phase == SimPhase::kAfter) renamed = true;
  });
  SimFault directory;
  directory.kind = SimOpKind::kSyncDirectory;
  directory.matches = [&](SimOpKind, const std::string&) { return std::exchange(renamed, false); };
  const int at_open = store.fs->AddFault(directory);
  const Status opened = store.Open();
  EXPECT_TRUE(opened.IsIOError()) << opened.ToString();
  EXPECT_EQ(opened.severity(), Status::Severity::kNone) << "nothing is open that could not be written to any more";
  EXPECT_EQ(store.fs->fault_hits(), 1u);
  store.fs->RemoveFault(at_open);
  store.MustOpen();
  store.Put("a", "1", true);
  store.fs->AddFault(directory);
  const Status s = store.db->SetOptions({{"sweep_ratio", "3"}});
  EXPECT_EQ(s.severity(), Status::Severity::kFatal) << s.ToString();
  EXPECT_NE(s.ToString().find("in force but not persisted"), std::string::npos) << s.ToString();
  EXPECT_FALSE(store.db->Put({}, "b", "2").ok());
  EXPECT_EQ(store.Get("a"), "1");
  EXPECT_FALSE(store.db->Close().ok());
  store.db.reset();
  store.MustOpen();
  EXPECT_EQ(store.Get("a"), "1");
}

// ---- Power cuts and failing calls at every operation ----

// A disk, and the smallest and largest sweep_ratio that LoadLatestOptions may return from it. 0: there may be no file.
struct Moment {
  SimImage image;
  int acknowledged = 0;
  int attempted = 0;
  std::set<std::string> families;  // were created, and are not being dropped
};

// Opens a database, changes options, creates families and drops one. The first error ends the program.
class Program {
 public:
  explicit Program(TestStore* store) : store_(*store) {}

  Status Run() {
    attempted_ = store_.options.sweep_ratio = 1;
    CAMBIUM_RETURN_IF_ERROR(store_.Open());
    WasWritten();
    WriteOptions sync;
    sync.sync = true;
    CAMBIUM_RETURN_IF_ERROR(store_.db->Put(sync, "key", "value"));
    for (int i = 2; i <= 5; ++i) {
      attempted_ = i;
      CAMBIUM_RETURN_IF_ERROR(store_.db->SetOptions({{"sweep_ratio", std::to_string(i)}}));
      acknowledged_ = i;
    }
    // With so many families, the options of each new one are written as an addition.
    std::vector<std::string> names;
    for (int i = 0; i < 8; ++i) names.push_back("many" + std::to_string(i));
    std::vector<ColumnFamilyHandle*> handles;
    Status s = store_.db->CreateColumnFamilies(store_.options, names, &handles);
    if (s.ok() && FailedToWrite()) s = Status::Aborted("the file was not written");
    if (s.ok()) families_.insert(names.begin(), names.end());
    for (const char* const name : {"one", "two", "three"}) {
      if (!s.ok()) break;
      s = store_.db->CreateColumnFamily(store_.options, name, &handles.emplace_back());
      if (s.ok() && FailedToWrite()) s = Status::Aborted("the file was not written");
      if (s.ok()) families_.insert(name);
    }
    if (s.ok()) {
      families_.erase("two");
      s = store_.db->DropColumnFamily(handles[9]);
    }
    for (ColumnFamilyHandle* const handle : handles) delete handle;
    CAMBIUM_RETURN_IF_ERROR(s);
    return store_.db->Close();
  }
  [[nodiscard]] Moment Now() const { return {store_.fs->Snapshot(), acknowledged_, attempted_, families_}; }

 private:
  // Counts the file of Open as acknowledged if it exists: Open succeeds even if it could not write the file.
  void WasWritten() {
    if (Load(store_.fs).status.ok()) acknowledged_ = 1;
  }

  // Creating a family succeeds even if the file cannot be written.
  [[nodiscard]] bool FailedToWrite() const { return store_.fs->fault_hits() > 0; }

  TestStore& store_;
  int acknowledged_ = 0;
  int attempted_ = 0;
  std::set<std::string> families_;
};

// Returns what is wrong with the disk, or "".
std::string Judge(const SimImage& image, int acknowledged, int attempted, const std::set<std::string>& wanted) {
  const auto fs = std::make_shared<SimFileSystem>(image);
  const Loaded loaded = Load(fs);
  if (loaded.status.ok()) {
    const int said = loaded.families.at(0).options.sweep_ratio;
    if (said < acknowledged || said > attempted) {
      return "OPTIONS has sweep_ratio " + std::to_string(said) + "; expected " + std::to_string(acknowledged) + " to " +
             std::to_string(attempted);
    }
    for (const std::string& name : wanted) {
      if (std::ranges::count(loaded.families, name, &ColumnFamilyDescriptor::name) != 1) return "OPTIONS lacks " + name;
    }
  } else if (acknowledged > 0 || !(loaded.status.IsNotFound() || loaded.status.IsPathNotFound())) {
    return loaded.status.ToString();
  }
  TestStore after(fs);
  std::vector<std::string> names;
  const Status listed = DB::ListColumnFamilies(after.options, kStorePath, &names);
  Families families;
  for (const std::string& name : names) families.emplace_back(name, after.options);
  if (!listed.ok()) families = {{kDefaultColumnFamilyName, after.options}};  // the database was not fully created
  std::vector<ColumnFamilyHandle*> handles;
  const Status s = DB::Open(after.options, kStorePath, families, &handles, &after.db);
  if (!s.ok()) return s.ToString();
  for (ColumnFamilyHandle* const handle : handles) delete handle;
  if (acknowledged > 1 && after.Get("key") != "value") return "key: " + after.Get("key");
  const std::size_t files = after.FilesOf("OPTIONS").size();
  if (files == 0 || files > 2 || !after.FilesOf(".dbtmp").empty()) {
    return std::to_string(files) + " OPTIONS files after Open";
  }
  after.MustClose();
  return after.Verify();
}

// Cuts the power at every operation of a program. Returns what is wrong after the first bad cut, or "".
std::string CutEverywhere(std::uint64_t seed) {
  TestStore store;
  Program program(&store);
  std::vector<Moment> moments;
  const int hook = store.fs->AddHook([&](const SimOp&) { moments.push_back(program.Now()); });
  const Status s = program.Run();
  store.fs->RemoveHook(hook);
  if (!s.ok()) return s.ToString();
  EXPECT_GT(moments.size(), 50u);
  Prng prng(seed);
  for (const Moment& moment : moments) {
    for (std::uint64_t i = 0; i < ScaledCount(10); ++i) {
      const std::string wrong = Judge(moment.image.DrawCrash(prng), moment.acknowledged, moment.attempted, moment.families);
      if (!wrong.empty()) return wrong;
    }
  }
  return "";
}

TEST(OptionsFileTest, PowerCutLeavesWholeFilesAndADatabaseThatOpens) {
  EXPECT_EQ(CutEverywhere(SeedFromEnvironment(0xc07)), "");
}

TEST(OptionsFileTest, RenameWithoutSyncIsCaught) {
  const MutantScope mutant(Mutant::kOptionsWithoutSync);
  EXPECT_NE(CutEverywhere(SeedFromEnvironment(0xc08)), "");
}

TEST(OptionsFileTest, AnyFailedCallLeavesADatabaseThatOpens) {
  std::uint64_t calls = 0;
  {
    TestStore store;
    ASSERT_TRUE(Program(&store).Run().ok());
    calls = store.fs->calls();
  }
  ASSERT_GT(calls, 50u);
  for (const bool sticky : {false, true}) {
    for (std::uint64_t nth = 1; nth <= calls; ++nth) {
      SCOPED_TRACE("call " + std::to_string(nth) + (sticky ? " and all after it fail" : " fails"));
      TestStore store;
      SimFault fault;
      fault.nth = nth;
      fault.sticky = sticky;
      store.fs->AddFault(fault);
      Program program(&store);
      const Status s = program.Run();
      const Moment moment = program.Now();
      store.fs->ClearFaults();
      store.db.reset();
      // As after a kill: everything written to files is there, although Close was not completed.
      ASSERT_EQ(Judge(store.fs->Snapshot(), moment.acknowledged, moment.attempted, moment.families), "") << s.ToString();
    }
  }
}

}  // namespace
}  // namespace cambium::testing
