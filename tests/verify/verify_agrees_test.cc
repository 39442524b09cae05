// Tests that VerifyDB and readers agree, in both directions, on databases of all kinds: families of both indexes, a
// tree in the middle of a sweep, relocation runs and segments, holes, large values, a torn tail.
//
//   no problem in the report  ─▶ Open, all reads, compaction and log GC succeed with right values, despite dead damage
//   a problem in the report   ─▶ one of them fails, and none returns a wrong value
//
// Each damaged copy has damage at one random place of one file.
#include <algorithm>
#include <functional>
#include <set>

#include "testing/family_store.h"
#include "cambium/listener.h"
#include "testing/grown_subject.h"
#include "testing/scale.h"
#include "testing/seed.h"
#include "util/prng.h"

namespace cambium::testing::verify_agrees_test {
namespace {

using grown::Model;
using grown::Models;
using grown::PutBoth;
using grown::Subject;
using grown::SyncAndRecord;
using grown::UseSmallFiles;
using grown::ValueOf;

// ---- The reader's errors ----

// Log GC reports values that it cannot read to listeners only.
class Listener final : public EventListener {
 public:
  void OnBackgroundError(const BackgroundErrorInfo& info) override {
    if (error_.ok()) error_ = info.status;
  }
  [[nodiscard]] const Status& error() const { return error_; }

 private:
  Status error_;
};

// Reads a subject, and keeps the first error and the first wrong result.
class Reader {
 public:
  Reader(const Subject& subject, FamilyStore* store) : subject_(subject), store_(*store) {}

  void ReadEverything() {
    for (std::size_t f = 0; f < store_.handles.size(); ++f) {
      const std::string name = f == 0 ? kDefaultColumnFamilyName : subject_.families[f - 1];
      must_ = &subject_.must.at(name);
      const auto may = subject_.may.find(name);
      static const Model kNothing;
      may_ = may == subject_.may.end() ? &kNothing : &may->second;
      family_ = store_.handles[f];
      Scan(true, true);
      Scan(false, true);
      Scan(true, false);
      GetEach();
      MultiGetAll();
    }
  }
  void Note(const Status& s) {
    if (s.ok() || !error_.ok()) return;
    error_ = s;
    // A MANIFEST that has lost its end may lack families that Open asks for.
    const bool is_honest = s.IsCorruption() || s.IsNotSupported() || (s.IsInvalidArgument() && store_.db == nullptr);
    if (!is_honest) Wrong("unexpected: " + s.ToString());
  }
  [[nodiscard]] const Status& error() const { return error_; }
  [[nodiscard]] const std::string& wrong() const { return wrong_; }

 private:
  void Wrong(const std::string& what) {
    if (wrong_.empty()) wrong_ = what;
  }
  void CheckValue(const std::string& key, Slice value, const char* how) {
    const auto must = must_->find(key);
    const auto may = may_->find(key);
    const bool is_right =
        (must != must_->end() && value == Slice(must->second)) || (may != may_->end() && value == Slice(may->second));
    if (!is_right) Wrong(std::string(how) + " shows a wrong value of " + key);
  }
  void Scan(bool forward, bool with_values) {
    const std::unique_ptr<Iterator> it(store_.db->NewIterator({}, family_));
    std::size_t seen = 0;
    for (forward ? it->SeekToFirst() : it->SeekToLast(); it->Valid(); forward ? it->Next() : it->Prev()) {
      const std::string key = it->key().ToString();
      if (!must_->contains(key) && !may_->contains(key)) return Wrong("a scan shows " + key);
      seen += must_->contains(key) ? 1 : 0;
      if (!with_values) continue;
      const Slice value = it->value();
      if (!it->status().ok()) break;
      CheckValue(key, value, "a scan");
    }
    Note(it->status());
    if (it->status().ok() && seen != must_->size()) Wrong("a scan misses keys");
  }
  void GetEach() {
    for (const auto& [key, expected] : *must_) {
      std::string value;
      const Status s = store_.db->Get({}, family_, key, &value);
      if (s.IsNotFound()) return Wrong("Get misses " + key);
      if (s.ok()) CheckValue(key, value, "Get");
      Note(s);
    }
  }
  void MultiGetAll() {
    std::vector<Slice> keys;
    for (const auto& [key, expected] : *must_) keys.emplace_back(key);
    std::vector<PinnableSlice> values(keys.size());
    std::vector<Status> statuses(keys.size());
    store_.db->MultiGet({}, family_, keys.size(), keys.data(), values.data(), statuses.data());
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (statuses[i].IsNotFound()) return Wrong("MultiGet misses " + keys[i].ToString());
      if (statuses[i].ok()) CheckValue(keys[i].ToString(), values[i], "MultiGet");
      Note(statuses[i]);
    }
  }

