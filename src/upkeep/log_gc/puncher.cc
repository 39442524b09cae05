#include "upkeep/log_gc/puncher.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <memory>
#include <utility>

#include "io/file_header.h"
#include "upkeep/log_gc/segment_cut.h"
#include "util/fault_point.h"
#include "util/mutant.h"
#include "vlog/segment_footer.h"

namespace cambium {
namespace {

// One step looks up the keys of at most about this many records.
constexpr std::uint64_t kStepRecords = 64u << 10;

// Reads the header of the record at `offset`. Corruption if it is not valid.
Result<RecordHeader> ReadRecordHeader(const File& file, std::uint64_t seed, std::uint64_t offset) {
  char bytes[kRecordHeaderSize];
  std::size_t read = 0;
  CAMBIUM_RETURN_IF_ERROR(file.Read(offset, sizeof(bytes), bytes, &read));
  RecordHeader header;
  if (read == sizeof(bytes) && DecodeRecordHeader(bytes, seed, offset, &header) == HeaderCheck::kValid) return header;
  return Status::Corruption(file.path() + ":" + std::to_string(offset) + ": record header checksum mismatch");
}

// Only in a mutant: makes holes that a reader may still see.
void PunchWhilePinned(const PunchedSegments::ReadyHoles& holes, PunchedSegments* punched) {
  if (MutantIs(Mutant::kPunchWhilePinned)) punched->Ready(holes);
}

}  // namespace

// A segment in which a commit punches records.
struct Puncher::Change {
  std::size_t source = 0;
  SegmentInfo info;                  // to be written to the MANIFEST
  std::shared_ptr<Segment> segment;  // the same file, for readers after the commit
  const PunchPlan* plan = nullptr;
};

Puncher::Puncher(DbState* state, GcSegments* segments, Relocator* relocator)
    : db_(state->context),
      jobs_(state->jobs),
      commits_(state->commits),
      segments_(*segments),
      relocator_(*relocator) {}

Result<bool> Puncher::RunIfDue() {
  GcPick pick;
  if (!Pick(&pick)) return false;
  GcReport report = relocator_.Begin(pick, /*empties=*/false);
  const Status done = Run(pick, &report);
  relocator_.Report(pick, report, done);
  CAMBIUM_RETURN_IF_ERROR(done);
  return true;
}

// Chooses the oldest segments that are due, and pins a view of the same moment.
bool Puncher::Pick(GcPick* pick) {
  const CommitLock lock(commits_);
  if (!segments_.MayCollect(segments_.Urgency())) return false;
  pick->view = commits_.view().Pin();
  std::uint64_t records = 0;
  for (const SegmentUse& use : segments_.Uses()) {
    if (!use.is_worth_punching || use.is_damaged) continue;
    const SegmentInfo& info = commits_.state().segments.at(use.number);
    pick->sources.push_back({pick->view->segments.Find(info.slot), info});
    records += use.live_records;
    if (records >= kStepRecords) break;
  }
  if (pick->sources.empty()) return false;
  pick->reason = segments_.Urgency() == GcUrgency::kSpace ? GcReason::kCeiling : GcReason::kCostBenefit;
  pick->AddFamilies();
  return true;
}

Status Puncher::Run(const GcPick& pick, GcReport* report) {
  std::vector<PunchPlan> plans;
  for (std::size_t i = 0; i < pick.sources.size(); ++i) {
    Arena keys;
    std::vector<GcRecord> listed;
    const Status s = ListRecords(pick.sources[i], static_cast<std::uint32_t>(i), &keys, &listed);
    const SegmentInfo& info = pick.sources[i].info;
    db_.stats.gc_bytes_read.fetch_add(info.file_size - info.sealed_length);
    report->bytes_read += info.file_size - info.sealed_length;
    if (s.IsCorruption()) segments_.MarkDamaged(pick.sources[i], s);
    if (!s.ok() && !s.IsCorruption()) return s;
    std::vector<GcRecord> live = listed;
    if (s.ok()) CAMBIUM_RETURN_IF_ERROR(KeepLive(pick.families, pick.sources, &live));
    const std::uint64_t least = db_.min_punch_size.load(std::memory_order_relaxed);
    plans.push_back(s.ok() ? PlanPunch(pick.sources[i], listed, live, least) : PunchPlan());
  }
  CAMBIUM_FAULT_POINT("Punch:planned");
  return Commit(pick, plans, report);
}

// Leaves change->segment null if the segment is not punched.
Status Puncher::PlanChange(const GcSource& source, const PunchPlan& plan, Change* change) {
  const ManifestState& state = commits_.state();
  const auto known = state.segments.find(source.info.number);
  if (known == state.segments.end()) return Status::OK();  // dropped meanwhile
  change->info = known->second;
  change->plan = &plan;
  const auto live = static_cast<std::uint64_t>(commits_.index().TotalOf(change->info.slot).bytes);
  FileInfo file;
  CAMBIUM_RETURN_IF_ERROR(source.segment->file().GetInfo(&file));
  const std::uint64_t bytes = commits_.BytesOf(change->info);
  const std::uint64_t garbage = bytes - std::min(bytes, live);
  // If holes would free less than half of the garbage, relocation is better. A file with a second name is not punched:
  // a checkpoint or backup uses its bytes too.
  const bool is_worth = !plan.offsets.empty() && 2 * plan.hole_bytes >= garbage;
  if (!is_worth || (file.link_count > 1 && !MutantIs(Mutant::kPunchLinkedFile))) {
    PunchedBytes punched = commits_.punched().Of(change->info.number);
    punched.garbage_at_look = garbage;
    commits_.punched().Set(change->info.number, punched);
    return Status::OK();
  }
  std::vector<std::uint64_t> all;
  std::ranges::set_union(change->info.punched, plan.offsets, std::back_inserter(all));
  change->info.punched = std::move(all);
  CAMBIUM_TRY(change->segment, OpenAgain(&db_, &commits_, change->info));
  return Status::OK();
}

Status Puncher::Commit(const GcPick& pick, const std::vector<PunchPlan>& plans, GcReport* report) {
  assert(plans.size() == pick.sources.size());
  const CommitLock lock(commits_);
  const std::shared_ptr<const View> before = commits_.view().Pin();
  std::vector<Change> changes;
  Edit edit;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    Change change;
    change.source = i;
    CAMBIUM_RETURN_IF_ERROR(PlanChange(pick.sources[i], plans[i], &change));
    if (change.segment == nullptr) continue;
    edit.set_segments.push_back(change.info);
    changes.push_back(std::move(change));
  }
  if (changes.empty()) return Status::OK();
  CAMBIUM_RETURN_IF_ERROR(PunchBeforeCommit(edit));
  CAMBIUM_RETURN_IF_ERROR(commits_.Commit(&edit, [&](View* view) {
    for (const Change& change : changes) view->segments = view->segments.With(change.segment->slot(), change.segment);
  }));
  for (const Change& change : changes) {
    Committed(*before, change);
    report->punched.insert(change.source);
    report->bytes_freed += change.plan->hole_bytes;
  }
  return Status::OK();
}

