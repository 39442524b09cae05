#include "index/block_sizer.h"

#include <algorithm>
#include <cassert>

namespace cambium {
namespace {

constexpr std::uint64_t kOne = 65536;
// For a leaf of two or three units, an extra unit costs far more than the margin. So one overrun raises the margin by
// as much as 32 leaves without an overrun lower it. Then about one leaf in thirty needs an extra unit.
constexpr std::uint64_t kMarginStart = kOne / 50;
constexpr std::uint64_t kMarginMax = kOne / 8;
constexpr std::uint64_t kMarginUp = kOne / 200;
constexpr std::uint64_t kMarginDown = kMarginUp / 32;

}  // namespace

BlockSizer::BlockSizer(std::size_t block_size, std::uint32_t unit)
    : block_size_(block_size), unit_(unit), target_(block_size), margin_(kMarginStart) {
  assert(block_size >= unit);
}

void BlockSizer::Observe(std::size_t raw, std::size_t stored) {
  assert(raw > 0);
  if (stored >= raw) {
    target_ = block_size_ / unit_ * unit_;
    ratio_ = 0;
    planned_ = 0;
    return;
  }
  if (planned_ > 0) {
    margin_ = stored > planned_ ? std::min(margin_ + kMarginUp, kMarginMax)
                                : margin_ - std::min(margin_, kMarginDown);
  }
  const std::uint64_t ratio = std::max<std::uint64_t>(1, stored * kOne / raw);
  ratio_ = ratio_ == 0 ? ratio : (3 * ratio_ + ratio) / 4;
  ratio_ = std::max<std::uint64_t>(1, ratio_);
  const std::uint64_t expected = block_size_ * ratio_ / kOne;
  const std::uint64_t units = std::max<std::uint64_t>(1, (expected + unit_ / 2) / unit_);
  planned_ = units * unit_;
  target_ = std::clamp<std::size_t>(planned_ * (kOne - margin_) / ratio_, block_size_ / 2, block_size_ * 2);
}

}  // namespace cambium
