#include "transactions/conditional_write.h"

#include "cambium/stackable_db.h"
#include "cambium/transaction_db.h"
#include "util/fault_point.h"
#include "util/mutant.h"

namespace cambium {

WriteConditions& WriteConditions::IsAbsent(ColumnFamilyHandle* family, Slice key) {
  all_.push_back({family, key.ToString(), Kind::kIsAbsent, {}, 0});
  return *this;
}

WriteConditions& WriteConditions::HasValue(ColumnFamilyHandle* family, Slice key, Slice value) {
  all_.push_back({family, key.ToString(), Kind::kHasValue, value.ToString(), 0});
  return *this;
}

WriteConditions& WriteConditions::IsUnchanged(ColumnFamilyHandle* family, Slice key, SequenceNumber version) {
  all_.push_back({family, key.ToString(), Kind::kIsUnchanged, {}, version});
  return *this;
}

// ---- ConditionalWrite ----

Status ConditionalWrite::FindFamilies() {
  families_.reserve(conditions_.all_.size());
  for (const auto& condition : conditions_.all_) {
    CAMBIUM_TRY(std::shared_ptr<Family> family, inside_.SharedFamilyOf(condition.family));
    families_.push_back(std::move(family));
  }
  return Status::OK();
}

void ConditionalWrite::AddKeys(std::set<FamilyKey>* keys) const {
  for (std::size_t i = 0; i < families_.size(); ++i) keys->emplace(families_[i]->id, conditions_.all_[i].key);
}

Result<bool> ConditionalWrite::AllHold() const {
  for (std::size_t i = 0; i < families_.size(); ++i) {
    CAMBIUM_TRY(const bool holds, Holds(i));
    if (!holds) return false;
  }
  return true;
}

Result<bool> ConditionalWrite::Holds(std::size_t i) const {
  using Kind = WriteConditions::Kind;
  const WriteConditions::One& condition = conditions_.all_[i];
  if (condition.kind == Kind::kIsUnchanged) {
    return inside_.HasVersion(*families_[i], condition.key, condition.version);
  }
  DB& db = inside_.db();
  ColumnFamilyHandle* const handle = condition.family == nullptr ? db.DefaultColumnFamily() : condition.family;
  PinnableSlice value;
  const Status read = db.Get({}, handle, condition.key, &value);
  if (!read.ok() && !read.IsNotFound()) return read;
  if (condition.kind == Kind::kIsAbsent) return read.IsNotFound();
  return read.ok() && Slice(value) == Slice(condition.value);
}

Status ConditionalWrite::CheckUnchanged(SequenceNumber since) const {
  for (std::size_t i = 0; i < families_.size(); ++i) {
    CAMBIUM_RETURN_IF_ERROR(inside_.CheckUnchanged(*families_[i], conditions_.all_[i].key, since,
                                                   DbInside::Asks::kMemory));
  }
  return Status::OK();
}

// Holds if no key of the conditions was written after `since`, and no family was dropped. Says whether that was why a
// write failed.
class ConditionalWrite::Unchanged final : public WriteCondition {
 public:
  Unchanged(const ConditionalWrite* write, SequenceNumber since) : write_(*write), since_(since) {}
  [[nodiscard]] Status Check() const override {
    was_asked_ = true;
    if (MutantIs(Mutant::kConditionIsCheckedBeforeTheLock)) return Status::OK();
    return Look();
  }
  [[nodiscard]] Status Look() const {
    for (const auto& family : write_.families_) {
      if (family->dropped.load(std::memory_order_relaxed)) return DroppedStatus(*family);
    }
    if (write_.inside_.db().GetLatestSequenceNumber() == since_) return Status::OK();
    Status unchanged = write_.CheckUnchanged(since_);
    has_failed_ = !unchanged.ok();
    return unchanged;
  }
  [[nodiscard]] bool was_asked() const { return was_asked_; }
  [[nodiscard]] bool has_failed() const { return has_failed_; }

