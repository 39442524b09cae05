// EventListener: callbacks for flushes, compactions, files, stalls and errors, with RocksDB's signatures.
// cambium/listener.h says what each info contains, and when it is given. RocksDB's other callbacks are never called.
#pragma once

#include "cambium/listener.h"
#include "cambium/rocksdb_names/rocksdb/rocksdb_namespace.h"
#include "cambium/rocksdb_names/rocksdb/status.h"

namespace rocksdb::inline on_cambium {

class DB;
using cambium::BackgroundErrorReason;
using cambium::BlobFileCreationBriefInfo;
using cambium::BlobFileCreationInfo;
using cambium::BlobFileDeletionInfo;
using cambium::CompactionJobInfo;
using cambium::CompactionReason;
using cambium::FlushJobInfo;
using cambium::FlushReason;
using cambium::MemTableInfo;
using cambium::TableFileCreationBriefInfo;
using cambium::TableFileCreationInfo;
using cambium::TableFileDeletionInfo;
using cambium::WriteStallCondition;
using cambium::WriteStallInfo;

// Under the rules of cambium::EventListener.
class EventListener {
 public:
  EventListener() = default;
  EventListener(const EventListener&) = delete;
  EventListener& operator=(const EventListener&) = delete;
  virtual ~EventListener() = default;

  // `db` is the object that DB::Open returns, also if the callback precedes its return.
  virtual void OnFlushBegin(DB* /*db*/, const FlushJobInfo& /*info*/) {}
  virtual void OnFlushCompleted(DB* /*db*/, const FlushJobInfo& /*info*/) {}
  virtual void OnCompactionBegin(DB* /*db*/, const CompactionJobInfo& /*info*/) {}
  virtual void OnCompactionCompleted(DB* /*db*/, const CompactionJobInfo& /*info*/) {}
  virtual void OnMemTableSealed(const MemTableInfo& /*info*/) {}
  virtual void OnTableFileCreationStarted(const TableFileCreationBriefInfo& /*info*/) {}
  virtual void OnTableFileCreated(const TableFileCreationInfo& /*info*/) {}
  virtual void OnTableFileDeleted(const TableFileDeletionInfo& /*info*/) {}
  virtual void OnBlobFileCreationStarted(const BlobFileCreationBriefInfo& /*info*/) {}
  virtual void OnBlobFileCreated(const BlobFileCreationInfo& /*info*/) {}
  virtual void OnBlobFileDeleted(const BlobFileDeletionInfo& /*info*/) {}
  virtual void OnStallConditionsChanged(const WriteStallInfo& /*info*/) {}
  // In RocksDB a callback may replace the error by OK, and so suppress it. Here a change of *status has no effect.
  virtual void OnBackgroundError(BackgroundErrorReason /*reason*/, Status* /*status*/) {}
};

}  // namespace rocksdb::inline on_cambium
