#include "flags.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <map>

#include "engines/registry.h"
#include "key.h"
#include "workload.h"

namespace cambium::bench {
namespace {

constexpr std::size_t kKeySizeMax = 64u << 10;
constexpr std::size_t kValueSizeMax = 1u << 30;

std::string Join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ",") + word;
  return text;
}

// The first word that names nothing, or "".
template <typename Find>
std::string FirstUnknown(const std::vector<std::string>& words, Find find) {
  for (const std::string& word : words) {
    if (find(word) == nullptr) return word;
  }
  return {};
}

// In place of the word "all" the stores that are built in.
std::vector<std::string> WithoutAll(const std::vector<std::string>& words) {
  std::vector<std::string> names;
  for (const std::string& word : words) {
    if (word != "all") {
      names.push_back(word);
      continue;
    }
    for (const EngineEntry& entry : Engines()) {
      if (entry.make != nullptr && entry.is_store) names.emplace_back(entry.name);
    }
  }
  return names;
}

void AddLevelOptions(CLI::App* app, LevelShape* l) {
  app->add_option("--compaction_style", l->compaction_style, "of cambium's levels")
      ->transform(CLI::CheckedTransformer(std::map<std::string, CompactionStyle>{
          {"level", kCompactionStyleLevel}, {"lazy", kCompactionStyleLazyLevel}}))
      ->option_text("{level,lazy}=level");
  app->add_option("--level0_file_num_compaction_trigger", l->level0_file_num_compaction_trigger,
                  "runs that start a compaction; this and the following of cambium's lsm and RocksDB")
      ->capture_default_str();
  app->add_option("--level0_slowdown_writes_trigger", l->level0_slowdown_writes_trigger, "runs that slow writes down")
      ->capture_default_str();
  app->add_option("--level0_stop_writes_trigger", l->level0_stop_writes_trigger, "runs that stop writes")
      ->capture_default_str();
  app->add_option("--target_file_size_base", l->target_file_size_base, "bytes of a file in level 1")
      ->capture_default_str();
  app->add_option("--target_file_size_multiplier", l->target_file_size_multiplier, "from level to level")
      ->capture_default_str();
  app->add_option("--max_bytes_for_level_base", l->max_bytes_for_level_base, "bytes of level 1")->capture_default_str();
  app->add_option("--max_bytes_for_level_multiplier", l->max_bytes_for_level_multiplier, "from level to level")
      ->capture_default_str();
  app->add_option("--num_levels", l->num_levels, "levels, level 0 included")->capture_default_str();
}

