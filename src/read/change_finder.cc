#include "read/change_finder.h"

#include <memory>

#include "index/key_for_message.h"

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

}  // namespace

Status ChangeFinder::CheckKey(const Family& family, Slice key, SequenceNumber since) const {
  const auto changed = [&] {
    return Status::Busy("key " + KeyForMessage(key) + " of column family \"" + family.name +
                        "\" was written by others");
  };
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
    if (answer == Answer::kChanged) return changed();
    if (answer == Answer::kUnchanged) return Status::OK();
  }
  // After the view: a memtable that is not in the view any more was added to the history before.
  const WriteHistory::Part history = db_.history.PartOf(family.id, since);
  for (const auto& table : history.tables) {
    const Answer answer = Ask(*table, key, since);
    if (answer == Answer::kChanged) return changed();
    if (answer == Answer::kUnchanged) return Status::OK();
  }
  if (history.floor <= since) return Status::OK();
  return Status::TryAgain("too much was written since the transaction began to find out whether key " +
                          KeyForMessage(key) + " of column family \"" + family.name + "\" was written");
}

}  // namespace cambium
