// A program of RocksDB, call by call.
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/options.h"
#include "rocksdb/slice.h"
#include "rocksdb/utilities/checkpoint.h"
#include "rocksdb/write_batch.h"
#include "rocksdb_names/open_names.h"

using ROCKSDB_NAMESPACE::ColumnFamilyDescriptor;
using ROCKSDB_NAMESPACE::ColumnFamilyHandle;
using ROCKSDB_NAMESPACE::ColumnFamilyOptions;
using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::DBOptions;
using ROCKSDB_NAMESPACE::Iterator;
using ROCKSDB_NAMESPACE::ManagedSnapshot;
using ROCKSDB_NAMESPACE::ReadOptions;
using ROCKSDB_NAMESPACE::Slice;
using ROCKSDB_NAMESPACE::Status;
using ROCKSDB_NAMESPACE::WriteBatch;
using ROCKSDB_NAMESPACE::WriteOptions;

namespace rocksdb_names_test::names_program_test {

class NamesProgramTest : public NamesTest {};

TEST_F(NamesProgramTest, WritesAreReadBackAfterReopening) {
  options_.IncreaseParallelism()->IncreaseParallelism(4);
  options_.OptimizeLevelStyleCompaction();
  Open();
  Put("a", "1");
  Put("b", std::string(5000, 'b'));
  WriteBatch batch;
  ASSERT_TRUE(batch.Delete("a").ok());
  ASSERT_TRUE(batch.Put("c", "3").ok());
  ASSERT_TRUE(db_->Write(WriteOptions(), &batch).ok());
  Open();
  EXPECT_EQ(Get("a"), "none");
  EXPECT_EQ(Get("b"), std::string(5000, 'b'));
  EXPECT_EQ(Get("c"), "3");
}

TEST_F(NamesProgramTest, PlainPointersAreReturnedToo) {
  DB* plain = nullptr;
  ASSERT_TRUE(DB::Open(options_, path_, &plain).ok());
  ASSERT_TRUE(plain->Put(WriteOptions(), Slice("key"), Slice("value")).ok());
  ASSERT_TRUE(plain->Close().ok());
  delete plain;
  ASSERT_TRUE(DB::OpenForReadOnly(options_, path_, &plain).ok());
  std::string value;
  EXPECT_TRUE(plain->Get(ReadOptions(), "key", &value).ok());
  EXPECT_FALSE(plain->Put(WriteOptions(), "key", "other").ok());
  delete plain;
}

TEST_F(NamesProgramTest, FamiliesHaveSeparateKeys) {
  Open();
  ColumnFamilyHandle* made = nullptr;
  ASSERT_TRUE(db_->CreateColumnFamily(ColumnFamilyOptions(), "more", &made).ok());
  ASSERT_TRUE(db_->Put(WriteOptions(), made, "key", "in more").ok());
  delete made;
  db_.reset();
  std::vector<std::string> names;
  ASSERT_TRUE(DB::ListColumnFamilies(DBOptions(), path_, &names).ok());
  EXPECT_EQ(names, (std::vector<std::string>{ROCKSDB_NAMESPACE::kDefaultColumnFamilyName, "more"}));
  std::vector<ColumnFamilyDescriptor> families;
  families.emplace_back();
  families.emplace_back("more", ColumnFamilyOptions());
  std::vector<ColumnFamilyHandle*> handles;
  ASSERT_TRUE(DB::Open(DBOptions(), path_, families, &handles, &db_).ok());
  EXPECT_EQ(Get("key"), "none");
  std::vector<std::string> values;
  const std::vector<Status> read = db_->MultiGet(ReadOptions(), {handles[0], handles[1]}, {"key", "key"}, &values);
  EXPECT_TRUE(read[0].IsNotFound());
  EXPECT_EQ(values[1], "in more");
  ASSERT_TRUE(db_->DropColumnFamily(handles[1]).ok());
  EXPECT_TRUE(db_->Put(WriteOptions(), handles[1], "key", "late").IsColumnFamilyDropped());
  for (ColumnFamilyHandle* const each : handles) ASSERT_TRUE(db_->DestroyColumnFamilyHandle(each).ok());
}

TEST_F(NamesProgramTest, IteratorsAndSnapshotsShowOneState) {
  Open();
  for (const char* const key : {"a", "b", "c"}) Put(key, key);
  const ManagedSnapshot snapshot(db_.get());
  Put("b", "later");
  ReadOptions read;
  read.snapshot = snapshot.snapshot();
  const Slice upper("c");
  read.iterate_upper_bound = &upper;
  const std::unique_ptr<Iterator> it(db_->NewIterator(read));
  std::string seen;
  for (it->SeekToFirst(); it->Valid(); it->Next()) seen += it->key().ToString() + "=" + it->value().ToString() + ";";
  EXPECT_TRUE(it->status().ok());
  EXPECT_EQ(seen, "a=a;b=b;");
}

TEST_F(NamesProgramTest, UnsupportedOptionsAreRefused) {
  Open();
  Put("key", "value");
  ReadOptions read;
  read.prefix_same_as_start = true;
  std::string value;
  EXPECT_TRUE(db_->Get(read, "key", &value).IsNotSupported());
  std::unique_ptr<Iterator> it(db_->NewIterator(read));
  it->SeekToFirst();
  EXPECT_FALSE(it->Valid());
  EXPECT_TRUE(it->status().IsNotSupported());
  EXPECT_NE(it->status().ToString().find("prefix_same_as_start"), std::string::npos);
  it.reset();
  read = ReadOptions();
  read.read_tier = ROCKSDB_NAMESPACE::kBlockCacheTier;
  EXPECT_TRUE(db_->Get(read, "key", &value).IsNotSupported());
  read = ReadOptions();
  read.tailing = true;
  std::vector<std::string> values;
  EXPECT_TRUE(db_->MultiGet(read, {"key"}, &values)[0].IsNotSupported());
  read = ReadOptions();
  read.total_order_seek = true;  // hints
  read.readahead_size = 1 << 20;
  EXPECT_TRUE(db_->Get(read, "key", &value).ok());
  std::atomic<bool> canceled{false};
  ROCKSDB_NAMESPACE::CompactRangeOptions compact;
  compact.canceled = &canceled;
  EXPECT_TRUE(db_->CompactRange(compact, nullptr, nullptr).IsNotSupported());
  compact.canceled = nullptr;
  EXPECT_TRUE(db_->CompactRange(compact, nullptr, nullptr).ok());
  db_->DisableManualCompaction();
  EXPECT_TRUE(db_->CompactRange(compact, nullptr, nullptr).IsIncomplete());
  db_->EnableManualCompaction();
  EXPECT_TRUE(db_->CompactRange(compact, nullptr, nullptr).ok());
}

TEST_F(NamesProgramTest, BatchesWithMergesOrLogDataAreRefused) {
  Open();
  EXPECT_TRUE(db_->Merge(WriteOptions(), "key", "operand").IsNotSupported());
  WriteBatch batch;
  ASSERT_TRUE(batch.Put("key", "value").ok());
  EXPECT_TRUE(batch.PutLogData("blob").IsNotSupported());
  EXPECT_TRUE(db_->Write(WriteOptions(), &batch).IsNotSupported());
  EXPECT_EQ(Get("key"), "none");
  WriteBatch merging;
  EXPECT_TRUE(merging.Merge("key", "operand").IsNotSupported());
  EXPECT_TRUE(db_->Write(WriteOptions(), &merging).IsNotSupported());
}

// Collects what a batch has.
class Collector : public WriteBatch::Handler {
 public:
  void Put(const Slice& key, const Slice& value) override { seen += "put " + key.ToString() + value.ToString() + ";"; }
  void Delete(const Slice& key) override { seen += "delete " + key.ToString() + ";"; }
  Status DeleteRangeCF(uint32_t family, const Slice& begin, const Slice& end) override {
    seen += "range " + std::to_string(family) + begin.ToString() + end.ToString() + ";";
    return Status::OK();
  }
  std::string seen;
};

TEST_F(NamesProgramTest, HandlersAndSerialisedBatchesGiveAllOperations) {
  WriteBatch batch;
  ASSERT_TRUE(batch.Put("a", "1").ok());
  ASSERT_TRUE(batch.Delete("b").ok());
  ASSERT_TRUE(batch.DeleteRange("c", "d").ok());
  const WriteBatch again(batch.Data());
  Collector collector;
  ASSERT_TRUE(again.Iterate(&collector).ok());
  EXPECT_EQ(collector.seen, "put a1;delete b;range 0cd;");
  Open();
  WriteBatch damaged(std::string("no batch"));
  EXPECT_FALSE(db_->Write(WriteOptions(), &damaged).ok());
}

TEST_F(NamesProgramTest, PropertiesAndSizesAreThoseOfTheDatabase) {
  Open();
  Put("key", std::string(1000, 'v'));
  uint64_t keys = 0;
  EXPECT_TRUE(db_->GetIntProperty(DB::Properties::kEstimateNumKeys, &keys));
  EXPECT_EQ(keys, 1u);
  const ROCKSDB_NAMESPACE::Range range("a", "z");
  uint64_t size = 0;
  const auto flags = DB::SizeApproximationFlags::INCLUDE_MEMTABLES;
  ASSERT_TRUE(db_->GetApproximateSizes(&range, 1, &size, flags).ok());
  EXPECT_GE(size, 1000u);
  ASSERT_TRUE(db_->GetApproximateSizes(&range, 1, &size).ok());  // files alone: nothing is flushed yet
  EXPECT_EQ(size, 0u);
  bool is_found = false;
  std::string value;
  EXPECT_TRUE(db_->KeyMayExist(ReadOptions(), "key", &value, &is_found));
  EXPECT_TRUE(is_found);
  EXPECT_FALSE(db_->KeyMayExist(ReadOptions(), "other", &value, &is_found));
}

TEST_F(NamesProgramTest, CheckpointsCanBeOpened) {
  Open();
  Put("key", "value");
  ROCKSDB_NAMESPACE::Checkpoint* made = nullptr;
  ASSERT_TRUE(ROCKSDB_NAMESPACE::Checkpoint::Create(db_.get(), &made).ok());
  const std::unique_ptr<ROCKSDB_NAMESPACE::Checkpoint> checkpoint(made);
  ASSERT_TRUE(checkpoint->CreateCheckpoint(directory_.File("copy")).ok());
  Put("key", "later");
  ASSERT_TRUE(DB::Open(options_, directory_.File("copy"), &db_).ok());
  EXPECT_EQ(Get("key"), "value");
}

}  // namespace rocksdb_names_test::names_program_test