  const Subject& subject_;
  FamilyStore& store_;
  ColumnFamilyHandle* family_ = nullptr;
  const Model* must_ = nullptr;
  const Model* may_ = nullptr;
  Status error_;
  std::string wrong_;
};

struct Verdict {
  Status error;       // the first error of Open, a read, a compaction or log GC
  std::string wrong;  // a result that must never occur
  VerifyReport report;
};

Verdict Judge(const Subject& subject, const std::shared_ptr<SimFileSystem>& fs) {
  Verdict verdict;
  FamilyStore store(fs);
  subject.set_options(&store);
  std::vector<ColumnFamilyDescriptor> families{{kDefaultColumnFamilyName, store.options}};
  for (const std::string& name : subject.families) families.emplace_back(name, store.OptionsOf(name));
  const auto before = store.Files();
  const Status verified = VerifyDB(kStorePath, store.options, families, {.deep = true}, &verdict.report);
  if (!verified.ok()) verdict.wrong = "VerifyDB cannot: " + verified.ToString();
  if (store.Files() != before) verdict.wrong = "VerifyDB changed files";

  Reader reader(subject, &store);
  const auto listener = std::make_shared<Listener>();
  store.options.listeners.push_back(listener);
  // Make log GC choose every segment with garbage.
  store.options.enable_blob_garbage_collection = true;
  store.options.blob_garbage_collection_age_cutoff = 1;
  store.options.blob_garbage_collection_force_threshold = 0;
  for (auto& [name, its] : store.family_options) {
    its.enable_blob_garbage_collection = true;
    its.blob_garbage_collection_age_cutoff = 1;
    its.blob_garbage_collection_force_threshold = 0;
  }
  const Status opened = store.OpenWith(subject.families);
  reader.Note(opened);
  if (opened.ok()) {
    reader.ReadEverything();
    for (ColumnFamilyHandle* family : store.handles) reader.Note(store.db->Flush({}, family));
    static_cast<void>(store.db->WaitForCompact());
    store.executor->RunAll();
    CompactRangeOptions everything;
    everything.blob_garbage_collection_policy = BlobGarbageCollectionPolicy::kForce;
    everything.blob_garbage_collection_age_cutoff = 1;
    for (ColumnFamilyHandle* family : store.handles) {
      reader.Note(store.db->CompactRange(everything, family, nullptr, nullptr));
    }
    store.executor->RunAll();
    reader.ReadEverything();
    reader.Note(listener->error());
    store.DestroyHandles();
    static_cast<void>(store.db->Close());
  }
  store.db.reset();
  verdict.error = reader.error();
  if (verdict.wrong.empty()) verdict.wrong = reader.wrong();
  return verdict;
}

// ---- A database with a torn tail ----

// Makes a subject by a power cut during unsynced writes.
Subject TornTail() {
  Subject subject{.name = "torn tail", .set_options = UseSmallFiles};
  FamilyStore store;
  UseSmallFiles(&store);
  store.MustOpenWith({});
  for (int i = 0; i < 30; ++i) PutBoth(&store, &subject, 0, NumberedKey(i), ValueOf(i, 200));
  store.Flush();
  for (int i = 30; i < 40; ++i) PutBoth(&store, &subject, 0, NumberedKey(i), ValueOf(i, 200));
  SyncAndRecord(&store, &subject);
  for (int i = 40; i < 60; ++i) {
    store.Put(NumberedKey(i), ValueOf(i, 200));
    subject.may[kDefaultColumnFamilyName][NumberedKey(i)] = ValueOf(i, 200);
  }
  const SimImage now = store.fs->Snapshot();
  store.DestroyHandles();
  store.fs->PowerOff();
  store.db.reset();
  // Draw crashes until VerifyDB reports a torn tail.
  for (std::uint64_t seed = 1; seed < 200; ++seed) {
    Prng prng(seed);
    subject.image = now.DrawCrash(prng);
    const Verdict verdict = Judge(subject, std::make_shared<SimFileSystem>(subject.image));
    const auto is_torn = [](const std::string& note) { return note.find("torn") != std::string::npos; };
    if (std::ranges::any_of(verdict.report.notes, is_torn)) return subject;
  }
  ADD_FAILURE() << "no power cut tore the tail";
  return subject;
}

// ---- Damage ----

// Makes one change of one file, at a random place.
Status Hurt(SimFileSystem* fs, const std::string& path, Prng* prng, std::string* what) {
  std::string bytes;
  CAMBIUM_RETURN_IF_ERROR(fs->probe().ReadContents(path, &bytes));
  if (bytes.empty()) return Status::NotFound();
  const std::uint64_t at = prng->Uniform(bytes.size());
  switch (prng->Uniform(8)) {
    case 0: {
      const std::string random = prng->Bytes(std::min<std::size_t>(16, bytes.size() - at));
      *what = "random bytes at " + std::to_string(at);
      return fs->tampering().Overwrite(path, at, random);
    }
    case 1: {
      const std::uint64_t block = at / 512 * 512;
      const std::string zeros(std::min<std::size_t>(512, bytes.size() - block), '\0');
      *what = "zeros at " + std::to_string(block);
      return fs->tampering().Overwrite(path, block, zeros);
    }
    case 2:
      *what = "cut off at " + std::to_string(at);
      return fs->tampering().Truncate(path, at);
    default: {
      const int bit = static_cast<int>(prng->Uniform(8));
      *what = "bit " + std::to_string(bit) + " at " + std::to_string(at);
      return fs->tampering().FlipBit(path, at, bit);
    }
  }
}

// Judges the subject without damage, then damaged copies of it.
void ExpectAgreement(const Subject& subject, std::uint64_t copies) {
  const Verdict untouched = Judge(subject, std::make_shared<SimFileSystem>(subject.image));
  ASSERT_EQ(untouched.wrong, "");
  ASSERT_TRUE(untouched.error.ok()) << untouched.error.ToString();
  ASSERT_TRUE(untouched.report.problems.empty()) << untouched.report.problems.front();
  ASSERT_TRUE(untouched.report.dead_damage.empty()) << untouched.report.dead_damage.front();

  const std::uint64_t seed = SeedFromEnvironment(77);
  Prng prng(seed);
  std::vector<std::string> paths;
  for (const auto& file : SimFileSystem(subject.image).probe().ListFiles()) {
    if (!file.path.ends_with("/LOCK") && !file.path.ends_with("/LOG")) paths.push_back(file.path);
  }
  int damaged = 0;
  int dead = 0;
  int disagreements = 0;
  for (std::uint64_t copy = 0; copy < ScaledPrograms(copies); ++copy) {
    const auto fs = std::make_shared<SimFileSystem>(subject.image);
    const std::string& path = paths[prng.Uniform(paths.size())];
    std::string what;
    if (!Hurt(fs.get(), path, &prng, &what).ok()) continue;
    const Verdict verdict = Judge(subject, fs);
    const VerifyReport& report = verdict.report;
    damaged += report.problems.empty() ? 0 : 1;
    dead += report.dead_damage.empty() ? 0 : 1;
    EXPECT_EQ(verdict.wrong, "") << subject.name << ": " << path << ", " << what;
    EXPECT_EQ(report.problems.empty(), verdict.error.ok())
        << subject.name << ": " << path << ", " << what
        << "\nVerifyDB: " << (report.problems.empty() ? "no problem" : report.problems.front())
        << "\nreader: " << verdict.error.ToString()
        << "\ndead: " << (report.dead_damage.empty() ? "none" : report.dead_damage.front())
        << "\nCAMBIUM_SEED=" << seed;
    disagreements += report.problems.empty() != verdict.error.ok() ? 1 : 0;
    if (disagreements > 5) FAIL() << "more than 5 disagreements";
  }
  std::printf("%s: %d with problems, %d with dead damage\n", subject.name.c_str(), damaged, dead);
  EXPECT_GT(damaged, 0);
}

TEST(VerifyAgreesTest, FamiliesOfBothIndexes) { ExpectAgreement(grown::Families(), 500); }
TEST(VerifyAgreesTest, ValuesThatLogGcRelocated) { ExpectAgreement(grown::Collected(), 600); }
TEST(VerifyAgreesTest, PunchedValues) { ExpectAgreement(grown::Punched(), 250); }
TEST(VerifyAgreesTest, LargeValues) { ExpectAgreement(grown::LargeValues(), 500); }
TEST(VerifyAgreesTest, TornTail) { ExpectAgreement(TornTail(), 500); }
TEST(VerifyAgreesTest, HalfSweptTree) {
  CAMBIUM_TREE_ONLY("only a tree's sweep commits in steps; a level compaction is committed as a whole");
  ExpectAgreement(grown::HalfSwept(), 150);
}

}  // namespace
}  // namespace cambium::testing::verify_agrees_test
