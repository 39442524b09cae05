#include "transactions/isolation/store.h"

#include <cstdlib>
#include <utility>

#include "cambium/logger.h"
#include "testing/small_options.h"
#include "transactions/isolation/keys.h"

namespace cambium::testing::isolation {
namespace {

std::string SumText(std::int64_t sum, const char* way) {
  return "the accounts have " + std::to_string(sum) + ", read by " + way + ", and not " + std::to_string(kSum);
}

std::vector<ColumnFamilyDescriptor> Families(const Options& options) {
  return {{kDefaultColumnFamilyName, options}, {"one", options}, {"receipts", options}};
}

}  // namespace

Options RandomOptions(std::uint64_t seed, bool is_forgetful) {
  Prng prng(seed);
  Options options = SmallOptions(std::size_t{512} << prng.Uniform(4));
  options.create_missing_column_families = true;
  options.page_cache_size = 64u << 10;
  options.write_buffer_size = (4u << 10) << (is_forgetful ? 0 : prng.Uniform(3));
  options.max_write_buffer_number = 2;
  options.max_total_wal_size = 64u << 10;
  options.blob_file_size = 16u << 10;
  options.blob_garbage_collection_age_cutoff = 1;
  options.sweep_ratio = 2;
  options.info_log = NullLogger();
  return options;
}

State SetUpState() {
  State state;
  std::uint32_t writes = 0;
  for (std::uint64_t i = 0; i < kMortals; ++i) state.values[MortalKey(i)].version = {1, writes++};
  for (std::uint64_t i = 0; i < kAccounts; ++i) state.values[AccountKey(i)].version = {1, writes++};
  state.receipts = {1};
  return state;
}

Status Store::Open(const Options& options, const std::string& path, Kind kind) {
  kind_ = kind;
  Status s;
  if (kind == Kind::kOptimistic) {
    std::unique_ptr<OptimisticTransactionDB> db;
    s = OptimisticTransactionDB::Open(options, path, Families(options), &handles_, &db);
    optimistic_ = db.get();
    db_ = std::move(db);
  } else {
    std::unique_ptr<TransactionDB> db;
    const TransactionDBOptions locking{.transaction_lock_timeout = 20, .default_lock_timeout = 20};
    s = TransactionDB::Open(options, locking, path, Families(options), &handles_, &db);
    pessimistic_ = db.get();
    db_ = std::move(db);
  }
  if (!s.ok()) return s;
  std::string ignored;
  s = db_->Get({}, receipts(), ReceiptKey(1), &ignored);
  return s.IsNotFound() ? SetUp() : s;
}

Status Store::OpenForReadOnly(const Options& options, const std::string& path, Kind kind) {
  kind_ = kind;
  return DB::OpenForReadOnly(options, path, Families(options), &handles_, &db_);
}

Status Store::SetUp() {
  WriteBatch batch;
  Status s;
  for (const auto& [key, value] : SetUpState().values) {
    if (s.ok()) s = batch.Put(FamilyOfKey(key), key, EncodeValue(value, IsAccount(key) ? kMoney : 0));
  }
  if (s.ok()) s = batch.Put(receipts(), ReceiptKey(1), "");
  WriteOptions synced;
  synced.sync = true;
  return s.ok() ? db_->Write(synced, &batch) : s;
}

Status Store::Close() {
  for (ColumnFamilyHandle* const handle : handles_) delete handle;
  handles_.clear();
  Status s;
  if (db_ != nullptr) s = db_->Close();
  db_.reset();
  return s;
}

Store::~Store() { static_cast<void>(Close()); }

ColumnFamilyHandle* Store::FamilyOfKey(const std::string& key) const { return handles_[FamilyOf(key)]; }

std::string Store::Observe(State* state) const {
  const ManagedSnapshot snapshot(db_.get());
  std::string wrong = ReadByIterator(snapshot.snapshot(), state);
  if (wrong.empty()) wrong = ReadByKey(snapshot.snapshot(), *state);
  if (!wrong.empty() || kind_ != Kind::kPessimistic) return wrong;
  std::vector<PreparedTransaction> prepared;
  const Status listed = ListPreparedTransactions(db_.get(), &prepared);
  if (!listed.ok()) return "the list of prepared transactions: " + listed.ToString();
  for (const PreparedTransaction& each : prepared)
    state->prepared.insert(std::strtoull(each.name.c_str(), nullptr, 10));
  return "";
}

std::string Store::ReadByIterator(const Snapshot* snapshot, State* state) const {
  ReadOptions at;
  at.snapshot = snapshot;
  std::int64_t sum = 0;
  for (std::size_t family = 0; family < 2; ++family) {
    const std::unique_ptr<Iterator> it(db_->NewIterator(at, handles_[family]));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      const std::string key = it->key().ToString();
      Value value;
      std::int64_t amount = 0;
      if (!DecodeValue(it->value().ToStringView(), &value, &amount))
        return "a scan: the value of " + key + " is damaged";
      if (FamilyOf(key) != family) return "a scan: key " + key + " is in the wrong family";
      state->values[key] = std::move(value);
      sum += amount;
    }
    if (!it->status().ok()) return "a scan: " + it->status().ToString();
  }
  if (sum != kSum) return SumText(sum, "iterators");
  const std::unique_ptr<Iterator> it(db_->NewIterator(at, receipts()));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    state->receipts.insert(std::strtoull(it->key().ToString().c_str(), nullptr, 10));
  }
  return it->status().ok() ? "" : "a scan of the receipts: " + it->status().ToString();
}

std::string Store::ReadByKey(const Snapshot* snapshot, const State& state) const {
  ReadOptions at;
  at.snapshot = snapshot;
  std::vector<std::string> keys = KeysOf(0);
  for (const auto& [key, value] : state.values) {
    if (IsList(key)) keys.push_back(key);
  }
  std::vector<ColumnFamilyHandle*> families;
  for (const std::string& key : keys) families.push_back(FamilyOfKey(key));
  std::vector<std::string> values;
  const std::vector<Status> statuses = db_->MultiGet(at, families, {keys.begin(), keys.end()}, &values);
  std::int64_t sum = 0;
  std::int64_t sum_of_gets = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    std::string got;
    const Status s = db_->Get(at, families[i], keys[i], &got);
    const auto known = state.values.find(keys[i]);
    for (const auto& [status, stored, total] :
         {std::tuple(&statuses[i], &values[i], &sum), std::tuple(&s, &got, &sum_of_gets)}) {
      if (!status->ok() && !status->IsNotFound()) return "a read of " + keys[i] + ": " + status->ToString();
      if (status->ok() != (known != state.values.end())) return "a read and a scan differ at " + keys[i];
      if (!status->ok()) continue;
      Value value;
      std::int64_t amount = 0;
      if (!DecodeValue(*stored, &value, &amount)) return "a read: the value of " + keys[i] + " is damaged";
      if (value != known->second) return "a read and a scan differ at " + keys[i];
      *total += amount;
    }
  }
  if (sum != kSum) return SumText(sum, "MultiGet");
  return sum_of_gets == kSum ? "" : SumText(sum_of_gets, "Get");
}

}  // namespace cambium::testing::isolation
