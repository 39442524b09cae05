// Estimates of hidden garbage: values that newer entries hide and that accounts still count, and what hidden entries take
// of an LSM's files. They decide when compactions are urgent (gc/space.h).
#pragma once

#include <cstdint>

#include "manifest/accounts.h"
#include "manifest/state.h"
#include "state/family.h"
#include "upkeep/key_sample.h"

namespace cambium {

// A flush has hidden what `sample` finds in the layers below it.
void NoteHidden(Family* family, const KeySample& sample, const Layers& below);
// A compaction has replaced `before` by `now`, and `uncharged` bytes that were hidden are garbage now.
void NoteCompacted(Family* family, const Layers& before, const Layers& now, std::int64_t uncharged);
// The bytes that a compaction takes off the accounts: they were hidden. Asked before its commit, because a slot that
// nothing refers to is shadowed no longer afterwards.
[[nodiscard]] std::int64_t UnchargedBy(const AccountDelta& accounts, const ManifestState& state);

// Bytes of all files of the layers.
[[nodiscard]] std::uint64_t FileBytes(const LayersShape& shape);
// Roughly what an entry that is no tombstone takes of them.
[[nodiscard]] double FileBytesPerEntry(const LayersShape& shape);
[[nodiscard]] std::uint64_t Tombstones(const LayersShape& shape);
// What a record of the log takes, on average over an account.
[[nodiscard]] double BytesPerReference(const Account& all);

}  // namespace cambium
