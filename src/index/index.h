// Index: the interface of both back-ends, the tree and the LSM. It finds the entry of a key in the durable layers of a
// family, and keeps the number of layers small.
//
// The contract:
//
//   Layers      The durable part of one family at one moment: runs, newest first, above the tree or the levels into
//               which they are compacted. Immutable. A view holds one; until it is released, its files stay readable.
//   Newest      A newer layer's entry of a key hides the older layers' entries. Only the position of the layer counts:
//               there are no sequence numbers here. Find and the cursors yield tombstones, because the memtables above
//               follow the same rule.
//   Ranges      A layer's range deletes hide the keys that they cover in older layers, also by position. They do not
//               affect the layer's own keys.
//   New runs    are added by flushes (and by log GC) at any time, on top of all others, also during a compaction.
//   Compaction  reads layers and writes files; it changes nothing else. Its outcome is staged against the layers that
//               are current at the commit, which may have new runs on top. The MANIFEST record makes it take effect;
//               then the next view gets the new layers. If an outcome is not committed, the MANIFEST never names its
//               files: they are garbage.
//   Accounts    Every outcome carries the exact change of the accounts. It counts entries with an address: -1 for each
//               that is in no layer any more (overwritten, deleted, removed or changed by a filter), +1 for each that
//               came from a memtable or that a filter has made. Entries that move from a run into the tree change
//               nothing.
//
// The caller (src/upkeep) guarantees that an Index runs one compaction at a time, that the flushes of a family commit
// in order, and that commits do not overlap. The caller creates and removes files; an Index only writes into the files
// that it is given.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cambium/options.h"
#include "cambium/slice.h"
#include "index/family_files.h"
#include "index/file_syncs.h"
#include "index/filtered_part.h"
#include "index/index_room.h"
#include "index/lookup.h"
#include "index/page_pool.h"
#include "index/run.h"
#include "index/tree_part.h"
#include "index/value_filter.h"
#include "manifest/edit.h"
#include "manifest/file_names.h"
#include "memtable/entry_cursor.h"
#include "memtable/range_deletes.h"
#include "util/result.h"

namespace cambium {

// One level of an LSM, from 1 on. (Level 0 is the stack of runs.)
struct LevelShape {
  std::uint32_t level = 0;
  std::uint64_t tier_count = 0;  // sorted sequences that a lookup may have to ask
  std::uint64_t file_count = 0;
  std::uint64_t file_bytes = 0;
  std::uint64_t entries = 0;     // tombstones included
  std::uint64_t tombstones = 0;
  std::uint64_t range_deletes = 0;
  std::uint64_t value_bytes = 0;
};

// Sizes of the layers. The choice of the next compaction depends on them, and properties report them.
struct LayersShape {
  std::uint64_t run_count = 0;
  std::uint64_t run_keys = 0;           // entries of all runs, including tombstones and masked entries
  std::uint64_t run_tombstones = 0;
  std::uint64_t run_range_deletes = 0;
  std::uint64_t run_file_bytes = 0;
  std::uint64_t memory_bytes = 0;     // of open runs and level files: above all filters, and range deletes
  std::uint64_t base_keys = 0;        // entries of the tree or the levels
  std::uint64_t base_value_bytes = 0;
  std::uint64_t base_file_bytes = 0;  // committed bytes of their files
  std::uint64_t base_live_bytes = 0;  // of these, the bytes of pages that the tree still reaches
  std::uint32_t height = 0;             // of the tree
  bool sweep_in_progress = false;       // a sweep has begun and not ended: its next step is due
  std::uint64_t swept_runs = 0;         // the runs of that sweep: the oldest ones
  std::vector<LevelShape> levels;       // of an LSM: the non-empty levels, in order
};

struct MergeChild;

// Immutable; any thread. Must not outlive the page pool.
class Layers {
 public:
  Layers() = default;
  virtual ~Layers() { delete shape_.load(std::memory_order_relaxed); }
  Layers(const Layers&) = delete;
  Layers& operator=(const Layers&) = delete;

