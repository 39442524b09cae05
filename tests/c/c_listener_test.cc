// Every event reaches its callback, with the state, and every getter returns its field. The events are made by hand,
// because stalls and disk errors cannot be produced at will. c_objects_test has a listener in a database.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "c/listener.h"

namespace cambium {
namespace {

using c::CallingListener;

std::vector<std::string> told;  // recorded by callbacks

struct State {
  int destroyed = 0;
};

using Text = std::string;
#define TEXT(getter)                                \
  [&] {                                             \
    std::size_t length = 0;                         \
    const char* const text = getter(info, &length); \
    EXPECT_EQ(text[length], '\0');                  \
    return Text(text, length);                      \
  }()
#define FILE_AT(getter, i)                             \
  [&] {                                                \
    std::size_t length = 0;                            \
    const char* const text = getter(info, i, &length); \
    return Text(text, length);                         \
  }()
#define STATUS(getter)                                 \
  [&] {                                                \
    char* error = nullptr;                             \
    getter(info, &error);                              \
    const Text text = error == nullptr ? "OK" : error; \
    cambium_free(error);                               \
    return text;                                       \
  }()

class CListenerTest : public ::testing::Test {
 protected:
  CListenerTest() { told.clear(); }
  ~CListenerTest() override {
    cambium_eventlistener_destroy(listener_);
    EXPECT_EQ(state_.destroyed, 1);
  }
  void Create(cambium_on_flush_cb flush_begin, cambium_on_flush_cb flush_completed,
              cambium_on_compaction_cb compaction_begin, cambium_on_compaction_cb compaction_completed,
              cambium_on_background_error_cb background_error, cambium_on_stall_conditions_changed_cb stall,
              cambium_on_memtable_sealed_cb sealed) {
    listener_ = cambium_eventlistener_create(
        &state_, [](void* state) { ++static_cast<State*>(state)->destroyed; }, flush_begin, flush_completed,
        compaction_begin, compaction_completed, background_error, stall, sealed);
  }
  void CreateWithout() { Create(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr); }
  CallingListener& listener() { return *listener_->rep; }

