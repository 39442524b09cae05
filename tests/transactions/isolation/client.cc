#include "transactions/isolation/client.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <utility>

#include "cambium/conditional_write.h"
#include "transactions/isolation/keys.h"

namespace cambium::testing::isolation {
namespace {

// Others were faster, or the transaction took too long.
bool IsConflict(const Status& s) { return s.IsBusy() || s.IsTryAgain() || s.IsTimedOut() || s.IsExpired(); }

}  // namespace

struct Client::Attempt {
  TxRecord record;
  TransactionPtr transaction;
  std::uint32_t writes = 0;
  bool reads_for_update = false;
  bool may_expire = false;
};

void Client::Run(std::uint64_t count) {
  for (std::uint64_t i = 0; i < count && !life_.has_ended.load() && problem_.empty(); ++i) {
    if (!recovered_.empty() && prng_.OneIn(6)) EndRecovered();
    const std::uint64_t what = prng_.Uniform(100);
    if (what < 80) {
      RunTransaction();
    } else if (what < 86) {
      RunPlainBatch();
    } else if (what < 96) {
      RunConditionalWrite();
    } else {
      RunScan();
    }
    ++figures_.transactions;
  }
  recovered_.clear();
}

bool Client::Ok(const Status& s, const char* call) {
  if (s.ok()) return true;
  if (IsConflict(s)) {
    ++figures_.conflicts;
    if (s.IsTryAgain()) ++figures_.try_again;
  } else if (!life_.has_ended.load() && problem_.empty()) {
    problem_ = std::string(call) + ": " + s.ToString();
  }
  return false;
}

std::string Client::DrawKey() {
  const bool is_hot = prng_.OneIn(2);
  const std::uint64_t kind = prng_.Uniform(10);
  if (kind < 5) return ListKey(life_.era, prng_.Uniform(is_hot ? 3 : kLists));
  if (kind < 8) return RegisterKey(prng_.Uniform(is_hot ? 3 : kRegisters));
  return MortalKey(prng_.Uniform(kMortals));
}

void Client::MayRest(std::uint64_t one_in, Time moments) {
  if (!prng_.OneIn(one_in)) return;
  Time now = life_.clock.load();
  const Time until = now + prng_.Uniform(moments);
  for (int idle = 0; idle < 4 && now < until && !life_.has_ended.load();) {
    life_.rest();
    const Time next = life_.clock.load();
    idle = next == now ? idle + 1 : 0;
    now = next;
  }
}

// ---- Transactions ----

void Client::Begin(Attempt* attempt) {
  TxRecord& record = attempt->record;
  record.id = life_.next_id.fetch_add(1);
  record.thread = thread_;
  record.level = prng_.OneIn(2) ? Level::kSnapshot : Level::kSerializable;
  attempt->reads_for_update = record.level == Level::kSerializable;
  record.is_synced = prng_.OneIn(5);
  // A serializable transaction may also have a snapshot. A snapshot that it takes proves its reads.
  record.sees_snapshot = record.level == Level::kSnapshot || prng_.OneIn(3);
  WriteOptions options;
  options.sync = record.is_synced;
  if (life_.claims_serializable) record.level = Level::kSerializable;
  record.begin_call = life_.Now();
  if (store_.optimistic() != nullptr) {
    attempt->transaction.reset(store_.optimistic()->BeginTransaction(options, {.set_snapshot = record.sees_snapshot}));
  } else {
    TransactionOptions its;
    its.set_snapshot = record.sees_snapshot;
    its.deadlock_detect = prng_.OneIn(2);
    its.lock_timeout = static_cast<std::int64_t>(prng_.Uniform(10));
    attempt->may_expire = prng_.OneIn(12);
    if (attempt->may_expire) its.expiration = static_cast<std::int64_t>(1 + prng_.Uniform(4));
    attempt->transaction.reset(store_.pessimistic()->BeginTransaction(options, its));
  }
  record.begin_return = life_.Now();
}

void Client::RunTransaction() {
  Attempt attempt;
  Begin(&attempt);
  const std::uint64_t operations = 1 + prng_.Uniform(8);
  bool goes_on = true;
  if (prng_.OneIn(4)) {
    goes_on = Transfer(&attempt);
  } else {
    for (std::uint64_t i = 0; i < operations && goes_on; ++i) {
      MayRest(attempt.may_expire ? 2 : 60);
      goes_on = prng_.OneIn(12) ? UndoSomething(&attempt) : DoOperation(&attempt);
    }
  }
  if (goes_on) return End(&attempt);
  Tell(ToText(attempt.record));  // its reads count if they were at a snapshot
  if (prng_.OneIn(2)) static_cast<void>(attempt.transaction->Rollback());
}

bool Client::DoOperation(Attempt* attempt) {
  if (prng_.OneIn(3)) return ReadSome(attempt);
  return Change(attempt, DrawKey());
}

bool Client::UndoSomething(Attempt* attempt) {
  attempt->transaction->SetSavePoint();
  const std::size_t begin = attempt->record.ops.size();
  for (std::uint64_t i = 1 + prng_.Uniform(2); i > 0; --i) {
    if (!DoOperation(attempt)) return false;
  }
  if (!Ok(attempt->transaction->RollbackToSavePoint(), "RollbackToSavePoint")) return false;
  std::vector<Op>& ops = attempt->record.ops;
  for (std::size_t i = begin; i < ops.size(); ++i) ops[i].is_undone = true;
  ops.push_back({Op::Kind::kUndo, "", {}, false});
  return true;
}

bool Client::ReadSome(Attempt* attempt) {
  if (attempt->reads_for_update && prng_.OneIn(8)) return ReadRange(attempt);
  if (!prng_.OneIn(4)) {
    Value ignored;
    return Read(attempt, DrawKey(), &ignored);
  }
  std::vector<std::string> keys;
  for (std::uint64_t i = 2 + prng_.Uniform(3); i > 0; --i) {
    std::string key = DrawKey();
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(std::move(key));
  }
  return ReadMany(attempt, keys);
}

bool Client::Change(Attempt* attempt, const std::string& key) {
  const bool is_blind = key[0] == 'r' && prng_.OneIn(4);
  if (is_blind) return Write(attempt, key, {}, 0);
  Value before;
  if (!Read(attempt, key, &before)) return false;
  if (key[0] != 'm') return Write(attempt, key, before, 0);
  if (before.version == kNoVersion) return true;
  return prng_.OneIn(5) ? Delete(attempt, key) : Write(attempt, key, before, 0);
}

bool Client::Transfer(Attempt* attempt) {
  const std::uint64_t from = prng_.Uniform(kAccounts);
  const std::uint64_t to = (from + 1 + prng_.Uniform(kAccounts - 1)) % kAccounts;
  Value values[2];
  std::int64_t amounts[2];
  if (!Read(attempt, AccountKey(from), &values[0], &amounts[0])) return false;
  if (!Read(attempt, AccountKey(to), &values[1], &amounts[1])) return false;
  MayRest(20);
  const std::int64_t moved = static_cast<std::int64_t>(prng_.Uniform(50));
  return Write(attempt, AccountKey(from), values[0], amounts[0] - moved) &&
         Write(attempt, AccountKey(to), values[1], amounts[1] + moved);
}

// ---- Reads and writes of a transaction ----

void Client::NoteRead(Attempt* attempt, const std::string& key, const Status& s, const std::string& stored,
                      Value* value, std::int64_t* amount) {
  *value = {};
  std::int64_t its = 0;
  if (s.ok() && !DecodeValue(stored, value, &its)) problem_ = "the value of " + key + " is damaged: " + stored;
  if (amount != nullptr) *amount = its;
  attempt->record.ops.push_back({Op::Kind::kRead, key, *value, false});
}

bool Client::Read(Attempt* attempt, const std::string& key, Value* value, std::int64_t* amount) {
  ColumnFamilyHandle* const family = store_.FamilyOfKey(key);
  Transaction& transaction = *attempt->transaction;
  std::string stored;
  Status s;
  if (attempt->reads_for_update) {
    s = transaction.GetForUpdate({}, family, key, &stored, /*exclusive=*/prng_.OneIn(2));
  } else if (!prng_.OneIn(4)) {
    s = transaction.Get({}, family, key, &stored);
  } else {
    const std::unique_ptr<Iterator> it(transaction.GetIterator({}, family));
    it->Seek(key);
    const bool is_there = it->Valid() && it->key() == Slice(key);
    if (is_there) stored = it->value().ToString();
    s = it->status();
    if (s.ok() && !is_there) s = Status::NotFound("");
  }
  if (!s.IsNotFound() && !Ok(s, "read")) return false;
  NoteRead(attempt, key, s, stored, value, amount);
  return true;
}

bool Client::ReadMany(Attempt* attempt, const std::vector<std::string>& keys) {
  std::vector<ColumnFamilyHandle*> families;
  for (const std::string& key : keys) families.push_back(store_.FamilyOfKey(key));
  std::vector<std::string> values;
  const std::vector<Slice> slices(keys.begin(), keys.end());
  const std::vector<Status> statuses = attempt->reads_for_update
                                           ? attempt->transaction->MultiGetForUpdate({}, families, slices, &values)
                                           : attempt->transaction->MultiGet({}, families, slices, &values);
  for (const Status& s : statuses) {
    if (!s.IsNotFound() && !Ok(s, "MultiGet")) return false;
  }
  Value ignored;
  for (std::size_t i = 0; i < keys.size(); ++i) NoteRead(attempt, keys[i], statuses[i], values[i], &ignored, nullptr);
  return true;
}

bool Client::ReadRange(Attempt* attempt) {
  const std::size_t family = prng_.Uniform(2);
  std::vector<std::string> keys;
  for (std::uint64_t i = 0; i < kLists; ++i) {
    std::string key = ListKey(life_.era, i);
    if (FamilyOf(key) == family) keys.push_back(std::move(key));
  }
  ColumnFamilyHandle* const handle = store_.FamilyOfKey(keys.front());
  const std::string begin = ListKeysBegin(life_.era);
  const std::string end = ListKeysEnd(life_.era);
  if (!Ok(attempt->transaction->TrackRange(handle, begin, end), "TrackRange")) return false;
  std::map<std::string, std::string> found;
  {
    const std::unique_ptr<Iterator> it(attempt->transaction->GetIterator({}, handle));
    for (it->Seek(begin); it->Valid() && it->key() < Slice(end); it->Next()) {
      found[it->key().ToString()] = it->value().ToString();
    }
    if (!Ok(it->status(), "scan of a range")) return false;
  }
  Value ignored;
  for (const std::string& key : keys) {
    const auto at = found.find(key);
    const bool is_there = at != found.end();
    NoteRead(attempt, key, is_there ? Status() : Status::NotFound(""), is_there ? at->second : "", &ignored, nullptr);
  }
  return true;
}

Value Client::NextValue(Attempt* attempt, const std::string& key, const Value& before) {
  const Version version{attempt->record.id, attempt->writes++};
  if (!IsList(key)) return {version, {}};
  std::vector<Version> list = before.list;
  list.push_back(version);
  return ListOf(std::move(list));
}

bool Client::Write(Attempt* attempt, const std::string& key, const Value& before, std::int64_t amount) {
  Value value = NextValue(attempt, key, before);
  const Status s = attempt->transaction->Put(store_.FamilyOfKey(key), key, EncodeValue(value, amount));
  if (!Ok(s, "Put")) return false;
  attempt->record.ops.push_back({Op::Kind::kWrite, key, std::move(value), false});
  return true;
}

bool Client::Delete(Attempt* attempt, const std::string& key) {
  ColumnFamilyHandle* const family = store_.FamilyOfKey(key);
  const Status s =
      prng_.OneIn(2) ? attempt->transaction->Delete(family, key) : attempt->transaction->SingleDelete(family, key);
  if (!Ok(s, "Delete")) return false;
  attempt->record.ops.push_back({Op::Kind::kDelete, key, {{attempt->record.id, attempt->writes++}, {}}, false});
  return true;
}

// ---- The end of a transaction ----

void Client::End(Attempt* attempt) {
  TxRecord& record = attempt->record;
  const std::uint64_t how = prng_.Uniform(100);
  const bool writes = std::any_of(record.ops.begin(), record.ops.end(), [](const Op& op) {
    return !op.is_undone && (op.kind == Op::Kind::kWrite || op.kind == Op::Kind::kDelete);
  });
  if (how < 10) {
    Tell(ToText(record));
    ++figures_.rollbacks;
    if (how < 6) static_cast<void>(Ok(attempt->transaction->Rollback(), "Rollback"));
    return;
  }
  if (writes) {
    const Status s = attempt->transaction->Put(store_.receipts(), ReceiptKey(record.id), "");
    if (!Ok(s, "Put of a receipt")) return Tell(ToText(record));
  }
  // A prepared transaction may be found again by the next life, when others have overwritten what it has read at its
  // snapshot. If it claims to be serializable, the history would be wrong without a cycle.
  const bool may_prepare = store_.pessimistic() != nullptr && !life_.claims_serializable;
  if (writes && may_prepare && how < 25) return CommitInTwoPhases(attempt);
  Commit(attempt);
}

void Client::NoteEnd(std::uint64_t id, const Status& s) {
  if (s.ok()) {
    ++figures_.commits;
    return Tell("committed", id);
  }
  const bool is_over = Ok(s, "Commit") || IsConflict(s);
  Tell(is_over ? "aborted" : "unknown", id);
}

void Client::Commit(Attempt* attempt) {
  if (life_.is_patient) MayRest(4, 1500);
  attempt->record.commit_call = life_.Now();
  Tell(ToText(attempt->record));
  NoteEnd(attempt->record.id, attempt->transaction->Commit());
}

void Client::CommitInTwoPhases(Attempt* attempt) {
  const std::uint64_t id = attempt->record.id;
  Tell(ToText(attempt->record));
  if (!Ok(attempt->transaction->SetName(std::to_string(id)), "SetName")) return;
  Tell("prepare " + std::to_string(id) + " call " + std::to_string(life_.Now()) +
       (attempt->record.is_synced ? " sync" : " -"));
  const Status s = attempt->transaction->Prepare();
  if (!s.ok()) {
    const bool is_over = Ok(s, "Prepare") || IsConflict(s);
    return Tell(is_over ? "aborted" : "unknown", id);
  }
  Tell("prepared", id);
  ++figures_.prepared;
  MayRest(3);
  const std::uint64_t how = prng_.Uniform(8);
  if (how == 0 && !has_left_one_) {
    has_left_one_ = true;  // its keys stay locked until the next life, so only one
  } else if (how == 1) {
    Tell("rollback", id);
    const Status rolled_back = attempt->transaction->Rollback();
    if (Ok(rolled_back, "Rollback")) ++figures_.rollbacks;
    Tell(rolled_back.ok() ? "aborted" : "unknown", id);
  } else {
    Tell("commit", id);
    NoteEnd(id, attempt->transaction->Commit());
  }
}

void Client::EndRecovered() {
  const TransactionPtr transaction = std::move(recovered_.back());
  recovered_.pop_back();
  const std::uint64_t id = std::strtoull(transaction->GetName().c_str(), nullptr, 10);
  if (prng_.OneIn(4)) {
    Tell("rollback", id);
    const Status s = transaction->Rollback();
    Tell(Ok(s, "Rollback") ? "aborted" : "unknown", id);
  } else {
    Tell("commit", id);
    NoteEnd(id, transaction->Commit());
  }
}

// ---- Single writes and scans ----

void Client::RunPlainBatch() {
  Attempt attempt;
  TxRecord& record = attempt.record;
  record.id = life_.next_id.fetch_add(1);
  record.thread = thread_;
  record.is_synced = prng_.OneIn(5);
  WriteBatch batch;
  Status s;
  for (std::uint64_t i = 1 + prng_.Uniform(3); i > 0 && s.ok(); --i) {
    const std::string key = RegisterKey(prng_.Uniform(kRegisters));
    const Value value = NextValue(&attempt, key, {});
    s = batch.Put(store_.FamilyOfKey(key), key, EncodeValue(value, 0));
    record.ops.push_back({Op::Kind::kWrite, key, value, false});
  }
  if (s.ok()) s = batch.Put(store_.receipts(), ReceiptKey(record.id), "");
  if (!Ok(s, "batch")) return;
  WriteOptions options;
  options.sync = record.is_synced;
  record.begin_call = record.begin_return = record.commit_call = life_.Now();
  Tell(ToText(record));
  NoteEnd(record.id, store_.db().Write(options, &batch));
}

void Client::RunConditionalWrite() {
  Attempt attempt;
  TxRecord& record = attempt.record;
  record.id = life_.next_id.fetch_add(1);
  record.thread = thread_;
  record.is_synced = prng_.OneIn(5);
  record.begin_call = record.begin_return = life_.Now();
  WriteConditions conditions;
  WriteBatch batch;
  for (std::uint64_t i = 1 + prng_.Uniform(3); i > 0; --i) {
    const std::string key = DrawKey();
    const auto is_read = [&key](const Op& op) { return op.key == key; };
    if (std::any_of(record.ops.begin(), record.ops.end(), is_read)) continue;
    ColumnFamilyHandle* const family = store_.FamilyOfKey(key);
    std::string stored;
    Status s = store_.db().Get({}, family, key, &stored);
    if (!s.IsNotFound() && !Ok(s, "Get")) return;
    Value before;
    NoteRead(&attempt, key, s, stored, &before, nullptr);
    if (s.ok()) conditions.HasValue(family, key, stored);
    if (s.IsNotFound()) conditions.IsAbsent(family, key);
    const bool may_write = key[0] != 'm' || s.ok();
    if (!may_write || prng_.OneIn(3)) continue;
    Value value = NextValue(&attempt, key, before);
    if (!Ok(batch.Put(family, key, EncodeValue(value, 0)), "batch")) return;
    record.ops.push_back({Op::Kind::kWrite, key, std::move(value), false});
  }
  if (attempt.writes == 0) return;
  MayRest(20);
  if (!Ok(batch.Put(store_.receipts(), ReceiptKey(record.id), ""), "batch")) return;
  WriteOptions options;
  options.sync = record.is_synced;
  record.commit_call = life_.Now();
  Tell(ToText(record));
  bool written = false;
  const Status s = WriteIf(&store_.db(), options, conditions, &batch, &written);
  NoteEnd(record.id, s.ok() && !written ? Status::Busy("a condition does not hold") : s);
}

void Client::RunScan() {
  Attempt attempt;
  Begin(&attempt);
  attempt.record.level = Level::kSnapshot;
  if (!attempt.record.sees_snapshot) {
    attempt.record.begin_call = life_.Now();
    attempt.transaction->SetSnapshot();
    attempt.record.begin_return = life_.Now();
    attempt.record.sees_snapshot = true;
  }
  std::map<std::string, std::string> found;
  for (const std::string& one_key : {AccountKey(0), AccountKey(1)}) {  // of each family
    const std::unique_ptr<Iterator> it(attempt.transaction->GetIterator({}, store_.FamilyOfKey(one_key)));
    for (it->SeekToFirst(); it->Valid(); it->Next()) found[it->key().ToString()] = it->value().ToString();
    if (!Ok(it->status(), "scan")) return;
  }
  std::int64_t sum = 0;
  for (const std::string& key : KeysOf(life_.era)) {
    const auto at = found.find(key);
    Value value;
    std::int64_t amount = 0;
    const bool is_there = at != found.end();
    NoteRead(&attempt, key, is_there ? Status() : Status::NotFound(""), is_there ? at->second : "", &value, &amount);
    if (IsAccount(key)) sum += amount;
  }
  if (sum != kSum && problem_.empty()) {
    problem_ =
        "the accounts have " + std::to_string(sum) + ", read by a scan at a snapshot, and not " + std::to_string(kSum);
  }
  Tell(ToText(attempt.record));
}

}  // namespace cambium::testing::isolation
