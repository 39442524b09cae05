#include "recovery/log_replay.h"

#include <algorithm>
#include <cassert>
#include <memory>
#include <optional>

#include "cambium/db.h"
#include "io/file_header.h"
#include "manifest/file_names.h"
#include "recovery/log_source.h"
#include "util/coding.h"
#include "util/compressed_size.h"
#include "util/mutant.h"
#include "vlog/segment_scanner.h"
#include "vlog/value_reader.h"

namespace cambium {
namespace {

constexpr std::size_t kReadsAhead = 4;

class Replay {
 public:
  Replay(const ReplayRequest& request, const std::function<Status(const std::vector<ReplayedOp>&)>& apply)
      : request_(request), state_(*request.state), apply_(apply) {}

  Result<ReplayResult> Run() {
    CAMBIUM_RETURN_IF_ERROR(OpenSources());
    result_.last_sequence = state_.replay_sequence;
    result_.end = state_.replay;
    queue_ = request_.fs->NewReadQueue(kReadsAhead, request_.use_io_uring);
    for (std::size_t i = 0; i < sources_.size() && !ended_; ++i) {
      CAMBIUM_RETURN_IF_ERROR(ReplaySegment(i));
      sources_[i].file.reset();
    }
    assert(result_.end >= state_.replay);
    if (!ended_) CAMBIUM_RETURN_IF_ERROR(CheckWholeEnd());
    result_.proven_durable = std::max(result_.proven_durable, state_.durable_sequence);
    return std::move(result_);
  }

 private:
  Status OpenSources() {
    // Begin with unsealed segments before the replay position. Each has to be sealed, and the first record of the next
    // segment says where its log ends.
    std::uint64_t from = state_.replay.segment;
    for (const auto& [number, info] : state_.segments) {
      if (info.kind == SegmentKind::kLog && !info.sealed) from = std::min(from, number);
    }
    for (const auto& [number, info] : state_.segments) {
      if (info.kind != SegmentKind::kLog || number < from) continue;
      CAMBIUM_TRY(std::optional<LogSource> source, OpenLogSource(request_, info));
      if (source.has_value()) sources_.push_back(std::move(*source));
    }
    return Status::OK();
  }

  // Returns the end of the log in sources_[i] if its seal, its footer, or the link of the segment after it says where
  // it is.
  [[nodiscard]] std::optional<std::uint64_t> KnownEnd(std::size_t i) const {
    const LogSource& source = sources_[i];
    if (source.info.sealed) return source.info.sealed_length;
    if (MutantIs(Mutant::kIgnoreChain)) return std::nullopt;
    for (std::size_t j = i + 1; j < sources_.size(); ++j) {
      if (sources_[j].link.has_value() && sources_[j].link->number == source.info.number) return sources_[j].link->length;
    }
    return source.footer;
  }

  // How far a segment's records are applied.
  struct Applied {
    std::uint64_t end = 0;    // of the last applied record
    std::uint64_t limit = 0;  // the end of the log in the segment, or of its file
    bool has_records = false;
  };

  Status ReplaySegment(std::size_t i) {
    const LogSource& source = sources_[i];
    const bool first = source.info.number == state_.replay.segment && state_.replay.offset > kFileHeaderSize;
    const std::uint64_t start = first ? state_.replay.offset : kFileHeaderSize;
    const std::optional<std::uint64_t> known_end = KnownEnd(i);
    const std::uint64_t limit = known_end.value_or(source.size);
    if (source.info.sealed && limit <= kFileHeaderSize) return Status::OK();  // its first write failed
    if (source.info.number < state_.replay.segment) return AdoptFlushed(source, i, limit);
    if (!first && !source.link.has_value() && !source.info.sealed && limit <= kFileHeaderSize) {
      result_.rejected.push_back(source.info.number);  // a spare segment that was never used
      return Status::OK();
    }
    if (start > limit) {
      return Lost(source, limit, "the log ends before the replay position");
    }
    const bool linked_ok = first || limit == kFileHeaderSize || ChainHolds(source);
    if (!linked_ok) {
      // Nothing in the segment counts. Reject it, so that the next replay does not read it.
      Cut(source, kFileHeaderSize, false);
      return End(i, kFileHeaderSize, "the segment does not continue the one before it", nullptr);
    }

    if (!first) FollowGap(source);
    if (MutantIs(Mutant::kIgnoreChain)) expected_skip_ = true;

    // The records before `start` are flushed, and the segment remains in the log.
    Applied applied{.end = start, .limit = limit, .has_records = first};
    CAMBIUM_RETURN_IF_ERROR(ReplayRecords(i, known_end.has_value(), &applied));
    if (ended_) return Status::OK();
    result_.bytes_read += applied.limit - start;
    Adopt(source, std::max(applied.end, start), applied.has_records);
    return Status::OK();
  }

