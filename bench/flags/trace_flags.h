// The flags that have to do with traces. Names and defaults of those for replay are db_bench's.
#pragma once

#include <cstdint>
#include <string>

namespace cambium::bench {

struct TraceFlags {
  std::string file;
  double replay_fast_forward = 1;  // how many times as fast as it was recorded; 0: as fast as can be
  unsigned replay_threads = 1;
  bool record = false;  // what the engine cambium is asked goes to the file
  std::uint64_t sampling_frequency = 1;
  bool include_values = false;
  bool preserve_write_order = false;
};

}  // namespace cambium::bench
