// Random programs of prepared transactions over two families, with flushes, compactions, log GC and power cuts, beside
// a model. All writes are synced, so the model knows what a cut must leave.
#include <gtest/gtest.h>

#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "io/sim/sim_image.h"
#include "testing/mutant_scope.h"
#include "testing/scale.h"
#include "testing/seed.h"
#include "transactions/prepared_test_store.h"
#include "util/prng.h"

namespace cambium::testing::prepare_random_test {
namespace {

constexpr int kKeys = 24;
constexpr int kFamilies = 2;

// A key of a family.
using Place = std::pair<int, std::string>;
// The value of each key that is written; "": deleted.
using Writes = std::map<Place, std::string>;

class Program {
 public:
  explicit Program(std::uint64_t seed) : prng_(seed) {
    Open(std::make_shared<SimFileSystem>());
    for (int step = 0; step < 400 && wrong_.empty(); ++step) Step();
    if (wrong_.empty()) Reopen(prng_.Uniform(2) == 0);
    EndAll();
    CloseIt();
  }
  // What differs from the model, or "".
  [[nodiscard]] const std::string& wrong() const { return wrong_; }
  [[nodiscard]] int ends() const { return ends_; }

 private:
  void Open(std::shared_ptr<SimFileSystem> fs) {
    store_ = std::make_unique<PreparedTestStore>(std::move(fs));
    store_->options.create_missing_column_families = true;
    store_->options.blob_file_size = 16u << 10;
    store_->options.blob_garbage_collection_age_cutoff = 1;
    const std::vector<ColumnFamilyDescriptor> families = {{kDefaultColumnFamilyName, store_->options},
                                                          {"second", store_->options}};
    Must(TransactionDB::Open(store_->options, store_->locking, kStorePath, families, &handles_, &store_->transactions));
    store_->base = store_->transactions.get();
  }
  void CloseIt() {
    objects_.clear();
    for (ColumnFamilyHandle* const handle : handles_) delete handle;
    handles_.clear();
    if (store_->transactions != nullptr) Must(store_->transactions->Close());
    store_->transactions.reset();
  }

  void Step() {
    switch (prng_.Uniform(12)) {
      case 0: case 1: case 2: case 3: return Prepare();
      case 4: case 5: return End(/*commits=*/true);
      case 6: return End(/*commits=*/false);
      case 7: return Put();
      case 8: return Must(store_->transactions->Flush({}));
      case 9: return prng_.Uniform(4) == 0 ? Must(store_->transactions->CompactRange({}, nullptr, nullptr)) : Put();
      case 10: return prng_.Uniform(4) == 0 ? Reopen(/*cuts=*/true) : Put();
      default: return prng_.Uniform(4) == 0 ? Reopen(/*cuts=*/false) : Put();
    }
  }

  Place DrawPlace() {
    return {static_cast<int>(prng_.Uniform(kFamilies)), NumberedKey(static_cast<int>(prng_.Uniform(kKeys)))};
  }
  std::string DrawValue() {
    return std::to_string(++values_) + std::string(prng_.Uniform(2) == 0 ? 5 : 900, 'v');
  }
  bool IsLocked(const Place& place) const {
    for (const auto& [name, writes] : prepared_) {
      if (writes.contains(place)) return true;
    }
    return false;
  }

  // A new transaction of some writes. Those to keys that a prepared one has locked must fail.
  void Prepare() {
    const std::string name = "t" + std::to_string(++names_);
    TransactionPtr transaction = store_->Begin();
    Must(transaction->SetName(name));
    Writes writes;
    for (std::uint64_t i = prng_.Uniform(4); i < 4; ++i) {
      const Place place = DrawPlace();
      const std::string value = prng_.Uniform(4) == 0 ? "" : DrawValue();
      ColumnFamilyHandle* const family = handles_[static_cast<std::size_t>(place.first)];
      const Status s = value.empty() ? transaction->Delete(family, place.second)
                                     : transaction->Put(family, place.second, value);
      if (IsLocked(place)) {
        if (!s.IsLockTimeout()) Wrong("a locked key was written: " + place.second);
      } else {
        Must(s);
        writes[place] = value;
      }
    }
    Must(transaction->Prepare());
    prepared_[name] = writes;
    if (prng_.Uniform(4) != 0) objects_[name] = std::move(transaction);  // otherwise the object is deleted
  }

  void End(bool commits) {
    if (objects_.empty()) return;
    const auto at = std::next(objects_.begin(), static_cast<std::ptrdiff_t>(prng_.Uniform(objects_.size())));
    Must(commits ? at->second->Commit() : at->second->Rollback());
    if (commits) Apply(prepared_[at->first]);
    prepared_.erase(at->first);
    objects_.erase(at);
    ++ends_;
  }

