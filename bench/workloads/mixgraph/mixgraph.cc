#include "workloads/mixgraph/mixgraph.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <utility>

#include "meter/pacer.h"
#include "workloads/mixed.h"
#include "workloads/mixgraph/model.h"
#include "workloads/mixgraph/sine_rate.h"

namespace cambium::bench {
namespace {

constexpr std::uint64_t kAskEvery = 100;  // operations; db_bench's

constexpr double kNumberMax = 1e15;
constexpr std::uint64_t kRangesMax = 1'000'000;
constexpr double kWeightsMax = 900;  // limit of their sum; each is 0 or at least 1e-16

// Limits reads and writes to their shares of the current rate.
class SinePacers {
 public:
  SinePacers(const MixgraphFlags& flags, double read_part, std::uint64_t seed)
      : flags_(flags), read_part_(read_part), random_(seed), begin_(NowNanos()) {}

  void Take(bool reads, const std::atomic<bool>& stop) {
    const std::uint64_t millis = (NowNanos() - begin_) / 1'000'000;
    {
      const std::lock_guard lock(mutex_);
      if (millis >= next_millis_) {
        next_millis_ = millis + flags_.sine_mix_rate_interval_milliseconds;
        const double rate = SineRate(flags_, static_cast<double>(millis) * 1e-3, &random_);
        reads_.SetRate(rate * read_part_);
        writes_.SetRate(rate * (1 - read_part_));
      }
    }
    (reads ? reads_ : writes_).Take(kAskEvery, stop);
  }

 private:
  const MixgraphFlags& flags_;
  const double read_part_;
  std::mutex mutex_;  // guards random_ and next_millis_
  Prng random_;
  std::uint64_t next_millis_ = 0;
  const std::uint64_t begin_;
  Pacer reads_{1};
  Pacer writes_{1};
};

struct MixgraphState : SharedState {
  explicit MixgraphState(const Phase& phase) : model(phase.flags.mixgraph, phase.key_space) {
    if (!phase.flags.mixgraph.sine_mix_rate) return;
    const double reads = (model.PercentOf(MixKind::kGet) + model.PercentOf(MixKind::kSeek)) / 100;
    pacers = std::make_unique<SinePacers>(phase.flags.mixgraph, reads, phase.seed);
  }
  const MixgraphModel model;
  std::unique_ptr<SinePacers> pacers;  // null: no limit
};

// The parser of options accepts "nan" and "1e300" as numbers.
std::string ComplainOfNumbers(const MixgraphFlags& f) {
  const std::pair<const char*, double> kNumbers[] = {
      {"--mix_get_ratio", f.mix_get_ratio},     {"--mix_put_ratio", f.mix_put_ratio},
      {"--mix_seek_ratio", f.mix_seek_ratio},   {"--keyrange_dist_a", f.keyrange_dist_a},
      {"--keyrange_dist_b", f.keyrange_dist_b}, {"--keyrange_dist_c", f.keyrange_dist_c},
      {"--keyrange_dist_d", f.keyrange_dist_d}, {"--key_dist_a", f.key_dist_a},
      {"--key_dist_b", f.key_dist_b},           {"--value_theta", f.value_theta},
      {"--value_k", f.value_k},                 {"--value_sigma", f.value_sigma},
      {"--iter_theta", f.iter_theta},           {"--iter_k", f.iter_k},
      {"--iter_sigma", f.iter_sigma},           {"--sine_a", f.sine_a},
      {"--sine_b", f.sine_b},                   {"--sine_c", f.sine_c},
      {"--sine_d", f.sine_d},                   {"--sine_mix_rate_noise", f.sine_mix_rate_noise},
  };
  for (const auto& [name, number] : kNumbers) {
    if (!(std::abs(number) <= kNumberMax)) return std::string(name) + " is too large, or no number";
  }
  return {};
}

// db_bench's integer shares of the weights must fit into 64 bits.
std::string ComplainOfRanges(const MixgraphFlags& f, std::uint64_t num) {
  if (f.keyrange_num > num) return "--keyrange_num is larger than --num: some ranges would have no keys";
  if (f.keyrange_num > kRangesMax) return "--keyrange_num is more than " + std::to_string(kRangesMax);
  const auto n = static_cast<double>(std::max<std::uint64_t>(1, f.keyrange_num));
  // Between the first and the last range, two exponentials have no negative weight and none above both ends.
  for (const double x : {1.0, n}) {
    const double weight = f.keyrange_dist_a * std::exp(f.keyrange_dist_b * x) + f.keyrange_dist_c * std::exp(f.keyrange_dist_d * x);
    if (!(weight >= 0 && weight * n <= kWeightsMax))
      return "--keyrange_dist_a to _d give weights that are negative or too large";
  }
  return {};
}

}  // namespace

std::string ComplainOfMixgraph(const BenchFlags& flags) {
  const MixgraphFlags& f = flags.mixgraph;
  if (const std::string what = ComplainOfNumbers(f); !what.empty()) return what;
  if (f.mix_get_ratio < 0 || f.mix_put_ratio < 0 || f.mix_seek_ratio < 0 ||
      f.mix_get_ratio + f.mix_put_ratio + f.mix_seek_ratio <= 0) {
    return "--mix_get_ratio, --mix_put_ratio, --mix_seek_ratio must not be below 0, and one must be above";
  }
  if (f.mix_max_scan_len == 0 || f.mix_max_value_size == 0) {
    return "--mix_max_scan_len and --mix_max_value_size must be above 0";
  }
  if (f.value_sigma <= 0 || f.iter_sigma <= 0) return "--value_sigma and --iter_sigma must be above 0";
  if (f.key_dist_a < 0 || f.key_dist_b < 0) return "--key_dist_a and --key_dist_b must not be below 0";
  if (f.sine_mix_rate_noise < 0 || f.sine_mix_rate_noise > 1) return "--sine_mix_rate_noise must be from 0 to 1";
  if (flags.read_random_exp_range > 0 && !f.mixgraph_compat && MixgraphModel::ModeOf(f) != KeyMode::kRandom) {
    return "--read_random_exp_range, --key_dist_a and --keyrange_dist_a each choose the warm keys: to combine them "
           "as db_bench does, use --mixgraph_compat";
  }
  return ComplainOfRanges(f, flags.num);
}

std::uint64_t ValueRoomOfMixgraph(const BenchFlags& flags) { return std::max<std::uint64_t>(10, flags.mixgraph.ValueSizeLimit()); }

std::shared_ptr<const SharedState> PrepareMixgraph(const Phase& phase) { return std::make_shared<MixgraphState>(phase); }

void RunMixgraph(Worker* w) {
  const auto& state = static_cast<const MixgraphState&>(*w->phase.state);
  MixedOps ops(w);
  std::uint64_t counts[2] = {0, 0};  // of writes, of reads
  w->meter.Begin();
  while (w->meter.More() && w->status.ok()) {
    const MixOperation operation = state.model.Draw(w->RandomId(), &w->random);
    const bool reads = operation.kind != MixKind::kPut;
    if (state.pacers != nullptr && ++counts[reads ? 1 : 0] % kAskEvery == 0) {
      state.pacers->Take(reads, w->meter.stop());
      w->meter.Resume();
    }
    std::uint64_t bytes = 0;
    switch (operation.kind) {
      case MixKind::kGet: bytes = ops.Get(operation.id); break;
      case MixKind::kPut: bytes = ops.PutSized(operation.id, operation.value_size); break;
      case MixKind::kSeek: bytes = ops.Scan(operation.id, operation.scan_length); break;
    }
    w->meter.Finish(1, bytes);
  }
}

}  // namespace cambium::bench
