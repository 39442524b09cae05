// Estimates of hidden garbage: values that newer entries hide and that accounts still count, and the bytes of hidden
// entries in an LSM's files. These estimates decide when compactions are urgent (gc/space.h).
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "gc/relocation.h"
#include "index/run.h"
#include "manifest/accounts.h"
#include "manifest/state.h"
#include "memtable/memtable.h"
#include "state/family.h"
#include "state/live_sample.h"
#include "upkeep/key_sample.h"

namespace cambium {

// Whether the separated values of a family are sampled. They are not sampled if the family has a compaction filter,
// which removes values unseen by the sample, or if keys with different bytes may be equal.
[[nodiscard]] bool IsSampled(const Family& family);
// Called at Open: samples the values of the layers. Visits each entry, so it is for small indexes.
void SampleLayers(Family* family, const Layers& layers, std::uint64_t grain) CAMBIUM_REQUIRES(commit_lock);
// Called when a flush is committed: the memtable is now a part of the layers, and `newest` is a sample of it. `below`:
// the bytes that the accounts had before. `is_run`: the memtable has become a run, so what it replaces is hidden;
// `ranges` are the run's range deletes, or null. If it was merged into the tree instead, it hides nothing. Returns
// whether the sample knew all values below.
[[nodiscard]] bool NoteReplaced(Family* family, const MemTable& table, LiveSample::Newest newest, std::uint64_t below,
                                 bool is_run, const RangeDeletes* ranges) CAMBIUM_REQUIRES(commit_lock);
// Called when a step of log GC is committed, which has moved these values. If memory runs out, the sample is lost.
void NoteMoved(Family* family, std::span<const MovedValue> values, std::uint64_t grain) noexcept
    CAMBIUM_REQUIRES(commit_lock);
// Runs that a flush has made, and what it knows of their keys.
struct FlushedRuns {
  std::span<const std::shared_ptr<const Run>> runs;
  const KeySample& sample;
  bool has_stretches = false;  // dead stretches were left out of the runs
};
// Called after a flush that has made runs: they have hidden the entries that their sample finds in the layers below.
// `is_known`: the result of NoteReplaced. If it is false, some values may be counted twice. The sample of live values
// limits the error (HiddenBytes).
void NoteHidden(Family* family, const FlushedRuns& flushed, const Layers& below, bool is_known);
// Called after a flush that made a run, and at Open: estimates what the range deletes of `now` cover. If pages cannot be
// read, the estimates stay as they are.
void NoteCovered(Family* family, const Layers& now);
// Called after a compaction: it has replaced `before` by `now`, and has turned `uncharged` hidden bytes into garbage.
void NoteCompacted(Family* family, const Layers& before, const Layers& now, std::int64_t uncharged);
// Returns the bytes of hidden values whose references a compaction subtracts from the accounts. Called before its
// commit, which removes slots without references from shadowed_slots.
[[nodiscard]] std::int64_t UnchargedBy(const AccountDelta& accounts, const ManifestState& state);

// Estimates how many of `bytes`, which the accounts of the family count, newer layers hide. Bytes that range deletes
// cover are left out. `counted`: the estimate by keys.
[[nodiscard]] std::uint64_t HiddenBytes(const Family& family, std::uint64_t bytes, std::uint64_t counted)
    CAMBIUM_REQUIRES(commit_lock);
// Estimates the bytes in layers that the memtables replace or delete. `live`: the bytes that are not hidden. `per_key`:
// the average bytes of the log per entry of the layers.
[[nodiscard]] std::uint64_t BytesHiddenBy(std::span<const MemTable* const> tables, const Family& family,
                                          std::uint64_t live, double per_key) CAMBIUM_REQUIRES(commit_lock);

// The bytes of all files of the layers.
[[nodiscard]] std::uint64_t FileBytes(const LayersShape& shape);
// The average bytes of these files per entry that is not a tombstone.
[[nodiscard]] double FileBytesPerEntry(const LayersShape& shape);
[[nodiscard]] std::uint64_t Tombstones(const LayersShape& shape);
// The keys of all layers above the tree, or above the last level of an LSM.
[[nodiscard]] std::uint64_t KeysAboveLast(const LayersShape& shape);
// The average size of the records to which the account `all` refers.
[[nodiscard]] double BytesPerReference(const Account& all);

}  // namespace cambium
