#include "command/parse_flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "command/absent.h"
#include "command/nearest.h"
#include "data/key.h"
#include "engines/registry.h"
#include "presets/preset.h"
#include "run/engine_config.h"
#include "workloads/workload.h"
#include "workloads/ycsb/ycsb.h"

namespace cambium::bench {
namespace {

constexpr std::size_t kKeySizeMax = 64u << 10;
constexpr std::size_t kValueSizeMax = 1u << 30;
constexpr double kZipfMax = 0.9999;

// Replaces the word "all" by the stores that can run here.
std::vector<std::string> WithoutAll(const std::vector<std::string>& words) {
  std::vector<std::string> names;
  for (const std::string& word : words) {
    if (word != "all") {
      names.push_back(word);
      continue;
    }
    for (const EngineEntry& entry : Engines()) {
      if (entry.is_store && WhyUnavailable(entry).empty()) names.emplace_back(entry.name);
    }
  }
  return names;
}

// Adds an option that takes one of these words, the first of which is the default. For another word the error names the
// nearest.
template <typename Value>
void AddChoice(CLI::App* app, const char* name, Value* value, const std::vector<std::pair<std::string, Value>>& choices,
               const char* what) {
  std::vector<std::string> words;
  for (const auto& [word, ignored] : choices) words.push_back(word);
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ",") + word;
  app->add_option_function<std::string>(
         name,
         [name, value, choices, words, text](const std::string& given) {
           const auto found = std::find(words.begin(), words.end(), given);
           if (found == words.end()) {
             throw CLI::ValidationError(name,
                                        "there is no " + given + Suggestion(given, words) + " use one of " + text);
           }
           *value = choices[static_cast<std::size_t>(found - words.begin())].second;
         },
         what)
      ->option_text("{" + text + "}=" + words.front());
}

// As AddChoice, if the word is the value.
void AddWord(CLI::App* app, const char* name, std::string* value, const std::vector<std::string>& words, const char* what) {
  std::vector<std::pair<std::string, std::string>> choices;
  for (const std::string& word : words) choices.emplace_back(word, word);
  AddChoice(app, name, value, choices, what);
}

void AddLevelOptions(CLI::App* app, LevelShape* l) {
  AddChoice<CompactionStyle>(app, "--compaction_style", &l->compaction_style,
                             {{"level", kCompactionStyleLevel}, {"lazy", kCompactionStyleLazyLevel}},
                             "compaction style of cambium's lsm");
  app->add_option("--level0_file_num_compaction_trigger", l->level0_file_num_compaction_trigger,
                  "runs that start a compaction; this and the following options are for cambium's lsm and RocksDB")
      ->capture_default_str();
  app->add_option("--level0_slowdown_writes_trigger", l->level0_slowdown_writes_trigger, "runs that slow writes down")
      ->capture_default_str();
  app->add_option("--level0_stop_writes_trigger", l->level0_stop_writes_trigger, "runs that stop writes")
      ->capture_default_str();
  app->add_option("--target_file_size_base", l->target_file_size_base, "bytes of a file in level 1")
      ->capture_default_str();
  app->add_option("--target_file_size_multiplier", l->target_file_size_multiplier, "factor from level to level")
      ->capture_default_str();
  app->add_option("--max_bytes_for_level_base", l->max_bytes_for_level_base, "bytes of level 1")->capture_default_str();
  app->add_option("--max_bytes_for_level_multiplier", l->max_bytes_for_level_multiplier, "factor from level to level")
      ->capture_default_str();
  app->add_option("--keys_target_file_size_base", l->keys_target_file_size_base,
                  "for engines that separate values (cambium's lsm, rocksdb_blob); 0: --target_file_size_base")
      ->capture_default_str();
  app->add_option("--keys_max_bytes_for_level_base", l->keys_max_bytes_for_level_base,
                  "the same for --max_bytes_for_level_base; 0: that option")
      ->capture_default_str();
  app->add_option("--num_levels", l->num_levels, "number of levels, level 0 included")->capture_default_str();
}

void AddMixgraphOptions(CLI::App* app, MixgraphFlags* m) {
  const auto number = [app](const char* name, auto* value, const char* what) {
    app->add_option(name, *value, what)->capture_default_str();
  };
  number("--mix_get_ratio", &m->mix_get_ratio, "share of gets; this and the following options are for mixgraph");
  number("--mix_put_ratio", &m->mix_put_ratio, "share of puts");
  number("--mix_seek_ratio", &m->mix_seek_ratio, "share of scans");
  number("--mix_max_scan_len", &m->mix_max_scan_len, "a scan has fewer entries than this");
  number("--mix_max_value_size", &m->mix_max_value_size, "most bytes of a value; never more than 1 MiB");
  number("--keyrange_dist_a", &m->keyrange_dist_a,
         "the x-th warmest range gets a e^(b x) + c e^(d x) of the operations");
  number("--keyrange_dist_b", &m->keyrange_dist_b, "see --keyrange_dist_a");
  number("--keyrange_dist_c", &m->keyrange_dist_c, "see --keyrange_dist_a");
  number("--keyrange_dist_d", &m->keyrange_dist_d, "see --keyrange_dist_a");
  number("--keyrange_num", &m->keyrange_num, "number of key ranges of equal size");
  number("--key_dist_a", &m->key_dist_a, "the x warmest keys get a x^b of the operations");
  number("--key_dist_b", &m->key_dist_b, "see --key_dist_a");
  number("--value_theta", &m->value_theta, "value sizes follow a generalised Pareto distribution: its location");
  number("--value_k", &m->value_k, "its shape");
  number("--value_sigma", &m->value_sigma, "its scale");
  number("--iter_theta", &m->iter_theta, "scan lengths follow another one: its location");
  number("--iter_k", &m->iter_k, "its shape");
  number("--iter_sigma", &m->iter_sigma, "its scale");
  app->add_flag("--sine_mix_rate", m->sine_mix_rate,
                "limit the rate to a sin(b t + c) + d operations a second after t seconds");
  number("--sine_mix_rate_interval_milliseconds", &m->sine_mix_rate_interval_milliseconds,
         "how often that rate is computed");
  number("--sine_mix_rate_noise", &m->sine_mix_rate_noise, "random part of that rate, 0 to 1");
  number("--sine_a", &m->sine_a, "see --sine_mix_rate");
  number("--sine_b", &m->sine_b, "see --sine_mix_rate");
  number("--sine_c", &m->sine_c, "see --sine_mix_rate");
  number("--sine_d", &m->sine_d, "see --sine_mix_rate");
  app->add_flag("--mixgraph_compat", m->mixgraph_compat,
                "draw as db_bench does: one number per operation, weights of ranges rounded down");
}

void AddYcsbOptions(CLI::App* app, YcsbFlags* y) {
  app->add_option("--record_count", y->record_count, "YCSB's records; 0: --num")->capture_default_str();
  app->add_option("--operation_count", y->operation_count,
                  "operations of each YCSB workload, for all threads; 0: --reads per thread, else one per record")
      ->capture_default_str();
  app->add_option("--field_count", y->field_count, "fields of a record")->check(CLI::Range(1, 10'000))->capture_default_str();
  app->add_option("--field_length", y->field_length, "bytes of a field")->check(CLI::Range(1, 1'000'000))->capture_default_str();
  app->add_option("--zero_padding", y->zero_padding, "least digits of a key: its hash is padded with zeros")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  app->add_option("--max_scan_length", y->max_scan_length, "most entries of a scan")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
}

void AddTraceOptions(CLI::App* app, TraceFlags* t) {
  app->add_option("--trace_file", t->file,
                  "trace to replay: a recording, or text from trace analyze; see cambium_bench trace");
  app->add_option("--trace_replay_fast_forward", t->replay_fast_forward,
                  "replay at this multiple of the recorded speed; 0: as fast as possible")
      ->check(CLI::Range(0.0, 1e9))
      ->capture_default_str();
  app->add_option("--trace_replay_threads", t->replay_threads,
                  "threads of a replay; with several, calls overtake each other")
      ->check(CLI::Range(1u, 255u))
      ->capture_default_str();
  app->add_flag("--record_trace", t->record, "record the calls to the engine cambium in --trace_file, a new file");
  app->add_option("--trace_sampling_frequency", t->sampling_frequency, "record one operation of this many")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40))
      ->capture_default_str();
  app->add_flag("--trace_values", t->include_values, "record values, not only their lengths");
  app->add_flag("--trace_preserve_write_order", t->preserve_write_order, "record writes in the order of their commits");
}

void AddTransactionOptions(CLI::App* app, TransactionFlags* t) {
  AddChoice<TransactionKind>(
      app, "--transaction_kind", &t->kind,
      {{"optimistic", TransactionKind::kOptimistic}, {"locking", TransactionKind::kLocking}},
      "of the benchmark transaction: with this benchmark, the run uses OptimisticTransactionDB or TransactionDB (with "
      "deadlock_detect) of Cambium and RocksDB; LMDB and WiredTiger have one kind");
  app->add_option("--transaction_keys", t->keys,
                  "different keys of a transaction: it reads each with GetForUpdate, then puts each, then commits")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1000}))
      ->capture_default_str();
  app->add_option("--transaction_zipf", t->zipf,
                  "skew of these keys: the i-th warmest is drawn in proportion to 1 / i^this; 0: uniform")
      ->check(CLI::Range(0.0, kZipfMax))
      ->capture_default_str();
  app->add_flag("--transaction_set_snapshot", t->set_snapshot,
                "transactions of Cambium and RocksDB begin with a snapshot, and read at it");
}