void AddOptions(CLI::App* app, BenchFlags* f) {
  app->add_option("--engine", f->engines, "engines that take turns; all are the stores built in; see --list")
      ->delimiter(',')->capture_default_str();
  app->add_option("--index", f->index, "the index of the engine cambium; with both it has two turns in each round")
      ->check(CLI::IsMember({"btree", "lsm", "both"}))->capture_default_str();
  app->add_option("--benchmarks", f->benchmarks, "what to run, in this order; see --list")
      ->delimiter(',')->capture_default_str();
  app->add_option("--num", f->num, "size of the key space")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40))->capture_default_str();
  app->add_option("--reads", f->reads, "reads per thread; negative: num")->capture_default_str();
  app->add_option("--writes", f->writes, "writes per thread; negative: num")->capture_default_str();
  app->add_option("--deletes", f->deletes, "deletes per thread; negative: num")->capture_default_str();
  app->add_option("--duration", f->duration, "seconds for which random workloads run; 0: until their number is done")
      ->capture_default_str();
  app->add_option("--threads", f->threads, "threads of a workload")->check(CLI::Range(1u, 255u))->capture_default_str();
  app->add_option("--key_size", f->key_size, "bytes of a key")
      ->check(CLI::Range(kKeySizeMin, kKeySizeMax))->capture_default_str();
  app->add_option("--value_size", f->value_size, "bytes of a value")
      ->check(CLI::Range(std::size_t{0}, kValueSizeMax))->capture_default_str();
  app->add_option("--key_style", f->key_style, "what keys look like: db_bench's, badger's (22 bytes) or ycsb's (hashed)")
      ->transform(CLI::CheckedTransformer(std::map<std::string, KeyStyle>{
          {"db_bench", KeyStyle::kDbBench}, {"badger", KeyStyle::kBadger}, {"ycsb", KeyStyle::kYcsb}}))
      ->option_text("{db_bench,badger,ycsb}=db_bench");
  app->add_option("--prefix_size", f->prefix_size, "bytes of the prefix of keys, with --keys_per_prefix")
      ->capture_default_str();
  app->add_option("--keys_per_prefix", f->keys_per_prefix, "keys with the same prefix; 0: no prefixes")
      ->capture_default_str();
  app->add_option("--value_size_distribution_type", f->value_size_distribution_type,
                  "fixed: --value_size; uniform, normal: between --value_size_min and --value_size_max")
      ->transform(CLI::CheckedTransformer(std::map<std::string, SizeDistribution>{
          {"fixed", SizeDistribution::kFixed}, {"uniform", SizeDistribution::kUniform}, {"normal", SizeDistribution::kNormal}}))
      ->option_text("{fixed,uniform,normal}=fixed");
  app->add_option("--value_size_min", f->value_size_min, "bytes")->check(CLI::Range(std::size_t{0}, kValueSizeMax))
      ->capture_default_str();
  app->add_option("--value_size_max", f->value_size_max, "bytes")->check(CLI::Range(std::size_t{0}, kValueSizeMax))
      ->capture_default_str();
  app->add_option("--read_random_exp_range", f->read_random_exp_range,
                  "reads of random keys are skewed: exp(-uniform * this); 0: all keys alike")
      ->check(CLI::Range(0.0, 700.0))->capture_default_str();
  app->add_option("--batch_size", f->batch_size, "puts that are committed together; keys of a multireadrandom")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 20))->capture_default_str();
  app->add_option("--seek_nexts", f->seek_nexts, "entries read after each seek")->capture_default_str();
  app->add_flag("--sync", f->sync, "every write is durable when it returns");
  app->add_flag("--disable_wal", f->disable_wal, "writes without a log where an engine has such; Cambium's is its only copy");
  app->add_option("--verify_checksum", f->verify_checksum, "verify checksums of what is read, where an engine has them")
      ->capture_default_str();
  app->add_option("--seed", f->seed, "of keys and values; 0: the time")->capture_default_str();
  app->add_option("--db", f->db, "directory for the databases, one below it per engine; they stay. "
                                 "Without it a temporary one, removed at the end");
  app->add_flag("--use_existing_db", f->use_existing_db, "open what is in --db; workloads that fill are skipped");
  app->add_option("--compression_type", f->compression_type, "of values or blocks, as the engine does it; snappy is not in Cambium")
      ->check(CLI::IsMember({"none", "lz4", "zstd", "snappy"}))->capture_default_str();
  app->add_option("--compression_ratio", f->compression_ratio, "random part of the values when they are compressed")
      ->check(CLI::Range(0.01, 1.0))->capture_default_str();
  app->add_option("--cache_size", f->cache_size, "bytes of block cache, or of cambium's pool of index pages")
      ->capture_default_str();
  app->add_option("--write_buffer_size", f->write_buffer_size, "bytes of a memory table")->capture_default_str();
  app->add_flag("--mmap_read,!--no_mmap_read", f->mmap_read,
                "map files for reading: allow_mmap_reads of Cambium and RocksDB; LMDB and LevelDB always do");
  app->add_option("--max_write_buffer_number", f->max_write_buffer_number, "memory tables, of Cambium and RocksDB")
      ->check(CLI::Range(2, 64))
      ->capture_default_str();
  app->add_option("--min_blob_size", f->min_blob_size, "values of at least this size are separated from their keys")
      ->capture_default_str();
  app->add_option("--blob_file_size", f->blob_file_size, "bytes of a file of values")->capture_default_str();
  app->add_option("--bloom_bits", f->bloom_bits, "filter bits per key; 0: no filters")
      ->check(CLI::Range(0, 64))->capture_default_str();
  AddLevelOptions(app, &f->levels);
  app->add_option("--max_space_amplification", f->space.max_space_amplification,
                  "files of Cambium per byte that is alive, at most; 0: no ceiling")
      ->capture_default_str();
  app->add_option("--enable_blob_garbage_collection", f->space.enable_blob_garbage_collection,
                  "log GC of Cambium, blob GC of rocksdb_blob")
      ->capture_default_str();
  app->add_option("--blob_garbage_collection_age_cutoff", f->space.blob_garbage_collection_age_cutoff,
                  "the part of the files, oldest first, that GC may take")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  app->add_option("--blob_garbage_collection_force_threshold", f->space.blob_garbage_collection_force_threshold,
                  "the part of their bytes that is garbage when GC is forced; 1: never")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  app->add_option("--value_clustering", f->space.value_clustering, "whether values of Cambium come into the order of keys")
      ->check(CLI::IsMember({"off", "auto", "full"}))
      ->capture_default_str();
  app->add_flag("--cluster_values", f->space.cluster_values, "compact has Cambium's values written in the order of keys");
  app->add_option("--check", f->check, "how much of each value read is compared: full, or ends (header and ends)")
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, CheckDepth>{{"full", CheckDepth::kFull}, {"ends", CheckDepth::kEnds}}))
      ->option_text("{full,ends}=full");
  app->add_option("--rounds", f->rounds, "how often all engines have their turn; the table shows medians and spreads")
      ->check(CLI::Range(1u, 1000u))->capture_default_str();
  app->add_flag("--drop_caches", f->drop_caches,
                "before each workload that reads close the database, drop what the system caches, and open it again; "
                "needs root");
  app->add_option("--memory_limit", f->memory_limit,
                  "bytes of memory, page cache included, for the process from the first workload that reads on; it "
                  "begins cold. 256m is understood. Needs root, and a control group. 0: no limit")
      ->transform(CLI::AsSizeValue(false))->option_text("SIZE=0");
  app->add_option("--json", f->json, "appends a JSON object per engine, benchmark and round to this file");
  app->add_flag("--histogram", f->histogram, "print more percentiles");
  app->add_flag("--list", f->list, "list benchmarks and engines, and end");
}

}  // namespace

