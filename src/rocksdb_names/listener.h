// A listener of the program's, for Cambium.
#pragma once

#include <memory>

#include "cambium/listener.h"
#include "cambium/rocksdb_names/rocksdb/db.h"

namespace rocksdb::inline on_cambium {

// Calls `user` with the object `owner`, which must outlive it, in place of the database that Cambium names.
class ListenerOnCambium final : public cambium::EventListener {
 public:
  ListenerOnCambium(std::shared_ptr<on_cambium::EventListener> user, DB* owner);

  void OnFlushBegin(cambium::DB* db, const FlushJobInfo& info) override;
  void OnFlushCompleted(cambium::DB* db, const FlushJobInfo& info) override;
  void OnCompactionBegin(cambium::DB* db, const CompactionJobInfo& info) override;
  void OnCompactionCompleted(cambium::DB* db, const CompactionJobInfo& info) override;
  void OnMemTableSealed(const MemTableInfo& info) override;
  void OnTableFileCreationStarted(const TableFileCreationBriefInfo& info) override;
  void OnTableFileCreated(const TableFileCreationInfo& info) override;
  void OnTableFileDeleted(const TableFileDeletionInfo& info) override;
  void OnBlobFileCreationStarted(const BlobFileCreationBriefInfo& info) override;
  void OnBlobFileCreated(const BlobFileCreationInfo& info) override;
  void OnBlobFileDeleted(const BlobFileDeletionInfo& info) override;
  void OnStallConditionsChanged(const WriteStallInfo& info) override;
  void OnBackgroundError(const cambium::BackgroundErrorInfo& info) override;

 private:
  // Returns the owner, after it has been given its database.
  DB* OwnerOf(cambium::DB* db);

  const std::shared_ptr<on_cambium::EventListener> user_;
  DB* const owner_;
};

}  // namespace rocksdb::inline on_cambium
