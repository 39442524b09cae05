#include "read/change_finder.h"

#include <memory>
#include <string>

#include "index/key_for_message.h"
#include "read/reader.h"
#include "util/mutant.h"

namespace cambium {
namespace {

enum class Answer : unsigned char { kUnknown, kChanged, kUnchanged };

// Compares the memtable's newest operation on the key with `since`; kUnknown if it has none.
Answer Ask(const LogTable& table, Slice key, SequenceNumber since) {
  Entry entry;
  SequenceNumber sequence = 0;
  if (!table.Find(key, kMaxSequenceNumber, &entry, &sequence)) return Answer::kUnknown;
  return sequence > since ? Answer::kChanged : Answer::kUnchanged;
}

Status Changed(const Family& family, Slice key) {
  return Status::Busy(KeyForMessage(family, key) + " was written by others");
}

Status NotKnown(const Family& family, Slice key) {
  return Status::TryAgain("too much was written since the transaction began to find out whether " +
                          KeyForMessage(family, key) + " was written");
}

// "[01, 05)", in hexadecimal.
std::string Describe(const Family& family, const KeyInterval& interval) {
  const std::string begin = interval.begin ? "[" + KeyForMessage(*interval.begin) : "(all";
  const std::string end = interval.end ? KeyForMessage(*interval.end) + ")" : "end)";
  return "range " + begin + ", " + end + " of column family \"" + family.name + "\"";
}

// Sets *key to a key of the interval that the memtable's newest operation on it, after `since`, has changed, or to the
// first key at which a later range delete overlaps the interval. False if there is none.
bool FindChange(const LogTable& table, const KeyInterval& interval, SequenceNumber since, std::string* key) {
  const std::unique_ptr<EntryCursor> cursor = table.NewCursor(kMaxSequenceNumber, since);
  if (interval.begin) {
    cursor->Seek(*interval.begin);
  } else {
    cursor->SeekToFirst();
  }
  if (cursor->Valid() && (!interval.end || table.Compare(cursor->key(), *interval.end) < 0)) {
    *key = cursor->key().ToString();
    return true;
  }
  // The cursor leaves out keys that a range delete covers. Ranges that are newer than the cursor count too.
  const std::shared_ptr<const RangeDeletes> ranges = table.RangesAt(kMaxSequenceNumber, since);
  if (ranges == nullptr || MutantIs(Mutant::kRangeDeletesAreNoPhantoms)) return false;
  const Slice* const begin = interval.begin ? &*interval.begin : nullptr;
  const Slice* const end = interval.end ? &*interval.end : nullptr;
  if (!ranges->Overlaps(begin, end)) return false;
  *key = ranges->Within(begin, end).begin(0);
  return true;
}

}  // namespace

Status ChangeFinder::CheckInterval(const Family& family, const KeyInterval& interval, SequenceNumber since) const {
  const auto changed = [&](const std::string& key) {
    return Status::Busy("key " + KeyForMessage(key) + " in " + Describe(family, interval) + " was written by others");
  };
  std::string key;
  {
    // A walk may take long, so the view is held by a reference, like that of an iterator.
    const std::shared_ptr<const View> view = commits_.view().Pin();
    if (view == nullptr) return Status::ShutdownInProgress("the database is closed");
    const FamilyView* const found = view->Find(family.id);
    if (found == nullptr) return DroppedStatus(family);
    if (FindChange(*found->active, interval, since, &key)) return changed(key);
    for (const FrozenTable& frozen : found->frozen) {
      if (frozen.end.sequence <= since) break;
      if (FindChange(*frozen.table, interval, since, &key)) return changed(key);
    }
  }
  // After the view: a memtable that is not in the view any more was added to the history before.
  const WriteHistory::Part history = db_.history.PartOf(family.id, since);
  for (const auto& table : history.tables) {
    if (FindChange(*table, interval, since, &key)) return changed(key);
  }
  if (history.floor <= since) return Status::OK();
  return Status::TryAgain("too much was written since the transaction began to find out whether a key in " +
                          Describe(family, interval) + " was written");
}

Status ChangeFinder::CheckKey(const Family& family, Slice key, SequenceNumber since, Asks asks,
                              const Snapshot* then) const {
  {
    const ViewLook view(commits_.view());
    if (view.get() == nullptr) return Status::ShutdownInProgress("the database is closed");
    const FamilyView* const found = view->Find(family.id);
    if (found == nullptr) return DroppedStatus(family);
    Answer answer = Ask(*found->active, key, since);
    for (const FrozenTable& frozen : found->frozen) {
      if (answer != Answer::kUnknown || frozen.end.sequence <= since) break;
      answer = Ask(*frozen.table, key, since);
    }
    if (answer == Answer::kChanged) return Changed(family, key);
    if (answer == Answer::kUnchanged) return Status::OK();
  }
  // After the view: a memtable that is not in the view any more was added to the history before.
  const WriteHistory::Part history = db_.history.PartOf(family.id, since);
  for (const auto& table : history.tables) {
    const Answer answer = Ask(*table, key, since);
    if (answer == Answer::kChanged) return Changed(family, key);
    if (answer == Answer::kUnchanged) return Status::OK();
  }
  if (history.floor <= since) return Status::OK();
  return asks == Asks::kRecords ? CheckLayers(family, key, since, then) : NotKnown(family, key);
}

// The newest entry decides: a later put, delete or range delete would hide it.
Status ChangeFinder::CheckLayers(const Family& family, Slice key, SequenceNumber since, const Snapshot* then) const {
  const std::shared_ptr<const View> view = commits_.view().Pin();
  const FamilyView* const found = view == nullptr ? nullptr : view->Find(family.id);
  if (found == nullptr) return DroppedStatus(family);
  PageRef page;
  Entry entry;
  FoundIn where{};
  CAMBIUM_TRY(const bool is_found, found->layers->Find(key, &page, &entry, &where));
  if (!is_found || entry.kind == EntryKind::kTombstone) return CheckAbsent(family, key, since, then);
  if (entry.kind == EntryKind::kInline) return CheckVersion(family, key, since, entry);
  return entry.kind == EntryKind::kValue ? CheckRecord(*view, family, key, since, entry) : NotKnown(family, key);
}

Status ChangeFinder::CheckRecord(const View& view, const Family& family, Slice key, SequenceNumber since,
                                 const Entry& entry) const {
  CAMBIUM_TRY(const SequenceNumber sequence,
              ReadSequence(view.segments, QueryFor(db_, family, ReadOptions(), key, entry)));
  if (sequence <= since || MutantIs(Mutant::kRecordsAreNotCompared)) return Status::OK();
  // A filter that changes a separated value gives it a later number, but is no writer.
  const ColumnFamilyOptions& options = family.options();
  const bool is_filtered = options.compaction_filter != nullptr || options.compaction_filter_factory != nullptr;
  return is_filtered ? NotKnown(family, key) : Changed(family, key);
}

Status ChangeFinder::CheckVersion(const Family& family, Slice key, SequenceNumber since, const Entry& entry) const {
  if (MutantIs(Mutant::kVersionsAreNotCompared)) return Status::OK();
  if (entry.version() != 0) return entry.version() <= since ? Status::OK() : Changed(family, key);
  if (!family.KeepsVersions()) {
    static_cast<void>(versions_.Begin(family));  // if it fails, the next such call tries again
    return NotKnown(family, key);
  }
  // It was in the layers when the family began to keep versions.
  return family.versions_since.load(std::memory_order_acquire) <= since ? Status::OK() : NotKnown(family, key);
}

// The layers do not say when a key was deleted.
Status ChangeFinder::CheckAbsent(const Family& family, Slice key, SequenceNumber since, const Snapshot* then) const {
  if (then == nullptr || then->GetSequenceNumber() != since) return NotKnown(family, key);
  ReadOptions at;
  at.snapshot = then;
  SequenceNumber sequence = 0;
  CAMBIUM_TRY(const std::shared_ptr<const View> view, head_.PinViewFor(at, &sequence));
  const FamilyView* const found = view->Find(family.id);
  if (found == nullptr) return Status::OK();  // the family was created later
  PageRef page;
  Entry entry;
  FoundIn where{};
  bool is_found = View::FindInMemory(*found, key, sequence, &entry);
  if (!is_found) {
    CAMBIUM_TRY(is_found, found->layers->Find(key, &page, &entry, &where));
  }
  return is_found && entry.kind != EntryKind::kTombstone ? Changed(family, key) : Status::OK();
}

}  // namespace cambium
