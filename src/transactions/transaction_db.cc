#include "cambium/transaction_db.h"

#include <algorithm>
#include <set>
#include <utility>

#include "index/key_for_message.h"
#include "manifest/features.h"
#include "transactions/conditional_write.h"
#include "transactions/open_above.h"
#include "transactions/pessimistic_transaction.h"

namespace cambium {
namespace {

// Collects the keys of a batch, so that they can be locked in one order: two such batches never wait for each other.
class KeysOfBatch final : public WriteBatch::Handler {
 public:
  explicit KeysOfBatch(const PreparedStore* prepared) : prepared_(*prepared) {}
  Status Put(Slice, Slice) override { return Status::OK(); }  // the functions below get all families
  Status Delete(Slice) override { return Status::OK(); }
  Status PutCF(std::uint32_t family, Slice key, Slice) override { return DeleteCF(family, key); }
  Status SingleDeleteCF(std::uint32_t family, Slice key) override { return DeleteCF(family, key); }
  Status DeleteCF(std::uint32_t family, Slice key) override {
    if (prepared_.IsOwnFamily(family)) return PreparedStore::Refusal();
    keys_.emplace(family, key.ToString());
    return Status::OK();
  }
  Status DeleteRangeCF(std::uint32_t, Slice, Slice) override {
    return Status::NotSupported("a TransactionDB takes no range deletes");
  }
  [[nodiscard]] std::set<FamilyKey>* keys() { return &keys_; }

 private:
  const PreparedStore& prepared_;
  std::set<FamilyKey> keys_;
};

// A batch takes a null handle for the default family; a call of the database does not.
Status NullFamily() { return Status::InvalidArgument("the column family handle is null"); }

class TransactionDBImpl final : public TransactionDB {
 public:
  TransactionDBImpl(std::unique_ptr<DB> db, const TransactionDBOptions& options)
      : TransactionDB(std::move(db)), inside_(*DbInside::Of(db_)), context_(options, &inside_) {}
  ~TransactionDBImpl() override {
    inside_.CountTransaction(static_cast<int>(recovered_.size()));  // each destructor counts one less
    recovered_.clear();
  }

  // Makes the transactions that were prepared before the database was opened. Called once, before all others.
  Status Recover() {
    WriteOptions synced;  // the options of the Prepare are not recorded; this is also what RocksDB does
    synced.sync = true;
    std::vector<std::unique_ptr<PessimisticTransaction>> recovered;
    const Status all = context_.prepared.VisitAll([&](Slice name, const PreparedRecord& record) {
      auto made = std::make_unique<PessimisticTransaction>(&inside_, &context_, synced, TransactionOptions());
      const TransactionName its_name = name.ToString();
      CAMBIUM_RETURN_IF_ERROR(
          made->Recover(its_name, record).WithContext("prepared transaction " + KeyForMessage(name)));
      recovered.push_back(std::move(made));
      return Status::OK();
    });
    if (!all.ok()) return all;
    const MutexLock lock(recovered_mutex_);
    recovered_ = std::move(recovered);
    // They do not keep the database open until a caller has them.
    inside_.CountTransaction(-static_cast<int>(recovered_.size()));
    return all;
  }

  using TransactionDB::Delete;
  using TransactionDB::Put;
  using TransactionDB::SingleDelete;

  Transaction* BeginTransaction(const WriteOptions& options, const TransactionOptions& transaction,
                                Transaction* old) override {
    if (!inside_.CheckOpenForWriting().ok()) return nullptr;
    auto* const again = dynamic_cast<PessimisticTransaction*>(old);
    if (again == nullptr) return new PessimisticTransaction(&inside_, &context_, options, transaction);
    if (!again->IsOf(&context_)) return nullptr;
    again->BeginAgain(options, transaction);
    return again;
  }
  Transaction* GetTransactionByName(const TransactionName& name) override {
    const MutexLock lock(recovered_mutex_);
    PessimisticTransaction* const found = context_.open.Find(name);
    const auto recovered = std::ranges::find(recovered_, found, &std::unique_ptr<PessimisticTransaction>::get);
    if (recovered != recovered_.end()) {
      static_cast<void>(recovered->release());
      recovered_.erase(recovered);
      inside_.CountTransaction(1);
    }
    return found;
  }
  void GetAllPreparedTransactions(std::vector<Transaction*>* transactions) override {
    const MutexLock lock(recovered_mutex_);
    transactions->clear();
    context_.open.ListPrepared(transactions);
    std::vector<std::unique_ptr<Transaction>> taken = TakeRecovered();
    for (std::unique_ptr<Transaction>& each : taken) static_cast<void>(each.release());
  }
  std::vector<std::unique_ptr<Transaction>> TakeRecoveredTransactions() override {
    const MutexLock lock(recovered_mutex_);
    return TakeRecovered();
  }
  std::unordered_multimap<std::uint32_t, KeyLockInfo> GetLockStatusData() override { return context_.locks.List(); }
  std::vector<DeadlockPath> GetDeadlockInfoBuffer() override { return context_.locks.waits().Deadlocks(); }
  void SetDeadlockInfoBufferSize(std::uint32_t count) override { context_.locks.waits().SetRememberedMax(count); }

