// MixgraphModel: draws the operations of the workload mixgraph. The model is that of Cao, Dong, Vemuri and Du (FAST
// 2020). The flags and the compatible way of drawing are db_bench's.
//
// db_bench draws one number per operation and derives everything from it, so that a key always has the same kind of
// operation and the same value size. It also rounds the weights of ranges down. With mixgraph_compat this class does
// the same. Otherwise each property is drawn separately, and weights are exact.
#pragma once

#include <cstdint>

#include "flags/mixgraph_flags.h"
#include "util/prng.h"
#include "workloads/mixgraph/key_ranges.h"
#include "workloads/mixgraph/pareto.h"

namespace cambium::bench {

// How ids are chosen. In db_bench warm ranges have an effect only together with warm keys: keyrange_dist without
// key_dist does nothing there.
enum class KeyMode : unsigned char { kRandom, kPower, kRanges };

enum class MixKind : unsigned char { kGet, kPut, kSeek };

struct MixOperation {
  MixKind kind = MixKind::kGet;
  std::uint64_t id = 0;
  std::uint64_t value_size = 0;   // for a put
  std::uint64_t scan_length = 0;  // entries, for a seek
};

// Immutable. Any thread may draw with its own Prng.
class MixgraphModel {
 public:
  MixgraphModel(const MixgraphFlags& flags, std::uint64_t num);

  static KeyMode ModeOf(const MixgraphFlags& flags);

  // `r`, below num, is the id if keys are random. With mixgraph_compat everything follows from `r`, else from `random`.
  [[nodiscard]] MixOperation Draw(std::uint64_t r, Prng* random) const;
  // The percentage of operations of this kind.
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
