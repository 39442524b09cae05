#include "cambium/write_batch.h"

#include "cambium/db.h"
#include "util/coding.h"
#include "util/result.h"

namespace cambium {
namespace {

// Tags of the serialised form. The first bytes of Data() are a count, so that FromData can compare it.
constexpr char kPutTag = 1;
constexpr char kDeleteTag = 2;
constexpr char kSingleDeleteTag = 3;
constexpr std::size_t kCountSize = 4;

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
};

}  // namespace

WriteBatch::WriteBatch(std::size_t reserved_bytes) {
  rep_.reserve(reserved_bytes + kCountSize);
  Clear();
}

void WriteBatch::Clear() {
  rep_.assign(kCountSize, '\0');
  count_ = 0;
  save_points_.clear();
}

Status WriteBatch::Put(Slice key, Slice value) {
  CAMBIUM_RETURN_IF_ERROR(CheckKey(key));
  CAMBIUM_RETURN_IF_ERROR(CheckValue(value));
  rep_ += kPutTag;
  PutLengthPrefixed(&rep_, key);
  PutLengthPrefixed(&rep_, value);
  EncodeFixed<std::uint32_t>(rep_.data(), ++count_);
  return Status::OK();
}

Status WriteBatch::Delete(Slice key) {
  CAMBIUM_RETURN_IF_ERROR(CheckKey(key));
  rep_ += kDeleteTag;
  PutLengthPrefixed(&rep_, key);
  EncodeFixed<std::uint32_t>(rep_.data(), ++count_);
  return Status::OK();
}

Status WriteBatch::SingleDelete(Slice key) {
  CAMBIUM_RETURN_IF_ERROR(CheckKey(key));
  rep_ += kSingleDeleteTag;
  PutLengthPrefixed(&rep_, key);
  EncodeFixed<std::uint32_t>(rep_.data(), ++count_);
  return Status::OK();
}

Status WriteBatch::Merge(Slice, Slice) { return Status::NotSupported("Merge is not in this version"); }
Status WriteBatch::DeleteRange(Slice, Slice) { return Status::NotSupported("DeleteRange is not in this version"); }

Status WriteBatch::Iterate(Handler* handler) const {
  Slice rest(rep_);
  rest.remove_prefix(kCountSize);
  std::uint32_t seen = 0;
  for (; !rest.empty() && handler->Continue(); ++seen) {
    const char tag = rest[0];
    rest.remove_prefix(1);
    Slice key;
    Slice value;
    const bool sound = tag >= kPutTag && tag <= kSingleDeleteTag && GetLengthPrefixed(&rest, &key) &&
                       (tag != kPutTag || GetLengthPrefixed(&rest, &value)) && seen < count_ &&
                       key.size() <= kMaxKeyBytes && value.size() <= kMaxValueBytes;
    if (!sound) return Status::Corruption("write batch is malformed behind operation " + std::to_string(seen));
    switch (tag) {
      case kPutTag: CAMBIUM_RETURN_IF_ERROR(handler->Put(key, value)); break;
      case kDeleteTag: CAMBIUM_RETURN_IF_ERROR(handler->Delete(key)); break;
      default: CAMBIUM_RETURN_IF_ERROR(handler->SingleDelete(key)); break;
    }
  }
  if (rest.empty() && seen != count_) {
    return Status::Corruption("write batch says " + std::to_string(count_) + " operations and holds " +
                              std::to_string(seen));
  }
  return Status::OK();
}

Status WriteBatch::FromData(Slice data, WriteBatch* batch) {
  if (data.size() < kCountSize) return Status::Corruption("write batch is cut off");
  WriteBatch read;
  read.rep_ = data.ToString();
  read.count_ = DecodeFixed<std::uint32_t>(data.data());
  NullHandler check;
  CAMBIUM_RETURN_IF_ERROR(read.Iterate(&check));
  *batch = std::move(read);
  return Status::OK();
}

void WriteBatch::SetSavePoint() { save_points_.push_back({rep_.size(), count_}); }

Status WriteBatch::RollbackToSavePoint() {
  if (save_points_.empty()) return Status::NotFound("no save point");
  rep_.resize(save_points_.back().size);
  count_ = save_points_.back().count;
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
