// Program: a database configuration and a list of operations, both drawn from a seed. The same seed gives the same
// program on every machine. A failing program is printed line by line, after Shrink has removed the operations that do
// not matter.
//
// Swarm testing (Groce et al., 2012): a program has each feature with a probability of one half, since bugs hide where
// some features are absent. Sizes are as small as options allow, so that few operations reach a boundary.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cambium/options.h"
#include "io/sim/sim_file_system.h"
#include "testing/program/rule_filter.h"
#include "testing/program/value_maker.h"
#include "util/prng.h"

namespace cambium::testing {

// The options that matter for correctness.
struct Config {
  const Comparator* comparator = BytewiseComparator();
  std::uint64_t page_size = 512;
  std::size_t page_cache_size = 1u << 20;
  std::size_t db_write_buffer_size = 0;
  int filter_bits_per_key = 10;
  int sweep_ratio = 8;
  std::size_t write_buffer_size = 4u << 10;
  int max_write_buffer_number = 2;
  bool varies_buffers = false;  // half of the Opens have the smallest write buffer, so that recovery has to flush
  std::uint64_t max_total_wal_size = 64u << 10;
  bool enable_blob_files = true;
  std::uint64_t min_blob_size = 64;
  std::uint64_t blob_file_size = 16u << 10;
  std::uint64_t large_value_size = 4u << 10;
  CompressionType compression = CompressionType::kNoCompression;
  bool allow_mmap_reads = false;
  int max_open_files = -1;
  bool log_gc = true;
  double gc_age_cutoff = 0.25;
  double gc_force_threshold = 1;
  double max_space_amplification = 0;
  std::uint64_t min_space_limit = 0;
  std::uint64_t min_punch_size = 0;
  ValueClustering value_clustering = ValueClustering::kOff;
  bool block_values = false;  // values fill whole blocks of the file system, so that they can be punched
  bool statistics = false;
  bool listeners = false;
  std::uint64_t rate = 0;  // bytes per second of background work; 0: no limit
  std::shared_ptr<const RuleFilter> filter;  // null: none; must outlive the database
  bool filter_by_factory = false;
  std::uint32_t filter_lives = ~0u;  // bit i: the database has the filter after its i-th Open, counted modulo 32
  bool shuffle_tasks = false;  // background tasks run in random order, not by priority
  // Features of the simulated file system, and the order in which it delivers queued reads.
  bool maps = true;
  bool residency = true;
  bool shuffle_reads = false;

  void ApplyTo(Options* options) const;
  void ApplyTo(SimOptions* options) const;
  [[nodiscard]] std::string ToString() const;
};

enum class Durability : std::uint8_t { kNone, kSync, kDisableWal };

struct Mutation {
  std::string key;
  bool is_delete = false;
  std::uint32_t size = 0;  // of the value
  bool compressible = false;
  bool is_range = false;  // deletes [key, range_end), which is not empty
  std::string range_end = {};
};

struct IteratorStep {
  enum class Kind : std::uint8_t { kSeek, kSeekForPrev, kFirst, kLast, kNext, kPrev };
  Kind kind = Kind::kFirst;
  std::string target;
};

struct Operation {
  enum class Verb : std::uint8_t {
    kWrite,            // mutations, as one batch
    kSyncWal,
    kFlush,            // `flag`: waits
    kCompact,          // bounds: lower, upper; `slot`: the log GC policy
    kGet,              // keys
    kMultiGet,         // keys
    kIterate,          // steps through the iterator in `slot`; a new one if `fresh`
    kTakeSnapshot,     // into `slot`
    kReleaseSnapshot,  // of `slot`
    kReadDurable,      // reads everything with ReadOptions::durable_only
    kReopen,
    kBackground,       // runs `count` tasks
  };
  Verb verb = Verb::kWrite;
  std::uint64_t id = 0;
  std::vector<Mutation> mutations;
  Durability durability = Durability::kNone;
  std::vector<std::string> keys;
  std::vector<IteratorStep> steps;
  std::optional<std::string> lower;
  std::optional<std::string> upper;
  bool flag = false;          // kFlush: wait; kIterate: keys only; kReopen: Close first
  bool fresh = false;         // kIterate
  bool at_snapshot = false;   // kGet, kMultiGet, a fresh kIterate: at the snapshot in `slot`
  std::size_t slot = 0;
  std::uint64_t count = 0;

  [[nodiscard]] ValueSpec SpecOf(std::size_t index) const {
    return {id, static_cast<std::uint32_t>(index), mutations[index].size, mutations[index].compressible};
  }
  [[nodiscard]] std::string ToString() const;
};

inline constexpr std::size_t kSnapshotSlots = 3;
inline constexpr std::size_t kIteratorSlots = 2;

struct Program {
  std::uint64_t seed = 0;
  Config config;
  std::vector<std::string> universe;  // every key that may be written
  std::size_t hot_keys = 0;           // this many, the first ones, are written again and again
  std::vector<Operation> operations;
  [[nodiscard]] std::string ToString() const;
};

// Which programs to draw.
struct ProgramShape {
  std::size_t operations = 200;
  std::uint32_t value_size_max = 64u << 10;
  std::size_t batch_size_max = 50;
  std::size_t key_count_max = 60;
  bool reads = true;       // gets, iterators, snapshots
  bool reopen = true;
  bool long_keys = true;
  bool range_deletes = true;
  bool filters = true;
  bool given_keys = false;  // all keys have 8 bytes, under the comparator GivenKeys
  // One in this many programs first loads a few hundred keys. Then flushes are not cheap enough to merge directly into
  // the tree, so there are runs and sweeps.
  std::uint64_t bulk_one_in = 4;
};

[[nodiscard]] Config DrawConfig(Prng& prng);
[[nodiscard]] Program DrawProgram(std::uint64_t seed, const ProgramShape& shape);
// Draws more operations for the database of `program`, with ids from `first_id` on.
[[nodiscard]] std::vector<Operation> DrawOperations(const Program& program, Prng& prng, const ProgramShape& shape,
                                                    std::uint64_t first_id);

// Returns bytes as a C string literal, with long runs of one byte shortened.
[[nodiscard]] std::string Quote(Slice bytes);

}  // namespace cambium::testing
