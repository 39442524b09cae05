#include "upkeep/relocation_step.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "index/filter.h"
#include "state/unlink_while_pinned.h"
#include "util/fault_point.h"
#include "util/mutant.h"

namespace cambium {
namespace {

// A cursor over those relocated values of a family that have this `was_filtered`, from which a run is written.
class MovedCursor final : public EntryCursor {
 public:
  MovedCursor(const std::vector<MovedValue>& values, bool was_filtered) : values_(values), was_filtered_(was_filtered) {
    MovedCursor::SeekToFirst();
  }
  void SeekToFirst() override {
    at_ = 0;
    SkipOthers();
  }
  void SeekToLast() override { at_ = values_.size(); }  // never called, as the other seeks
  void Seek(Slice) override { at_ = values_.size(); }  // never called: a run is written from the first key
  void SeekForPrev(Slice) override { at_ = values_.size(); }
  void Next() override {
    assert(MovedCursor::Valid());
    ++at_;
    SkipOthers();
  }
  void Prev() override { at_ = values_.size(); }
  [[nodiscard]] bool Valid() const override { return at_ < values_.size(); }
  [[nodiscard]] Slice key() const override {
    assert(MovedCursor::Valid());
    return values_[at_].key;
  }
  [[nodiscard]] Entry entry() const override {
    assert(MovedCursor::Valid());
    return values_[at_].to;
  }
  [[nodiscard]] Status status() const override { return Status::OK(); }

 private:
  void SkipOthers() {
    while (at_ < values_.size() && values_[at_].was_filtered != was_filtered_) ++at_;
  }

