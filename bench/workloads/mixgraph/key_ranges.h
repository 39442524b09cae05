// KeyRanges: chooses the part of the key space for an operation. The space is cut into ranges of equal size. The x-th
// warmest range, x from 1, gets operations in proportion to a e^(b x) + c e^(d x), with a to d from --keyrange_dist_a
// to --keyrange_dist_d.
#pragma once

#include <cstdint>
#include <vector>

#include "flags/mixgraph_flags.h"

namespace cambium::bench {

// Immutable. The place of a warm range depends on the parameters alone, and is the same as in db_bench.
class KeyRanges {
 public:
  explicit KeyRanges(const MixgraphFlags& flags);

  [[nodiscard]] std::uint64_t count() const { return exact_ends_.size(); }
  // Returns the range for a number of [0, 1), exactly in proportion to the weights.
  [[nodiscard]] std::uint64_t Exact(double u) const;
  // Returns the range for any number, in proportion to db_bench's integer shares, which are rounded down.
  [[nodiscard]] std::uint64_t Compatible(std::uint64_t r) const;

  // The warmest first.
  [[nodiscard]] const std::vector<double>& weights() const { return weights_; }
  [[nodiscard]] const std::vector<std::uint64_t>& shares() const { return shares_; }
  [[nodiscard]] std::uint64_t shares_in_all() const { return share_ends_.back(); }

 private:
  std::vector<double> weights_;
  std::vector<std::uint64_t> shares_;
  // By place in the key space: the sums up to and including this range.
  std::vector<double> exact_ends_;
  std::vector<std::uint64_t> share_ends_;
};

}  // namespace cambium::bench
