// The properties "space" and "gc-forecast": where the bytes are, which snapshots keep obsolete files, and what log GC
// would do.
#include <set>
#include <utility>

#include "api/properties.h"
#include "gc/forecast.h"
#include "manifest/features.h"

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

// Adds the bytes that each snapshot keeps on disk. A file that several snapshots keep counts for each of them. Other
// leaving files are kept by iterators and reads, or wait for the job that removes them.
void Properties::AddPinned(Figures* figures) const {
  const std::map<std::string, ObsoleteFiles::Leaving> leaving = state_.commits.obsolete().leaving();
  std::set<std::string> pinned;
  std::uint64_t pinned_bytes = 0;
  const std::vector<std::shared_ptr<SnapshotImpl>> snapshots = state_.snapshots.All();
  const std::shared_ptr<const View> current = state_.commits.view().Pin();
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
    std::ranges::sort(files);  // private runs share a file
    files.erase(std::unique(files.begin(), files.end()), files.end());
    for (const NumberedFile& file : files) add(db_.PathOf(file.kind, file.number));
    SetFigure(figures, "pinned_by_snapshot_" + std::to_string(snapshot->GetSequenceNumber()), bytes);
  }
  SetFigure(figures, "pinned_by_snapshots", pinned_bytes);
  std::uint64_t all = 0;
  for (const auto& [path, file] : leaving) all += file.bytes;
  SetFigure(figures, "leaving", all);
}

// Adds the number of prepared transactions. Their records are live, so they keep space until the transactions end.
void Properties::AddPrepared(Figures* figures) const {
  std::uint64_t count = 0;
  const std::shared_ptr<const View> view = state_.commits.view().Pin();
  for (const FamilyView& each : view->families) {
    if (each.family->name != kPreparedFamilyName) continue;
    FamilyHandle handle(db_.facade, db_.database_id, each.family);
    ReadOptions keys_only;
    keys_only.allow_unprepared_value = true;
    const std::unique_ptr<Iterator> entry(db_.facade->NewIterator(keys_only, &handle));
    for (entry->SeekToFirst(); entry->Valid(); entry->Next()) ++count;
  }
  SetFigure(figures, "prepared_transactions", count);
}

Properties::Figures Properties::SpaceStats() {
  Figures all;
  AddPinned(&all);
  AddPrepared(&all);
  const CommitLock lock(state_.commits);
  const SpaceFigures figures = upkeep_.space_keeper.Measure();
  const SpacePlan plan = PlanSpace(figures, upkeep_.gc_segments.Limits());
  SetFigure(&all, "on_disk", figures.on_disk());
  SetFigure(&all, "in_flight", state_.space.in_flight.load(std::memory_order_relaxed) +
                                   state_.space.gc_in_flight.load(std::memory_order_relaxed));
  SetFigure(&all, "live", figures.live());
  SetFigure(&all, "log", figures.log_bytes);
  SetFigure(&all, "garbage", figures.garbage_bytes);
  SetFigure(&all, "hidden", figures.hidden_bytes);
  SetFigure(&all, "tail", figures.tail_bytes);
  SetFigure(&all, "tail_hides", figures.tail_hides_bytes);
  SetFigure(&all, "tail_live", figures.tail_live_bytes);
  SetFigure(&all, "active", figures.active_bytes);
  SetFigure(&all, "index", figures.index_bytes);
  SetFigure(&all, "index_live", figures.index_live_bytes);
  SetFigure(&all, "index_hidden", figures.index_hidden_bytes);
  SetFigure(&all, "index_swept", figures.index_swept_bytes);
  SetFigure(&all, "index_addresses", figures.index_address_bytes);
  SetFigure(&all, "live_footers", figures.live_footer_bytes);
  SetFigure(&all, "other", figures.other_bytes);
  SetFigure(&all, "reserve", state_.full_disk.reserve_bytes.load(std::memory_order_relaxed));
  SetFigure(&all, "is_disk_full", state_.full_disk.IsFull() ? 1 : 0);
  SetFigure(&all, "segment_bytes", plan.segment_bytes);
  SetFigure(&all, "step_bytes", plan.step_bytes);
  if (plan.stop_at != SpaceControl::kNever) {
    SetFigure(&all, "work_at", plan.work_at);
    SetFigure(&all, "slow_at", plan.slow_at);
    SetFigure(&all, "stop_at", plan.stop_at);
  }
  return all;
}

Properties::Figures Properties::GcForecast() {
  Figures all;
  const CommitLock lock(state_.commits);
  std::vector<SegmentUse> uses;
  if (state_.default_family->options().enable_blob_garbage_collection) uses = upkeep_.gc_segments.Uses();
  const GcUrgency urgency = upkeep_.gc_segments.Urgency();
  const GcOutlook outlook = ForecastGc(std::move(uses), upkeep_.gc_segments.Policy(), state_.head.published(), urgency,
                                       upkeep_.gc_segments.MayCollect(urgency));
  all["reason"] = NameOf(outlook.reason);
  SetCost(&all, "punch_", outlook.punch);
  SetCost(&all, "next_", outlook.next);
  SetCost(&all, "all_", outlook.all);
  return all;
}

}  // namespace cambium
