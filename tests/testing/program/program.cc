#include "testing/program/program.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <set>

#include "cambium/rate_limiter.h"
#include "cambium/statistics.h"
#include "testing/given_keys.h"
#include "testing/test_comparators.h"

namespace cambium::testing {
namespace {

// The features that a program has.
struct Swarm {
  bool deletes;
  bool batches;
  bool sync;
  bool disable_wal;
  bool sync_wal;
  bool flush;
  bool compact;
  bool snapshots;
  bool iterators;
  bool reopen;
  bool background;
  bool blobs;
  bool large;
  bool compressible;

  explicit Swarm(Prng& prng)
      : deletes(prng.OneIn(2)),
        batches(prng.OneIn(2)),
        sync(prng.OneIn(2)),
        disable_wal(prng.OneIn(2)),
        sync_wal(prng.OneIn(2)),
        flush(prng.OneIn(2)),
        compact(prng.OneIn(2)),
        snapshots(prng.OneIn(2)),
        iterators(prng.OneIn(2)),
        reopen(prng.OneIn(2)),
        background(prng.OneIn(2)),
        blobs(prng.OneIn(2)),
        large(prng.OneIn(2)),
        compressible(prng.OneIn(2)) {}
};

std::string FixedKey(std::uint64_t n) {
  char key[GivenKeys::kWidth + 1];
  std::snprintf(key, sizeof(key), "%08llu", static_cast<unsigned long long>(n % 100'000'000));
  return key;
}

std::string DrawKey(Prng& prng, const ProgramShape& shape, std::uint64_t page_size) {
  if (shape.given_keys) return FixedKey(prng.OneIn(2) ? prng.Uniform(100) : prng.Uniform(100'000'000));
  static const std::array<std::string, 5> kPrefixes = {"", "user/", "a long prefix that many keys have in common/", "User/",
                                                       std::string("\0\xff", 2)};
  std::string key = kPrefixes[prng.Uniform(kPrefixes.size())];
  switch (prng.Uniform(8)) {
    case 0: return key;  // the prefix itself, which may be the empty key
    case 1: return key + prng.Bytes(prng.Between(1, 3));
    case 2: return key + std::string(prng.Between(1, 9), prng.OneIn(2) ? '\0' : '\xff');
    case 3:
      if (shape.long_keys && prng.OneIn(3)) {
        return key + std::string(prng.Between(200, 2 * page_size), 'k') + std::to_string(prng.Uniform(4));
      }
      [[fallthrough]];
    case 4: return key + std::string(1, static_cast<char>((prng.OneIn(2) ? 'A' : 'a') + prng.Uniform(4)));
    default: return key + std::to_string(prng.Uniform(100));
  }
}

class Drawer {
 public:
  Drawer(const Program& program, Prng& prng, const ProgramShape& shape)
      : program_(program), prng_(prng), shape_(shape), swarm_(prng) {}

  std::vector<Operation> Draw(std::uint64_t first_id) {
    std::vector<Operation> operations;
    range_prng_ = Prng(program_.seed ^ (first_id * 0x9e3779b97f4a7c15u));
    ranges_ = shape_.range_deletes && range_prng_.OneIn(2);
    for (std::size_t i = 0; i < shape_.operations; ++i) {
      operations.push_back(DrawOperation());
      operations.back().id = first_id + i;
    }
    return operations;
  }

 private:
  const std::string& Key() {
    const bool hot = !prng_.OneIn(3);
    return program_.universe[prng_.Uniform(hot ? program_.hot_keys : program_.universe.size())];
  }
  // Usually returns a key that may exist, sometimes a neighbour of one or any other key.
  std::string Target() {
    std::string key = Key();
    if (shape_.given_keys) {
      return prng_.OneIn(4) ? FixedKey(std::stoull(key.substr(1)) + prng_.Uniform(3) - 1 + 100'000'000) : key;
    }
    switch (prng_.Uniform(8)) {
      case 0: key += '\0'; break;
      case 1:
        if (!key.empty()) key.pop_back();
        break;
      case 2: return DrawKey(prng_, shape_, program_.config.page_size);
      default: break;
    }
    return key;
  }

