// What the database tells of its space: where the bytes are, who holds what is not gone yet, and what log GC would do.
#include <utility>

#include "api/db_impl.h"
#include "gc/forecast.h"
#include "manifest/file_names.h"

namespace cambium {
namespace {

using Figures = std::map<std::string, std::string>;

void SetFigure(Figures* figures, const std::string& name, std::uint64_t n) { (*figures)[name] = std::to_string(n); }

void SetCost(Figures* figures, const std::string& prefix, const GcCost& cost) {
  SetFigure(figures, prefix + "segments", cost.segments);
  SetFigure(figures, prefix + "bytes_read", cost.bytes_read);
  SetFigure(figures, prefix + "bytes_written", cost.bytes_written);
  SetFigure(figures, prefix + "bytes_freed", cost.bytes_freed);
}

}  // namespace

// Snapshots and what each of them holds, a file that several hold in all of them. The rest of what leaves belongs to
// iterators, reads under way, and the job that removes files.
void DbImpl::AddPinned(std::map<std::string, std::string>* figures) const {
  const std::map<std::string, ObsoleteFiles::Leaving> leaving = obsolete_.leaving();
  std::set<std::string> pinned;
  std::uint64_t pinned_bytes = 0;
  const std::vector<std::shared_ptr<SnapshotImpl>> snapshots = snapshots_.All();
  const std::shared_ptr<const View> current = view_.Pin();
  for (const auto& snapshot : snapshots) {
    const std::shared_ptr<const View> view = snapshot->view();
    std::uint64_t bytes = 0;
    const auto add = [&](const std::string& path) {
      const auto found = leaving.find(path);
      if (found == leaving.end()) return;
      bytes += found->second.bytes;
      if (pinned.insert(path).second) pinned_bytes += found->second.bytes;
    };
    view->segments.ForEach([&](const std::shared_ptr<Segment>& segment) {
      if (current->segments.Find(segment->slot()) != segment) add(segment->path());  // dropped, or to be punched
    });
    std::vector<NumberedFile> files;
    for (const FamilyView& family : view->families) family.layers->AppendFiles(&files);
    for (const NumberedFile& file : files) add(FilePath(path_, file.kind, file.number));
    SetFigure(figures, "pinned_by_snapshot_" + std::to_string(snapshot->GetSequenceNumber()), bytes);
  }
  SetFigure(figures, "pinned_by_snapshots", pinned_bytes);
  std::uint64_t all = 0;
  for (const auto& [path, file] : leaving) all += file.bytes;
  SetFigure(figures, "leaving", all);
}

std::map<std::string, std::string> DbImpl::SpaceStats() {
  Figures all;
  AddPinned(&all);
  const std::lock_guard lock(commit_mutex_);
  const SpaceFigures figures = MeasureSpace();
  const SpacePlan plan = PlanSpace(figures, PolicyOfSpace());
  SetFigure(&all, "on_disk", figures.on_disk());
  SetFigure(&all, "in_flight", space_.in_flight.load(std::memory_order_relaxed));
  SetFigure(&all, "live", figures.live());
  SetFigure(&all, "log", figures.log_bytes);
  SetFigure(&all, "garbage", figures.garbage_bytes);
  SetFigure(&all, "hidden", figures.hidden_bytes);
  SetFigure(&all, "tail", figures.tail_bytes);
  SetFigure(&all, "tail_hides", figures.tail_hides_bytes);
  SetFigure(&all, "tail_live", figures.tail_live_bytes);
  SetFigure(&all, "index", figures.index_bytes);
  SetFigure(&all, "index_live", figures.index_live_bytes);
  SetFigure(&all, "index_hidden", figures.index_hidden_bytes);
  SetFigure(&all, "other", figures.other_bytes);
  SetFigure(&all, "reserve", full_disk_.reserve_bytes.load(std::memory_order_relaxed));
  SetFigure(&all, "is_disk_full", IsDiskFull() ? 1 : 0);
  SetFigure(&all, "segment_bytes", plan.segment_bytes);
  SetFigure(&all, "step_bytes", plan.step_bytes);
  if (plan.stop_at != SpaceControl::kNever) {
    SetFigure(&all, "work_at", plan.work_at);
    SetFigure(&all, "slow_at", plan.slow_at);
    SetFigure(&all, "stop_at", plan.stop_at);
  }
  return all;
}

std::map<std::string, std::string> DbImpl::GcForecast() {
  Figures all;
  const std::lock_guard lock(commit_mutex_);
  std::vector<SegmentUse> uses;
  if (default_handle_->family()->options().enable_blob_garbage_collection) uses = SegmentUses();
  const GcUrgency urgency = UrgencyOfGc();
  const GcOutlook outlook =
      ForetellGc(std::move(uses), GcPolicy(), published_.load(), urgency, MayCollect(urgency));
  all["reason"] = NameOf(outlook.reason);
  SetCost(&all, "punch_", outlook.punch);
  SetCost(&all, "next_", outlook.next);
  SetCost(&all, "all_", outlook.all);
  return all;
}

}  // namespace cambium
