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

Status CheckOptions(const Options& options) {
  if (options.comparator == nullptr) return Status::InvalidArgument("comparator is null");
  const std::size_t name_size = std::strlen(options.comparator->Name());
  if (name_size == 0 || name_size > 255) {
    return Status::InvalidArgument("the comparator's name has " + std::to_string(name_size) +
                                   " bytes; legal is 1 to 255");
  }
  if (options.index_type == IndexKind::kLsm) return Status::NotSupported("index_type kLsm is not in this version");
  if (options.index_type != IndexKind::kBTree) return Status::InvalidArgument("index_type is not one of IndexKind");
  if (options.wal_recovery_mode == WALRecoveryMode::kSkipAnyCorruptedRecords) {
    return Status::NotSupported("wal_recovery_mode kSkipAnyCorruptedRecords would make states that never were");
  }
  if (options.wal_recovery_mode > WALRecoveryMode::kSkipAnyCorruptedRecords) {
    return Status::InvalidArgument("wal_recovery_mode is not one of WALRecoveryMode");
  }
  Codec codec;
  if (!CodecOf(options.blob_compression_type, &codec)) {
    return Status::NotSupported("blob_compression_type " +
                                std::to_string(static_cast<int>(options.blob_compression_type)) +
                                "; this library has kNoCompression, kLZ4Compression and kZSTD");
  }
  CAMBIUM_RETURN_IF_ERROR(CheckRange<std::uint64_t>("page_size", options.page_size, 512, 16 * kKiB));
  if ((options.page_size & (options.page_size - 1)) != 0) {
    return Status::InvalidArgument("page_size is " + std::to_string(options.page_size) +
                                   "; legal is a power of two from 512 to 16384");
  }
  CAMBIUM_RETURN_IF_ERROR(
      CheckRange<std::uint64_t>("page_cache_size", options.page_cache_size, 64 * kKiB, kGiB * kKiB * kKiB));
  CAMBIUM_RETURN_IF_ERROR(CheckRange("filter_bits_per_key", options.filter_bits_per_key, 0, 64));
  CAMBIUM_RETURN_IF_ERROR(CheckRange("sweep_ratio", options.sweep_ratio, 1, 1000));
  CAMBIUM_RETURN_IF_ERROR(
      CheckRange<std::uint64_t>("write_buffer_size", options.write_buffer_size, 4 * kKiB, 16 * kGiB));
  CAMBIUM_RETURN_IF_ERROR(CheckRange("max_write_buffer_number", options.max_write_buffer_number, 2, 64));
  if (options.max_total_wal_size != 0) {
    CAMBIUM_RETURN_IF_ERROR(
        CheckRange<std::uint64_t>("max_total_wal_size", options.max_total_wal_size, 4 * kKiB, kGiB * kKiB));
  }
  CAMBIUM_RETURN_IF_ERROR(CheckRange("max_background_jobs", options.max_background_jobs, 1, 64));
  CAMBIUM_RETURN_IF_ERROR(CheckRange<std::uint64_t>("blob_file_size", options.blob_file_size, 16 * kKiB, kGiB));
  CAMBIUM_RETURN_IF_ERROR(
      CheckRange<std::uint64_t>("large_value_size", options.large_value_size, 4 * kKiB, kLoggedValueSizeMax));
  CAMBIUM_RETURN_IF_ERROR(
      CheckRange<std::uint64_t>("lock_wait_micros", options.lock_wait_micros, 0, 3600ull * 1000 * 1000));
  return Status::OK();
}

Options FillInDefaults(const Options& options) {
  Options filled = options;
  if (filled.file_system == nullptr) filled.file_system = FileSystem::Default();
  if (filled.clock == nullptr) filled.clock = Clock::Default();
  if (filled.random_source == nullptr) filled.random_source = RandomSource::Default();
  if (filled.max_total_wal_size == 0) filled.max_total_wal_size = kGiB;
  return filled;
}

std::uint64_t SeparateFrom(const Options& options, std::uint64_t page_size) {
  const std::uint64_t too_large_inline = page_size / 4 + 1;
  if (!options.enable_blob_files) return too_large_inline;
  return std::clamp<std::uint64_t>(options.min_blob_size, 1, too_large_inline);
}

}  // namespace cambium
