// WriteBatchWithIndex: reads of a batch give what reads of the database would give if the batch were written.
#include "cambium/write_batch_with_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "testing/scale.h"
#include "testing/seed.h"
#include "testing/test_store.h"
#include "util/prng.h"

namespace cambium::testing::write_batch_with_index_test {
namespace {

using Map = std::map<std::string, std::string>;

std::string Found(const Status& s, const std::string& value) {
  return s.ok() ? value : s.IsNotFound() ? "NotFound" : s.ToString();
}

std::string InBatch(WriteBatchWithIndex* batch, Slice key) {
  std::string value;
  const Status s = batch->GetFromBatch(DBOptions(), key, &value);
  return Found(s, value);
}

std::string InBoth(WriteBatchWithIndex* batch, DB* db, Slice key) {
  std::string value;
  const Status s = batch->GetFromBatchAndDB(db, {}, key, &value);
  return Found(s, value);
}

// Every operation of the default family, as "put a=1", in the order of the index.
std::vector<std::string> Entries(WriteBatchWithIndex* batch) {
  std::vector<std::string> all;
  const std::unique_ptr<WBWIIterator> it(batch->NewIterator());
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    const WriteEntry entry = it->Entry();
    const std::string key = entry.key.ToString();
    all.push_back(entry.type == WriteType::kPutRecord ? "put " + key + "=" + entry.value.ToString() : "delete " + key);
  }
  std::vector<std::string> backward;
  for (it->SeekToLast(); it->Valid(); it->Prev()) backward.insert(backward.begin(), it->Entry().key.ToString());
  EXPECT_EQ(backward.size(), all.size());
  return all;
}

TEST(WriteBatchWithIndexTest, TheNewestOperationOfAKeyDecides) {
  WriteBatchWithIndex batch;
  EXPECT_EQ(InBatch(&batch, "a"), "NotFound");
  ASSERT_TRUE(batch.Put("a", "1").ok());
  ASSERT_TRUE(batch.Put("a", "2").ok());
  EXPECT_EQ(InBatch(&batch, "a"), "2");
  ASSERT_TRUE(batch.Delete("a").ok());
  EXPECT_EQ(InBatch(&batch, "a"), "NotFound");
  ASSERT_TRUE(batch.SingleDelete("b").ok());
  ASSERT_TRUE(batch.Put("b", "3").ok());
  EXPECT_EQ(InBatch(&batch, "b"), "3");
  EXPECT_EQ(Entries(&batch), (std::vector<std::string>{"put a=1", "put a=2", "delete a", "delete b", "put b=3"}));
}

TEST(WriteBatchWithIndexTest, WithOverwriteKeyTheIndexHasOnlyNewestOperations) {
  WriteBatchWithIndex batch(BytewiseComparator(), 0, /*overwrite_key=*/true);
  ASSERT_TRUE(batch.Put("a", "1").ok());
  ASSERT_TRUE(batch.Put("a", "2").ok());
  ASSERT_TRUE(batch.Put("b", "3").ok());
  ASSERT_TRUE(batch.Delete("b").ok());
  EXPECT_EQ(Entries(&batch), (std::vector<std::string>{"put a=2", "delete b"}));
  EXPECT_EQ(batch.GetWriteBatch()->Count(), 4u);
  EXPECT_TRUE(batch.GetOverwriteKey());
}

TEST(WriteBatchWithIndexTest, RangeDeletesHideEarlierOperationsOnly) {
  TestStore store;
  store.MustOpen();
  for (const char* key : {"a", "c", "e", "g"}) store.Put(key, "db");
  WriteBatchWithIndex batch;
  ASSERT_TRUE(batch.Put("b", "1").ok());
  ASSERT_TRUE(batch.DeleteRange("b", "f").ok());
  ASSERT_TRUE(batch.Put("d", "2").ok());
  EXPECT_EQ(InBoth(&batch, store.db.get(), "a"), "db");
  EXPECT_EQ(InBoth(&batch, store.db.get(), "b"), "NotFound");
  EXPECT_EQ(InBoth(&batch, store.db.get(), "c"), "NotFound");
  EXPECT_EQ(InBoth(&batch, store.db.get(), "d"), "2");
  EXPECT_EQ(InBoth(&batch, store.db.get(), "e"), "NotFound");
  EXPECT_EQ(InBoth(&batch, store.db.get(), "g"), "db");
  EXPECT_TRUE(batch.DeleteRange("f", "b").IsInvalidArgument());
}

TEST(WriteBatchWithIndexTest, MaxBytesLeavesAnOperationOutAndTheBatchCanBeWritten) {
  TestStore store;
  store.MustOpen();
  WriteBatchWithIndex batch(BytewiseComparator(), 0, true, 40);
  ASSERT_TRUE(batch.Put("a", "1").ok());
  EXPECT_TRUE(batch.Put("b", std::string(100, 'x')).IsAborted());
  EXPECT_EQ(InBatch(&batch, "b"), "NotFound");
  ASSERT_TRUE(store.db->Write({}, batch.GetWriteBatch()).ok());
  EXPECT_EQ(store.Get("a"), "1");
  EXPECT_EQ(store.Get("b"), "NotFound");
  batch.SetMaxBytes(0);
  EXPECT_TRUE(batch.Put("b", std::string(100, 'x')).ok());
}

TEST(WriteBatchWithIndexTest, ARefusedOperationIsNotInTheIndex) {
  TestStore store;
  store.MustOpen();
  WriteBatchWithIndex batch;
  EXPECT_TRUE(batch.Put(std::string(kMaxKeyBytes + 1, 'k'), "v").IsInvalidArgument());
  EXPECT_TRUE(batch.Merge("a", "1").IsNotSupported());
  EXPECT_TRUE(Entries(&batch).empty());
  EXPECT_TRUE(store.db->Write({}, batch.GetWriteBatch()).IsInvalidArgument());
  batch.Clear();
  ASSERT_TRUE(batch.Put("a", "1").ok());
  EXPECT_TRUE(store.db->Write({}, batch.GetWriteBatch()).ok());
}

TEST(WriteBatchWithIndexTest, AnIteratorGoesOnAfterTheBatchHasChanged) {
  TestStore store;
  store.MustOpen();
  for (const char* key : {"a", "c", "e"}) store.Put(key, "db");
  WriteBatchWithIndex batch(BytewiseComparator(), 0, true);
  ASSERT_TRUE(batch.Put("b", "1").ok());
  const std::unique_ptr<Iterator> it(batch.NewIteratorWithBase(store.db->NewIterator({})));
  it->Seek("b");
  ASSERT_TRUE(it->Valid());
  ASSERT_TRUE(batch.Put("b", "2").ok());  // replaces the operation that the iterator is at
  ASSERT_TRUE(batch.Put("bb", "3").ok());
  ASSERT_TRUE(batch.Delete("c").ok());
  it->Next();
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->key().ToString(), "bb");
  it->Next();
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->key().ToString(), "e");
  batch.Clear();
  it->Prev();
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->key().ToString(), "c");
}

