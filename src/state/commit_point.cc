#include "state/commit_point.h"

#include <algorithm>
#include <cassert>
#include <new>
#include <utility>

#include "util/mutant.h"

namespace cambium {

CommitPoint::CommitPoint(DbContext* db, Jobs* jobs)
    : db_(*db),
      jobs_(*jobs),
      obsolete_([jobs] { jobs->ScheduleIfPossible(Job::kRemove); }),
      punched_([jobs] { jobs->ScheduleIfPossible(Job::kRemove); }) {}

// ---- What is committed ----

void CommitPoint::VisitNewFiles(const Edit& edit, const std::function<void(FileKind, std::uint64_t)>& visit) const {
  const ManifestState& before = state();
  for (const SegmentInfo& segment : edit.set_segments) {
    if (!before.segments.contains(segment.number)) visit(FileKindOf(segment.kind), segment.number);
  }
  for (const FamilyEdit& family : edit.families) {
    for (const RunInfo& run : family.add_runs) visit(FileKind::kRun, run.number);
    const auto known = before.families.find(family.id);
    for (const IndexSegmentInfo& segment : family.set_index_segments) {
      if (known != before.families.end() && known->second.index_segments.contains(segment.number)) continue;
      visit(FileKind::kIndex, segment.number);
    }
  }
}

// After an exception the files become orphans, which the next Open removes.
void CommitPoint::DropNewFiles(const Edit& edit) noexcept {
  if (MutantIs(Mutant::kFailedCommitKeepsFiles)) return;
  try {
    const bool is_in_doubt = manifest_->HasWritten();
    VisitNewFiles(edit, [&](FileKind kind, std::uint64_t number) CAMBIUM_REQUIRES(commit_lock) {
      std::list<std::string> path{db_.PathOf(kind, number)};
      if (is_in_doubt) {
        in_doubt_.splice(in_doubt_.end(), path);
      } else {
        obsolete_.Add(std::move(path));  // on a full disk its space is needed at once
      }
    });
  } catch (...) {
  }
}

bool CommitPoint::DropsNewestLog(const Edit& edit) const {
  if (MutantIs(Mutant::kDropNewestLogByEdit)) return false;
  const std::map<std::uint64_t, SegmentInfo>& segments = state().segments;
  return std::ranges::any_of(edit.drop_segments, [&](std::uint64_t number) {
    const auto found = segments.find(number);
    if (found == segments.end()) return false;
    const SegmentInfo& info = found->second;
    // Each Open starts a new MANIFEST, whose snapshot names the segments of earlier Opens.
    const bool has_records = info.kind == SegmentKind::kLog && info.sealed_length > kFileHeaderSize;
    if (!has_records || info.epoch != db_.epoch) return false;
    return log_ == nullptr || log_->durable_sequence() <= info.last_sequence;
  });
}

Status CommitPoint::Commit(Edit* edit, const std::function<void(View*)>& change) {
  assert(manifest_ != nullptr && "nothing is committed by a database that is only read, or closed");
  Status committed;
  try {
    committed = TryCommit(edit, change);
  } catch (const std::bad_alloc&) {
    if (!jobs_.has_fatal()) DropNewFiles(*edit);
    throw;
  }
  if (committed.ok() || committed.severity() == Status::Severity::kFatal) return committed;
  if (committed.IsNoSpace()) NoteNoSpace();
  DropNewFiles(*edit);
  return committed;
}

Status CommitPoint::TryCommit(Edit* edit, const std::function<void(View*)>& change) {
  CAMBIUM_RETURN_IF_ERROR(jobs_.Health());
  manifest_->NoteNothingWritten();
  const bool must_roll = DropsNewestLog(*edit);
  std::uint64_t roll_number = 0;
  if (must_roll || manifest_->WillRoll(*edit)) roll_number = next_file_number_++;
  assert(next_file_number_ >= state().next_file_number && "file numbers are never used twice");
  edit->next_file_number = next_file_number_;
  if (log_ != nullptr && log_->durable_sequence() > state().durable_sequence) {
    edit->durable_sequence = log_->durable_sequence();
  }
  Status lost = Status::Aborted("memory ran out after a MANIFEST record was written").Fatal();
  VisitNewFiles(*edit, [this](FileKind, std::uint64_t number) { obsolete_.Keep(number); });
  NoteSegmentChanges(*edit);  // before the commit: even one that fails may have changed the state
  Status committed = [&]() CAMBIUM_REQUIRES(commit_lock) {
    const Stopwatch watch(&db_.meter, MANIFEST_COMMIT_MICROS);
    return manifest_->Commit(*edit, roll_number, must_roll);
  }();
  if (committed.ok()) {
    Status shown = Show(change, std::move(lost));
    if (!shown.ok()) jobs_.SetFatal(shown, BackgroundErrorReason::kManifestWrite);
    return shown;
  }
  if (committed.severity() == Status::Severity::kFatal) {
    jobs_.SetFatal(committed, BackgroundErrorReason::kManifestWrite);
  }
  return committed;
}

void CommitPoint::NoteSegmentChange(std::uint64_t number) noexcept {
  // If TakeSegmentChanges is not called, the numbers must not use up the memory.
  constexpr std::size_t kNumbersMax = 4096;
  if (segment_changes_.all) return;
  try {
    if (segment_changes_.numbers.size() < kNumbersMax) {
      segment_changes_.numbers.insert(number);
      return;
    }
  } catch (const std::bad_alloc&) {
  }
  segment_changes_ = {.all = true, .numbers = {}};
}

void CommitPoint::NoteSegmentChanges(const Edit& edit) noexcept {
  const auto note_slot = [this](Slot slot) CAMBIUM_REQUIRES(commit_lock) {
    if (const std::uint64_t number = index().SegmentOf(slot); number != 0) NoteSegmentChange(number);
  };
  for (const SegmentInfo& segment : edit.set_segments) NoteSegmentChange(segment.number);
  for (const std::uint64_t number : edit.drop_segments) NoteSegmentChange(number);
  for (const FamilyEdit& family : edit.families) {
    for (const auto& [slot, change] : family.accounts.by_slot()) note_slot(slot);
  }
  if (MutantIs(Mutant::kDroppedFamilyIsNotNoted)) return;
  for (const std::uint64_t id : edit.drop_families) {
    const auto family = state().families.find(static_cast<std::uint32_t>(id));
    if (family == state().families.end()) continue;  // the commit is about to fail
    for (const auto& [slot, account] : family->second.accounts) note_slot(slot);
  }
}

// The edit is durable. If the view cannot be changed to match, state and view disagree from now on, so the error is
// fatal.
Status CommitPoint::Show(const std::function<void(View*)>& change, Status lost) {
  try {
    if (!in_doubt_.empty()) obsolete_.Add(std::exchange(in_doubt_, {}));
    if (change != nullptr) view_.Update(change);
    return Status::OK();
  } catch (const std::bad_alloc&) {
    return lost;
  }
}

std::shared_ptr<const Layers> CommitPoint::LayersOf(const Family& family) const {
  const ViewLook view(view_);
  const FamilyView* const found = view.get() == nullptr ? nullptr : view->Find(family.id);
  return found == nullptr ? nullptr : found->layers;
}

void CommitPoint::SetLayers(FamilyView* view, std::shared_ptr<const Layers> layers) {
  assert(view != nullptr && layers != nullptr);
  view->family->run_count.store(layers->runs().size(), std::memory_order_relaxed);
  view->layers = std::move(layers);
}

std::vector<std::shared_ptr<Family>> CommitPoint::Families() const {
  std::vector<std::shared_ptr<Family>> families;
  const ViewLook view(view_);
  for (const FamilyView& each : view->families) families.push_back(each.family);
  return families;
}

std::shared_ptr<Family> CommitPoint::FindFamily(std::uint32_t id) const {
  const ViewLook view(view_);
  const FamilyView* const found = view.get() == nullptr ? nullptr : view->Find(id);
  return found == nullptr ? nullptr : found->family;
}

bool CommitPoint::HadFamily(std::uint32_t id) const {
  const CommitLock lock(*this);
  return id < state().next_family_id;
}

// ---- Opening and closing ----

void CommitPoint::OpenForReading(ManifestState state) {
  const CommitLock lock(*this);
  assert(seen_ == nullptr && manifest_ == nullptr);
  seen_ = std::make_unique<const ManifestState>(std::move(state));
  seen_index_ = StateIndex(*seen_);
}

Status CommitPoint::Create(const FileHeader& header, std::uint64_t number, const ManifestState& state) {
  assert(manifest_ == nullptr && next_file_number_ > number);
  CAMBIUM_TRY(manifest_, Manifest::Create(*db_.fs, db_.path, header, number, state, kManifestRollBytes, db_.meter));
  return Status::OK();
}

void CommitPoint::Close() {
  const bool has_manifest = [this] {
    const CommitLock lock(*this);
    return manifest_ != nullptr;
  }();
  if (has_manifest && jobs_.Health().ok()) static_cast<void>(RemoveObsolete());
  const CommitLock lock(*this);
  manifest_.reset();
}

void CommitPoint::RollSoon(std::uint64_t bytes) {
  const CommitLock lock(*this);
  if (manifest_->file_size() >= bytes) manifest_->RollSoon();
}

// ---- Large values ----

void CommitPoint::LargeValueNamed(std::uint64_t number, std::uint32_t family) {
  assert(!large_values_.contains(number));
  large_values_[number] = {family, kMaxSequenceNumber, 0};
}

void CommitPoint::LargeValuesAppended(const std::vector<std::uint64_t>& numbers, SequenceNumber sequence) {
  const CommitLock lock(*this);
  for (const std::uint64_t number : numbers) {
    const auto found = large_values_.find(number);
    if (found == large_values_.end()) continue;  // its family was dropped meanwhile
    assert(found->second.sequence == kMaxSequenceNumber && "a batch ends once");
    found->second.sequence = sequence;
  }
}

void CommitPoint::LargeValuesFailed(const std::vector<std::uint64_t>& numbers, std::uint64_t failed_in) {
  const CommitLock lock(*this);
  for (const std::uint64_t number : numbers) {
    const auto found = large_values_.find(number);
    if (found == large_values_.end()) continue;
    assert(found->second.sequence == kMaxSequenceNumber && "a batch ends once");
    found->second = {found->second.family, 0, failed_in};
  }
}

void CommitPoint::LargeValueReplayed(std::uint64_t number, std::uint32_t family, SequenceNumber sequence) {
  large_values_[number] = {family, sequence, 0};
}

}  // namespace cambium
