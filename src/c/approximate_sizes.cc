#include <algorithm>

#include "c/wrappers.h"

using cambium::Range;
using cambium::Slice;
using cambium::Status;

namespace {

void GetSizes(cambium_t* db, cambium::ColumnFamilyHandle* family, int num_ranges, const char* const* starts,
              const size_t* start_lengths, const char* const* limits, const size_t* limit_lengths,
              unsigned char include, uint64_t* sizes, char** errptr) {
  if (num_ranges > 0) std::fill_n(sizes, num_ranges, uint64_t{0});
  cambium::c::Guarded(errptr, [&] {
    std::vector<Range> ranges;
    for (int i = 0; i < num_ranges; ++i) {
      ranges.push_back({Slice(starts[i], start_lengths[i]), Slice(limits[i], limit_lengths[i])});
    }
    cambium::SizeApproximationOptions options;
    options.include_memtables = (include & cambium_size_approximation_include_memtables) != 0;
    options.include_files = (include & cambium_size_approximation_include_files) != 0;
    const Status status = db->rep->GetApproximateSizes(options, family, ranges.data(), num_ranges, sizes);
    if (!status.ok() && num_ranges > 0) std::fill_n(sizes, num_ranges, uint64_t{0});
    return status;
  });
}

}  // namespace

void cambium_approximate_sizes(cambium_t* db, int num_ranges, const char* const* range_start_keys,
                               const size_t* range_start_key_lengths, const char* const* range_limit_keys,
                               const size_t* range_limit_key_lengths, uint64_t* sizes) {
  GetSizes(db, db->rep->DefaultColumnFamily(), num_ranges, range_start_keys, range_start_key_lengths, range_limit_keys,
           range_limit_key_lengths, cambium_size_approximation_include_files, sizes, nullptr);
}
void cambium_approximate_sizes_cf(cambium_t* db, cambium_column_family_handle_t* family, int num_ranges,
                                  const char* const* range_start_keys, const size_t* range_start_key_lengths,
                                  const char* const* range_limit_keys, const size_t* range_limit_key_lengths,
                                  uint64_t* sizes, char** errptr) {
  GetSizes(db, cambium::c::RepOf(family), num_ranges, range_start_keys, range_start_key_lengths, range_limit_keys,
           range_limit_key_lengths, cambium_size_approximation_include_files, sizes, errptr);
}
void cambium_approximate_sizes_cf_with_flags(cambium_t* db, cambium_column_family_handle_t* family, int num_ranges,
                                             const char* const* range_start_keys, const size_t* range_start_key_lengths,
                                             const char* const* range_limit_keys, const size_t* range_limit_key_lengths,
                                             unsigned char include, uint64_t* sizes, char** errptr) {
  GetSizes(db, cambium::c::RepOf(family), num_ranges, range_start_keys, range_start_key_lengths, range_limit_keys,
           range_limit_key_lengths, include, sizes, errptr);
}