  std::uint32_t ValueSize() {
    const Config& config = program_.config;
    std::uint64_t size = 0;
    switch (prng_.Uniform(8)) {
      case 0: size = prng_.OneIn(3) ? 0 : prng_.Between(1, 16); break;
      case 1:
      case 2: size = config.min_blob_size + prng_.Uniform(3) - std::min<std::uint64_t>(1, config.min_blob_size); break;
      case 3: size = config.page_size / 4 + prng_.Uniform(3) - 1; break;
      case 4:
        if (swarm_.large) {
          size = config.large_value_size + prng_.Uniform(3) - 1;
          break;
        }
        [[fallthrough]];
      case 5:
        if (swarm_.blobs) {
          size = prng_.Between(config.min_blob_size, 4 * config.min_blob_size + 1000);
          break;
        }
        [[fallthrough]];
      default: size = prng_.Between(8, 60); break;
    }
    if (config.block_values && size > 0) size = config.large_value_size - 64 - size % 512;
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(size, shape_.value_size_max));
  }

  Mutation DrawMutation() {
    Mutation mutation;
    mutation.key = Key();
    mutation.is_delete = swarm_.deletes && prng_.OneIn(4);
    if (!mutation.is_delete) {
      mutation.size = ValueSize();
      mutation.compressible = swarm_.compressible && prng_.OneIn(2);
    }
    if (ranges_ && range_prng_.OneIn(8)) MakeRange(&mutation);
    return mutation;
  }

  // The range is between two keys of the universe, or from one key to just after it.
  void MakeRange(Mutation* mutation) {
    const auto any_key = [this] { return program_.universe[range_prng_.Uniform(program_.universe.size())]; };
    std::string begin = any_key();
    std::string end = range_prng_.OneIn(3) && !shape_.given_keys ? begin + "0" : any_key();
    const int order = program_.config.comparator->Compare(begin, end);
    if (order == 0) return;
    if (order > 0) std::swap(begin, end);
    *mutation = Mutation{begin, false, 0, false, true, end};
  }

  void DrawWrite(Operation* op) {
    op->verb = Operation::Verb::kWrite;
    const std::size_t count = swarm_.batches && prng_.OneIn(4) ? prng_.Between(1, shape_.batch_size_max) : 1;
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < count && bytes < 4 * shape_.value_size_max; ++i) {
      op->mutations.push_back(DrawMutation());
      bytes += op->mutations.back().size;
    }
    if (swarm_.sync && prng_.OneIn(4)) {
      op->durability = Durability::kSync;
    } else if (swarm_.disable_wal && prng_.OneIn(4)) {
      op->durability = Durability::kDisableWal;
    }
  }

  void DrawIterate(Operation* op) {
    op->verb = Operation::Verb::kIterate;
    op->slot = prng_.Uniform(kIteratorSlots);
    op->fresh = !prng_.OneIn(4);
    op->flag = prng_.OneIn(4);
    op->at_snapshot = swarm_.snapshots && prng_.OneIn(2);
    if (prng_.OneIn(3)) op->lower = Target();
    if (prng_.OneIn(3)) op->upper = Target();
    const std::size_t steps = prng_.Between(1, 24);
    auto direction = IteratorStep::Kind::kNext;
    for (std::size_t i = 0; i < steps; ++i) {
      IteratorStep step;
      if (i == 0 || prng_.OneIn(8)) {
        step.kind = static_cast<IteratorStep::Kind>(prng_.Uniform(4));
        if (step.kind == IteratorStep::Kind::kSeek || step.kind == IteratorStep::Kind::kSeekForPrev) {
          step.target = Target();
        }
        direction = prng_.OneIn(2) ? IteratorStep::Kind::kNext : IteratorStep::Kind::kPrev;
      } else {
        if (prng_.OneIn(4)) direction = prng_.OneIn(2) ? IteratorStep::Kind::kNext : IteratorStep::Kind::kPrev;
        step.kind = direction;
      }
      op->steps.push_back(std::move(step));
    }
  }

