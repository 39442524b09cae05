#include "upkeep/flush_commit.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "memtable/write_budget.h"

namespace cambium {

std::shared_ptr<const Layers> StageNewestRuns(std::shared_ptr<const Layers> layers,
                                              const std::vector<std::shared_ptr<const Run>>& runs,
                                              FamilyEdit* family_edit) {
  for (const std::shared_ptr<const Run>& run : runs) {
    family_edit->add_runs.push_back(run->info());
    layers = layers->WithNewestRun(run);
  }
  family_edit->layers.emplace();
  for (const auto& run : layers->runs()) family_edit->layers->push_back(run->number());
  return layers;
}

void SetFlushed(const ManifestState& state, const Family& family, const FrozenTable& table, FamilyEdit* family_edit) {
  family_edit->flushed_sequence = std::max(table.end.sequence, state.families.at(family.id).flushed_sequence);
}

namespace {

// The memory that the history of open transactions may take.
std::size_t HistoryBytesMax(const DbContext& db, const Family& family) {
  const ColumnFamilyOptions& options = family.options();
  const std::size_t bytes = options.write_buffer_size * static_cast<std::size_t>(options.max_write_buffer_number);
  return db.budget == nullptr || db.budget->limit() == 0 ? bytes : std::min(bytes, db.budget->limit() / 4);
}

}  // namespace

void InstallFlushed(const DbContext& db, View* view, const Family& family, const FrozenTable& table,
                    std::shared_ptr<const Layers> layers) {
  assert(view->Find(family.id) != nullptr && "a family is not dropped while a change of it is committed");
  FamilyView& change = *view->Mutable(family.id);
  [[maybe_unused]] const std::size_t removed =
      std::erase_if(change.frozen, [&](const FrozenTable& frozen) { return frozen.table == table.table; });
  assert(removed == 1 && "a memtable is flushed once");
  table.table->LeaveToReaders(db.reader_tables);
  db.history.Leave(family.id, table.table, table.end.sequence, HistoryBytesMax(db, family));
  change.family->flush_bytes.store(change.frozen.empty() ? 0 : change.frozen.back().table->memory_bytes(),
                                   std::memory_order_relaxed);
  CommitPoint::SetLayers(&change, std::move(layers));
}

}  // namespace cambium