  State state_;
  cambium_eventlistener_t* listener_ = nullptr;
};

void ExpectTold(const std::vector<std::string>& events) {
  EXPECT_EQ(told, events);
  told.clear();
}

void CheckFlush(const char* event, const cambium_flushjobinfo_t* info) {
  EXPECT_EQ(TEXT(cambium_flushjobinfo_db_name), "/db");
  EXPECT_EQ(TEXT(cambium_flushjobinfo_cf_name), "trees");
  EXPECT_EQ(cambium_flushjobinfo_cf_id(info), 3u);
  EXPECT_EQ(cambium_flushjobinfo_job_id(info), 4);
  EXPECT_EQ(cambium_flushjobinfo_flush_reason(info), cambium_flush_reason_idle);
  EXPECT_EQ(cambium_flushjobinfo_num_entries(info), 5u);
  EXPECT_EQ(cambium_flushjobinfo_largest_seqno(info), 6u);
  EXPECT_EQ(cambium_flushjobinfo_merged_into_tree(info), 1);
  EXPECT_EQ(cambium_flushjobinfo_output_files_count(info), 2u);
  EXPECT_EQ(FILE_AT(cambium_flushjobinfo_output_file_at, 1), "/db/2.run");
  EXPECT_EQ(cambium_flushjobinfo_bytes_written(info), 7u);
  EXPECT_EQ(cambium_flushjobinfo_elapsed_micros(info), 8u);
  EXPECT_EQ(STATUS(cambium_flushjobinfo_status), "IO error: disk");
  told.push_back(event);
}

TEST_F(CListenerTest, Flushes) {
  Create([](void*, cambium_t*, const cambium_flushjobinfo_t* info) { CheckFlush("begin", info); },
         [](void*, cambium_t*, const cambium_flushjobinfo_t* info) { CheckFlush("completed", info); }, nullptr, nullptr,
         nullptr, nullptr, nullptr);
  FlushJobInfo info;
  info.db_name = "/db";
  info.cf_name = "trees";
  info.cf_id = 3;
  info.job_id = 4;
  info.flush_reason = FlushReason::kIdle;
  info.num_entries = 5;
  info.largest_seqno = 6;
  info.merged_into_tree = true;
  info.output_files = {"/db/1.run", "/db/2.run"};
  info.bytes_written = 7;
  info.elapsed_micros = 8;
  info.status = Status::IOError("disk");
  listener().OnFlushBegin(nullptr, info);
  listener().OnFlushCompleted(nullptr, info);
  ExpectTold({"begin", "completed"});
}

void CheckCompaction(const char* event, const cambium_compactionjobinfo_t* info) {
  EXPECT_EQ(TEXT(cambium_compactionjobinfo_db_name), "/db");
  EXPECT_EQ(TEXT(cambium_compactionjobinfo_cf_name), "trees");
  EXPECT_EQ(cambium_compactionjobinfo_cf_id(info), 1u);
  EXPECT_EQ(cambium_compactionjobinfo_job_id(info), 2);
  EXPECT_EQ(cambium_compactionjobinfo_compaction_reason(info), cambium_compaction_reason_manual_compaction);
  EXPECT_EQ(cambium_compactionjobinfo_base_input_level(info), 3);
  EXPECT_EQ(cambium_compactionjobinfo_output_level(info), 4);
  EXPECT_EQ(cambium_compactionjobinfo_input_files_count(info), 1u);
  EXPECT_EQ(FILE_AT(cambium_compactionjobinfo_input_file_at, 0), "in");
  EXPECT_EQ(cambium_compactionjobinfo_output_files_count(info), 2u);
  EXPECT_EQ(FILE_AT(cambium_compactionjobinfo_output_file_at, 1), "out2");
  EXPECT_EQ(cambium_compactionjobinfo_bytes_read(info), 5u);
  EXPECT_EQ(cambium_compactionjobinfo_bytes_written(info), 6u);
  EXPECT_EQ(cambium_compactionjobinfo_entries_merged(info), 7u);
  EXPECT_EQ(cambium_compactionjobinfo_entries_dropped(info), 8u);
  EXPECT_EQ(cambium_compactionjobinfo_elapsed_micros(info), 9u);
  EXPECT_EQ(STATUS(cambium_compactionjobinfo_status), "OK");
  told.push_back(event);
}

TEST_F(CListenerTest, Compactions) {
  Create(
      nullptr, nullptr,
      [](void*, cambium_t*, const cambium_compactionjobinfo_t* info) { CheckCompaction("begin", info); },
      [](void*, cambium_t*, const cambium_compactionjobinfo_t* info) { CheckCompaction("completed", info); }, nullptr,
      nullptr, nullptr);
  CompactionJobInfo info;
  info.db_name = "/db";
  info.cf_name = "trees";
  info.cf_id = 1;
  info.job_id = 2;
  info.compaction_reason = CompactionReason::kManualCompaction;
  info.base_input_level = 3;
  info.output_level = 4;
  info.input_files = {"in"};
  info.output_files = {"out1", "out2"};
  info.bytes_read = 5;
  info.bytes_written = 6;
  info.entries_merged = 7;
  info.entries_dropped = 8;
  info.elapsed_micros = 9;
  listener().OnCompactionBegin(nullptr, info);
  listener().OnCompactionCompleted(nullptr, info);
  ExpectTold({"begin", "completed"});
}

TEST_F(CListenerTest, LogGc) {
  CreateWithout();
  cambium_eventlistener_set_on_log_gc_completed(listener_, [](void*, cambium_t*, const cambium_loggcjobinfo_t* info) {
    EXPECT_EQ(TEXT(cambium_loggcjobinfo_db_name), "/db");
    EXPECT_EQ(cambium_loggcjobinfo_job_id(info), 1);
    EXPECT_EQ(cambium_loggcjobinfo_reason(info), cambium_log_gc_reason_forced);
    EXPECT_EQ(cambium_loggcjobinfo_input_files_count(info), 1u);
    EXPECT_EQ(FILE_AT(cambium_loggcjobinfo_input_file_at, 0), "in");
    EXPECT_EQ(cambium_loggcjobinfo_emptied_files_count(info), 2u);
    EXPECT_EQ(FILE_AT(cambium_loggcjobinfo_emptied_file_at, 1), "emptied");
    EXPECT_EQ(cambium_loggcjobinfo_punched_files_count(info), 3u);
    EXPECT_EQ(FILE_AT(cambium_loggcjobinfo_punched_file_at, 2), "punched");
    EXPECT_EQ(cambium_loggcjobinfo_bytes_read(info), 2u);
    EXPECT_EQ(cambium_loggcjobinfo_keys_relocated(info), 3u);
    EXPECT_EQ(cambium_loggcjobinfo_bytes_written(info), 4u);
    EXPECT_EQ(cambium_loggcjobinfo_bytes_freed(info), 5u);
    EXPECT_EQ(cambium_loggcjobinfo_elapsed_micros(info), 6u);
    EXPECT_EQ(STATUS(cambium_loggcjobinfo_status), "OK");
    told.push_back("gc");
  });
  LogGcJobInfo info;
  info.db_name = "/db";
  info.job_id = 1;
  info.reason = LogGcReason::kForced;
  info.input_files = {"in"};
  info.emptied_files = {"", "emptied"};
  info.punched_files = {"", "", "punched"};
  info.bytes_read = 2;
  info.keys_relocated = 3;
  info.bytes_written = 4;
  info.bytes_freed = 5;
  info.elapsed_micros = 6;
  listener().OnLogGcCompleted(nullptr, info);
  ExpectTold({"gc"});
}

TEST_F(CListenerTest, MemTablesStallsAndErrors) {
  Create(
      nullptr, nullptr, nullptr, nullptr,
      [](void*, const cambium_backgrounderrorinfo_t* info) {
        EXPECT_EQ(TEXT(cambium_backgrounderrorinfo_db_name), "/db");
        EXPECT_EQ(cambium_backgrounderrorinfo_reason(info), cambium_background_error_manifest_write);
        EXPECT_EQ(STATUS(cambium_backgrounderrorinfo_status), "Corruption: page");
        told.push_back("error");
      },
      [](void*, const cambium_writestallinfo_t* info) {
        EXPECT_EQ(TEXT(cambium_writestallinfo_db_name), "/db");
        EXPECT_EQ(TEXT(cambium_writestallinfo_cf_name), "trees");
        EXPECT_EQ(cambium_writestallinfo_cf_id(info), 1u);
        EXPECT_EQ(cambium_writestallinfo_cause(info), cambium_write_stall_cause_l0_file_count_limit);
        EXPECT_EQ(cambium_writestallinfo_cur(info), cambium_write_stall_condition_stopped);
        EXPECT_EQ(cambium_writestallinfo_prev(info), cambium_write_stall_condition_delayed);
        EXPECT_EQ(cambium_writestallinfo_change(info), 2u);
        told.push_back("stall");
      },
      [](void*, const cambium_memtableinfo_t* info) {
        EXPECT_EQ(TEXT(cambium_memtableinfo_db_name), "/db");
        EXPECT_EQ(TEXT(cambium_memtableinfo_cf_name), "trees");
        EXPECT_EQ(cambium_memtableinfo_cf_id(info), 1u);
        EXPECT_EQ(cambium_memtableinfo_num_entries(info), 2u);
        EXPECT_EQ(cambium_memtableinfo_num_range_deletes(info), 3u);
        EXPECT_EQ(cambium_memtableinfo_memory_bytes(info), 4u);
        EXPECT_EQ(cambium_memtableinfo_reason(info), cambium_flush_reason_wal_full);
        told.push_back("sealed");
      });
  MemTableInfo table;
  table.db_name = "/db";
  table.cf_name = "trees";
  table.cf_id = 1;
  table.num_entries = 2;
  table.num_range_deletes = 3;
  table.memory_bytes = 4;
  table.reason = FlushReason::kWalFull;
  listener().OnMemTableSealed(table);
  WriteStallInfo stall;
  stall.db_name = "/db";
  stall.cf_name = "trees";
  stall.cf_id = 1;
  stall.cause = WriteStallCause::kL0FileCountLimit;
  stall.condition = {WriteStallCondition::kStopped, WriteStallCondition::kDelayed};
  stall.change = 2;
  listener().OnStallConditionsChanged(stall);
  listener().OnBackgroundError({"/db", BackgroundErrorReason::kManifestWrite, Status::Corruption("page")});
  ExpectTold({"sealed", "stall", "error"});
}

// An event of a file's creation start has neither size nor status.
TEST_F(CListenerTest, TableFiles) {
  CreateWithout();
  const auto check = [](const char* event, std::uint64_t size, const cambium_tablefilecreationinfo_t* info) {
    EXPECT_EQ(TEXT(cambium_tablefilecreationinfo_db_name), "/db");
    EXPECT_EQ(TEXT(cambium_tablefilecreationinfo_cf_name), "trees");
    EXPECT_EQ(cambium_tablefilecreationinfo_cf_id(info), 1u);
    EXPECT_EQ(TEXT(cambium_tablefilecreationinfo_file_path), "/db/2.run");
    EXPECT_EQ(cambium_tablefilecreationinfo_file_number(info), 2u);
    EXPECT_EQ(cambium_tablefilecreationinfo_job_id(info), 3);
    EXPECT_EQ(cambium_tablefilecreationinfo_reason(info), cambium_table_file_reason_log_gc);
    EXPECT_EQ(cambium_tablefilecreationinfo_file_size(info), size);
    EXPECT_EQ(STATUS(cambium_tablefilecreationinfo_status), size == 0 ? "OK" : "IO error: disk");
    told.push_back(event);
  };
  static const auto checked = check;
  cambium_eventlistener_set_on_table_files(
      listener_, [](void*, const cambium_tablefilecreationinfo_t* info) { checked("started", 0, info); },
      [](void*, const cambium_tablefilecreationinfo_t* info) { checked("created", 4, info); },
      [](void*, const cambium_tablefiledeletioninfo_t* info) {
        EXPECT_EQ(TEXT(cambium_tablefiledeletioninfo_db_name), "/db");
        EXPECT_EQ(TEXT(cambium_tablefiledeletioninfo_file_path), "/db/2.run");
        EXPECT_EQ(cambium_tablefiledeletioninfo_file_number(info), 2u);
        told.push_back("deleted");
      });
  TableFileCreationInfo info;
  info.db_name = "/db";
  info.cf_name = "trees";
  info.cf_id = 1;
  info.file_path = "/db/2.run";
  info.file_number = 2;
  info.job_id = 3;
  info.reason = TableFileCreationReason::kLogGc;
  info.file_size = 4;
  info.status = Status::IOError("disk");
  listener().OnTableFileCreationStarted(info);
  listener().OnTableFileCreated(info);
  listener().OnTableFileDeleted({"/db", "/db/2.run", 2});
  ExpectTold({"started", "created", "deleted"});
}

TEST_F(CListenerTest, BlobFiles) {
  CreateWithout();
  const auto check = [](const char* event, std::uint64_t size, const cambium_blobfilecreationinfo_t* info) {
    EXPECT_EQ(TEXT(cambium_blobfilecreationinfo_db_name), "/db");
    EXPECT_EQ(TEXT(cambium_blobfilecreationinfo_file_path), "/db/2.log");
    EXPECT_EQ(cambium_blobfilecreationinfo_file_number(info), 2u);
    EXPECT_EQ(cambium_blobfilecreationinfo_reason(info), cambium_blob_file_reason_large_value);
    EXPECT_EQ(cambium_blobfilecreationinfo_file_size(info), size);
    EXPECT_EQ(STATUS(cambium_blobfilecreationinfo_status), size == 0 ? "OK" : "IO error: disk");
    told.push_back(event);
  };
  static const auto checked = check;
  cambium_eventlistener_set_on_blob_files(
      listener_, [](void*, const cambium_blobfilecreationinfo_t* info) { checked("started", 0, info); },
      [](void*, const cambium_blobfilecreationinfo_t* info) { checked("created", 3, info); },
      [](void*, const cambium_blobfiledeletioninfo_t* info) {
        EXPECT_EQ(TEXT(cambium_blobfiledeletioninfo_db_name), "/db");
        EXPECT_EQ(TEXT(cambium_blobfiledeletioninfo_file_path), "/db/2.log");
        EXPECT_EQ(cambium_blobfiledeletioninfo_file_number(info), 2u);
        told.push_back("deleted");
      });
  BlobFileCreationInfo info;
  info.db_name = "/db";
  info.file_path = "/db/2.log";
  info.file_number = 2;
  info.reason = BlobFileCreationReason::kLargeValue;
  info.file_size = 3;
  info.status = Status::IOError("disk");
  listener().OnBlobFileCreationStarted(info);
  listener().OnBlobFileCreated(info);
  listener().OnBlobFileDeleted({"/db", "/db/2.log", 2});
  ExpectTold({"started", "created", "deleted"});
}

// All callbacks may be NULL.
TEST_F(CListenerTest, NullCallbacksAreSkipped) {
  CreateWithout();
  listener().OnFlushBegin(nullptr, {});
  listener().OnFlushCompleted(nullptr, {});
  listener().OnCompactionBegin(nullptr, {});
  listener().OnCompactionCompleted(nullptr, {});
  listener().OnLogGcCompleted(nullptr, {});
  listener().OnMemTableSealed({});
  listener().OnTableFileCreationStarted({});
  listener().OnTableFileCreated({});
  listener().OnTableFileDeleted({});
  listener().OnBlobFileCreationStarted({});
  listener().OnBlobFileCreated({});
  listener().OnBlobFileDeleted({});
  listener().OnStallConditionsChanged({});
  listener().OnBackgroundError({});
  ExpectTold({});
}

}  // namespace
}  // namespace cambium
