#include "cambium/transaction_db.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "index/key_for_message.h"
#include "manifest/features.h"
#include "transactions/conditional_write.h"
#include "transactions/open_above.h"
#include "transactions/pessimistic_transaction.h"

namespace cambium {
namespace {

// What a batch locks: a key, or the range of a range delete.
struct LockOfBatch {
  std::uint32_t family = 0;
  std::string key;                 // or the begin of the range
  std::optional<std::string> end;  // nullopt: a key
};

// Collects the locks of a batch.
class LocksOfBatch final : public WriteBatch::Handler {
 public:
  explicit LocksOfBatch(const PreparedStore* prepared) : prepared_(*prepared) {}
  Status Put(Slice, Slice) override { return Status::OK(); }  // the functions below get all families
  Status Delete(Slice) override { return Status::OK(); }
  Status PutCF(std::uint32_t family, Slice key, Slice) override { return Add(family, key, std::nullopt); }
  Status SingleDeleteCF(std::uint32_t family, Slice key) override { return Add(family, key, std::nullopt); }
  Status DeleteCF(std::uint32_t family, Slice key) override { return Add(family, key, std::nullopt); }
  Status DeleteRangeCF(std::uint32_t family, Slice begin, Slice end) override {
    return Add(family, begin, end.ToString());
  }
  [[nodiscard]] std::vector<LockOfBatch>* locks() { return &locks_; }

 private:
  Status Add(std::uint32_t family, Slice key, std::optional<std::string> end) {
    if (prepared_.IsOwnFamily(family)) return PreparedStore::Refusal();
    locks_.push_back({family, key.ToString(), std::move(end)});
    return Status::OK();
  }
  const PreparedStore& prepared_;
  std::vector<LockOfBatch> locks_;
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
  using TransactionDB::DeleteRange;
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
  std::unordered_multimap<std::uint32_t, RangeLockInfo> GetRangeLockStatusData() override {
    return context_.locks.ListRanges();
  }
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
  Status DeleteRange(const WriteOptions& options, ColumnFamilyHandle* family, Slice begin, Slice end) override {
    if (family == nullptr) return NullFamily();
    WriteBatch batch(begin.size() + end.size() + 32);
    static_cast<void>(batch.DeleteRange(family, begin, end));
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
    LocksOfBatch batch_locks(&context_.prepared);
    CAMBIUM_RETURN_IF_ERROR(batch->Iterate(&batch_locks));
    std::set<FamilyKey> condition_keys;
    write.AddKeys(&condition_keys);
    for (const auto& [id, key] : condition_keys) batch_locks.locks()->push_back({id, key, std::nullopt});
    PessimisticTransaction locks(&inside_, &context_, options, {});
    locks.SetLockTimeout(context_.options.default_lock_timeout);
    CAMBIUM_RETURN_IF_ERROR(LockAll(batch_locks.locks(), &locks));
    if (conditions.Count() > 0) return write.Write(options, batch, written);
    Status s = inside_.db().Write(options, batch);
    *written = s.ok();
    return s;
  }

 private:
  // Locks all, in the order of families, and of the keys with which the locks begin. So batches never wait for each
  // other in a circle: what a batch waits for begins behind all that it has locked, and in a circle one of them would
  // wait for what ends before that.
  Status LockAll(std::vector<LockOfBatch>* locks, PessimisticTransaction* owner) {
    std::map<std::uint32_t, std::shared_ptr<Family>> families;
    for (const LockOfBatch& each : *locks) {
      if (families.contains(each.family)) continue;
      const std::unique_ptr<ColumnFamilyHandle> handle = inside_.NewHandle(each.family);
      if (handle == nullptr) return Status::OK();  // the write says so
      CAMBIUM_TRY(families[each.family], inside_.SharedFamilyOf(handle.get()));
    }
    std::ranges::sort(*locks, [&](const LockOfBatch& a, const LockOfBatch& b) {
      if (a.family != b.family) return a.family < b.family;
      const int order = families.at(a.family)->options().comparator->Compare(a.key, b.key);
      return order != 0 ? order < 0 : a.key < b.key;
    });
    for (const LockOfBatch& each : *locks) {
      const std::shared_ptr<Family>& family = families.at(each.family);
      CAMBIUM_RETURN_IF_ERROR(each.end ? owner->LockForWrite(family, KeyRange::Of(each.key, *each.end))
                                       : owner->LockForWrite(family, each.key));
    }
    return Status::OK();
  }
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
    const std::uint64_t locks = record.locks.keys.size() + record.locks.ranges.size();
    prepared->push_back({name.ToString(), record.batch.Count(), locks, record.bytes});
    return Status::OK();
  });
}

}  // namespace cambium
