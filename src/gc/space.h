// Space: how large the database may be on disk, and what must be done before it grows further. Pure functions of
// numbers; SpaceKeeper carries out the plan.
//
//   D  bytes of files: log segments, index files, MANIFEST and others; without files that only snapshots and readers
//      hold, and without the garbage of damaged segments, which are never collected
//   L  bytes of live entries as stored: records that the accounts count, without those that newer entries hide, plus
//      the inline entries of the index. Each record also has an address in the index and an entry in a footer. If
//      values are so small, or S is so near to 1, that these would take much of S * L - L, they count as live too
//   S  max_space_amplification
//
// The promise is D <= S * L + A, where A is two log segments and one step of log GC, which must be written before
// anything can be freed. Segments shrink with the database, and so does A. Values with files of their own take space
// before those that they replace can be freed, so A also counts the one that each writer is writing. The promise holds
// from min_space_limit on; a smaller database may take min_space_limit.
//
// Between L and S * L there are four kinds of waste. For each, a job turns it into the next kind, and finally into free
// space:
//
//   tail     records, in the layers or in memtables, that a newer entry of a memtable overwrites. A flush turns them
//            into hidden records or garbage
//   hidden   records that a newer layer's entry hides while an older layer still counts them. A compaction subtracts
//            them from the accounts. In an LSM, hidden inline values too, which a compaction drops
//   open     garbage in a segment that is not sealed, or not completely below the replay position
//   garbage  records without a reference. Log GC drops their segments
//
// The plan keeps tail and hidden small, so that nearly all of the slack is garbage in segments when log GC runs. The
// more garbage a segment has, the fewer values log GC moves to free its space.
#pragma once

#include <cstdint>

namespace cambium {

// The least size of a log segment, however small the database is, unless blob_file_size is less.
inline constexpr std::uint64_t kSegmentBytesLeast = 1u << 20;

// All in bytes, at one moment.
struct SpaceFigures {
  std::uint64_t log_bytes = 0;         // segments and files of large values, on disk
  std::uint64_t log_live_bytes = 0;    // according to the accounts: hidden garbage counts as live
  std::uint64_t garbage_bytes = 0;     // in segments that log GC may take now
  std::uint64_t collectable_bytes = 0; // of these, in segments that log GC would take when space is short
  std::uint64_t hidden_bytes = 0;      // estimate
  std::uint64_t tail_bytes = 0;        // records of the log that are not flushed yet
  // Estimate: bytes in older layers that the tail overwrites or deletes, minus the tail_bytes that replace them; at least
  // 0. Where the layers are not sampled, puts are assumed to be overwrites, as far as there is something to overwrite.
  std::uint64_t tail_hides_bytes = 0;
  std::uint64_t active_bytes = 0;   // about the bytes that a flush of all active memtables would write
  std::uint64_t active_tables = 0;  // active memtables that are not empty
  std::uint64_t tail_range_deletes = 0;  // their number; what they hide is unknown until they are flushed
  bool had_range_deletes = false;        // the tail has some, or had some a short while ago: more may come
  // Separated values in memtables that no newer entry there replaces. They are live, even if they hide others. In a new
  // database, all live values are of this kind.
  std::uint64_t tail_live_bytes = 0;
  // The part of tail_live_bytes that exceeds the live bytes in the layers of its family, summed over all families.
  // During a flush of many families, some families have their live values in memtables, and others in layers.
  std::uint64_t tail_new_bytes = 0;
  std::uint64_t tail_index_bytes = 0;  // the pages that each memtable takes when it is flushed, however few its keys
  std::uint64_t index_bytes = 0;       // files of runs, trees and levels
  std::uint64_t index_live_bytes = 0;  // of these, keys and values that are in no log record, without hidden ones
  std::uint64_t index_address_bytes = 0;  // addresses of log records in these files
  std::uint64_t live_footer_bytes = 0;    // the live records' part of segments' headers and footers
  // Estimates: of the keys and values that are in no log record, those in an LSM that newer layers hide, and those that
  // range deletes cover.
  std::uint64_t index_hidden_bytes = 0;
  std::uint64_t index_covered_bytes = 0;
  // Estimate: what the sweeps in progress, and the next ones of other trees, will add before they free their runs.
  std::uint64_t index_swept_bytes = 0;
  std::uint64_t other_bytes = 0;
  std::uint64_t leaving_bytes = 0;     // of log_bytes and index_bytes: in files that are about to be removed
  std::uint64_t leaving_log_bytes = 0; // the part of leaving_bytes that is in segments
  std::uint64_t free_bytes = ~std::uint64_t{0};  // free space of the file system; UINT64_MAX: unknown

