#include "c/listener.h"

namespace cambium::c {
namespace {

template <typename To, typename Info>
const To* As(const Info& info) {
  return reinterpret_cast<const To*>(&info);
}

// Wraps a DB during a call of a callback, which does not own it.
class Borrowed {
 public:
  explicit Borrowed(DB* db) { db_.rep.reset(db); }
  ~Borrowed() { (void)db_.rep.release(); }
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;
  [[nodiscard]] cambium_t* get() { return &db_; }

 private:
  cambium_t db_;
};

}  // namespace

void CallingListener::OnFlushBegin(DB* db, const FlushJobInfo& info) {
  if (flush_begin != nullptr) flush_begin(state_, Borrowed(db).get(), As<cambium_flushjobinfo_t>(info));
}
void CallingListener::OnFlushCompleted(DB* db, const FlushJobInfo& info) {
  if (flush_completed != nullptr) flush_completed(state_, Borrowed(db).get(), As<cambium_flushjobinfo_t>(info));
}
void CallingListener::OnCompactionBegin(DB* db, const CompactionJobInfo& info) {
  if (compaction_begin != nullptr) compaction_begin(state_, Borrowed(db).get(), As<cambium_compactionjobinfo_t>(info));
}
void CallingListener::OnCompactionCompleted(DB* db, const CompactionJobInfo& info) {
  if (compaction_completed != nullptr)
    compaction_completed(state_, Borrowed(db).get(), As<cambium_compactionjobinfo_t>(info));
}
void CallingListener::OnLogGcCompleted(DB* db, const LogGcJobInfo& info) {
  if (log_gc_completed != nullptr) log_gc_completed(state_, Borrowed(db).get(), As<cambium_loggcjobinfo_t>(info));
}

void CallingListener::OnMemTableSealed(const MemTableInfo& info) {
  if (memtable_sealed != nullptr) memtable_sealed(state_, As<cambium_memtableinfo_t>(info));
}
void CallingListener::OnTableFileCreated(const TableFileCreationInfo& info) {
  if (table_file_created != nullptr) table_file_created(state_, As<cambium_tablefilecreationinfo_t>(info));
}
void CallingListener::OnTableFileDeleted(const TableFileDeletionInfo& info) {
  if (table_file_deleted != nullptr) table_file_deleted(state_, As<cambium_tablefiledeletioninfo_t>(info));
}
void CallingListener::OnBlobFileCreated(const BlobFileCreationInfo& info) {
  if (blob_file_created != nullptr) blob_file_created(state_, As<cambium_blobfilecreationinfo_t>(info));
}
void CallingListener::OnBlobFileDeleted(const BlobFileDeletionInfo& info) {
  if (blob_file_deleted != nullptr) blob_file_deleted(state_, As<cambium_blobfiledeletioninfo_t>(info));
}
void CallingListener::OnStallConditionsChanged(const WriteStallInfo& info) {
  if (stall_conditions_changed != nullptr) stall_conditions_changed(state_, As<cambium_writestallinfo_t>(info));
}
void CallingListener::OnBackgroundError(const BackgroundErrorInfo& info) {
  if (background_error != nullptr) background_error(state_, As<cambium_backgrounderrorinfo_t>(info));
}

// In C both events have one info type. In this event, fields that are not known yet are zero.
void CallingListener::OnTableFileCreationStarted(const TableFileCreationBriefInfo& brief) {
  if (table_file_started == nullptr) return;
  TableFileCreationInfo info;
  static_cast<TableFileCreationBriefInfo&>(info) = brief;
  table_file_started(state_, As<cambium_tablefilecreationinfo_t>(info));
}
void CallingListener::OnBlobFileCreationStarted(const BlobFileCreationBriefInfo& brief) {
  if (blob_file_started == nullptr) return;
  BlobFileCreationInfo info;
  static_cast<BlobFileCreationBriefInfo&>(info) = brief;
  blob_file_started(state_, As<cambium_blobfilecreationinfo_t>(info));
}

}  // namespace cambium::c

cambium_eventlistener_t* cambium_eventlistener_create(
    void* state, void (*destructor)(void* state), cambium_on_flush_cb on_flush_begin,
    cambium_on_flush_cb on_flush_completed, cambium_on_compaction_cb on_compaction_begin,
    cambium_on_compaction_cb on_compaction_completed, cambium_on_background_error_cb on_background_error,
    cambium_on_stall_conditions_changed_cb on_stall_conditions_changed,
    cambium_on_memtable_sealed_cb on_memtable_sealed) {
  auto listener = std::make_shared<cambium::c::CallingListener>(state, destructor);
  listener->flush_begin = on_flush_begin;
  listener->flush_completed = on_flush_completed;
  listener->compaction_begin = on_compaction_begin;
  listener->compaction_completed = on_compaction_completed;
  listener->background_error = on_background_error;
  listener->stall_conditions_changed = on_stall_conditions_changed;
  listener->memtable_sealed = on_memtable_sealed;
  return new cambium_eventlistener_t{std::move(listener)};
}
void cambium_eventlistener_set_on_log_gc_completed(cambium_eventlistener_t* listener, cambium_on_log_gc_cb callback) {
  listener->rep->log_gc_completed = callback;
}
void cambium_eventlistener_set_on_table_files(cambium_eventlistener_t* listener,
                                              cambium_on_table_file_creation_cb started,
                                              cambium_on_table_file_creation_cb created,
                                              cambium_on_table_file_deleted_cb deleted) {
  listener->rep->table_file_started = started;
  listener->rep->table_file_created = created;
  listener->rep->table_file_deleted = deleted;
}
void cambium_eventlistener_set_on_blob_files(cambium_eventlistener_t* listener,
                                             cambium_on_blob_file_creation_cb started,
                                             cambium_on_blob_file_creation_cb created,
                                             cambium_on_blob_file_deleted_cb deleted) {
  listener->rep->blob_file_started = started;
  listener->rep->blob_file_created = created;
  listener->rep->blob_file_deleted = deleted;
}
void cambium_options_add_eventlistener(cambium_options_t* options, cambium_eventlistener_t* listener) {
  options->rep.listeners.push_back(listener->rep);
}
void cambium_eventlistener_destroy(cambium_eventlistener_t* listener) { delete listener; }
