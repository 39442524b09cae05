#include "space_check.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "mixgraph/mixgraph.h"
#include "workload.h"

namespace cambium::bench {
namespace {

// Bytes of a value that is a file below `dir`, on average.
double MeanOfFiles(const std::string& dir) {
  std::error_code error;
  double bytes = 0;
  double count = 0;
  std::filesystem::recursive_directory_iterator entries(dir, error);
  for (; !error && entries != std::filesystem::recursive_directory_iterator(); entries.increment(error)) {
    std::error_code ignored;
    if (entries->symlink_status(ignored).type() != std::filesystem::file_type::regular) continue;
    bytes += static_cast<double>(entries->file_size(ignored));
    ++count;
  }
  return count == 0 ? 0 : bytes / count + kValueHeaderSize;
}

// Where time ends a workload, nobody knows how much it writes; few disks take more for long.
constexpr double kBytesPerSecond = 100e6;

// What a list of workloads comes to.
struct Load {
  double live = 0;     // bytes of keys and values, at the most
  double written = 0;  // the same, overwritten ones too, since the database was new
};

double OperationsOf(const Workload& workload, const BenchFlags& flags) {
  const auto given_or_num = [&](std::int64_t given) {
    return given >= 0 ? static_cast<double>(given) : static_cast<double>(flags.num / workload.divisor);
  };
  const double threads = workload.shared ? 1 : flags.threads;
  switch (workload.count) {
    case Count::kNum: return static_cast<double>(flags.num);
    case Count::kReads: return given_or_num(flags.reads) * threads;
    case Count::kWrites: return given_or_num(flags.writes) * threads;
    case Count::kYcsb: return static_cast<double>(flags.ycsb.operation_count > 0 ? flags.ycsb.operation_count : flags.num);
    case Count::kDeletes:
    case Count::kOne:
    case Count::kAll:
    case Count::kTrace: return 0;
  }
  return 0;
}

// Of an entry that the workload writes.
double EntryOf(const Workload& workload, const BenchFlags& flags, double value_mean) {
  const auto key = static_cast<double>(KeyShapeOf(flags).TypicalSize());
  if (workload.value_room == nullptr) return key + value_mean;
  const auto room = static_cast<double>(workload.value_room(flags));
  if (workload.run == RunMixgraph) {
    const MixgraphFlags& m = flags.mixgraph;
    return key + (m.value_k < 1 ? std::min(room, m.value_theta + m.value_sigma / (1 - m.value_k)) : room);
  }
  if (workload.run == AppendRandom) {
    const double appends = OperationsOf(workload, flags) / static_cast<double>(flags.num);
    return key + value_mean + std::min(room, appends * static_cast<double>(flags.value_size));
  }
  return key + room;
}

// The largest that a database becomes from one workload that begins with an empty one to the next.
Load LoadOf(const BenchFlags& flags, double value_mean) {
  const double plain = static_cast<double>(KeyShapeOf(flags).TypicalSize()) + value_mean;
  Load most{.live = static_cast<double>(flags.num) * plain, .written = static_cast<double>(flags.num) * plain};
  Load load;
  for (const std::string& name : flags.benchmarks) {
    const Workload& workload = *FindWorkload(name);
    if (workload.fresh) load = Load();
    const bool writes = workload.effect == Effect::kWrites || workload.mixes ||
                        (workload.beside != nullptr && !workload.beside_reads);
    if (!writes) continue;
    const double entry = EntryOf(workload, flags, value_mean);
    const double operations = OperationsOf(workload, flags);
    const bool timed = workload.random && flags.duration > 0;
    const double bytes = timed ? static_cast<double>(flags.duration) * kBytesPerSecond : operations * entry;
    const double new_keys = workload.new_keys == nullptr ? 0 : timed ? bytes / entry / 20 : static_cast<double>(workload.new_keys(flags));
    const auto keys = static_cast<double>(std::max<std::uint64_t>(1, flags.num / workload.divisor));
    load.written += bytes;
    load.live = std::max(load.live, std::min(bytes, keys * entry)) + new_keys * entry;
    most.live = std::max(most.live, load.live);
    most.written = std::max(most.written, load.written);
  }
  return most;
}

// Whether the engine gets rid of values that were overwritten, so that what is alive says how large it becomes.
bool Collects(const std::string& engine, const BenchFlags& flags) {
  if (engine == "raw" || engine == "rocksdb_blob_nogc") return false;
  if (engine == "cambium") return flags.space.max_space_amplification > 0;
  return engine != "rocksdb_blob" || flags.space.enable_blob_garbage_collection;
}

double BytesOf(const std::string& engine, const BenchFlags& flags, const Load& load) {
  // A store holds what was overwritten, or what it is just rewriting, beside what is alive; one that collects nothing
  // all that was written, and its index, which it rewrites too.
  if (!Collects(engine, flags)) return load.written + load.live;
  const double ceiling = engine == "cambium" ? flags.space.max_space_amplification + 1.5 : engine == "rocksdb_blob" ? 4 : 3;
  return std::max(3.0, ceiling) * load.live;
}

}  // namespace

std::uint64_t SpaceNeeded(const BenchFlags& flags) {
  const Load load = LoadOf(flags, flags.source.empty() ? ValueSizesOf(flags).Mean() : MeanOfFiles(flags.source));
  double most = 0;
  double sum = 0;
  for (const std::string& engine : flags.engines) {
    const double bytes = BytesOf(engine, flags, load);
    most = std::max(most, bytes);
    sum += bytes * (engine == "cambium" && flags.index == "both" ? 2 : 1);
  }
  return static_cast<std::uint64_t>(flags.db.empty() ? most : sum);
}

std::string ComplainOfSpace(const BenchFlags& flags, const std::string& directory) {
  if (flags.use_existing_db) return {};
  std::error_code error;
  const std::filesystem::space_info space = std::filesystem::space(directory, error);
  if (error) return directory + ": " + error.message();
  const std::uint64_t needed = SpaceNeeded(flags);
  if (space.available >= needed) return {};
  return directory + " has " + std::to_string(space.available >> 20) + " MiB free, and up to " +
         std::to_string(needed >> 20) + " MiB may be needed" +
         (flags.experiment.empty() ? "" : " for " + flags.experiment) + "; a smaller --num or --scale, or another --db";
}

}  // namespace cambium::bench
