// Verifies the values that index entries refer to: whole records, punched ones, and those whose segment is gone.
#include <algorithm>
#include <cassert>
#include <tuple>

#include "verify/verifier.h"

namespace cambium {
namespace {

constexpr std::size_t kBufferBytesKept = 4u << 20;

}  // namespace

bool Verifier::HasHole(ValueAddress address) const {
  if (address.kind() == EntryKind::kLargeValue) return false;
  const std::shared_ptr<Segment>& segment = segments_.Find(address.slot());
  return segment != nullptr && segment->HasHole(address.offset());
}

bool Verifier::IsCutOff(ValueAddress address) const {
  if (address.kind() == EntryKind::kLargeValue) return false;
  const std::shared_ptr<Segment>& segment = segments_.Find(address.slot());
  return segment != nullptr && segment->IsCutOff(address.offset());
}

Result<bool> Verifier::IsHidden(const FamilyState& family, Slice key, std::size_t newer) {
  assert(newer <= newer_.size());
  for (std::size_t i = 0; i < newer; ++i) {
    const auto& [run, cursor] = newer_[i];
    if (cursor != nullptr && comparators_.at(family.id)->Compare(key, *cursor) < 0) continue;
    PageRef keep;
    Entry entry;
    CAMBIUM_TRY(const bool found, run->Find(key, &keep, &entry));
    if (found) return true;
  }
  return false;
}

Status Verifier::CheckHidden(const FamilyState& family, Slice key, Slot slot, const char* why) {
  CAMBIUM_TRY(const bool is_hidden, IsHidden(family, key, newer_.size()));
  if (is_hidden) return Status::OK();
  return Status::Corruption("key " + key.ToString(true).substr(0, 64) + " of family " + family.name +
                            ": the newest entry points to slot " + std::to_string(static_cast<std::uint32_t>(slot)) +
                            ", " + why);
}

Status Verifier::CheckEntry(const FamilyState& family, Slice key, const Entry& entry) {
  if (!entry.HasAddress()) return CheckVersion(family, key, entry);
  Account& account = accounts_[entry.address.slot()];
  ++account.references;
  account.bytes += static_cast<std::int64_t>(entry.address.size());
  if (state_.shadowed_slots.contains(entry.address.slot())) {
    return Found(CheckHidden(family, key, entry.address.slot(), "whose segment log GC has removed"));
  }
  if (IsCutOff(entry.address)) {
    return Found(CheckHidden(family, key, entry.address.slot(), "to a record that log GC has cut off"));
  }
  if (HasHole(entry.address)) {
    CAMBIUM_RETURN_IF_ERROR(
        Found(CheckHidden(family, key, entry.address.slot(), "to a value that log GC has punched")));
  }
  if (unread_slots_.contains(entry.address.slot())) return Status::OK();
  values_.push_back({entry.address, values_keys_.size(), key.size(), newer_.size()});
  values_keys_.append(key.data(), key.size());
  return values_keys_.size() + values_.size() * sizeof(values_[0]) < kValuesTogetherBytes ? Status::OK()
                                                                                          : CheckValues(family);
}

Status Verifier::CheckVersion(const FamilyState& family, Slice key, const Entry& entry) {
  if (entry.version() == 0 || (family.versions_since.has_value() && entry.version() <= state_.last_sequence)) {
    return Status::OK();
  }
  const std::string what = family.versions_since.has_value()
                               ? "is above the last sequence number, " + std::to_string(state_.last_sequence)
                               : "in a column family that keeps none";
  return Found(Status::Corruption(path_ + ": column family \"" + family.name + "\": key " +
                                  key.ToString(true).substr(0, 64) + " has version " +
                                  std::to_string(entry.version()) + ", " + what));
}

Status Verifier::CheckValues(const FamilyState& family) {
  const Comparator* comparator = comparators_.at(family.id);
  const Comparator* equal_by = comparator->EqualMeansSameBytes() ? nullptr : comparator;
  std::ranges::sort(values_, {}, [](const ValueOfEntry& value) {
    return std::tuple(value.address.slot(), value.address.offset(), value.newer);
  });
  for (const ValueOfEntry& value : values_) {
    assert(value.key_at + value.key_size <= values_keys_.size());
    const Slice key(values_keys_.data() + value.key_at, value.key_size);
    Status s = CheckValue({value.address, family.id, key, true, equal_by});
    if (s.ok()) continue;
    // If several entries refer to the record, the newest decides; it is the first.
    const std::pair record(value.address.slot(), value.address.offset());
    if (reported_.contains(record) || record == last_reported_) continue;
    last_reported_ = record;
    if (reported_.size() < kReportedMax) reported_.insert(record);
    s = s.WithContext("key " + key.ToString(true).substr(0, 64) + " of family " + family.name);
    // If the lookup in newer runs fails, it fails for a reader too.
    const Result<bool> is_hidden = s.IsIOError() ? Result<bool>(false) : IsHidden(family, key, value.newer);
    CAMBIUM_RETURN_IF_ERROR(is_hidden.ok() && *is_hidden ? FoundDead(s) : Found(s));
  }
  values_.clear();
  values_keys_.clear();
  return Status::OK();
}

Status Verifier::CheckValue(const ValueQuery& query) {
  if (!verify_.deep || HasHole(query.address)) return CheckRecord(segments_, query);
  const Result<std::uint64_t> read = CheckWholeValue(segments_, query, &buffer_);
  if (read.ok()) CountRead(*read);
  // A large value that was compressed leaves the buffer large.
  if (buffer_.capacity() > kBufferBytesKept) std::string().swap(buffer_);
  return read.status();
}

}  // namespace cambium
