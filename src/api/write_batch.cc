#include "cambium/write_batch.h"

#include <algorithm>
#include <utility>

#include "api/batch_op.h"
#include "api/batch_tags.h"
#include "cambium/column_family.h"
#include "cambium/db.h"
#include "state/family.h"
#include "util/coding.h"
#include "util/result.h"

namespace cambium {
namespace {

using Parts = std::span<const Slice>;

Parts PartsOf(const Slice& whole) { return {&whole, 1}; }
Parts PartsOf(const SliceParts& parts) {
  return {parts.parts, static_cast<std::size_t>(std::max(parts.num_parts, 0))};
}

std::size_t SizeOf(Parts parts) {
  std::size_t size = 0;
  for (const Slice part : parts) size += part.size();
  return size;
}

Status CheckKey(Parts key) {
  const std::size_t size = SizeOf(key);
  if (size <= kMaxKeyBytes) return Status::OK();
  return Status::InvalidArgument("key of " + std::to_string(size) + " bytes; the most is " +
                                 std::to_string(kMaxKeyBytes));
}

Status CheckPut(Parts key, Parts value) {
  CAMBIUM_RETURN_IF_ERROR(CheckKey(key));
  const std::size_t size = SizeOf(value);
  if (size <= kMaxValueBytes) return Status::OK();
  return Status::InvalidArgument("value of " + std::to_string(size) + " bytes; the most is " +
                                 std::to_string(kMaxValueBytes));
}

Status CheckRange(Parts begin, Parts end) {
  CAMBIUM_RETURN_IF_ERROR(CheckKey(begin));
  return CheckKey(end);
}

void AppendWithSize(std::string* out, Parts parts) {
  PutVarint64(out, SizeOf(parts));
  for (const Slice part : parts) out->append(part.data(), part.size());
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

WriteBatch::WriteBatch(std::size_t reserved_bytes, std::size_t max_bytes) : max_bytes_(max_bytes) {
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

Status WriteBatch::Add(char tag, Status checked, const ColumnFamilyHandle* family, Parts key, const Parts* end) {
  if (!checked.ok()) return Refuse(std::move(checked));
  DatabaseId database = database_;
  if (family != nullptr) {
    database = static_cast<const FamilyHandle*>(family)->database_id();
    if (!IsFor(database)) return Refuse(Status::InvalidArgument("a write batch has families of two databases"));
  }
  const std::uint32_t id = family == nullptr ? 0 : family->GetID();
  // First, because no part of an operation may remain if memory runs out.
  constexpr std::size_t kNumbersMost = 1 + 5 + 5 + 5;
  const std::size_t before = rep_.size();
  rep_.reserve(before + kNumbersMost + SizeOf(key) + (end == nullptr ? 0 : SizeOf(*end)));
  rep_ += static_cast<char>(id == 0 ? tag : tag | kFamilyBit);
  if (id != 0) PutVarint64(&rep_, id);
  AppendWithSize(&rep_, key);
  if (end != nullptr) AppendWithSize(&rep_, *end);
  if (max_bytes_ != 0 && rep_.size() > max_bytes_) {
    rep_.resize(before);
    return Status::Aborted("the write batch would have more than max_bytes, " + std::to_string(max_bytes_));
  }
  database_ = database;
  EncodeFixed<std::uint32_t>(rep_.data(), ++count_);
  return Status::OK();
}

Status WriteBatch::Put(ColumnFamilyHandle* family, Slice key, Slice value) {
  const Parts its_value = PartsOf(value);
  return Add(kPutTag, CheckPut(PartsOf(key), its_value), family, PartsOf(key), &its_value);
}
Status WriteBatch::Put(ColumnFamilyHandle* family, const SliceParts& key, const SliceParts& value) {
  const Parts its_value = PartsOf(value);
  return Add(kPutTag, CheckPut(PartsOf(key), its_value), family, PartsOf(key), &its_value);
}

Status WriteBatch::Delete(ColumnFamilyHandle* family, Slice key) {
  return Add(kDeleteTag, CheckKey(PartsOf(key)), family, PartsOf(key), nullptr);
}
Status WriteBatch::Delete(ColumnFamilyHandle* family, const SliceParts& key) {
  return Add(kDeleteTag, CheckKey(PartsOf(key)), family, PartsOf(key), nullptr);
}

Status WriteBatch::SingleDelete(ColumnFamilyHandle* family, Slice key) {
  return Add(kSingleDeleteTag, CheckKey(PartsOf(key)), family, PartsOf(key), nullptr);
}
Status WriteBatch::SingleDelete(ColumnFamilyHandle* family, const SliceParts& key) {
  return Add(kSingleDeleteTag, CheckKey(PartsOf(key)), family, PartsOf(key), nullptr);
}

Status WriteBatch::DeleteRange(ColumnFamilyHandle* family, Slice begin, Slice end) {
  const Parts its_end = PartsOf(end);
  return Add(kDeleteRangeTag, CheckRange(PartsOf(begin), its_end), family, PartsOf(begin), &its_end);
}
Status WriteBatch::DeleteRange(ColumnFamilyHandle* family, const SliceParts& begin, const SliceParts& end) {
  const Parts its_end = PartsOf(end);
  return Add(kDeleteRangeTag, CheckRange(PartsOf(begin), its_end), family, PartsOf(begin), &its_end);
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
  WriteBatch read(0, batch->max_bytes_);
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