// A batch, the operations it should have, and a database that gets the same operations.
class Pair {
 public:
  Pair(Prng* prng, bool overwrite_key) : prng_(*prng), batch(BytewiseComparator(), 0, overwrite_key) {
    store.MustOpen();
    EXPECT_TRUE(store.db->CreateColumnFamily(store.options, "other", &other).ok());
    for (int i = 0; i < 15; ++i) {
      EXPECT_TRUE(store.db->Put({}, Handle(Family()), Key(), "db" + std::to_string(i)).ok());
      if (i == 7) store.Flush();
    }
  }
  ~Pair() { EXPECT_TRUE(store.db->DestroyColumnFamilyHandle(other).ok()); }

  ColumnFamilyHandle* Family() { return prng_.Uniform(3) == 0 ? other : nullptr; }  // null: the default family
  ColumnFamilyHandle* Handle(ColumnFamilyHandle* family) {
    return family == nullptr ? store.db->DefaultColumnFamily() : family;
  }
  std::string Key() { return "k" + std::to_string(10 + prng_.Uniform(25)); }

  void Change() {
    ColumnFamilyHandle* const family = Family();
    const std::string key = Key();
    const std::string value = "batch" + std::to_string(++values_);
    switch (prng_.Uniform(10)) {
      case 0:
        EXPECT_TRUE(batch.Delete(family, key).ok());
        break;
      case 1:
        EXPECT_TRUE(batch.SingleDelete(family, key).ok());
        break;
      case 2: {
        const std::string end = Key();
        EXPECT_TRUE(batch.DeleteRange(family, std::min(key, end), std::max(key, end)).ok());
        break;
      }
      case 3:
        batch.SetSavePoint();
        break;
      case 4:
        static_cast<void>(batch.RollbackToSavePoint());
        break;
      case 5:
        static_cast<void>(batch.PopSavePoint());
        break;
      default:
        EXPECT_TRUE(batch.Put(family, key, value).ok());
    }
  }

