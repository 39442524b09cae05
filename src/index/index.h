// Index: the question that both back-ends answer. What do the durable layers of a family say of a key, and how are the
// layers kept few?
//
// The contract, in words:
//
//   Layers    What is durable of one family at one moment: runs, newest first, above what they have been merged into (a
//             tree, or levels). Immutable. A view holds one; while it does, what the layers see stays readable.
//   Newest    What a newer layer says of a key hides what older ones say, by position and by nothing else: there are no
//             sequence numbers here. Find and the cursors yield tombstones, because memtables above need no other rule.
//   Ranges    A layer's range deletes hide what older layers say of the keys in them, by position too; the layer's own
//             keys they do not touch.
//   New runs  come from flushes (and from GC) at any time, on top of all others, also while a merge is on its way.
//   Merge     reads layers, writes files, changes nothing else. Its outcome is staged against the layers that are
//             current at the commit, which may have got new runs on top; the MANIFEST record makes it true; then the
//             new layers are installed in the next view. An outcome that is not committed leaves files without a name:
//             garbage.
//   Accounts  Every outcome carries the exact change of the accounts: -1 for each entry with an address that is no
//             longer in a layer (overwritten, deleted, removed or changed by a filter), +1 for each that came from a
//             memtable or that a filter has made. Entries that moved from a run into the tree change nothing.
//
// The caller (the api) sees to it that an Index has one merge at a time, that a family's flushes commit in order, and
// that commits are one behind the other. It creates files and removes them; an Index only writes into those that it is
// given.
#pragma once

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
#include "index/lookup.h"
#include "index/value_filter.h"
#include "index/page_pool.h"
#include "index/run.h"
#include "manifest/edit.h"
#include "manifest/file_names.h"
#include "memtable/entry_cursor.h"
#include "memtable/range_deletes.h"
#include "util/result.h"

namespace cambium {

// One level of an LSM, from 1 on. (Level 0 is the stack of runs.)
struct LevelShape {
  std::uint32_t level = 0;
  std::uint64_t tier_count = 0;  // sorted sequences that a look-up may have to ask
  std::uint64_t file_count = 0;
  std::uint64_t file_bytes = 0;
  std::uint64_t entries = 0;     // tombstones included
  std::uint64_t tombstones = 0;
  std::uint64_t range_deletes = 0;
  std::uint64_t value_bytes = 0;
};

// Facts of layers that decide what to do next, and that users may ask for.
struct LayersShape {
  std::uint64_t run_count = 0;
  std::uint64_t run_keys = 0;           // entries of all runs, tombstones included, masked ones too
  std::uint64_t run_tombstones = 0;
  std::uint64_t run_range_deletes = 0;
  std::uint64_t run_file_bytes = 0;
  std::uint64_t base_keys = 0;        // entries of the tree or the levels
  std::uint64_t base_value_bytes = 0;
  std::uint64_t base_file_bytes = 0;  // committed bytes of their files
  std::uint64_t base_live_bytes = 0;  // of these, pages that are still reached
  std::uint32_t height = 0;             // of the tree
  bool sweep_in_progress = false;       // a sweep has begun and not ended: its next step is due
  std::vector<LevelShape> levels;       // of an LSM: those that hold something, in order
};

struct MergeChild;

// Immutable; any thread. Must not outlive the page pool.
class Layers {
 public:
  virtual ~Layers() = default;

  // True if a layer knows the key: *entry is what the newest one says, which may be a tombstone, of the key itself or of
  // a range that covers it, and *where is that layer. An inline value borrows from *keep. An error is never "not
  // found".
  virtual Result<bool> Find(Slice key, PageRef* keep, Entry* entry, FoundIn* where) const = 0;
  Result<bool> Find(Slice key, PageRef* keep, Entry* entry) const {
    FoundIn where{};
    return Find(key, keep, entry, &where);
  }

  // Find for each that is not done: then it is, if a layer knows the key or cannot be read.
  virtual void FindTogether(std::span<Lookup> lookups) const = 0;

  // A cursor for each layer, newest first, for a merge of them with what lies above. Merged, they yield each key once, as
  // Find would answer it, tombstones included; but no key of which nothing is left than a range that covers it. They keep
  // open what they need.
  virtual void AppendCursors(std::vector<MergeChild>* children) const = 0;

