// The parts of a commit that every flush has, whether the memtable becomes a run or is merged into the tree.
#pragma once

#include <memory>

#include "state/commit_point.h"

namespace cambium {

// Says in the edit that the family is flushed up to the end of the memtable.
void SetFlushed(const ManifestState& state, const Family& family, const FrozenTable& table, FamilyEdit* family_edit);
// Removes the memtable from the view, leaves it to readers, and sets `layers`, which have its entries.
void InstallFlushed(const DbContext& db, View* view, const Family& family, const FrozenTable& table,
                    std::shared_ptr<const Layers> layers);

}  // namespace cambium