ParsedFlags ParseFlags(int argc, char** argv) {
  ParsedFlags parsed;
  BenchFlags& f = parsed.flags;
  CLI::App app("Measures Cambium beside its peers, with db_bench's workloads. Counts are per thread, as there.");
  AddOptions(&app, &f);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    parsed.exit_code = app.exit(error) == 0 ? 0 : 2;
    return parsed;
  }
  f.engines = WithoutAll(f.engines);
  std::string wrong;
  if (const std::string name = FirstUnknown(f.engines, FindEngine); !name.empty()) wrong = "engine " + name;
  if (const std::string name = FirstUnknown(f.benchmarks, FindWorkload); !name.empty()) wrong = "benchmark " + name;
  if (!wrong.empty()) {
    std::fprintf(stderr, "cambium_bench: there is no %s; --list shows what there is\n", wrong.c_str());
    parsed.exit_code = 2;
  }
  if (wrong.empty() && (f.drop_caches || f.memory_limit > 0) && FirstThatReads(f.benchmarks) == f.benchmarks.size()) {
    std::fprintf(stderr, "cambium_bench: --drop_caches and --memory_limit need a workload that reads\n");
    parsed.exit_code = 2;
  }
  if (f.use_existing_db && f.db.empty()) {
    std::fprintf(stderr, "cambium_bench: --use_existing_db needs --db\n");
    parsed.exit_code = 2;
  }
  if (f.seed == 0) f.seed = static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  return parsed;
}