  // Returns true if a layer has an entry for the key. *entry is then the newest layer's entry, possibly a tombstone (of
  // the key itself or of a range that covers it), and *where says which layer. An inline value borrows from *keep. An
  // error is never reported as "not found".
  virtual Result<bool> Find(Slice key, PageRef* keep, Entry* entry, FoundIn* where) const = 0;
  Result<bool> Find(Slice key, PageRef* keep, Entry* entry) const {
    FoundIn where{};
    return Find(key, keep, entry, &where);
  }

  // Runs Find for each unfinished lookup; a hit or an error finishes it.
  virtual void FindTogether(std::span<Lookup> lookups) const = 0;

  // Appends a cursor for each layer, newest first, to be merged with those of the memtables. The merged cursors yield
  // each key once, with the entry that Find returns. They yield tombstones, but no key that only a range delete covers.
  // The cursors keep their files open.
  virtual void AppendCursors(std::vector<MergeChild>* children) const = 0;

  // Estimates the bytes of the keys in [begin, end): index entries of all layers and the values they refer to, hidden
  // ones included. Requires begin < end. For each bound it reads one page per level of each layer.
  virtual Result<std::uint64_t> ApproximateSize(Slice begin, Slice end) const = 0;

  // Estimates what range deletes cover in older layers. For each range it reads one page per level of each older layer.
  [[nodiscard]] virtual Result<TreePart> CoveredByRanges() const = 0;

  // Newest first.
  [[nodiscard]] virtual const std::vector<std::shared_ptr<const Run>>& runs() const = 0;

  // These layers with one more run on top. The caller writes the MANIFEST record, which lists all runs in order.
  [[nodiscard]] virtual std::shared_ptr<const Layers> WithNewestRun(std::shared_ptr<const Run> run) const = 0;

  // Estimates how much of the runs a compaction in progress has merged already. The result counts runs: half of the
  // contents of one run is 0.5. Reads one page per level of the tree.
  [[nodiscard]] virtual Result<double> MergedRuns() const { return 0.0; }

  // Computed by the first call: with thousands of families, each look at the space asks for all shapes. Valid as long
  // as these layers.
  [[nodiscard]] const LayersShape& shape() const {
    const LayersShape* known = shape_.load(std::memory_order_acquire);
    if (known != nullptr) return *known;
    auto measured = std::make_unique<const LayersShape>(Measure());
    const bool is_first = shape_.compare_exchange_strong(known, measured.get(), std::memory_order_acq_rel);
    return is_first ? *measured.release() : *known;
  }
  // Appends every file that these layers read, runs included.
  virtual void AppendFiles(std::vector<NumberedFile>* files) const = 0;

 private:
  [[nodiscard]] virtual LayersShape Measure() const = 0;

  mutable std::atomic<const LayersShape*> shape_{nullptr};  // owned; set once
};

// The facts about a frozen memtable that PickFlush and ExpectedBytes use.
struct MemtableShape {
  std::uint64_t key_count = 0;
  Slice smallest_key;  // unspecified without keys
  Slice largest_key;
  const RangeDeletes* ranges = nullptr;  // the ranges it deletes; null: none
  // The most that a step of a compaction may write, as in CompactionInput. If merging the memtable would write more
  // than that in addition to the memtable itself, the memtable becomes a run, and a sweep merges it in steps.
  std::uint64_t max_output_bytes = std::numeric_limits<std::uint64_t>::max();
};

// A flush may write this much into a tree, however small a step is: some milliseconds of a slow disk.
inline constexpr std::uint64_t kTreeFlushBytesLeast = 1u << 20;

enum class FlushChoice : unsigned char {
  kMakeRun,  // write the memtable as a run on top of the layers
  kIntoTree,  // merge it straight into the layers below, together with all runs
};

// One call of CompactRange: the keys that a user wants compacted as far down as possible. The caller repeats: ask
// IsCompactionDue; if it says yes, run Compact on the same layers and commit the outcome. Other compactions may run in
// between, and concurrent writes do not keep the request from finishing.
struct CompactionRequest {
  std::optional<std::string> begin;  // unset: from the first key
  std::optional<std::string> end;    // included; unset: to the last
  std::vector<std::uint64_t> runs;   // the stack when the request was made; the request ignores later runs
  // The filter must be asked about every value in the request: no file is moved without being compacted, and files with
  // nothing to merge with are rewritten too, except for what is in `filtered`. The caller sets `filtered` before each
  // call; null: nothing was asked yet.
  bool asks_filter = false;
  std::shared_ptr<const FilteredPart> filtered;
  bool only_runs = false;  // below the runs, compact only what they merge with
  // Only with asks_filter: rewrites all pages in the request, even if the filter keeps every value, or there is none.
  bool rewrites = false;