void AddRunOptions(CLI::App* app, BenchFlags* f) {
  app->add_option("--preset", f->preset,
                  "published experiments, as a series of runs; options given here override the preset's")
      ->option_text("NAME, see --list");
  app->add_option("--scale", f->scale,
                  "for a preset: fraction of the original's sizes; 0: such that it takes some minutes")
      ->check(CLI::Range(0.0, 1000.0))
      ->capture_default_str();
  app->add_option("--engine", f->engines, "engines that take turns; all: every store that can run here; see --list")
      ->delimiter(',')
      ->capture_default_str();
  AddWord(app, "--index", &f->index, {"btree", "lsm", "both"},
          "index of the engine cambium; both: two turns in each round");
  app->add_option("--benchmarks", f->benchmarks, "benchmarks to run, in this order; see --list")
      ->delimiter(',')
      ->capture_default_str();
}

void AddCountOptions(CLI::App* app, BenchFlags* f) {
  app->add_option("--num", f->num, "size of the key space")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40))->capture_default_str();
  app->add_option("--reads", f->reads, "reads per thread; negative: num")->capture_default_str();
  app->add_option("--writes", f->writes, "writes per thread; negative: num")->capture_default_str();
  app->add_option("--deletes", f->deletes, "deletes per thread; negative: num")->capture_default_str();
  app->add_option("--duration", f->duration,
                  "seconds that random workloads run; 0: they run by their number of operations")
      ->capture_default_str();
  app->add_option("--threads", f->threads, "threads of a workload")->check(CLI::Range(1u, 255u))->capture_default_str();
}