std::string ToCommandLine(const BenchFlags& f) {
  std::string line = "cambium_bench --engine=" + Join(f.engines) + " --index=" + f.index +
                     " --benchmarks=" + Join(f.benchmarks);
  const auto add = [&line](const char* name, const auto& value) {
    line += std::string(" --") + name + "=" + std::to_string(value);
  };
  add("num", f.num);
  add("reads", f.reads);
  add("writes", f.writes);
  add("deletes", f.deletes);
  add("duration", f.duration);
  add("threads", f.threads);
  add("key_size", f.key_size);
  line += std::string(" --key_style=") + (f.key_style == KeyStyle::kDbBench ? "db_bench" : f.key_style == KeyStyle::kBadger ? "badger" : "ycsb");
  add("prefix_size", f.prefix_size);
  add("keys_per_prefix", f.keys_per_prefix);
  add("value_size", f.value_size);
  if (f.value_size_distribution_type != SizeDistribution::kFixed) {
    line += std::string(" --value_size_distribution_type=") +
            (f.value_size_distribution_type == SizeDistribution::kUniform ? "uniform" : "normal");
    add("value_size_min", f.value_size_min);
    add("value_size_max", f.value_size_max);
  }
  add("read_random_exp_range", f.read_random_exp_range);
  add("batch_size", f.batch_size);
  add("seek_nexts", f.seek_nexts);
  add("sync", static_cast<int>(f.sync));
  add("disable_wal", static_cast<int>(f.disable_wal));
  add("verify_checksum", static_cast<int>(f.verify_checksum));
  add("seed", f.seed);
  line += " --compression_type=" + f.compression_type;
  if (f.compression_type != "none") add("compression_ratio", f.compression_ratio);
  add("cache_size", f.cache_size);
  add("write_buffer_size", f.write_buffer_size);
  add("max_write_buffer_number", f.max_write_buffer_number);
  add("mmap_read", f.mmap_read ? 1 : 0);
  add("min_blob_size", f.min_blob_size);
  add("blob_file_size", f.blob_file_size);
  add("bloom_bits", f.bloom_bits);
  add("max_space_amplification", f.space.max_space_amplification);
  add("enable_blob_garbage_collection", f.space.enable_blob_garbage_collection ? 1 : 0);
  add("blob_garbage_collection_age_cutoff", f.space.blob_garbage_collection_age_cutoff);
  add("blob_garbage_collection_force_threshold", f.space.blob_garbage_collection_force_threshold);
  line += " --value_clustering=" + f.space.value_clustering;
  add("cluster_values", static_cast<int>(f.space.cluster_values));
  const LevelShape& l = f.levels;
  line += std::string(" --compaction_style=") + (l.compaction_style == kCompactionStyleLevel ? "level" : "lazy");
  add("level0_file_num_compaction_trigger", l.level0_file_num_compaction_trigger);
  add("level0_slowdown_writes_trigger", l.level0_slowdown_writes_trigger);
  add("level0_stop_writes_trigger", l.level0_stop_writes_trigger);
  add("target_file_size_base", l.target_file_size_base);
  add("target_file_size_multiplier", l.target_file_size_multiplier);
  add("max_bytes_for_level_base", l.max_bytes_for_level_base);
  add("max_bytes_for_level_multiplier", l.max_bytes_for_level_multiplier);
  add("num_levels", l.num_levels);
  line += std::string(" --check=") + (f.check == CheckDepth::kFull ? "full" : "ends");
  add("rounds", f.rounds);
  add("drop_caches", static_cast<int>(f.drop_caches));
  add("memory_limit", f.memory_limit);
  if (!f.db.empty()) line += " --db=" + f.db + " --use_existing_db=" + std::to_string(f.use_existing_db);
  return line;
}

}  // namespace cambium::bench