  // Progress; only IsCompactionDue and Compact use it. An LSM goes level by level, and through each level in key order:
  // keys that arrive before the position or beyond the limit are newer than the request. A tree is done when none of
  // the request's runs is left, and, if a filter must be asked, when the walk through the keys has ended.
  std::uint32_t level = 0;              // all levels above are done
  std::optional<std::string> limit;     // the largest key of `level` when the request reached it
  std::optional<std::string> position;  // everything that ends before it is done
  bool is_picked = false;               // Compact has run since IsCompactionDue was last asked
  std::optional<std::string> reach;     // where that compaction ends; unset: at the end of the level
};

// StepBounds limits the space that a step of a sweep takes on a full disk, or near the limit of dead pages.
struct StepBounds {
  // The files that one step empties have at most this many bytes of live pages together. One file may have more, unless
  // is_hard is set.
  std::uint64_t copy_bytes_max = 0;
  // All files together become larger by about this much at most, once the emptied ones are removed. Unless is_hard is
  // set, half of the dead bytes in the emptied files is subtracted, so that files come back below their limit.
  std::uint64_t growth_bytes_max = 0;
  // Set on a full disk: copies count against max_output_bytes, because they too need space before any is freed.
  bool is_hard = false;
};

struct CompactionInput {
  std::shared_ptr<const Layers> layers;
  // A frozen memtable to merge straight into the tree: each key once, newest version, tombstones included. The accounts
  // do not count its entries yet. Null: only runs are compacted.
  EntryCursor* memtable = nullptr;
  // A compaction of runs stops at the next key once it has written this much, and a later step continues. A memtable is
  // always merged as a whole.
  std::uint64_t max_output_bytes = std::numeric_limits<std::uint64_t>::max();
  // Limits the size of page files to this percentage of their live bytes, if that is less than the index's own limit:
  // the compaction copies live pages out of old files to meet it.
  std::uint64_t file_percent_max = std::numeric_limits<std::uint64_t>::max();
  // Set on a full disk for families whose index takes most of their space. With these bounds steps are small, so the
  // whole sweep may write more. An LSM ignores them.
  std::optional<StepBounds> bounds = std::nullopt;
  // If set, runs a step of this request, for which IsCompactionDue has said yes. If null, runs the step that is most
  // due; if none is due, it compacts the runs anyway.
  CompactionRequest* request = nullptr;
  std::uint64_t memtable_keys = 0;  // the number of keys of `memtable`
  // The range deletes of `memtable`: older than the entries it yields, newer than all layers. Null: none.
  std::shared_ptr<const RangeDeletes> memtable_ranges = nullptr;
  // Decides about the values of the runs and of the files that they are merged with. Null: all values are kept. Always
  // null with a memtable.
  ValueFilter* filter = nullptr;
  // The filter is not asked about these values. Null: it is asked about all.
  std::shared_ptr<const FilteredPart> filtered = nullptr;
  // Polled by compactions whose step may be long. If it returns true, Compact ends with ShutdownInProgress. May be
  // empty.
  std::function<bool()> is_abandoned = nullptr;
  BeforeWrite before_write = nullptr;  // called before each write
  // The files are added here, and the caller syncs them before the commit. Null: Compact does. Must be null with a
  // request that asks a filter or rewrites.
  FileSyncs* syncs = nullptr;
};

struct CompactionStats {
  std::uint32_t level = 0;              // the level compacted; 0: runs
  std::uint32_t output_level = 1;       // the level written to; 1 for a tree
  std::uint64_t bytes_read = 0;         // pages of the old tree that were read
  std::uint64_t bytes_written = 0;
  std::uint64_t bytes_evacuated = 0;    // of these, pages copied only to empty their file
  std::uint64_t entries_merged = 0;     // keys taken from runs and memtable
  std::uint64_t entries_dropped = 0;    // hidden, replaced or deleted entries, and tombstones themselves
  std::uint64_t value_bytes_dropped = 0;
  // Bytes of separated values that a filter removed or changed, as the accounts count them. No layer hid them before.
  std::uint64_t value_bytes_filtered = 0;
};

// A finished compaction: its files are written, and synced unless CompactionInput::syncs was given, but nothing names
// them yet. To abandon the compaction, destroy the outcome without committing it.
class CompactionOutcome {
 public:
  virtual ~CompactionOutcome() = default;