void AddDataOptions(CLI::App* app, BenchFlags* f) {
  app->add_option("--key_size", f->key_size, "bytes of a key")
      ->check(CLI::Range(kKeySizeMin, kKeySizeMax))->capture_default_str();
  app->add_option("--value_size", f->value_size, "bytes of a value")
      ->check(CLI::Range(std::size_t{0}, kValueSizeMax))->capture_default_str();
  AddChoice<KeyStyle>(app, "--key_style", &f->key_style,
                      {{"db_bench", KeyStyle::kDbBench}, {"badger", KeyStyle::kBadger}, {"ycsb", KeyStyle::kYcsb}},
                      "form of keys: db_bench's, badger's (22 bytes) or ycsb's (hashed)");
  app->add_option("--prefix_size", f->prefix_size, "bytes of the prefix of a key, with --keys_per_prefix")
      ->capture_default_str();
  app->add_option("--keys_per_prefix", f->keys_per_prefix, "keys with the same prefix; 0: no prefixes")
      ->capture_default_str();
  AddChoice<SizeDistribution>(
      app, "--value_size_distribution_type", &f->value_size_distribution_type,
      {{"fixed", SizeDistribution::kFixed}, {"uniform", SizeDistribution::kUniform}, {"normal", SizeDistribution::kNormal}},
      "fixed: --value_size; uniform, normal: between --value_size_min and --value_size_max");
  app->add_option("--value_size_min", f->value_size_min, "bytes")->check(CLI::Range(std::size_t{0}, kValueSizeMax))
      ->capture_default_str();
  app->add_option("--value_size_max", f->value_size_max, "bytes")->check(CLI::Range(std::size_t{0}, kValueSizeMax))
      ->capture_default_str();
  app->add_option("--read_random_exp_range", f->read_random_exp_range,
                  "skew of random reads: exp(-uniform * this); 0: none")
      ->check(CLI::Range(0.0, 700.0))
      ->capture_default_str();
  app->add_option("--source", f->source,
                  "values are files below this directory, up to 1 GiB, chosen at random, each after a header "
                  "of 16 bytes")
      ->check(CLI::ExistingDirectory);
}

