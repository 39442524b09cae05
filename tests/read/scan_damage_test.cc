// The loop of every program, `for (...; it->Valid(); it->Next()) use(it->key(), it->value())`, must end with an error
// at an entry that cannot be read: it must neither show the entry without its value nor pass over it.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "testing/mutant_scope.h"
#include "testing/test_store.h"

namespace cambium::testing::scan_damage_test {
namespace {

constexpr int kKeys = 90;

// How the values are stored and read.
struct Way {
  std::size_t value_size;
  bool mapped;
  bool resident;
  bool async_io;
  bool at_snapshot;
  [[nodiscard]] std::string Text() const {
    return std::to_string(value_size) + " bytes" + (mapped ? ", mapped" : "") + (resident ? ", in memory" : ", cold") +
           (async_io ? ", io_uring" : ", threads") + (at_snapshot ? ", at a snapshot" : "");
  }
};

std::vector<Way> AllWays() {
  std::vector<Way> ways;
  for (const std::size_t size : {300u, 6000u, 9000u}) {  // the last ones have files of their own
    for (unsigned bits = 0; bits < 16; ++bits) {
      ways.push_back({size, (bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0, (bits & 8) != 0});
    }
  }
  return ways;
}

std::string BeginningOf(int i) { return "the value of " + NumberedKey(i) + ": "; }

class DamagedScan {
 public:
  explicit DamagedScan(const Way& way) : way_(way) {
    store_.options.allow_mmap_reads = way.mapped;
    store_.options.blob_file_size = 1u << 20;
    store_.options.enable_blob_garbage_collection = false;
    store_.MustOpen();
    for (int i = 0; i < kKeys; ++i) store_.Put(NumberedKey(i), ValueOf(i));
    store_.Compact();
    if (way.at_snapshot) {
      snapshot_ = store_.db->GetSnapshot();
      for (int i = 0; i < kKeys; ++i) store_.Put(NumberedKey(i), "new");
      store_.Compact();
    }
    store_.fs->SetResident(way.resident);
  }
  ~DamagedScan() {
    if (snapshot_ != nullptr) store_.db->ReleaseSnapshot(snapshot_);
  }

  [[nodiscard]] std::string ValueOf(int i) const { return BeginningOf(i) + std::string(way_.value_size, 'v'); }

  // Changes one bit of the value, or changes it back.
  void Flip(int i) {
    for (const auto& [path, bytes] : store_.Files()) {
      const std::size_t at = bytes.find(BeginningOf(i));
      if (at == std::string::npos) continue;
      ASSERT_TRUE(store_.fs->tampering().FlipBit(path, at + 200, 3).ok());
      store_.fs->SetResident(way_.resident);
      return;
    }
    FAIL() << "no file has the value of " << NumberedKey(i);
  }

  [[nodiscard]] std::unique_ptr<Iterator> NewIterator(bool allow_unprepared_value = false) {
    ReadOptions read;
    read.async_io = way_.async_io;
    read.snapshot = snapshot_;
    read.allow_unprepared_value = allow_unprepared_value;
    return std::unique_ptr<Iterator>(store_.db->NewIterator(read));
  }

  void ExpectAt(const Iterator& it, int i) const {
    ASSERT_TRUE(it.Valid()) << NumberedKey(i) << ": " << it.status().ToString();
    ASSERT_EQ(it.key(), Slice(NumberedKey(i)));
    ASSERT_EQ(it.value(), Slice(ValueOf(i)));
    ASSERT_TRUE(it.status().ok());
  }

  TestStore store_;

 private:
  const Way way_;
  const Snapshot* snapshot_ = nullptr;
};

// The iterator has met damage: it stays invalid, and keeps the error, whatever is called except a seek.
void ExpectStopped(Iterator* it) {
  for (const auto& call : std::vector<std::function<void()>>{[] {}, [&] { it->Next(); }, [&] { it->Prev(); },
                                                             [&] { it->Next(); }, [&] { it->PrepareValue(); }}) {
    call();
    ASSERT_FALSE(it->Valid());
    ASSERT_TRUE(it->status().IsCorruption()) << it->status().ToString();
  }
}

// Runs the loop in both directions and expects that it ends at the damaged entry.
void ExpectLoopsEndAt(DamagedScan* scan, Iterator* it, int damaged) {
  int next = 0;
  for (it->SeekToFirst(); it->Valid(); it->Next()) scan->ExpectAt(*it, next++);
  EXPECT_EQ(next, damaged);
  ExpectStopped(it);
  int last = kKeys - 1;
  for (it->SeekToLast(); it->Valid(); it->Prev()) scan->ExpectAt(*it, last--);
  EXPECT_EQ(last, damaged);
  ExpectStopped(it);
}

TEST(ScanDamageTest, LoopEndsWithCorruptionAtADamagedValue) {
  for (const Way& way : AllWays()) {
    SCOPED_TRACE(way.Text());
    DamagedScan scan(way);
    const std::unique_ptr<Iterator> used(scan.NewIterator());  // by now scans are expected to be long
    for (const int damaged : {0, 40, kKeys - 1}) {
      SCOPED_TRACE(NumberedKey(damaged));
      scan.Flip(damaged);
      const std::unique_ptr<Iterator> fresh(scan.NewIterator());
      ExpectLoopsEndAt(&scan, fresh.get(), damaged);
      ExpectLoopsEndAt(&scan, used.get(), damaged);
      scan.Flip(damaged);
      if (::testing::Test::HasFatalFailure()) return;
    }
    // An error is no property of the iterator: once the value can be read, it is shown.
    int next = 0;
    for (used->SeekToFirst(); used->Valid(); used->Next()) scan.ExpectAt(*used, next++);
    EXPECT_EQ(next, kKeys);
    EXPECT_TRUE(used->status().ok());
  }
}

TEST(ScanDamageTest, SeekToADamagedValueIsAnErrorAndTheNextSeekClearsIt) {
  for (const Way& way : AllWays()) {
    SCOPED_TRACE(way.Text());
    DamagedScan scan(way);
    constexpr int kDamaged = 40;
    scan.Flip(kDamaged);
    const std::unique_ptr<Iterator> it(scan.NewIterator());
    it->Seek(NumberedKey(kDamaged));
    ExpectStopped(it.get());
    it->Seek(NumberedKey(kDamaged + 1));
    scan.ExpectAt(*it, kDamaged + 1);
    it->Prev();
    ExpectStopped(it.get());
    it->SeekForPrev(NumberedKey(kDamaged));
    ExpectStopped(it.get());
    it->SeekForPrev(NumberedKey(kDamaged - 1));
    scan.ExpectAt(*it, kDamaged - 1);
    it->Next();
    ExpectStopped(it.get());
    // A turn near the damage.
    it->Seek(NumberedKey(kDamaged - 3));
    it->Next();
    it->Next();
    scan.ExpectAt(*it, kDamaged - 1);
    it->Prev();
    scan.ExpectAt(*it, kDamaged - 2);
    it->Next();
    it->Next();
    ExpectStopped(it.get());
    if (::testing::Test::HasFatalFailure()) return;
  }
}

// Keys are shown as long as their pages can be read; only PrepareValue meets the damage.
TEST(ScanDamageTest, PrepareValueStopsTheScanAtADamagedValue) {
  for (const Way& way : AllWays()) {
    SCOPED_TRACE(way.Text());
    DamagedScan scan(way);
    constexpr int kDamaged = 40;
    scan.Flip(kDamaged);
    const std::unique_ptr<Iterator> it(scan.NewIterator(/*allow_unprepared_value=*/true));
    int seen = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next(), ++seen) ASSERT_TRUE(it->value().empty());
    EXPECT_EQ(seen, kKeys);
    EXPECT_TRUE(it->status().ok());
    seen = 0;
    for (it->SeekToFirst(); it->Valid() && it->PrepareValue(); it->Next(), ++seen) scan.ExpectAt(*it, seen);
    EXPECT_EQ(seen, kDamaged);
    ExpectStopped(it.get());
    it->SeekToLast();
    ASSERT_TRUE(it->PrepareValue());
    scan.ExpectAt(*it, kKeys - 1);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

// The value is in an index page, whose checksum covers all its entries.
TEST(ScanDamageTest, LoopEndsWithCorruptionAtADamagedPage) {
  TestStore store;
  store.MustOpen();
  const auto value_of = [](int i) { return "in" + NumberedKey(i); };
  for (int i = 0; i < kKeys; ++i) store.Put(NumberedKey(i), value_of(i));
  store.Compact();
  store.MustClose();
  ASSERT_GT(store.DamageInIndex(value_of(50)), 0);
  for (const bool unprepared : {false, true}) {
    store.MustOpen();
    {
      ReadOptions read;
      read.allow_unprepared_value = unprepared;
      const std::unique_ptr<Iterator> it(store.db->NewIterator(read));
      int next = 0;
      for (it->SeekToFirst(); it->Valid(); it->Next(), ++next) {
        ASSERT_EQ(it->key(), Slice(NumberedKey(next)));
        ASSERT_EQ(it->value(), Slice(value_of(next)));
      }
      EXPECT_LE(next, 50);
      ExpectStopped(it.get());
      int last = kKeys - 1;
      for (it->SeekToLast(); it->Valid(); it->Prev(), --last) ASSERT_EQ(it->key(), Slice(NumberedKey(last)));
      EXPECT_GE(last, 50);
      ExpectStopped(it.get());
      it->Seek(NumberedKey(50));
      ExpectStopped(it.get());
    }
    store.MustClose();
  }
}

TEST(ScanDamageTest, MovesAtTheEndDoNothing) {
  TestStore store;
  store.MustOpen();
  for (int i = 0; i < 10; ++i) store.Put(NumberedKey(i), "v");
  const std::unique_ptr<Iterator> it(store.db->NewIterator({}));
  const auto expect_nothing_happens = [&] {
    for (int i = 0; i < 3; ++i) {
      i % 2 == 0 ? it->Next() : it->Prev();
      ASSERT_FALSE(it->Valid());
      ASSERT_TRUE(it->status().ok());
      ASSERT_FALSE(it->PrepareValue());
    }
  };
  expect_nothing_happens();  // not positioned yet
  it->SeekToLast();
  it->Next();
  expect_nothing_happens();
  it->SeekToFirst();
  it->Prev();
  expect_nothing_happens();
}

TEST(ScanDamageTest, MutantThatPassesDamageIsCaught) {
  const auto entries_and_status = [] {
    DamagedScan scan({300, false, false, true, false});
    scan.Flip(40);
    const std::unique_ptr<Iterator> it(scan.NewIterator());
    int seen = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next()) ++seen;
    return std::pair(seen, it->status().code());
  };
  EXPECT_EQ(entries_and_status(), std::pair(40, Status::Code::kCorruption));
  const MutantScope mutant(Mutant::kScanPassesDamage);
  EXPECT_EQ(entries_and_status(), std::pair(kKeys, Status::Code::kOk));
}

}  // namespace
}  // namespace cambium::testing::scan_damage_test
