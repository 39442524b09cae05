#include "workloads/workload.h"

#include <algorithm>
#include <cmath>

namespace cambium::bench {

std::uint64_t Worker::RandomId() {
  const double range = phase.flags.read_random_exp_range;
  if (range == 0) return random.Uniform(phase.key_space);
  // As in db_bench: exponentially more of the first keys, which are then scattered by its factor.
  const double place = std::exp(-random.NextDouble() * range) * static_cast<double>(phase.key_space);
  return static_cast<std::uint64_t>(place) * 0x5bd1e995u % phase.key_space;
}

KeyShape KeyShapeOf(const BenchFlags& flags) {
  KeyShape shape(flags.key_size);
  shape.style = flags.key_style;
  shape.value_size = flags.value_size;
  shape.digits = flags.ycsb.zero_padding;
  if (flags.keys_per_prefix > 0) {
    shape.prefix_size = flags.prefix_size;
    shape.prefix_count = std::max<std::uint64_t>(1, flags.num / flags.keys_per_prefix);
  }
  return shape;
}

ValueSizes ValueSizesOf(const BenchFlags& flags) {
  if (flags.value_size_distribution_type == SizeDistribution::kFixed) return ValueSizes::Fixed(flags.value_size);
  return {flags.value_size_distribution_type, flags.value_size_min, flags.value_size_max};
}

std::size_t ValueRoomOf(const BenchFlags& flags) {
  std::size_t room = ValueSizesOf(flags).max;
  for (const std::string& name : flags.benchmarks) {
    const Workload* workload = FindWorkload(name);
    if (workload->value_room != nullptr) room = std::max<std::size_t>(room, workload->value_room(flags));
  }
  return room;
}

std::uint64_t KeyCapacityOf(const BenchFlags& flags) {
  std::uint64_t keys = flags.num;
  for (const std::string& name : flags.benchmarks) {
    const Workload* workload = FindWorkload(name);
    if (workload->new_keys != nullptr) keys += workload->new_keys(flags);
  }
  return keys;
}

const Workload* FindWorkload(const std::string& name) {
  for (const Workload& workload : Workloads()) {
    if (name == workload.name) return &workload;
  }
  return nullptr;
}

bool HasTransactions(const std::vector<std::string>& names) {
  return std::ranges::any_of(names, [](const std::string& name) {
    const Workload* const workload = FindWorkload(name);
    return workload != nullptr && workload->transacts;
  });
}

std::size_t FirstThatReads(const std::vector<std::string>& names) {
  std::size_t i = 0;
  while (i < names.size() && FindWorkload(names[i])->effect != Effect::kReads) ++i;
  return i;
}

}  // namespace cambium::bench
