// Reads.
#include <utility>

#include "rocksdb_names/db_rep.h"
#include "util/result.h"

namespace rocksdb::inline on_cambium {
namespace {

// NotSupported for an option whose meaning would be lost.
Status Check(const ReadOptions& options) {
  constexpr auto kNone = std::chrono::microseconds::zero();
  const char* refused = nullptr;
  if (options.timestamp != nullptr) refused = "timestamp";
  if (options.iter_start_ts != nullptr) refused = "iter_start_ts";
  if (options.deadline != kNone) refused = "deadline";
  if (options.io_timeout != kNone) refused = "io_timeout";
  if (options.read_tier != kReadAllTier) refused = "read_tier";
  if (options.value_size_soft_limit != ReadOptions().value_size_soft_limit) refused = "value_size_soft_limit";
  if (options.max_skippable_internal_keys != 0) refused = "max_skippable_internal_keys";
  if (options.tailing) refused = "tailing";
  if (options.prefix_same_as_start) refused = "prefix_same_as_start";
  if (options.pin_data) refused = "pin_data";
  if (refused == nullptr) return Status::OK();
  return Status::NotSupported(std::string("ReadOptions::") + refused + " is not in this version");
}

class ErrorIterator final : public Iterator {
 public:
  explicit ErrorIterator(Status error) : error_(std::move(error)) {}
  [[nodiscard]] bool Valid() const override { return false; }
  void SeekToFirst() override {}
  void SeekToLast() override {}
  void Seek(Slice /*target*/) override {}
  void SeekForPrev(Slice /*target*/) override {}
  void Next() override {}
  void Prev() override {}
  [[nodiscard]] Slice key() const override { return {}; }
  [[nodiscard]] Slice value() const override { return {}; }
  bool PrepareValue() override { return false; }
  [[nodiscard]] std::uint64_t ValueSize() const override { return 0; }
  [[nodiscard]] Status status() const override { return error_; }

 private:
  const Status error_;
};

}  // namespace

Status DB::Get(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key, std::string* value) {
  CAMBIUM_RETURN_IF_ERROR(Check(options));
  return OnCambium()->Get(options, family, key, value);
}

Status DB::Get(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key, PinnableSlice* value) {
  CAMBIUM_RETURN_IF_ERROR(Check(options));
  if (value == nullptr) return Status::InvalidArgument("the pointer for the value is null");
  if (value->buffer_ == nullptr) {
    Status read = OnCambium()->Get(options, family, key, &value->held_);
    value->Slice::operator=(value->held_);
    return read;
  }
  value->Reset();
  CAMBIUM_RETURN_IF_ERROR(OnCambium()->Get(options, family, key, value->buffer_));
  value->PinSelf();
  return Status::OK();
}

void DB::MultiGet(const ReadOptions& options, std::size_t count, ColumnFamilyHandle** families, const Slice* keys,
                  PinnableSlice* values, Status* statuses, bool /*sorted_input*/) {
  if (const Status checked = Check(options); !checked.ok()) {
    for (std::size_t i = 0; i < count; ++i) statuses[i] = checked;
    return;
  }
  std::vector<cambium::PinnableSlice> read(count);
  OnCambium()->MultiGet(options, count, families, keys, read.data(), statuses);
  for (std::size_t i = 0; i < count; ++i) {
    if (statuses[i].ok()) {
      values[i].Take(std::move(read[i]));
    } else {
      values[i].Reset();
    }
  }
}

void DB::MultiGet(const ReadOptions& options, ColumnFamilyHandle* family, std::size_t count, const Slice* keys,
                  PinnableSlice* values, Status* statuses, bool sorted_input) {
  std::vector<ColumnFamilyHandle*> families(count, family);
  MultiGet(options, count, families.data(), keys, values, statuses, sorted_input);
}

std::vector<Status> DB::MultiGet(const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& families,
                                 const std::vector<Slice>& keys, std::vector<std::string>* values) {
  if (const Status checked = Check(options); !checked.ok()) return std::vector<Status>(keys.size(), checked);
  return OnCambium()->MultiGet(options, families, keys, values);
}

std::vector<Status> DB::MultiGet(const ReadOptions& options, const std::vector<Slice>& keys,
                                 std::vector<std::string>* values) {
  if (const Status checked = Check(options); !checked.ok()) return std::vector<Status>(keys.size(), checked);
  return OnCambium()->MultiGet(options, keys, values);
}

bool DB::KeyMayExist(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key, std::string* value,
                     bool* value_found) {
  std::string read;
  const Status found = Get(options, family, key, &read);
  if (value_found != nullptr) *value_found = found.ok() && value != nullptr;
  if (found.ok() && value != nullptr) *value = std::move(read);
  return !found.IsNotFound();
}

Iterator* DB::NewIterator(const ReadOptions& options, ColumnFamilyHandle* family) {
  Status checked = Check(options);
  if (!checked.ok()) return new ErrorIterator(std::move(checked));
  return OnCambium()->NewIterator(options, family);
}

Status DB::NewIterators(const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& families,
                        std::vector<Iterator*>* iterators) {
  CAMBIUM_RETURN_IF_ERROR(Check(options));
  return OnCambium()->NewIterators(options, families, iterators);
}

Status DB::VerifyChecksum(const ReadOptions& options) {
  CAMBIUM_RETURN_IF_ERROR(Check(options));
  return OnCambium()->VerifyChecksum(options);
}

}  // namespace rocksdb::inline on_cambium