Status Puncher::PunchBeforeCommit(const Edit& edit) {
  if (!MutantIs(Mutant::kPunchBeforeCommit)) return Status::OK();
  for (const SegmentInfo& info : edit.set_segments) CAMBIUM_RETURN_IF_ERROR(MakeHoles(info, info.punched, info.cut).status());
  return Status::OK();
}

void Puncher::Committed(const View& before, const Change& change) {
  assert(change.plan != nullptr && change.segment != nullptr);
  const SegmentInfo& info = change.info;
  PunchedBytes bytes = commits_.punched().Of(info.number);
  bytes.holes += change.plan->hole_bytes;
  bytes.kept += change.plan->kept_bytes;
  bytes.pending += change.plan->hole_bytes;
  const std::uint64_t left = info.file_size - bytes.holes;
  const auto live = static_cast<std::uint64_t>(commits_.index().TotalOf(info.slot).bytes);
  bytes.garbage_at_look = left - std::min(left, live);
  commits_.punched().Set(info.number, bytes);
  commits_.obsolete().Leaves(change.segment->path(), {bytes.pending, true});
  // The old Segment holds the new one. So a Segment is released only after all its predecessors, whose readers see more
  // values.
  const PunchedSegments::ReadyHoles holes{info.number, *change.plan, 0};
  assert(before.segments.Find(info.slot) != nullptr && before.segments.Find(info.slot)->number() == info.number);
  before.segments.Find(info.slot)->WhenReleased([this, holes, keep = change.segment] { commits_.punched().Ready(holes); });
  PunchWhilePinned(holes, &commits_.punched());
}

