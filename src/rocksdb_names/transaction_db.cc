#include "cambium/rocksdb_names/rocksdb/utilities/transaction_db.h"

#include <utility>

#include "rocksdb_names/opening.h"
#include "rocksdb_names/transaction_objects.h"

namespace rocksdb::inline on_cambium {
namespace {

Status ToCambium(const TransactionDBOptions& from, cambium::TransactionDBOptions* to,
                 std::vector<std::string>* hints) {
  const char* refused = nullptr;
  if (from.write_policy != WRITE_COMMITTED) refused = "write_policy other than WRITE_COMMITTED";
  if (from.custom_mutex_factory != nullptr) refused = "custom_mutex_factory";
  if (from.lock_mgr_handle != nullptr) refused = "lock_mgr_handle";
  if (!from.secondary_indices.empty()) refused = "secondary_indices";
  if (refused != nullptr) {
    return Status::NotSupported(std::string("TransactionDBOptions::") + refused + " is not in this version");
  }
  to->max_num_locks = from.max_num_locks;
  to->max_num_deadlocks = from.max_num_deadlocks;
  to->num_stripes = from.num_stripes;
  to->transaction_lock_timeout = from.transaction_lock_timeout;
  to->default_lock_timeout = from.default_lock_timeout;
  const TransactionDBOptions initial;
  const auto add = [hints](bool is_set, const char* name) {
    if (is_set) hints->emplace_back(name);
  };
  add(from.rollback_merge_operands, "rollback_merge_operands");
  add(from.use_per_key_point_lock_mgr, "use_per_key_point_lock_mgr");
  add(from.skip_concurrency_control, "skip_concurrency_control");
  add(from.default_write_batch_flush_threshold != 0, "default_write_batch_flush_threshold");
  add(from.rollback_deletion_type_callback != nullptr, "rollback_deletion_type_callback");
  add(!from.enable_udt_validation, "enable_udt_validation");
  add(from.txn_commit_bypass_memtable_threshold != initial.txn_commit_bypass_memtable_threshold,
      "txn_commit_bypass_memtable_threshold");
  return Status::OK();
}

// RocksDB's transactions read the newest state, also if they have a snapshot.
cambium::TransactionOptions ToCambium(const TransactionOptions& from) {
  cambium::TransactionOptions to;
  to.set_snapshot = from.set_snapshot;
  to.read_at_snapshot = false;
  to.deadlock_detect = from.deadlock_detect;
  to.deadlock_detect_depth = from.deadlock_detect_depth;
  to.lock_timeout = from.lock_timeout;
  to.expiration = from.expiration;
  to.max_write_batch_size = from.max_write_batch_size;
  to.skip_prepare = from.skip_prepare;
  return to;
}

}  // namespace

TransactionDB::TransactionDB() : objects_(std::make_shared<TransactionObjects>()) {}
TransactionDB::~TransactionDB() = default;

Status TransactionDB::Open(const DBOptions& options, const TransactionDBOptions& transactions, const std::string& path,
                           const std::vector<ColumnFamilyDescriptor>& families,
                           std::vector<ColumnFamilyHandle*>* handles, TransactionDB** db) {
  Opening opening;
  cambium::TransactionDBOptions its;
  CAMBIUM_RETURN_IF_ERROR(ToCambium(transactions, &its, &opening.hints));
  opening.make = [&its](const auto& whole, const auto& where, const auto& names, auto* its_handles,
                        std::unique_ptr<cambium::DB>* made) {
    std::unique_ptr<cambium::TransactionDB> opened;
    CAMBIUM_RETURN_IF_ERROR(cambium::TransactionDB::Open(whole, its, where, names, its_handles, &opened));
    *made = std::move(opened);
    return Status::OK();
  };
  CAMBIUM_RETURN_IF_ERROR(Released(
      [&](std::unique_ptr<DB>* made) {
        return OpenAs(std::unique_ptr<DB>(new TransactionDB), std::move(opening), options, path, families, handles,
                      made);
      },
      db));
  (*db)->base_ = NewBase(*db, (*db)->OnCambiumHere()->GetBaseDB());
  return Status::OK();
}
Status TransactionDB::Open(const Options& options, const TransactionDBOptions& transactions, const std::string& path,
                           TransactionDB** db) {
  std::vector<ColumnFamilyHandle*> handles;
  CAMBIUM_RETURN_IF_ERROR(Open(options, transactions, path, OnlyDefault(options), &handles, db));
  for (ColumnFamilyHandle* const each : handles) CAMBIUM_RETURN_IF_ERROR((*db)->DestroyColumnFamilyHandle(each));
  return Status::OK();
}

Transaction* TransactionDB::BeginTransaction(const WriteOptions& options, const TransactionOptions& transaction,
                                             Transaction* old) {
  if (old != nullptr && old->objects_ != objects_) return nullptr;  // of another database
  cambium::Transaction* const begun = OnCambiumHere()->BeginTransaction(
      options, ToCambium(transaction), old == nullptr ? nullptr : old->OnCambium());
  if (begun == nullptr) return nullptr;
  Transaction* const object = objects_->Of(begun);
  object->SetWriteOptions(options);
  return object;
}

Transaction* TransactionDB::GetTransactionByName(const TransactionName& name) {
  cambium::Transaction* const found = OnCambiumHere()->GetTransactionByName(name);
  return found == nullptr ? nullptr : objects_->Of(found);
}

void TransactionDB::GetAllPreparedTransactions(std::vector<Transaction*>* transactions) {
  std::vector<cambium::Transaction*> prepared;
  OnCambiumHere()->GetAllPreparedTransactions(&prepared);
  transactions->clear();
  for (cambium::Transaction* const each : prepared) transactions->push_back(objects_->Of(each));
}

std::unordered_multimap<std::uint32_t, KeyLockInfo> TransactionDB::GetLockStatusData() {
  std::unordered_multimap<std::uint32_t, KeyLockInfo> locks;
  for (const auto& [family, its] : OnCambiumHere()->GetLockStatusData()) {
    locks.emplace(family, KeyLockInfo{its.key, its.ids, its.exclusive});
  }
  return locks;
}

std::vector<DeadlockPath> TransactionDB::GetDeadlockInfoBuffer() {
  std::vector<DeadlockPath> deadlocks;
  for (const cambium::DeadlockPath& its : OnCambiumHere()->GetDeadlockInfoBuffer()) {
    DeadlockPath& one = deadlocks.emplace_back();
    for (const cambium::DeadlockInfo& each : its.path) {
      one.path.push_back({each.txn_id, each.family_id, each.exclusive, each.waiting_key});
    }
    one.limit_exceeded = its.limit_exceeded;
    one.deadlock_time = its.deadlock_time;
  }
  return deadlocks;
}

void TransactionDB::SetDeadlockInfoBufferSize(std::uint32_t count) {
  OnCambiumHere()->SetDeadlockInfoBufferSize(count);
}

}  // namespace rocksdb::inline on_cambium
