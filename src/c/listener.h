// A listener whose callbacks are C functions.
#pragma once

#include "c/wrappers.h"
#include "cambium/listener.h"

namespace cambium::c {

// Set all callbacks before the listener is shared with a database.
class CallingListener final : public EventListener {
 public:
  CallingListener(void* state, void (*destructor)(void*)) : state_(state), destructor_(destructor) {}
  ~CallingListener() override {
    if (destructor_ != nullptr) destructor_(state_);
  }

  void OnMemTableSealed(const MemTableInfo& info) override;
  void OnFlushBegin(DB* db, const FlushJobInfo& info) override;
  void OnFlushCompleted(DB* db, const FlushJobInfo& info) override;
  void OnCompactionBegin(DB* db, const CompactionJobInfo& info) override;
  void OnCompactionCompleted(DB* db, const CompactionJobInfo& info) override;
  void OnLogGcCompleted(DB* db, const LogGcJobInfo& info) override;
  void OnTableFileCreationStarted(const TableFileCreationBriefInfo& info) override;
  void OnTableFileCreated(const TableFileCreationInfo& info) override;
  void OnTableFileDeleted(const TableFileDeletionInfo& info) override;
  void OnBlobFileCreationStarted(const BlobFileCreationBriefInfo& info) override;
  void OnBlobFileCreated(const BlobFileCreationInfo& info) override;
  void OnBlobFileDeleted(const BlobFileDeletionInfo& info) override;
  void OnStallConditionsChanged(const WriteStallInfo& info) override;
  void OnBackgroundError(const BackgroundErrorInfo& info) override;

  cambium_on_memtable_sealed_cb memtable_sealed = nullptr;
  cambium_on_flush_cb flush_begin = nullptr;
  cambium_on_flush_cb flush_completed = nullptr;
  cambium_on_compaction_cb compaction_begin = nullptr;
  cambium_on_compaction_cb compaction_completed = nullptr;
  cambium_on_log_gc_cb log_gc_completed = nullptr;
  cambium_on_table_file_creation_cb table_file_started = nullptr;
  cambium_on_table_file_creation_cb table_file_created = nullptr;
  cambium_on_table_file_deleted_cb table_file_deleted = nullptr;
  cambium_on_blob_file_creation_cb blob_file_started = nullptr;
  cambium_on_blob_file_creation_cb blob_file_created = nullptr;
  cambium_on_blob_file_deleted_cb blob_file_deleted = nullptr;
  cambium_on_stall_conditions_changed_cb stall_conditions_changed = nullptr;
  cambium_on_background_error_cb background_error = nullptr;

 private:
  void* const state_;
  void (*const destructor_)(void*);
};

}  // namespace cambium::c

struct cambium_eventlistener_t {
  std::shared_ptr<cambium::c::CallingListener> rep;
};