void AddCallOptions(CLI::App* app, BenchFlags* f) {
  app->add_option("--batch_size", f->batch_size, "puts per commit; keys per call of multireadrandom")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 20))
      ->capture_default_str();
  app->add_option("--async_depth", f->async_depth, "reads in flight per thread of readrandomasync")
      ->check(CLI::Range(std::size_t{1}, std::size_t{4096}))
      ->capture_default_str();
  app->add_option("--seek_nexts", f->seek_nexts, "entries read after each seek")->capture_default_str();
  app->add_flag("--reverse_iterator", f->reverse_iterator,
                "read the entries before each seek's key, not those after it");
  app->add_option("--readwritepercent", f->readwritepercent, "percentage of reads in readrandomwriterandom")
      ->check(CLI::Range(0u, 100u))
      ->capture_default_str();
  app->add_option("--benchmark_write_rate_limit", f->benchmark_write_rate_limit,
                  "bytes a second of the thread that writes while others read; 0: no limit")
      ->capture_default_str();
  app->add_flag("--sync", f->sync, "every write is durable when it returns");
  app->add_option("--sync_every", f->sync_every,
                  "in workloads that only write, each thread makes everything durable after this many of its puts or "
                  "deletes; 0: only at the end")
      ->capture_default_str();
  app->add_flag("--disable_wal", f->disable_wal,
                "write without a log if the engine can; Cambium's log is the only copy of the data");
  app->add_option("--verify_checksum", f->verify_checksum,
                  "verify the checksums of data read, if the engine has checksums")
      ->capture_default_str();
}

void AddStoreOptions(CLI::App* app, BenchFlags* f) {
  app->add_option("--seed", f->seed, "seed of keys and values; 0: the time")->capture_default_str();
  app->add_option("--db", f->db,
                  "directory for the databases, with one below it per engine; they stay. "
                  "Default: a temporary directory, removed at the end");
  app->add_flag("--use_existing_db", f->use_existing_db,
                "use the databases in --db; benchmarks that begin with an empty one are skipped");
  AddWord(app, "--compression_type", &f->compression_type, {"none", "lz4", "zstd", "snappy"},
          "codec of values or blocks, as the engine does it; Cambium has no snappy");
  app->add_option("--compression_ratio", f->compression_ratio, "random part of each value, if values are compressed")
      ->check(CLI::Range(0.01, 1.0))
      ->capture_default_str();
  app->add_option("--cache_size", f->cache_size, "bytes of the block cache, or of cambium's pool of index pages")
      ->capture_default_str();
  app->add_option("--write_buffer_size", f->write_buffer_size, "bytes of a memtable")->capture_default_str();
  app->add_flag_function("--mmap_read,!--no_mmap_read", [f](std::int64_t count) { f->mmap_read = count > 0; },
                         "map files for reading: allow_mmap_reads of Cambium (default on) and RocksDB, mmap of WiredTiger "
                         "(default off); LMDB and LevelDB always map");
  app->add_flag("--pin_mapped_values", f->pin_mapped_values,
                "Cambium does not copy values that it has in a mapping and has verified before");
  app->add_option("--max_write_buffer_number", f->max_write_buffer_number, "memtables of Cambium and RocksDB")
      ->check(CLI::Range(2, 64))
      ->capture_default_str();
  app->add_option("--min_blob_size", f->min_blob_size, "values of at least this size are separated from their keys")
      ->capture_default_str();
  app->add_option("--blob_file_size", f->blob_file_size, "bytes of a blob file, or of a segment of Cambium's log")
      ->capture_default_str();
  app->add_option("--bloom_bits", f->bloom_bits, "filter bits per key; 0: no filters; -1: 10")
      ->check(CLI::Range(-1, 64))->capture_default_str();
}

