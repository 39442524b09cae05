#include "convert/family_converter.h"

#include <memory>
#include <utility>
#include <vector>

#include "recovery/open_layers.h"
#include "btree/btree_index.h"
#include "btree/index_segment.h"
#include "btree/sweep.h"
#include "index/merge_cursor.h"
#include "index/page_pool.h"
#include "lsm_fallback/run_writer.h"
#include "util/compression.h"

namespace cambium {
namespace {

// Holds the pages from the root to the cursors' positions.
constexpr std::size_t kPoolBytes = 8u << 20;
// Entries between two calls of on_entries.
constexpr std::uint64_t kEntriesTogether = 4096;

// LiveEntries is a forward-only cursor over the newest entry of each key of a family, without tombstones.
class LiveEntries final : public EntryCursor {
 public:
  LiveEntries(const Comparator* comparator, std::vector<MergeChild> layers,
              const std::function<void(std::uint64_t)>& on_entries)
      : merged_(comparator, std::move(layers)), on_entries_(on_entries) {}

  void SeekToFirst() override {
    merged_.SeekToFirst();
    SkipDeleted();
  }
  void Next() override {
    merged_.Next();
    SkipDeleted();
  }
  void SeekToLast() override { Refuse(); }
  void Seek(Slice) override { Refuse(); }
  void SeekForPrev(Slice) override { Refuse(); }
  void Prev() override { Refuse(); }
  [[nodiscard]] bool Valid() const override { return refused_.ok() && merged_.Valid(); }
  [[nodiscard]] Slice key() const override { return merged_.key(); }
  [[nodiscard]] Entry entry() const override { return merged_.entry(); }
  [[nodiscard]] Status status() const override { return refused_.ok() ? merged_.status() : refused_; }
  [[nodiscard]] std::uint64_t count() const { return count_; }

 private:
  void SkipDeleted() {
    for (; merged_.Valid(); merged_.Next()) {
      if (on_entries_ && ++seen_ % kEntriesTogether == 0) on_entries_(kEntriesTogether);
      if (merged_.kind() == EntryKind::kTombstone) continue;
      ++count_;
      return;
    }
  }
  void Refuse() { refused_ = Status::NotSupported("a conversion reads forward only"); }

  MergeCursor merged_;
  const std::function<void(std::uint64_t)>& on_entries_;
  std::uint64_t seen_ = 0;   // with tombstones
  std::uint64_t count_ = 0;
  Status refused_;
};

// Writes all entries as a tree. Sweep counts all of them as new, since the accounts of the new database begin empty.
Status WriteTree(const ConvertFamily& how, LiveEntries* entries, PagePool* pool, FamilyState* to) {
  const ColumnFamilyOptions& options = *how.options;
  IndexSegmentOptions segments;
  segments.page_size = static_cast<std::uint32_t>(to->page_size);
  IndexSegmentWriter writer(segments, how.create_file, pool);
  SweepInput sweep;
  sweep.comparator = options.comparator;
  sweep.pool = pool;
  sweep.pages = PageBuilderOptions{segments.page_size, BTreeIndexOptions().fill_percent};
  if (options.comparator->EqualMeansSameBytes()) {
    sweep.pages.filter_bits_per_key = static_cast<unsigned>(options.filter_bits_per_key);
  }
  sweep.layers.emplace_back(entries);
  sweep.newest_is_memtable = true;
  CAMBIUM_TRY(const SweepOutput swept, Sweep(std::move(sweep), &writer));
  CAMBIUM_RETURN_IF_ERROR(writer.Sync());
  to->root = swept.root;
  for (const IndexSegmentWriter::Segment& segment : writer.segments()) {
    to->index_segments.Set({segment.file->number(), segment.info(segment.units_added)});
  }
  for (const auto& [slot, account] : swept.accounts.by_slot()) to->accounts.Set({slot, account});
  return Status::OK();
}

// Returns the first level whose size limit is at least `bytes`, so that no compaction is due.
std::uint32_t LevelFor(const ColumnFamilyOptions& options, std::uint64_t bytes) {
  auto size = static_cast<double>(options.max_bytes_for_level_base);
  std::uint32_t level = 1;
  for (; level + 1 < static_cast<std::uint32_t>(options.num_levels) && size < static_cast<double>(bytes); ++level) {
    size *= options.max_bytes_for_level_multiplier;
  }
  return level;
}

Status WriteLevel(const ConvertFamily& how, LiveEntries* entries, PagePool* pool, FamilyState* to) {
  const ColumnFamilyOptions& options = *how.options;
  RunWriterOptions runs(options.comparator);
  runs.pool = pool;
  runs.create_file = how.create_file;
  runs.target_bytes = options.target_file_size_base;
  runs.run.page_size = static_cast<std::uint32_t>(to->page_size);
  runs.run.filter_bits_per_key = static_cast<unsigned>(options.filter_bits_per_key);
  runs.run.kind = RunKind::kCompaction;
  static_cast<void>(CodecOf(options.compression, &runs.run.compression));  // checked by CheckFamilies
  RunWriter writer(runs);
  AccountDelta accounts;
  for (entries->SeekToFirst(); entries->Valid(); entries->Next()) {
    const Entry entry = entries->entry();
    accounts.Add(entry);
    CAMBIUM_RETURN_IF_ERROR(writer.Add(entries->key(), entry));
  }
  CAMBIUM_RETURN_IF_ERROR(entries->status());
  CAMBIUM_TRY(const RunList made, writer.Finish());
  std::uint64_t bytes = 0;
  for (const auto& run : made) bytes += run->info().file_size;
  const std::uint32_t level = LevelFor(options, bytes);
  for (const auto& run : made) to->level_runs.Set({run->number(), {run->info(), level, 1}});
  for (const auto& [slot, account] : accounts.by_slot()) to->accounts.Set({slot, account});
  return Status::OK();
}

}  // namespace

Result<FamilyState> Convert(const FamilyState& from, const ConvertFamily& how, std::uint64_t* count) {
  PagePool pool(kPoolBytes);
  CAMBIUM_TRY(const std::shared_ptr<const Layers> layers,
              OpenLayers(from, how.options->comparator, &pool, how.open_file));
  std::vector<MergeChild> children;
  layers->AppendCursors(&children);
  LiveEntries entries(how.options->comparator, std::move(children), how.on_entries);
  FamilyState to;
  to.id = from.id;
  to.name = from.name;
  to.comparator = from.comparator;
  to.page_size = from.page_size;
  to.flushed_sequence = from.flushed_sequence;
  to.versions_since = from.versions_since;
  to.index_type = static_cast<IndexType>(how.options->index_type);
  CAMBIUM_RETURN_IF_ERROR(to.index_type == IndexType::kLsm ? WriteLevel(how, &entries, &pool, &to)
                                                           : WriteTree(how, &entries, &pool, &to));
  *count = entries.count();
  return to;
}

}  // namespace cambium
