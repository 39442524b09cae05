#include "cambium/rocksdb_names/rocksdb/utilities/transaction.h"

#include <utility>

#include "rocksdb_names/reading.h"
#include "rocksdb_names/transaction_objects.h"

namespace rocksdb::inline on_cambium {
namespace {

std::string Joined(const SliceParts& parts) {
  std::string joined;
  for (int i = 0; i < parts.num_parts; ++i) joined.append(parts.parts[i].data(), parts.parts[i].size());
  return joined;
}

}  // namespace

Transaction* TransactionObjects::Of(cambium::Transaction* rep) {
  const cambium::MutexLock lock(mutex_);
  Transaction*& object = objects_[rep];
  if (object == nullptr) {
    WriteOptions options;
    static_cast<cambium::WriteOptions&>(options) = *rep->GetWriteOptions();
    object = new Transaction(std::unique_ptr<cambium::Transaction>(rep), options, shared_from_this());
  }
  return object;
}

void TransactionObjects::Remove(const cambium::Transaction* rep) {
  const cambium::MutexLock lock(mutex_);
  objects_.erase(rep);
}

Transaction::Transaction(std::unique_ptr<cambium::Transaction> rep, const WriteOptions& options,
                         std::shared_ptr<TransactionObjects> objects)
    : objects_(std::move(objects)), rep_(std::move(rep)), write_options_(options) {}

Transaction::~Transaction() {
  if (objects_ != nullptr) objects_->Remove(rep_.get());
}

Status Transaction::Prepare() {
  rep_->SetWriteOptions(write_options_);
  return rep_->Prepare();
}
Status Transaction::Commit() {
  rep_->SetWriteOptions(write_options_);
  return rep_->Commit();
}
Status Transaction::Rollback() {
  rep_->SetWriteOptions(write_options_);
  return rep_->Rollback();
}

Status Transaction::Get(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key, std::string* value) {
  CAMBIUM_RETURN_IF_ERROR(Reading::Check(options));
  return rep_->Get(options, family, key, value);
}
Status Transaction::Get(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
                        PinnableSlice* value) {
  CAMBIUM_RETURN_IF_ERROR(Reading::Check(options));
  if (value == nullptr) return Status::InvalidArgument("the pointer for the value is null");
  return Reading::Into(value, [&](auto* to) { return rep_->Get(options, family, key, to); });
}

std::vector<Status> Transaction::MultiGet(const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& families,
                                          const std::vector<Slice>& keys, std::vector<std::string>* values) {
  if (const Status checked = Reading::Check(options); !checked.ok()) return std::vector<Status>(keys.size(), checked);
  return rep_->MultiGet(options, families, keys, values);
}
std::vector<Status> Transaction::MultiGet(const ReadOptions& options, const std::vector<Slice>& keys,
                                          std::vector<std::string>* values) {
  if (const Status checked = Reading::Check(options); !checked.ok()) return std::vector<Status>(keys.size(), checked);
  return rep_->MultiGet(options, keys, values);
}
void Transaction::MultiGet(const ReadOptions& options, ColumnFamilyHandle* family, std::size_t count, const Slice* keys,
                           PinnableSlice* values, Status* statuses, bool /*sorted_input*/) {
  Reading::Many(options, count, values, statuses, [&](cambium::PinnableSlice* read) {
    rep_->MultiGet(options, family, count, keys, read, statuses);
  });
}

Status Transaction::GetForUpdate(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
                                 std::string* value, bool exclusive, bool do_validate) {
  CAMBIUM_RETURN_IF_ERROR(Reading::Check(options));
  return rep_->GetForUpdate(options, family, key, value, exclusive, do_validate);
}
Status Transaction::GetForUpdate(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
                                 PinnableSlice* value, bool exclusive, bool do_validate) {
  if (value == nullptr) {
    return GetForUpdate(options, family, key, static_cast<std::string*>(nullptr), exclusive, do_validate);
  }
  CAMBIUM_RETURN_IF_ERROR(Reading::Check(options));
  return Reading::Into(
      value, [&](auto* to) { return rep_->GetForUpdate(options, family, key, to, exclusive, do_validate); });
}
std::vector<Status> Transaction::MultiGetForUpdate(const ReadOptions& options,
                                                   const std::vector<ColumnFamilyHandle*>& families,
                                                   const std::vector<Slice>& keys, std::vector<std::string>* values) {
  if (const Status checked = Reading::Check(options); !checked.ok()) return std::vector<Status>(keys.size(), checked);
  return rep_->MultiGetForUpdate(options, families, keys, values);
}
std::vector<Status> Transaction::MultiGetForUpdate(const ReadOptions& options, const std::vector<Slice>& keys,
                                                   std::vector<std::string>* values) {
  return MultiGetForUpdate(options, std::vector<ColumnFamilyHandle*>(keys.size(), nullptr), keys, values);
}

Iterator* Transaction::GetIterator(const ReadOptions& options, ColumnFamilyHandle* family) {
  Status checked = Reading::Check(options);
  if (!checked.ok()) return Reading::NewErrorIterator(std::move(checked));
  return rep_->GetIterator(options, family);
}

Status Transaction::Put(ColumnFamilyHandle* family, const SliceParts& key, const SliceParts& value,
                        bool assume_tracked) {
  return Put(family, Slice(Joined(key)), Slice(Joined(value)), assume_tracked);
}
Status Transaction::Delete(ColumnFamilyHandle* family, const SliceParts& key, bool assume_tracked) {
  return Delete(family, Slice(Joined(key)), assume_tracked);
}
Status Transaction::SingleDelete(ColumnFamilyHandle* family, const SliceParts& key, bool assume_tracked) {
  return SingleDelete(family, Slice(Joined(key)), assume_tracked);
}
Status Transaction::PutUntracked(ColumnFamilyHandle* family, const SliceParts& key, const SliceParts& value) {
  return PutUntracked(family, Slice(Joined(key)), Slice(Joined(value)));
}
Status Transaction::DeleteUntracked(ColumnFamilyHandle* family, const SliceParts& key) {
  return DeleteUntracked(family, Slice(Joined(key)));
}

Status Transaction::Merge(ColumnFamilyHandle* /*family*/, const Slice& /*key*/, const Slice& /*operand*/,
                          bool /*assume_tracked*/) {
  return Status::NotSupported("Merge is not in this version");
}

WriteBatchWithIndex* Transaction::GetWriteBatch() {
  cambium::WriteBatchWithIndex* const its = rep_->GetWriteBatch();
  if (batch_ == nullptr || batch_->OnCambium() != its) batch_.reset(new WriteBatchWithIndex(its));
  return batch_.get();
}

}  // namespace rocksdb::inline on_cambium
