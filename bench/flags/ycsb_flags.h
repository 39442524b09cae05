// YcsbFlags: properties of YCSB, under their names there.
#pragma once

#include <cstdint>

namespace cambium::bench {

struct YcsbFlags {
  std::uint64_t record_count = 0;     // 0: --num
  // The operations of all threads together. 0: --reads per thread if given, else the number of records.
  std::uint64_t operation_count = 0;
  std::uint64_t field_count = 10;
  std::uint64_t field_length = 100;
  std::uint64_t max_scan_length = 100;
  unsigned zero_padding = 1;  // zeropadding: digits of a key, at the least
};

}  // namespace cambium::bench