  Operation DrawOperation() {
    Operation op;
    const std::uint64_t pick = prng_.Uniform(100);
    op.slot = prng_.Uniform(kSnapshotSlots);
    if (pick < 52) {
      DrawWrite(&op);
    } else if (pick < 56 && swarm_.sync_wal) {
      op.verb = Operation::Verb::kSyncWal;
    } else if (pick < 60 && swarm_.flush) {
      op.verb = Operation::Verb::kFlush;
      op.flag = !prng_.OneIn(3);
    } else if (pick < 62 && swarm_.compact) {
      op.verb = Operation::Verb::kCompact;
      if (prng_.OneIn(3)) op.lower = Target();
      if (prng_.OneIn(3)) op.upper = Target();
    } else if (pick < 70 && swarm_.background) {
      op.verb = Operation::Verb::kBackground;
      op.count = prng_.Between(1, 3);
    } else if (pick < 72 && swarm_.reopen && shape_.reopen) {
      op.verb = Operation::Verb::kReopen;
      op.flag = prng_.OneIn(2);
    } else if (!shape_.reads) {
      DrawWrite(&op);
    } else if (pick < 76 && swarm_.snapshots) {
      op.verb = prng_.OneIn(3) ? Operation::Verb::kReleaseSnapshot : Operation::Verb::kTakeSnapshot;
    } else if (pick < 84 && swarm_.iterators) {
      DrawIterate(&op);
    } else if (pick < 86) {
      op.verb = Operation::Verb::kReadDurable;
    } else {
      op.verb = prng_.OneIn(3) ? Operation::Verb::kMultiGet : Operation::Verb::kGet;
      op.at_snapshot = swarm_.snapshots && prng_.OneIn(2);
      const std::size_t count = op.verb == Operation::Verb::kGet ? 1 : prng_.Between(0, 12);
      for (std::size_t i = 0; i < count; ++i) op.keys.push_back(Target());
    }
    return op;
  }

  const Program& program_;
  Prng& prng_;
  const ProgramShape& shape_;
  const Swarm swarm_;
  // A separate generator, so that a program with range deletes differs only in these from the same program without
  // them.
  Prng range_prng_{0};
  bool ranges_ = false;
};

// Loads many small values in batches, then flushes.
void AddBulk(Program* program, Prng& prng, bool fixed_width) {
  const std::size_t count = prng.Between(100, 400);
  Operation op;
  for (std::size_t i = 0; i < count; ++i) {
    char key[16];
    std::snprintf(key, sizeof(key), fixed_width ? "2%07zu" : "bulk/%04zu", i);
    program->universe.emplace_back(key);
    op.mutations.push_back({key, false, static_cast<std::uint32_t>(prng.Between(8, 40)), false});
    if (op.mutations.size() < 50 && i + 1 < count) continue;
    op.id = program->operations.size() + 1;
    program->operations.push_back(std::move(op));
    op = {};
  }
  op.verb = Operation::Verb::kFlush;
  op.flag = true;
  op.id = program->operations.size() + 1;
  program->operations.push_back(std::move(op));
}

// Uses its own generator, so that the rest of the program does not depend on what it draws.
void DrawSystem(std::uint64_t seed, Config* config) {
  Prng prng(seed ^ 0x73797374656du);
  config->maps = !prng.OneIn(4);
  config->residency = !prng.OneIn(4);
  config->shuffle_reads = prng.OneIn(2);
  if (prng.OneIn(4)) config->max_open_files = static_cast<int>(prng.Between(1, 12));
}

// Uses its own generator too.
void DrawBuffers(std::uint64_t seed, Config* config) {
  Prng prng(seed ^ 0x62756666u);
  config->varies_buffers = prng.OneIn(2);
}

// Uses its own generator too.
void DrawWatching(std::uint64_t seed, Config* config) {
  Prng prng(seed ^ 0x7761746368u);
  config->statistics = prng.OneIn(3);
  config->listeners = prng.OneIn(2);
  if (prng.OneIn(4)) config->rate = std::uint64_t{1} << prng.Between(16, 24);
  if (prng.OneIn(3)) config->db_write_buffer_size = 64u << 10;
}