void AddSpaceOptions(CLI::App* app, SpaceShape* s) {
  app->add_option("--max_space_amplification", s->max_space_amplification,
                  "most bytes on disk per live byte, for Cambium; 0: no ceiling")
      ->capture_default_str();
  app->add_option("--enable_blob_garbage_collection", s->enable_blob_garbage_collection,
                  "log GC of Cambium, blob GC of rocksdb_blob")
      ->capture_default_str();
  app->add_option("--blob_garbage_collection_age_cutoff", s->blob_garbage_collection_age_cutoff,
                  "share of the files, oldest first, that GC may collect")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  app->add_option("--blob_garbage_collection_force_threshold", s->blob_garbage_collection_force_threshold,
                  "share of garbage in them at which GC is forced; 1: never")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  AddWord(app, "--value_clustering", &s->value_clustering, {"off", "auto", "full"},
          "whether Cambium's log GC relocates values in the order of keys");
  app->add_flag("--cluster_values", s->cluster_values,
                "the benchmark compact writes Cambium's values in the order of keys");
}

void AddMeasureOptions(CLI::App* app, BenchFlags* f) {
  AddChoice<CheckDepth>(app, "--check", &f->check, {{"full", CheckDepth::kFull}, {"ends", CheckDepth::kEnds}},
                        "compare each value read in full, or only its header and both ends");
  app->add_option("--rounds", f->rounds, "number of turns of each engine; tables show medians and spreads")
      ->check(CLI::Range(1u, 1000u))
      ->capture_default_str();
  app->add_flag("--drop_caches", f->drop_caches,
                "before each benchmark that reads: close the database, drop the page cache, and open it again; "
                "needs root");
  app->add_option("--memory_limit", f->memory_limit,
                  "limit of the process' memory, page cache included, for the first benchmark that reads, which begins "
                  "cold, and all after it; for example 256m. Needs root and control groups. 0: no limit")
      ->transform(CLI::AsSizeValue(false))
      ->option_text("SIZE=0");
}

void AddOutputOptions(CLI::App* app, BenchFlags* f) {
  app->add_option("--json", f->json, "append a JSON object for each engine, benchmark and round to this file");
  app->add_option("--report", f->report,
                  "directory for a report: report.html with tables and plots, results.csv, results.json, plots/");
  app->add_flag("--histogram", f->histogram, "print more percentiles");
  app->add_flag("--statistics", f->statistics, "print the engine's own statistics after each benchmark");
  app->add_option("--report_interval_seconds", f->report_interval_seconds,
                  "write the speed to --report_file each time this many seconds have passed; 0: never")
      ->capture_default_str();
  app->add_option("--report_file", f->report_file, "CSV: engine, benchmark, round, seconds, operations a second")
      ->capture_default_str();
  app->add_flag("--list", f->list, "list benchmarks, presets and engines, and exit");
}

// In the order of --help.
void AddOptions(CLI::App* app, BenchFlags* f) {
  AddRunOptions(app, f);
  AddMixgraphOptions(app, &f->mixgraph);
  AddYcsbOptions(app, &f->ycsb);
  AddTraceOptions(app, &f->trace);
  AddTransactionOptions(app, &f->transaction);
  AddCountOptions(app, f);
  AddDataOptions(app, f);
  AddCallOptions(app, f);
  AddStoreOptions(app, f);
  AddLevelOptions(app, &f->levels);
  AddSpaceOptions(app, &f->space);
  AddMeasureOptions(app, f);
  AddOutputOptions(app, f);
}

// Returns the command line, quoted for a shell.
std::string Quoted(const std::vector<std::string>& words) {
  std::string text = "cambium_bench";
  for (const std::string& word : words) {
    const bool plain = !word.empty() && word.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                                               "0123456789-_=,./:+@%") == std::string::npos;
    text += " ";
    if (plain) {
      text += word;
      continue;
    }
    text += "'";
    for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    text += "'";
  }
  return text;
}

