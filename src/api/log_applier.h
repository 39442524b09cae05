// LogApplier: puts the part of the log that is not in the durable layers into the memtables, batch by batch, within a
// bound.
//
//   first pass, nothing written yet    ┌── applied ──┐┌── only checked ──────────┐
//   log                                ──────────────▲───────────────────────────▶ end
//   second pass, after the commit      ┌── skipped ──┐┌ applied; flushed if full ┐
//
// Whether Open can succeed is known only at the end of the log, and until then nothing may be written. So the first
// pass stops applying before the first batch for which a memtable is full, and only checks the rest. If it has stopped,
// a second pass goes on from that batch after recovery has been committed, when memtables can be flushed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "recovery/log_replay.h"
#include "state/view.h"
#include "state/write_head.h"

namespace cambium {

// For one Open, in its thread, while no other uses the database.
class LogApplier {
 public:
  // Flushes the active memtables of these families. All memtables hold the log up to `end`.
  using Flush = std::function<Status(const std::vector<std::shared_ptr<Family>>& families, const LogPlace& end)>;

  // `state`: the families, and the last operation that the layers of each had before recovery. `is_bounded`: the first
  // pass may stop. False for a database that is opened for reading: it takes all the memory that its log needs. All
  // arguments outlive the applier.
  LogApplier(const std::string& path, const ViewHolder& views, const ManifestState& state, bool is_bounded)
      : path_(path), views_(views), state_(state), is_bounded_(is_bounded) {}

  // Takes the next batch of a pass. Returns Corruption if an operation is not valid, an error if memory runs out, or a
  // fatal error of the flush.
  Status Take(const std::vector<ReplayedOp>& ops);
  // Releases the view, which holds memtables and segments.
  void EndPass() { view_ = nullptr; }
  // True if there are batches that have only been checked.
  [[nodiscard]] bool has_stopped() const { return has_stopped_; }
  // Begins the second pass: from now on Take flushes memtables that are full. After an error of `flush` that is not
  // fatal, Take goes on and holds the rest of the log in memory: a database on a full disk must open, or nothing could
  // be deleted.
  void GoOn(Flush flush);
  // Bytes of log that were applied, with the large values that they refer to.
  [[nodiscard]] std::uint64_t logged_bytes() const { return logged_bytes_; }

 private:
  Status Measure(const ReplayedOp& op);
  [[nodiscard]] std::vector<std::shared_ptr<Family>> FullOnes() const;
  Status MakeRoom(const LogPlace& end);
  Status Add(const std::vector<ReplayedOp>& ops);

  const std::string& path_;
  const ViewHolder& views_;
  const ManifestState& state_;
  bool is_bounded_;
  Flush flush_;  // null in the first pass
  std::shared_ptr<const View> view_;  // during a pass: the current one
  std::map<std::uint32_t, WriteTarget> batch_;  // the part of the batch for each family
  SequenceNumber applied_ = 0;                  // the last operation of the last batch that was applied
  bool has_stopped_ = false;
  std::uint64_t logged_bytes_ = 0;
};

}  // namespace cambium
