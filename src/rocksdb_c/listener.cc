#include "rocksdb_c/listener.h"

struct rocksdb_eventlistener_t {
  std::shared_ptr<cambium::EventListener> rep;
};

namespace cambium::rocks {
namespace {

template <typename To, typename Info>
const To* As(const Info& info) {
  return reinterpret_cast<const To*>(&info);
}

// Wraps a DB during a call of a callback, which does not own it.
class Borrowed {
 public:
  explicit Borrowed(DB* db) { db_.rep = std::shared_ptr<DB>(std::shared_ptr<DB>(), db); }
  [[nodiscard]] rocksdb_t* get() { return &db_; }

 private:
  rocksdb_t db_;
};

}  // namespace

void CallingListener::OnMemTableSealed(const MemTableInfo& info) {
  if (calls_.memtable_sealed != nullptr) calls_.memtable_sealed(state_.state, As<rocksdb_memtableinfo_t>(info));
}
void CallingListener::OnFlushBegin(DB* db, const FlushJobInfo& info) {
  if (calls_.flush_begin == nullptr) return;
  calls_.flush_begin(state_.state, Borrowed(db).get(), As<rocksdb_flushjobinfo_t>(info));
}
void CallingListener::OnFlushCompleted(DB* db, const FlushJobInfo& info) {
  if (calls_.flush_completed == nullptr) return;
  calls_.flush_completed(state_.state, Borrowed(db).get(), As<rocksdb_flushjobinfo_t>(info));
}
void CallingListener::OnCompactionBegin(DB* db, const CompactionJobInfo& info) {
  if (calls_.compaction_begin == nullptr) return;
  calls_.compaction_begin(state_.state, Borrowed(db).get(), As<rocksdb_compactionjobinfo_t>(info));
}
void CallingListener::OnCompactionCompleted(DB* db, const CompactionJobInfo& info) {
  if (calls_.compaction_completed == nullptr) return;
  calls_.compaction_completed(state_.state, Borrowed(db).get(), As<rocksdb_compactionjobinfo_t>(info));
}
void CallingListener::OnStallConditionsChanged(const WriteStallInfo& info) {
  if (calls_.stall_conditions_changed == nullptr) return;
  calls_.stall_conditions_changed(state_.state, As<rocksdb_writestallinfo_t>(info));
}

// RocksDB's numbers: flush, compaction, a write, the memtable, the MANIFEST.
void CallingListener::OnBackgroundError(const BackgroundErrorInfo& info) {
  if (calls_.background_error == nullptr) return;
  std::uint32_t reason = 2;
  switch (info.reason) {
    case BackgroundErrorReason::kFlush:
      reason = 0;
      break;
    case BackgroundErrorReason::kCompaction:
    case BackgroundErrorReason::kLogGc:
      reason = 1;
      break;
    case BackgroundErrorReason::kManifestWrite:
      reason = 4;
      break;
    default:
      break;
  }
  rocksdb_status_ptr_t status{info.status};
  calls_.background_error(state_.state, reason, &status);
}

}  // namespace cambium::rocks

using namespace cambium::rocks;

extern "C" {

// Each step of a compaction is reported as a compaction. This version has no ingestion, so its callback is never
// called.
rocksdb_eventlistener_t* rocksdb_eventlistener_create(
    void* state, void (*destructor)(void*), on_flush_begin_cb on_flush_begin, on_flush_completed_cb on_flush_completed,
    on_compaction_begin_cb on_compaction_begin, on_compaction_completed_cb on_compaction_completed,
    on_subcompaction_begin_cb /*on_subcompaction_begin*/, on_subcompaction_completed_cb /*on_subcompaction_completed*/,
    on_external_file_ingested_cb /*on_external_file_ingested*/, on_background_error_cb on_background_error,
    on_stall_conditions_changed_cb on_stall_conditions_changed, on_memtable_sealed_cb on_memtable_sealed) {
  const ListenerCallbacks calls = {on_flush_begin,          on_flush_completed,  on_compaction_begin,
                                   on_compaction_completed, on_background_error, on_stall_conditions_changed,
                                   on_memtable_sealed};
  return new rocksdb_eventlistener_t{std::make_shared<CallingListener>(state, destructor, calls)};
}
void rocksdb_eventlistener_destroy(rocksdb_eventlistener_t* listener) { delete listener; }
void rocksdb_options_add_eventlistener(rocksdb_options_t* options, rocksdb_eventlistener_t* listener) {
  options->listeners.push_back(listener->rep);
}

void rocksdb_status_ptr_get_error(rocksdb_status_ptr_t* status, char** errptr) {
  Guarded(errptr, [&] { return status->rep; });
}
// A listener cannot change a background error.
void rocksdb_reset_status(rocksdb_status_ptr_t* /*status*/) {}

}  // extern "C"