template <typename List>
std::vector<std::string> NamesOf(const List& list) {
  std::vector<std::string> names;
  for (const auto& entry : list) names.emplace_back(entry.name);
  return names;
}

std::vector<std::string> OptionsOf(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// Returns "there is no WHAT NAME", with a guess, for the first of `words` that is not in `names`; or "".
std::string Unknown(const char* what, const std::vector<std::string>& words, const std::vector<std::string>& names) {
  for (const std::string& word : words) {
    if (std::find(names.begin(), names.end(), word) == names.end()) {
      return std::string("there is no ") + what + " " + word + Suggestion(word, names) + " see --list";
    }
  }
  return {};
}

// Returns a complaint about flags that exclude each other; or "".
std::string Contradiction(const BenchFlags& f) {
  if ((f.drop_caches || f.memory_limit > 0) && FirstThatReads(f.benchmarks) == f.benchmarks.size()) {
    return "--drop_caches and --memory_limit need a benchmark that reads";
  }
  if (f.memory_limit > 0 && f.cache_size >= f.memory_limit) {
    return "--cache_size of " + std::to_string(f.cache_size) + " does not fit into --memory_limit of " +
           std::to_string(f.memory_limit);
  }
  if (f.use_existing_db && f.db.empty()) return "--use_existing_db needs --db";
  if (f.sync && f.disable_wal) return "--sync and --disable_wal are opposites";
  if (f.sync_every > 0 && f.disable_wal) return "--sync_every and --disable_wal are opposites";
  if (f.sync_every > 0 && f.sync) return "with --sync every write is synced already, without --sync_every";
  if (f.keys_per_prefix > 0 && f.key_style != KeyStyle::kDbBench)
    return "--keys_per_prefix is for db_bench's keys only";
  if (f.keys_per_prefix > 0 && f.prefix_size + kKeySizeMin > f.key_size) {
    return "--key_size must be at least --prefix_size plus " + std::to_string(kKeySizeMin);
  }
  if ((f.keys_per_prefix > 0) != (f.prefix_size > 0)) return "--prefix_size and --keys_per_prefix go together";
  if (f.key_style == KeyStyle::kBadger && f.num > 10'000'000'000) {
    return "Badger's keys have ten digits, too few for --num=" + std::to_string(f.num);
  }
  if (f.key_style == KeyStyle::kYcsb &&
      (ValueSizesOf(f).min < kValueHeaderSize || std::find(f.benchmarks.begin(), f.benchmarks.end(), "mixgraph") != f.benchmarks.end())) {
    return "values of YCSB's hashed keys need a header of 16 bytes: no smaller values, and no mixgraph";
  }
  if (f.value_size_min > f.value_size_max) return "--value_size_min is larger than --value_size_max";
  if (const std::string what = ComplainOfRecording(f); !what.empty()) return what;
  if (const std::string what = ComplainOfEngines(f); !what.empty()) return what;
  for (const std::string& name : f.benchmarks) {
    const Workload* workload = FindWorkload(name);
    if (workload->sync && f.disable_wal) return name + " syncs every write, and --disable_wal leaves nothing to sync";
    if (!f.source.empty() && workload->value_room != nullptr) {
      return name + " makes values of other sizes than the files of --source";
    }
    if (workload->complain == nullptr) continue;
    if (const std::string what = workload->complain(f); !what.empty()) return name + ": " + what;
  }
  return {};
}

// Returns a complaint about a given option that has no effect because of others; or "". Options for an engine that does
// not take part are allowed, because users change --engine from one command to the next.
std::string WithoutEffect(const CLI::App& app, const BenchFlags& f) {
  const bool is_fixed = f.value_size_distribution_type == SizeDistribution::kFixed;
  if (!is_fixed && app.count("--value_size") > 0) {
    return "--value_size is for values of one size; with --value_size_distribution_type, use --value_size_min and "
           "--value_size_max";
  }
  for (const char* name : {"--value_size_min", "--value_size_max"}) {
    if (is_fixed && app.count(name) > 0) {
      return std::string(name) + " needs --value_size_distribution_type=uniform or normal";
    }
  }
  const auto has = [&f](const char* name) {
    return std::find(f.benchmarks.begin(), f.benchmarks.end(), name) != f.benchmarks.end();
  };
  if (app.count("--trace_file") > 0 && !f.trace.record && !has("replay") && !has("traceload")) {
    return "--trace_file is for trace record, trace replay, and the benchmarks replay and traceload";
  }
  for (const char* name :
       {"--transaction_kind", "--transaction_keys", "--transaction_zipf", "--transaction_set_snapshot"}) {
    if (app.count(name) > 0 && !HasTransactions(f.benchmarks)) {
      return std::string(name) + " is for the benchmark transaction";
    }
  }
  return {};
}

// Returns a complaint about the first option whose value the parser misreads, or "". The parser turns "-1" into the
// largest number without a sign, and its range checks accept NaN.
std::string OddNumber(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    const bool is_fraction = option->get_type_name().find("FLOAT") != std::string::npos;
    const bool has_no_sign = option->get_type_name().find("UINT") != std::string::npos;
    for (const std::string& text : option->results()) {
      if (is_fraction && !std::isfinite(std::strtod(text.c_str(), nullptr))) {
        return option->get_name() + "=" + text + " is not a finite number";
      }
      if (has_no_sign && text.starts_with('-')) return option->get_name() + "=" + text + " is negative";
    }
  }
  return {};
}

