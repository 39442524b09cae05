// BlockSizer: chooses how many raw bytes the next leaf of a compressed run takes, so that its compressed form ends just
// below a whole number of units.
//
// Pages start at multiples of the unit. If leaves were closed at a fixed size, each would waste half a unit on average.
// With units of 4 KiB, that is about a quarter of the compressed size of 16 KiB. BlockSizer instead predicts the
// compression ratio from earlier leaves and aims at filling n units. It chooses n so that leaves stay near the
// requested block size.
//
//   raw     |<------------- target ------------->|
//   stored  |<----- unit ----->|<----- unit --->.|     . is the margin: a leaf that compresses worse than predicted
//                                                      needs one more unit, and then the margin grows
#pragma once

#include <cstddef>
#include <cstdint>

namespace cambium {

// Deterministic: its state depends only on the calls to Observe, so the same entries make the same file. One thread.
class BlockSizer {
 public:
  // Requires block_size >= unit.
  BlockSizer(std::size_t block_size, std::uint32_t unit);

  // Raw bytes that the next leaf should take: between half and twice the block size.
  [[nodiscard]] std::size_t target() const { return target_; }

  // Reports that a leaf of `raw` bytes became `stored` bytes, not counting the zeros at its end. stored >= raw means
  // that the leaf is stored raw.
  void Observe(std::size_t raw, std::size_t stored);

 private:
  const std::size_t block_size_;
  const std::uint32_t unit_;
  std::size_t target_;
  std::uint64_t ratio_ = 0;    // stored / raw in units of 1/65536, weighted towards the last leaves; 0: unknown
  std::uint64_t planned_ = 0;  // stored bytes that target_ aims at; 0: none
  std::uint64_t margin_;       // share of the planned bytes, in units of 1/65536
};

}  // namespace cambium
