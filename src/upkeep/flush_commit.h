// What a flush adds to the commit that makes it true, whether the memtable became a run or went into the tree.
#pragma once

#include <memory>

#include "state/commit_point.h"

namespace cambium {

// Adds to the edit: the family is flushed up to the end of the table, and the replay position that this allows.
void AbsorbTable(const CommitPoint& commits, const Family& family, const FrozenTable& table, Edit* edit,
                 FamilyEdit* family_edit) CAMBIUM_REQUIRES(commit_lock);
// Takes the table out of the view, whose layers have its entries now.
void InstallFlushed(View* view, const Family& family, const FrozenTable& table, std::shared_ptr<const Layers> layers);

}  // namespace cambium
