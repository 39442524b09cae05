#include "cambium/transaction_db.h"

#include <set>
#include <utility>

#include "transactions/conditional_write.h"
#include "transactions/open_above.h"
#include "transactions/pessimistic_transaction.h"

namespace cambium {
namespace {

// Collects the keys of a batch, so that they can be locked in one order: two such batches never wait for each other.
class KeysOfBatch final : public WriteBatch::Handler {
 public:
  Status Put(Slice, Slice) override { return Status::OK(); }  // the functions below get all families
  Status Delete(Slice) override { return Status::OK(); }
  Status PutCF(std::uint32_t family, Slice key, Slice) override { return DeleteCF(family, key); }
  Status SingleDeleteCF(std::uint32_t family, Slice key) override { return DeleteCF(family, key); }
  Status DeleteCF(std::uint32_t family, Slice key) override {
    keys_.emplace(family, key.ToString());
    return Status::OK();
  }
  Status DeleteRangeCF(std::uint32_t, Slice, Slice) override {
    return Status::NotSupported("a TransactionDB takes no range deletes");
  }
  [[nodiscard]] std::set<FamilyKey>* keys() { return &keys_; }

 private:
  std::set<FamilyKey> keys_;
};

// A batch takes a null handle for the default family; a call of the database does not.
Status NullFamily() { return Status::InvalidArgument("the column family handle is null"); }

class TransactionDBImpl final : public TransactionDB {
 public:
  TransactionDBImpl(std::unique_ptr<DB> db, const TransactionDBOptions& options)
      : TransactionDB(std::move(db)), inside_(*DbInside::Of(db_)), context_(options, inside_.GetClock()) {}

  using TransactionDB::Delete;
  using TransactionDB::Put;
  using TransactionDB::SingleDelete;

  Transaction* BeginTransaction(const WriteOptions& options, const TransactionOptions& transaction,
                                Transaction* old) override {
    if (!inside_.CheckOpenForWriting().ok()) return nullptr;
    auto* const again = dynamic_cast<PessimisticTransaction*>(old);
    if (again == nullptr) return new PessimisticTransaction(&inside_, &context_, options, transaction);
    again->BeginAgain(options, transaction);
    return again;
  }
  Transaction* GetTransactionByName(const TransactionName& name) override { return context_.open.Find(name); }
  void GetAllPreparedTransactions(std::vector<Transaction*>* transactions) override { transactions->clear(); }
  std::unordered_multimap<std::uint32_t, KeyLockInfo> GetLockStatusData() override { return context_.locks.List(); }
  std::vector<DeadlockPath> GetDeadlockInfoBuffer() override { return context_.locks.waits().Deadlocks(); }
  void SetDeadlockInfoBufferSize(std::uint32_t count) override { context_.locks.waits().SetRememberedMax(count); }

  Status Put(const WriteOptions& options, ColumnFamilyHandle* family, Slice key, Slice value) override {
    if (family == nullptr) return NullFamily();
    WriteBatch batch(key.size() + value.size() + 32);
    static_cast<void>(batch.Put(family, key, value));  // Write returns a refusal
    return Write(options, &batch);
  }
  Status Delete(const WriteOptions& options, ColumnFamilyHandle* family, Slice key) override {
    if (family == nullptr) return NullFamily();
    WriteBatch batch(key.size() + 32);
    static_cast<void>(batch.Delete(family, key));
    return Write(options, &batch);
  }
  Status SingleDelete(const WriteOptions& options, ColumnFamilyHandle* family, Slice key) override {
    if (family == nullptr) return NullFamily();
    WriteBatch batch(key.size() + 32);
    static_cast<void>(batch.SingleDelete(family, key));
    return Write(options, &batch);
  }
  Status Write(const WriteOptions& options, WriteBatch* batch) override {
    bool written = false;
    return WriteIf(options, {}, batch, &written);
  }
  Status WriteIf(const WriteOptions& options, const WriteConditions& conditions, WriteBatch* batch,
                 bool* written) override {
    if (written == nullptr) return Status::InvalidArgument("WriteIf: written is null");
    *written = false;
    if (batch == nullptr) return Status::InvalidArgument("Write: the batch is null");
    CAMBIUM_RETURN_IF_ERROR(inside_.CheckOpenForWriting());
    ConditionalWrite write(&inside_, &conditions);
    CAMBIUM_RETURN_IF_ERROR(write.FindFamilies());
    KeysOfBatch keys;
    CAMBIUM_RETURN_IF_ERROR(batch->Iterate(&keys));
    write.AddKeys(keys.keys());
    PessimisticTransaction locks(&inside_, &context_, options, {});
    locks.SetLockTimeout(context_.options.default_lock_timeout);
    for (const auto& [id, key] : *keys.keys()) {
      const std::unique_ptr<ColumnFamilyHandle> handle = inside_.NewHandle(id);
      if (handle == nullptr) break;  // the write below says so
      CAMBIUM_TRY(const std::shared_ptr<Family> family, inside_.SharedFamilyOf(handle.get()));
      CAMBIUM_RETURN_IF_ERROR(locks.LockForWrite(family, key));
    }
    if (conditions.Count() > 0) return write.Write(options, batch, written);
    Status s = inside_.db().Write(options, batch);
    *written = s.ok();
    return s;
  }

 private:
  DbInside& inside_;
  LockContext context_;
};

}  // namespace

Status TransactionDB::DeleteRange(const WriteOptions&, ColumnFamilyHandle*, Slice, Slice) {
  return Status::NotSupported("a TransactionDB takes no range deletes");
}

Status TransactionDB::Open(const Options& options, const TransactionDBOptions& transactions, const std::string& path,
                           std::unique_ptr<TransactionDB>* db) {
  return OpenAbove<TransactionDBImpl>(
      db, [&](std::unique_ptr<DB>* below) { return DB::Open(options, path, below); }, transactions);
}

Status TransactionDB::Open(const Options& options, const TransactionDBOptions& transactions, const std::string& path,
                           TransactionDB** db) {
  return OpenPlain(db, [&](std::unique_ptr<TransactionDB>* made) { return Open(options, transactions, path, made); });
}

Status TransactionDB::Open(const DBOptions& options, const TransactionDBOptions& transactions, const std::string& path,
                           const std::vector<ColumnFamilyDescriptor>& families,
                           std::vector<ColumnFamilyHandle*>* handles, std::unique_ptr<TransactionDB>* db) {
  return OpenAbove<TransactionDBImpl>(
      db, [&](std::unique_ptr<DB>* below) { return DB::Open(options, path, families, handles, below); }, transactions);
}

Status TransactionDB::Open(const DBOptions& options, const TransactionDBOptions& transactions, const std::string& path,
                           const std::vector<ColumnFamilyDescriptor>& families,
                           std::vector<ColumnFamilyHandle*>* handles, TransactionDB** db) {
  return OpenPlain(db, [&](std::unique_ptr<TransactionDB>* made) {
    return Open(options, transactions, path, families, handles, made);
  });
}

}  // namespace cambium
