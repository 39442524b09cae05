#include "api/log_applier.h"

#include <cassert>
#include <utility>

#include "util/mutant.h"

namespace cambium {
namespace {

// True if the layers have the operation already.
bool IsFlushed(const ReplayedOp& op, const FamilyState& stored) {
  return op.sequence <= stored.flushed_sequence && !MutantIs(Mutant::kReplayFlushed);
}

// True if the memtable holds as much as a writer may have in all memtables of the family. A log seldom has more than
// that if the options are those with which it was written.
bool IsFull(const LogTable& table, const ColumnFamilyOptions& options) {
  const auto buffers = static_cast<std::size_t>(options.max_write_buffer_number);
  return table.memory_bytes() >= options.write_buffer_size * buffers ||
         table.range_delete_count() >= kTableRangesMax * buffers;
}

}  // namespace

void LogApplier::GoOn(Flush flush) {
  assert(has_stopped_ && flush != nullptr && view_ == nullptr);
  has_stopped_ = false;
  flush_ = std::move(flush);
}

Status LogApplier::Take(const std::vector<ReplayedOp>& ops) {
  assert(!ops.empty());
  if (view_ == nullptr) view_ = views_.Pin();
  batch_.clear();
  for (const ReplayedOp& op : ops) CAMBIUM_RETURN_IF_ERROR(Measure(op));
  if (has_stopped_ || ops.front().sequence <= applied_) return Status::OK();
  if (!FullOnes().empty()) {
    if (flush_ == nullptr) {
      has_stopped_ = true;
      return Status::OK();
    }
    CAMBIUM_RETURN_IF_ERROR(MakeRoom({ops.front().batch_begin, ops.front().sequence - 1}));
  }
  return Add(ops);
}

// Adds the operation to the memory that the memtable of its family must reserve. Corruption if the operation is not
// valid.
Status LogApplier::Measure(const ReplayedOp& op) {
  const auto stored = state_.families.find(op.family);
  if (stored == state_.families.end() && op.family >= state_.next_family_id) {
    return Status::Corruption(path_ + ": the log has an operation of column family " + std::to_string(op.family) +
                              ", which was never created");
  }
  if (stored == state_.families.end()) return Status::OK();  // dropped since
  const FamilyView* const found = view_->Find(op.family);
  if (found == nullptr) return Status::OK();  // a read-only Open did not name the family
  if (IsFlushed(op, stored->second)) return Status::OK();
  WriteTarget& target = batch_[op.family];
  target.family = found->family.get();
  ++(op.is_range ? target.ranges : target.operations);
  target.bytes += op.key.size() + op.entry.inline_value.size() + op.range_end.size();
  // The checksums are valid, but this library never writes such a record.
  if (op.is_range && target.family->options().comparator->Compare(op.key, op.range_end) >= 0) {
    return Status::Corruption(path_ + ": operation " + std::to_string(op.sequence) +
                              " of the log is a range delete that ends where it begins, or before");
  }
  return Status::OK();
}

// The families that get a part of the batch and have no room for it.
std::vector<std::shared_ptr<Family>> LogApplier::FullOnes() const {
  std::vector<std::shared_ptr<Family>> full;
  if (!is_bounded_ || MutantIs(Mutant::kReplayAllInMemory)) return full;
  for (const auto& [id, target] : batch_) {
    const FamilyView& each = *view_->Find(id);
    if (IsFull(*each.active, each.family->options())) full.push_back(each.family);
  }
  return full;
}

Status LogApplier::MakeRoom(const LogPlace& end) {
  const std::vector<std::shared_ptr<Family>> full = FullOnes();
  view_ = nullptr;  // it holds the memtables that are flushed
  const Status flushed = flush_(full, end);
  view_ = views_.Pin();
  if (flushed.severity() == Status::Severity::kFatal) return flushed;
  if (!flushed.ok()) is_bounded_ = false;
  return Status::OK();
}

Status LogApplier::Add(const std::vector<ReplayedOp>& ops) {
  assert(!has_stopped_ && ops.front().sequence > applied_);
  for (const auto& [id, target] : batch_) {
    LogTable& table = *view_->Find(id)->active;
    CAMBIUM_RETURN_IF_ERROR(table.Reserve(target.operations, target.bytes, target.ranges));
    if (!table.started()) table.StartAt({ops.front().batch_begin, ops.front().sequence - 1}, logged_bytes_);
  }
  for (const ReplayedOp& op : ops) {
    logged_bytes_ += op.log_bytes;
    if (op.entry.kind == EntryKind::kLargeValue) logged_bytes_ += op.entry.address.size();
    if (!batch_.contains(op.family) || IsFlushed(op, state_.families.at(op.family))) continue;
    LogTable& table = *view_->Find(op.family)->active;
    if (!op.is_range) {
      table.Add(op.sequence, op.key, op.entry);
    } else if (!MutantIs(Mutant::kReplayWithoutRanges)) {
      table.AddRange(op.sequence, op.key, op.range_end);
    }
  }
  applied_ = ops.back().sequence;
  return Status::OK();
}

}  // namespace cambium
