#include "upkeep/log_gc/segment_cut.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "gc/punch.h"
#include "recovery/open_files.h"
#include "util/mutant.h"

namespace cambium {

Result<std::shared_ptr<Segment>> OpenAgain(DbContext* db, CommitPoint* commits, const SegmentInfo& info) {
  CAMBIUM_TRY(std::shared_ptr<Segment> segment,
              OpenSegment(*db->fs, db->path, commits->state(), info, false, commits->WhenReleased(),
                          HeaderRuleOf(db->options.wal_recovery_mode)));
  if (db->options.allow_mmap_reads) {
    segment->AllowMap(info.sealed_length);
    segment->map()->Complete(info.sealed_length);
  }
  return segment;
}

namespace {

// Only in a mutant: makes the hole before the MANIFEST names it.
Status MakeHoleOf(DbContext* db, const SegmentCut& cut) {
  std::unique_ptr<File> file;
  CAMBIUM_RETURN_IF_ERROR(db->fs->Open(cut.segment->path(), OpenMode::kReadWrite, {}, &file));
  const Hole hole = HoleOfCut(cut.info.cut);
  CAMBIUM_RETURN_IF_ERROR(file->PunchHole(hole.offset, hole.length));
  return file->SyncData();
}

}  // namespace

Result<std::optional<SegmentCut>> PrepareCut(DbContext* db, CommitPoint* commits, const GcSource& source,
                                             const CutPlan& plan) {
  assert(plan.cut > source.info.cut && "a cut only grows");
  const auto known = commits->state().segments.find(source.info.number);
  if (known == commits->state().segments.end() || known->second != source.info) return std::optional<SegmentCut>();
  FileInfo file;
  CAMBIUM_RETURN_IF_ERROR(source.segment->file().GetInfo(&file));
  if (file.link_count > 1 && !MutantIs(Mutant::kPunchLinkedFile)) return std::optional<SegmentCut>();
  SegmentCut made{source.info, nullptr, plan};
  made.info.cut = plan.cut;
  std::erase_if(made.info.punched, [&plan](std::uint64_t offset) { return offset < plan.cut; });
  CAMBIUM_TRY(made.segment, OpenAgain(db, commits, made.info));
  if (MutantIs(Mutant::kPunchBeforeCommit)) CAMBIUM_RETURN_IF_ERROR(MakeHoleOf(db, made));
  return std::optional(std::move(made));
}

void NoteCut(CommitPoint* commits, const View& before, const SegmentCut& cut) {
  const std::uint64_t number = cut.info.number;
  assert(before.segments.Find(cut.info.slot) != nullptr && before.segments.Find(cut.info.slot)->number() == number);
  PunchedSegments& punched = commits->punched();
  PunchedBytes bytes = punched.Of(number);
  bytes.holes += cut.plan.hole_bytes;
  bytes.kept -= std::min(bytes.kept, cut.plan.covered_kept);
  bytes.pending += cut.plan.hole_bytes;
  bytes.live_most = cut.plan.live_left;
  punched.Set(number, bytes);
  commits->obsolete().Leaves(cut.segment->path(), {bytes.pending, true});
  PunchedSegments::ReadyHoles holes{number, {}, cut.info.cut};
  holes.plan.hole_bytes = cut.plan.hole_bytes;
  // The old Segment holds the new one. So a Segment is released only after all its predecessors, whose readers see more
  // values.
  before.segments.Find(cut.info.slot)->WhenReleased([&punched, holes, keep = cut.segment] { punched.Ready(holes); });
  if (MutantIs(Mutant::kPunchWhilePinned)) punched.Ready(holes);
}

}  // namespace cambium
