#include "inspect/space_report.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <queue>
#include <set>
#include <utility>

#include "recovery/open_files.h"
#include "gc/punch.h"
#include "index/filter.h"
#include "index/merge_cursor.h"
#include "index/run_footer.h"
#include "index/tree_check.h"
#include "manifest/file_names.h"
#include "manifest/state_index.h"
#include "vlog/record_format.h"
#include "vlog/segment_footer.h"
#include "vlog/segment_scanner.h"

namespace cambium {
namespace {

std::uint64_t Minus(std::uint64_t a, std::uint64_t b) { return a - std::min(a, b); }

constexpr std::uint64_t kLinkBytes = kRecordHeaderSize + SegmentLink::kSize;

class Reporter {
 public:
  Reporter(InspectedDatabase* database, ValueSample* sample,
           const std::function<void(std::uint64_t, std::uint64_t)>& progress)
      : database_(database), state_(database->state()), sample_(sample), progress_(progress) {}

  Result<SpaceReport> Run() {
    CAMBIUM_RETURN_IF_ERROR(AddFiles());
    for (const auto& [id, family] : state_.families) CAMBIUM_RETURN_IF_ERROR(AddFamily(family));
    for (const auto& [number, info] : state_.segments) CAMBIUM_RETURN_IF_ERROR(AddSegment(info));
    return std::move(report_);
  }

 private:
  Status Note(const Status& s) { return database_->problems().Note(s); }

  Status AddFiles() {
    CAMBIUM_TRY(const std::vector<NumberedFile> files, ListNumberedFiles(database_->fs(), database_->path()));
    for (const NumberedFile& file : files) {
      FileInfo info;
      const Status s = database_->fs().GetInfo(FilePath(database_->path(), file.kind, file.number), &info);
      if (s.IsPathNotFound()) continue;
      CAMBIUM_RETURN_IF_ERROR(s);
      report_.bytes_by_kind[file.kind] += info.size;
      report_.file_bytes += info.size;
      report_.allocated_bytes += info.allocated_bytes;
      if (IsOrphan(file)) report_.orphan_bytes += info.size;
      if (file.kind == FileKind::kRun || file.kind == FileKind::kIndex) index_bytes_ += info.size;
    }
    return Status::OK();
  }

  [[nodiscard]] bool IsOrphan(const NumberedFile& file) const {
    switch (file.kind) {
      case FileKind::kManifest:
        return file.number != database_->manifest().number;
      case FileKind::kOptions:
      case FileKind::kReserve:
        return false;
      case FileKind::kTemporary:
        return true;
      case FileKind::kRun:
      case FileKind::kIndex:
        return std::ranges::none_of(state_.families,
                                    [&](const auto& each) { return HasFile(each.second, file.number); });
      default:
        return !state_.segments.contains(file.number);
    }
  }

  // ---- The index ----

  Status AddFamily(const FamilyState& state) {
    FamilySpace family;
    family.id = state.id;
    family.name = state.name;
    family.index_type = state.index_type;
    family.page_size = state.page_size;
    family.versions_since = state.versions_since;
    for (const auto& [slot, account] : state.accounts)
      family.account_bytes += static_cast<std::uint64_t>(account.bytes);
    for (const RunInfo& run : state.runs) CAMBIUM_RETURN_IF_ERROR(AddRun(state, run, 0, 0, &family));
    std::vector<const LevelRun*> levels;
    for (const auto& [number, run] : state.level_runs) levels.push_back(&run);
    std::ranges::stable_sort(levels, [](const LevelRun* a, const LevelRun* b) {
      return a->level != b->level ? a->level < b->level : a->tier > b->tier;
    });
    for (const LevelRun* run : levels)
      CAMBIUM_RETURN_IF_ERROR(AddRun(state, run->info, run->level, run->tier, &family));
    CAMBIUM_RETURN_IF_ERROR(AddTree(state, &family));
    CAMBIUM_RETURN_IF_ERROR(AddEntries(state, &family));
    report_.families.push_back(std::move(family));
    return Status::OK();
  }

  // Opens a file of pages. Returns null and notes a problem if it is damaged.
  Result<std::shared_ptr<const IndexFile>> OpenPages(FileKind kind, std::uint64_t number) {
    const auto open = [&]() -> Result<std::shared_ptr<const IndexFile>> {
      CAMBIUM_TRY(std::shared_ptr<File> file, OpenLayerFile(database_->fs(), database_->path(), state_, kind, number));
      return IndexFile::Open(std::move(file), kind, number, nullptr);
    };
    Result<std::shared_ptr<const IndexFile>> file = open();
    CAMBIUM_RETURN_IF_ERROR(Note(file.status()));
    return file.ok() ? *file : std::shared_ptr<const IndexFile>();
  }

