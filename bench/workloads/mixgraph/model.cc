#include "workloads/mixgraph/model.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "data/mix.h"

namespace cambium::bench {
namespace {

constexpr std::uint64_t kValueSizeMin = 10;  // db_bench's

// db_bench's thresholds are sums of these numbers.
std::uint64_t Thousandths(double ratio, double sum) { return static_cast<std::uint64_t>(std::ceil(1000 * ratio / sum)); }

bool HasRanges(const MixgraphFlags& f) {
  return f.keyrange_dist_a != 0 || f.keyrange_dist_b != 0 || f.keyrange_dist_c != 0 || f.keyrange_dist_d != 0;
}

}  // namespace

MixgraphModel::MixgraphModel(const MixgraphFlags& flags, std::uint64_t num)
    : flags_(flags),
      num_(num),
      mode_(ModeOf(flags)),
      range_size_(std::max<std::uint64_t>(1, num / std::max<std::uint64_t>(1, flags.keyrange_num))),
      ranges_(flags),
      value_{flags.value_theta, flags.value_k, flags.value_sigma},
      scan_{flags.iter_theta, flags.iter_k, flags.iter_sigma} {
}

KeyMode MixgraphModel::ModeOf(const MixgraphFlags& flags) {
  const bool has_power = flags.key_dist_a != 0 && flags.key_dist_b != 0;
  if (HasRanges(flags) && (has_power || !flags.mixgraph_compat)) return KeyMode::kRanges;
  return has_power ? KeyMode::kPower : KeyMode::kRandom;
}

// Inverts y = a x^b, the share of all accesses that the x warmest keys get, and scatters the result, so that warm keys
// are not neighbours.
std::uint64_t MixgraphModel::Scatter(double u, std::uint64_t n) const {
  const double warmth = std::ceil(std::pow(u / flags_.key_dist_a, 1 / flags_.key_dist_b));
  const auto seed = warmth >= 0x1p63 ? std::uint64_t{1} << 63 : static_cast<std::uint64_t>(warmth);
  return (flags_.mixgraph_compat ? std::mt19937_64(seed)() : Mix(seed)) % n;
}

std::uint64_t MixgraphModel::Id(std::uint64_t r, Prng* random) const {
  const bool compatible = flags_.mixgraph_compat;
  if (mode_ == KeyMode::kRandom) return r;
  const auto size = static_cast<double>(mode_ == KeyMode::kPower ? num_ : range_size_);
  if (mode_ == KeyMode::kPower) {
    return Scatter(compatible ? static_cast<double>(r) / size : random->NextDouble(), num_);
  }
  const std::uint64_t range = compatible ? ranges_.Compatible(r) : ranges_.Exact(random->NextDouble());
  const std::uint64_t place = compatible ? r % range_size_ : random->Uniform(range_size_);
  const bool scattered = flags_.key_dist_a != 0 && flags_.key_dist_b != 0;
  const std::uint64_t offset = scattered ? Scatter(static_cast<double>(place) / size, range_size_) : place;
  return (range_size_ * range + offset) % num_;
}

double MixgraphModel::PercentOf(MixKind kind) const {
  const double sum = flags_.mix_get_ratio + flags_.mix_put_ratio + flags_.mix_seek_ratio;
  const double ratio = kind == MixKind::kGet   ? flags_.mix_get_ratio
                       : kind == MixKind::kPut ? flags_.mix_put_ratio
                                               : flags_.mix_seek_ratio;
  return ratio / sum * 100;
}

MixKind MixgraphModel::Kind(std::uint64_t r, Prng* random) const {
  const double sum = flags_.mix_get_ratio + flags_.mix_put_ratio + flags_.mix_seek_ratio;
  if (!flags_.mixgraph_compat) {
    const double place = random->NextDouble() * sum;
    return place < flags_.mix_get_ratio                          ? MixKind::kGet
           : place < flags_.mix_get_ratio + flags_.mix_put_ratio ? MixKind::kPut
                                                                 : MixKind::kSeek;
  }
  const std::uint64_t get = Thousandths(flags_.mix_get_ratio, sum);
  const std::uint64_t put = get + Thousandths(flags_.mix_put_ratio, sum);
  const std::uint64_t all = put + Thousandths(flags_.mix_seek_ratio, sum);
  const std::uint64_t place = r % all;
  return place < get ? MixKind::kGet : place < put ? MixKind::kPut : MixKind::kSeek;
}

// As db_bench: smaller sizes become ten bytes, larger ones the remainder of a division by the limit.
std::uint64_t MixgraphModel::ValueSize(double u) const {
  const std::uint64_t size = value_.AtSurvival(u);
  if (size < kValueSizeMin) return kValueSizeMin;
  const std::uint64_t limit = flags_.ValueSizeLimit();
  return size > limit ? size % limit : size;
}

MixOperation MixgraphModel::Draw(std::uint64_t r, Prng* random) const {
  MixOperation operation{.kind = Kind(r, random), .id = Id(r, random)};
  if (operation.kind == MixKind::kGet) return operation;
  // In (0, 1].
  const double u = flags_.mixgraph_compat ? std::max(static_cast<double>(r), 1.0) / static_cast<double>(num_)
                                          : 1 - random->NextDouble();
  if (operation.kind == MixKind::kPut) operation.value_size = ValueSize(u);
  if (operation.kind == MixKind::kSeek) operation.scan_length = scan_.AtSurvival(u) % flags_.mix_max_scan_len;
  return operation;
}

}  // namespace cambium::bench
