#include "upkeep/flush_commit.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "state/write_head.h"

namespace cambium {

void AbsorbTable(const CommitPoint& commits, const Family& family, const FrozenTable& table, Edit* edit,
                 FamilyEdit* family_edit) {
  const ManifestState& state = commits.state();
  family_edit->flushed_sequence = std::max(table.end.sequence, state.families.at(family.id).flushed_sequence);
  edit->last_sequence = std::max(table.end.sequence, state.last_sequence);
  const LogPlace replay = WriteHead::OldestUnflushed(*commits.view().Pin(), table.table.get(), table.end);
  if (replay.position > state.replay) {
    edit->replay = replay.position;
    edit->replay_sequence = replay.sequence;
  }
}

void InstallFlushed(View* view, const Family& family, const FrozenTable& table, std::shared_ptr<const Layers> layers) {
  FamilyView& change = *view->Find(family.id);
  [[maybe_unused]] const std::size_t removed =
      std::erase_if(change.frozen, [&](const FrozenTable& frozen) { return frozen.table == table.table; });
  assert(removed == 1 && "a table is flushed once");
  CommitPoint::SetLayers(&change, std::move(layers));
}

}  // namespace cambium
