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

std::string Describe(const Family& family, Slice key) {
  return "key " + KeyForMessage(key) + " of column family \"" + family.name + "\"";
}

Status Changed(const Family& family, Slice key) { return Status::Busy(Describe(family, key) + " was written by others"); }

Status NotKnown(const Family& family, Slice key) {
  return Status::TryAgain("too much was written since the transaction began to find out whether " +
                          Describe(family, key) + " was written");
}

}  // namespace

Status ChangeFinder::CheckKey(const Family& family, Slice key, SequenceNumber since, Asks asks) const {
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
  return asks == Asks::kRecords ? CheckRecord(family, key, since) : NotKnown(family, key);
}

Status ChangeFinder::CheckRecord(const Family& family, Slice key, SequenceNumber since) const {
  const std::shared_ptr<const View> view = commits_.view().Pin();
  const FamilyView* const found = view == nullptr ? nullptr : view->Find(family.id);
  if (found == nullptr) return DroppedStatus(family);
  PageRef page;
  Entry entry;
  FoundIn where{};
  CAMBIUM_TRY(const bool is_found, found->layers->Find(key, &page, &entry, &where));
  // The newest entry decides: a later put, delete or range delete would hide it.
  if (!is_found || entry.kind != EntryKind::kValue) return NotKnown(family, key);
  CAMBIUM_TRY(const SequenceNumber sequence,
              ReadSequence(view->segments, QueryFor(db_, family, ReadOptions(), key, entry)));
  if (sequence <= since || MutantIs(Mutant::kRecordsAreNotCompared)) return Status::OK();
  // A filter that changes a value gives it a later number, but is no writer.
  const ColumnFamilyOptions& options = family.options();
  const bool is_filtered = options.compaction_filter != nullptr || options.compaction_filter_factory != nullptr;
  return is_filtered ? NotKnown(family, key) : Changed(family, key);
}

}  // namespace cambium
