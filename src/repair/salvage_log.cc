#include "repair/salvage_log.h"

#include <algorithm>
#include <cassert>

#include "vlog/segment_footer.h"
#include "vlog/value_reader.h"

namespace cambium {

void LogSalvage::FindSources(std::vector<Source>* logs, std::vector<Source>* moved) const {
  salvage_.segments.ForEach([&](const std::shared_ptr<Segment>& segment) {
    if (segment->kind() == FileKind::kLargeValue) return;
    Source source;
    source.segment = segment;
    const FoundFile* const found = FindFile(&salvage_.files, segment->kind(), segment->number());
    assert(found != nullptr && "only files that were found are opened");
    source.size = found->size;
    if (salvage_.has_manifest) {
      const SegmentInfo& info = salvage_.state.segments.at(segment->number());
      source.is_end_known = info.sealed;
      if (info.sealed) source.size = std::min(source.size, info.sealed_length);
    } else if (const Result<std::uint64_t> end = FindFooter(segment->file(), segment->seed(), source.size);
               end.ok() && *end != 0) {
      source.size = *end;
      source.is_end_known = source.has_footer = true;
    }
    (segment->kind() == FileKind::kLog ? logs : moved)->push_back(std::move(source));
  });
  const auto number = [](const Source& source) { return source.segment->number(); };
  std::ranges::sort(*logs, {}, number);
  std::ranges::sort(*moved, {}, number);
}

// Reads the links. The link of the next segment says where a segment ends and which operations it may have. Recovery
// has rejected the operations after that end, and their sequence numbers were used again.
void LogSalvage::ReadLinks(std::vector<Source>* logs) {
  for (Source& source : *logs) {
    SegmentScanner scanner(source.segment->file(), source.segment->seed(), kFileHeaderSize, source.size, nullptr);
    ScannedRecord record;
    const Result<ScanResult> first = scanner.Next(&record);
    if (first.ok() && *first != ScanResult::kRecord && !source.has_footer) {
      const Result<bool> has_zeros = *first == ScanResult::kEnd ? Result<bool>(true) : scanner.OnlyZerosAhead();
      source.is_empty = has_zeros.ok() && *has_zeros;
    }
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

// Looks for files that show that the last segment found is not the last of the log: log segments with larger numbers,
// and files of a later epoch.
void LogSalvage::FindEnd(const std::vector<Source>& logs) {
  const std::uint64_t newest = logs.empty() ? 0 : logs.back().segment->number();
  if (salvage_.has_manifest) {
    for (const auto& [number, info] : salvage_.state.segments) {
      if (info.kind != SegmentKind::kLog || number <= newest) continue;
      end_unknown_ = FilePath(salvage_.path, FileKind::kLog, number) + ": cannot be read";
    }
    return;
  }
  const auto last = std::find_if(logs.rbegin(), logs.rend(), [](const Source& log) { return !log.is_empty; });
  if (last != logs.rend() && last->has_footer) {
    end_unknown_ = last->segment->path() + ": was sealed, but the next segment is missing";
  }
  std::uint64_t log_epoch = 0;
  for (const FoundFile& found : salvage_.files) {
    if (found.name.kind != FileKind::kLog) continue;
    if (found.flaw.ok() && found.header.database_id == salvage_.state.database_id) {
      log_epoch = std::max(log_epoch, found.header.epoch);
    }
    // A segment that is larger than its header may still have readable records.
    const bool is_unread = found.name.number > newest || found.size <= kFileHeaderSize;
    if (is_unread && found.name.number >= newest && !found.flaw.ok() && found.size > 0) {
      end_unknown_ = found.flaw.ToString();
    }
  }
  for (const FoundFile& found : salvage_.files) {
    if (!found.flaw.ok() || found.header.database_id != salvage_.state.database_id) continue;
    if (found.header.epoch > log_epoch) {
      end_unknown_ = found.path + ": is of a later open of the database than all remaining segments of the log";
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
  } else {
    if (salvage_.has_state) {
      last_ = std::max({salvage_.state.last_sequence, salvage_.state.durable_sequence, salvage_.state.replay_sequence});
    }
    FindEnd(logs);
  }
  for (const Source& source : logs) CAMBIUM_RETURN_IF_ERROR(ReadSegment(source, true));
  for (const Source& source : moved) CAMBIUM_RETURN_IF_ERROR(ReadSegment(source, false));
  for (auto& [id, ranges] : ranges_) ranges.Sort();
  if (is_whole) end_unknown_.clear();  // the tail has shown the end
  return Status::OK();
}

Status LogSalvage::ReadSegment(const Source& source, bool is_log) {
  assert(pending_.empty() && "no batch spans two segments");
  const Segment& segment = *source.segment;
  SegmentScanner scanner(segment.file(), segment.seed(), segment.FirstRecord(), source.size, nullptr);
  scanner.SetHoles(segment.holes());
  ScannedRecord record;
  std::uint64_t advanced = 0;
  while (true) {
    const Result<ScanResult> found = scanner.Next(&record);
    if (EndsSalvage(found.status())) return found.status();
    if (!found.ok()) {
      // The device cannot read this part, and this scanner cannot continue after it.
      salvage_.ReportLost({"", {}, {}, {}, 0, found.status().ToString()});
      if (is_log && !source.is_end_known) end_unknown_ = found.status().ToString();
      break;
    }
    salvage_.Advance(scanner.offset() - std::min(advanced, scanner.offset()));
    advanced = scanner.offset();
    if (*found == ScanResult::kEnd) break;
    if (*found == ScanResult::kRecord) {
      CAMBIUM_RETURN_IF_ERROR(is_log ? TakeRecord(source, record) : TakeMoved(source, record));
      continue;
    }
    CAMBIUM_TRY(const bool continues, TakeDamage(source, is_log, &scanner));
    if (!continues) break;
  }
  // If the segment's end is known, the last batch is complete, even if its last record is damaged. Otherwise a batch
  // without its last record counts as never completed.
  if (source.is_end_known) CAMBIUM_RETURN_IF_ERROR(TakePending());
  pending_.clear();
  return Status::OK();
}

Result<bool> LogSalvage::TakeDamage(const Source& source, bool is_log, SegmentScanner* scanner) {
  const bool has_header = scanner->header_valid();
  const RecordHeader header = scanner->header();
  const bool is_operation = has_header && is_log && header.sequence <= source.last;
  if (is_operation) {
    last_ = std::max(last_, header.sequence);
    CAMBIUM_RETURN_IF_ERROR(TakePendingBefore(header));
    CAMBIUM_RETURN_IF_ERROR(TakeDamagedKey(source, header, scanner->offset()));
  }
  if (!source.is_end_known) {
    const Result<bool> is_end = scanner->OnlyZerosAhead();
    if (is_end.ok() && *is_end) return false;
  }
  const std::string where = source.segment->path() + ":" + std::to_string(scanner->offset());
  std::string why = scanner->reason();
  if (has_header) why += ", of operation " + std::to_string(header.sequence);
  const Result<bool> skipped = scanner->SkipDamage();
  const bool continues = skipped.ok() && *skipped;
  if (!salvage_.has_manifest) {
    salvage_.ReportLost({"",
                       {},
                       {},
                       {},
                       0,
                       where + ": " + why + "; nothing is valid before offset " + std::to_string(scanner->offset())});
  }
  if (!continues && is_log && !source.is_end_known) end_unknown_ = where + ": " + why + ", and nothing valid follows";
  return continues;
}

Status LogSalvage::TakeRecord(const Source& source, const ScannedRecord& record) {
  const RecordHeader& header = record.header;
  if (!salvage_.has_manifest || salvage_.is_tail_damaged) {
    last_ = std::max(last_, header.DurableSequence());
    if (IsControl(header.op)) last_ = std::max(last_, std::min(header.sequence, source.last));
  }
  CAMBIUM_RETURN_IF_ERROR(TakePendingBefore(header));
  if (IsControl(header.op) || header.sequence > source.last) return Status::OK();
  if (source.segment->HasHole(record.offset)) {
    cover_.Add(header.sequence);  // the value was punched, so it was not the newest of its key
    return Status::OK();
  }
  const bool is_range = header.op == RecordOp::kDeleteRange;
  pending_.push_back({header, record.key.ToString(), is_range ? record.stored_value.ToString() : std::string(),
                      AddressOf(source, record)});
  return (header.marks & kLastOfBatch) != 0 ? TakePending() : Status::OK();
}

// Takes a record of a relocation segment. A layer referred to it, so its operation was published.
Status LogSalvage::TakeMoved(const Source& source, const ScannedRecord& record) {
  const RecordHeader& header = record.header;
  if (IsControl(header.op) || header.op == RecordOp::kDeleteRange) return Status::OK();
  if (source.segment->HasHole(record.offset)) return Status::OK();
  return TakeCommitted(header, record.key, Slice(), AddressOf(source, record));
}

Status LogSalvage::TakePendingBefore(const RecordHeader& header) {
  if (pending_.empty()) return Status::OK();
  const RecordHeader& first = pending_.front().header;
  const bool is_same_batch =
      !IsControl(header.op) && header.sequence - header.batch_index == first.sequence - first.batch_index;
  return is_same_batch ? Status::OK() : TakePending();
}

Status LogSalvage::TakePending() {
  for (const Pending& each : pending_) {
    CAMBIUM_RETURN_IF_ERROR(TakeCommitted(each.header, each.key, each.range_end, each.address));
  }
  pending_.clear();
  return Status::OK();
}

Status LogSalvage::TakeCommitted(const RecordHeader& header, Slice key, Slice range_end, ValueAddress address) {
  cover_.Add(header.sequence);
  const bool is_whole = salvage_.has_manifest && !salvage_.is_tail_damaged;
  if (!is_whole) last_ = std::max(last_, header.sequence);
  CAMBIUM_TRY(const bool has_family, EnsureFamily(header.family));
  if (!has_family) return Status::OK();
  if (header.op != RecordOp::kDeleteRange) return TakeKey(header, key, address);
  SalvagedFamily& family = salvage_.families.at(header.family);
  if (family.order->Compare(key, range_end) >= 0) family.is_order_wrong = true;  // an empty range is never written
  SequenceNumber& newest = newest_range_[header.family];
  newest = std::max(newest, header.sequence);
  const auto ranges = ranges_.try_emplace(header.family, family.order).first;
  ranges->second.Add({header.sequence, key.ToString(), range_end.ToString()});
  return Status::OK();
}

Result<bool> LogSalvage::EnsureFamily(std::uint32_t id) {
  if (salvage_.families.contains(id)) return true;
  // Ids are never reused.
  const bool is_dropped = salvage_.has_state && id < salvage_.state.next_family_id;
  if (salvage_.has_manifest || is_dropped || id >= kMaxFamilies) return false;
  const std::string name = "salvaged-" + std::to_string(id);
  const ColumnFamilyOptions options = salvage_.OptionsOf(name);
  CAMBIUM_RETURN_IF_ERROR(salvage_.out->AddFamily(id, name, options));
  salvage_.families.emplace(id, SalvagedFamily(name, options.comparator));
  salvage_.families.at(id).is_filtered = salvage_.IsFiltered(options);
  salvage_.families.at(id).is_order_guessed = !salvage_.IsNamed(name);
  salvage_.report->notes.push_back("column family " + name +
                                   ": only its number is known, so it may have been dropped");
  return true;
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
  if (!family.IsInDoubt(key) || family.IsDeletedForSure(key)) return false;
  CAMBIUM_TRY(const bool is_there, salvage_.out->Has(id, key));
  return !is_there;
}

Status LogSalvage::TakeKey(const RecordHeader& header, Slice key, ValueAddress address) {
  const SalvagedFamily& family = salvage_.families.at(header.family);
  // If little is lost, most keys need no lookup of a note.
  const bool may_be = !salvage_.has_manifest || IsBeyond(family, header.sequence) || family.has_lost_values ||
                      family.IsInDoubt(key);
  if (!may_be) return Status::OK();
  CAMBIUM_TRY(std::optional<Note> note, salvage_.out->FindNote(header.family, key));
  CAMBIUM_TRY(const bool is_wanted, IsOfInterest(header.family, key, header.sequence, note));
  if (!is_wanted || (note.has_value() && note->record_sequence >= header.sequence)) return Status::OK();
  if (!note.has_value()) note.emplace();
  note->record_sequence = header.sequence;
  note->batch_index = header.batch_index;
  note->op = header.op;
  note->record_address = address;
  return salvage_.out->SetNote(header.family, key, *note);
}

// Notes a damaged record for its key. If the bytes of the key are damaged too, the note is mostly for a key that does
// not exist. A damaged range delete is not noted, since it concerns a whole range.
Status LogSalvage::TakeDamagedKey(const Source& source, const RecordHeader& header, std::uint64_t offset) {
  if (!salvage_.has_manifest || IsControl(header.op) || header.op == RecordOp::kDeleteRange) return Status::OK();
  const auto family = salvage_.families.find(header.family);
  if (family == salvage_.families.end() || !IsBeyond(family->second, header.sequence)) return Status::OK();
  std::string key(header.key_size, '\0');
  std::size_t have = 0;
  const Status read = source.segment->file().Read(offset + kRecordHeaderSize, key.size(), key.data(), &have);
  if (!read.ok() || have < key.size() || offset >= kLogOffsetMax) return Status::OK();
  CAMBIUM_TRY(std::optional<Note> note, salvage_.out->FindNote(header.family, key));
  if (!note.has_value()) note.emplace();
  if (note->damaged_sequence >= header.sequence) return Status::OK();
  note->damaged_sequence = header.sequence;
  note->damaged_address = ValueAddress::InLog(source.segment->slot(), offset, header.RecordSize());
  return salvage_.out->SetNote(header.family, key, *note);
}

// ---- Deciding ----

Status LogSalvage::ApplyRangesBeyond() {
  if (!salvage_.has_manifest || !salvage_.is_tail_damaged) return Status::OK();
  for (const auto& [id, ranges] : ranges_) {
    const SalvagedFamily& family = salvage_.families.at(id);
    for (const RangeNumbers::Range& range : ranges.ranges()) {
      if (!IsBeyond(family, range.sequence)) continue;
      CAMBIUM_RETURN_IF_ERROR(salvage_.out->DeleteRange(id, range.begin, range.end));
    }
  }
  return Status::OK();
}

Status LogSalvage::Decide() {
  if (!end_unknown_.empty()) {
    salvage_.report->notes.push_back("the end of the log is unknown, so it proves nothing: " + end_unknown_);
  }
  CAMBIUM_RETURN_IF_ERROR(ApplyRangesBeyond());
  for (const auto& [id, newest] : newest_range_) {
    const SalvagedFamily& family = salvage_.families.at(id);
    if (family.HasOrder()) continue;
    const std::string why = family.is_order_wrong ? ": its keys are not in the order of comparator \"" +
                                                        std::string(family.order->Name()) + "\""
                                                  : ": the order of its keys is unknown";
    salvage_.report->notes.push_back("column family " + family.name + why +
                                     ", so it is unknown which keys its range deletes cover");
  }
  for (const auto& [id, family] : salvage_.families) {
    CAMBIUM_RETURN_IF_ERROR(
        salvage_.out->ForEachNote(id, [&, id = id](Slice key, const Note& note) { return DecideOne(id, key, note); }));
  }
  return Status::OK();
}

bool LogSalvage::IsProven(std::uint32_t id, const Candidate& candidate) const {
  const SalvagedFamily& family = salvage_.families.at(id);
  if (!family.HasOrder()) {
    const auto newest = newest_range_.find(id);
    if (newest != newest_range_.end() && newest->second > candidate.sequence) return false;
  }
  const bool is_in_layers = !salvage_.has_manifest || candidate.sequence <= family.flushed_sequence;
  if (family.is_filtered && is_in_layers) return false;
  return end_unknown_.empty() && candidate.sequence != 0 && candidate.sequence <= last_ &&
         cover_.Covers(candidate.batch_begin, last_);
}

bool LogSalvage::IsDeletedLater(std::uint32_t id, Slice key, SequenceNumber sequence) const {
  if (!salvage_.families.at(id).HasOrder()) return false;
  const auto ranges = ranges_.find(id);
  return ranges != ranges_.end() && ranges->second.NewestOver(key) > sequence;
}

Status LogSalvage::DecideOne(std::uint32_t id, Slice key, const Note& note) {
  using Verdict = Note::Verdict;
  const SalvagedFamily& family = salvage_.families.at(id);
  const bool has_entry = note.verdict == Verdict::kInDoubt || note.verdict == Verdict::kOrphan;
  const bool has_record = note.record_sequence != 0 && !(has_entry && note.sequence >= note.record_sequence);
  bool is_written = false;
  if (has_record || has_entry) {
    Candidate candidate;
    candidate.is_record = has_record;
    candidate.sequence = has_record ? note.record_sequence : note.sequence;
    candidate.address = has_record ? note.record_address : note.address;
    // The batch of an entry was complete, since a layer has the entry.
    const SequenceNumber before = has_record ? std::min<SequenceNumber>(note.batch_index, candidate.sequence - 1) : 0;
    candidate.batch_begin = candidate.sequence - before;
    if (!has_record || note.op != RecordOp::kDelete) {
      CAMBIUM_RETURN_IF_ERROR(DecideCandidate(id, key, note, candidate, &is_written));
    }
    // The value from tail or layers is older.
    if (has_record && !is_written && salvage_.has_manifest && IsBeyond(family, note.record_sequence)) {
      CAMBIUM_RETURN_IF_ERROR(salvage_.out->Delete(id, key));
    }
  } else if (note.verdict == Verdict::kLost && !salvage_.has_manifest) {
    salvage_.ReportLost(family, key,
                        "an index page refers to its value, which was not found: it is lost, or was deleted long ago");
  }
  // A newer range delete would have deleted the damaged operation's value too.
  const bool is_damaged_newest = note.damaged_sequence > note.record_sequence &&
                                 !IsDeletedLater(id, key, note.damaged_sequence);
  return is_damaged_newest ? DecideDamaged(id, key, note, is_written) : Status::OK();
}

Status LogSalvage::DecideCandidate(std::uint32_t id, Slice key, const Note& note, const Candidate& candidate,
                                   bool* is_written) {
  using Verdict = Note::Verdict;
  const SalvagedFamily& family = salvage_.families.at(id);
  if (candidate.sequence != 0 && IsDeletedLater(id, key, candidate.sequence)) return Status::OK();
  Slice value = note.inline_value;
  std::string where = salvage_.PlaceOf(candidate.address);
  if (candidate.is_record || candidate.address.word() != 0) {
    SequenceNumber sequence = 0;
    const Status read = candidate.address.word() == 0 ? Status::Corruption("the large value of operation " +
                                                                           std::to_string(candidate.sequence) +
                                                                           " of the log is missing")
                                                      : salvage_.ReadAt(id, key, candidate.address, &value, &sequence);
    if (EndsSalvage(read)) return read;
    if (!read.ok()) {
      const bool is_reported = note.verdict == Verdict::kLost && salvage_.has_manifest;
      if (!is_reported) salvage_.ReportLost(family, key, read.ToString());
      return Status::OK();
    }
  } else {
    where = "an index page";
  }
  if (!IsProven(id, candidate)) {
    ReportUnproven(family, key, candidate.sequence, value.size(), where);
    if (!salvage_.how.include_unproven) return Status::OK();
  }
  *is_written = true;
  return salvage_.out->Put(id, key, value);
}

// Decides a key whose newest record is damaged: that record is lost, and all other values of the key are older.
Status LogSalvage::DecideDamaged(std::uint32_t id, Slice key, const Note& note, bool is_reported) {
  const SalvagedFamily& family = salvage_.families.at(id);
  const std::string where = salvage_.PlaceOf(note.damaged_address);
  salvage_.ReportLost(family, key, where + ": the record of operation " + std::to_string(note.damaged_sequence) +
                                     ", which seems to be of this key, is damaged");
  CAMBIUM_TRY(const std::optional<std::uint64_t> size, salvage_.out->FindValueSize(id, key));
  if (!size.has_value()) return Status::OK();
  // A candidate that was written is not proven either, since the damaged record is newer. If `is_reported`, it was
  // reported as unproven already.
  if (!is_reported) ReportUnproven(family, key, 0, *size, "an older value than " + where);
  return salvage_.how.include_unproven ? Status::OK() : salvage_.out->Delete(id, key);
}

void LogSalvage::ReportUnproven(const SalvagedFamily& family, Slice key, SequenceNumber sequence, std::uint64_t size,
                              const std::string& where) {
  ++salvage_.report->unproven;
  if (!salvage_.how.on_unproven) return;
  salvage_.how.on_unproven({family.name, key.ToString(), sequence, size, where, salvage_.how.include_unproven});
}

}  // namespace cambium
