#include "upkeep/compact/filter_job.h"

#include <cassert>

#include "cambium/db.h"
#include "util/mutant.h"
#include "vlog/value_reader.h"

namespace cambium {

Status FilterJob::Begin(std::uint32_t level, bool is_full) {
  assert(filter_ == nullptr && owned_ == nullptr && "a job is for one compaction");
  level_ = static_cast<int>(level);
  const ColumnFamilyOptions& options = in_force_.options;
  filter_ = options.compaction_filter;
  if (filter_ == nullptr) {
    CompactionFilter::Context context;
    context.is_full_compaction = is_full;
    context.is_manual_compaction = surroundings_.is_manual;
    context.column_family_id = family_.id;
    owned_ = options.compaction_filter_factory->CreateCompactionFilter(context);
    filter_ = owned_.get();
  }
  if (filter_ == nullptr || filter_->IgnoreSnapshots()) return Status::OK();
  return Status::NotSupported(std::string("compaction filter ") + filter_->Name() +
                              ": IgnoreSnapshots() is false; only true is supported");
}

Result<FilterVerdict> FilterJob::Ask(Slice key, const Entry& entry) {
  FilterVerdict verdict;
  if (filter_ == nullptr) return verdict;
  if (surroundings_.is_abandoned && surroundings_.is_abandoned()) {
    return Status::ShutdownInProgress("the compaction was given up");
  }
  if (IsHidden(entry)) return verdict;
  if (IsSkipped(key)) {
    verdict.kind = FilterVerdict::Kind::kRemove;
    return verdict;
  }
  const Comparator& order = *in_force_.options.comparator;
  std::string skip_until;
  CAMBIUM_TRY(const Decision decision, Decide(key, entry, &skip_until));
  switch (decision) {
    case Decision::kKeep: return verdict;
    case Decision::kRemove: verdict.kind = FilterVerdict::Kind::kRemove; return verdict;
    case Decision::kChangeValue: return Change(key, entry);
    case Decision::kRemoveAndSkipUntil:
      if (order.Compare(skip_until, key) <= 0) return verdict;
      skip_until_ = std::move(skip_until);
      verdict.kind = FilterVerdict::Kind::kRemove;
      return verdict;
    case Decision::kUndetermined: break;
  }
  return Illegal(key, "answers " + std::to_string(static_cast<int>(decision)) + ", which is not a valid decision");
}

FilterVerdict FilterJob::Pass(Slice key, const Entry& entry) {
  FilterVerdict verdict;
  if (filter_ != nullptr && !IsHidden(entry) && IsSkipped(key)) verdict.kind = FilterVerdict::Kind::kRemove;
  return verdict;
}

bool FilterJob::IsSkipped(Slice key) {
  if (!skip_until_.has_value()) return false;
  if (in_force_.options.comparator->Compare(key, *skip_until_) < 0) return true;
  skip_until_.reset();
  return false;
}

// The compaction holds its segments, so values that are punched while it runs are readable until it ends.
bool FilterJob::IsHidden(const Entry& entry) const {
  if (!entry.HasAddress()) return false;
  if (surroundings_.emptied.contains(entry.address.slot())) return true;
  const std::shared_ptr<Segment>& segment = surroundings_.segments.Find(entry.address.slot());
  return entry.kind == EntryKind::kValue && segment != nullptr && segment->HasHole(entry.address.offset());
}

// The answer of FilterBlobByKey is final unless it is kUndetermined.
Result<CompactionFilter::Decision> FilterJob::Decide(Slice key, const Entry& entry, std::string* skip_until) {
  assert(filter_ != nullptr);
  new_value_.clear();
  Slice value = entry.inline_value;
  if (entry.HasAddress()) {
    const Decision by_key = filter_->FilterBlobByKey(level_, key, &new_value_, skip_until);
    if (by_key != Decision::kUndetermined) return by_key;
    const Status read = ReadValue(surroundings_.segments, {entry.address, family_.id, key, true, family_.equal_by},
                                  &buffer_, &value);
    if (!read.ok() && MutantIs(Mutant::kFilterRemovesUnreadable)) return Decision::kRemove;
    CAMBIUM_RETURN_IF_ERROR(read.WithContext(std::string("reading a value for compaction filter ") + filter_->Name()));
    bytes_read_ += value.size();
    new_value_.clear();
    skip_until->clear();
  }
  return filter_->FilterV2(level_, key, CompactionFilter::ValueType::kValue, value, &new_value_, skip_until);
}

Result<SequenceNumber> FilterJob::VersionOf(Slice key, const Entry& entry) const {
  if (!keeps_versions_ || MutantIs(Mutant::kFilterLosesVersions)) return 0;
  if (!entry.HasAddress()) return entry.version();
  CAMBIUM_TRY(const SequenceNumber sequence,
              ReadSequence(surroundings_.segments, {entry.address, family_.id, key, true, family_.equal_by}));
  return sequence != 0 ? sequence : newest_;  // the record of a large value has none
}

Result<FilterVerdict> FilterJob::Change(Slice key, const Entry& entry) {
  if (new_value_.size() > kMaxValueBytes) {
    return Illegal(key, "gives a value of " + std::to_string(new_value_.size()) + " bytes; the most is " +
                            std::to_string(kMaxValueBytes));
  }
  FilterVerdict verdict;
  verdict.kind = FilterVerdict::Kind::kChange;
  if (new_value_.size() < in_force_.separate_from) {
    CAMBIUM_TRY(const SequenceNumber version, VersionOf(key, entry));
    verdict.changed = Entry::Inline(new_value_, version);
    return verdict;
  }
  CAMBIUM_TRY(const ValueAddress address, changed_.Append(key, new_value_));
  verdict.changed = Entry::At(address);
  return verdict;
}

Status FilterJob::Illegal(Slice key, const std::string& what) const {
  return Status::InvalidArgument(std::string("compaction filter ") + filter_->Name() + ": for key " +
                                 key.ToString(true).substr(0, 64) + " it " + what);
}

}  // namespace cambium