  // Roughly what the keys in [begin, end) take: index entries of all layers, and the values that they lead to, those
  // included that newer layers hide. begin < end. Reads a page per level and layer for either end.
  virtual Result<std::uint64_t> ApproximateSize(Slice begin, Slice end) const = 0;

  // Newest first.
  [[nodiscard]] virtual const std::vector<std::shared_ptr<const Run>>& runs() const = 0;

  // These layers with one more on top. Its MANIFEST record is the caller's: it names the run, and all runs in order.
  [[nodiscard]] virtual std::shared_ptr<const Layers> WithNewestRun(std::shared_ptr<const Run> run) const = 0;

  [[nodiscard]] virtual LayersShape shape() const = 0;
  // Every file that is read here, runs included.
  virtual void AppendFiles(std::vector<NumberedFile>* files) const = 0;
};

// A frozen memtable, as far as a choice or a merge needs it.
struct MemtableShape {
  std::uint64_t key_count = 0;
  Slice smallest_key;  // of the keys, if there are some
  Slice largest_key;
  const RangeDeletes* ranges = nullptr;  // what its range deletes cover; null: nothing
  // What a step of a merge may write, as in CompactionInput. If a memtable would have more than that written beside itself, it
  // becomes a run, and a sweep takes it in steps.
  std::uint64_t max_output_bytes = std::numeric_limits<std::uint64_t>::max();
};

enum class FlushChoice : unsigned char {
  kMakeRun,  // write the memtable as a run on top of the layers
  kIntoTree,  // merge it straight into what lies below, together with all runs
};

// What a user wants merged as far down as it goes (CompactRange): one of these per call. In turn, until IsCompactionDue says
// no: IsCompactionDue, and a Merge of the same layers, which is committed. What else is merged between two turns does no harm,
// and writes that go on do not keep it from coming to its end.
struct CompactionRequest {
  std::optional<std::string> begin;  // unset: from the first key
  std::optional<std::string> end;    // included; unset: to the last
  std::vector<std::uint64_t> runs;   // the stack when it was made: later runs are not meant
  // A filter is to be asked about all that is meant: nothing is moved without being merged, and what nothing is merged
  // with is gone through too. Files of this number and above have been written by merges that asked it.
  bool asks_filter = false;
  std::uint64_t first_new_file = 0;
  bool only_runs = false;  // of what lies below the runs only that is meant which they are merged with
  // With asks_filter, filter or not: all pages that are meant are written anew, whatever it keeps.
  bool rewrites = false;

  // How far it has come; IsCompactionDue's own. In an LSM level by level, and in each in the order of keys: what comes in
  // behind the position, or beyond the limit, is newer than the request. In a tree, when no run of it is left, and if a
  // filter is to be asked, through the keys.
  std::uint32_t level = 0;              // nothing that is meant lies above it
  std::optional<std::string> limit;     // the largest key of `level` when it came there
  std::optional<std::string> position;  // what ends before it is done
  bool is_picked = false;               // a Merge has begun since IsCompactionDue was asked
  std::optional<std::string> reach;     // where it ends; unset: behind all of the level
};

struct CompactionInput {
  std::shared_ptr<const Layers> layers;
  // A frozen memtable to be merged straight in: each key once, newest version, tombstones included. Its entries are not
  // in the accounts yet. Null: only runs are merged.
  EntryCursor* memtable = nullptr;
  // A merge of runs stops at the next key once it has written so much, and goes on in a later step. A memtable is
  // always merged as a whole.
  std::uint64_t max_output_bytes = std::numeric_limits<std::uint64_t>::max();
  // Per cent of what is live in them that files of pages may hold, so far as it is less than what the index allows by
  // itself: pages of others are copied for it.
  std::uint64_t file_percent_max = std::numeric_limits<std::uint64_t>::max();
  // Set: the step is one for this request, for which a merge is due. Otherwise it is the one that is most due; if none
  // is, the runs are merged all the same.
  CompactionRequest* request = nullptr;
  // The range deletes of `memtable`, older than the entries it yields and newer than all layers. Null: there are none.
  std::shared_ptr<const RangeDeletes> memtable_ranges = nullptr;
  // Asked about the values of runs and what they are merged with. Null: all of them stay. Never with a memtable.
  ValueFilter* filter = nullptr;
  // Asked now and then by merges of which a step may be long. True: nobody wants the outcome any more, and Merge ends with
  // ShutdownInProgress. Unset: never.
  std::function<bool()> is_abandoned = nullptr;
  BeforeWrite before_write = nullptr;  // of each piece that is written
};

struct CompactionStats {
  std::uint32_t level = 0;              // of what was merged; 0: runs
  std::uint32_t output_level = 1;       // where it went; of a tree 1
  std::uint64_t bytes_read = 0;         // pages of the old tree that were looked at
  std::uint64_t bytes_written = 0;
  std::uint64_t bytes_evacuated = 0;    // of these, pages that were copied only to empty their file
  std::uint64_t entries_merged = 0;     // keys taken from runs and memtable
  std::uint64_t entries_dropped = 0;    // shadowed, replaced, deleted, and tombstones themselves
  std::uint64_t value_bytes_dropped = 0;
  // Of separated values that a filter has removed or changed, as accounts count them: nothing had hidden these before.
  std::uint64_t value_bytes_filtered = 0;
};

// A merge that was carried out: its files are written and synced, and nothing names them yet. Dropping it uncommitted
// is how a merge is abandoned.
class CompactionOutcome {
 public:
  virtual ~CompactionOutcome() = default;