  // What the family would have if the batch were written.
  Map Expected(ColumnFamilyHandle* family) {
    Map map;
    const std::unique_ptr<Iterator> it(store.db->NewIterator({}, Handle(family)));
    for (it->SeekToFirst(); it->Valid(); it->Next()) map[it->key().ToString()] = it->value().ToString();
    struct Apply final : WriteBatch::Handler {
      Status Put(Slice, Slice) override { return Status::OK(); }
      Status Delete(Slice) override { return Status::OK(); }
      Status PutCF(std::uint32_t id, Slice key, Slice value) override {
        if (id == wanted) (*to)[key.ToString()] = value.ToString();
        return Status::OK();
      }
      Status DeleteCF(std::uint32_t id, Slice key) override {
        if (id == wanted) to->erase(key.ToString());
        return Status::OK();
      }
      Status SingleDeleteCF(std::uint32_t id, Slice key) override { return DeleteCF(id, key); }
      Status DeleteRangeCF(std::uint32_t id, Slice begin, Slice end) override {
        if (id == wanted) to->erase(to->lower_bound(begin.ToString()), to->lower_bound(end.ToString()));
        return Status::OK();
      }
      std::uint32_t wanted = 0;
      Map* to = nullptr;
    } apply;
    apply.wanted = family == nullptr ? 0 : family->GetID();
    apply.to = &map;
    EXPECT_TRUE(batch.GetWriteBatch()->Iterate(&apply).ok());
    return map;
  }

  void CheckGets(ColumnFamilyHandle* family, const Map& expected) {
    std::vector<std::string> keys;
    for (int i = 10; i < 35; ++i) keys.push_back("k" + std::to_string(i));
    std::vector<Slice> slices(keys.begin(), keys.end());
    std::vector<PinnableSlice> values(keys.size());
    std::vector<Status> statuses(keys.size());
    batch.MultiGetFromBatchAndDB(store.db.get(), {}, family, keys.size(), slices.data(), values.data(),
                                 statuses.data());
    for (std::size_t i = 0; i < keys.size(); ++i) {
      std::string value;
      const Status s = batch.GetFromBatchAndDB(store.db.get(), {}, family, keys[i], &value);
      const auto found = expected.find(keys[i]);
      const std::string wanted = found == expected.end() ? "NotFound" : found->second;
      EXPECT_EQ(Found(s, value), wanted) << keys[i];
      EXPECT_EQ(Found(statuses[i], values[i].ToString()), wanted) << keys[i];
    }
  }

  void CheckWalk(ColumnFamilyHandle* family, const Map& all) {
    const std::string low = Key();
    const std::string high = Key();
    const Slice lower(low);
    const Slice upper(high);
    ReadOptions read;
    const bool is_bounded = prng_.Uniform(2) == 0 && low < high;
    if (is_bounded) {
      read.iterate_lower_bound = &lower;
      read.iterate_upper_bound = &upper;
    }
    Map expected;
    for (const auto& [key, value] : all) {
      if (!is_bounded || (key >= low && key < high)) expected[key] = value;
    }
    const std::unique_ptr<Iterator> it(
        batch.NewIteratorWithBase(family, store.db->NewIterator(read, Handle(family)), &read));
    auto at = expected.end();
    for (int step = 0; step < 60; ++step) {
      const std::string target = Key();
      const std::uint64_t move = prng_.Uniform(at == expected.end() ? 4 : 16);
      if (move == 0) {
        it->SeekToFirst();
        at = expected.begin();
      } else if (move == 1) {
        it->SeekToLast();
        at = expected.empty() ? expected.end() : std::prev(expected.end());
      } else if (move == 2) {
        it->Seek(target);
        at = expected.lower_bound(target);
      } else if (move == 3) {
        it->SeekForPrev(target);
        at = expected.upper_bound(target);
        at = at == expected.begin() ? expected.end() : std::prev(at);
      } else if (move < 11) {
        it->Next();
        ++at;
      } else {
        it->Prev();
        at = at == expected.begin() ? expected.end() : std::prev(at);
      }
      ASSERT_TRUE(it->status().ok());
      ASSERT_EQ(it->Valid(), at != expected.end()) << "step " << step << ", move " << move << " " << target;
      if (at == expected.end()) continue;
      ASSERT_EQ(it->key().ToString(), at->first) << "step " << step << ", move " << move << " " << target;
      ASSERT_EQ(it->value().ToString(), at->second);
    }
  }

 private:
  Prng& prng_;
  int values_ = 0;

 public:
  TestStore store;
  ColumnFamilyHandle* other = nullptr;
  WriteBatchWithIndex batch;
};

TEST(WriteBatchWithIndexTest, ReadsAgreeWithTheWrittenDatabase) {
  const std::uint64_t seed = SeedFromEnvironment(41);
  for (std::uint64_t round = 0; round < ScaledCount(60); ++round) {
    SCOPED_TRACE("CAMBIUM_SEED=" + std::to_string(seed + round));
    Prng prng(seed + round);
    Pair pair(&prng, round % 2 == 0);
    for (int part = 0; part < 6; ++part) {
      for (int i = 0; i < 8; ++i) pair.Change();
      for (ColumnFamilyHandle* const family : {static_cast<ColumnFamilyHandle*>(nullptr), pair.other}) {
        const Map expected = pair.Expected(family);
        pair.CheckGets(family, expected);
        for (int walk = 0; walk < 3; ++walk) pair.CheckWalk(family, expected);
      }
      if (HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace cambium::testing::write_batch_with_index_test
