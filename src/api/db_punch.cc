// Punching: large values that are dead become holes, with nothing copied.
//
//   commit_mutex_: pin the view, choose segments ─▶ look their values up in its layers
//        ─▶ commit_mutex_: the MANIFEST says which records are dead for good, and the view gets a new Segment for the file
//        ─▶ the old Segment's last reader lets go ─▶ holes
//
// A value that is not the newest of its key in durable layers, and lies below the replay position, never is again: later
// layers only hide more, and recovery reads nothing of the segment. Who may still read it holds a view of before the
// commit, and with it the old Segment. What a crash leaves undone the next opening does: the MANIFEST names the records.
#include <algorithm>

#include "api/db_impl.h"
#include "recovery/open_files.h"
#include "gc/punch.h"
#include "manifest/file_names.h"
#include "util/fault_point.h"
#include "util/mutant.h"
#include "vlog/segment_footer.h"

namespace cambium {
namespace {

// Of records whose keys are looked up in one go.
constexpr std::uint64_t kStepRecords = 64u << 10;

// Of a record that must be there.
Result<RecordHeader> ReadRecordHeader(const File& file, std::uint64_t seed, std::uint64_t offset) {
  char bytes[kRecordHeaderSize];
  std::size_t read = 0;
  CAMBIUM_RETURN_IF_ERROR(file.Read(offset, sizeof(bytes), bytes, &read));
  RecordHeader header;
  if (read == sizeof(bytes) && DecodeRecordHeader(bytes, seed, offset, &header) == HeaderCheck::kValid) return header;
  return Status::Corruption(file.path() + ":" + std::to_string(offset) + ": record header checksum mismatch");
}

}  // namespace

std::uint64_t DbImpl::BytesOf(const SegmentInfo& info) const {
  return info.punched.empty() ? info.file_size : info.file_size - punched_.Of(info.number).holes;
}

// The oldest that are due, and a view of the same moment.
bool DbImpl::PickPunchStep(GcStep* step) {
  const std::lock_guard lock(commit_mutex_);
  if (!MayCollect(UrgencyOfGc())) return false;
  step->view = view_.Pin();
  std::uint64_t records = 0;
  for (const SegmentUse& use : SegmentUses()) {
    if (!use.is_worth_punching || use.is_damaged) continue;
    const SegmentInfo& info = manifest_->state().segments.at(use.number);
    step->sources.push_back({step->view->segments.Find(info.slot), info});
    records += use.live_records;
    if (records >= kStepRecords) break;
  }
  if (step->sources.empty()) return false;
  step->reason = UrgencyOfGc() == GcUrgency::kSpace ? GcReason::kCeiling : GcReason::kCostBenefit;
  step->begun_micros = options_.clock->NowMicros();
  step->job_id = events_.NewJobId();
  step->is_emptied.assign(step->sources.size(), false);
  AddGcFamilies(step);
  return true;
}

Status DbImpl::RunPunchStep(GcStep* step) {
  std::vector<PunchPlan> plans;
  for (std::size_t i = 0; i < step->sources.size(); ++i) {
    Arena keys;
    std::vector<GcRecord> listed;
    const Status s = ListRecords(step->sources[i], static_cast<std::uint32_t>(i), &keys, &listed);
    const SegmentInfo& info = step->sources[i].info;
    stats_.gc_bytes_read.fetch_add(info.file_size - info.sealed_length);
    step->bytes_read += info.file_size - info.sealed_length;
    if (s.IsCorruption()) MarkDamaged(step->sources[i], s);
    if (!s.ok() && !s.IsCorruption()) return s;
    std::vector<GcRecord> live = listed;
    if (s.ok()) CAMBIUM_RETURN_IF_ERROR(KeepLive(step->families, step->sources, &live));
    plans.push_back(s.ok() ? PlanPunch(step->sources[i], listed, live, min_punch_size_.load(std::memory_order_relaxed))
                           : PunchPlan());
  }
  CAMBIUM_FAULT_POINT("Punch:planned");
  return CommitPunch(step, plans);
}

Status DbImpl::CommitPunch(GcStep* step, const std::vector<PunchPlan>& plans) {
  const std::lock_guard lock(commit_mutex_);
  const ManifestState& state = manifest_->state();
  const std::shared_ptr<const View> view = view_.Pin();
  Edit edit;
  std::vector<std::shared_ptr<Segment>> next;
  std::vector<std::size_t> used;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const auto known = state.segments.find(step->sources[i].info.number);
    if (known == state.segments.end()) continue;  // it has gone meanwhile
    SegmentInfo info = known->second;
    const std::uint64_t live = static_cast<std::uint64_t>(state.TotalAccount(info.slot).bytes);
    PunchedBytes bytes = punched_.Of(info.number);
    FileInfo file;
    CAMBIUM_RETURN_IF_ERROR(step->sources[i].segment->file().GetInfo(&file));
    const std::uint64_t taken = BytesOf(info) - std::min(BytesOf(info), live);
    // Where half of the garbage would stay, moving what is alive is the better way; where the file has a second name,
    // whoever uses that has its bytes too.
    const bool is_worth = !plans[i].offsets.empty() && 2 * plans[i].hole_bytes >= taken;
    if (!is_worth || (file.link_count > 1 && !MutantIs(Mutant::kPunchLinkedFile))) {
      bytes.garbage_at_look = taken;
      punched_.Set(info.number, bytes);
      continue;
    }
    std::vector<std::uint64_t> all;
    std::ranges::set_union(info.punched, plans[i].offsets, std::back_inserter(all));
    info.punched = std::move(all);
    CAMBIUM_TRY(std::shared_ptr<Segment> segment, OpenSegment(*fs_, path_, state, info, false, [this](const std::string& gone) {
                  obsolete_.Add(gone);
                }));
    if (options_.allow_mmap_reads) {
      segment->AllowMap(info.sealed_length);
      segment->map()->Complete(info.sealed_length);
    }
    edit.set_segments.push_back(std::move(info));
    next.push_back(std::move(segment));
    used.push_back(i);
  }
  if (edit.set_segments.empty()) return Status::OK();
  if (MutantIs(Mutant::kPunchBeforeCommit)) {
    for (const SegmentInfo& info : edit.set_segments) CAMBIUM_RETURN_IF_ERROR(MakeHoles(info, info.punched).status());
  }
  CAMBIUM_RETURN_IF_ERROR(CommitEdit(&edit));
  view_.Update([&](View* changed) {
    for (const auto& segment : next) changed->segments = changed->segments.With(segment->slot(), segment);
  });
  for (std::size_t k = 0; k < used.size(); ++k) {
    const SegmentInfo& info = edit.set_segments[k];
    const PunchPlan& plan = plans[used[k]];
    PunchedBytes bytes = punched_.Of(info.number);
    bytes.holes += plan.hole_bytes;
    bytes.kept += plan.kept_bytes;
    bytes.pending += plan.hole_bytes;
    const std::uint64_t left = info.file_size - bytes.holes;
    bytes.garbage_at_look = left - std::min(left, static_cast<std::uint64_t>(state.TotalAccount(info.slot).bytes));
    punched_.Set(info.number, bytes);
    step->punched.insert(used[k]);
    step->bytes_freed += plan.hole_bytes;
    obsolete_.Leaves(next[k]->path(), {bytes.pending, true});
    const std::shared_ptr<Segment>& old = view->segments.Find(info.slot);
    // The old one keeps the new one: when that is released, so are all before it, who see more values than it does.
    old->WhenReleased([this, holes = PunchedSegments::ReadyHoles{info.number, plan}, keep = next[k]] {
      punched_.Ready(holes);
    });
    if (MutantIs(Mutant::kPunchWhilePinned)) punched_.Ready({info.number, plan});
  }
  return Status::OK();
}

