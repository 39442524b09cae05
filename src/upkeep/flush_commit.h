// The part of a commit that every flush has, whether the memtable becomes a run or is merged into the tree.
#pragma once

#include <memory>

#include "state/commit_point.h"

namespace cambium {

// Adds two things to the edit: that the family is flushed up to the end of the memtable, and the replay position that
// this allows.
void AbsorbTable(const CommitPoint& commits, const Family& family, const FrozenTable& table, Edit* edit,
                 FamilyEdit* family_edit) CAMBIUM_REQUIRES(commit_lock);
// Removes the memtable from the view, and sets `layers`, which have its entries.
void InstallFlushed(View* view, const Family& family, const FrozenTable& table, std::shared_ptr<const Layers> layers);

}  // namespace cambium
