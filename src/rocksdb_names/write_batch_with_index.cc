#include "cambium/rocksdb_names/rocksdb/utilities/write_batch_with_index.h"

#include <utility>

#include "rocksdb_names/reading.h"

namespace rocksdb::inline on_cambium {
namespace {

WriteType NameOf(cambium::WriteType type) {
  switch (type) {
    case cambium::WriteType::kPutRecord: return kPutRecord;
    case cambium::WriteType::kDeleteRecord: return kDeleteRecord;
    case cambium::WriteType::kSingleDeleteRecord: return kSingleDeleteRecord;
    case cambium::WriteType::kDeleteRangeRecord: return kDeleteRangeRecord;
  }
  return kUnknownRecord;
}

}  // namespace

WriteEntry WBWIIterator::Entry() const {
  const cambium::WriteEntry its = rep_->Entry();
  return {NameOf(its.type), its.key, its.value};
}

WriteBatchWithIndex::WriteBatchWithIndex(const Comparator* comparator, std::size_t reserved_bytes, bool overwrite_key,
                                         std::size_t max_bytes, std::size_t /*protection_bytes_per_key*/)
    : own_(std::make_unique<cambium::WriteBatchWithIndex>(comparator->OnCambium(), reserved_bytes, overwrite_key,
                                                           max_bytes)),
      rep_(own_.get()) {}
WriteBatchWithIndex::~WriteBatchWithIndex() = default;
WriteBatchWithIndex::WriteBatchWithIndex(WriteBatchWithIndex&&) noexcept = default;
WriteBatchWithIndex& WriteBatchWithIndex::operator=(WriteBatchWithIndex&&) noexcept = default;

WriteBatch* WriteBatchWithIndex::GetWriteBatch() {
  copy_ = std::make_unique<WriteBatch>(*rep_->GetWriteBatch());
  return copy_.get();
}

WBWIIterator* WriteBatchWithIndex::NewIterator(ColumnFamilyHandle* family) {
  return new WBWIIterator(std::unique_ptr<cambium::WBWIIterator>(rep_->NewIterator(family)));
}

Status WriteBatchWithIndex::GetFromBatchAndDB(DB* db, const ReadOptions& options, ColumnFamilyHandle* family,
                                              const Slice& key, std::string* value) {
  CAMBIUM_RETURN_IF_ERROR(Reading::Check(options));
  return rep_->GetFromBatchAndDB(db->OnCambium(), options, family, key, value);
}
Status WriteBatchWithIndex::GetFromBatchAndDB(DB* db, const ReadOptions& options, ColumnFamilyHandle* family,
                                              const Slice& key, PinnableSlice* value) {
  CAMBIUM_RETURN_IF_ERROR(Reading::Check(options));
  if (value == nullptr) return Status::InvalidArgument("the pointer for the value is null");
  return Reading::Into(
      value, [&](auto* to) { return rep_->GetFromBatchAndDB(db->OnCambium(), options, family, key, to); });
}
void WriteBatchWithIndex::MultiGetFromBatchAndDB(DB* db, const ReadOptions& options, ColumnFamilyHandle* family,
                                                 std::size_t count, const Slice* keys, PinnableSlice* values,
                                                 Status* statuses, bool /*sorted_input*/) {
  Reading::Many(options, count, values, statuses, [&](cambium::PinnableSlice* read) {
    rep_->MultiGetFromBatchAndDB(db->OnCambium(), options, family, count, keys, read, statuses);
  });
}

}  // namespace rocksdb::inline on_cambium
