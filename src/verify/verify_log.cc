// Verifies the log: records and footers of segments, and the tail that Open replays.
#include <algorithm>
#include <cassert>
#include <map>

#include "recovery/log_replay.h"
#include "verify/verifier.h"
#include "vlog/segment_footer.h"
#include "vlog/segment_scanner.h"

namespace cambium {

Status Verifier::CheckSegments() {
  for (const auto& [number, info] : state_.segments) {
    const std::shared_ptr<Segment>& segment = segments_.Find(info.slot);
    if (segment == nullptr || info.kind == SegmentKind::kLargeValue) continue;
    if (info.sealed || number == state_.replay.segment) CAMBIUM_RETURN_IF_ERROR(Found(CheckSegment(info, *segment)));
  }
  return Status::OK();
}

// Checks the footer of a sealed segment, and with `deep` every record. Only log GC reads the footer. If the footer is
// damaged, log GC walks the records instead; then all of them must be whole, dead ones too.
Status Verifier::CheckSegment(const SegmentInfo& info, const Segment& segment) {
  std::map<std::uint64_t, std::uint64_t> listed;  // offset -> size
  Status footer = Status::NotFound();
  if (info.has_footer) {
    footer = ReadSegmentFooter(segment.file(), segment.seed(), kFileHeaderSize, info.sealed_length, info.file_size,
                               [&](const FooterEntry& entry) {
                                 if (verify_.deep && entry.offset >= info.cut) listed[entry.offset] = entry.size;
                                 return Status::OK();
                               });
    if (!footer.IsCorruption()) CAMBIUM_RETURN_IF_ERROR(footer);
    CountRead(info.file_size - info.sealed_length);
  }
  if (footer.IsCorruption()) {
    listed.clear();
    CAMBIUM_RETURN_IF_ERROR(FoundDead(footer));
  }
  return verify_.deep ? WalkSegment(info, segment, std::move(listed), footer) : Status::OK();
}

Status Verifier::WalkSegment(const SegmentInfo& info, const Segment& segment,
                             std::map<std::uint64_t, std::uint64_t> listed, const Status& footer) {
  // CheckTail checks the records after the replay position.
  std::uint64_t end = info.sealed ? info.sealed_length : state_.replay.offset;
  if (info.kind == SegmentKind::kLog && info.number >= state_.replay.segment) {
    if (info.number > state_.replay.segment) return Status::OK();
    end = std::min(end, state_.replay.offset);
    listed.erase(listed.lower_bound(end), listed.end());
  }
  for (std::uint64_t start = info.FirstRecord(); start < end;) {
    SegmentScanner scanner(segment.file(), segment.seed(), start, end, nullptr);
    scanner.SetHoles(info.punched);
    scanner.LeaveOutLongValues();
    ScannedRecord record;
    ScanResult found{};
    while (true) {
      CAMBIUM_TRY(found, scanner.Next(&record));
      if (found != ScanResult::kRecord) break;
      ++report_->records;
      CountRead(record.header.RecordSize());
      const auto entry = listed.find(record.offset);
      if (entry != listed.end() && entry->second == record.header.RecordSize()) listed.erase(entry);
    }
    if (found == ScanResult::kEnd && scanner.offset() == end) break;
    const std::uint64_t at = scanner.offset();
    const Status damage = Status::Corruption(segment.path() + ":" + std::to_string(at) + ": " +
                                             (found == ScanResult::kEnd ? "the log ends early" : scanner.reason()));
    if (!footer.ok() && IsReferredTo(info.slot)) {
      Problem(std::string(damage.message()) + "; without a footer log GC needs every record of the segment");
      return Status::OK();
    }
    if (!reported_.contains({info.slot, at})) CAMBIUM_RETURN_IF_ERROR(FoundDead(damage));
    if (!footer.ok()) return Status::OK();
    // The footer says where the next separated record begins.
    listed.erase(listed.begin(), listed.upper_bound(at));
    if (listed.empty()) return Status::OK();
    assert(listed.begin()->first > at);
    start = listed.begin()->first;
  }
  if (!listed.empty()) Problem(segment.path() + ": the footer lists records that are not there");
  return Status::OK();
}

bool Verifier::IsReferredTo(Slot slot) const {
  return std::ranges::any_of(state_.families,
                             [slot](const auto& family) { return family.second.accounts.contains(slot); });
}

// Whether a value of the tail can be decompressed: replay has checked only its record. Its damage counts only if no
// later operation replaces it, so the caller checks it again.
bool Verifier::CanBeRead(const ReplayedOp& op) {
  if (!verify_.deep || op.entry.kind != EntryKind::kValue) return true;
  return unread_slots_.contains(op.entry.address.slot()) ||
         CheckValue({op.entry.address, op.family, op.key, true, nullptr}).ok();
}

// Replay checks the records. It does not read large values, so check them afterwards.
Status Verifier::CheckTail() {
  ReplayRequest request;
  request.fs = &fs_;
  request.directory = path_;
  request.state = &state_;
  request.mode = options_.wal_recovery_mode;
  // Large values, and values that cannot be read, which no later operation has overwritten or deleted; by family.
  struct KeyLess {
    const Comparator* order;
    bool operator()(const std::string& a, const std::string& b) const { return order->Compare(a, b) < 0; }
  };
  std::map<std::uint32_t, std::map<std::string, ValueAddress, KeyLess>> large;
  const auto replayed = ReplayLog(request, [&](const std::vector<ReplayedOp>& ops) {
    report_->records += ops.size();
    for (const ReplayedOp& op : ops) {
      if (op.family >= state_.next_family_id) {
        return Status::Corruption(path_ + ": the log has an operation of column family " + std::to_string(op.family) +
                                  ", which was never created");
      }
      const auto family = state_.families.find(op.family);
      if (family == state_.families.end() || op.sequence <= family->second.flushed_sequence) continue;
      auto& values = large.try_emplace(op.family, KeyLess{comparators_.at(op.family)}).first->second;
      if (op.is_range) {
        if (comparators_.at(op.family)->Compare(op.key, op.range_end) >= 0) {
          return Status::Corruption(path_ + ": operation " + std::to_string(op.sequence) +
                                    " of the log is a range delete that ends where it begins, or before");
        }
        values.erase(values.lower_bound(op.key.ToString()), values.lower_bound(op.range_end.ToString()));
      } else if (op.entry.kind == EntryKind::kLargeValue || !CanBeRead(op)) {
        values.insert_or_assign(op.key.ToString(), op.entry.address);
      } else if (!values.empty()) {
        values.erase(op.key.ToString());
      }
    }
    return Status::OK();
  });
  if (!replayed.ok()) return Found(replayed.status());
  CountRead(replayed->bytes_read);
  if (!replayed->torn.empty()) {
    Note((replayed->lost_durable ? "Open gives up synced operations, as kPointInTimeRecovery allows: "
                                 : "the log has a torn tail, as a crash leaves: ") +
         replayed->torn);
  }
  for (const auto& [id, values] : large) {
    const Comparator* const comparator = comparators_.at(id);
    const Comparator* const equal_by = comparator->EqualMeansSameBytes() ? nullptr : comparator;
    for (const auto& [key, address] : values) {
      if (unread_slots_.contains(address.slot())) continue;
      Status s = CheckValue({address, id, key, true, equal_by});
      if (s.IsCorruption()) {
        const std::string& family = state_.families.at(id).name;
        s = s.WithContext("key " + Slice(key).ToString(true).substr(0, 64) + " of family " + family);
      }
      CAMBIUM_RETURN_IF_ERROR(Found(s));
    }
  }
  return Status::OK();
}

}  // namespace cambium
