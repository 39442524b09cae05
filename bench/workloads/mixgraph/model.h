// MixgraphModel: what the next operation of the workload mixgraph is. The model is that of Cao, Dong, Vemuri and Du
// (FAST 2020); flags and the compatible way of drawing are db_bench's.
//
// db_bench draws one number for an operation and takes everything from it, so that the same key always has the same
// kind of operation and the same size of value, and rounds the weights of ranges down. With mixgraph_compat this does
// the same; else every part is drawn by itself, and weights are exact.
#pragma once

#include <cstdint>

#include "flags/mixgraph_flags.h"
#include "util/prng.h"
#include "workloads/mixgraph/key_ranges.h"
#include "workloads/mixgraph/pareto.h"

namespace cambium::bench {

// How ids are chosen. Which ranges are warm matters only if it is said within them which keys are (db_bench's order of
// asking, which makes keyrange_dist without key_dist do nothing there).
enum class KeyMode : unsigned char { kRandom, kPower, kRanges };

enum class MixKind : unsigned char { kGet, kPut, kSeek };

struct MixOperation {
  MixKind kind = MixKind::kGet;
  std::uint64_t id = 0;
  std::uint64_t value_size = 0;   // of a put
  std::uint64_t scan_length = 0;  // entries, of a seek
};

// Immutable. Any thread may draw, with its own chance.
class MixgraphModel {
 public:
  MixgraphModel(const MixgraphFlags& flags, std::uint64_t num);

  static KeyMode ModeOf(const MixgraphFlags& flags);

  // `r`, below num, is the key where keys are random, and decides all in the compatible way; `random` the rest.
  [[nodiscard]] MixOperation Draw(std::uint64_t r, Prng* random) const;
  // The part of operations, in a hundred, that are of that kind.
  [[nodiscard]] double PercentOf(MixKind kind) const;

 private:
  [[nodiscard]] std::uint64_t Id(std::uint64_t r, Prng* random) const;
  [[nodiscard]] MixKind Kind(std::uint64_t r, Prng* random) const;
  [[nodiscard]] std::uint64_t Scatter(double u, std::uint64_t n) const;
  [[nodiscard]] std::uint64_t ValueSize(double u) const;

  MixgraphFlags flags_;
  std::uint64_t num_;
  KeyMode mode_;
  std::uint64_t range_size_;
  KeyRanges ranges_;
  Pareto value_;
  Pareto scan_;
};

}  // namespace cambium::bench
