// What a database tells of itself, and the calls that this version does not have.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "api/db_impl.h"
#include "cambium/db.h"

namespace cambium {
namespace {

constexpr std::string_view kPrefixes[] = {"rocksdb.", "cambium."};

// "num-snapshots" of "rocksdb.num-snapshots" or "cambium.num-snapshots"; empty for neither.
std::string_view BareName(Slice property) {
  for (const std::string_view prefix : kPrefixes) {
    if (property.starts_with(prefix)) return property.ToStringView().substr(prefix.size());
  }
  return {};
}

std::string TextOf(const std::map<std::string, std::string>& figures) {
  std::string text;
  for (const auto& [key, figure] : figures) text.append(key).append(": ").append(figure).append("\n");
  return text;
}

// One object. Names and figures are ours: nothing in them needs an escape.
std::string JsonOf(const std::map<std::string, std::string>& figures) {
  std::string text = "{";
  for (const auto& [key, figure] : figures) {
    double number = 0;
    const auto [end, error] = std::from_chars(figure.data(), figure.data() + figure.size(), number);
    const bool is_number = error == std::errc() && end == figure.data() + figure.size() && std::isfinite(number);
    text.append(text.size() == 1 ? "\"" : ", \"").append(key).append("\": ");
    text.append(is_number ? figure : "\"" + figure + "\"");
  }
  return text + "}";
}

}  // namespace

bool DbImpl::GetIntProperty(ColumnFamilyHandle* handle, Slice property, std::uint64_t* value) {
  const Result<Family*> its = FamilyOf(handle);
  if (!CheckRead({}).ok() || !its.ok()) return false;
  const std::string_view name = BareName(property);
  const std::shared_ptr<const View> view = view_.Pin();
  const FamilyView* const found = view->Find((*its)->id);
  if (found == nullptr) return false;
  const FamilyView& family = *found;
  const LayersShape shape = family.layers->shape();

  if (name == "num-snapshots") {
    *value = snapshots_.size();
  } else if (name == "oldest-snapshot-sequence") {
    *value = snapshots_.oldest();
  } else if (name == "num-immutable-mem-table") {
    *value = family.frozen.size();
  } else if (name == "num-entries-active-mem-table") {
    *value = family.active->version_count();
  } else if (name == "cur-size-active-mem-table") {
    *value = family.active->memory_bytes();
  } else if (name == "cur-size-all-mem-tables") {
    *value = family.active->memory_bytes();
    for (const FrozenTable& frozen : family.frozen) *value += frozen.table->memory_bytes();
  } else if (name == "size-all-mem-tables") {
    *value = AllTableBytes(family.family->id);
  } else if (name == "mem-table-flush-pending") {
    *value = family.frozen.empty() ? 0 : 1;
  } else if (name == "compaction-pending") {
    *value = CompactionIsDue(*family.family) ? 1 : 0;
  } else if (name == "background-errors") {
    *value = Health().ok() ? 0 : 1;
  } else if (name == "estimate-num-keys") {
    const std::uint64_t upper = shape.base_keys + shape.run_keys + family.active->key_count();
    *value = upper - std::min(upper, 2 * shape.run_tombstones);
  } else if (name == "block-cache-capacity" || name == "page-cache-capacity") {
    *value = pool_->capacity_bytes();
  } else if (name == "block-cache-usage" || name == "page-cache-usage") {
    *value = pool_->stats().resident_bytes;
  } else if (name == "page-cache-hits") {
    *value = pool_->stats().hits;
  } else if (name == "page-cache-misses") {
    *value = pool_->stats().misses;
  } else if (name == "log-syncs" && log_ != nullptr) {
    *value = log_->sync_count();
  } else if (name == "durable-sequence" && log_ != nullptr) {
    *value = log_->durable_sequence();
  } else if (name == "background-share") {
    *value = static_cast<std::uint64_t>(100 * foreground_.Share());
  } else if (name == "stall-micros") {
    *value = stats_.stall_micros.load();
  } else if (name == "space-stall-micros") {
    *value = stats_.space_stall_micros.load();
  } else if (name == "gc-bytes-read") {
    *value = stats_.gc_bytes_read.load();
  } else if (name == "gc-bytes-written") {
    *value = stats_.gc_bytes_written.load();
  } else if (name == "damaged-blob-files") {
    const std::lock_guard lock(commit_mutex_);
    *value = damaged_segments_.size();
  } else if (name == "num-runs") {
    *value = shape.run_count;
  } else if (name == "index-bytes") {
    *value = shape.base_file_bytes + shape.run_file_bytes;
  } else if (name == "num-blob-files" || name == "total-blob-file-size" || name == "live-blob-file-size" ||
             name == "live-blob-file-garbage-size") {
    if (manifest_ == nullptr) return false;
    const std::lock_guard lock(commit_mutex_);
    const ManifestState& state = manifest_->state();
    std::uint64_t current = 0;
    std::uint64_t live = 0;
    for (const auto& [number, info] : state.segments) {
      FileInfo file;
      const std::shared_ptr<Segment>& segment = view->segments.Find(info.slot);
      if (segment != nullptr && segment->file().GetInfo(&file).ok()) {
        current += info.sealed ? BytesOf(info) : file.size;
      }
      live += static_cast<std::uint64_t>(state.TotalAccount(info.slot).bytes);
    }
    std::uint64_t leaving = 0;  // older versions of the database have them, for a reader
    for (const auto& [path, file] : obsolete_.leaving()) leaving += file.is_log ? file.bytes : 0;
    *value = name == "num-blob-files"                ? state.segments.size()
             : name == "live-blob-file-garbage-size" ? current - std::min(current, live)
             : name == "total-blob-file-size"        ? current + leaving
                                                     : current;
  } else {
    return false;
  }
  return true;
}

std::map<std::string, std::string> DbImpl::StatsOf(const FamilyView& family) const {
  const bool is_lsm = family.family->options().index_type == IndexKind::kLsm;
  std::map<std::string, std::string> figures =
      family.family->index_stats.Describe(is_lsm ? "lsm" : "btree", family.layers->shape());
  // Of the whole database.
  figures["log_bytes"] = std::to_string(stats_.log_bytes.load());
  figures["user_bytes"] = std::to_string(stats_.user_bytes.load());
  figures["stalls"] = std::to_string(stats_.stalls.load());
  figures["stall_micros"] = std::to_string(stats_.stall_micros.load());
  return figures;
}

bool DbImpl::GetLevelProperty(ColumnFamilyHandle* handle, std::string_view name, std::string* value) {
  constexpr std::string_view kFilesAtLevel = "num-files-at-level";
  const bool is_table = name == "levelstats";
  if (!is_table && !name.starts_with(kFilesAtLevel)) return false;
  const Result<Family*> its = FamilyOf(handle);
  if (!CheckRead({}).ok() || !its.ok()) return false;
  const std::shared_ptr<const View> view = view_.Pin();
  const FamilyView* const family = view->Find((*its)->id);
  if (family == nullptr) return false;
  const LayersShape shape = family->layers->shape();
  const auto level_count = static_cast<std::uint32_t>((*its)->options().num_levels);
  if (is_table) {
    *value = LevelTable(shape, level_count);
    return true;
  }
  const std::string_view digits = name.substr(kFilesAtLevel.size());
  std::uint32_t level = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), level);
  if (error != std::errc() || end != digits.data() + digits.size() || level >= level_count) return false;
  *value = std::to_string(FilesAtLevel(shape, level));
  return true;
}

