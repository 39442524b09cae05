// Writes that do not exist, compactions, sizes, snapshots.
#include "cambium/rocksdb_names/rocksdb/db.h"

#include <vector>

#include "util/result.h"

namespace rocksdb::inline on_cambium {

Status DB::Merge(const WriteOptions& /*options*/, ColumnFamilyHandle* /*family*/, const Slice& /*key*/,
                 const Slice& /*operand*/) {
  return Status::NotSupported("Merge is not in this version");
}

Status DB::Flush(const FlushOptions& options, const std::vector<ColumnFamilyHandle*>& families) {
  for (ColumnFamilyHandle* const each : families) CAMBIUM_RETURN_IF_ERROR(Flush(options, each));
  return Status::OK();
}

Status DB::CompactRange(const CompactRangeOptions& options, ColumnFamilyHandle* family, const Slice* begin,
                        const Slice* end) {
  const char* refused = nullptr;
  if (options.target_path_id != 0) refused = "target_path_id";
  if (options.full_history_ts_low != nullptr) refused = "full_history_ts_low";
  if (options.canceled != nullptr) refused = "canceled";
  if (refused != nullptr) {
    return Status::NotSupported(std::string("CompactRangeOptions::") + refused + " is not in this version");
  }
  if (manual_compactions_disabled_ > 0) return Status::Incomplete("manual compactions are disabled");
  return OnCambium()->CompactRange(options, family, begin, end);
}

Status DB::WaitForCompact(const WaitForCompactOptions& options) {
  if (options.flush) return Status::NotSupported("WaitForCompactOptions::flush is not in this version");
  if (options.timeout != std::chrono::microseconds::zero()) {
    return Status::NotSupported("WaitForCompactOptions::timeout is not in this version");
  }
  CAMBIUM_RETURN_IF_ERROR(OnCambium()->WaitForCompact());
  return options.close_db ? Close() : Status::OK();
}

Status DB::GetApproximateSizes(const SizeApproximationOptions& options, ColumnFamilyHandle* family, const Range* ranges,
                               int count, std::uint64_t* sizes) {
  std::vector<cambium::Range> its;
  for (int i = 0; i < count; ++i) its.push_back({ranges[i].start, ranges[i].limit});
  return OnCambium()->GetApproximateSizes(options, family, its.data(), count, sizes);
}

Status DB::GetApproximateSizes(ColumnFamilyHandle* family, const Range* ranges, int count, std::uint64_t* sizes,
                               SizeApproximationFlags flags) {
  const auto has = [flags](SizeApproximationFlags flag) {
    return (static_cast<unsigned>(flags) & static_cast<unsigned>(flag)) != 0;
  };
  SizeApproximationOptions options;
  options.include_memtables = has(SizeApproximationFlags::INCLUDE_MEMTABLES);
  options.include_files = has(SizeApproximationFlags::INCLUDE_FILES);
  return GetApproximateSizes(options, family, ranges, count, sizes);
}

ManagedSnapshot::ManagedSnapshot(DB* db) : ManagedSnapshot(db, db->GetSnapshot()) {}
ManagedSnapshot::~ManagedSnapshot() {
  if (snapshot_ != nullptr) db_->ReleaseSnapshot(snapshot_);
}

}  // namespace rocksdb::inline on_cambium