  Status CreateColumnFamily(const ColumnFamilyOptions& options, const std::string& name,
                            ColumnFamilyHandle** handle) override {
    if (name == kPreparedFamilyName) return PreparedStore::Refusal();
    return TransactionDB::CreateColumnFamily(options, name, handle);
  }
  Status CreateColumnFamilies(const ColumnFamilyOptions& options, const std::vector<std::string>& names,
                              std::vector<ColumnFamilyHandle*>* handles) override {
    if (std::ranges::find(names, kPreparedFamilyName) != names.end()) return PreparedStore::Refusal();
    return TransactionDB::CreateColumnFamilies(options, names, handles);
  }
  Status DropColumnFamily(ColumnFamilyHandle* family) override {
    if (family != nullptr && context_.prepared.IsOwnFamily(family->GetID())) return PreparedStore::Refusal();
    return TransactionDB::DropColumnFamily(family);
  }
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
    KeysOfBatch keys(&context_.prepared);
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
  std::vector<std::unique_ptr<Transaction>> TakeRecovered() CAMBIUM_REQUIRES(recovered_mutex_) {
    std::vector<std::unique_ptr<Transaction>> taken(recovered_.size());
    std::ranges::move(recovered_, taken.begin());
    recovered_.clear();
    inside_.CountTransaction(static_cast<int>(taken.size()));
    return taken;
  }

  DbInside& inside_;
  LockContext context_;
  Mutex recovered_mutex_;
  // Those that were prepared before the database was opened, and that no caller has got yet.
  std::vector<std::unique_ptr<PessimisticTransaction>> recovered_ CAMBIUM_GUARDED_BY(recovered_mutex_);
};

// Opens a database by `open(&below)`, and recovers its prepared transactions. After an error nothing is open.
// `handles`: null, or those that the Open has made.
template <typename OpenBelow>
Status OpenAndRecover(std::unique_ptr<TransactionDB>* db, std::vector<ColumnFamilyHandle*>* handles,
                      const TransactionDBOptions& options, OpenBelow open) {
  if (db == nullptr) return Status::InvalidArgument("Open: db is null");
  db->reset();
  std::unique_ptr<TransactionDBImpl> made;
  CAMBIUM_RETURN_IF_ERROR(OpenAbove<TransactionDBImpl>(&made, open, options));
  const auto give_up = [&] {
    if (handles == nullptr) return;
    for (ColumnFamilyHandle* const handle : *handles) delete handle;
    handles->clear();
  };
  Status recovered;
  try {
    recovered = made->Recover();
  } catch (...) {
    give_up();
    throw;
  }
  if (recovered.ok()) {
    *db = std::move(made);
  } else {
    give_up();
  }
  return recovered;
}

}  // namespace

Status TransactionDB::DeleteRange(const WriteOptions&, ColumnFamilyHandle*, Slice, Slice) {
  return Status::NotSupported("a TransactionDB takes no range deletes");
}

Status TransactionDB::Open(const Options& options, const TransactionDBOptions& transactions, const std::string& path,
                           std::unique_ptr<TransactionDB>* db) {
  return OpenAndRecover(db, nullptr, transactions,
                        [&](std::unique_ptr<DB>* below) { return DB::Open(options, path, below); });
}

Status TransactionDB::Open(const Options& options, const TransactionDBOptions& transactions, const std::string& path,
                           TransactionDB** db) {
  return OpenPlain(db, [&](std::unique_ptr<TransactionDB>* made) { return Open(options, transactions, path, made); });
}

Status TransactionDB::Open(const DBOptions& options, const TransactionDBOptions& transactions, const std::string& path,
                           const std::vector<ColumnFamilyDescriptor>& families,
                           std::vector<ColumnFamilyHandle*>* handles, std::unique_ptr<TransactionDB>* db) {
  return OpenAndRecover(db, handles, transactions, [&](std::unique_ptr<DB>* below) {
    return DB::Open(options, path, families, handles, below);
  });
}

Status TransactionDB::Open(const DBOptions& options, const TransactionDBOptions& transactions, const std::string& path,
                           const std::vector<ColumnFamilyDescriptor>& families,
                           std::vector<ColumnFamilyHandle*>* handles, TransactionDB** db) {
  return OpenPlain(db, [&](std::unique_ptr<TransactionDB>* made) {
    return Open(options, transactions, path, families, handles, made);
  });
}

Status ListPreparedTransactions(DB* db, std::vector<PreparedTransaction>* prepared) {
  if (prepared == nullptr) return Status::InvalidArgument("ListPreparedTransactions: the list is null");
  prepared->clear();
  DbInside* const inside = DbInside::Of(db);
  if (inside == nullptr) return Status::InvalidArgument("ListPreparedTransactions: the database is null");
  CAMBIUM_RETURN_IF_ERROR(inside->CheckUsable());
  return PreparedStore(inside).VisitAll([&](Slice name, const PreparedRecord& record) {
    prepared->push_back({name.ToString(), record.batch.Count(), record.locks.size(), record.bytes});
    return Status::OK();
  });
}

}  // namespace cambium
