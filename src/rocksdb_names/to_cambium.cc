#include "rocksdb_names/to_cambium.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "rocksdb_names/hints.h"
#include "rocksdb_names/logger.h"
#include "util/result.h"

namespace rocksdb::inline on_cambium {
namespace {

Status Lacks(const std::string& feature) { return Status::NotSupported(feature + " is not in this version"); }

// The nearest value that Cambium accepts.
template <typename T>
void Clamp(T* value, std::type_identity_t<T> least, std::type_identity_t<T> most) {
  *value = std::clamp(*value, least, most);
}

bool IsElsewhere(const std::vector<DbPath>& paths, const std::string& path) {
  return std::ranges::any_of(paths, [&path](const DbPath& each) { return each.path != path; });
}

// Returns the nearest of the kinds that Cambium has.
cambium::CompressionType CodecOf(CompressionType type) {
  switch (type) {
    case kSnappyCompression:
    case kLZ4Compression:
    case kLZ4HCCompression:
    case kXpressCompression:
      return cambium::kLZ4Compression;
    case kZlibCompression:
    case kBZip2Compression:
    case kZSTD:
      return cambium::kZSTD;
    case kNoCompression:
    case kDisableCompressionOption:
      break;
  }
  return cambium::kNoCompression;
}
bool IsReplaced(CompressionType type) {
  return type != kNoCompression && type != kLZ4Compression && type != kZSTD && type != kDisableCompressionOption;
}

// Makes a filter for each job by a factory of the program's.
class FactoryOnCambium final : public cambium::CompactionFilterFactory {
 public:
  explicit FactoryOnCambium(std::shared_ptr<on_cambium::CompactionFilterFactory> user) : user_(std::move(user)) {}

  std::unique_ptr<cambium::CompactionFilter> CreateCompactionFilter(
      const cambium::CompactionFilter::Context& context) override {
    on_cambium::CompactionFilter::Context its;
    its.is_full_compaction = context.is_full_compaction;
    its.is_manual_compaction = context.is_manual_compaction;
    its.column_family_id = context.column_family_id;
    its.reason = context.reason;
    std::unique_ptr<on_cambium::CompactionFilter> made = user_->CreateCompactionFilter(its);
    if (made == nullptr) return nullptr;
    return std::make_unique<Owned>(std::move(made));
  }
  [[nodiscard]] const char* Name() const override { return user_->Name(); }

 private:
  class Owned final : public cambium::CompactionFilter {
   public:
    explicit Owned(std::unique_ptr<on_cambium::CompactionFilter> user) : user_(std::move(user)) {}
    Decision FilterBlobByKey(int level, const Slice& key, std::string* new_value,
                             std::string* skip_until) const override {
      return user_->OnCambium()->FilterBlobByKey(level, key, new_value, skip_until);
    }
    Decision FilterV2(int level, const Slice& key, ValueType type, const Slice& existing_value, std::string* new_value,
                      std::string* skip_until) const override {
      return user_->OnCambium()->FilterV2(level, key, type, existing_value, new_value, skip_until);
    }
    [[nodiscard]] bool IgnoreSnapshots() const override { return user_->IgnoreSnapshots(); }
    [[nodiscard]] const char* Name() const override { return user_->Name(); }

