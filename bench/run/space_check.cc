#include "run/space_check.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <unordered_map>

#include "data/key_set.h"
#include "data/source_files.h"
#include "trace/source.h"
#include "util/checksum.h"
#include "workloads/mixgraph/mixgraph.h"
#include "workloads/workload.h"
#include "workloads/ycsb/ycsb.h"

namespace cambium::bench {
namespace {

// Returns the mean bytes of a value that is a file below `dir`.
double MeanOfFiles(const std::string& dir) {
  SourceFiles list;
  if (!ListSourceFiles(dir, &list).ok()) return 0;
  return static_cast<double>(list.bytes) / static_cast<double>(list.taken.size()) + kValueHeaderSize;
}

// An assumption for workloads that --duration ends: few disks sustain more.
constexpr double kBytesPerSecond = 100e6;

// The bytes that the workloads of --benchmarks write.
struct Load {
  double live = 0;     // the most bytes of existing keys and values
  double written = 0;  // bytes written since the database was new
  double pinned = 0;   // of these, written while an iterator is held, so that no version can be dropped
};

// Returns what a replay writes, and its live bytes: for each key the largest value that the replay puts, or finds
// because it was loaded before. Keys that only scans pass are unknown.
Load LoadOfTrace(const std::string& path) {
  Load load;
  std::unique_ptr<TraceSource> source;
  if (!OpenTrace(path, &source).ok()) return load;    // reported as a wrong flag
  std::unordered_map<std::uint64_t, double> largest;  // by hash of the key
  TracedOp op;
  while (source->Next(&op).ok()) {
    const bool is_put = op.kind == TracedKind::kPut;
    if (!op.value_size.has_value() || !(is_put || op.IsLookup())) continue;
    const double bytes = static_cast<double>(op.key.size()) + static_cast<double>(*op.value_size);
    if (is_put) load.written += bytes;
    double& most = largest[Checksum64(op.key, op.family)];
    load.live += std::max(0.0, bytes - most);
    most = std::max(most, bytes);
  }
  return load;
}

double OperationsOf(const Workload& workload, const BenchFlags& flags) {
  const auto given_or_num = [&](std::int64_t given) {
    return given >= 0 ? static_cast<double>(given) : static_cast<double>(flags.num / workload.divisor);
  };
  const double threads = workload.shared ? 1 : flags.threads;
  const double puts = workload.transacts ? static_cast<double>(flags.transaction.keys) : 1;
  switch (workload.count) {
    case Count::kNum: return static_cast<double>(flags.num);
    case Count::kReads: return given_or_num(flags.reads) * threads * puts;
    case Count::kWrites: return given_or_num(flags.writes) * threads;
    case Count::kYcsb: return static_cast<double>(YcsbOperations(flags));
    case Count::kDeletes:
    case Count::kOne:
    case Count::kAll:
    case Count::kTrace: return 0;
  }
  return 0;
}

// Returns the bytes of an entry that the workload writes.
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

// Returns the largest load between one workload that begins with an empty database and the next.
Load LoadOf(const BenchFlags& flags, double value_mean) {
  const double plain = static_cast<double>(KeyShapeOf(flags).TypicalSize()) + value_mean;
  Load most{.live = static_cast<double>(flags.num) * plain, .written = static_cast<double>(flags.num) * plain};
  Load load;
  std::optional<Load> trace;  // read once
  for (const std::string& name : flags.benchmarks) {
    const Workload& workload = *FindWorkload(name);
    if (workload.fresh) load = Load();
    if (workload.count == Count::kTrace) {
      if (!trace.has_value()) trace = LoadOfTrace(flags.trace.file);
      load.live = std::max(load.live, trace->live);
      load.written += workload.fresh ? trace->live : trace->written;  // traceload loads what is found
    }
    const bool writes = workload.effect == Effect::kWrites || workload.mixes ||
                        (workload.beside != nullptr && !workload.beside_reads);
    if (!writes) continue;
    const double entry = EntryOf(workload, flags, value_mean);
    const double operations = OperationsOf(workload, flags);
    const bool timed = workload.random && flags.duration > 0;
    const double bytes = timed ? static_cast<double>(flags.duration) * kBytesPerSecond : operations * entry;
    const double new_keys = workload.new_keys == nullptr ? 0
                            : timed                      ? bytes / entry / 20
                                                         : static_cast<double>(workload.new_keys(flags));
    const auto keys = static_cast<double>(std::max<std::uint64_t>(1, flags.num / workload.divisor));
    load.written += bytes;
    if (workload.beside_reads) load.pinned += bytes;
    load.live = std::max(load.live, std::min(bytes, keys * entry)) + new_keys * entry;
    most.live = std::max(most.live, load.live);
    most.written = std::max(most.written, load.written);
    most.pinned = std::max(most.pinned, load.pinned);
  }
  return most;
}

// Returns whether the engine drops overwritten values, so that its size follows from the live bytes.
bool Collects(const std::string& engine, const BenchFlags& flags) {
  if (engine == "raw" || engine == "rocksdb_blob_nogc") return false;
  if (engine == "cambium") return flags.space.max_space_amplification > 0;
  const bool has_blobs = engine.starts_with("rocksdb") && engine.find("_blob") != std::string::npos;
  return !has_blobs || flags.space.enable_blob_garbage_collection;
}

// The largest size of an engine that collects is the sum of a multiple of the live bytes (rewrites in progress
// included), a multiple of the bytes written while an iterator is held, and a fixed part. Measured with this bench, and
// rounded up.
struct Bound {
  double live = 0;
  double pinned = 1;
  double fixed = 0;
};

Bound BoundOf(const std::string& engine, const BenchFlags& flags) {
  const double buffers = static_cast<double>(flags.write_buffer_size) * (flags.max_write_buffer_number + 1);
  if (engine == "cambium") return {.live = std::max(3.0, flags.space.max_space_amplification + 1.5)};
  if (engine == "lmdb") return {.live = 3, .pinned = 7};  // each commit copies the pages above what it changes
  if (engine == "wiredtiger") return {.live = 4, .fixed = 3 * 100e6};  // log files created ahead
  if (engine == "leveldb") return {.live = 4, .fixed = buffers};
  return {.live = 5.5, .fixed = buffers};  // RocksDB: level 0 and the levels that it is merged into, tables and blobs
}

double BytesOf(const std::string& engine, const BenchFlags& flags, const Load& load) {
  // An engine that does not collect holds everything written, and an index that it rewrites too.
  if (!Collects(engine, flags)) return load.written + load.live;
  const Bound bound = BoundOf(engine, flags);
  return bound.live * load.live + bound.pinned * load.pinned + bound.fixed;
}

// Saturates, if the sum does not fit into 64 bits.
std::uint64_t Whole(double bytes) { return bytes < 1.8e19 ? static_cast<std::uint64_t>(bytes) : ~std::uint64_t{0}; }

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
  return Whole(flags.db.empty() ? most : sum);
}

std::string ComplainOfMemory(const BenchFlags& flags, std::uint64_t memory_bytes) {
  const std::uint64_t keys = KeyCapacityOf(flags);
  const std::uint64_t needed = KeySet::BytesFor(keys, !ValueSizesOf(flags).fixed() || !flags.source.empty());
  if (memory_bytes == 0 || needed <= memory_bytes) return {};
  return "the bench's records of " + std::to_string(keys) + " keys take " + std::to_string(needed >> 20) +
         " MiB of memory, and the machine has " + std::to_string(memory_bytes >> 20) + " MiB" +
         (flags.experiment.empty() ? "" : " for " + flags.experiment) +
         "; use a smaller --num, or a shorter --duration for workloads that add keys";
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
         (flags.experiment.empty() ? "" : " for " + flags.experiment) +
         "; use a smaller --num or --scale, or another --db";
}

}  // namespace cambium::bench
