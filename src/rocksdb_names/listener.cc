#include "rocksdb_names/listener.h"

#include <utility>

namespace rocksdb::inline on_cambium {

ListenerOnCambium::ListenerOnCambium(std::shared_ptr<on_cambium::EventListener> user, DB* owner)
    : user_(std::move(user)), owner_(owner) {}

DB* ListenerOnCambium::OwnerOf(cambium::DB* db) {
  owner_->db_.store(db, std::memory_order_relaxed);  // a callback during Open; later it stores what is there
  return owner_;
}

void ListenerOnCambium::OnFlushBegin(cambium::DB* db, const FlushJobInfo& info) {
  user_->OnFlushBegin(OwnerOf(db), info);
}
void ListenerOnCambium::OnFlushCompleted(cambium::DB* db, const FlushJobInfo& info) {
  user_->OnFlushCompleted(OwnerOf(db), info);
}
void ListenerOnCambium::OnCompactionBegin(cambium::DB* db, const CompactionJobInfo& info) {
  user_->OnCompactionBegin(OwnerOf(db), info);
}
void ListenerOnCambium::OnCompactionCompleted(cambium::DB* db, const CompactionJobInfo& info) {
  user_->OnCompactionCompleted(OwnerOf(db), info);
}
void ListenerOnCambium::OnMemTableSealed(const MemTableInfo& info) { user_->OnMemTableSealed(info); }
void ListenerOnCambium::OnTableFileCreationStarted(const TableFileCreationBriefInfo& info) {
  user_->OnTableFileCreationStarted(info);
}
void ListenerOnCambium::OnTableFileCreated(const TableFileCreationInfo& info) { user_->OnTableFileCreated(info); }
void ListenerOnCambium::OnTableFileDeleted(const TableFileDeletionInfo& info) { user_->OnTableFileDeleted(info); }
void ListenerOnCambium::OnBlobFileCreationStarted(const BlobFileCreationBriefInfo& info) {
  user_->OnBlobFileCreationStarted(info);
}
void ListenerOnCambium::OnBlobFileCreated(const BlobFileCreationInfo& info) { user_->OnBlobFileCreated(info); }
void ListenerOnCambium::OnBlobFileDeleted(const BlobFileDeletionInfo& info) { user_->OnBlobFileDeleted(info); }
void ListenerOnCambium::OnStallConditionsChanged(const WriteStallInfo& info) { user_->OnStallConditionsChanged(info); }
void ListenerOnCambium::OnBackgroundError(const cambium::BackgroundErrorInfo& info) {
  Status status = info.status;
  user_->OnBackgroundError(info.reason, &status);
}

}  // namespace rocksdb::inline on_cambium
