// Snapshots that outlive their memory tables. A table that was flushed lives on while a snapshot can see older versions
// in it. Above a budget what such a snapshot sees of the table goes to a private run: a file that no MANIFEST names, which
// goes with the snapshot, or as an orphan after a crash.
#include <algorithm>

#include "api/db_impl.h"
#include "index/run.h"
#include "util/mutant.h"

namespace cambium {
namespace {

// Tables of `view` that are no longer in `current`, oldest first. As flushes commit in order, they are its oldest ones.
std::vector<std::shared_ptr<const MemTable>> OnlyIn(const FamilyView& view, const FamilyView& current) {
  const auto is_current = [&](const MemTable* table) {
    return table == current.active.get() ||
           std::any_of(current.frozen.begin(), current.frozen.end(),
                       [&](const FrozenTable& frozen) { return frozen.table.get() == table; });
  };
  std::vector<std::shared_ptr<const MemTable>> tables;
  for (auto frozen = view.frozen.rbegin(); frozen != view.frozen.rend(); ++frozen) {
    if (!is_current(frozen->table.get())) tables.push_back(frozen->table);
  }
  if (!is_current(view.active.get()) && !view.active->empty()) tables.push_back(view.active);
  return tables;
}

}  // namespace

// Runs at the end of each flush, in its thread.
Status DbImpl::BoundPinnedMemory() {
  const std::shared_ptr<const View> current = view_.Pin();
  std::set<const MemTable*> pinned;
  std::size_t bytes = 0;
  std::vector<std::shared_ptr<SnapshotImpl>> snapshots = snapshots_.All();
  for (const auto& snapshot : snapshots) {
    for (const auto& table : OnlyIn(snapshot->view()->families[0], current->families[0])) {
      if (pinned.insert(table.get()).second) bytes += table->memory_bytes();
    }
  }
  const std::size_t budget = options_.write_buffer_size * static_cast<std::size_t>(options_.max_write_buffer_number);
  if (bytes <= budget || MutantIs(Mutant::kSnapshotsPinTables)) return Status::OK();
  for (const auto& snapshot : snapshots) CAMBIUM_RETURN_IF_ERROR(MovePinnedToRuns(snapshot.get(), *current));
  return Status::OK();
}

Status DbImpl::MovePinnedToRuns(SnapshotImpl* snapshot, const View& current) {
  const std::shared_ptr<const View> before = snapshot->view();
  const auto tables = OnlyIn(before->families[0], current.families[0]);
  if (tables.empty()) return Status::OK();
  auto after = std::make_shared<View>(*before);
  FamilyView& family = after->families[0];
  for (const auto& table : tables) {
    const std::unique_ptr<EntryCursor> cursor = table->NewCursor(snapshot->GetSequenceNumber());
    CAMBIUM_TRY(const NewIndexFile made, MakeIndexFile(FileKind::kRun));
    // Nothing will ever name it, so it goes with its last reader.
    obsolete_.MakeObsolete(made.header.number);
    RunOptions options;
    options.page_size = static_cast<std::uint32_t>(page_size_);
    options.filter_bits_per_key = static_cast<unsigned>(options_.filter_bits_per_key);
    RunBuilder builder(made.file, made.header, options_.comparator, options);
    for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next()) {
      CAMBIUM_RETURN_IF_ERROR(builder.Add(cursor->key(), cursor->entry()));
    }
    CAMBIUM_RETURN_IF_ERROR(cursor->status());
    CAMBIUM_TRY(const RunInfo info, builder.Finish());
    CAMBIUM_TRY(std::shared_ptr<const Run> run, Run::Open(made.file, info, options_.comparator, pool_.get()));
    family.layers = family.layers->WithNewestRun(std::move(run));
    std::erase_if(family.frozen, [&](const FrozenTable& frozen) { return frozen.table == table; });
    if (family.active == table) family.active = std::make_shared<MemTable>(options_.comparator);
  }
  snapshot->set_view(std::move(after));
  return Status::OK();
}

std::size_t DbImpl::AllTableBytes() const {
  std::set<std::shared_ptr<const MemTable>> tables;
  const auto collect = [&](const FamilyView& family) {
    tables.insert(family.active);
    for (const FrozenTable& frozen : family.frozen) tables.insert(frozen.table);
  };
  collect(view_.Pin()->families[0]);
  for (const auto& snapshot : snapshots_.All()) collect(snapshot->view()->families[0]);
  std::size_t bytes = 0;
  for (const auto& table : tables) bytes += table->memory_bytes();
  return bytes;
}

}  // namespace cambium
