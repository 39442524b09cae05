#include "upkeep/log_gc/relocator.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <utility>

#include "gc/live_records.h"
#include "gc/relocation_writer.h"
#include "upkeep/await_removal.h"
#include "upkeep/log_gc/relocation_step.h"
#include "upkeep/new_value_file.h"
#include "util/mutant.h"

namespace cambium {
namespace {

LogGcReason ReasonOf(GcReason reason) {
  switch (reason) {
    case GcReason::kForceThreshold: return LogGcReason::kForced;
    case GcReason::kSmallSegments: return LogGcReason::kSmallSegments;
    case GcReason::kCeiling:
    case GcReason::kFullDisk: return LogGcReason::kSpace;
    case GcReason::kRequested: return LogGcReason::kManualCompaction;
    case GcReason::kClustering: return LogGcReason::kClustering;
    default: return LogGcReason::kGarbage;
  }
}

// Keeps as many of the records as a step may copy. This step does not empty the sources of the other records; the next
// step finds fewer live values in them.
void CutToStep(std::uint64_t step_bytes, std::vector<GcRecord>* records, GcReport* report) {
  std::uint64_t bytes = 0;
  std::size_t count = 0;
  while (count < records->size() && (count == 0 || bytes + (*records)[count].size <= step_bytes)) {
    bytes += (*records)[count++].size;
  }
  for (std::size_t i = count; i < records->size(); ++i) {
    assert((*records)[i].source < report->is_emptied.size());
    report->is_emptied[(*records)[i].source] = false;
  }
  records->resize(count);
}

// Returns the punched records of the source, if the step cuts it.
std::vector<GcRecord> PunchedOf(const GcPick& pick, const std::vector<GcRecord>& records) {
  std::vector<GcRecord> punched;
  if (!pick.cuts || pick.sources.front().info.punched.empty()) return punched;
  for (const GcRecord& record : records) {
    if (std::ranges::binary_search(pick.sources.front().info.punched, record.offset)) punched.push_back(record);
  }
  return punched;
}

// Only in a mutant: drops values that a memtable hides, although a crash may bring them back.
void DropHiddenByMemtables(const View& view, std::vector<GcRecord>* records) {
  if (!MutantIs(Mutant::kGcConsultsMemtables)) return;
  std::erase_if(*records, [&](const GcRecord& record) {
    Entry newer;
    return View::FindInMemory(*view.Find(record.family), record.key, kMaxSequenceNumber, &newer);
  });
}

}  // namespace

Relocator::Relocator(DbState* state, Pace* pace, RunMaker* runs, Compactor* compactor, GcSegments* segments)
    : state_(*state),
      db_(state->context),
      pace_(*pace),
      compactor_(*compactor),
      segments_(*segments),
      tools_{*state, *runs, *compactor, *segments, copy_buffers_} {}

GcReport Relocator::Begin(const GcPick& pick, bool empties) const {
  assert(std::ranges::all_of(pick.sources, [](const GcSource& source) { return source.segment != nullptr; }));
  GcReport report;
  report.begun_micros = db_.NowMicros();
  report.job_id = db_.events.NewJobId();
  report.is_emptied.assign(pick.sources.size(), empties);
  return report;
}

Status Relocator::EmptySources(const GcPick& pick, GcReport* report) {
  Arena keys;
  std::vector<GcRecord> records;
  for (std::size_t i = 0; i < pick.sources.size(); ++i) {
    const SegmentInfo& info = pick.sources[i].info;
    const Status listed = ListRecords(pick.sources[i], static_cast<std::uint32_t>(i), &keys, &records);
    db_.stats.gc_bytes_read.fetch_add(info.has_footer ? info.file_size - info.sealed_length : info.sealed_length);
    if (!listed.IsCorruption()) {
      CAMBIUM_RETURN_IF_ERROR(listed);
      continue;
    }
    segments_.MarkDamaged(pick.sources[i], listed);
    report->is_emptied[i] = false;
    std::erase_if(records, [i](const GcRecord& record) { return record.source == i; });
  }
  std::vector<GcRecord> punched = PunchedOf(pick, records);
  CAMBIUM_RETURN_IF_ERROR(KeepLive(pick.families, pick.sources, &records));
  DropHiddenByMemtables(*pick.view, &records);
  if (pick.cuts) {
    CAMBIUM_TRY(const bool is_worth, PlanStep(pick, std::move(punched), &records, report));
    if (!is_worth) return Status::OK();
  } else {
    CutToStep(pick.step_bytes, &records, report);
  }
  return Move(pick, records, report);
}

Result<bool> Relocator::PlanStep(const GcPick& pick, std::vector<GcRecord> punched, std::vector<GcRecord>* live,
                                 GcReport* report) {
  assert(pick.cuts && pick.sources.size() == 1);
  const GcSource& source = pick.sources.front();
  const bool is_whole = report->is_emptied.front();  // all records could be listed
  FileInfo file;
  CAMBIUM_RETURN_IF_ERROR(source.segment->file().GetInfo(&file));
  std::uint64_t bytes = 0;
  for (const GcRecord& record : *live) bytes += record.size;
  report->is_emptied.front() = false;
  // A checkpoint or backup uses the bytes of a file with a second name, so its space would not come back.
  if (is_whole && (file.link_count == 1 || MutantIs(Mutant::kPunchLinkedFile))) {
    std::vector<GcRecord> by_place = *live;
    std::ranges::sort(by_place, {}, &GcRecord::offset);
    std::ranges::sort(punched, {}, &GcRecord::offset);
    report->cut = PlanCut(source.info, by_place, punched, pick.step_bytes, !compactor_.CanMergeRuns());
  }
  segments_.NoteLook(source.info, bytes, pick.step_bytes, !report->cut.any());
  if (!report->cut.any()) return false;
  report->is_emptied.front() = report->cut.empties;
  if (report->cut.empties) return true;
  std::erase_if(*live, [report](const GcRecord& record) { return record.offset >= report->cut.cut; });
  if (MutantIs(Mutant::kCutLiveValues) && !live->empty()) live->pop_back();
  return true;
}

// Clustering frees no space, so it takes the room of writers.
Pace::Room Relocator::RoomOf(const GcPick& pick) {
  return pick.reason == GcReason::kClustering ? Pace::Room::kOfWriters : Pace::Room::kOfStep;
}

// All values go into one new segment. It is removed unless a MANIFEST record may name it, or a sync has failed.
Status Relocator::Move(const GcPick& pick, std::span<const GcRecord> records, GcReport* report) {
  assert(!pick.sources.empty() && report->is_emptied.size() == pick.sources.size());
  std::optional<BlobFileCreation> creation;
  const std::uint32_t generation = std::min(kGenerationMax, pick.sources.front().info.generation + 1);
  RelocationWriter writer(
      [this, &creation]() -> Result<NewRelocationFile> {
        CAMBIUM_RETURN_IF_ERROR(AwaitRemovalOfSegments());
        CAMBIUM_TRY(NewRelocationFile file,
                    state_.commits.MakeValueFile(FileKind::kRelocation, state_.head.published()));
        NewValueFile made(&db_, &state_.commits, std::move(file));
        creation.emplace(db_.BeginBlobFile(made.header(), BlobFileCreationReason::kLogGc));
        db_.events.Deliver();
        return made.Take();
      },
      generation, pace_.PermitFor(FILE_BYTES_GC, [this] { return pace_.PriorityOfGc(); }, RoomOf(pick)));
  RelocationStep step(tools_, pick, &writer, report);
  const auto end_file = [&](const Status& done) {
    if (writer.empty()) return;
    assert(creation.has_value());
    state_.commits.ReleaseSlot(writer.info().slot);
    creation->Done(done, done.ok() ? writer.info().file_size : 0);
    if (step.is_named()) {
      report->file_bytes = writer.info().file_size;
    } else if (done.severity() != Status::Severity::kFatal || MutantIs(Mutant::kUnlinkAfterFailedSync)) {
      static_cast<void>(db_.Unlink(FileKind::kRelocation, writer.info().number));
    }
  };
  Status done;
  try {
    done = step.Execute(records);
  } catch (...) {  // there is no memory
    end_file(Status::Aborted("an exception has ended the step"));
    throw;
  }
  end_file(done);
  return done;
}

// Segments that the last step has dropped still take the space that the ceiling leaves for a step. Normally the job
// kRemove has removed them while this step was reading.
Status Relocator::AwaitRemovalOfSegments() {
  if (MutantIs(Mutant::kGcStepsOverlapRemoval) || state_.commits.obsolete().leaving_log_bytes() == 0) return Status::OK();
  return AwaitRemoval(db_, &state_.commits, &state_.jobs);
}

void Relocator::Report(const GcPick& pick, const GcReport& report, const Status& done) {
  assert(report.is_emptied.size() == pick.sources.size());
  if (!db_.events.is_on()) return;
  LogGcJobInfo info;
  info.db_name = db_.events.db_name();
  info.job_id = report.job_id;
  info.reason = ReasonOf(pick.reason);
  info.status = done;
  info.elapsed_micros = db_.NowMicros() - report.begun_micros;
  info.bytes_read = report.bytes_read;
  info.bytes_written = report.bytes_written;
  if (done.ok()) {
    info.keys_relocated = report.keys_relocated;
    info.bytes_freed = report.bytes_freed;
  }
  for (std::size_t i = 0; i < pick.sources.size(); ++i) {
    const std::string& path = pick.sources[i].segment->path();
    info.input_files.push_back(path);
    if (done.ok() && report.is_emptied[i]) info.emptied_files.push_back(path);
    if (done.ok() && report.punched.contains(i)) info.punched_files.push_back(path);
  }
  db_.events.Add([db = db_.facade, info = std::move(info)](EventListener* listener) {
    listener->OnLogGcCompleted(db, info);
  });
}

}  // namespace cambium
