// SmallOptions: options with sizes so small that little work causes flushes, rotations, compactions and large values.
#pragma once

#include <cstddef>

#include "cambium/options.h"
#include "testing/index_mode.h"

namespace cambium::testing {

// The index is that of the test; with an LSM, the page size decides its other options (see UseIndexOfTest).
[[nodiscard]] inline Options SmallOptions(std::size_t page_size = 512) {
  Options options;
  options.create_if_missing = true;
  options.page_size = page_size;
  options.page_cache_size = 1u << 20;
  options.write_buffer_size = 16u << 10;
  options.max_total_wal_size = 256u << 10;
  options.max_space_amplification = 0;
  options.min_space_limit = 0;
  options.min_blob_size = 64;
  options.blob_file_size = 32u << 10;
  options.large_value_size = 8u << 10;
  UseIndexOfTest(&options);
  return options;
}

}  // namespace cambium::testing
