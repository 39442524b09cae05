// Objects that a program gives to a database: comparators, filters, listeners, loggers.
#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>

#include "rocksdb/compaction_filter.h"
#include "rocksdb/comparator.h"
#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/listener.h"
#include "rocksdb/merge_operator.h"
#include "rocksdb/rate_limiter.h"
#include "rocksdb/statistics.h"
#include "rocksdb/write_buffer_manager.h"
#include "rocksdb_names/open_names.h"

using ROCKSDB_NAMESPACE::CompactionFilter;
using ROCKSDB_NAMESPACE::CompactionFilterFactory;
using ROCKSDB_NAMESPACE::CompactRangeOptions;
using ROCKSDB_NAMESPACE::Comparator;
using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::EventListener;
using ROCKSDB_NAMESPACE::FlushJobInfo;
using ROCKSDB_NAMESPACE::Iterator;
using ROCKSDB_NAMESPACE::Logger;
using ROCKSDB_NAMESPACE::ReadOptions;
using ROCKSDB_NAMESPACE::Slice;

namespace rocksdb_names_test::names_callbacks_test {

class NamesCallbacksTest : public NamesTest {};

class ByLength : public Comparator {
 public:
  using Comparator::Comparator;
  const char* Name() const override { return "ByLength"; }
  int Compare(const Slice& a, const Slice& b) const override {
    if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
    return a.compare(b);
  }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
  bool CanKeysWithDifferentByteContentsBeEqual() const override { return false; }
};

TEST_F(NamesCallbacksTest, AComparatorOrdersTheKeysAndItsNameIsStored) {
  const ByLength by_length;
  options_.comparator = &by_length;
  Open();
  for (const char* const key : {"aaa", "c", "bb"}) Put(key, "");
  std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  std::string seen;
  for (it->SeekToFirst(); it->Valid(); it->Next()) seen += it->key().ToString() + ";";
  EXPECT_EQ(seen, "c;bb;aaa;");
  it.reset();
  EXPECT_EQ(db_->GetOptions().comparator, &by_length);
  db_.reset();
  options_.comparator = ROCKSDB_NAMESPACE::BytewiseComparator();
  EXPECT_TRUE(DB::Open(options_, path_, &db_).IsInvalidArgument());
}

TEST_F(NamesCallbacksTest, ComparatorsWithTimestampsAreRefused) {
  const ByLength with_timestamps(8);
  options_.comparator = &with_timestamps;
  EXPECT_TRUE(DB::Open(options_, path_, &db_).IsNotSupported());
}

// Removes values "remove", changes values "change".
class Editor : public CompactionFilter {
 public:
  bool Filter(int, const Slice&, const Slice& existing_value, std::string* new_value,
              bool* value_changed) const override {
    if (existing_value == "change") {
      *new_value = "changed";
      *value_changed = true;
    }
    return existing_value == "remove";
  }
  bool FilterMergeOperand(int, const Slice&, const Slice&) const override { return true; }
  const char* Name() const override { return "Editor"; }
};

class EditorFactory : public CompactionFilterFactory {
 public:
  std::unique_ptr<CompactionFilter> CreateCompactionFilter(const CompactionFilter::Context& context) override {
    if (context.is_manual_compaction) ++made;
    return std::make_unique<Editor>();
  }
  const char* Name() const override { return "EditorFactory"; }
  std::atomic<int> made{0};
};

TEST_F(NamesCallbacksTest, CompactionFiltersDecideDirectlyAndFromAFactory) {
  const Editor editor;
  const auto factory = std::make_shared<EditorFactory>();
  for (const bool has_factory : {false, true}) {
    options_.compaction_filter = has_factory ? nullptr : &editor;
    options_.compaction_filter_factory = factory;  // ignored if there is a filter
    Open();
    Put("a", "keep");
    Put("b", "remove");
    Put("c", "change");
    ASSERT_TRUE(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
    EXPECT_EQ(Get("a"), "keep");
    EXPECT_EQ(Get("b"), "none");
    EXPECT_EQ(Get("c"), "changed");
    EXPECT_EQ(factory->made > 0, has_factory);
  }
}

class Counter : public EventListener {
 public:
  void OnFlushCompleted(DB* db, const FlushJobInfo& info) override {
    const std::lock_guard<std::mutex> lock(mutex);
    ++flushes;
    path = db->GetName();
    family = info.cf_name;
    last = db;
  }
  std::mutex mutex;
  int flushes = 0;
  std::string path;
  std::string family;
  DB* last = nullptr;
};

TEST_F(NamesCallbacksTest, ListenersGetTheObjectThatOpenReturns) {
  const auto counter = std::make_shared<Counter>();
  options_.listeners.push_back(counter);
  Open();
  Put("key", "value");
  ASSERT_TRUE(db_->Flush(ROCKSDB_NAMESPACE::FlushOptions()).ok());
  ASSERT_TRUE(db_->WaitForCompact(ROCKSDB_NAMESPACE::WaitForCompactOptions()).ok());
  const std::lock_guard<std::mutex> lock(counter->mutex);
  EXPECT_EQ(counter->flushes, 1);
  EXPECT_EQ(counter->path, path_);
  EXPECT_EQ(counter->family, "default");
  EXPECT_EQ(counter->last, db_.get());
}

class Lines : public Logger {
 public:
  using Logger::Logv;
  __attribute__((format(printf, 2, 0))) void Logv(const char* format, std::va_list arguments) override {
    char line[1000];
    std::vsnprintf(line, sizeof line, format, arguments);
    const std::lock_guard<std::mutex> lock(mutex);
    text += std::string(line) + "\n";
  }
  std::mutex mutex;
  std::string text;
};

TEST_F(NamesCallbacksTest, LoggersGetTheLinesAndTheHints) {
  const auto lines = std::make_shared<Lines>();
  options_.info_log = lines;
  options_.use_fsync = true;
  Open();
  db_.reset();
  const std::lock_guard<std::mutex> lock(lines->mutex);
  EXPECT_NE(lines->text.find("These options of RocksDB have no effect here: use_fsync\n"), std::string::npos);
}

TEST_F(NamesCallbacksTest, StatisticsAndOtherObjectsAreUsed) {
  options_.statistics = ROCKSDB_NAMESPACE::CreateDBStatistics();
  options_.rate_limiter.reset(ROCKSDB_NAMESPACE::NewGenericRateLimiter(64 << 20));
  options_.write_buffer_manager = std::make_shared<ROCKSDB_NAMESPACE::WriteBufferManager>(32 << 20);
  Open();
  Put("key", std::string(100, 'v'));
  EXPECT_GT(options_.write_buffer_manager->memory_usage(), 0u);
  ASSERT_TRUE(db_->Flush(ROCKSDB_NAMESPACE::FlushOptions()).ok());
  EXPECT_EQ(options_.statistics->getTickerCount(ROCKSDB_NAMESPACE::NUMBER_KEYS_WRITTEN), 1u);
  EXPECT_GT(options_.rate_limiter->GetTotalBytesThrough(), 0);
}

class Sum : public ROCKSDB_NAMESPACE::AssociativeMergeOperator {
 public:
  bool Merge(const Slice&, const Slice*, const Slice&, std::string*, Logger*) const override { return false; }
  const char* Name() const override { return "Sum"; }
};

TEST_F(NamesCallbacksTest, AMergeOperatorMayBeSetButNotUsed) {
  options_.merge_operator = std::make_shared<Sum>();
  Open();
  Put("key", "value");
  EXPECT_TRUE(db_->Merge(ROCKSDB_NAMESPACE::WriteOptions(), "key", "1").IsNotSupported());
  EXPECT_EQ(Get("key"), "value");
}

}  // namespace rocksdb_names_test::names_callbacks_test