  // Requires the commit lock. Adds to *edit what the MANIFEST must record (layers, root, sweep, index segments,
  // accounts), and returns the layers that are in effect once that record is durable. Aborted if `current` no longer
  // fits: a memtable was merged straight into the tree, and meanwhile a run was added on top of the runs that the
  // memtable was merged with. Then the memtable has to become a run.
  virtual Result<std::shared_ptr<const Layers>> Stage(const Layers& current, FamilyEdit* edit) const = 0;

  // Notes the entries about which this compaction has asked its filter; without a filter, the entries that it has
  // written. Called when the record is durable.
  virtual void NoteFiltered(FilteredPart* part) const = 0;

  // Called when the record is durable. Without this call, nothing is ever appended to the files of this compaction.
  virtual void Committed() = 0;

  [[nodiscard]] virtual const CompactionStats& stats() const = 0;
};

// The averages that the cost law needs in addition to the layers.
struct UpdateShape {
  double run_entry_bytes = 0;    // bytes per entry of a run, filter included
  double entry_bytes = 0;        // bytes per entry of the tree or the levels, all pages included
  double new_share = 0;          // share of the updates whose keys the layers do not have
  std::uint64_t step_bytes = 0;  // CompactionInput::max_output_bytes
};

class Index {
 public:
  virtual ~Index() = default;

  // Where to flush a memtable to. Reads a few branch pages of the tree; if that fails, the answer is kMakeRun, because
  // the error does not concern the memtable.
  [[nodiscard]] virtual FlushChoice PickFlush(const Layers& layers, const MemtableShape& memtable) const = 0;

  // Whether a compaction, or its next step, is due. With `urgent` (space is short, or the database is idle), one run is
  // enough.
  [[nodiscard]] virtual bool IsCompactionDue(const Layers& layers, bool urgent) const = 0;

  // Whether `request` needs a compaction, or another step of one. Records the progress in `request`.
  virtual bool IsCompactionDue(const Layers& layers, CompactionRequest* request) const = 0;

  // Estimates how many bytes of index files this memtable will cause to be written: its own flush and its part of later
  // compactions. Assumes that all memtables are like it, and that their keys are spread evenly between its smallest and
  // its largest; see the back-end's cost_law.h. For statistics only. 0 if pages cannot be read.
  [[nodiscard]] virtual double ExpectedBytes(const Layers& layers, const MemtableShape& memtable,
                                             const UpdateShape& update) const = 0;

  // Takes effect from the next decision on. Any thread.
  virtual void SetRoom(const IndexRoom& room) = 0;

  // Runs one compaction or one step of it. After an error nothing has changed; files already written are garbage.
  virtual Result<std::unique_ptr<CompactionOutcome>> Compact(const CompactionInput& input) = 0;

  // Applies changed options of the family, as far as they may change while it is open, from the next decision and the
  // next compaction on. Any thread.
  virtual void SetOptions(const ColumnFamilyOptions& options) = 0;

  // Stops appending to all files written so far, so that they may be hard-linked. Not during a compaction.
  virtual void SealFiles() = 0;
};

}  // namespace cambium