// Uses its own generator too.
void DrawGc(std::uint64_t seed, Config* config) {
  static const std::array<double, 4> kCutoffs = {0.25, 0.5, 1, 1};
  static const std::array<double, 3> kThresholds = {0.1, 0.5, 1};
  static const std::array<double, 6> kCeilings = {0, 0, 1, 1.25, 1.5, 3};
  Prng prng(seed ^ 0x6763u);
  config->log_gc = !prng.OneIn(4);
  config->gc_age_cutoff = kCutoffs[prng.Uniform(kCutoffs.size())];
  config->gc_force_threshold = kThresholds[prng.Uniform(kThresholds.size())];
  config->max_space_amplification = kCeilings[prng.Uniform(kCeilings.size())];
  if (config->max_space_amplification == 1) {  // not legal if values may be in the index
    config->enable_blob_files = true;
    config->min_blob_size = 1;
  }
  config->min_punch_size = prng.OneIn(3) ? 0 : 4096;
  config->block_values = prng.OneIn(10);
  config->value_clustering = static_cast<ValueClustering>(prng.Uniform(3));
  config->min_space_limit = prng.OneIn(4) ? 4u << 20 : 0;
}

// Uses its own generator as well. Some filters remove everything between two keys of the universe.
void DrawFilter(Program* program, const ProgramShape& shape) {
  Prng prng(program->seed ^ 0x66696c746572u);
  Config& config = program->config;
  if (!shape.filters || !prng.OneIn(3)) return;
  RuleFilter::Rules rules;
  rules.comparator = config.comparator;
  rules.seed = prng.Next();
  rules.by_key = prng.OneIn(2);
  rules.separated_size = config.min_blob_size + prng.Uniform(700);
  rules.large_size = config.large_value_size + 1;
  if (prng.OneIn(3)) {
    std::string from = program->universe[prng.Uniform(program->universe.size())];
    std::string to = program->universe[prng.Uniform(program->universe.size())];
    if (config.comparator->Compare(from, to) > 0) std::swap(from, to);
    rules.skip_from = from;
    rules.skip_to = to;
  }
  config.filter = std::make_shared<const RuleFilter>(rules);
  config.filter_by_factory = prng.OneIn(2);
  if (prng.OneIn(2)) config.filter_lives = static_cast<std::uint32_t>(prng.Next());
}

const char* StepName(IteratorStep::Kind kind) {
  static const char* const kNames[] = {"Seek", "SeekForPrev", "SeekToFirst", "SeekToLast", "Next", "Prev"};
  return kNames[static_cast<int>(kind)];
}

const char* VerbName(Operation::Verb verb) {
  static const char* const kNames[] = {"Write",        "SyncWAL",         "Flush",       "CompactRange",
                                       "Get",          "MultiGet",        "Iterate",     "TakeSnapshot",
                                       "ReleaseSnapshot", "ReadDurable",  "Reopen",      "Background"};
  return kNames[static_cast<int>(verb)];
}

}  // namespace

void Config::ApplyTo(Options* options) const {
  options->comparator = comparator;
  options->page_size = page_size;
  options->page_cache_size = page_cache_size;
  options->db_write_buffer_size = db_write_buffer_size;
  options->filter_bits_per_key = filter_bits_per_key;
  options->sweep_ratio = sweep_ratio;
  options->write_buffer_size = write_buffer_size;
  options->max_write_buffer_number = max_write_buffer_number;
  options->max_total_wal_size = max_total_wal_size;
  options->enable_blob_files = enable_blob_files;
  options->min_blob_size = min_blob_size;
  options->blob_file_size = blob_file_size;
  options->large_value_size = large_value_size;
  options->blob_compression_type = compression;
  options->allow_mmap_reads = allow_mmap_reads;
  options->max_open_files = max_open_files;
  options->enable_blob_garbage_collection = log_gc;
  options->blob_garbage_collection_age_cutoff = gc_age_cutoff;
  options->blob_garbage_collection_force_threshold = gc_force_threshold;
  options->max_space_amplification = max_space_amplification;
  options->min_space_limit = min_space_limit;
  options->min_punch_size = min_punch_size;
  options->value_clustering = value_clustering;
  if (statistics) options->statistics = CreateDBStatistics();
  if (rate != 0) options->rate_limiter.reset(NewGenericRateLimiter(static_cast<std::int64_t>(rate)));
  if (filter != nullptr && filter_by_factory) {
    options->compaction_filter_factory = std::make_shared<RuleFilterFactory>(filter);
  } else {
    options->compaction_filter = filter.get();
  }
}