  // Applies the records of sources_[i] from `applied->end` to the end of its log. At a record that cannot be applied,
  // ends the whole log.
  Status ReplayRecords(std::size_t i, bool is_end_known, Applied* applied) {
    const LogSource& source = sources_[i];
    SegmentScanner scanner(*source.file, source.seed, applied->end, applied->limit, queue_.get());
    batch_.clear();
    while (true) {
      ScannedRecord record;
      CAMBIUM_TRY(ScanResult found, scanner.Next(&record));
      const bool may_end_here = !is_end_known || MutantIs(Mutant::kZerosEndAnySegment);
      if (found == ScanResult::kInvalid && may_end_here) {
        // The file may have been extended ahead of the log: if only zeros follow, the log ends here. Zeros before a
        // known end are damage.
        CAMBIUM_TRY(const bool is_end, scanner.OnlyZerosAhead());
        if (is_end) {
          applied->limit = scanner.offset();
          found = ScanResult::kEnd;
        }
      }
      if (found == ScanResult::kEnd) return TakeEnd(i, scanner.offset(), applied);
      if (found == ScanResult::kInvalid) return TakeDamage(i, &scanner, applied);
      std::string problem;
      CAMBIUM_RETURN_IF_ERROR(TakeRecord(source, record, applied, &problem));
      if (problem.empty()) continue;
      Cut(source, applied->end, applied->has_records);
      return End(i, record.offset, problem, &scanner);
    }
  }

  // The scanner has reached the end of a segment's log, at `offset`. Ends the whole log if the last batch is not whole,
  // or if the file is shorter than its log.
  Status TakeEnd(std::size_t i, std::uint64_t offset, Applied* applied) {
    const LogSource& source = sources_[i];
    CAMBIUM_RETURN_IF_ERROR(ApplyHalfBatch(offset, applied));
    if (!batch_.empty()) {
      Cut(source, applied->end, applied->has_records);
      return End(i, applied->end, "the last batch is not whole", nullptr);
    }
    if (offset >= applied->limit) return Status::OK();
    Cut(source, applied->end, applied->has_records);
    return End(i, offset, "the file is shorter than its log", nullptr);
  }

  // Ends the whole log at a record that does not validate.
  Status TakeDamage(std::size_t i, SegmentScanner* scanner, Applied* applied) {
    const LogSource& source = sources_[i];
    CAMBIUM_TRY(const bool is_skipped, SkipBadRecord(source, *scanner, applied));
    if (is_skipped) return Status::OK();
    CAMBIUM_RETURN_IF_ERROR(ApplyHalfBatch(scanner->offset(), applied));
    Cut(source, applied->end, applied->has_records);
    return End(i, scanner->offset(), scanner->reason(), scanner);
  }

  // Takes a record that validates. If it is the last one of its batch, applies the batch. Sets *problem if the record
  // cannot follow those read so far.
  Status TakeRecord(const LogSource& source, const ScannedRecord& record, Applied* applied, std::string* problem) {
    result_.proven_durable = std::max(result_.proven_durable, record.header.DurableSequence());
    if (IsControl(record.header.op)) {
      applied->has_records = true;
      if (batch_.empty()) applied->end = record.end();
      return Status::OK();
    }
    CAMBIUM_RETURN_IF_ERROR(AddToBatch(source, record, problem));
    if (!problem->empty() || (record.header.marks & kLastOfBatch) == 0) return Status::OK();
    CAMBIUM_RETURN_IF_ERROR(ApplyBatch());
    applied->end = record.end();
    applied->has_records = true;
    result_.end = {source.info.number, applied->end};
    return Status::OK();
  }

