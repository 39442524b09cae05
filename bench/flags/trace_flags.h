// TraceFlags: the flags for recording and replaying traces. Those for replay have db_bench's names and defaults.
#pragma once

#include <cstdint>
#include <string>

namespace cambium::bench {

struct TraceFlags {
  std::string file;
  double replay_fast_forward = 1;  // times the recorded speed; 0: as fast as possible
  unsigned replay_threads = 1;
  bool record = false;  // the calls to the engine cambium go to the file
  std::uint64_t sampling_frequency = 1;
  bool include_values = false;
  bool preserve_write_order = false;
};

}  // namespace cambium::bench