  Status AddRun(const FamilyState& state, const RunInfo& info, std::uint32_t level, std::uint64_t tier,
                FamilySpace* family) {
    LayerSpace layer;
    layer.number = info.number;
    layer.kind = info.kind;
    layer.level = level;
    layer.tier = tier;
    layer.height = info.root.height;
    layer.file_bytes = info.file_size;
    layer.range_deletes = info.range_delete_count;
    CAMBIUM_TRY(const auto file, OpenPages(FileKind::kRun, info.number));
    if (file != nullptr) {
      const Result<RunFooter> footer = ReadRunFooter(file->file(), info.file_size, file->header());
      CAMBIUM_RETURN_IF_ERROR(Note(footer.status()));
      if (footer.ok()) layer.filter_bytes = footer->filter_size;
      CAMBIUM_RETURN_IF_ERROR(WalkPagesOf(state, info.root, FileSet(file), &layer));
    }
    family->layers.push_back(layer);
    Advance(info.file_size);
    return Status::OK();
  }

  Status AddTree(const FamilyState& state, FamilySpace* family) {
    if (state.index_type != IndexType::kBTree) return Status::OK();
    LayerSpace tree;
    tree.height = state.root.height;
    FileSet files;
    for (const auto& [number, info] : state.index_segments) {
      family->index_segments.push_back(info);
      tree.file_bytes += info.length;
      CAMBIUM_TRY(const auto file, OpenPages(FileKind::kIndex, number));
      if (file != nullptr) files = files.With(file);
    }
    CAMBIUM_RETURN_IF_ERROR(WalkPagesOf(state, state.root, files, &tree));
    family->layers.push_back(tree);
    Advance(tree.file_bytes);
    return Status::OK();
  }

  Status WalkPagesOf(const FamilyState& state, const TreeRoot& root, const FileSet& files, LayerSpace* layer) {
    TreeCheckCallbacks callbacks;
    callbacks.on_page = [layer](const PageView& page) {
      const std::uint64_t used = page.used_bytes();
      layer->used_bytes += used;
      layer->filter_bytes += std::uint64_t{page.filter().count} * kFilterBlockSize;
      if (page.is_leaf()) ++layer->leaves_by_fill[std::min<std::uint64_t>(9, used * 10 / page.bytes().size())];
      return Status::OK();
    };
    callbacks.on_damage = [this](const Status& damage) { return Note(damage); };
    TreeCheckStats stats;
    const Status s = CheckTree(root, files, database_->FindFamily(state.id)->comparator, callbacks, &stats);
    layer->entries = stats.entries;
    layer->tombstones = stats.tombstones;
    layer->leaves = stats.leaves;
    layer->branches = stats.branches;
    layer->page_bytes = stats.page_bytes;
    layer->raw_bytes = stats.raw_page_bytes;
    return Note(s);
  }

  void Advance(std::uint64_t bytes) {
    index_done_ += bytes;
    if (progress_) progress_(index_done_, index_bytes_);
  }

  // ---- Keys and values ----

  // Adds the newest entries of tail and layers, joined by a MergeCursor as for a reader.
  Status AddEntries(const FamilyState& state, FamilySpace* family) {
    const InspectedDatabase::Family& its = *database_->FindFamily(state.id);
    if (its.layers == nullptr) return Status::OK();
    std::vector<MergeChild> children;
    children.emplace_back(its.tail->NewCursor(kMaxSequenceNumber));
    children.back().name = "the log's tail";
    children.back().ranges = its.tail->RangesAt(kMaxSequenceNumber);
    its.layers->AppendCursors(&children);
    MergeCursor cursor(its.comparator, std::move(children));
    for (cursor.SeekToFirst(); cursor.Valid(); cursor.Next()) {
      const bool is_in_tail = cursor.source() == 0;
      if (cursor.kind() != EntryKind::kTombstone) AddEntry(state.id, cursor.key(), cursor.entry(), is_in_tail, family);
    }
    family->is_whole = cursor.status().ok();
    KeepSample(state.id);
    return Note(cursor.status());
  }

  void AddEntry(std::uint32_t id, Slice key, const Entry& entry, bool is_in_tail, FamilySpace* family) {
    ++family->keys;
    if (is_in_tail) ++family->not_flushed;
    family->key_sizes.Add(key.size());
    if (!entry.HasAddress()) {
      ++family->inline_values;
      family->inline_bytes += entry.inline_value.size();
      family->value_sizes.Add(entry.inline_value.size());
      return;
    }
    const std::uint64_t record = entry.address.size();
    const std::uint64_t value = Minus(record, kRecordHeaderSize + key.size());
    if (entry.kind == EntryKind::kLargeValue) {
      ++family->large_values;
      family->large_bytes += record;
      family->value_sizes.Add(Minus(value, kFileHeaderSize));
    } else {
      // A flush may put a pending value into the index, so do not count it as separated yet.
      family->value_sizes.Add(value);
      if (!is_in_tail) {
        ++family->separated_values;
        family->separated_bytes += record;
        const auto bucket = static_cast<std::size_t>(std::bit_width(value));
        ++family->separated_records.counts[bucket];
        family->separated_records.bytes[bucket] += record - value;
        Draw(id, key, entry.address);
      }
    }
    if (!is_in_tail) newest_[entry.address.slot()] += record;
  }