int Refuse(const std::string& why) {
  std::fprintf(stderr, "cambium_bench: %s\n", why.c_str());
  return 2;
}

// Parses the words of one run into *f. Returns the exit code if the program should end; then errors have been reported.
// `run`: the name of the run if a preset made the words. With --preset the words themselves are not checked for
// contradictions; each run of the preset is.
std::optional<int> ParseRun(const std::vector<std::string>& words, const std::string& run, BenchFlags* f) {
  CLI::App app(
      "Measures Cambium and its peers with db_bench's workloads. Counts are per thread, as there. "
      "'cambium_bench report' makes a report from earlier runs, 'cambium_bench trace' records, replays and "
      "analyzes traces; see their --help.",
      "cambium_bench");
  AddOptions(&app, f);
  app.allow_extras();
  const auto refuse = [&run](const std::string& why) { return Refuse((run.empty() ? "" : run + ": ") + why); };
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (const std::vector<std::string> extras = app.remaining(); !extras.empty()) {
    const std::string name = extras.front().substr(0, extras.front().find('='));
    if (const char* why = WhyOptionAbsent(name); why != nullptr) return refuse("there is no option " + name + ": " + why);
    return refuse("there is no option " + name + Suggestion(name, OptionsOf(app)) + " see --help");
  }
  if (const std::string what = OddNumber(app); !what.empty()) return refuse(what);
  if (f->bloom_bits == -1) f->bloom_bits = BenchFlags().bloom_bits;
  for (std::vector<std::string>* list : {&f->engines, &f->benchmarks}) {
    for (std::string& word : *list) word = CLI::detail::trim_copy(word);  // "fillseq, readseq"
  }
  f->engines = WithoutAll(f->engines);
  std::string wrong = Unknown("engine", f->engines, NamesOf(Engines()));
  for (const std::string& name : f->benchmarks) {
    if (const char* why = WhyAbsent(name); wrong.empty() && why != nullptr) wrong = "there is no benchmark " + name + ": " + why;
  }
  if (wrong.empty()) wrong = Unknown("benchmark", f->benchmarks, NamesOf(Workloads()));
  if (wrong.empty() && !f->preset.empty()) wrong = Unknown("preset", {f->preset}, NamesOf(Presets()));
  if (!wrong.empty()) return refuse(wrong);
  if (app.count("--num") > 0 && app.count("--record_count") > 0) {
    return refuse("--num and --record_count both set the number of records");
  }
  if (f->scale != 0 && f->preset.empty()) return refuse("--scale needs a --preset");
  if (!f->preset.empty() && !f->list) return std::nullopt;
  if (HasYcsb(*f)) {
    if (f->ycsb.record_count > 0) f->num = f->ycsb.record_count;
    if (app.count("--key_style") == 0) f->key_style = KeyStyle::kYcsb;
    if (app.count("--value_size") == 0) f->value_size = f->ycsb.field_count * f->ycsb.field_length;
  }
  if (!f->source.empty() && app.count("--value_size") + app.count("--value_size_distribution_type") > 0) {
    return refuse("--source sets the sizes of values, and so does --value_size");
  }
  // An option given to a preset need not have an effect on all its runs.
  if (run.empty()) wrong = WithoutEffect(app, *f);
  if (wrong.empty()) wrong = Contradiction(*f);
  if (!wrong.empty()) return refuse(wrong);
  std::vector<std::string> given = words;
  if (f->seed == 0) {
    f->seed = static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
    given.push_back("--seed=" + std::to_string(f->seed));
  }
  f->command_line = Quoted(given);
  return std::nullopt;
}