// Punches the records at `offsets`, which are sorted, and all bytes before `cut`. The MANIFEST names both. It may also
// name further records, and a later cut, which still have readers. Punching a hole again costs little.
Result<PunchedBytes> Puncher::MakeHoles(const SegmentInfo& info, const std::vector<std::uint64_t>& offsets,
                                        std::uint64_t cut) {
  PunchedBytes made;
  const std::string path = db_.PathOf(FileKindOf(info.kind), info.number);
  std::unique_ptr<File> file;
  CAMBIUM_RETURN_IF_ERROR(db_.fs->Open(path, OpenMode::kReadWrite, {}, &file));
  CAMBIUM_TRY(const FileHeader header, ReadFileHeader(*file, FileKindOf(info.kind), info.number));
  std::vector<Hole> holes;
  const auto add = [&](std::uint64_t offset, std::uint64_t size, std::size_t key_size) {
    holes.push_back(HoleOf(offset, size, key_size));
    made.holes += holes.back().length;
    made.kept += size - holes.back().length;
  };
  const Hole before_cut = HoleOfCut(cut);
  const Status listed = offsets.empty() ? Status::OK() : ReadSegmentFooter(
      *file, header.Seed(), kFileHeaderSize, info.sealed_length, info.file_size, [&](const FooterEntry& entry) {
        if (std::ranges::binary_search(offsets, entry.offset)) add(entry.offset, entry.size, entry.key.size());
        return Status::OK();
      });
  if (!listed.ok() && !listed.IsCorruption()) return listed;
  if (listed.IsCorruption()) {  // use the record headers instead: a hole spares header and key
    holes.clear();
    made = {};
    for (const std::uint64_t offset : offsets) {
      CAMBIUM_TRY(const RecordHeader record, ReadRecordHeader(*file, header.Seed(), offset));
      add(offset, record.RecordSize(), record.key_size);
    }
  }
  FileInfo facts;
  CAMBIUM_RETURN_IF_ERROR(file->GetInfo(&facts));
  if (facts.link_count > 1 && !MutantIs(Mutant::kPunchLinkedFile)) {
    return Status::Busy(path + ": has a second name");
  }
  if (before_cut.length != 0) holes.push_back(before_cut);
  made.holes += before_cut.length;
  for (const Hole& hole : holes) CAMBIUM_RETURN_IF_ERROR(file->PunchHole(hole.offset, hole.length));
  return made;
}

// If a segment cannot be punched, its holes no longer count, so that log GC relocates its values instead.
Status Puncher::MakeReadyHoles() {
  Status first;
  for (const PunchedSegments::ReadyHoles& ready : commits_.punched().TakeReady()) {
    CAMBIUM_RETURN_IF_ERROR(jobs_.Health());
    SegmentInfo info;
    {
      const CommitLock lock(commits_);
      const auto known = commits_.state().segments.find(ready.number);
      if (known == commits_.state().segments.end()) continue;
      info = known->second;
    }
    CAMBIUM_FAULT_POINT("Punch:holes");
    const Result<PunchedBytes> made = MakeHoles(info, ready.plan.offsets, ready.cut);
    if (made.status().IsPathNotFound()) continue;  // dropped since
    if (!made.ok()) {
      if (made.status().IsNotSupported()) segments_.SetCannotPunch();
      if (!made.status().IsNotSupported() && !made.status().IsBusy() && first.ok()) first = made.status();
      db_.logger->Log(InfoLogLevel::kWarn,
                      "no holes are made, and log GC relocates the segment instead: " + made.status().ToString());
    }
    NoteHoles(ready, info, made);
  }
  return first;
}

void Puncher::NoteHoles(const PunchedSegments::ReadyHoles& ready, const SegmentInfo& info,
                        const Result<PunchedBytes>& made) {
  const CommitLock lock(commits_);
  if (!commits_.state().segments.contains(ready.number)) return;
  const bool is_resumed = !commits_.punched().Knows(ready.number);
  PunchedBytes bytes = commits_.punched().Of(ready.number);
  bytes.pending -= std::min(bytes.pending, ready.plan.hole_bytes);
  if (made.ok() && is_resumed) {
    bytes.holes = made->holes;
    bytes.kept = made->kept;
  }
  if (!made.ok()) {
    bytes.holes -= std::min(bytes.holes, ready.plan.hole_bytes);
    bytes.kept -= std::min(bytes.kept, ready.plan.kept_bytes);
  }
  commits_.punched().Set(ready.number, bytes);
  const std::string path = db_.PathOf(FileKindOf(info.kind), ready.number);
  commits_.obsolete().Gone(path);
  if (bytes.pending > 0) commits_.obsolete().Leaves(path, {bytes.pending, true});
}

void Puncher::Resume() {
  std::vector<PunchedSegments::ReadyHoles> all;
  {
    const CommitLock lock(commits_);
    for (const auto& [number, info] : commits_.state().segments) {
      if (info.MayHaveHoles()) all.push_back({number, {info.punched, 0, 0}, info.cut});
    }
  }
  for (PunchedSegments::ReadyHoles& holes : all) commits_.punched().Ready(std::move(holes));
}

}  // namespace cambium
