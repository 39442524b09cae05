// Parts of a commit that several jobs have: flushes to runs, flushes into the tree, log GC.
#pragma once

#include <memory>
#include <vector>

#include "state/commit_point.h"

namespace cambium {

// Puts the runs on top of the layers, the first one lowest, and says so in the edit. Returns the new layers.
std::shared_ptr<const Layers> StageNewestRuns(std::shared_ptr<const Layers> layers,
                                              const std::vector<std::shared_ptr<const Run>>& runs,
                                              FamilyEdit* family_edit);
// Says in the edit that the family is flushed up to the end of the memtable.
void SetFlushed(const ManifestState& state, const Family& family, const FrozenTable& table, FamilyEdit* family_edit);
// Removes the memtable from the view, leaves it to readers and to the history of open transactions, and sets `layers`,
// which have its entries.
void InstallFlushed(const DbContext& db, View* view, const Family& family, const FrozenTable& table,
                    std::shared_ptr<const Layers> layers);

}  // namespace cambium
