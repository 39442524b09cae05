// GetApproximateSizes: what ranges of keys take, from the totals that index pages hold.
#include "api/db_impl.h"

namespace cambium {

Status DbImpl::GetApproximateSizes(const SizeApproximationOptions& options, ColumnFamilyHandle* handle,
                                   const Range* ranges, int count, std::uint64_t* sizes) {
  if (!options.include_files && !options.include_memtables) {
    return Status::InvalidArgument("GetApproximateSizes counts files, memory tables or both, and none was asked for");
  }
  if (count < 0) return Status::InvalidArgument("GetApproximateSizes of " + std::to_string(count) + " ranges");
  CAMBIUM_RETURN_IF_ERROR(CheckRead({}));
  CAMBIUM_TRY(const Family* const family, FamilyOf(handle));
  SequenceNumber sequence = 0;
  const std::shared_ptr<const View> view = PinView({}, &sequence);
  const FamilyView* const layers = view->Find(family->id);
  if (layers == nullptr) return Status::ColumnFamilyDropped("column family \"" + family->name + "\" was dropped");
  const Comparator& order = *family->options().comparator;
  for (int i = 0; i < count; ++i) {
    sizes[i] = 0;
    const auto [start, limit] = ranges[i];
    if (order.Compare(start, limit) >= 0) continue;
    if (options.include_files) {
      CAMBIUM_TRY(sizes[i], layers->layers->ApproximateSize(start, limit));
    }
    if (!options.include_memtables) continue;
    sizes[i] += layers->active->ApproximateSize(start, limit);
    for (const FrozenTable& frozen : layers->frozen) sizes[i] += frozen.table->ApproximateSize(start, limit);
  }
  return Status::OK();
}

}  // namespace cambium
