// BlockSizer: how many bytes the next leaf of a compressed run takes in, so that what the codec makes of it ends just
// below a whole number of units.
//
// Pages lie at multiples of the unit. Leaves closed at a fixed size would waste half a unit each, a quarter of what
// 16 KiB compress to with units of 4 KiB. Instead the ratio of the leaves before tells how much fills n units; n is
// chosen so that leaves stay near the size that was asked for.
//
//   raw     |<------------- target ------------->|
//   stored  |<----- unit ----->|<----- unit --->.|     . is the margin: a leaf that shrinks less than the ones before
//                                                      it needs a unit more, and the margin then grows
#pragma once

#include <cstddef>
#include <cstdint>

namespace cambium {

// One thread. Depends on nothing but what it was told, so that the same entries make the same file.
class BlockSizer {
 public:
  // block_size >= unit.
  BlockSizer(std::size_t block_size, std::uint32_t unit);

  // Bytes of the next leaf before compression: between half and twice the block size.
  [[nodiscard]] std::size_t target() const { return target_; }

  // A leaf of `raw` bytes became `stored` bytes, the zeros at its end not counted; stored >= raw: it is stored raw.
  void Observe(std::size_t raw, std::size_t stored);

 private:
  const std::size_t block_size_;
  const std::uint32_t unit_;
  std::size_t target_;
  std::uint64_t ratio_ = 0;   // stored per raw, in 1/65536: a mean in which the last leaf counts most; 0: not known
  std::uint64_t planned_ = 0;  // stored bytes that target_ was meant to fill; 0: none
  std::uint64_t margin_;      // in 1/65536
};

}  // namespace cambium