   private:
    const std::unique_ptr<on_cambium::CompactionFilter> user_;
  };
  const std::shared_ptr<on_cambium::CompactionFilterFactory> user_;
};

void AddNames(const TextPairs& set, std::vector<std::string>* hints) {
  for (const auto& [name, text] : set) hints->push_back(name);
}

void AddFamilyHints(const ColumnFamilyOptions& from, std::vector<std::string>* hints) {
  const auto add = [hints](bool is_set, const char* name) {
    if (is_set) hints->emplace_back(name);
  };
  AddNames(SetHints(from), hints);
  if (from.table_factory != nullptr) AddNames(SetHints(*from.table_factory->GetOptions<BlockBasedTableOptions>()), hints);
  add(from.prefix_extractor != nullptr, "prefix_extractor");
  add(from.memtable_insert_with_hint_prefix_extractor != nullptr, "memtable_insert_with_hint_prefix_extractor");
  add(from.memtable_factory != nullptr, "memtable_factory");
  add(from.compression_opts != CompressionOptions(), "compression_opts");
  add(from.bottommost_compression_opts != CompressionOptions(), "bottommost_compression_opts");
  add(from.blob_compression_opts != CompressionOptions(), "blob_compression_opts");
  add(!from.compression_per_level.empty(), "compression_per_level");
  add(!from.max_bytes_for_level_multiplier_additional.empty(), "max_bytes_for_level_multiplier_additional");
  add(from.compaction_options_universal != CompactionOptionsUniversal(), "compaction_options_universal");
  add(from.blob_cache != nullptr, "blob_cache");
  add(IsReplaced(from.compression) || IsReplaced(from.blob_compression_type),
      "compression other than LZ4 and ZSTD (the nearest of these is used)");
}

void ClampFamily(cambium::ColumnFamilyOptions* to) {
  Clamp(&to->write_buffer_size, 4u << 10, std::size_t{16} << 30);
  Clamp(&to->max_write_buffer_number, 2, 64);
  Clamp(&to->num_levels, 2, 63);
  Clamp(&to->blob_file_size, 16u << 10, std::uint64_t{1} << 30);
  Clamp(&to->level0_file_num_compaction_trigger, 1, 1000);
  Clamp(&to->level0_slowdown_writes_trigger, to->level0_file_num_compaction_trigger, 10'000);
  Clamp(&to->level0_stop_writes_trigger, to->level0_slowdown_writes_trigger, 10'000);
  Clamp(&to->target_file_size_base, 16u << 10, std::uint64_t{1} << 40);
  Clamp(&to->target_file_size_multiplier, 1, 100);
  Clamp(&to->max_bytes_for_level_base, 16u << 10, std::uint64_t{1} << 50);
  Clamp(&to->max_bytes_for_level_multiplier, 1.0, 1000.0);
}

}  // namespace

Status ToCambium(const DBOptions& from, const std::string& path, cambium::DBOptions* to,
                 std::vector<std::string>* hints) {
  if (!from.wal_dir.empty() && from.wal_dir != path) return Lacks("a wal_dir other than the database's directory");
  if (IsElsewhere(from.db_paths, path)) return Lacks("a db_path other than the database's directory");
  *to = from.Same();
  if (from.max_background_compactions != -1 || from.max_background_flushes != -1) {
    to->max_background_jobs = std::clamp(from.max_background_compactions, 1, 32) +  // at least one of each kind
                              std::clamp(from.max_background_flushes, 1, 32);
  }
  Clamp(&to->max_background_jobs, 1, 64);
  Clamp(&to->max_open_files, -1, 1 << 30);
  if (to->max_total_wal_size != 0) Clamp(&to->max_total_wal_size, 4u << 10, std::uint64_t{1} << 40);
  if (to->db_write_buffer_size != 0) Clamp(&to->db_write_buffer_size, 64u << 10, std::size_t{1} << 50);
  to->info_log = OnCambium(from.info_log);
  if (from.write_buffer_manager != nullptr) {
    to->write_buffer_manager = from.write_buffer_manager->OnCambium();
    if (from.write_buffer_manager->cost_to_cache()) hints->emplace_back("write_buffer_manager's cache");
  }
  AddNames(SetHints(from), hints);
  for (std::string& each : Env::Default()->Hints()) hints->push_back(std::move(each));
  return Status::OK();
}

Status ToCambium(const ColumnFamilyOptions& from, const std::string& path, cambium::ColumnFamilyOptions* to,
                 std::vector<std::string>* hints) {
  if (from.comparator == nullptr) return Status::InvalidArgument("comparator is null");
  if (from.comparator->timestamp_size() != 0) return Lacks("a comparator with timestamps");
  if (from.compaction_style == kCompactionStyleFIFO) return Lacks("FIFO compaction");
  if (from.compaction_style == kCompactionStyleNone) return Lacks("compaction by the program (kCompactionStyleNone)");
  if (IsElsewhere(from.cf_paths, path)) return Lacks("a cf_path other than the database's directory");
  *to = from.Same();
  ClampFamily(to);
  to->comparator = from.comparator->OnCambium();
  to->compaction_filter = from.compaction_filter == nullptr ? nullptr : from.compaction_filter->OnCambium();
  to->compaction_filter_factory = from.compaction_filter_factory == nullptr
                                      ? nullptr
                                      : std::make_shared<FactoryOnCambium>(from.compaction_filter_factory);
  to->compaction_style = from.compaction_style == kCompactionStyleLevel ? cambium::kCompactionStyleLevel
                                                                        : cambium::kCompactionStyleLazyLevel;
  to->compression = CodecOf(from.compression);
  to->blob_compression_type = CodecOf(from.blob_compression_type);
  if (from.table_factory != nullptr) {
    const auto* const table = std::as_const(*from.table_factory).GetOptions<BlockBasedTableOptions>();
    if (table->filter_policy != nullptr) {
      to->filter_bits_per_key = static_cast<int>(std::lround(std::clamp(table->filter_policy->bits_per_key(), 0.0, 64.0)));
    }
  }
  AddFamilyHints(from, hints);
  return Status::OK();
}

Status FromCambium(const cambium::ColumnFamilyOptions& from, const std::vector<const Comparator*>& known,
                   ColumnFamilyOptions* to) {
  to->Same() = from;
  to->compression = static_cast<CompressionType>(from.compression);
  to->blob_compression_type = static_cast<CompressionType>(from.blob_compression_type);
  to->compaction_style = static_cast<CompactionStyle>(from.compaction_style);
  std::vector<const Comparator*> all = known;
  all.push_back(BytewiseComparator());
  all.push_back(ReverseBytewiseComparator());
  const auto its = std::ranges::find(all, from.comparator, &Comparator::OnCambium);
  if (its == all.end()) return Status::InvalidArgument(std::string("unknown comparator ") + from.comparator->Name());
  to->comparator = *its;
  return Status::OK();
}

}  // namespace rocksdb::inline on_cambium
