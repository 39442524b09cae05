#include "api/properties.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>

#include "api/memory_promise.h"
#include "cambium/statistics.h"
#include "memtable/write_budget.h"

namespace cambium {
namespace {

constexpr std::string_view kPrefixes[] = {"rocksdb.", "cambium.", "leveldb."};

// "num-snapshots" of "rocksdb.num-snapshots", for example; empty for other prefixes.
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

// One JSON object. None of our names and figures needs an escape.
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

std::size_t BytesOfTables(const FamilyView& family) {
  std::size_t bytes = family.active->memory_bytes();
  for (const FrozenTable& frozen : family.frozen) bytes += frozen.table->memory_bytes();
  return bytes;
}

// Returns the bytes of the page cache, and of the memtables, filters and range deletes of all families.
std::uint64_t BytesOfMemory(const View& view, const PagePool& pool) {
  std::uint64_t bytes = pool.stats().resident_bytes;
  for (const FamilyView& each : view.families) bytes += BytesOfTables(each) + each.layers->shape().memory_bytes;
  return bytes;
}

std::uint64_t EstimateKeys(const FamilyView& family, const LayersShape& shape) {
  const std::uint64_t upper = shape.base_keys + shape.run_keys + family.active->key_count();
  return upper - std::min(upper, 2 * shape.run_tombstones);
}

}  // namespace

// A property that is one number. `get` returns false if this database does not have it.
struct Properties::IntProperty {
  std::string_view name;
  bool (*get)(const Properties& self, const Asked& asked, std::uint64_t* value);
};

// A number that every database has.
#define CAMBIUM_INT_PROPERTY(name, expression)                                                                   \
  {                                                                                                              \
    name, []([[maybe_unused]] const Properties& self, [[maybe_unused]] const Asked& asked, std::uint64_t* value) { \
      *value = static_cast<std::uint64_t>(expression);                                                           \
      return true;                                                                                               \
    }                                                                                                            \
  }

const Properties::IntProperty Properties::kIntProperties[] = {
    CAMBIUM_INT_PROPERTY("num-snapshots", self.state_.snapshots.size()),
    CAMBIUM_INT_PROPERTY("num-pinned-values", self.state_.value_pins.count()),
    CAMBIUM_INT_PROPERTY("oldest-snapshot-sequence", self.state_.snapshots.oldest()),
    CAMBIUM_INT_PROPERTY("num-immutable-mem-table", asked.family.frozen.size()),
    CAMBIUM_INT_PROPERTY("num-entries-active-mem-table", asked.family.active->version_count()),
    CAMBIUM_INT_PROPERTY("cur-size-active-mem-table", asked.family.active->memory_bytes()),
    CAMBIUM_INT_PROPERTY("cur-size-all-mem-tables", BytesOfTables(asked.family)),
    CAMBIUM_INT_PROPERTY("size-all-mem-tables", self.upkeep_.snapshot_runs.AllTableBytes(asked.family.family->id)),
    CAMBIUM_INT_PROPERTY("estimate-table-readers-mem", asked.shape.memory_bytes),
    CAMBIUM_INT_PROPERTY("approximate-memory-usage", BytesOfMemory(asked.view, *self.db_.pool)),
    CAMBIUM_INT_PROPERTY("write-buffer-manager-usage", self.db_.budget == nullptr ? 0 : self.db_.budget->used()),
    CAMBIUM_INT_PROPERTY("write-buffer-manager-capacity", self.db_.budget == nullptr ? 0 : self.db_.budget->limit()),
    CAMBIUM_INT_PROPERTY("memory-promise", MemoryPromise(self.db_, asked.view)),
    CAMBIUM_INT_PROPERTY("memory-limit", MemoryLimitOf(self.db_).value_or(MemoryLimit{}).bytes),
    CAMBIUM_INT_PROPERTY("mem-table-flush-pending", asked.family.frozen.empty() ? 0 : 1),
    CAMBIUM_INT_PROPERTY("compaction-pending", self.upkeep_.compactor.IsDue(*asked.family.family) ? 1 : 0),
    CAMBIUM_INT_PROPERTY("background-errors", self.state_.jobs.error_count()),
    CAMBIUM_INT_PROPERTY("estimate-live-data-size", self.LiveBytes(asked.family)),
    CAMBIUM_INT_PROPERTY("estimate-num-keys", EstimateKeys(asked.family, asked.shape)),
    CAMBIUM_INT_PROPERTY("block-cache-capacity", self.db_.pool->capacity_bytes()),
    CAMBIUM_INT_PROPERTY("page-cache-capacity", self.db_.pool->capacity_bytes()),
    CAMBIUM_INT_PROPERTY("block-cache-usage", self.db_.pool->stats().resident_bytes),
    CAMBIUM_INT_PROPERTY("page-cache-usage", self.db_.pool->stats().resident_bytes),
    CAMBIUM_INT_PROPERTY("page-cache-hits", self.db_.pool->stats().hits),
    CAMBIUM_INT_PROPERTY("page-cache-misses", self.db_.pool->stats().misses),
    {"log-syncs",
     [](const Properties& self, const Asked&, std::uint64_t* value) {
       const CommitLog* const log = self.state_.head.log();
       if (log != nullptr) *value = log->sync_count();
       return log != nullptr;
     }},
    {"durable-sequence",
     [](const Properties& self, const Asked&, std::uint64_t* value) {
       const CommitLog* const log = self.state_.head.log();
       if (log != nullptr) *value = log->durable_sequence();
       return log != nullptr;
     }},
    CAMBIUM_INT_PROPERTY("background-share", 100 * self.upkeep_.pace.foreground().Share()),
    CAMBIUM_INT_PROPERTY("stall-micros", self.db_.stats.stall_micros.load()),
    CAMBIUM_INT_PROPERTY("space-stall-micros", self.db_.stats.space_stall_micros.load()),
    CAMBIUM_INT_PROPERTY("gc-bytes-read", self.db_.stats.gc_bytes_read.load()),
    CAMBIUM_INT_PROPERTY("gc-bytes-written", self.db_.stats.gc_bytes_written.load()),
    {"damaged-blob-files",
     [](const Properties& self, const Asked&, std::uint64_t* value) {
       const CommitLock lock(self.state_.commits);
       *value = self.upkeep_.gc_segments.damaged().size();
       return true;
     }},
    CAMBIUM_INT_PROPERTY("num-runs", asked.shape.run_count),
    CAMBIUM_INT_PROPERTY("index-bytes", asked.shape.base_file_bytes + asked.shape.run_file_bytes),
};

#undef CAMBIUM_INT_PROPERTY

bool Properties::GetInt(const Family& family, Slice property, std::uint64_t* value) {
  const std::string_view name = BareName(property);
  const std::shared_ptr<const View> view = state_.commits.view().Pin();
  const FamilyView* const found = view->Find(family.id);
  if (found == nullptr) return false;
  const auto* const known = std::ranges::find(kIntProperties, name, &IntProperty::name);
  if (known == std::end(kIntProperties)) return GetLogBytes(name, *view, value);
  return known->get(*this, {*view, *found, found->layers->shape()}, value);
}

bool Properties::GetLogBytes(std::string_view name, const View& view, std::uint64_t* value) {
  const bool is_known = name == "num-blob-files" || name == "total-blob-file-size" || name == "live-blob-file-size" ||
                        name == "live-blob-file-garbage-size";
  if (!is_known || db_.read_only) return false;
  const LogBytes bytes = MeasureLog(view);
  *value = name == "num-blob-files"                ? bytes.segments
           : name == "live-blob-file-garbage-size" ? bytes.current - std::min(bytes.current, bytes.live)
           : name == "total-blob-file-size"        ? bytes.current + bytes.leaving
                                                   : bytes.current;
  return true;
}

// Counts hidden entries until a compaction removes them. Does not count memtables, as in RocksDB.
std::uint64_t Properties::LiveBytes(const FamilyView& family) const {
  const LayersShape& shape = family.layers->shape();
  std::uint64_t bytes = (shape.levels.empty() ? shape.base_live_bytes : shape.base_file_bytes) + shape.run_file_bytes;
  const CommitLock lock(state_.commits);
  const auto state = state_.commits.state().families.find(family.family->id);
  if (state == state_.commits.state().families.end()) return bytes;
  for (const auto& [slot, account] : state->second.accounts) bytes += static_cast<std::uint64_t>(account.bytes);
  return bytes;
}

Properties::LogBytes Properties::MeasureLog(const View& view) const {
  LogBytes bytes;
  const CommitLock lock(state_.commits);
  const ManifestState& state = state_.commits.state();
  bytes.segments = state.segments.size();
  for (const auto& [number, info] : state.segments) {
    FileInfo file;
    const std::shared_ptr<Segment>& segment = view.segments.Find(info.slot);
    if (segment != nullptr && segment->file().GetInfo(&file).ok()) {
      bytes.current += info.sealed ? state_.commits.BytesOf(info) : file.size;
    }
    bytes.live += static_cast<std::uint64_t>(state_.commits.index().TotalOf(info.slot).bytes);
  }
  // Files that only readers of older views need.
  for (const auto& [path, file] : state_.commits.obsolete().leaving()) bytes.leaving += file.is_log ? file.bytes : 0;
  return bytes;
}

Properties::Figures Properties::IndexStats(const FamilyView& family) const {
  const bool is_lsm = family.family->options().index_type == IndexKind::kLsm;
  Figures figures = family.family->index_stats.Describe(is_lsm ? "lsm" : "btree", family.layers->shape());
  // The figures below are of the whole database.
  figures["log_bytes"] = std::to_string(db_.stats.log_bytes.load());
  figures["user_bytes"] = std::to_string(db_.stats.user_bytes.load());
  figures["stalls"] = std::to_string(db_.stats.stalls.load());
  figures["stall_micros"] = std::to_string(db_.stats.stall_micros.load());
  return figures;
}

// "levelstats" and "num-files-at-level<N>".
bool Properties::GetLevel(const Family& family, std::string_view name, std::string* value) {
  constexpr std::string_view kFilesAtLevel = "num-files-at-level";
  const bool is_table = name == "levelstats";
  if (!is_table && !name.starts_with(kFilesAtLevel)) return false;
  const std::shared_ptr<const View> view = state_.commits.view().Pin();
  const FamilyView* const found = view->Find(family.id);
  if (found == nullptr) return false;
  const LayersShape& shape = found->layers->shape();
  const auto level_count = static_cast<std::uint32_t>(family.options().num_levels);
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

// A heading for each level, and a line for each of its files: its number and its bytes. A tree has its runs, as level 0,
// and its own files.
bool Properties::GetFiles(const Family& family, std::string* value) {
  const CommitLock lock(state_.commits);
  const auto found = state_.commits.state().families.find(family.id);
  if (found == state_.commits.state().families.end()) return false;
  std::map<std::string, std::string> levels;  // by heading, in the order of the levels: they have at most two digits
  const auto add = [&levels](const std::string& heading, std::uint64_t number, std::uint64_t bytes) {
    levels[heading] += " " + std::to_string(number) + ":" + std::to_string(bytes) + "\n";
  };
  for (const RunInfo& run : found->second.runs) add("--- level 00 ---\n", run.number, run.file_size);
  for (const auto& [number, run] : found->second.level_runs) {
    add(std::string(run.level < 10 ? "--- level 0" : "--- level ") + std::to_string(run.level) + " ---\n", number,
        run.info.file_size);
  }
  for (const auto& [number, segment] : found->second.index_segments) add("--- tree ---\n", number, segment.length);
  for (const auto& [heading, files] : levels) *value += heading + files;
  return true;
}

bool Properties::GetMap(const Family& family, Slice property, Figures* value) {
  const std::string_view name = BareName(property);
  if (name == "space" || name == "gc-forecast") {
    if (db_.read_only) return false;
    *value = name == "space" ? SpaceStats() : GcForecast();
    return true;
  }
  if (name != "index-stats") return false;
  const std::shared_ptr<const View> view = state_.commits.view().Pin();
  const FamilyView* const found = view->Find(family.id);
  if (found == nullptr) return false;
  *value = IndexStats(*found);
  return true;
}

bool Properties::GetBlobStats(const Family& family, std::string* value) {
  const std::shared_ptr<const View> view = state_.commits.view().Pin();
  if (db_.read_only || view->Find(family.id) == nullptr) return false;
  const LogBytes bytes = MeasureLog(*view);
  const std::uint64_t garbage = bytes.current - std::min(bytes.current, bytes.live);
  const double live = static_cast<double>(bytes.current - garbage);
  *value = "Number of blob files: " + std::to_string(bytes.segments) +
           "\nTotal size of blob files: " + std::to_string(bytes.current) +
           "\nTotal size of garbage in blob files: " + std::to_string(garbage) +
           "\nBlob file space amplification: " +
           std::to_string(live == 0 ? 0 : static_cast<double>(bytes.current) / live) + "\n";
  return true;
}

bool Properties::GetText(const Family& family, Slice property, std::string* value) {
  std::uint64_t number = 0;
  if (GetInt(family, property, &number)) {
    *value = std::to_string(number);
    return true;
  }
  const std::string_view name = BareName(property);
  if (name == "options-statistics") {
    *value = db_.options.statistics == nullptr ? std::string() : db_.options.statistics->ToString();
    return true;
  }
  if (GetLevel(family, name, value)) return true;
  if (name == "sstables") {
    value->clear();
    return GetFiles(family, value);
  }
  constexpr std::string_view kJson = "-json";
  const bool is_json = name.ends_with(kJson);
  const std::string_view map_name = is_json ? name.substr(0, name.size() - kJson.size()) : name;
  const std::string bare = "cambium." + std::string(map_name == "stats" ? "index-stats" : map_name);
  Figures figures;
  if (GetMap(family, bare, &figures)) {
    *value = is_json ? JsonOf(figures) : TextOf(figures);
    return true;
  }
  return name == "blob-stats" && GetBlobStats(family, value);
}

}  // namespace cambium