  [[nodiscard]] std::uint64_t on_disk() const { return log_bytes + index_bytes + other_bytes; }
  // L without addresses and footers.
  [[nodiscard]] std::uint64_t live() const;
};

struct SpacePolicy {
  double max_space_amplification = 1.5;         // S; 0: no ceiling
  std::uint64_t min_space_limit = 0;            // S * L + A is not enforced below this
  std::uint64_t segment_bytes_max = 256u << 20;  // blob_file_size
  // Each step of log GC looks up all records of its segments, so it does not depend on write_buffer_size: with steps of
  // 1 MiB, a segment of 256 MiB would be looked up a hundred times.
  std::uint64_t step_bytes_max = 64u << 20;
};

// The index's own limit of the size of page files, as a percentage of their live bytes: no limit by the ceiling.
inline constexpr std::uint64_t kFilePercentUnbounded = 200;

struct SpacePlan {
  // The bytes beyond the live ones that the ceiling allows, without A, and that the disk has room for. The sizes of
  // files and steps, and the bytes that wait for a compaction, are limited to parts of it, so that all of them fit.
  std::uint64_t slack_bytes = 0;
  bool is_bound_by_disk = false;  // the disk has less room than the ceiling allows
  // The size of new log segments, and of a step of log GC.
  std::uint64_t segment_bytes = 0;
  std::uint64_t step_bytes = 0;
  // How large a tree's files may be, in per cent of their live bytes. Dead pages may take two fifths of the slack; the
  // rest is for runs, the log, and pages that a step copies before it frees any. But at least 10 per cent may be dead;
  // below S = 1.25 that is more than two fifths of the slack. The files may have at most twice the live bytes: at that
  // size copying costs the least, and if values are separated, the index is a small part of the database anyway.
  std::uint64_t index_file_percent_max = kFilePercentUnbounded;
  // Values of D: from work_at on, jobs are started that would not be due for other reasons; from slow_at on, writers
  // are slowed down; no write may raise D above stop_at while a job can help. Work that no user has asked for may raise
  // D to spare_until. All are UINT64_MAX without a ceiling.
  std::uint64_t work_at = 0;
  std::uint64_t slow_at = 0;
  std::uint64_t stop_at = 0;
  std::uint64_t spare_until = 0;
  // This many of the bytes that log GC is writing, or has dropped and not yet removed, do not count against slow_at and
  // stop_at: there is room for them above stop_at. At most a step.
  std::uint64_t step_room = 0;
  // When writers have added this many bytes, memtables are flushed, whatever D is: their entries become a run before
  // their part of the log can be freed, and the run takes its space twice while it is compacted. UINT64_MAX without a
  // ceiling.
  std::uint64_t flush_in = 0;
  // What to start now.
  bool flush = false;
  bool compact = false;
  bool collect = false;
  bool seal = false;  // seal the current segment, because no other one has garbage left

  [[nodiscard]] bool any() const { return flush || compact || collect || seal; }
};

[[nodiscard]] SpacePlan PlanSpace(const SpaceFigures& figures, const SpacePolicy& policy);

// The bytes per second that all writers together may write, if D is the fraction `part` in (0, 1) of the way from
// slow_at to stop_at. `freed_per_second`: the bytes that log GC frees while it runs, less those it moves. Halfway,
// writers get exactly freed_per_second, and D stays constant.
[[nodiscard]] double PacedRate(double part, double freed_per_second);

}  // namespace cambium
