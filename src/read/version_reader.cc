#include "read/version_reader.h"

#include "index/passing_reads.h"
#include "util/mutant.h"

namespace cambium {

struct VersionReader::Found {
  std::shared_ptr<const View> view;
  PageRef page;
  Entry entry;                 // a tombstone: the key does not exist
  bool is_in_memory = false;
  SequenceNumber version = 0;  // 0: not known, or in the record
  // For an inline value without a version: the operation since which the family keeps versions, or kKeepsNone.
  SequenceNumber versions_since = Family::kKeepsNone;

  [[nodiscard]] bool Exists() const { return entry.kind != EntryKind::kTombstone; }
  // The read is as of an operation before versions_since.
  [[nodiscard]] bool IsTooEarly() const { return versions_since != Family::kKeepsNone && version == 0; }
};

Status VersionReader::Find(const ReadOptions& options, const Family& family, Slice key, Found* found) const {
  do {
    CAMBIUM_RETURN_IF_ERROR(FindOnce(options, family, key, found));
    // The family began to keep versions after a read of the newest state had begun: the next one sees all that was
    // flushed until then.
  } while (found->IsTooEarly() && options.snapshot == nullptr);
  return Status::OK();
}

Status VersionReader::FindOnce(const ReadOptions& options, const Family& family, Slice key, Found* found) const {
  SequenceNumber sequence = 0;
  found->versions_since = Family::kKeepsNone;
  CAMBIUM_TRY(found->view, head_.PinViewFor(options, &sequence));
  found->entry = Entry::Tombstone();
  found->version = 0;
  const FamilyView* const layers = found->view->Find(family.id);
  if (layers == nullptr) {  // the family was dropped, or it was created after the snapshot
    return family.dropped.load(std::memory_order_acquire) ? DroppedStatus(family) : Status::OK();
  }
  found->is_in_memory = View::FindInMemory(*layers, key, sequence, &found->entry, &found->version);
  db_.meter.Tick(found->is_in_memory ? MEMTABLE_HIT : MEMTABLE_MISS);
  if (found->is_in_memory) return Status::OK();
  FoundIn where{};
  CAMBIUM_TRY(const bool is_found, layers->layers->Find(key, &found->page, &found->entry, &where));
  if (!is_found) {
    found->entry = Entry::Tombstone();
    return Status::OK();
  }
  db_.meter.Tick(TickerOf(where));
  if (found->entry.kind != EntryKind::kInline) return Status::OK();
  found->version = found->entry.version();
  if (found->version != 0) return Status::OK();
  // Read after the view. If the family began to keep versions after that, the entry was in its layers before, too.
  found->versions_since = family.versions_since.load(std::memory_order_acquire);
  if (found->versions_since == 0) {
    return Status::Corruption(KeyForMessage(family, key) + " has no version, and nothing was flushed before its family kept them");
  }
  const bool sees_all = found->versions_since <= sequence || MutantIs(Mutant::kVersionOfOlderSnapshot);
  if (found->versions_since != Family::kKeepsNone && sees_all) found->version = found->versions_since;
  return Status::OK();
}

Status VersionReader::Get(const ReadOptions& options, const Family& family, Slice key, std::string* buffer,
                          Slice* value, SequenceNumber* version) const {
  const PassingReads passing(!options.fill_cache);
  *value = Slice();
  *version = 0;
  while (true) {
    Found found;
    CAMBIUM_RETURN_IF_ERROR(Find(options, family, key, &found));
    if (!found.Exists()) return Status::NotFound();
    if (found.entry.kind == EntryKind::kLargeValue) {
      return Status::NotSupported(KeyForMessage(family, key) +
                                  " has a value with a file of its own; such values have no versions");
    }
    // A flush would lose the version of an inline value, and that of one that takes the place of a separated value.
    const bool needs_none = db_.read_only && found.entry.kind == EntryKind::kValue;
    if (!family.KeepsVersions() && !needs_none) {
      CAMBIUM_RETURN_IF_ERROR(versions_.Begin(family));
      continue;
    }
    if (found.entry.kind == EntryKind::kValue) {
      return ReadValue(found.view->segments, QueryFor(db_, family, options, key, found.entry), buffer, value, version);
    }
    if (found.version != 0) {
      *version = found.version;
      buffer->assign(found.entry.inline_value.data(), found.entry.inline_value.size());
      *value = *buffer;
      return Status::OK();
    }
    return Status::TryAgain("the version of " + KeyForMessage(family, key) +
                            " is not known: its family keeps versions since operation " +
                            std::to_string(found.versions_since) + ", which is later than the snapshot");
  }
}

Result<bool> VersionReader::HasVersion(const Family& family, Slice key, SequenceNumber version) const {
  const ReadOptions options;
  Found found;
  CAMBIUM_RETURN_IF_ERROR(Find(options, family, key, &found));
  if (!found.Exists() || version == 0) return found.Exists() == (version != 0);
  if (MutantIs(Mutant::kVersionIsNotCompared)) return true;
  if (found.entry.kind == EntryKind::kLargeValue) return false;  // no version was ever returned for it
  if (found.is_in_memory) return found.version == version;
  if (found.entry.kind == EntryKind::kValue) {
    CAMBIUM_TRY(const SequenceNumber sequence,
                ReadSequence(found.view->segments, QueryFor(db_, family, options, key, found.entry)));
    return sequence == version;
  }
  if (found.entry.version() != 0) return found.entry.version() == version;
  // The value was written at or before versions_since. That number is its version, unless the caller read it earlier.
  const bool is_kept = found.versions_since != Family::kKeepsNone;
  if (is_kept && version >= found.versions_since) return found.version == version;
  return Status::TryAgain("whether " + KeyForMessage(family, key) + " still has version " + std::to_string(version) +
                          " is not known, because its family did not keep versions then; read it again");
}

}  // namespace cambium
