// Space: how large the database may be on disk, and what has to be done before it is larger. Pure functions of numbers;
// the database carries out what they say.
//
//   D  bytes of files: log segments, index files, MANIFEST and the like; without what only snapshots and readers hold,
//      and without the garbage of damaged segments, which stay as they are
//   L  bytes of live entries as they are stored: records that the accounts count, without those that newer entries hide;
//      and what is inline, in the index
//   S  max_space_amplification
//
// The promise is D <= S * L + A, A = two log segments and one step of log GC: what is being written while nothing can be
// taken back yet. Segments shrink with the database, and A with them.
//
// Between L and S * L lie four kinds of waste, each with a job that turns it into the next, the last one into free space:
//
//   tail     records that a memory table makes garbage, or that are garbage in it; a flush makes them known
//   hidden   records that an entry of a newer layer hides, while an older layer still counts them; a merge uncharges them.
//            In an LSM what is inline too, which a merge leaves out
//   open     garbage in a segment that is not sealed, or not absorbed
//   garbage  records that nothing refers to; log GC takes their segments away
//
// Where tail and hidden garbage are small parts of the slack, the log is as full of garbage as it may be when GC comes,
// and GC moves as little as it can.
#pragma once

#include <cstdint>

namespace cambium {

// Of a log segment, however small the database is, unless blob_file_size is less.
inline constexpr std::uint64_t kSegmentBytesLeast = 1u << 20;

// All in bytes, of one moment.
struct SpaceFigures {
  std::uint64_t log_bytes = 0;         // segments and files of large values, on disk
  std::uint64_t log_live_bytes = 0;    // of the accounts: hidden garbage counts as live
  std::uint64_t garbage_bytes = 0;     // in segments that log GC may take now
  std::uint64_t collectable_bytes = 0; // of these, in segments that it would take for want of space
  std::uint64_t hidden_bytes = 0;      // estimate
  std::uint64_t tail_bytes = 0;        // of the log that is in memory tables only
  // Estimate: what it makes garbage below, beyond its own bytes, as deletes do. Its puts are taken for overwrites.
  std::uint64_t tail_hides_bytes = 0;
  std::uint64_t tail_range_deletes = 0;  // a number; nobody knows what these hide before they are flushed
  // Of separated values in memory tables, those that nothing in them replaces. They are alive, whatever of the rest they
  // hide, and in a database that is new they are all there is.
  std::uint64_t tail_live_bytes = 0;
  std::uint64_t index_bytes = 0;       // files of runs, trees and levels
  std::uint64_t index_live_bytes = 0;  // of these, keys and values that are in no log record, without those that are hidden
  std::uint64_t index_hidden_bytes = 0;  // estimate: of such keys and values in an LSM, those that newer layers hide
  std::uint64_t other_bytes = 0;
  std::uint64_t leaving_bytes = 0;     // of log_bytes and index_bytes: on disk, and about to go by themselves

  [[nodiscard]] std::uint64_t on_disk() const { return log_bytes + index_bytes + other_bytes; }
  [[nodiscard]] std::uint64_t live() const;
};

struct SpacePolicy {
  double max_space_amplification = 1.5;         // S; 0: no ceiling
  std::uint64_t segment_bytes_max = 256u << 20;  // blob_file_size
  std::uint64_t step_bytes_max = 64u << 20;      // of log GC, and of merges
};

// What a step may write at most, where families have memory tables of up to so many bytes.
[[nodiscard]] std::uint64_t StepBytesMax(std::uint64_t write_buffer_size);

struct SpacePlan {
  // Of log segments from now on, and of a step of log GC.
  std::uint64_t segment_bytes = 0;
  std::uint64_t step_bytes = 0;
  // Of what is alive in a tree's files they may hold so much: dead pages of up to half of the slack, the rest of which is
  // for runs, the log and what is being written; but 15 per cent in any case, which is more than that below S = 1.3. At
  // most twice what is alive, where copying costs the least, and which is all the same where values are separated and the
  // index is a small part of what there is.
  std::uint64_t index_file_percent_max = 200;
  // D from which on jobs are begun that would not be due for other reasons; from which on writers are slowed down; and
  // that no write may exceed as long as a job can help. And up to which work may go that nobody has asked for. UINT64_MAX
  // without a ceiling.
  std::uint64_t work_at = 0;
  std::uint64_t slow_at = 0;
  std::uint64_t stop_at = 0;
  std::uint64_t spare_until = 0;
  // What is to be begun now.
  bool flush = false;
  bool compact = false;
  bool collect = false;
  bool seal = false;  // the segment that is written to, since nothing else has garbage left

  [[nodiscard]] bool any() const { return flush || compact || collect || seal; }
};

[[nodiscard]] SpacePlan PlanSpace(const SpaceFigures& figures, const SpacePolicy& policy);

// Bytes per second that writers may write in all, at a part in (0, 1) of the way from slow_at to stop_at.
// `freed_per_second` is what log GC gives back, net of what it moves, while it runs: halfway they get just that, and D
// stays there.
[[nodiscard]] double PacedRate(double part, double freed_per_second);

}  // namespace cambium
