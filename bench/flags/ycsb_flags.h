// What YCSB's property files say, under their names.
#pragma once

#include <cstdint>

namespace cambium::bench {

struct YcsbFlags {
  std::uint64_t record_count = 0;     // 0: --num
  std::uint64_t operation_count = 0;  // in all, shared by the threads; 0: --reads of each thread; else as many as records
  std::uint64_t field_count = 10;
  std::uint64_t field_length = 100;
  std::uint64_t max_scan_length = 100;
  unsigned zero_padding = 1;  // zeropadding: digits of a key, at least
};

}  // namespace cambium::bench
