// MixgraphFlags: the flags of the workload mixgraph. Names, meanings and defaults are db_bench's.
#pragma once

#include <algorithm>
#include <cstdint>

namespace cambium::bench {

inline constexpr std::uint64_t kMixValueSizeCap = 1u << 20;  // db_bench's limit; --mix_max_value_size cannot raise it

struct MixgraphFlags {
  double keyrange_dist_a = 0;
  double keyrange_dist_b = 0;
  double keyrange_dist_c = 0;
  double keyrange_dist_d = 0;
  std::uint64_t keyrange_num = 1;
  double key_dist_a = 0;
  double key_dist_b = 0;
  double value_theta = 0;
  double value_k = 0.2615;
  double value_sigma = 25.45;
  double iter_theta = 0;
  double iter_k = 2.517;
  double iter_sigma = 14.236;
  double mix_get_ratio = 1;
  double mix_put_ratio = 0;
  double mix_seek_ratio = 0;
  std::uint64_t mix_max_scan_len = 10'000;
  std::uint64_t mix_max_value_size = 1024;
  bool sine_mix_rate = false;
  std::uint64_t sine_mix_rate_interval_milliseconds = 10'000;
  double sine_mix_rate_noise = 0;
  double sine_a = 1;
  double sine_b = 1;
  double sine_c = 0;
  double sine_d = 1;
  bool mixgraph_compat = false;

  // Larger values are reduced below this size.
  [[nodiscard]] std::uint64_t ValueSizeLimit() const { return std::min(mix_max_value_size, kMixValueSizeCap); }
};

}  // namespace cambium::bench
