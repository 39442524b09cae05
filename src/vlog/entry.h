// Entry: what a layer (memtable, run, tree) says about a key.
#pragma once

#include "cambium/slice.h"
#include "cambium/types.h"
#include "vlog/value_address.h"

namespace cambium {

// kValue, kLargeValue: `address` is set. kInline: `inline_value` is set and borrows the layer's memory. kTombstone:
// neither is set.
//
// An inline value may have a *version*: the sequence number of its write. It takes the place of the address. (The record
// of a separated value has its number.) Whoever copies an entry keeps it.
struct Entry {
  EntryKind kind = EntryKind::kTombstone;
  ValueAddress address;
  Slice inline_value;

  static Entry At(ValueAddress address) { return {address.kind(), address, {}}; }
  // `version` 0: not known.
  static Entry Inline(Slice value, SequenceNumber version = 0) {
    return {EntryKind::kInline, ValueAddress(version), value};
  }
  static Entry Tombstone() { return {}; }

  [[nodiscard]] bool HasAddress() const { return kind == EntryKind::kValue || kind == EntryKind::kLargeValue; }
  // The same entry, without a version.
  [[nodiscard]] Entry WithoutVersion() const { return kind == EntryKind::kInline ? Inline(inline_value) : *this; }
  // 0: not known, or not an inline value.
  [[nodiscard]] SequenceNumber version() const { return kind == EntryKind::kInline ? address.word() : 0; }
};

// True if both entries refer to the same bytes of a segment. Only one layer of a family may have such an entry.
[[nodiscard]] inline bool RefersToSame(const Entry& a, const Entry& b) {
  return a.HasAddress() && b.HasAddress() && a.address == b.address;
}

// An entry must fit into a page of 64 units. The API rejects a longer key with InvalidArgument.
inline constexpr std::size_t kMaxKeySize = 64 * 1024;

}  // namespace cambium