  void Draw(std::uint32_t id, Slice key, ValueAddress address) {
    if (address.size() > ValueSample::kRecordBytesMax) return;
    sample_->bytes_of[id] += address.size();
    const std::uint64_t hash = FilterHash(key);
    if (drawn_.size() == ValueSample::kValues) {
      if (hash >= drawn_.top().hash) return;
      drawn_.pop();
    }
    drawn_.push({hash, {id, key.ToString(), address}});
  }
  void KeepSample(std::uint32_t id) {
    for (; !drawn_.empty(); drawn_.pop()) sample_->by_family[id].push_back(drawn_.top().entry);
  }

  // ---- The log ----

  Status AddSegment(const SegmentInfo& info) {
    SegmentSpace space;
    space.info = info;
    const Account account = index_.TotalOf(info.slot);
    space.references = static_cast<std::uint64_t>(account.references);
    space.live_bytes = static_cast<std::uint64_t>(account.bytes);
    for (const auto& [id, family] : state_.families) {
      const auto its = family.accounts.find(info.slot);
      if (its != family.accounts.end()) space.live_by_family[id] = static_cast<std::uint64_t>(its->second.bytes);
    }
    if (const auto newest = newest_.find(info.slot); newest != newest_.end()) space.newest_bytes = newest->second;
    const std::shared_ptr<Segment>& segment = database_->segments().Find(info.slot);
    if (segment != nullptr) CAMBIUM_RETURN_IF_ERROR(Measure(*segment, &space));
    report_.segments.push_back(std::move(space));
    return Status::OK();
  }

  Status Measure(const Segment& segment, SegmentSpace* space) {
    const SegmentInfo& info = space->info;
    FileInfo file;
    CAMBIUM_RETURN_IF_ERROR(segment.file().GetInfo(&file));
    space->is_readable = true;
    space->file_bytes = file.size;
    space->allocated_bytes = file.allocated_bytes;
    space->link_count = file.link_count;
    const std::uint64_t log_end = info.kind == SegmentKind::kLargeValue ? file.size : database_->LogEndOf(info);
    const std::uint64_t footer = info.has_footer ? Minus(info.file_size, info.sealed_length) : 0;
    const std::uint64_t end = std::min(file.size, log_end + footer);
    space->unused_bytes = file.size - end;
    space->overhead_bytes = kFileHeaderSize + footer;
    if (info.kind == SegmentKind::kLog && log_end >= kFileHeaderSize + kLinkBytes) space->overhead_bytes += kLinkBytes;
    const auto pending = database_->pending().find(info.number);
    if (pending != database_->pending().end()) space->pending_bytes = pending->second.bytes;
    if (info.kind == SegmentKind::kLargeValue && IsPending(info)) space->pending_bytes = Minus(end, kFileHeaderSize);
    CAMBIUM_RETURN_IF_ERROR(MeasureHoles(segment, info, &space->hole_bytes));
    // These parts may add up to more than the file: size codes round long records up by as much as 0.8 %, and a large
    // value counts with its whole file.
    const std::uint64_t others = space->pending_bytes + space->overhead_bytes + space->hole_bytes;
    space->dead_bytes = Minus(Minus(end, others), space->live_bytes);
    return Status::OK();
  }

  [[nodiscard]] bool IsPending(const SegmentInfo& info) const {
    return index_.TotalOf(info.slot).references == 0 && database_->replayed().large_values.contains(info.number);
  }

  Status MeasureHoles(const Segment& segment, const SegmentInfo& info, std::uint64_t* bytes) {
    *bytes += HoleOfCut(info.cut).length;
    if (info.punched.empty()) return Status::OK();
    const auto add = [&](std::uint64_t offset, std::uint64_t size, std::size_t key_size) {
      if (std::ranges::binary_search(info.punched, offset)) *bytes += HoleOf(offset, size, key_size).length;
    };
    if (info.has_footer) {
      return Note(ReadSegmentFooter(segment.file(), segment.seed(), kFileHeaderSize, info.sealed_length, info.file_size,
                                    [&](const FooterEntry& entry) {
                                      add(entry.offset, entry.size, entry.key.size());
                                      return Status::OK();
                                    }));
    }
    return Status::OK();  // a segment without a footer is never punched
  }

  struct Drawn {
    std::uint64_t hash = 0;
    ValueSampleEntry entry;
    bool operator<(const Drawn& other) const { return hash < other.hash; }
  };

  InspectedDatabase* const database_;
  const ManifestState& state_;
  const StateIndex index_{state_};
  ValueSample* const sample_;
  const std::function<void(std::uint64_t, std::uint64_t)>& progress_;
  SpaceReport report_;
  std::uint64_t index_bytes_ = 0;
  std::uint64_t index_done_ = 0;
  std::map<Slot, std::uint64_t> newest_;  // bytes that newest entries of all families refer to
  std::priority_queue<Drawn> drawn_;      // sample of the current family, the largest hash on top
};

}  // namespace

std::uint64_t SizeHistogram::count() const { return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}); }
std::uint64_t SizeHistogram::total() const { return std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0}); }

Result<SpaceReport> ReportSpace(InspectedDatabase* database, ValueSample* sample,
                                const std::function<void(std::uint64_t, std::uint64_t)>& progress) {
  return Reporter(database, sample, progress).Run();
}

}  // namespace cambium