  // Under the commit mutex. Adds to *edit what the MANIFEST must say (layers, root, sweep, index segments, accounts),
  // and returns the layers that hold once that record is durable. Aborted if `current` no longer fits: a memtable was
  // merged straight in, and meanwhile a run was put on top of the runs it was merged with. Then the memtable has to
  // become a run.
  virtual Result<std::shared_ptr<const Layers>> Stage(const Layers& current, FamilyEdit* edit) const = 0;

  // The record is durable. Without this call no byte is ever appended to the files of this merge.
  virtual void Committed() = 0;

  [[nodiscard]] virtual const CompactionStats& stats() const = 0;
};

// What the cost law is asked about, beside what the layers tell.
struct UpdateShape {
  double run_entry_bytes = 0;    // of a run, filter included
  double entry_bytes = 0;        // of the tree or the levels, all pages included
  double new_share = 0;          // of the keys, those that the layers do not have
  std::uint64_t step_bytes = 0;  // CompactionInput::max_output_bytes
};

class Index {
 public:
  virtual ~Index() = default;

  // Where a memtable should go now. Reads a few branch pages of the tree; an error there is not one of the memtable, so
  // it only means kMakeRun.
  [[nodiscard]] virtual FlushChoice PickFlush(const Layers& layers, const MemtableShape& memtable) const = 0;

  // Whether a merge of runs (or its next step) is due. `urgent`: space is short, or the database is idle; then any run
  // at all is reason enough.
  [[nodiscard]] virtual bool IsCompactionDue(const Layers& layers, bool urgent) const = 0;

  // Whether `request` needs a merge, or another step. Notes in it what is done.
  virtual bool IsCompactionDue(const Layers& layers, CompactionRequest* request) const = 0;

  // How many bytes of index files this memtable will cause to be written, its own flush and its part of merges to come,
  // if all memtables are like it and their keys lie anywhere between its smallest and its largest: see cost_law.h of
  // either back-end. For figures only. 0 if pages cannot be read.
  [[nodiscard]] virtual double ExpectedBytes(const Layers& layers, const MemtableShape& memtable,
                                             const UpdateShape& update) const = 0;

  // One merge, or a step of one. After an error nothing has changed; files that were made are garbage.
  virtual Result<std::unique_ptr<CompactionOutcome>> Compact(const CompactionInput& input) = 0;

  // Options of the family were changed; those that may be while it is open count from the next choice and merge on. Any
  // thread.
  virtual void SetOptions(const ColumnFamilyOptions& options) = 0;

  // From here on no file that was written before is appended to: it may get a second link. Not during a merge.
  virtual void SealFiles() = 0;
};

}  // namespace cambium
