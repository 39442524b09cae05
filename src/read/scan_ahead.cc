#include "read/scan_ahead.h"

#include <algorithm>
#include <cassert>

namespace cambium {

Entry ScanAhead::entry() const {
  const Slot& slot = front();
  if (slot.entry.kind != EntryKind::kInline) return slot.entry;
  return Entry::Inline(slot.inline_value, slot.entry.version());
}

bool ScanAhead::Push(const EntryCursor& cursor, bool is_missing) {
  const Entry entry = cursor.entry();
  const std::size_t bytes = entry.HasAddress() ? entry.address.size() : entry.inline_value.size();
  if (count_ == kEntriesMax || (count_ > 0 && bytes_ + bytes > kBytesMax)) return false;
  if (count_ == slots_.size()) {
    // Grows the ring: rotated first, so that it begins at its first entry.
    std::rotate(slots_.begin(), slots_.begin() + static_cast<std::ptrdiff_t>(slots_.empty() ? 0 : first_ % slots_.size()),
                slots_.end());
    first_ = 0;
    slots_.push_back(std::make_unique<Slot>());
  }
  Slot& slot = *slots_[(first_ + count_) % slots_.size()];
  const Slice key = cursor.key();
  slot.key.assign(key.data(), key.size());
  if (entry.kind == EntryKind::kInline) slot.inline_value.assign(entry.inline_value.data(), entry.inline_value.size());
  slot.entry = entry;
  slot.bytes = bytes;
  if (entry.kind == EntryKind::kInline) {
    slot.entry.inline_value = Slice();
    slot.state = State::kInline;
  } else {
    slot.item.query = {entry.address, source_.family, slot.key, source_.verify_checksums, source_.order,
                       source_.meter};
    Begin(&slot, is_missing);
  }
  // Last: if memory has run out above, the entry does not count.
  is_last_new_ = true;
  warm_ = slot.state == State::kPending ? 0 : warm_ + 1;
  bytes_ += bytes;
  ++count_;
  assert(count_ <= slots_.size() && count_ <= kEntriesMax);
  return true;
}

// Returns true if the value will be read together with the previous one, whose read is not submitted yet. Then the
// value is not looked up in the caches, because a lookup would start to read its pages one by one. The first value
// after a Submit is looked up: the scan may have reached cached values.
bool ScanAhead::IsReadWithTheLast(const Entry& entry) const {
  if (count_ == 0 || !is_last_new_) return false;
  const Slot& last = *slots_[(first_ + count_ - 1) % slots_.size()];
  if (last.state != State::kPending || entry.kind == EntryKind::kLargeValue) return false;
  const ValueAddress& before = last.entry.address;
  const ValueAddress& its = entry.address;
  return its.slot() == before.slot() && its.offset() >= before.offset() &&
         its.offset() <= before.offset() + before.size() + ValueReads::kGapMax;
}

void ScanAhead::Begin(Slot* slot, bool is_missing) {
  ValueReads::Item& item = slot->item;
  if (is_missing || IsReadWithTheLast(slot->entry)) {
    item.buffer.reserve(slot->entry.address.size());  // the thread that completes the read must not need memory
    reads_.Add(*source_.segments, &item);
    slot->state = State::kPending;
    return;
  }
  const Result<bool> cached = ReadCachedValue(*source_.segments, item.query, &item.buffer, &item.value);
  if (cached.ok() && !*cached) {
    reads_.Add(*source_.segments, &item);
    slot->state = State::kPending;
    return;
  }
  slot->state = State::kFetched;
  item.status = cached.status();
}

Status ScanAhead::FetchValue(Slice* value) {
  Slot& slot = front();
  ValueReads::Item& item = slot.item;
  switch (slot.state) {
    case State::kInline: *value = slot.inline_value; return Status::OK();
    case State::kPending: reads_.Await(item); break;
    case State::kFetched: break;
  }
  slot.state = State::kFetched;
  *value = item.value;
  return item.status;
}

void ScanAhead::Pop() {
  assert(count_ > 0);
  Slot& slot = front();
  if (slot.state == State::kPending) reads_.Forget(&slot.item);  // until then another thread may write into it
  // One large value among small ones would otherwise leave a large buffer in each slot. An assignment of an empty string
  // would keep the memory.
  if (slot.item.buffer.capacity() > kBytesMax / kEntriesMax) std::string().swap(slot.item.buffer);
  assert(bytes_ >= slot.bytes);
  bytes_ -= slot.bytes;
  ++first_;
  --count_;
}

void ScanAhead::Clear() {
  reads_.ForgetAll();
  first_ = count_ = bytes_ = warm_ = 0;
  is_last_new_ = false;
}

}  // namespace cambium
