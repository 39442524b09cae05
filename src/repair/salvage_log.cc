#include "repair/salvage_log.h"

#include <algorithm>

#include "vlog/value_reader.h"

namespace cambium {

void LogSalvage::FindSources(std::vector<Source>* logs, std::vector<Source>* moved) const {
  salvage_.segments.ForEach([&](const std::shared_ptr<Segment>& segment) {
    if (segment->kind() == FileKind::kLargeValue) return;
    Source source;
    source.segment = segment;
    const FoundFile* const found = FindFile(&salvage_.files, segment->kind(), segment->number());
    source.size = found->size;
    if (salvage_.has_manifest) {
      const SegmentInfo& info = salvage_.state.segments.at(segment->number());
      source.is_end_known = info.sealed;
      if (info.sealed) source.size = std::min(source.size, info.sealed_length);
    }
    (segment->kind() == FileKind::kLog ? logs : moved)->push_back(std::move(source));
  });
  const auto number = [](const Source& source) { return source.segment->number(); };
  std::ranges::sort(*logs, {}, number);
  std::ranges::sort(*moved, {}, number);
}

// Where a segment ends the link of the next one knows, and which operations it may have. What stands behind that was
// rejected by a recovery: its numbers have been given to others.
void LogSalvage::ReadLinks(std::vector<Source>* logs) {
  for (Source& source : *logs) {
    SegmentScanner scanner(source.segment->file(), source.segment->seed(), kFileHeaderSize, source.size, nullptr);
    ScannedRecord record;
    const Result<ScanResult> first = scanner.Next(&record);
    SegmentLink link;
    if (first.ok() && *first == ScanResult::kRecord && record.header.op == RecordOp::kLink &&
        DecodeSegmentLink(record.stored_value, &link)) {
      source.link = link;
    }
  }
  for (std::size_t i = 0; i < logs->size(); ++i) {
    Source& source = (*logs)[i];
    for (std::size_t j = i + 1; j < logs->size(); ++j) {
      const std::optional<SegmentLink>& link = (*logs)[j].link;
      if (!link.has_value()) continue;
      source.last = std::min(source.last, link->last_sequence);
      if (link->number != source.segment->number()) continue;
      source.size = std::min(source.size, link->length);
      source.is_end_known = true;
    }
  }
}

Status LogSalvage::Read() {
  std::vector<Source> logs;
  std::vector<Source> moved;
  FindSources(&logs, &moved);
  ReadLinks(&logs);
  const bool is_whole = salvage_.has_manifest && !salvage_.is_tail_damaged;
  if (is_whole) {
    for (Source& source : logs) source.last = std::min(source.last, salvage_.tail_end);
    last_ = salvage_.tail_end;
  } else if (salvage_.has_state) {
    last_ = std::max({salvage_.state.last_sequence, salvage_.state.durable_sequence, salvage_.state.replay_sequence});
  }
  for (const Source& source : logs) CAMBIUM_RETURN_IF_ERROR(ReadSegment(source, true));
  for (const Source& source : moved) CAMBIUM_RETURN_IF_ERROR(ReadSegment(source, false));
  // A batch of which the end never came was never committed.
  if (!newest_is_last_ && newest_ == last_) last_ = newest_begin_ - 1;
  return Status::OK();
}

Status LogSalvage::ReadSegment(const Source& source, bool is_log) {
  const Segment& segment = *source.segment;
  SegmentScanner scanner(segment.file(), segment.seed(), kFileHeaderSize, source.size, nullptr);
  scanner.SetHoles(segment.holes());
  ScannedRecord record;
  std::uint64_t told = 0;
  while (true) {
    const Result<ScanResult> found = scanner.Next(&record);
    if (!found.ok() && found.status().IsNotSupported()) return found.status();
    if (!found.ok()) {
      // The device does not give it: neither this nor, with this reader, what stands behind.
      salvage_.TellLost({"", {}, {}, {}, 0, found.status().ToString()});
      return Status::OK();
    }
    salvage_.Advance(scanner.offset() - std::min(told, scanner.offset()));
    told = scanner.offset();
    if (*found == ScanResult::kEnd) return Status::OK();
    if (*found == ScanResult::kRecord) {
      if (!segment.HasHole(record.offset)) CAMBIUM_RETURN_IF_ERROR(TakeRecord(source, record, is_log));
      continue;
    }
    if (scanner.header_valid() && is_log && scanner.header().sequence <= source.last) {
      last_ = std::max(last_, scanner.header().sequence);
    }
    if (!source.is_end_known) {
      const Result<bool> is_end = scanner.OnlyZerosAhead();
      if (is_end.ok() && *is_end) return Status::OK();
    }
    const std::string where = segment.path() + ":" + std::to_string(scanner.offset());
    std::string why = scanner.reason();
    if (scanner.header_valid()) why += ", of operation " + std::to_string(scanner.header().sequence);
    const Result<bool> goes_on = scanner.SkipDamage();
    if (!salvage_.has_manifest) {
      salvage_.TellLost({"",
                         {},
                         {},
                         {},
                         0,
                         where + ": " + why + "; nothing is whole before offset " + std::to_string(scanner.offset())});
    }
    if (!goes_on.ok() || !*goes_on) return Status::OK();
  }
}

Status LogSalvage::TakeRecord(const Source& source, const ScannedRecord& record, bool is_log) {
  const RecordHeader& header = record.header;
  const bool is_whole = salvage_.has_manifest && !salvage_.is_tail_damaged;
  if (!is_whole && is_log) last_ = std::max(last_, header.DurableSequence());
  if (IsControl(header.op)) return Status::OK();
  if (is_log) {
    if (header.sequence > source.last) return Status::OK();
    cover_.Add(header.sequence);
    last_ = std::max(last_, header.sequence);
    if (header.sequence >= newest_) {
      newest_ = header.sequence;
      newest_begin_ = header.sequence - std::min<SequenceNumber>(header.batch_index, header.sequence - 1);
      newest_is_last_ = (header.marks & kLastOfBatch) != 0;
    }
  }
  if (!salvage_.families.contains(header.family)) {
    // A dropped one's: ids are never given again.
    const bool is_dropped = salvage_.has_state && header.family < salvage_.state.next_family_id;
    if (salvage_.has_manifest || is_dropped || header.family >= kMaxFamilies) return Status::OK();
    CAMBIUM_RETURN_IF_ERROR(EnsureFamily(header.family));
  }
  if (header.op == RecordOp::kDeleteRange) {
    ranges_[header.family].push_back({header.sequence, record.key.ToString(), record.stored_value.ToString()});
    return Status::OK();
  }
  return TakeKey(source, record);
}

Status LogSalvage::EnsureFamily(std::uint32_t id) {
  const std::string name = "salvaged-" + std::to_string(id);
  const ColumnFamilyOptions options = salvage_.OptionsOf(name);
  CAMBIUM_RETURN_IF_ERROR(salvage_.out->AddFamily(id, name, options));
  salvage_.families.emplace(id, SalvagedFamily(name, options.comparator));
  return Status::OK();
}

ValueAddress LogSalvage::AddressOf(const Source& source, const ScannedRecord& record) const {
  if (record.header.op == RecordOp::kPut) {
    return record.offset < kLogOffsetMax
               ? ValueAddress::InLog(source.segment->slot(), record.offset, record.header.RecordSize())
               : ValueAddress();
  }
  LargeValueRef ref;
  if (record.header.op != RecordOp::kPutLarge || !DecodeLargeValueRef(record.stored_value, &ref)) return {};
  const auto slot = salvage_.slots.find(ref.number);
  if (slot == salvage_.slots.end() || ref.file_size <= kLargeRecordOffset + kRecordHeaderSize ||
      ref.file_size > kLargeRecordOffset + kRecordHeaderSize + kMaxKeySize + kMaxValueBytes + kRecordAlignment) {
    return {};
  }
  return ValueAddress::OwnFile(slot->second, ref.file_size - kLargeRecordOffset);
}

bool LogSalvage::IsBeyond(const SalvagedFamily& family, SequenceNumber sequence) const {
  return sequence > salvage_.tail_end && sequence > family.flushed_sequence;
}

Result<bool> LogSalvage::IsOfInterest(std::uint32_t id, Slice key, SequenceNumber sequence,
                                      const std::optional<Note>& note) const {
  const SalvagedFamily& family = salvage_.families.at(id);
  if (!salvage_.has_manifest || IsBeyond(family, sequence)) return true;
  if (note.has_value()) {
    return note->verdict != Note::Verdict::kValue && note->verdict != Note::Verdict::kDeleted;
  }
  if (!family.IsInDoubt(key) || family.IsDeleted(key)) return false;
  CAMBIUM_TRY(const bool is_there, salvage_.out->Has(id, key));
  return !is_there;
}

Status LogSalvage::TakeKey(const Source& source, const ScannedRecord& record) {
  const RecordHeader& header = record.header;
  const SalvagedFamily& family = salvage_.families.at(header.family);
  // Most keys of a database of which little is lost: no note needs to be looked for.
  const bool may_be = !salvage_.has_manifest || IsBeyond(family, header.sequence) || family.has_lost_values ||
                      family.IsInDoubt(record.key);
  if (!may_be) return Status::OK();
  CAMBIUM_TRY(std::optional<Note> note, salvage_.out->FindNote(header.family, record.key));
  CAMBIUM_TRY(const bool is_wanted, IsOfInterest(header.family, record.key, header.sequence, note));
  if (!is_wanted || (note.has_value() && note->record_sequence >= header.sequence)) return Status::OK();
  if (!note.has_value()) note.emplace();
  note->record_sequence = header.sequence;
  note->batch_index = header.batch_index;
  note->op = header.op;
  note->record_address = AddressOf(source, record);
  return salvage_.out->SetNote(header.family, record.key, *note);
}

// ---- What it comes to ----

Status LogSalvage::ApplyRangesBeyond() {
  if (!salvage_.has_manifest || !salvage_.is_tail_damaged) return Status::OK();
  for (const auto& [id, ranges] : ranges_) {
    const SalvagedFamily& family = salvage_.families.at(id);
    for (const RangeDelete& range : ranges) {
      if (!IsBeyond(family, range.sequence) || family.order->Compare(range.begin, range.end) >= 0) continue;
      CAMBIUM_RETURN_IF_ERROR(salvage_.out->DeleteRange(id, range.begin, range.end));
    }
  }
  return Status::OK();
}

Status LogSalvage::Decide() {
  CAMBIUM_RETURN_IF_ERROR(ApplyRangesBeyond());
  for (const auto& [id, family] : salvage_.families) {
    CAMBIUM_RETURN_IF_ERROR(
        salvage_.out->ForEachNote(id, [&, id = id](Slice key, const Note& note) { return DecideOne(id, key, note); }));
  }
  return Status::OK();
}

bool LogSalvage::IsProven(const Candidate& candidate) const {
  return candidate.sequence != 0 && candidate.sequence <= last_ && cover_.Covers(candidate.batch_begin, last_);
}

bool LogSalvage::IsDeletedBehind(std::uint32_t id, Slice key, SequenceNumber sequence) const {
  const auto ranges = ranges_.find(id);
  if (ranges == ranges_.end()) return false;
  const Comparator& order = *salvage_.families.at(id).order;
  return std::ranges::any_of(ranges->second, [&](const RangeDelete& range) {
    return range.sequence > sequence && order.Compare(range.begin, key) <= 0 && order.Compare(key, range.end) < 0;
  });
}

Status LogSalvage::DecideOne(std::uint32_t id, Slice key, const Note& note) {
  using Verdict = Note::Verdict;
  const SalvagedFamily& family = salvage_.families.at(id);
  const bool has_entry = note.verdict == Verdict::kInDoubt || note.verdict == Verdict::kOrphan;
  Candidate candidate;
  if (note.record_sequence != 0 && !(has_entry && note.sequence >= note.record_sequence)) {
    if (note.op == RecordOp::kDelete) {
      // A value that the layers have is older, if it is beyond them.
      return IsBeyond(family, note.record_sequence) ? salvage_.out->Delete(id, key) : Status::OK();
    }
    candidate.sequence = note.record_sequence;
    candidate.batch_begin = note.record_sequence - std::min<SequenceNumber>(note.batch_index, note.record_sequence - 1);
    candidate.address = note.record_address;
    candidate.is_record = true;
  } else if (has_entry) {
    candidate.sequence = note.sequence;
    candidate.batch_begin = note.sequence;
    candidate.address = note.address;
  } else if (note.verdict == Verdict::kLost && !salvage_.has_manifest) {
    salvage_.TellLost(family, key, "an index page leads to its value, which is nowhere: lost, or deleted long ago");
    return Status::OK();
  } else {
    return Status::OK();
  }
  if (candidate.sequence != 0 && IsDeletedBehind(id, key, candidate.sequence)) return Status::OK();
  const bool is_proven = IsProven(candidate);
  if (note.verdict == Verdict::kDeletedInDoubt && !is_proven) return Status::OK();  // its tombstone is there

  Slice value = note.inline_value;
  std::string where = salvage_.PlaceOf(candidate.address);
  if (candidate.is_record || candidate.address.word() != 0) {
    SequenceNumber sequence = 0;
    const Status read = candidate.address.word() == 0 ? Status::Corruption("the large value that operation " +
                                                                           std::to_string(candidate.sequence) +
                                                                           " of the log has written is missing")
                                                      : salvage_.ReadAt(id, key, candidate.address, &value, &sequence);
    if (read.IsNotSupported()) return read;
    if (!read.ok()) {
      const bool is_told = note.verdict == Verdict::kLost && salvage_.has_manifest;
      if (!is_told) salvage_.TellLost(family, key, read.ToString());
      return Status::OK();
    }
  } else {
    where = "an index page";
  }
  if (!is_proven) {
    ++salvage_.report->unproven;
    if (salvage_.how.on_unproven) {
      salvage_.how.on_unproven(
          {family.name, key.ToString(), candidate.sequence, value.size(), where, salvage_.how.include_unproven});
    }
    if (!salvage_.how.include_unproven) return Status::OK();
  }
  return salvage_.out->Put(id, key, value);
}

}  // namespace cambium
