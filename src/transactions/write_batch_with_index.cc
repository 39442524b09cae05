#include "cambium/write_batch_with_index.h"

#include <string>
#include <utility>
#include <vector>

#include "api/batch_tags.h"
#include "cambium/db.h"
#include "transactions/base_delta_iterator.h"
#include "transactions/batch_cursor.h"
#include "transactions/batch_index.h"
#include "util/result.h"

namespace cambium {
namespace {

WriteType TypeOf(char tag) {
  switch (tag) {
    case kPutTag:
      return WriteType::kPutRecord;
    case kDeleteTag:
      return WriteType::kDeleteRecord;
    case kSingleDeleteTag:
      return WriteType::kSingleDeleteRecord;
    default:
      return WriteType::kDeleteRangeRecord;
  }
}

class CursorIterator final : public WBWIIterator {
 public:
  CursorIterator(BatchIndex* index, const BatchIndex::Part* part) : cursor_(index, part) {}
  [[nodiscard]] bool Valid() const override { return cursor_.Valid(); }
  void SeekToFirst() override { cursor_.SeekToFirst(); }
  void SeekToLast() override { cursor_.SeekToLast(); }
  void Seek(Slice target) override { cursor_.Seek(target); }
  void SeekForPrev(Slice target) override { cursor_.SeekForPrev(target); }
  void Next() override {
    if (cursor_.Valid()) cursor_.Next();
  }
  void Prev() override {
    if (cursor_.Valid()) cursor_.Prev();
  }
  [[nodiscard]] WriteEntry Entry() const override {
    const BatchOp op = cursor_.op();
    return {TypeOf(op.tag), op.key, op.value};
  }
  [[nodiscard]] Status status() const override { return Status::OK(); }

 private:
  BatchCursor cursor_;
};

// The default family's handle in place of null.
ColumnFamilyHandle* HandleIn(DB* db, ColumnFamilyHandle* family) {
  return family == nullptr ? db->DefaultColumnFamily() : family;
}

}  // namespace

struct WriteBatchWithIndex::Rep {
  Rep(const Comparator* order, std::size_t reserved_bytes, bool overwrite_key, std::size_t max_bytes)
      : batch(reserved_bytes, max_bytes), index(&batch, order, overwrite_key) {}

  WriteBatch batch;
  BatchIndex index;
  bool indexes = true;