  // Adopts a segment whose records are all flushed.
  Status AdoptFlushed(const LogSource& source, std::size_t i, std::uint64_t limit) {
    if (source.info.sealed) {
      Adopt(source, limit, true);
      return Status::OK();
    }
    if (!source.link.has_value() && source.size <= kFileHeaderSize && limit <= kFileHeaderSize) {
      result_.rejected.push_back(source.info.number);
      return Status::OK();
    }
    for (std::size_t j = i + 1; j < sources_.size(); ++j) {
      const auto& link = sources_[j].link;
      if (!link.has_value() || link->number != source.info.number) continue;
      if (source.size < limit) return Lost(source, source.size, "the file is shorter than its log");
      AddAdopted({source.info.number, link->length, link->last_sequence});
      return Status::OK();
    }
    return Lost(source, source.size, "the segment is flushed and not sealed, and no later segment says where it ends");
  }

  // Only in a mutant: applies a batch that lacks records. `end`: of its last record.
  Status ApplyHalfBatch(std::uint64_t end, Applied* applied) {
    if (!MutantIs(Mutant::kApplyHalfBatch) || batch_.empty()) return Status::OK();
    CAMBIUM_RETURN_IF_ERROR(ApplyBatch());
    applied->end = end;
    applied->has_records = true;
    return Status::OK();
  }

  // Only in a mutant: passes the damaged record that `damaged` is at, and applies the records after it. False: it does
  // not, because the record's size is unknown or no record follows.
  Result<bool> SkipBadRecord(const LogSource& source, const SegmentScanner& damaged, Applied* applied) {
    if (!MutantIs(Mutant::kSkipBadRecord) || !damaged.header_valid()) return false;
    const std::uint64_t next = damaged.offset() + damaged.header().RecordSize();
    if (next >= applied->limit) return false;
    expected_skip_ = true;
    batch_.clear();
    SegmentScanner scanner(*source.file, source.seed, next, applied->limit, nullptr);
    ScannedRecord record;
    while (true) {
      CAMBIUM_TRY(const ScanResult found, scanner.Next(&record));
      if (found != ScanResult::kRecord) break;
      if (IsControl(record.header.op)) continue;
      std::string problem;
      CAMBIUM_RETURN_IF_ERROR(AddToBatch(source, record, &problem));
      if ((record.header.marks & kLastOfBatch) != 0 && !batch_.empty()) {
        CAMBIUM_RETURN_IF_ERROR(ApplyBatch());
        applied->end = record.end();
        applied->has_records = true;
      }
    }
    return true;
  }

  [[nodiscard]] bool ChainHolds(const LogSource& source) const {
    if (MutantIs(Mutant::kIgnoreChain)) return true;
    if (!source.link.has_value()) return false;
    const SegmentLink& link = *source.link;
    if (link.last_sequence != source.link_sequence) return false;
    if (!last_adopted_.has_value()) {
      // The segment before this one is flushed and dropped, or this is the first segment of the database.
      return link.last_sequence <= result_.last_sequence;
    }
    const bool follows = started_ ? link.last_sequence >= LastSequence() : true;
    return follows && link.number == last_adopted_->number && link.length == last_adopted_->length;
  }

  // Adds a record to its batch. Sets *problem if the record cannot follow those read so far.
  Status AddToBatch(const LogSource& source, const ScannedRecord& record, std::string* problem) {
    const RecordHeader& header = record.header;
    const bool continues = batch_.empty()
                               ? header.batch_index == 0
                               : header.batch_index == batch_.size() && header.sequence == next_sequence_;
    const bool follows =
        started_ ? header.sequence == next_sequence_ : header.sequence <= result_.last_sequence + 1;
    if (!continues || header.sequence == 0 || (!follows && !expected_skip_)) {
      *problem = "record has sequence number " + std::to_string(header.sequence) + " where " +
                 std::to_string(started_ ? next_sequence_ : result_.last_sequence + 1) + " was expected";
      return Status::OK();
    }
    Pending op;
    op.sequence = header.sequence;
    op.family = header.family;
    op.key = record.key.ToString();
    op.log_bytes = header.RecordSize();
    op.batch_begin = batch_.empty() ? LogPosition{source.info.number, record.offset} : batch_.front().batch_begin;
    // If the operation is flushed or its family is dropped, the file of its large value may be removed already.
    const auto family = state_.families.find(header.family);
    const bool is_past = family == state_.families.end() ? header.family < state_.next_family_id
                                                         : header.sequence <= family->second.flushed_sequence;
    switch (is_past && header.op == RecordOp::kPutLarge ? RecordOp::kDelete : header.op) {
      case RecordOp::kDelete: op.entry = Entry::Tombstone(); break;
      case RecordOp::kDeleteRange:
        op.is_range = true;
        op.value = record.stored_value.ToString();
        break;
      case RecordOp::kPutLarge: {
        CAMBIUM_TRY(op.entry, LargeValue(source, record, problem));
        if (!problem->empty()) return Status::OK();
        break;
      }
      default:
        // The checksum is right, but this library never writes such a record; no address could lead to it.
        if (record.offset >= kLogOffsetMax || header.value_size > kLoggedValueSizeMax) {
          return Status::Corruption(source.path + ":" + std::to_string(record.offset) + ": record of " +
                                    std::to_string(header.value_size) + " bytes is too large or too far into its file");
        }
        op.entry = Entry::At(ValueAddress::InLog(source.info.slot, record.offset, header.RecordSize()));
        CAMBIUM_TRY(const std::uint64_t raw_size, RawSize(source, record));
        const auto inline_below = request_.inline_below.find(header.family);
        if (inline_below != request_.inline_below.end() && raw_size < inline_below->second) {
          op.is_inline = true;
          CAMBIUM_RETURN_IF_ERROR(CheckClaim(source, record, raw_size));
          op.value.resize(raw_size);
          CAMBIUM_RETURN_IF_ERROR(RawValue(source, record, &op.value));
        }
    }
    started_ = true;
    expected_skip_ = false;
    next_sequence_ = header.sequence + 1;
    batch_.push_back(std::move(op));
    return Status::OK();
  }

