// Reads.
#include <utility>

#include "cambium/rocksdb_names/rocksdb/db.h"
#include "rocksdb_names/reading.h"
#include "util/result.h"

namespace rocksdb::inline on_cambium {

Status DB::Get(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key, std::string* value) {
  CAMBIUM_RETURN_IF_ERROR(Reading::Check(options));
  return OnCambium()->Get(options, family, key, value);
}

Status DB::Get(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key, PinnableSlice* value) {
  CAMBIUM_RETURN_IF_ERROR(Reading::Check(options));
  if (value == nullptr) return Status::InvalidArgument("the pointer for the value is null");
  return Reading::Into(value, [&](auto* to) { return OnCambium()->Get(options, family, key, to); });
}

void DB::MultiGet(const ReadOptions& options, std::size_t count, ColumnFamilyHandle** families, const Slice* keys,
                  PinnableSlice* values, Status* statuses, bool /*sorted_input*/) {
  Reading::Many(options, count, values, statuses, [&](cambium::PinnableSlice* read) {
    OnCambium()->MultiGet(options, count, families, keys, read, statuses);
  });
}

void DB::MultiGet(const ReadOptions& options, ColumnFamilyHandle* family, std::size_t count, const Slice* keys,
                  PinnableSlice* values, Status* statuses, bool sorted_input) {
  std::vector<ColumnFamilyHandle*> families(count, family);
  MultiGet(options, count, families.data(), keys, values, statuses, sorted_input);
}

std::vector<Status> DB::MultiGet(const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& families,
                                 const std::vector<Slice>& keys, std::vector<std::string>* values) {
  if (const Status checked = Reading::Check(options); !checked.ok()) return std::vector<Status>(keys.size(), checked);
  return OnCambium()->MultiGet(options, families, keys, values);
}

std::vector<Status> DB::MultiGet(const ReadOptions& options, const std::vector<Slice>& keys,
                                 std::vector<std::string>* values) {
  if (const Status checked = Reading::Check(options); !checked.ok()) return std::vector<Status>(keys.size(), checked);
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
  Status checked = Reading::Check(options);
  if (!checked.ok()) return Reading::NewErrorIterator(std::move(checked));
  return OnCambium()->NewIterator(options, family);
}

Status DB::NewIterators(const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& families,
                        std::vector<Iterator*>* iterators) {
  CAMBIUM_RETURN_IF_ERROR(Reading::Check(options));
  return OnCambium()->NewIterators(options, families, iterators);
}

Status DB::VerifyChecksum(const ReadOptions& options) {
  CAMBIUM_RETURN_IF_ERROR(Reading::Check(options));
  return OnCambium()->VerifyChecksum(options);
}

}  // namespace rocksdb::inline on_cambium
