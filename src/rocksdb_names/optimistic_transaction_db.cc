#include "cambium/rocksdb_names/rocksdb/utilities/optimistic_transaction_db.h"

#include <utility>

#include "rocksdb_names/opening.h"

namespace rocksdb::inline on_cambium {

Status OptimisticTransactionDB::Open(const DBOptions& options, const OptimisticTransactionDBOptions& transactions,
                                     const std::string& path, const std::vector<ColumnFamilyDescriptor>& families,
                                     std::vector<ColumnFamilyHandle*>* handles, OptimisticTransactionDB** db) {
  Opening opening;
  const OptimisticTransactionDBOptions initial;
  if (transactions.validate_policy != initial.validate_policy) opening.hints.emplace_back("validate_policy");
  if (transactions.occ_lock_buckets != initial.occ_lock_buckets) opening.hints.emplace_back("occ_lock_buckets");
  if (transactions.shared_lock_buckets != nullptr) opening.hints.emplace_back("shared_lock_buckets");
  opening.make = [](const auto& whole, const auto& where, const auto& names, auto* its_handles,
                    std::unique_ptr<cambium::DB>* made) {
    std::unique_ptr<cambium::OptimisticTransactionDB> opened;
    CAMBIUM_RETURN_IF_ERROR(cambium::OptimisticTransactionDB::Open(whole, where, names, its_handles, &opened));
    *made = std::move(opened);
    return Status::OK();
  };
  CAMBIUM_RETURN_IF_ERROR(Released(
      [&](std::unique_ptr<DB>* made) {
        return OpenAs(std::unique_ptr<DB>(new OptimisticTransactionDB), std::move(opening), options, path, families,
                      handles, made);
      },
      db));
  auto* const its = static_cast<cambium::OptimisticTransactionDB*>((*db)->OnCambium());
  (*db)->base_ = NewBase(*db, its->GetBaseDB());
  return Status::OK();
}
Status OptimisticTransactionDB::Open(const DBOptions& options, const std::string& path,
                                     const std::vector<ColumnFamilyDescriptor>& families,
                                     std::vector<ColumnFamilyHandle*>* handles, OptimisticTransactionDB** db) {
  return Open(options, OptimisticTransactionDBOptions(), path, families, handles, db);
}
Status OptimisticTransactionDB::Open(const Options& options, const std::string& path, OptimisticTransactionDB** db) {
  std::vector<ColumnFamilyHandle*> handles;
  CAMBIUM_RETURN_IF_ERROR(Open(options, path, OnlyDefault(options), &handles, db));
  for (ColumnFamilyHandle* const each : handles) CAMBIUM_RETURN_IF_ERROR((*db)->DestroyColumnFamilyHandle(each));
  return Status::OK();
}

Transaction* OptimisticTransactionDB::BeginTransaction(const WriteOptions& options,
                                                       const OptimisticTransactionOptions& transaction,
                                                       Transaction* old) {
  if (old != nullptr && old->objects_ != nullptr) return nullptr;  // of another database
  cambium::OptimisticTransactionOptions its;
  its.set_snapshot = transaction.set_snapshot;
  its.read_at_snapshot = false;  // RocksDB's transactions read the newest state, also if they have a snapshot
  auto* const db = static_cast<cambium::OptimisticTransactionDB*>(OnCambium());
  cambium::Transaction* const begun = db->BeginTransaction(options, its, old == nullptr ? nullptr : old->OnCambium());
  if (begun == nullptr) return nullptr;
  if (old == nullptr) return new Transaction(std::unique_ptr<cambium::Transaction>(begun), options, nullptr);
  old->SetWriteOptions(options);
  return old;
}

}  // namespace rocksdb::inline on_cambium
