#include "options/options_check.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

#include "cambium/comparator.h"
#include "options/option_table.h"
#include "util/compression.h"
#include "util/generic_rate_limiter.h"
#include "util/mutant.h"
#include "util/result.h"

namespace cambium {
namespace {

constexpr std::uint64_t kWalBytesDefault = 1u << 30;

// Returns "compression is kZlibCompression; ", with a number in place of the name if no enumerator has the value.
template <typename Struct>
std::string NameAndValue(const char* name, const Struct& options) {
  return std::string(name) + " is " + FormatOption(*FindOptionField<Struct>(name), options) + "; ";
}

}  // namespace

Status CheckDbOptions(const DBOptions& options) {
  if (options.wal_recovery_mode == WALRecoveryMode::kSkipAnyCorruptedRecords) {
    return Status::NotSupported("wal_recovery_mode is kSkipAnyCorruptedRecords; "
                                "it would recover states that never existed");
  }
  if (options.wal_recovery_mode > WALRecoveryMode::kSkipAnyCorruptedRecords) {
    return Status::InvalidArgument(NameAndValue("wal_recovery_mode", options) +
                                   "WALRecoveryMode has kTolerateCorruptedTailRecords, kAbsoluteConsistency and "
                                   "kPointInTimeRecovery");
  }
  if (options.rate_limiter != nullptr) {  // the cast is safe: only the library can make a rate limiter
    CAMBIUM_RETURN_IF_ERROR(static_cast<const GenericRateLimiter&>(*options.rate_limiter).Check());
  }
  if (std::ranges::find(options.listeners, nullptr) != options.listeners.end()) {
    return Status::InvalidArgument("one of the " + std::to_string(options.listeners.size()) +
                                   " pointers in listeners is null");
  }
  return CheckOptionRanges(options);
}

namespace {

Status CheckCodec(const char* name, CompressionType type, const ColumnFamilyOptions& options) {
  Codec codec;
  if (CodecOf(type, &codec)) return Status::OK();
  return Status::NotSupported(NameAndValue(name, options) +
                              "this library has kNoCompression, kLZ4Compression and kZSTD");
}

Status CheckAscends(const char* name, int trigger, int trigger_before) {
  if (trigger >= trigger_before) return Status::OK();
  return Status::InvalidArgument(std::string(name) + " is " + std::to_string(trigger) + "; legal is " +
                                 std::to_string(trigger_before) + " to 10000, not below the trigger before it");
}

Status CheckClustering(const ColumnFamilyOptions& options) {
  const ValueClustering how = options.value_clustering;
  if (how == ValueClustering::kOff || how == ValueClustering::kAuto || how == ValueClustering::kFull) {
    return Status::OK();
  }
  return Status::InvalidArgument(NameAndValue("value_clustering", options) +
                                 "ValueClustering has kOff, kAuto and kFull");
}

Status CheckLsmOptions(const ColumnFamilyOptions& options) {
  if (options.compaction_style != kCompactionStyleLevel && options.compaction_style != kCompactionStyleLazyLevel) {
    return Status::NotSupported(NameAndValue("compaction_style", options) +
                                "this library has kCompactionStyleLevel and kCompactionStyleLazyLevel");
  }
  // Each trigger was checked against its own range; no trigger may be lower than the previous one.
  CAMBIUM_RETURN_IF_ERROR(CheckAscends("level0_slowdown_writes_trigger", options.level0_slowdown_writes_trigger,
                                       options.level0_file_num_compaction_trigger));
  CAMBIUM_RETURN_IF_ERROR(CheckAscends("level0_stop_writes_trigger", options.level0_stop_writes_trigger,
                                       options.level0_slowdown_writes_trigger));
  return CheckCodec("compression", options.compression, options);
}

}  // namespace

Status CheckCeiling(double ceiling, const ColumnFamilyOptions& options) {
  // Below these ceilings, the files of an index would exceed their part of the ceiling while values in it are
  // overwritten. With two levels, each compaction rewrites the last level before it removes the old one.
  constexpr double kLeast = 1.25;
  constexpr double kLeastOfTwoLevels = 2.5;
  const bool has_two_levels = options.index_type == IndexKind::kLsm && options.num_levels == 2;
  const double least = has_two_levels ? kLeastOfTwoLevels : kLeast;
  const bool may_be_inline = !options.enable_blob_files || options.min_blob_size > 1;
  if (ceiling == 0 || ceiling >= least || !may_be_inline || MutantIs(Mutant::kAnyCeilingForInlineValues)) {
    return Status::OK();
  }
  char message[256];
  std::snprintf(message, sizeof message,
                "max_space_amplification is %g; for values in %s legal is 0, and %g or more. With enable_blob_files and a "
                "min_blob_size of 0 or 1 no values are in the index",
                ceiling, has_two_levels ? "an LSM of two levels" : "the index", least);
  return Status::InvalidArgument(message);
}

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
  // With the name of one of these, a database would be opened with another order than the one in which it was written.
  const bool is_own = options.comparator == BytewiseComparator() || options.comparator == ReverseBytewiseComparator();
  if (!is_own && Slice(options.comparator->Name()).starts_with("cambium.")) {
    return Status::InvalidArgument("the comparator's name is " + std::string(options.comparator->Name()) +
                                   "; names that begin with \"cambium.\" are the library's own");
  }
  if (options.index_type != IndexKind::kBTree && options.index_type != IndexKind::kLsm) {
    return Status::InvalidArgument(NameAndValue("index_type", options) + "IndexKind has kBTree and kLsm");
  }
  CAMBIUM_RETURN_IF_ERROR(CheckCodec("blob_compression_type", options.blob_compression_type, options));
  CAMBIUM_RETURN_IF_ERROR(CheckClustering(options));
  CAMBIUM_RETURN_IF_ERROR(CheckOptionRanges(options));
  if ((options.page_size & (options.page_size - 1)) != 0) {
    return Status::InvalidArgument("page_size is " + std::to_string(options.page_size) +
                                   "; legal is a power of two from 512 to 16384");
  }
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
  if (filled.max_total_wal_size == 0) filled.max_total_wal_size = kWalBytesDefault;
  return filled;
}

std::uint64_t SeparateFrom(const ColumnFamilyOptions& options, std::uint64_t page_size) {
  const std::uint64_t too_large_inline = page_size / 4 + 1;
  if (!options.enable_blob_files) return too_large_inline;
  return std::clamp<std::uint64_t>(options.min_blob_size, 1, too_large_inline);
}

}  // namespace cambium