  const std::vector<MovedValue>& values_;
  const bool was_filtered_;
  std::size_t at_ = 0;
};

bool WasFiltered(const Lookup& lookup, const FilteredPart* filtered) {
  if (filtered == nullptr || MutantIs(Mutant::kRelocatedIsFilteredAgain)) return false;
  return lookup.found_in == FoundIn::kTree ? filtered->HasInTree(lookup.file, lookup.key)
                                           : filtered->HasFile(lookup.file);
}

// Removes the values whose newest entry in `layers` is not the one that they were copied from. Sets was_filtered of the
// others. Returns whether anything has changed.
Result<bool> KeepNewest(const Layers& layers, const FilteredPart* filtered, std::vector<MovedValue>* values) {
  bool has_changed = false;
  constexpr std::size_t kTogether = 256;
  std::size_t kept = 0;
  for (std::size_t from = 0; from < values->size(); from += kTogether) {
    const std::size_t to = std::min(values->size(), from + kTogether);
    std::vector<Lookup> lookups;
    lookups.reserve(to - from);
    for (std::size_t i = from; i < to; ++i) lookups.emplace_back((*values)[i].key, FilterHash((*values)[i].key));
    layers.FindTogether(lookups);
    for (std::size_t i = from; i < to; ++i) {
      const Lookup& lookup = lookups[i - from];
      CAMBIUM_RETURN_IF_ERROR(lookup.status);
      if (!lookup.is_found || !lookup.entry.HasAddress() || lookup.entry.address != (*values)[i].from) continue;
      const bool was_filtered = WasFiltered(lookup, filtered);
      has_changed = has_changed || was_filtered != (*values)[i].was_filtered;
      (*values)[kept] = (*values)[i];
      (*values)[kept++].was_filtered = was_filtered;
    }
  }
  assert(kept <= values->size());
  has_changed = has_changed || kept != values->size();
  values->resize(kept);
  return has_changed;
}

}  // namespace

RelocationStep::RelocationStep(DbState* state, RunMaker* runs, Compactor* compactor, GcSegments* segments,
                               CopyBuffers* buffers, const GcPick& pick, RelocationWriter* writer, GcReport* report)
    : db_(state->context),
      jobs_(state->jobs),
      commits_(state->commits),
      space_(state->space),
      read_queues_(state->read_queues),
      runs_(*runs),
      compactor_(*compactor),
      segments_(*segments),
      buffers_(*buffers),
      pick_(pick),
      writer_(*writer),
      report_(*report) {}

Status RelocationStep::Execute(std::span<const GcRecord> records) {
  assert(moves_.empty() && report_.is_emptied.size() == pick_.sources.size());
  CAMBIUM_RETURN_IF_ERROR(Copy(records));
  CAMBIUM_FAULT_POINT("Gc:copied");
  CAMBIUM_RETURN_IF_ERROR(LookAtFilterCalls());
  while (true) {
    UnsyncedFiles unsynced;
    for (Moves& moves : moves_) CAMBIUM_RETURN_IF_ERROR(WriteRuns(&moves, &unsynced));
    CAMBIUM_RETURN_IF_ERROR(unsynced.Sync(db_.fs.get()));
    CAMBIUM_RETURN_IF_ERROR(db_.SyncDirectory());
    CAMBIUM_TRY(const bool is_committed, TryCommit());
    if (is_committed) break;
  }
  report_.bytes_read = copied_.bytes_read;
  report_.bytes_written = copied_.bytes_written;
  db_.stats.gc_bytes_read.fetch_add(copied_.bytes_read);
  db_.stats.gc_bytes_written.fetch_add(copied_.bytes_written);
  DropSources();
  for (const Moves& moves : moves_) report_.keys_relocated += moves.values.size();
  Count();
  for (const Moves& moves : moves_) {
    if (compactor_.IsDue(*moves.family)) jobs_.Schedule(Job::kCompact, moves.family);
  }
  return commits_.DropUnreferenced();
}

Status RelocationStep::Copy(std::span<const GcRecord> records) {
  CAMBIUM_TRY(copied_, Relocate(pick_.families, pick_.sources, records, &read_queues_, &buffers_, &writer_));
  for (const DamagedSource& damaged : copied_.damaged) {
    segments_.MarkDamaged(pick_.sources[damaged.source], damaged.why);
    report_.is_emptied[damaged.source] = false;
    report_.cut = {};
    if (pick_.cuts) return Status::OK();  // copies without a cut would only take space
  }
  if (!writer_.empty()) {
    CAMBIUM_RETURN_IF_ERROR(writer_.Finish());
    if (!MutantIs(Mutant::kGcCommitsUnsynced)) {
      CAMBIUM_RETURN_IF_ERROR(DbContext::JudgeSync(db_.SyncValues(writer_.file())));
    }
  }
  for (FamilyMoves& each : copied_.families) {
    const FamilyView* const found = pick_.view->Find(each.family);
    assert(found != nullptr && "the families of a pick are those of its view");
    moves_.push_back({found->family, std::move(each.values), found->layers, nullptr, {}, 0, {}});
  }
  return Status::OK();
}

Status RelocationStep::LookAtFilterCalls() {
  for (Moves& moves : moves_) {
    {
      const CommitLock lock(commits_);
      if (moves.family->filtered == nullptr) continue;
      std::shared_ptr<const Layers> current = commits_.LayersOf(*moves.family);
      if (current == nullptr) continue;  // the family was dropped
      moves.filtered = moves.family->filtered;
      moves.newest_in = std::move(current);
    }
    CAMBIUM_RETURN_IF_ERROR(KeepNewest(*moves.newest_in, moves.filtered.get(), &moves.values).status());
  }
  return Status::OK();
}

// Does nothing if the runs are written already.
Status RelocationStep::WriteRuns(Moves* moves, UnsyncedFiles* unsynced) {
  if (!moves->runs.empty() || moves->values.empty()) return Status::OK();
  moves->accounts = {};
  for (const bool was_filtered : {false, true}) {
    MovedCursor cursor(moves->values, was_filtered);
    while (cursor.Valid()) {
      CAMBIUM_TRY(std::shared_ptr<const Run> run,
                  runs_.Make(*moves->family, &cursor, nullptr, &moves->accounts, unsynced, report_.job_id,
                             RunKind::kRelocation));
      moves->family->index_stats.AddRun(run->info());
      moves->runs.push_back(std::move(run));
    }
    if (!was_filtered) moves->unfiltered_runs = moves->runs.size();
  }
  return Status::OK();
}

Result<bool> RelocationStep::AreStillNewest() {
  bool are_newest = true;
  for (Moves& moves : moves_) {
    std::shared_ptr<const Layers> current = commits_.LayersOf(*moves.family);
    if (current == nullptr) {  // the family was dropped
      moves.values.clear();
      moves.runs.clear();
      moves.accounts = {};
      continue;
    }
    const std::shared_ptr<const FilteredPart>& filtered = moves.family->filtered;
    const bool is_same = current == moves.newest_in && filtered == moves.filtered;
    if (!is_same && !MutantIs(Mutant::kGcSkipsSecondLookup)) {
      CAMBIUM_TRY(const bool has_changed, KeepNewest(*current, filtered.get(), &moves.values));
      moves.filtered = filtered;
      if (has_changed) {
        are_newest = false;
        moves.runs.clear();
        moves.accounts = {};
      }
    }
    moves.newest_in = std::move(current);
  }
  return are_newest;
}

bool RelocationStep::UsesWriter() const {
  return std::ranges::any_of(moves_, [](const Moves& moves) { return !moves.accounts.empty(); });
}

void RelocationStep::FillEdit(Edit* edit, std::vector<std::shared_ptr<const Layers>>* next) {
  const ManifestState& state = commits_.state();
  if (UsesWriter()) {
    assert(!writer_.empty() && writer_.info().sealed);
    edit->set_segments.push_back(writer_.info());
  }
  for (std::size_t i = 0; i < pick_.sources.size(); ++i) {
    const SegmentInfo& info = pick_.sources[i].info;
    // Dropped already: a compaction has removed its last reference.
    if (!state.segments.contains(info.number)) report_.is_emptied[i] = false;
    if (!report_.is_emptied[i]) continue;
    edit->drop_segments.push_back(info.number);
    if (commits_.index().TotalOf(info.slot).references != 0) edit->shadow_slots.push_back(info.slot);
  }
  for (const Moves& moves : moves_) {
    next->push_back(moves.newest_in);
    if (moves.runs.empty()) continue;
    assert(moves.newest_in != nullptr && "a family that was dropped gets no runs");
    FamilyEdit change;
    change.id = moves.family->id;
    for (const auto& run : moves.runs) {
      change.add_runs.push_back(run->info());
      next->back() = next->back()->WithNewestRun(run);
    }
    change.layers.emplace();
    for (const auto& run : next->back()->runs()) change.layers->push_back(run->number());
    change.accounts = moves.accounts;
    edit->families.push_back(std::move(change));
  }
}

Result<bool> RelocationStep::AddCut(Edit* edit) {
  if (report_.cut.cut == 0) return true;
  assert(pick_.cuts && pick_.sources.size() == 1 && !report_.is_emptied.front());
  CAMBIUM_TRY(cut_, PrepareCut(&db_, &commits_, pick_.sources.front(), report_.cut));
  if (!cut_.has_value()) return false;
  edit->set_segments.push_back(cut_->info);
  return true;
}

Result<bool> RelocationStep::TryCommit() {
  const CommitLock lock(commits_);
  CAMBIUM_TRY(const bool are_newest, AreStillNewest());
  if (!are_newest) return false;
  Edit edit;
  std::vector<std::shared_ptr<const Layers>> next;
  CAMBIUM_TRY(const bool can_cut, AddCut(&edit));
  if (!can_cut) {  // copies alone would only take space
    report_.cut = {};
    moves_.clear();
    return true;
  }
  FillEdit(&edit, &next);
  if (edit.drop_segments.empty() && edit.families.empty() && !cut_.has_value()) return true;
  const std::shared_ptr<const View> before = commits_.view().Pin();
  is_named_ = UsesWriter();  // also if the commit fails: the edit may be on disk all the same
  // Computed before the commit, which removes the accounts of dropped segments.
  std::vector<std::int64_t> hidden;
  for (const Moves& moves : moves_) hidden.push_back(HiddenAfter(moves));
  CAMBIUM_RETURN_IF_ERROR(commits_.Commit(&edit, [&](View* view) {
    if (is_named_) {
      const SegmentInfo& info = writer_.info();
      view->segments = view->segments.With(
          info.slot, commits_.MakeSegment(writer_.header(), info.slot, writer_.TakeFile(), info.sealed_length));
    }
    for (std::size_t i = 0; i < pick_.sources.size(); ++i) {
      if (report_.is_emptied[i]) view->segments = view->segments.Without(pick_.sources[i].info.slot);
    }
    if (cut_.has_value()) view->segments = view->segments.With(cut_->segment->slot(), cut_->segment);
    for (std::size_t i = 0; i < moves_.size(); ++i) {
      FamilyView* const family = view->Mutable(moves_[i].family->id);
      if (family != nullptr && !moves_[i].runs.empty()) CommitPoint::SetLayers(family, next[i]);
    }
  }));
  NoteCommitted(hidden);
  if (cut_.has_value()) {
    NoteCut(&commits_, *before, *cut_);
    report_.bytes_freed += cut_->plan.hole_bytes;
    report_.punched.insert(0);
  }
  for (const Moves& moves : moves_) NoteFiltered(moves);
  return true;
}

void RelocationStep::NoteFiltered(const Moves& moves) {
  if (moves.filtered == nullptr || moves.unfiltered_runs == moves.runs.size()) return;
  const auto part = std::make_shared<FilteredPart>(*moves.filtered);
  for (std::size_t i = moves.unfiltered_runs; i < moves.runs.size(); ++i) part->AddFile(moves.runs[i]->number());
  moves.family->filtered = part;
}

std::int64_t RelocationStep::HiddenAfter(const Moves& moves) const {
  std::int64_t bytes = 0;
  for (const MovedValue& value : moves.values) bytes += static_cast<std::int64_t>(value.from.size());
  const auto family = commits_.state().families.find(moves.family->id);
  if (family == commits_.state().families.end()) return 0;
  for (std::size_t i = 0; i < pick_.sources.size(); ++i) {
    if (!report_.is_emptied[i]) continue;
    const auto account = family->second.accounts.find(pick_.sources[i].info.slot);
    if (account != family->second.accounts.end()) bytes -= account->second.bytes;
  }
  return bytes;
}

void RelocationStep::NoteCommitted(const std::vector<std::int64_t>& hidden) {
  assert(hidden.size() == moves_.size());
  // Under the same lock as the commit, so that each look at space finds these bytes in exactly one place: in files that
  // the MANIFEST names, or among those that leave.
  for (std::size_t i = 0; i < pick_.sources.size(); ++i) {
    const GcSource& source = pick_.sources[i];
    if (report_.is_emptied[i]) commits_.obsolete().Leaves(source.segment->path(), {commits_.BytesOf(source.info), true});
  }
  for (std::size_t i = 0; i < moves_.size(); ++i) {
    Family& family = *moves_[i].family;
    family.hidden_bytes.fetch_add(hidden[i], std::memory_order_relaxed);
    // Each entry of these runs hides an entry of about the same size.
    std::int64_t run_bytes = 0;
    for (const auto& run : moves_[i].runs) run_bytes += static_cast<std::int64_t>(run->info().file_size);
    family.hidden_index_bytes.fetch_add(run_bytes, std::memory_order_relaxed);
  }
  NoteFreed(is_named_ ? writer_.info().file_size : 0);
}

void RelocationStep::NoteFreed(std::uint64_t moved_bytes) {
  constexpr std::uint64_t kGapMicros = 100'000;  // steps with a longer gap between them are not consecutive
  constexpr double kWeight = 0.2;                // of the last step
  std::uint64_t gone = 0;
  for (std::size_t i = 0; i < pick_.sources.size(); ++i) {
    if (report_.is_emptied[i]) gone += commits_.BytesOf(pick_.sources[i].info);
  }
  if (gone == 0) return;  // the step that empties these sources counts the time of both steps
  const std::uint64_t now = db_.NowMicros();
  const std::uint64_t last = std::exchange(space_.last_freed_micros, now);
  const bool follows = report_.begun_micros < last + kGapMicros;
  const std::uint64_t micros = std::max<std::uint64_t>(now - (follows ? last : report_.begun_micros), 1);
  const double rate = static_cast<double>(gone - std::min(gone, moved_bytes)) * 1e6 / static_cast<double>(micros);
  const double before = space_.freed_per_second.load(std::memory_order_relaxed);
  space_.freed_per_second.store(std::max(before + kWeight * (rate - before), 1e6), std::memory_order_relaxed);
}

void RelocationStep::DropSources() {
  for (std::size_t i = 0; i < pick_.sources.size(); ++i) {
    if (!report_.is_emptied[i]) continue;
    const GcSource& source = pick_.sources[i];
    report_.bytes_freed += commits_.BytesOf(source.info);
    commits_.punched().Forget(source.info.number);
    source.segment->MakeObsolete();
    UnlinkWhilePinned(*source.segment, &commits_.obsolete());
  }
}

void RelocationStep::Count() const {
  db_.meter.Tick(BLOB_DB_GC_NUM_KEYS_RELOCATED, report_.keys_relocated);
  db_.meter.Tick(LOG_GC_BYTES_FREED, report_.bytes_freed);
  db_.meter.Tick(BLOB_DB_GC_BYTES_RELOCATED, report_.bytes_written);
  db_.meter.Tick(BLOB_DB_BLOB_FILE_BYTES_WRITTEN, report_.bytes_written);
  db_.meter.Tick(BLOB_DB_BLOB_FILE_BYTES_READ, report_.bytes_read);
}

}  // namespace cambium
