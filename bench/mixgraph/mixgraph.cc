#include "mixgraph/mixgraph.h"

#include <cmath>
#include <mutex>

#include "mixgraph/model.h"
#include "mixgraph/sine_rate.h"
#include "pacer.h"
#include "workloads/mixed.h"

namespace cambium::bench {
namespace {

constexpr std::uint64_t kAskEvery = 100;  // operations; db_bench's

// Keeps reads, and writes, at their parts of the rate of the moment.
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
  std::unique_ptr<SinePacers> pacers;  // null: as fast as it goes
};

}  // namespace

std::string ComplainOfMixgraph(const BenchFlags& flags) {
  const MixgraphFlags& f = flags.mixgraph;
  if (f.mix_get_ratio + f.mix_put_ratio + f.mix_seek_ratio <= 0) {
    return "one of --mix_get_ratio, --mix_put_ratio, --mix_seek_ratio must be above 0";
  }
  if (f.keyrange_num > flags.num) return "--keyrange_num is larger than --num: ranges have no keys";
  if (f.value_sigma <= 0 || f.iter_sigma <= 0) return "--value_sigma and --iter_sigma must be above 0";
  const double first = f.keyrange_dist_a * std::exp(f.keyrange_dist_b) + f.keyrange_dist_c * std::exp(f.keyrange_dist_d);
  const auto n = static_cast<double>(f.keyrange_num);
  const double last = f.keyrange_dist_a * std::exp(f.keyrange_dist_b * n) + f.keyrange_dist_c * std::exp(f.keyrange_dist_d * n);
  if (!(first >= 0 && first < 1e100 && last >= 0 && last < 1e100)) {
    return "--keyrange_dist_a to _d give weights below 0, or beyond all measure";
  }
  return {};
}

std::uint64_t ValueRoomOfMixgraph(const BenchFlags& flags) { return std::max<std::uint64_t>(10, flags.mixgraph.mix_max_value_size); }

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