void Config::ApplyTo(SimOptions* options) const {
  options->maps = maps;
  options->residency = residency;
  options->shuffle_reads = shuffle_reads;
}

std::string Config::ToString() const {
  const auto field = [](const char* name, std::uint64_t value) { return std::string(name) + "=" + std::to_string(value) + " "; };
  return std::string("comparator=") + comparator->Name() + " " + field("page_size", page_size) +
         field("page_cache_size", page_cache_size) + field("db_write_buffer_size", db_write_buffer_size) +
         field("filter_bits_per_key", static_cast<std::uint64_t>(filter_bits_per_key)) +
         field("sweep_ratio", static_cast<std::uint64_t>(sweep_ratio)) + field("write_buffer_size", write_buffer_size) +
         field("max_write_buffer_number", static_cast<std::uint64_t>(max_write_buffer_number)) +
         field("varies_buffers", static_cast<std::uint64_t>(varies_buffers)) +
         field("max_total_wal_size", max_total_wal_size) +
         field("enable_blob_files", static_cast<std::uint64_t>(enable_blob_files)) + field("min_blob_size", min_blob_size) +
         field("blob_file_size", blob_file_size) + field("large_value_size", large_value_size) +
         field("compression", static_cast<std::uint64_t>(compression)) +
         field("allow_mmap_reads", static_cast<std::uint64_t>(allow_mmap_reads)) +
         "max_open_files=" + std::to_string(max_open_files) + " " +
         field("log_gc", static_cast<std::uint64_t>(log_gc)) + "gc_age_cutoff=" + std::to_string(gc_age_cutoff) +
         " gc_force_threshold=" + std::to_string(gc_force_threshold) +
         " max_space_amplification=" + std::to_string(max_space_amplification) +
         " min_space_limit=" + std::to_string(min_space_limit) +
         " value_clustering=" + std::to_string(static_cast<int>(value_clustering)) +
         " min_punch_size=" + std::to_string(min_punch_size) + (block_values ? " block values " : " ") +
         field("statistics", static_cast<std::uint64_t>(statistics)) +
         field("listeners", static_cast<std::uint64_t>(listeners)) + field("rate", rate) +
         (filter == nullptr ? "" : "filter={" + filter->ToString() + (filter_by_factory ? ", by factory" : "") +
                                       ", lives " + std::to_string(filter_lives) + "} ") +
         field("shuffle_tasks", static_cast<std::uint64_t>(shuffle_tasks)) +
         field("maps", static_cast<std::uint64_t>(maps)) + field("residency", static_cast<std::uint64_t>(residency)) +
         field("shuffle_reads", static_cast<std::uint64_t>(shuffle_reads));
}

Config DrawConfig(Prng& prng) {
  static const std::array<const Comparator*, 4> kComparators = {BytewiseComparator(), ReverseBytewiseComparator(),
                                                                CaseFoldingComparator(), LengthFirstComparator()};
  static const std::array<CompressionType, 3> kCompressions = {
      CompressionType::kNoCompression, CompressionType::kLZ4Compression, CompressionType::kZSTD};
  Config config;
  config.comparator = prng.OneIn(2) ? BytewiseComparator() : kComparators[prng.Uniform(kComparators.size())];
  config.page_size = std::uint64_t{512} << prng.Uniform(4);
  config.page_cache_size = prng.OneIn(2) ? 64u << 10 : 4u << 20;
  config.filter_bits_per_key = prng.OneIn(2) ? 0 : 10;
  config.sweep_ratio = static_cast<int>(prng.OneIn(3) ? 1000 : prng.Between(1, 8));
  config.write_buffer_size = std::size_t{4096} << prng.Uniform(5);
  config.max_write_buffer_number = static_cast<int>(prng.Between(2, 4));
  config.max_total_wal_size = std::uint64_t{4096} << prng.Uniform(8);
  config.enable_blob_files = !prng.OneIn(4);
  config.min_blob_size = std::uint64_t{1} << prng.Uniform(10);
  config.blob_file_size = std::uint64_t{16 << 10} << prng.Uniform(3);
  config.large_value_size = std::uint64_t{4 << 10} << prng.Uniform(3);
  config.compression = kCompressions[prng.Uniform(kCompressions.size())];
  config.shuffle_tasks = prng.OneIn(2);
  config.allow_mmap_reads = prng.OneIn(2);
  return config;
}