// Of records that the MANIFEST calls punched, by ascending offsets; no others: a later list may have some that are still
// read. Making one again costs little.
Result<PunchedBytes> DbImpl::MakeHoles(const SegmentInfo& info, const std::vector<std::uint64_t>& offsets) {
  PunchedBytes made;
  const std::string path = FilePath(path_, FileKindOf(info.kind), info.number);
  std::unique_ptr<File> file;
  CAMBIUM_RETURN_IF_ERROR(fs_->Open(path, OpenMode::kReadWrite, {}, &file));
  CAMBIUM_TRY(const FileHeader header, ReadFileHeader(*file, FileKindOf(info.kind), info.number));
  std::vector<Hole> holes;
  const auto add = [&](std::uint64_t offset, std::uint64_t size, std::size_t key_size) {
    holes.push_back(HoleOf(offset, size, key_size));
    made.holes += holes.back().length;
    made.kept += size - holes.back().length;
  };
  const Status listed = ReadSegmentFooter(
      *file, header.Seed(), kFileHeaderSize, info.sealed_length, info.file_size, [&](const FooterEntry& entry) {
        if (std::ranges::binary_search(offsets, entry.offset)) add(entry.offset, entry.size, entry.key.size());
        return Status::OK();
      });
  if (!listed.ok() && !listed.IsCorruption()) return listed;
  if (listed.IsCorruption()) {  // the records themselves know as much: header and key of each are there
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
  for (const Hole& hole : holes) CAMBIUM_RETURN_IF_ERROR(file->PunchHole(hole.offset, hole.length));
  return made;
}

// A segment that cannot be punched is as large as before, and moving its values is the way.
Status DbImpl::MakeReadyHoles() {
  Status first;
  for (const PunchedSegments::ReadyHoles& ready : punched_.TakeReady()) {
    CAMBIUM_RETURN_IF_ERROR(Health());
    SegmentInfo info;
    {
      const std::lock_guard lock(commit_mutex_);
      const auto known = manifest_->state().segments.find(ready.number);
      if (known == manifest_->state().segments.end()) continue;
      info = known->second;
    }
    CAMBIUM_FAULT_POINT("Punch:holes");
    const Result<PunchedBytes> made = MakeHoles(info, ready.plan.offsets);
    if (made.status().IsPathNotFound()) continue;  // dropped since, and gone
    if (!made.ok()) {
      if (made.status().IsNotSupported()) cannot_punch_.store(true, std::memory_order_relaxed);
      if (!made.status().IsNotSupported() && !made.status().IsBusy() && first.ok()) first = made.status();
      logger_->Log(InfoLogLevel::kWarn, "values that nothing refers to stay for now: " + made.status().ToString());
    }
    const std::lock_guard lock(commit_mutex_);
    if (!manifest_->state().segments.contains(ready.number)) continue;
    const bool is_resumed = !punched_.Knows(ready.number);
    PunchedBytes bytes = punched_.Of(ready.number);
    bytes.pending -= std::min(bytes.pending, ready.plan.hole_bytes);
    if (made.ok() && is_resumed) bytes.holes = made->holes, bytes.kept = made->kept;
    if (!made.ok()) {
      bytes.holes -= std::min(bytes.holes, ready.plan.hole_bytes);
      bytes.kept -= std::min(bytes.kept, ready.plan.kept_bytes);
    }
    punched_.Set(ready.number, bytes);
    const std::string path = FilePath(path_, FileKindOf(info.kind), ready.number);
    obsolete_.Gone(path);
    if (bytes.pending > 0) obsolete_.Leaves(path, {bytes.pending, true});
  }
  return first;
}

// Holes that an earlier opening has left to be made, and how many bytes those take that it has made.
void DbImpl::ResumePunching() {
  std::vector<PunchedSegments::ReadyHoles> all;
  {
    const std::lock_guard lock(commit_mutex_);
    for (const auto& [number, info] : manifest_->state().segments) {
      if (!info.punched.empty()) all.push_back({number, {info.punched, 0, 0}});
    }
  }
  for (PunchedSegments::ReadyHoles& holes : all) punched_.Ready(std::move(holes));
}

}  // namespace cambium