  void Put() {
    const Place place = DrawPlace();
    const std::string value = DrawValue();
    const Status s = store_->transactions->Put(store_->synced, handles_[static_cast<std::size_t>(place.first)],
                                               place.second, value);
    if (IsLocked(place)) {
      if (!s.IsLockTimeout()) Wrong("a locked key was put: " + place.second);
      return;
    }
    Must(s);
    contents_[place] = value;
  }

  void Apply(const Writes& writes) {
    for (const auto& [place, value] : writes) {
      if (value.empty()) {
        contents_.erase(place);
      } else {
        contents_[place] = value;
      }
    }
  }

  // Closes the database, or takes what a power cut leaves that keeps random unsynced changes; and opens it again.
  void Reopen(bool cuts) {
    std::shared_ptr<SimFileSystem> next = store_->fs;
    if (cuts) next = std::make_shared<SimFileSystem>(store_->fs->Snapshot().DrawCrash(prng_));
    CloseIt();
    Open(next);
    if (store_->transactions != nullptr) Compare();
  }

  void Compare() {
    Writes found;
    for (int i = 0; i < kFamilies; ++i) {
      const std::unique_ptr<Iterator> entry(
          store_->transactions->NewIterator({}, handles_[static_cast<std::size_t>(i)]));
      for (entry->SeekToFirst(); entry->Valid(); entry->Next()) {
        found[{i, entry->key().ToString()}] = entry->value().ToString();
      }
      Must(entry->status());
    }
    if (found != contents_) Wrong("the contents differ");
    std::set<std::string> names;
    for (TransactionPtr& each : store_->Prepared()) {
      names.insert(each->GetName());
      objects_[each->GetName()] = std::move(each);
    }
    std::set<std::string> expected;
    for (const auto& [name, writes] : prepared_) expected.insert(name);
    if (names != expected) Wrong("other transactions are prepared");
    for (const auto& [name, writes] : prepared_) {
      for (const auto& [place, value] : writes) {
        std::string own;
        const auto object = objects_.find(name);
        if (object == objects_.end()) continue;
        const Status s = object->second->Get({}, handles_[static_cast<std::size_t>(place.first)], place.second, &own);
        if (value.empty() ? !s.IsNotFound() : own != value) Wrong(name + " has lost a write of " + place.second);
      }
    }
  }

  void EndAll() {
    while (wrong_.empty() && !objects_.empty()) End(prng_.Uniform(2) == 0);
    if (wrong_.empty() && !prepared_.empty()) Wrong("a transaction has no object");
    if (wrong_.empty()) Compare();
    if (wrong_.empty() && !store_->transactions->GetLockStatusData().empty()) Wrong("keys are locked");
  }

  void Must(const Status& s) {
    if (!s.ok()) Wrong(s.ToString());
  }
  void Wrong(const std::string& what) {
    if (wrong_.empty()) wrong_ = what;
  }

  Prng prng_;
  std::unique_ptr<PreparedTestStore> store_;
  std::vector<ColumnFamilyHandle*> handles_;
  Writes contents_;
  std::map<std::string, Writes> prepared_;
  std::map<std::string, TransactionPtr> objects_;
  int values_ = 0;
  int names_ = 0;
  int ends_ = 0;
  std::string wrong_;
};

// Runs programs until one finds something wrong, at most `count`. Returns it, or "".
std::string RunPrograms(std::uint64_t seed, std::uint64_t count) {
  int ends = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const Program program(seed + i);
    if (!program.wrong().empty()) return "CAMBIUM_SEED=" + std::to_string(seed + i) + ": " + program.wrong();
    ends += program.ends();
  }
  EXPECT_GT(ends, 0);
  return "";
}

TEST(PrepareRandomTest, ProgramsFindWhatTheModelHas) {
  EXPECT_EQ(RunPrograms(SeedFromEnvironment(1), ScaledCount(20)), "");
}

TEST(PrepareRandomTest, MutantsAreNoticed) {
  for (const Mutant mutant : {Mutant::kCommitKeepsThePrepared, Mutant::kRecoveryTakesNoLocks,
                              Mutant::kDeletedPreparedUnlocks}) {
    const MutantScope scope(mutant);
    EXPECT_NE(RunPrograms(SeedFromEnvironment(1), 20), "") << MutantName(mutant);
  }
}

}  // namespace
}  // namespace cambium::testing::prepare_random_test