std::vector<Operation> DrawOperations(const Program& program, Prng& prng, const ProgramShape& shape,
                                      std::uint64_t first_id) {
  return Drawer(program, prng, shape).Draw(first_id);
}

Program DrawProgram(std::uint64_t seed, const ProgramShape& shape) {
  Prng prng(seed);
  Program program;
  program.seed = seed;
  program.config = DrawConfig(prng);
  if (shape.given_keys) program.config.comparator = GivenKeys::Get();
  DrawSystem(seed, &program.config);
  DrawBuffers(seed, &program.config);
  DrawGc(seed, &program.config);
  DrawWatching(seed, &program.config);
  std::set<std::string> keys;
  const std::size_t count = prng.Between(4, shape.key_count_max);
  while (keys.size() < count) keys.insert(DrawKey(prng, shape, program.config.page_size));
  program.universe.assign(keys.begin(), keys.end());
  program.hot_keys = program.universe.size();
  DrawFilter(&program, shape);
  if (shape.bulk_one_in != 0 && prng.OneIn(shape.bulk_one_in)) AddBulk(&program, prng, shape.given_keys);
  const std::vector<Operation> drawn = DrawOperations(program, prng, shape, program.operations.size() + 1);
  program.operations.insert(program.operations.end(), drawn.begin(), drawn.end());
  return program;
}

std::string Quote(Slice bytes) {
  std::string out = "\"";
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const char c = bytes[i];
    std::size_t run = 1;
    while (i + run < bytes.size() && bytes[i + run] == c) ++run;
    char text[8];
    if (c >= ' ' && c <= '~' && c != '"' && c != '\\') {
      std::snprintf(text, sizeof(text), "%c", c);
    } else {
      std::snprintf(text, sizeof(text), "\\x%02x", static_cast<unsigned char>(c));
    }
    out += text;
    if (run > 8) {
      out += "{" + std::to_string(run) + "}";
      i += run - 1;
    }
  }
  return out + "\"";
}

std::string Operation::ToString() const {
  std::string out = std::to_string(id) + ": " + VerbName(verb);
  for (const Mutation& mutation : mutations) {
    out += mutation.is_range ? " delete range(" : mutation.is_delete ? " delete(" : " put(";
    out += Quote(mutation.key);
    if (mutation.is_range) {
      out += ", " + Quote(mutation.range_end);
    } else if (!mutation.is_delete) {
      out += ", " + std::to_string(mutation.size) + (mutation.compressible ? " compressible" : "");
    }
    out += ")";
  }
  if (durability != Durability::kNone) out += durability == Durability::kSync ? " sync" : " disableWAL";
  for (const std::string& key : keys) out += " " + Quote(key);
  if (verb == Verb::kFlush) out += flag ? " wait" : " do not wait";
  if (verb == Verb::kReopen && flag) out += " after Close";
  if (verb == Verb::kIterate) out += std::string(fresh ? " fresh" : "") + (flag ? " keys only" : "");
  if (verb == Verb::kIterate || verb == Verb::kTakeSnapshot || verb == Verb::kReleaseSnapshot) {
    out += " slot " + std::to_string(slot);
  }
  if (at_snapshot) out += " at the snapshot of slot " + std::to_string(slot % kSnapshotSlots);
  if (lower.has_value()) out += " from " + Quote(*lower);
  if (upper.has_value()) out += " to " + Quote(*upper);
  for (const IteratorStep& step : steps) {
    out += std::string(" ") + StepName(step.kind);
    if (step.kind == IteratorStep::Kind::kSeek || step.kind == IteratorStep::Kind::kSeekForPrev) {
      out += "(" + Quote(step.target) + ")";
    }
  }
  if (count != 0) out += " " + std::to_string(count);
  return out;
}

std::string Program::ToString() const {
  std::string out = "program of seed " + std::to_string(seed) + "\n  " + config.ToString() + "\n";
  for (const Operation& operation : operations) out += "  " + operation.ToString() + "\n";
  return out;
}

}  // namespace cambium::testing
