#include "upkeep/log_gc/moved_family.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "index/filter.h"
#include "memtable/memtable.h"
#include "upkeep/flush_commit.h"
#include "upkeep/hidden_garbage.h"
#include "util/mutant.h"

namespace cambium {
namespace {

// A cursor over those relocated values of a family that have this `was_filtered`, from which a run is written.
class MovedCursor final : public EntryCursor {
 public:
  MovedCursor(const std::vector<MovedValue>& values, bool was_filtered, HasVersions has)
      : values_(values), was_filtered_(was_filtered), has_(has) {
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
    const Entry& entry = values_[at_].to;
    const bool has = has_ == HasVersions::kYes && !MutantIs(Mutant::kMovedInlineLosesVersion);
    return has ? entry : entry.WithoutVersion();
  }
  [[nodiscard]] Status status() const override { return Status::OK(); }

 private:
  void SkipOthers() {
    while (at_ < values_.size() && values_[at_].was_filtered != was_filtered_) ++at_;
  }

  const std::vector<MovedValue>& values_;
  const bool was_filtered_;
  const HasVersions has_;
  std::size_t at_ = 0;
};

bool WasFiltered(const Lookup& lookup, const FilteredPart* filtered) {
  if (filtered == nullptr || MutantIs(Mutant::kRelocatedIsFilteredAgain)) return false;
  return lookup.found_in == FoundIn::kTree ? filtered->HasInTree(lookup.file, lookup.key)
                                           : filtered->HasFile(lookup.file);
}

// Removes the values whose newest entry in `layers` is not the one that they were copied from. Sets was_filtered of the
// others. Returns whether anything has changed.
Result<bool> KeepNewestIn(const Layers& layers, const FilteredPart* filtered, std::vector<MovedValue>* values) {
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

bool MovedFamily::IsInFilterCall(const CommitPoint& commits) const {
  const CommitLock lock(commits);
  return family_->filtered != nullptr;
}

Status MovedFamily::LookAtFilterCall(const CommitPoint& commits) {
  {
    const CommitLock lock(commits);
    if (family_->filtered == nullptr) return Status::OK();
    std::shared_ptr<const Layers> current = commits.LayersOf(*family_);
    if (current == nullptr) return Status::OK();  // the family was dropped
    filtered_ = family_->filtered;
    newest_in_ = std::move(current);
  }
  return KeepNewestIn(*newest_in_, filtered_.get(), &values_).status();
}

Status MovedFamily::WriteRuns(RunMaker* runs, int job_id, UnsyncedFiles* unsynced) {
  if (!runs_.empty() || values_.empty()) return Status::OK();
  accounts_ = {};
  // If the family begins to keep versions before the commit: all values were in its layers before.
  const HasVersions has = family_->KeepsVersions() ? HasVersions::kYes : HasVersions::kNo;
  for (const bool was_filtered : {false, true}) {
    MovedCursor cursor(values_, was_filtered, has);
    while (cursor.Valid()) {
      CAMBIUM_TRY(std::shared_ptr<const Run> run,
                  runs->Make(*family_, &cursor, nullptr, &accounts_, unsynced, job_id, RunKind::kRelocation));
      family_->index_stats.AddRun(run->info());
      runs_.push_back(std::move(run));
    }
    if (!was_filtered) unfiltered_runs_ = runs_.size();
  }
  return Status::OK();
}

Result<bool> MovedFamily::KeepNewest(const CommitPoint& commits) {
  std::shared_ptr<const Layers> current = commits.LayersOf(*family_);
  if (current == nullptr) {  // the family was dropped
    values_.clear();
    runs_.clear();
    accounts_ = {};
    return true;
  }
  const std::shared_ptr<const FilteredPart>& filtered = family_->filtered;
  const bool is_same = current == newest_in_ && filtered == filtered_;
  bool has_changed = false;
  if (!is_same && !MutantIs(Mutant::kGcSkipsSecondLookup)) {
    CAMBIUM_TRY(has_changed, KeepNewestIn(*current, filtered.get(), &values_));
    filtered_ = filtered;
    if (has_changed) {
      runs_.clear();
      accounts_ = {};
    }
  }
  newest_in_ = std::move(current);
  return !has_changed;
}

void MovedFamily::Stage(Edit* edit) {
  if (runs_.empty()) return;
  assert(newest_in_ != nullptr && "a family that was dropped gets no runs");
  FamilyEdit change;
  change.id = family_->id;
  next_ = StageNewestRuns(newest_in_, runs_, &change);
  change.accounts = accounts_;
  NoteFiltered();
  edit->families.push_back(std::move(change));
}

void MovedFamily::Install(View* view) const {
  FamilyView* const family = view->Mutable(family_->id);
  if (family != nullptr && !runs_.empty()) CommitPoint::SetLayers(family, next_);
}

void MovedFamily::Committed(std::int64_t hidden, std::uint64_t grain) {
  NoteMoved(family_.get(), values_, grain);
  family_->hidden_bytes.fetch_add(hidden, std::memory_order_relaxed);
  // These runs are estimated to hide as many bytes of older files as they add.
  std::int64_t run_bytes = 0;
  for (const auto& run : runs_) run_bytes += static_cast<std::int64_t>(run->info().disk_bytes());
  family_->hidden_index_bytes.fetch_add(run_bytes, std::memory_order_relaxed);
  if (filtered_after_ != nullptr) family_->filtered = std::move(filtered_after_);
}

void MovedFamily::NoteFiltered() {
  filtered_after_.reset();
  if (filtered_ == nullptr || unfiltered_runs_ == runs_.size()) return;
  const auto part = std::make_shared<FilteredPart>(*filtered_);
  for (std::size_t i = unfiltered_runs_; i < runs_.size(); ++i) part->AddFile(runs_[i]->number());
  filtered_after_ = part;
}

}  // namespace cambium
