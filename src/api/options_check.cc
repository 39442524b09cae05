#include "api/options_check.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "util/compression.h"
#include "util/result.h"
#include "vlog/record_format.h"

namespace cambium {
namespace {

template <typename T>
Status CheckRange(const char* name, T value, T low, T high) {
  if (value >= low && value <= high) return Status::OK();
  return Status::InvalidArgument(std::string(name) + " is " + std::to_string(value) + "; legal is " +
                                 std::to_string(low) + " to " + std::to_string(high));
}

constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kGiB = kKiB * kKiB * kKiB;

}  // namespace

Status CheckDbOptions(const DBOptions& options) {
  if (options.wal_recovery_mode == WALRecoveryMode::kSkipAnyCorruptedRecords) {
    return Status::NotSupported("wal_recovery_mode kSkipAnyCorruptedRecords would make states that never were");
  }
  if (options.wal_recovery_mode > WALRecoveryMode::kSkipAnyCorruptedRecords) {
    return Status::InvalidArgument("wal_recovery_mode is not one of WALRecoveryMode");
  }
  CAMBIUM_RETURN_IF_ERROR(
      CheckRange<std::uint64_t>("page_cache_size", options.page_cache_size, 64 * kKiB, kGiB * kKiB * kKiB));
  if (options.max_total_wal_size != 0) {
    CAMBIUM_RETURN_IF_ERROR(
        CheckRange<std::uint64_t>("max_total_wal_size", options.max_total_wal_size, 4 * kKiB, kGiB * kKiB));
  }
  CAMBIUM_RETURN_IF_ERROR(CheckRange("max_background_jobs", options.max_background_jobs, 1, 64));
  return CheckRange<std::uint64_t>("lock_wait_micros", options.lock_wait_micros, 0, 3600ull * 1000 * 1000);
}

namespace {

Status CheckCodec(const char* name, CompressionType type) {
  Codec codec;
  if (CodecOf(type, &codec)) return Status::OK();
  return Status::NotSupported(std::string(name) + " " + std::to_string(static_cast<int>(type)) +
                              "; this library has kNoCompression, kLZ4Compression and kZSTD");
}

Status CheckLsmOptions(const ColumnFamilyOptions& options) {
  if (options.compaction_style != kCompactionStyleLevel && options.compaction_style != kCompactionStyleLazyLevel) {
    return Status::NotSupported("compaction_style " + std::to_string(static_cast<int>(options.compaction_style)) +
                                "; this library has kCompactionStyleLevel and kCompactionStyleLazyLevel");
  }
  const int slowdown = options.level0_slowdown_writes_trigger;
  CAMBIUM_RETURN_IF_ERROR(
      CheckRange("level0_file_num_compaction_trigger", options.level0_file_num_compaction_trigger, 1, 1000));
  CAMBIUM_RETURN_IF_ERROR(CheckRange("level0_slowdown_writes_trigger", slowdown,
                                     options.level0_file_num_compaction_trigger, 10000));
  CAMBIUM_RETURN_IF_ERROR(
      CheckRange("level0_stop_writes_trigger", options.level0_stop_writes_trigger, slowdown, 10000));
  CAMBIUM_RETURN_IF_ERROR(CheckRange<std::uint64_t>("target_file_size_base", options.target_file_size_base, 16 * kKiB,
                                                    kGiB * kKiB));
  CAMBIUM_RETURN_IF_ERROR(CheckRange("target_file_size_multiplier", options.target_file_size_multiplier, 1, 100));
  CAMBIUM_RETURN_IF_ERROR(CheckRange<std::uint64_t>("max_bytes_for_level_base", options.max_bytes_for_level_base,
                                                    16 * kKiB, kGiB * kKiB * kKiB));
  CAMBIUM_RETURN_IF_ERROR(
      CheckRange("max_bytes_for_level_multiplier", options.max_bytes_for_level_multiplier, 1.0, 1000.0));
  CAMBIUM_RETURN_IF_ERROR(CheckRange("num_levels", options.num_levels, 2, 63));
  return CheckCodec("compression", options.compression);
}

}  // namespace

Status CheckFamilyName(const std::string& name) {
  if (!name.empty() && name.size() <= 255) return Status::OK();
  return Status::InvalidArgument("the name of a column family has " + std::to_string(name.size()) +
                                 " bytes; legal is 1 to 255");
}

Status CheckColumnFamilyOptions(const ColumnFamilyOptions& options) {
  if (options.comparator == nullptr) return Status::InvalidArgument("comparator is null");
  const std::size_t name_size = std::strlen(options.comparator->Name());
  if (name_size == 0 || name_size > 255) {
    return Status::InvalidArgument("the comparator's name has " + std::to_string(name_size) +
                                   " bytes; legal is 1 to 255");
  }
  if (options.index_type != IndexKind::kBTree && options.index_type != IndexKind::kLsm) {
    return Status::InvalidArgument("index_type is not one of IndexKind");
  }
  CAMBIUM_RETURN_IF_ERROR(CheckCodec("blob_compression_type", options.blob_compression_type));
  CAMBIUM_RETURN_IF_ERROR(CheckRange<std::uint64_t>("page_size", options.page_size, 512, 16 * kKiB));
  if ((options.page_size & (options.page_size - 1)) != 0) {
    return Status::InvalidArgument("page_size is " + std::to_string(options.page_size) +
                                   "; legal is a power of two from 512 to 16384");
  }
  CAMBIUM_RETURN_IF_ERROR(CheckRange("filter_bits_per_key", options.filter_bits_per_key, 0, 64));
  CAMBIUM_RETURN_IF_ERROR(CheckRange("sweep_ratio", options.sweep_ratio, 1, 1000));
  CAMBIUM_RETURN_IF_ERROR(
      CheckRange<std::uint64_t>("write_buffer_size", options.write_buffer_size, 4 * kKiB, 16 * kGiB));
  CAMBIUM_RETURN_IF_ERROR(CheckRange("max_write_buffer_number", options.max_write_buffer_number, 2, 64));
  CAMBIUM_RETURN_IF_ERROR(CheckRange<std::uint64_t>("blob_file_size", options.blob_file_size, 16 * kKiB, kGiB));
  CAMBIUM_RETURN_IF_ERROR(
      CheckRange<std::uint64_t>("large_value_size", options.large_value_size, 4 * kKiB, kLoggedValueSizeMax));
  return CheckLsmOptions(options);
}

Status CheckOptions(const Options& options) {
  CAMBIUM_RETURN_IF_ERROR(CheckDbOptions(options));
  return CheckColumnFamilyOptions(options);
}

DBOptions FillInDefaults(const DBOptions& options) {
  DBOptions filled = options;
  if (filled.file_system == nullptr) filled.file_system = FileSystem::Default();
  if (filled.clock == nullptr) filled.clock = Clock::Default();
  if (filled.random_source == nullptr) filled.random_source = RandomSource::Default();
  if (filled.max_total_wal_size == 0) filled.max_total_wal_size = kGiB;
  return filled;
}

std::uint64_t SeparateFrom(const ColumnFamilyOptions& options, std::uint64_t page_size) {
  const std::uint64_t too_large_inline = page_size / 4 + 1;
  if (!options.enable_blob_files) return too_large_inline;
  return std::clamp<std::uint64_t>(options.min_blob_size, 1, too_large_inline);
}

}  // namespace cambium