  static Result<std::uint64_t> RawSize(const LogSource& source, const ScannedRecord& record) {
    if (record.header.codec == Codec::kNone) return record.header.value_size;
    Slice stored = record.stored_value;
    std::uint64_t raw_size = 0;
    if (!GetFixed(&stored, &raw_size) || raw_size > kLoggedValueSizeMax) {
      return Status::Corruption(source.path + ":" + std::to_string(record.offset) + ": compressed value has no size");
    }
    return raw_size;
  }

  // Checks the size that a compressed value claims, before memory is taken for the value.
  static Status CheckClaim(const LogSource& source, const ScannedRecord& record, std::uint64_t raw_size) {
    if (record.header.codec == Codec::kNone) return Status::OK();
    Slice stored = record.stored_value;
    std::uint64_t claimed = 0;
    static_cast<void>(GetFixed(&stored, &claimed));
    const Status possible = CheckRawSize(record.header.codec, stored, raw_size);
    return possible.ok() ? possible : possible.WithContext(source.path + ":" + std::to_string(record.offset));
  }

  static Status RawValue(const LogSource& source, const ScannedRecord& record, std::string* value) {
    Slice stored = record.stored_value;
    if (record.header.codec == Codec::kNone) {
      value->assign(stored.data(), stored.size());
      return Status::OK();
    }
    stored.remove_prefix(8);
    return Decompress(record.header.codec, stored, value->data(), value->size())
        .WithContext(source.path + ":" + std::to_string(record.offset));
  }

  // Returns the entry of a large value. Its file was durable before the record that refers to it was written, so a
  // missing or short file is damage: sets *problem.
  Result<Entry> LargeValue(const LogSource& source, const ScannedRecord& record, std::string* problem) {
    LargeValueRef ref;
    if (!DecodeLargeValueRef(record.stored_value, &ref)) {
      *problem = "reference to a large value is malformed";
      return Entry::Tombstone();
    }
    // The MANIFEST named the file before the record was written. It drops the file only after the operation is flushed,
    // or if an earlier recovery has cut the record off its segment.
    const auto found = state_.segments.find(ref.number);
    if (found == state_.segments.end() || found->second.kind != SegmentKind::kLargeValue) {
      *problem = "refers to the large value's file " + std::to_string(ref.number) + ", which the MANIFEST does not name";
      if (MutantIs(Mutant::kUnnamedLargeValueIsTorn)) return Entry::Tombstone();
      return Status::Corruption(source.path + ":" + std::to_string(record.offset) + ": " + *problem +
                                "; the MANIFEST has lost its end");
    }
    if (ref.file_size != found->second.file_size || ref.file_size <= kLargeRecordOffset + kRecordHeaderSize ||
        ref.file_size > kLargeRecordOffset + kRecordHeaderSize + kMaxKeySize + kMaxValueBytes + kRecordAlignment) {
      *problem = "reference to a large value of " + std::to_string(ref.file_size) + " bytes, but its size differs";
      return Entry::Tombstone();
    }
    const std::string path = FilePath(request_.directory, FileKind::kLargeValue, ref.number);
    FileInfo info;
    const Status s = request_.fs->GetInfo(path, &info);
    if (s.IsPathNotFound() || (s.ok() && info.size < ref.file_size)) {
      *problem = "the large value's file " + path + (s.ok() ? " is cut off" : " is missing");
      return Entry::Tombstone();
    }
    CAMBIUM_RETURN_IF_ERROR(s);
    result_.large_values[ref.number] = record.header.family;
    return Entry::At(ValueAddress::OwnFile(found->second.slot, ref.file_size - kLargeRecordOffset));
  }

