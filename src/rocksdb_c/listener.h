// A listener whose callbacks are C functions.
#pragma once

#include "rocksdb_c/objects.h"

struct rocksdb_writestallcondition_t;

struct rocksdb_status_ptr_t {
  cambium::Status rep;
};

namespace cambium::rocks {

struct ListenerCallbacks {
  on_flush_begin_cb flush_begin;
  on_flush_completed_cb flush_completed;
  on_compaction_begin_cb compaction_begin;
  on_compaction_completed_cb compaction_completed;
  on_background_error_cb background_error;
  on_stall_conditions_changed_cb stall_conditions_changed;
  on_memtable_sealed_cb memtable_sealed;
};

class CallingListener final : public EventListener {
 public:
  CallingListener(void* state, void (*destructor)(void*), const ListenerCallbacks& calls)
      : state_(state, destructor), calls_(calls) {}

  void OnMemTableSealed(const MemTableInfo& info) override;
  void OnFlushBegin(DB* db, const FlushJobInfo& info) override;
  void OnFlushCompleted(DB* db, const FlushJobInfo& info) override;
  void OnCompactionBegin(DB* db, const CompactionJobInfo& info) override;
  void OnCompactionCompleted(DB* db, const CompactionJobInfo& info) override;
  void OnStallConditionsChanged(const WriteStallInfo& info) override;
  void OnBackgroundError(const BackgroundErrorInfo& info) override;

 private:
  const RocksState state_;
  const ListenerCallbacks calls_;
};

}  // namespace cambium::rocks