bool DbImpl::GetMapProperty(ColumnFamilyHandle* handle, Slice property, std::map<std::string, std::string>* value) {
  const Result<Family*> its = FamilyOf(handle);
  if (!CheckRead({}).ok() || !its.ok()) return false;
  const std::string_view name = BareName(property);
  if (name == "space" || name == "gc-forecast") {
    if (manifest_ == nullptr || log_ == nullptr) return false;
    *value = name == "space" ? SpaceStats() : GcForecast();
    return true;
  }
  if (name != "index-stats") return false;
  const std::shared_ptr<const View> view = view_.Pin();
  const FamilyView* const family = view->Find((*its)->id);
  if (family == nullptr) return false;
  *value = StatsOf(*family);
  return true;
}

bool DbImpl::GetProperty(ColumnFamilyHandle* family, Slice property, std::string* value) {
  std::uint64_t number = 0;
  if (GetIntProperty(family, property, &number)) {
    *value = std::to_string(number);
    return true;
  }
  const std::string_view name = BareName(property);
  if (name == "options-statistics") {
    if (!CheckRead({}).ok() || !FamilyOf(family).ok()) return false;
    *value = options_.statistics == nullptr ? std::string() : options_.statistics->ToString();
    return true;
  }
  if (GetLevelProperty(family, name, value)) return true;
  constexpr std::string_view kJson = "-json";
  const bool is_json = name.ends_with(kJson);
  const std::string_view map_name = is_json ? name.substr(0, name.size() - kJson.size()) : name;
  const std::string bare = "cambium." + std::string(map_name == "stats" ? "index-stats" : map_name);
  std::map<std::string, std::string> figures;
  if (GetMapProperty(family, bare, &figures)) {
    *value = is_json ? JsonOf(figures) : TextOf(figures);
    return true;
  }
  std::uint64_t count = 0;
  std::uint64_t total = 0;
  std::uint64_t garbage = 0;
  if (name == "blob-stats" && GetIntProperty(family, "rocksdb.num-blob-files", &count) &&
      GetIntProperty(family, "rocksdb.live-blob-file-size", &total) &&
      GetIntProperty(family, "rocksdb.live-blob-file-garbage-size", &garbage)) {
    const double live = static_cast<double>(total - garbage);
    *value = "Number of blob files: " + std::to_string(count) + "\nTotal size of blob files: " +
             std::to_string(total) + "\nTotal size of garbage in blob files: " + std::to_string(garbage) +
             "\nBlob file space amplification: " + std::to_string(live == 0 ? 0 : static_cast<double>(total) / live) +
             "\n";
    return true;
  }
  return false;
}

SequenceNumber DbImpl::GetLatestSequenceNumber() const { return published_.load(std::memory_order_acquire); }

Status DbImpl::Merge(const WriteOptions&, Slice, Slice) { return Status::NotSupported("Merge is not in this version"); }
Status DbImpl::IngestExternalFile(const std::vector<std::string>&) {
  return Status::NotSupported("ingestion is not in this version");
}
Status DbImpl::Resume() {
  const Status health = Health();
  if (health.ok()) return Status::OK();
  return Status::NotSupported("only a new Open ends a fatal error: " + health.ToString());
}

ManagedSnapshot::ManagedSnapshot(DB* db) : db_(db), snapshot_(db->GetSnapshot()) {}
ManagedSnapshot::~ManagedSnapshot() {
  if (snapshot_ != nullptr) db_->ReleaseSnapshot(snapshot_);
}

}  // namespace cambium