// Returns "--num" for "--num=5".
std::string OptionOf(const std::string& word) { return word.substr(0, word.find('=')); }

bool Has(const std::vector<std::string>& words, const std::string& option) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) { return OptionOf(word) == option; });
}

// Returns a complaint about an option that would make runs of a preset differ from what their names say; or "".
std::string ComplainOfPreset(const Preset& preset, const std::vector<PresetRun>& runs,
                             const std::vector<std::string>& given) {
  for (const std::string& option : preset.defining) {
    if (Has(given, option)) {
      return option + " distinguishes the runs of --preset=" + preset.name +
             ", by which they are named and judged; each run prints its own command line, which you may change";
    }
  }
  const auto has_records = [](const PresetRun& run) { return Has(run.arguments, "--record_count"); };
  if (Has(given, "--record_count") && !std::all_of(runs.begin(), runs.end(), has_records)) {
    return std::string("--record_count does not apply to every run of --preset=") + preset.name + "; --num does";
  }
  return {};
}

// Returns whether the command line overrides this word of a preset. --num overrides YCSB's records too, --reads its
// operations.
bool IsDecided(const std::string& word, const std::vector<std::string>& given) {
  const std::string option = OptionOf(word);
  return Has(given, option) || (option == "--record_count" && Has(given, "--num")) ||
         (option == "--operation_count" && Has(given, "--reads"));
}

bool IsAboutAnyOf(const PresetRun& run, const std::vector<std::string>& engines) {
  return run.about.empty() ||
         std::find_first_of(run.about.begin(), run.about.end(), engines.begin(), engines.end()) != run.about.end();
}

}  // namespace

ParsedFlags ParseFlags(int argc, char** argv) {
  ParsedFlags parsed;
  const std::vector<std::string> given(argv + 1, argv + argc);
  BenchFlags first;
  parsed.exit_code = ParseRun(given, "", &first);
  if (parsed.exit_code.has_value()) return parsed;
  if (first.preset.empty() || first.list) {
    parsed.runs = {first};
    return parsed;
  }
  const Preset* preset = FindPreset(first.preset);
  const std::vector<PresetRun> runs = preset->runs(first.scale > 0 ? first.scale : preset->scale);
  if (const std::string wrong = ComplainOfPreset(*preset, runs, given); !wrong.empty()) {
    parsed.exit_code = Refuse(wrong);
    return parsed;
  }
  for (const PresetRun& run : runs) {
    if (!IsAboutAnyOf(run, Has(given, "--engine") ? first.engines : run.about)) continue;
    std::vector<std::string> words;
    for (const std::string& word : run.arguments) {
      if (!IsDecided(word, given)) words.push_back(word);
    }
    for (std::size_t i = 0; i < given.size(); ++i) {
      const std::string option = OptionOf(given[i]);
      const bool of_preset = option == "--preset" || option == "--scale";
      if (of_preset && given[i] == option) ++i;  // its value is the next word
      if (!of_preset) words.push_back(given[i]);
    }
    BenchFlags flags;
    parsed.exit_code = ParseRun(words, run.experiment, &flags);
    if (parsed.exit_code.has_value()) return parsed;
    flags.experiment = run.experiment;
    parsed.runs.push_back(std::move(flags));
  }
  return parsed;
}

}  // namespace cambium::bench
