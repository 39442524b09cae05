#include "cambium/write_batch.h"

#include "api/batch_op.h"
#include "api/batch_tags.h"
#include "cambium/column_family.h"
#include "cambium/db.h"
#include "state/family.h"
#include "util/coding.h"
#include "util/result.h"

namespace cambium {
namespace {

Status CheckKey(Slice key) {
  if (key.size() <= kMaxKeyBytes) return Status::OK();
  return Status::InvalidArgument("key of " + std::to_string(key.size()) + " bytes; the most is " +
                                 std::to_string(kMaxKeyBytes));
}

Status CheckValue(Slice value) {
  if (value.size() <= kMaxValueBytes) return Status::OK();
  return Status::InvalidArgument("value of " + std::to_string(value.size()) + " bytes; the most is " +
                                 std::to_string(kMaxValueBytes));
}

class NullHandler final : public WriteBatch::Handler {
 public:
  Status Put(Slice, Slice) override { return Status::OK(); }
  Status Delete(Slice) override { return Status::OK(); }
  Status PutCF(std::uint32_t, Slice, Slice) override { return Status::OK(); }
  Status DeleteCF(std::uint32_t, Slice) override { return Status::OK(); }
  Status SingleDeleteCF(std::uint32_t, Slice) override { return Status::OK(); }
  Status DeleteRangeCF(std::uint32_t, Slice, Slice) override { return Status::OK(); }
};

Status NoFamily(std::uint32_t family) {
  return Status::InvalidArgument("the handler of a write batch does not handle column family " + std::to_string(family));
}

}  // namespace

WriteBatch::WriteBatch(std::size_t reserved_bytes) {
  rep_.reserve(reserved_bytes + kCountSize);
  Clear();
}

void WriteBatch::Append(const WriteBatch& other) {
  if (!other.status_.ok()) static_cast<void>(Refuse(other.status_));
  if (other.database_ != DatabaseId{} && !IsFor(other.database_)) {
    static_cast<void>(Refuse(Status::InvalidArgument("a write batch has families of two databases")));
  }
  if (database_ == DatabaseId{}) database_ = other.database_;
  const std::uint32_t count = other.count_;
  rep_.append(other.rep_, kCountSize);
  count_ += count;
  EncodeFixed<std::uint32_t>(rep_.data(), count_);
}

void WriteBatch::Clear() {
  rep_.assign(kCountSize, '\0');
  count_ = 0;
  status_ = Status::OK();
  database_ = {};
  save_points_.clear();
}

bool WriteBatch::IsFor(const DatabaseId& database) const { return database_ == DatabaseId{} || database_ == database; }

Status WriteBatch::Refuse(Status why) {
  if (status_.ok()) status_ = why;
  return why;
}

Status WriteBatch::Add(char tag, const ColumnFamilyHandle* family, Slice key, const Slice* value) {
  if (family != nullptr) {
    const DatabaseId& database = static_cast<const FamilyHandle*>(family)->database_id();
    if (!IsFor(database)) return Refuse(Status::InvalidArgument("a write batch has families of two databases"));
    database_ = database;
  }
  const std::uint32_t id = family == nullptr ? 0 : family->GetID();
  // First, because no part of an operation may remain if memory runs out.
  constexpr std::size_t kNumbersMost = 1 + 5 + 5 + 5;
  rep_.reserve(rep_.size() + kNumbersMost + key.size() + (value == nullptr ? 0 : value->size()));
  rep_ += static_cast<char>(id == 0 ? tag : tag | kFamilyBit);
  if (id != 0) PutVarint64(&rep_, id);
  PutLengthPrefixed(&rep_, key);
  if (value != nullptr) PutLengthPrefixed(&rep_, *value);
  EncodeFixed<std::uint32_t>(rep_.data(), ++count_);
  return Status::OK();
}

Status WriteBatch::Put(ColumnFamilyHandle* family, Slice key, Slice value) {
  if (Status s = CheckKey(key); !s.ok()) return Refuse(std::move(s));
  if (Status s = CheckValue(value); !s.ok()) return Refuse(std::move(s));
  return Add(kPutTag, family, key, &value);
}

Status WriteBatch::Delete(ColumnFamilyHandle* family, Slice key) {
  if (Status s = CheckKey(key); !s.ok()) return Refuse(std::move(s));
  return Add(kDeleteTag, family, key, nullptr);
}

Status WriteBatch::SingleDelete(ColumnFamilyHandle* family, Slice key) {
  if (Status s = CheckKey(key); !s.ok()) return Refuse(std::move(s));
  return Add(kSingleDeleteTag, family, key, nullptr);
}

Status WriteBatch::DeleteRange(ColumnFamilyHandle* family, Slice begin, Slice end) {
  if (Status s = CheckKey(begin); !s.ok()) return Refuse(std::move(s));
  if (Status s = CheckKey(end); !s.ok()) return Refuse(std::move(s));
  return Add(kDeleteRangeTag, family, begin, &end);
}

Status WriteBatch::Merge(Slice, Slice) { return Refuse(Status::NotSupported("Merge is not in this version")); }

Status WriteBatch::Handler::DeleteRange(Slice, Slice) {
  return Status::InvalidArgument("the handler of a write batch does not handle range deletes");
}
Status WriteBatch::Handler::PutCF(std::uint32_t family, Slice key, Slice value) {
  return family == 0 ? Put(key, value) : NoFamily(family);
}
Status WriteBatch::Handler::DeleteCF(std::uint32_t family, Slice key) {
  return family == 0 ? Delete(key) : NoFamily(family);
}
Status WriteBatch::Handler::SingleDeleteCF(std::uint32_t family, Slice key) {
  return family == 0 ? SingleDelete(key) : NoFamily(family);
}
Status WriteBatch::Handler::DeleteRangeCF(std::uint32_t family, Slice begin, Slice end) {
  return family == 0 ? DeleteRange(begin, end) : NoFamily(family);
}

Status WriteBatch::Iterate(Handler* handler) const {
  if (handler == nullptr) return Status::InvalidArgument("the handler of a write batch is null");
  Slice rest(rep_);
  rest.remove_prefix(kCountSize);
  std::uint32_t seen = 0;
  for (BatchOp op; !rest.empty() && handler->Continue(); ++seen) {
    if (!TakeBatchOp(&rest, &op) || seen >= count_) {
      return Status::Corruption("write batch is malformed after operation " + std::to_string(seen));
    }
    switch (op.tag) {
      case kPutTag: CAMBIUM_RETURN_IF_ERROR(handler->PutCF(op.family, op.key, op.value)); break;
      case kDeleteTag: CAMBIUM_RETURN_IF_ERROR(handler->DeleteCF(op.family, op.key)); break;
      case kDeleteRangeTag: CAMBIUM_RETURN_IF_ERROR(handler->DeleteRangeCF(op.family, op.key, op.value)); break;
      default: CAMBIUM_RETURN_IF_ERROR(handler->SingleDeleteCF(op.family, op.key)); break;
    }
  }
  if (rest.empty() && seen != count_) {
    return Status::Corruption("write batch says " + std::to_string(count_) + " operations and holds " +
                              std::to_string(seen));
  }
  return Status::OK();
}

Status WriteBatch::FromData(Slice data, WriteBatch* batch) {
  if (batch == nullptr) return Status::InvalidArgument("the write batch is null");
  if (data.size() < kCountSize) return Status::Corruption("write batch is cut off");
  WriteBatch read;
  read.rep_ = data.ToString();
  read.count_ = DecodeFixed<std::uint32_t>(data.data());
  NullHandler check;
  CAMBIUM_RETURN_IF_ERROR(read.Iterate(&check));
  *batch = std::move(read);
  return Status::OK();
}

void WriteBatch::SetSavePoint() { save_points_.push_back({rep_.size(), count_, !status_.ok(), database_}); }

Status WriteBatch::RollbackToSavePoint() {
  if (save_points_.empty()) return Status::NotFound("no save point");
  const SavePoint& to = save_points_.back();
  rep_.resize(to.size);
  count_ = to.count;
  if (!to.is_refused) status_ = Status::OK();
  database_ = to.database;
  EncodeFixed<std::uint32_t>(rep_.data(), count_);
  save_points_.pop_back();
  return Status::OK();
}

Status WriteBatch::PopSavePoint() {
  if (save_points_.empty()) return Status::NotFound("no save point");
  save_points_.pop_back();
  return Status::OK();
}

}  // namespace cambium