  // Adds an operation to the batch by `add`, and then to the index.
  template <typename AddToBatch>
  Status Add(ColumnFamilyHandle* family, AddToBatch add) {
    index.PartOf(family);
    if (!indexes) index.BringUpToDate();  // later, the index would be made with this operation too
    const std::size_t at = batch.GetDataSize();
    batch.SetSavePoint();
    try {
      if (Status added = add(); !added.ok()) {
        static_cast<void>(batch.PopSavePoint());  // the batch keeps the refusal, if it is one
        return added;
      }
      if (indexes) index.Add(at);
    } catch (...) {
      static_cast<void>(batch.RollbackToSavePoint());
      throw;
    }
    return batch.PopSavePoint();
  }
};

WriteBatchWithIndex::WriteBatchWithIndex(const Comparator* comparator, std::size_t reserved_bytes, bool overwrite_key,
                                         std::size_t max_bytes)
    : rep_(std::make_unique<Rep>(comparator == nullptr ? BytewiseComparator() : comparator, reserved_bytes,
                                 overwrite_key, max_bytes)) {}
WriteBatchWithIndex::~WriteBatchWithIndex() = default;
WriteBatchWithIndex::WriteBatchWithIndex(WriteBatchWithIndex&&) noexcept = default;
WriteBatchWithIndex& WriteBatchWithIndex::operator=(WriteBatchWithIndex&&) noexcept = default;

Status WriteBatchWithIndex::Put(ColumnFamilyHandle* family, Slice key, Slice value) {
  return rep_->Add(family, [&] { return rep_->batch.Put(family, key, value); });
}
Status WriteBatchWithIndex::Delete(ColumnFamilyHandle* family, Slice key) {
  return rep_->Add(family, [&] { return rep_->batch.Delete(family, key); });
}
Status WriteBatchWithIndex::SingleDelete(ColumnFamilyHandle* family, Slice key) {
  return rep_->Add(family, [&] { return rep_->batch.SingleDelete(family, key); });
}
Status WriteBatchWithIndex::DeleteRange(ColumnFamilyHandle* family, Slice begin, Slice end) {
  if (rep_->index.PartOf(family).order->Compare(begin, end) > 0) {
    return rep_->batch.Refuse(Status::InvalidArgument("a range delete ends before it begins"));
  }
  return rep_->Add(family, [&] { return rep_->batch.DeleteRange(family, begin, end); });
}
Status WriteBatchWithIndex::Merge(Slice key, Slice operand) { return rep_->batch.Merge(key, operand); }

void WriteBatchWithIndex::Clear() {
  rep_->batch.Clear();
  rep_->index.Clear();
}

WriteBatch* WriteBatchWithIndex::GetWriteBatch() { return &rep_->batch; }
std::size_t WriteBatchWithIndex::GetDataSize() const { return rep_->batch.GetDataSize(); }
bool WriteBatchWithIndex::GetOverwriteKey() const { return rep_->index.only_newest(); }
void WriteBatchWithIndex::SetMaxBytes(std::size_t max_bytes) { rep_->batch.SetMaxBytes(max_bytes); }

void WriteBatchWithIndex::SetIndexing(bool is_on) { rep_->indexes = is_on; }

void WriteBatchWithIndex::SetSavePoint() { rep_->batch.SetSavePoint(); }
Status WriteBatchWithIndex::PopSavePoint() { return rep_->batch.PopSavePoint(); }
Status WriteBatchWithIndex::RollbackToSavePoint() {
  const std::size_t before = rep_->batch.GetDataSize();
  CAMBIUM_RETURN_IF_ERROR(rep_->batch.RollbackToSavePoint());
  if (rep_->batch.GetDataSize() != before) rep_->index.Invalidate();
  return Status::OK();
}

Status WriteBatchWithIndex::GetFromBatch(ColumnFamilyHandle* family, const DBOptions&, Slice key, std::string* value) {
  if (value == nullptr) return Status::InvalidArgument("GetFromBatch: value is null");
  Slice found;
  if (rep_->index.Find(family, key, &found) != BatchIndex::Says::kValue) return Status::NotFound();
  value->assign(found.data(), found.size());
  return Status::OK();
}

Status WriteBatchWithIndex::GetFromBatchAndDB(DB* db, const ReadOptions& options, ColumnFamilyHandle* family, Slice key,
                                              std::string* value) {
  if (db == nullptr || value == nullptr) return Status::InvalidArgument("GetFromBatchAndDB: an argument is null");
  Slice found;
  switch (rep_->index.Find(family, key, &found)) {
    case BatchIndex::Says::kValue:
      value->assign(found.data(), found.size());
      return Status::OK();
    case BatchIndex::Says::kDeleted:
      return Status::NotFound();
    default:
      return db->Get(options, HandleIn(db, family), key, value);
  }
}

Status WriteBatchWithIndex::GetFromBatchAndDB(DB* db, const ReadOptions& options, ColumnFamilyHandle* family, Slice key,
                                              PinnableSlice* value) {
  if (db == nullptr || value == nullptr) return Status::InvalidArgument("GetFromBatchAndDB: an argument is null");
  Slice found;
  switch (rep_->index.Find(family, key, &found)) {
    case BatchIndex::Says::kValue:
      value->PinSelf(found);
      return Status::OK();
    case BatchIndex::Says::kDeleted:
      value->Reset();
      return Status::NotFound();
    default:
      return db->Get(options, HandleIn(db, family), key, value);
  }
}

void WriteBatchWithIndex::MultiGetFromBatchAndDB(DB* db, const ReadOptions& options, ColumnFamilyHandle* family,
                                                 std::size_t count, const Slice* keys, PinnableSlice* values,
                                                 Status* statuses) {
  std::vector<std::size_t> left;  // keys that the batch does not decide
  std::vector<Slice> left_keys;
  for (std::size_t i = 0; i < count; ++i) {
    Slice found;
    switch (rep_->index.Find(family, keys[i], &found)) {
      case BatchIndex::Says::kValue:
        values[i].PinSelf(found);
        statuses[i] = Status::OK();
        break;
      case BatchIndex::Says::kDeleted:
        values[i].Reset();
        statuses[i] = Status::NotFound();
        break;
      default:
        left.push_back(i);
        left_keys.push_back(keys[i]);
    }
  }
  if (left.empty()) return;
  std::vector<PinnableSlice> found(left.size());
  std::vector<Status> its_statuses(left.size());
  const std::vector<ColumnFamilyHandle*> families(left.size(), HandleIn(db, family));
  db->MultiGet(options, left.size(), families.data(), left_keys.data(), found.data(), its_statuses.data());
  for (std::size_t i = 0; i < left.size(); ++i) {
    values[left[i]] = std::move(found[i]);
    statuses[left[i]] = std::move(its_statuses[i]);
  }
}

WBWIIterator* WriteBatchWithIndex::NewIterator(ColumnFamilyHandle* family) {
  return new CursorIterator(&rep_->index, &rep_->index.PartOf(family));
}

Iterator* WriteBatchWithIndex::NewIteratorWithBase(ColumnFamilyHandle* family, Iterator* base,
                                                   const ReadOptions* options) {
  std::unique_ptr<Iterator> owned(base);
  return new BaseDeltaIterator(&rep_->index, &rep_->index.PartOf(family), std::move(owned), options);
}

}  // namespace cambium