  Status ApplyBatch() {
    assert(!batch_.empty());
    assert(batch_.front().sequence + batch_.size() == next_sequence_ && "a batch has no gaps");
    ops_.clear();
    for (const Pending& op : batch_) {
      ops_.push_back({op.sequence, op.family, op.key, op.is_inline ? Entry::Inline(op.value) : op.entry, op.log_bytes,
                      op.batch_begin, op.is_range, op.is_range ? Slice(op.value) : Slice()});
    }
    if (next_sequence_ - 1 > result_.last_sequence) result_.last_sequence = next_sequence_ - 1;
    const Status applied = apply_(ops_);
    batch_.clear();
    return applied;
  }

  // Follows a gap in the sequence numbers between two segments. kPointInTimeRecovery leaves one: after a loss it
  // continues above the numbers that durable layers have. ChainHolds has compared number and length of the predecessor,
  // so no segment is missing.
  void FollowGap(const LogSource& source) {
    if (!source.link.has_value() || source.link->last_sequence <= LastSequence()) return;
    if (started_) {
      next_sequence_ = source.link->last_sequence + 1;
    } else {
      result_.last_sequence = source.link->last_sequence;
    }
  }

  void Adopt(const LogSource& source, std::uint64_t length, bool holds_records) {
    if (source.info.sealed) {
      last_adopted_ = ReplayedSegment{source.info.number, source.info.sealed_length, source.info.last_sequence};
      return;
    }
    Cut(source, length, holds_records);
  }
  // Ends a segment early. If recovery continues from here, even a sealed segment gets the new length: the next segment
  // continues the log from that offset, and the next replay must not meet the damage again.
  void Cut(const LogSource& source, std::uint64_t length, bool holds_records) {
    if (!holds_records) {
      result_.rejected.push_back(source.info.number);
      return;
    }
    assert(length >= kFileHeaderSize);
    AddAdopted({source.info.number, length, LastSequence()});
  }
  void AddAdopted(const ReplayedSegment& segment) {
    assert((result_.adopted.empty() || result_.adopted.back().number < segment.number) && "oldest first, each once");
    last_adopted_ = segment;
    result_.adopted.push_back(segment);
  }
  [[nodiscard]] SequenceNumber LastSequence() const {
    assert(!started_ || next_sequence_ > batch_.size());
    return started_ ? next_sequence_ - 1 - batch_.size() : result_.last_sequence;
  }

  // Recovery stops before operation `missing`. Returns Corruption if a family has flushed that operation or a later
  // one: this family and the others together would be a state that never existed.
  Status CheckNoneIsAhead(SequenceNumber missing, const std::string& where) const {
    for (const auto& [id, family] : state_.families) {
      if (family.flushed_sequence < missing || MutantIs(Mutant::kReplayEndsBeforeFlushed)) continue;
      return Status::Corruption(where + "; column family \"" + family.name + "\" holds operations up to " +
                                std::to_string(family.flushed_sequence) + ", so the other families cannot end at " +
                                std::to_string(missing - 1));
    }
    return Status::OK();
  }

  // Checks a log that ended without damage: a file cut off between two records looks the same, but a witness shows it.
  Status CheckWholeEnd() {
    const SequenceNumber witness = std::max(result_.proven_durable, state_.durable_sequence);
    if (witness <= result_.last_sequence || MutantIs(Mutant::kIgnoreDurableWitness)) return Status::OK();
    const std::string where = (sources_.empty() ? request_.directory : sources_.back().path) +
                              ": the log ends with operation " + std::to_string(result_.last_sequence) +
                              "; operations up to " + std::to_string(witness) + " were durable and are missing";
    if (request_.mode != WALRecoveryMode::kPointInTimeRecovery) return Status::Corruption(where);
    CAMBIUM_RETURN_IF_ERROR(CheckNoneIsAhead(result_.last_sequence + 1, where));
    LogLoss(where);
    result_.torn = where;
    result_.lost_durable = true;
    return Status::OK();
  }

