#include "repair/salvage_tail.h"

#include <algorithm>
#include <cassert>
#include <vector>

#include "recovery/log_replay.h"

namespace cambium {
namespace {

// A batch is held in memory as a whole. Smaller values are read with it, since they take no more memory than the state
// of an operation; larger ones are read one by one.
constexpr std::uint64_t kValuesReadAhead = 256;

class Tail {
 public:
  explicit Tail(Salvage* salvage) : salvage_(*salvage), state_(salvage->state) {}

  Status Run() {
    assert(salvage_.has_manifest && salvage_.out != nullptr);
    salvage_.tail_end = state_.replay_sequence;
    CutBehindLostSegments();
    ReplayRequest request;
    request.fs = &salvage_.fs;
    request.directory = salvage_.path;
    request.state = &state_;
    for (const auto& [id, family] : salvage_.families) {
      request.inline_below[id] = kValuesReadAhead;
    }
    // Batches before the damage are applied even if the replay ends with an error.
    Status written;
    const Result<ReplayResult> replayed = ReplayLog(request, [&](const std::vector<ReplayedOp>& ops) {
      written = Apply(ops);
      return written;
    });
    CAMBIUM_RETURN_IF_ERROR(written);
    if (replayed.ok()) {
      salvage_.tail_end = std::max(salvage_.tail_end, replayed->last_sequence);
    } else if (EndsSalvage(replayed.status())) {
      return replayed.status();
    } else {
      if (!salvage_.is_tail_damaged) salvage_.ReportLost({"", {}, {}, {}, 0, replayed.status().ToString()});
      salvage_.is_tail_damaged = true;
    }
    if (salvage_.is_tail_damaged) salvage_.report->newest_known = salvage_.tail_end;
    for (auto& [id, ranges] : ranges_) {
      if (ranges.empty()) continue;
      std::vector<RangeDeletes::Range> all;
      for (const auto& [begin, end] : ranges) all.push_back({begin, end});
      SalvagedFamily& family = salvage_.families.at(id);
      family.ranges.push_back({std::make_shared<const RangeDeletes>(family.order, all), std::nullopt, 0});
    }
    return Status::OK();
  }

 private:
  // ReplayLog applies nothing if it cannot open a segment. So the first missing or damaged segment is dropped, and all
  // later ones with it; those before it can be replayed. Flushed segments are dropped too, since the layers have their
  // operations.
  void CutBehindLostSegments() {
    std::erase_if(state_.segments, [&](const auto& each) {
      return each.second.kind == SegmentKind::kLog && each.first < state_.replay.segment;
    });
    for (const auto& [number, info] : state_.segments) {
      if (info.kind != SegmentKind::kLog) continue;
      const FoundFile* const found = FindFile(&salvage_.files, FileKind::kLog, number);
      Status flaw = found == nullptr
                        ? Status::Corruption(FilePath(salvage_.path, FileKind::kLog, number) + ": is missing")
                        : found->flaw;
      if (flaw.ok() && (found->header.file_id != info.file_id || found->header.database_id != state_.database_id)) {
        flaw = Status::Corruption(found->path + ":0: is not the file that the MANIFEST names: its ids differ");
      }
      if (flaw.ok()) continue;
      salvage_.is_tail_damaged = true;
      salvage_.ReportLost({"", {}, {}, {}, 0, flaw.ToString()});
      const std::uint64_t first = number;
      std::erase_if(state_.segments,
                    [&](const auto& each) { return each.second.kind == SegmentKind::kLog && each.first >= first; });
      return;
    }
  }

  Status Apply(const std::vector<ReplayedOp>& ops) {
    for (const ReplayedOp& op : ops) {
      salvage_.tail_end = std::max(salvage_.tail_end, op.sequence);
      salvage_.Advance(op.log_bytes);
      const auto family = salvage_.families.find(op.family);
      if (family == salvage_.families.end() || op.sequence <= family->second.flushed_sequence) continue;
      CAMBIUM_RETURN_IF_ERROR(ApplyOne(op, &family->second));
    }
    return Status::OK();
  }

  Status ApplyOne(const ReplayedOp& op, SalvagedFamily* family) {
    Note note;
    if (op.is_range) {
      if (family->order->Compare(op.key, op.range_end) >= 0) return Status::OK();
      ranges_[op.family].emplace_back(op.key.ToString(), op.range_end.ToString());
      return salvage_.out->DeleteRange(op.family, op.key, op.range_end);
    }
    Slice value = op.entry.inline_value;
    SequenceNumber sequence = 0;
    Status read;
    if (op.entry.HasAddress()) read = salvage_.ReadAt(op.family, op.key, op.entry.address, &value, &sequence);
    if (op.entry.kind == EntryKind::kTombstone || !read.ok()) {
      CAMBIUM_RETURN_IF_ERROR(salvage_.out->Delete(op.family, op.key));
      note.verdict = read.ok() ? Note::Verdict::kDeleted : Note::Verdict::kLost;
      if (!read.ok()) {
        family->has_lost_values = true;
        salvage_.ReportLost(*family, op.key, read.ToString());
      }
    } else {
      CAMBIUM_RETURN_IF_ERROR(salvage_.out->Put(op.family, op.key, value));
      note.verdict = Note::Verdict::kValue;
    }
    return salvage_.out->SetNote(op.family, op.key, note);
  }

  Salvage& salvage_;
  ManifestState state_;  // the state to be replayed
  std::map<std::uint32_t, std::vector<std::pair<std::string, std::string>>> ranges_;
};

}  // namespace

Status SalvageTail(Salvage* salvage) { return Tail(salvage).Run(); }

}  // namespace cambium
