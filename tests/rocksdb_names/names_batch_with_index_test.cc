// WriteBatchWithIndex under RocksDB's names.
#include <memory>
#include <string>
#include <utility>

#include "rocksdb/options.h"
#include "rocksdb/utilities/write_batch_with_index.h"
#include "rocksdb_names/open_names.h"

using ROCKSDB_NAMESPACE::BytewiseComparator;
using ROCKSDB_NAMESPACE::DBOptions;
using ROCKSDB_NAMESPACE::Iterator;
using ROCKSDB_NAMESPACE::PinnableSlice;
using ROCKSDB_NAMESPACE::ReadOptions;
using ROCKSDB_NAMESPACE::ReverseBytewiseComparator;
using ROCKSDB_NAMESPACE::Slice;
using ROCKSDB_NAMESPACE::Status;
using ROCKSDB_NAMESPACE::WBWIIterator;
using ROCKSDB_NAMESPACE::WriteBatch;
using ROCKSDB_NAMESPACE::WriteBatchWithIndex;
using ROCKSDB_NAMESPACE::WriteOptions;

namespace rocksdb_names_test::names_batch_with_index_test {

class NamesBatchWithIndexTest : public NamesTest {};

TEST_F(NamesBatchWithIndexTest, ReadsSeeTheBatchAboveTheDatabase) {
  Open();
  Put("a", "of the database");
  Put("b", "of the database");
  WriteBatchWithIndex batch;
  ASSERT_TRUE(batch.Put("b", "of the batch").ok());
  ASSERT_TRUE(batch.Delete("a").ok());
  ASSERT_TRUE(batch.Put("c", "of the batch").ok());
  std::string value;
  EXPECT_TRUE(batch.GetFromBatch(DBOptions(), "a", &value).IsNotFound());
  ASSERT_TRUE(batch.GetFromBatch(DBOptions(), "b", &value).ok());
  EXPECT_EQ(value, "of the batch");
  EXPECT_TRUE(batch.GetFromBatchAndDB(db_.get(), ReadOptions(), "a", &value).IsNotFound());
  std::string buffer;
  PinnableSlice into_buffer(&buffer);
  ASSERT_TRUE(batch.GetFromBatchAndDB(db_.get(), ReadOptions(), "b", &into_buffer).ok());
  EXPECT_EQ(buffer, "of the batch");
  const Slice keys[] = {"a", "b", "d"};
  PinnableSlice values[3];
  Status statuses[3];
  batch.MultiGetFromBatchAndDB(db_.get(), ReadOptions(), nullptr, 3, keys, values, statuses, false);
  EXPECT_TRUE(statuses[0].IsNotFound() && statuses[1].ok() && statuses[2].IsNotFound());
  EXPECT_EQ(values[1], "of the batch");
  const std::unique_ptr<Iterator> both(batch.NewIteratorWithBase(db_->NewIterator(ReadOptions())));
  std::string seen;
  for (both->SeekToFirst(); both->Valid(); both->Next()) seen += both->key().ToString();
  EXPECT_EQ(seen, "bc");

  ASSERT_TRUE(db_->Write(WriteOptions(), batch.GetWriteBatch()).ok());
  EXPECT_EQ(Get("a"), "none");
  EXPECT_EQ(Get("b"), "of the batch");
}

TEST_F(NamesBatchWithIndexTest, IteratorsShowTheOperationsInTheOrderOfTheComparator) {
  WriteBatchWithIndex batch(ReverseBytewiseComparator(), 0, true);
  EXPECT_TRUE(batch.GetOverwriteKey());
  ASSERT_TRUE(batch.Put("a", "1").ok());
  ASSERT_TRUE(batch.Put("a", "2").ok());
  ASSERT_TRUE(batch.SingleDelete("b").ok());
  ASSERT_TRUE(batch.Delete("c").ok());
  const std::unique_ptr<WBWIIterator> it(batch.NewIterator());
  it->SeekToFirst();
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->Entry().key, "c");
  EXPECT_EQ(it->Entry().type, ROCKSDB_NAMESPACE::kDeleteRecord);
  it->Next();
  EXPECT_EQ(it->Entry().type, ROCKSDB_NAMESPACE::kSingleDeleteRecord);
  it->Seek("a");
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->Entry().type, ROCKSDB_NAMESPACE::kPutRecord);
  EXPECT_EQ(it->Entry().value, "2");
  it->Next();
  EXPECT_FALSE(it->Valid());
  EXPECT_TRUE(it->status().ok());
}

TEST_F(NamesBatchWithIndexTest, GetWriteBatchCopiesTheBatchAsItIs) {
  WriteBatchWithIndex batch;
  ASSERT_TRUE(batch.Put("a", "1").ok());
  WriteBatch* copy = batch.GetWriteBatch();
  batch.SetSavePoint();
  ASSERT_TRUE(batch.Put("b", "2").ok());
  EXPECT_EQ(copy->Count(), 1u);
  EXPECT_EQ(batch.GetWriteBatch()->Count(), 2u);
  ASSERT_TRUE(batch.RollbackToSavePoint().ok());
  EXPECT_EQ(batch.GetWriteBatch()->Count(), 1u);
  WriteBatchWithIndex moved(std::move(batch));
  std::string value;
  EXPECT_TRUE(moved.GetFromBatch(DBOptions(), "a", &value).ok());
}

TEST_F(NamesBatchWithIndexTest, MergesMakeTheBatchUnusable) {
  Open();
  WriteBatchWithIndex batch;
  EXPECT_TRUE(batch.Merge("a", "1").IsNotSupported());
  EXPECT_TRUE(db_->Write(WriteOptions(), batch.GetWriteBatch()).IsNotSupported());
  ReadOptions tailing;
  tailing.tailing = true;
  std::string value;
  EXPECT_TRUE(batch.GetFromBatchAndDB(db_.get(), tailing, "a", &value).IsNotSupported());
}

}  // namespace rocksdb_names_test::names_batch_with_index_test