  // Ends the log early, at `offset` of sources_[i]: a torn tail, unless a witness says that more was durable.
  Status End(std::size_t i, std::uint64_t offset, const std::string& reason, SegmentScanner* scanner) {
    const LogSource& source = sources_[i];
    assert(!ended_ && "the log ends once");
    ended_ = true;
    const SequenceNumber missing = LastSequence() + 1;
    SequenceNumber witness = std::max(result_.proven_durable, state_.durable_sequence);
    if (scanner != nullptr) {
      CAMBIUM_TRY(const SequenceNumber found, scanner->ProbeForWitness());
      witness = std::max(witness, found);
    } else if (offset < source.size) {
      SegmentScanner probe(*source.file, source.seed, offset, source.size, queue_.get());
      CAMBIUM_TRY(const SequenceNumber found, probe.ProbeForWitness());
      witness = std::max({witness, found, source.link_witness});
    }
    for (std::size_t j = i + 1; j < sources_.size(); ++j) {
      const std::uint64_t limit = sources_[j].info.sealed ? sources_[j].info.sealed_length : sources_[j].size;
      SegmentScanner probe(*sources_[j].file, sources_[j].seed, kFileHeaderSize - kRecordAlignment, limit, queue_.get());
      CAMBIUM_TRY(const SequenceNumber found, probe.ProbeForWitness());
      witness = std::max(witness, found);
    }
    const std::string where = source.path + ":" + std::to_string(offset) + ": " + reason;
    const bool sealed = source.info.sealed || source.footer.has_value();  // the segment was synced first
    const bool lost = (sealed || witness >= missing) && !MutantIs(Mutant::kIgnoreDurableWitness);
    if (lost && request_.mode != WALRecoveryMode::kPointInTimeRecovery) {
      return Status::Corruption(where + "; operations from " + std::to_string(missing) + " to at least " +
                                std::to_string(std::max(witness, missing)) + " were durable and are damaged");
    }
    if (request_.mode == WALRecoveryMode::kAbsoluteConsistency && !sealed) {
      return Status::Corruption(where + "; wal_recovery_mode kAbsoluteConsistency allows no torn tail");
    }
    CAMBIUM_RETURN_IF_ERROR(CheckNoneIsAhead(missing, where));
    if (lost) LogLoss(where + "; synced operations after it are lost");
    result_.torn = where;
    result_.lost_durable = lost;
    for (std::size_t j = i + 1; j < sources_.size(); ++j) result_.rejected.push_back(sources_[j].info.number);
    return Status::OK();
  }

  void LogLoss(const std::string& what) const {
    if (request_.logger == nullptr) return;
    request_.logger->Log(InfoLogLevel::kError, what + ", as kPointInTimeRecovery allows");
  }

  Status Lost(const LogSource& source, std::uint64_t offset, const std::string& reason) const {
    return Status::Corruption(source.path + ":" + std::to_string(offset) + ": " + reason);
  }

  struct Pending {
    SequenceNumber sequence = 0;
    std::uint32_t family = 0;
    std::string key;
    std::string value;  // of an inline entry; the end of a range delete
    bool is_inline = false;
    bool is_range = false;
    Entry entry;
    std::uint64_t log_bytes = 0;
    LogPosition batch_begin;
  };

  const ReplayRequest& request_;
  const ManifestState& state_;
  const std::function<Status(const std::vector<ReplayedOp>&)>& apply_;
  std::unique_ptr<ReadQueue> queue_;
  std::vector<LogSource> sources_;
  std::vector<Pending> batch_;
  std::vector<ReplayedOp> ops_;
  ReplayResult result_;
  std::optional<ReplayedSegment> last_adopted_;
  SequenceNumber next_sequence_ = 0;
  bool started_ = false;        // a data record was read
  bool expected_skip_ = false;  // a mutant skipped records
  bool ended_ = false;
};

}  // namespace

Result<ReplayResult> ReplayLog(const ReplayRequest& request,
                               const std::function<Status(const std::vector<ReplayedOp>&)>& apply) {
  return Replay(request, apply).Run();
}

}  // namespace cambium