 private:
  const ConditionalWrite& write_;
  const SequenceNumber since_;
  // Check is const, and called by the thread that made this object.
  mutable bool was_asked_ = false;
  mutable bool has_failed_ = false;
};

Status ConditionalWrite::Write(const WriteOptions& options, WriteBatch* batch, bool* written) const {
  while (true) {
    WriteHistory::Mark mark(inside_.history());
    const SequenceNumber since = inside_.db().GetLatestSequenceNumber();
    mark.StartAt(since);
    CAMBIUM_TRY(const bool all_hold, AllHold());
    if (!all_hold) return Status::OK();
    CAMBIUM_FAULT_POINT("ConditionalWrite:read");
    const Unchanged unchanged(this, since);
    Status s = inside_.WriteIf(options, batch, unchanged);
    if (s.ok() && !unchanged.was_asked()) s = unchanged.Look();  // nothing was to be appended
    *written = s.ok();
    const bool again = unchanged.has_failed() && (s.IsBusy() || s.IsTryAgain());
    if (!again) return s;
  }
}

// ---- Functions of conditional_write.h ----

namespace {

// The database on the way down that locks keys; null if there is none.
TransactionDB* FindLocking(DB* db) {
  while (db != nullptr) {
    if (auto* const locking = dynamic_cast<TransactionDB*>(db); locking != nullptr) return locking;
    auto* const above = dynamic_cast<StackableDB*>(db);
    db = above == nullptr ? nullptr : above->GetBaseDB();
  }
  return nullptr;
}

}  // namespace

Status WriteIf(DB* db, const WriteOptions& options, const WriteConditions& conditions, WriteBatch* batch,
               bool* written) {
  if (written == nullptr) return Status::InvalidArgument("WriteIf: written is null");
  *written = false;
  DbInside* const inside = DbInside::Of(db);
  if (inside == nullptr) return Status::InvalidArgument("WriteIf: the database is null");
  if (batch == nullptr) return Status::InvalidArgument("WriteIf: the batch is null");
  CAMBIUM_RETURN_IF_ERROR(inside->CheckOpenForWriting());
  if (TransactionDB* const locking = FindLocking(db); locking != nullptr) {
    return locking->WriteIf(options, conditions, batch, written);
  }
  ConditionalWrite write(inside, &conditions);
  CAMBIUM_RETURN_IF_ERROR(write.FindFamilies());
  return write.Write(options, batch, written);
}

Status PutIfAbsent(DB* db, const WriteOptions& options, ColumnFamilyHandle* family, Slice key, Slice value,
                   bool* written) {
  WriteBatch batch(key.size() + value.size() + 32);
  static_cast<void>(batch.Put(family, key, value));  // WriteIf returns a refusal
  return WriteIf(db, options, WriteConditions().IsAbsent(family, key), &batch, written);
}
Status PutIfAbsent(DB* db, const WriteOptions& options, Slice key, Slice value, bool* written) {
  return PutIfAbsent(db, options, nullptr, key, value, written);
}

Status CompareAndSet(DB* db, const WriteOptions& options, ColumnFamilyHandle* family, Slice key, Slice expected,
                     Slice value, bool* written) {
  WriteBatch batch(key.size() + value.size() + 32);
  static_cast<void>(batch.Put(family, key, value));
  return WriteIf(db, options, WriteConditions().HasValue(family, key, expected), &batch, written);
}
Status CompareAndSet(DB* db, const WriteOptions& options, Slice key, Slice expected, Slice value, bool* written) {
  return CompareAndSet(db, options, nullptr, key, expected, value, written);
}

Status CompareAndDelete(DB* db, const WriteOptions& options, ColumnFamilyHandle* family, Slice key, Slice expected,
                        bool* written) {
  WriteBatch batch(key.size() + 32);
  static_cast<void>(batch.Delete(family, key));
  return WriteIf(db, options, WriteConditions().HasValue(family, key, expected), &batch, written);
}
Status CompareAndDelete(DB* db, const WriteOptions& options, Slice key, Slice expected, bool* written) {
  return CompareAndDelete(db, options, nullptr, key, expected, written);
}

Status GetWithVersion(DB* db, const ReadOptions& options, ColumnFamilyHandle* family, Slice key, std::string* value,
                      SequenceNumber* version) {
  DbInside* const inside = DbInside::Of(db);
  if (inside == nullptr) return Status::InvalidArgument("GetWithVersion: the database is null");
  return inside->GetWithVersion(options, family, key, value, version);
}

Status PutIfUnchanged(DB* db, const WriteOptions& options, ColumnFamilyHandle* family, Slice key,
                      SequenceNumber version, Slice value, bool* written) {
  WriteBatch batch(key.size() + value.size() + 32);
  static_cast<void>(batch.Put(family, key, value));
  return WriteIf(db, options, WriteConditions().IsUnchanged(family, key, version), &batch, written);
}
Status PutIfUnchanged(DB* db, const WriteOptions& options, Slice key, SequenceNumber version, Slice value,
                      bool* written) {
  return PutIfUnchanged(db, options, nullptr, key, version, value, written);
}

Status DeleteIfUnchanged(DB* db, const WriteOptions& options, ColumnFamilyHandle* family, Slice key,
                         SequenceNumber version, bool* written) {
  WriteBatch batch(key.size() + 32);
  static_cast<void>(batch.Delete(family, key));
  return WriteIf(db, options, WriteConditions().IsUnchanged(family, key, version), &batch, written);
}
Status DeleteIfUnchanged(DB* db, const WriteOptions& options, Slice key, SequenceNumber version, bool* written) {
  return DeleteIfUnchanged(db, options, nullptr, key, version, written);
}

}  // namespace cambium
