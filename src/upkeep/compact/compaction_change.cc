#include "upkeep/compact/compaction_change.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <utility>

#include "upkeep/flush_commit.h"
#include "upkeep/hidden_garbage.h"
#include "util/mutant.h"

namespace cambium {
namespace {

// Only in a mutant: removes an index file although a view may hold it.
void UnlinkWhilePinned(const DbContext& db, const NumberedFile& file, ObsoleteFiles* obsolete) {
  if (MutantIs(Mutant::kUnlinkIndexWhilePinned)) obsolete->Add({db.PathOf(file.kind, file.number)});
}

}  // namespace

Result<bool> CompactionChange::Stage(Edit* edit) {
  before_ = commits_.LayersOf(family_);
  if (before_ == nullptr) return false;  // its new files are not named, and are removed
  if (filter_ != nullptr && family_.gives_up_filtering.load(std::memory_order_relaxed)) {
    return Status::ShutdownInProgress("the compaction was given up, because a CompactRange asks its filter");
  }
  FamilyEdit change;
  change.id = family_.id;
  CAMBIUM_TRY(after_, outcome_.Stage(*before_, &change));
  FindFiles();
  if (table_ != nullptr) SetFlushed(commits_.state(), family_, *table_, &change);
  const auto filtered = static_cast<std::int64_t>(outcome_.stats().value_bytes_filtered);
  uncharged_ = std::max<std::int64_t>(UnchargedBy(change.accounts, commits_.state()) - filtered, 0);
  NoteFiltered();
  edit->families.push_back(std::move(change));
  if (filter_ != nullptr) {
    for (const ChangedValues::Made& made : filter_->changed().files()) edit->set_segments.push_back(made.info);
    filter_->is_named = true;  // also if the commit fails, because the edit may be on disk
  }
  return true;
}

void CompactionChange::Install(View* view) {
  assert(after_ != nullptr && "only a staged change is installed");
  if (filter_ != nullptr) InstallChanged(view);
  if (table_ != nullptr) {
    InstallFlushed(db_, view, family_, *table_, after_);
  } else {
    CommitPoint::SetLayers(view->Mutable(family_.id), after_);
  }
}

void CompactionChange::InstallChanged(View* view) {
  for (ChangedValues::Made& made : filter_->changed().files()) {
    const SegmentInfo& info = made.info;
    assert(info.sealed && made.file != nullptr && "a file of changed values is finished, and installed once");
    view->segments =
        view->segments.With(info.slot, commits_.MakeSegment(made.header, info.slot, std::move(made.file), info.sealed_length));
  }
}

// Everything that the state relies on comes first. It needs no memory.
void CompactionChange::Committed() {
  assert(before_ != nullptr && after_ != nullptr);
  has_old_files_ = true;
  if (table_ != nullptr) family_.frozen_count.fetch_sub(1, std::memory_order_acq_rel);
  outcome_.Committed();
  if (filtered_ != nullptr) family_.filtered = std::move(filtered_);
  const CompactionStats& stats = outcome_.stats();
  family_.index_stats.AddCompaction(stats, *after_, table_ != nullptr);
  db_.meter.Tick(COMPACTION_KEYS_DROPPED, stats.entries_dropped);
  db_.meter.Tick(COMPACT_READ_BYTES, stats.bytes_read);
  db_.meter.Tick(table_ != nullptr ? FLUSH_WRITE_BYTES : COMPACT_WRITE_BYTES, stats.bytes_written);
  NoteEstimates();
}

// If memory runs out, the estimates keep their values.
void CompactionChange::NoteEstimates() noexcept {
  try {
    NoteCompacted(&family_, *before_, *after_, uncharged_);
  } catch (...) {
  }
}

// Before the commit, like FindFiles: notes what the compaction has asked the filter about.
void CompactionChange::NoteFiltered() {
  filtered_.reset();
  if (family_.filtered == nullptr) return;
  std::vector<NumberedFile> files;
  after_->AppendFiles(&files);
  std::set<std::uint64_t> current;
  for (const NumberedFile& file : files) current.insert(file.number);
  const auto part = std::make_shared<FilteredPart>(*family_.filtered);
  outcome_.NoteFiltered(part.get());
  part->KeepFiles(current);
  filtered_ = part;
}

// Before the commit: after it nothing may need memory.
void CompactionChange::FindFiles() {
  std::vector<NumberedFile> before;
  std::vector<NumberedFile> after;
  before_->AppendFiles(&before);
  after_->AppendFiles(&after);
  std::ranges::sort(before);
  std::ranges::sort(after);
  files_ = {};
  std::ranges::set_difference(after, before, std::back_inserter(files_.new_files));
  std::ranges::set_difference(before, after, std::back_inserter(files_.old_files));
}

CompactionChange::Files CompactionChange::Finish() {
  RemoveOld();
  return std::move(files_);
}

void CompactionChange::RemoveOld() noexcept {
  if (!std::exchange(has_old_files_, false)) return;
  before_.reset();
  for (const NumberedFile& file : files_.old_files) {
    commits_.obsolete().MakeObsolete(file.number);
    UnlinkWhilePinned(db_, file, &commits_.obsolete());
  }
}

}  // namespace cambium
