// Estimates of hidden garbage: values that newer entries hide and that accounts still count, and the bytes of hidden
// entries in an LSM's files. These estimates decide when compactions are urgent (gc/space.h).
#pragma once

#include <cstdint>

#include "manifest/accounts.h"
#include "manifest/state.h"
#include "state/family.h"
#include "upkeep/key_sample.h"

namespace cambium {

// Called after a flush: it has hidden the entries that `sample` finds in the layers below it. `has_stretches`: the flush
// has written most keys of some rows as range deletes, so that they are not in the sample (dead_stretches.h).
void NoteHidden(Family* family, const KeySample& sample, bool has_stretches, const Layers& below);
// Called after a flush that made a run, and at Open: estimates what the range deletes of `now` cover. If pages cannot be
// read, the estimates stay as they are.
void NoteCovered(Family* family, const Layers& now);
// Called after a compaction: it has replaced `before` by `now`, and has turned `uncharged` hidden bytes into garbage.
void NoteCompacted(Family* family, const Layers& before, const Layers& now, std::int64_t uncharged);
// Returns the bytes of hidden values whose references a compaction subtracts from the accounts. Called before its
// commit, which removes slots without references from shadowed_slots.
[[nodiscard]] std::int64_t UnchargedBy(const AccountDelta& accounts, const ManifestState& state);

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
