// From RocksDB's options to this library's. An option that the program has not set keeps this library's default.
#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <string_view>

#include "rocksdb_c/objects.h"

namespace cambium::rocks {
namespace {

// Numbers that have a meaning here; all others are hints.
constexpr std::array<std::string_view, 30> kMeant = {"create_if_missing",
                                                     "create_missing_column_families",
                                                     "error_if_exists",
                                                     "wal_recovery_mode",
                                                     "max_open_files",
                                                     "max_background_jobs",
                                                     "max_background_compactions",
                                                     "max_background_flushes",
                                                     "max_total_wal_size",
                                                     "db_write_buffer_size",
                                                     "allow_mmap_reads",
                                                     "write_buffer_size",
                                                     "max_write_buffer_number",
                                                     "enable_blob_files",
                                                     "min_blob_size",
                                                     "blob_file_size",
                                                     "blob_compression_type",
                                                     "enable_blob_gc",
                                                     "blob_gc_age_cutoff",
                                                     "blob_gc_force_threshold",
                                                     "compression",
                                                     "compaction_style",
                                                     "level0_file_num_compaction_trigger",
                                                     "level0_slowdown_writes_trigger",
                                                     "level0_stop_writes_trigger",
                                                     "num_levels",
                                                     "target_file_size_base",
                                                     "target_file_size_multiplier",
                                                     "max_bytes_for_level_base",
                                                     "max_bytes_for_level_multiplier"};

constexpr int kUniversal = 1;
constexpr int kFifo = 2;

// A limiter with a lower rate is not used: it would stop flushes and log GC for minutes. Programs set such rates in
// tests, or because RocksDB rewrites data often.
constexpr std::int64_t kRateLeast = 1 << 20;

CompressionType CodecOf(int rocks) {
  switch (rocks) {
    case 1:
    case 4:
    case 5:
    case 6:
      return kLZ4Compression;  // Snappy, LZ4, LZ4HC, Xpress
    case 2:
    case 3:
    case 7:
      return kZSTD;  // Zlib, BZip2, ZSTD
    default:
      return kNoCompression;
  }
}

bool IsOtherCodec(int rocks) { return rocks != 0 && rocks != 4 && rocks != 7 && rocks != 255; }

// Returns the nearest value that this library accepts. RocksDB corrects values to its own limits in the same way.
template <typename T, typename U>
T Within(U value, T least, T most) {
  if (std::cmp_less(value, least)) return least;
  return std::cmp_greater(value, most) ? most : static_cast<T>(value);
}

bool IsMeant(std::string_view name) { return std::ranges::find(kMeant, name) != kMeant.end(); }

void AddUnusedNumbers(const rocksdb_options_t& from, std::vector<std::string>* hints) {
#define CAMBIUM_ROCKSDB_UNUSED(prefix, name, set_type, get_type, initial)                                 \
  if (from.given.test(kRocks_##name) && from.name != static_cast<get_type>(initial) && !IsMeant(#name)) { \
    hints->emplace_back(#name);                                                                           \
  }
  CAMBIUM_ROCKSDB_OPTIONS(CAMBIUM_ROCKSDB_UNUSED, options)
#undef CAMBIUM_ROCKSDB_UNUSED
}

// A truth value is true, false, 1 or 0; a whole number may end in K, M, G or T. Options of an enumerated type are
// numbers here; their text may be a name that begins with k.
template <typename Number>
bool IsValue(std::string_view text) {
  if constexpr (std::is_same_v<Number, unsigned char>) {
    return text == "true" || text == "false" || text == "1" || text == "0";
  } else {
    constexpr std::string_view kUnits = "kKmMgGtT";
    const bool has_unit = std::is_integral_v<Number> && text.size() > 1 && kUnits.find(text.back()) != kUnits.npos;
    if (has_unit) text.remove_suffix(1);
    const auto is_of_name = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
    if (std::is_same_v<Number, int> && text.starts_with('k') && std::ranges::all_of(text, is_of_name)) return true;
    Number number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size();
  }
}

Status CheckSupported(const rocksdb_options_t& from, const std::string& path) {
  if (from.is_in_memory) return Lacks("an Env in memory");
  if (from.comparator != nullptr && from.comparator->has_timestamps) return Lacks("a comparator with timestamps");
  if (from.given.test(kRocks_compaction_style) && from.compaction_style == kFifo) return Lacks("FIFO compaction");
  if (!from.wal_dir.empty() && from.wal_dir != path) return Lacks("a wal_dir other than the database's directory");
  for (const std::string& each : from.paths) {
    if (each != path) return Lacks("a db_path other than the database's directory");
  }
  if (!from.refused.empty()) return Lacks(from.refused.front().c_str());
  return Status::OK();
}

void SetDatabase(const rocksdb_options_t& from, Options* to, std::vector<std::string>* hints) {
  to->create_if_missing = from.create_if_missing != 0;
  to->create_missing_column_families = from.create_missing_column_families != 0;
  to->error_if_exists = from.error_if_exists != 0;
  const auto has = [&from](RocksOption option) { return from.given.test(option); };
  if (has(kRocks_wal_recovery_mode)) to->wal_recovery_mode = c::ToEnum<WALRecoveryMode>(from.wal_recovery_mode);
  if (has(kRocks_max_open_files)) to->max_open_files = std::clamp(from.max_open_files, -1, 1 << 30);
  int jobs = has(kRocks_max_background_jobs) ? from.max_background_jobs : to->max_background_jobs;
  // If a program sets one of the older options, RocksDB takes the numbers of jobs from these two, at least one of each
  // kind.
  if (has(kRocks_max_background_compactions) || has(kRocks_max_background_flushes)) {
    jobs = Within(from.max_background_compactions, 1, 64) + Within(from.max_background_flushes, 1, 64);
  }
  to->max_background_jobs = Within(jobs, 1, 64);
  if (has(kRocks_max_total_wal_size) && from.max_total_wal_size != 0) {
    to->max_total_wal_size = Within<std::uint64_t>(from.max_total_wal_size, 4u << 10, std::uint64_t{1} << 40);
  }
  if (has(kRocks_db_write_buffer_size) && from.db_write_buffer_size != 0) {
    to->db_write_buffer_size = Within<std::size_t>(from.db_write_buffer_size, 64u << 10, std::size_t{1} << 50);
  }
  if (has(kRocks_allow_mmap_reads)) to->allow_mmap_reads = from.allow_mmap_reads != 0;
  to->info_log = from.info_log;
  to->statistics = from.statistics;
  to->listeners = from.listeners;
  to->write_buffer_manager = from.write_buffer_manager;
  if (from.rate_limiter != nullptr) {
    to->rate_limiter = from.rate_limiter;
    if (from.rate_limiter->GetBytesPerSecond() < kRateLeast) {
      to->rate_limiter = nullptr;
      hints->emplace_back("rate_limiter below 1 MiB a second");
    }
  }
}

void SetValues(const rocksdb_options_t& from, Options* to, std::vector<std::string>* hints) {
  const auto has = [&from](RocksOption option) { return from.given.test(option); };
  if (has(kRocks_enable_blob_files)) to->enable_blob_files = from.enable_blob_files != 0;
  if (has(kRocks_min_blob_size)) to->min_blob_size = from.min_blob_size;
  if (has(kRocks_blob_file_size)) {
    to->blob_file_size = Within<std::uint64_t>(from.blob_file_size, 16u << 10, std::uint64_t{1} << 30);
  }
  if (has(kRocks_blob_compression_type)) to->blob_compression_type = CodecOf(from.blob_compression_type);
  if (has(kRocks_enable_blob_gc)) to->enable_blob_garbage_collection = from.enable_blob_gc != 0;
  if (has(kRocks_blob_gc_age_cutoff)) to->blob_garbage_collection_age_cutoff = from.blob_gc_age_cutoff;
  if (has(kRocks_blob_gc_force_threshold)) {
    to->blob_garbage_collection_force_threshold = from.blob_gc_force_threshold;
  }
  if (has(kRocks_compression)) to->compression = CodecOf(from.compression);
  const bool is_other = (has(kRocks_compression) && IsOtherCodec(from.compression)) ||
                        (has(kRocks_blob_compression_type) && IsOtherCodec(from.blob_compression_type));
  if (is_other) hints->emplace_back("compression other than LZ4 and ZSTD (the nearest of these is used)");
}

void SetIndex(const rocksdb_options_t& from, Options* to) {
  const auto has = [&from](RocksOption option) { return from.given.test(option); };
  if (has(kRocks_write_buffer_size)) {
    to->write_buffer_size = Within<std::size_t>(from.write_buffer_size, 64u << 10, std::size_t{16} << 30);
  }
  if (has(kRocks_max_write_buffer_number)) to->max_write_buffer_number = Within(from.max_write_buffer_number, 2, 64);
  if (has(kRocks_compaction_style) && from.compaction_style == kUniversal) {
    to->compaction_style = kCompactionStyleLazyLevel;
  }
  if (has(kRocks_num_levels)) to->num_levels = Within(from.num_levels, 2, 63);
  int& first = to->level0_file_num_compaction_trigger;
  int& slow = to->level0_slowdown_writes_trigger;
  int& stop = to->level0_stop_writes_trigger;
  if (has(kRocks_level0_file_num_compaction_trigger)) first = from.level0_file_num_compaction_trigger;
  if (has(kRocks_level0_slowdown_writes_trigger)) slow = from.level0_slowdown_writes_trigger;
  if (has(kRocks_level0_stop_writes_trigger)) stop = from.level0_stop_writes_trigger;
  first = Within(first, 1, 1000);
  slow = Within(slow, first, 10'000);
  stop = Within(stop, slow, 10'000);
  constexpr std::uint64_t kLeast = 16u << 10;
  if (has(kRocks_target_file_size_base)) {
    to->target_file_size_base = Within(from.target_file_size_base, kLeast, std::uint64_t{1} << 40);
  }
  if (has(kRocks_target_file_size_multiplier)) {
    to->target_file_size_multiplier = Within(from.target_file_size_multiplier, 1, 100);
  }
  if (has(kRocks_max_bytes_for_level_base)) {
    to->max_bytes_for_level_base = Within(from.max_bytes_for_level_base, kLeast, std::uint64_t{1} << 50);
  }
  if (has(kRocks_max_bytes_for_level_multiplier)) {
    to->max_bytes_for_level_multiplier = std::clamp(from.max_bytes_for_level_multiplier, 1.0, 1000.0);
  }
  if (from.comparator != nullptr) to->comparator = from.comparator->rep.get();
  if (from.compaction_filter != nullptr) to->compaction_filter = from.compaction_filter->rep.get();
  to->compaction_filter_factory = from.compaction_filter_factory;
  if (!from.table.has_value()) return;
  if (from.table->filter_bits_per_key.has_value()) {
    to->filter_bits_per_key = Within(static_cast<int>(*from.table->filter_bits_per_key + 0.5), 0, 64);
  }
  if (from.table->block_cache != nullptr) {
    to->page_cache_size = std::max<std::size_t>(from.table->block_cache->capacity, 64u << 10);
  }
}

}  // namespace

Status ToCambium(const rocksdb_options_t& from, const std::string& path, Options* to, std::vector<std::string>* hints) {
  CAMBIUM_RETURN_IF_ERROR(CheckSupported(from, path));
  hints->insert(hints->end(), from.hints.begin(), from.hints.end());
  AddUnusedNumbers(from, hints);
  if (from.table.has_value() && from.table->user_defined_index.has_value()) {
    hints->emplace_back("user_defined_index_factory");
  }
  SetDatabase(from, to, hints);
  SetValues(from, to, hints);
  SetIndex(from, to);
  return Status::OK();
}

bool IsHint(std::string_view name, std::string_view text, bool* is_value) {
#define CAMBIUM_ROCKSDB_IS_NUMBER(prefix, field, set_type, get_type, initial) \
  if (name == #field) {                                                       \
    *is_value = IsValue<get_type>(text);                                      \
    return !IsMeant(name);                                                    \
  }
  CAMBIUM_ROCKSDB_OPTIONS(CAMBIUM_ROCKSDB_IS_NUMBER, options)
#undef CAMBIUM_ROCKSDB_IS_NUMBER
  return false;
}

}  // namespace cambium::rocks
