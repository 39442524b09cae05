#include "read/reader.h"

#include <algorithm>
#include <cassert>

#include "index/passing_reads.h"
#include "util/epoch.h"
#include "util/mutant.h"
#include "vlog/value_reads.h"

namespace cambium {
namespace {

// If a view does not have a family, the family was created after the snapshot and was empty then, or it was dropped.
Status NotInView(const Family& family) {
  return family.dropped.load(std::memory_order_acquire) ? DroppedStatus(family) : Status::NotFound();
}

// Prefetches the values that come after `at` into the processor's caches, while the value at `at` is copied.
void PrefetchValues(const SegmentTable& segments, std::span<const Lookup> lookups, std::size_t at) {
  const std::size_t first = at == 0 ? 1 : at + kValuesPrefetched;
  for (std::size_t i = first; i < std::min(lookups.size(), at + kValuesPrefetched + 1); ++i) {
    const bool is_value = lookups[i].status.ok() && lookups[i].entry.kind == EntryKind::kValue;
    if (is_value) PrefetchMappedValue(segments, lookups[i].entry.address);
  }
}

// As ReadCachedValue, or with `only_mapped` as ReadMappedValue; a value that may be pinned is not copied.
Result<bool> ReadInMemory(const SegmentTable& segments, const ValueQuery& query, bool pins, bool only_mapped,
                          std::string* buffer, Slice* value, std::shared_ptr<Segment>* keep) {
  if (pins) {
    CAMBIUM_TRY(const bool is_pinned, BorrowValue(segments, query, value, keep));
    if (is_pinned) return true;
  }
  CAMBIUM_TRY(const bool is_read, only_mapped ? ReadMappedValue(segments, query, buffer, value)
                                              : ReadCachedValue(segments, query, buffer, value));
  if (is_read && pins) NoteVerified(segments, query);
  return is_read;
}

// As ReadValue. If values are pinned, the next read of this one may do without a copy.
Status ReadAndNote(const SegmentTable& segments, const ValueQuery& query, bool pins, std::string* buffer,
                   Slice* value) {
  CAMBIUM_RETURN_IF_ERROR(ReadValue(segments, query, buffer, value));
  if (pins) NoteVerified(segments, query);
  return Status::OK();
}

// Returns true if a value surely has more than `bytes`. The size in its address is rounded up, by less than a 64th and
// a unit of large values. A value is longer than its compressed form, so the answer holds for compressed values too.
bool IsSurelyLonger(const Entry& entry, Slice key, std::size_t bytes) {
  const std::uint64_t size = entry.address.size();
  const std::uint64_t beyond = kRecordHeaderSize + key.size() + kLargeValueUnit;
  return size - size / 64 > beyond && size - size / 64 - beyond > bytes;
}

// Only in a mutant: keeps the view of a thread's last read pinned.
void PinViewOfThread(const CommitPoint& commits) {
  if (!MutantIs(Mutant::kThreadPinsView)) return;
  static thread_local std::shared_ptr<const View> kept;
  kept = commits.view().Pin();
}

// Only in a mutant: a lookup that has failed finds nothing.
void HideLookupError(Status* status) {
  if (MutantIs(Mutant::kLookupErrorIsNotFound)) *status = Status::OK();
}

}  // namespace

Status Reader::Check(const ReadOptions& options) const {
  CAMBIUM_RETURN_IF_ERROR(db_.CheckUsable());
  if (options.durable_only && options.snapshot != nullptr) {
    return Status::InvalidArgument("durable_only reads at the durable state, so it cannot read at a snapshot");
  }
  return Status::OK();
}

const SegmentTable& Reader::SegmentsOf(const View& view) const {
  return MutantIs(Mutant::kSlotOfNewestView) ? commits_.view().Peek()->segments : view.segments;
}

Status Reader::ReadEntry(const View& view, const Family& family, const ReadOptions& options, Slice key,
                         const Entry& entry, std::string* buffer, Slice* value, std::shared_ptr<Segment>* keep) const {
  switch (entry.kind) {
    case EntryKind::kInline:
      buffer->assign(entry.inline_value.data(), entry.inline_value.size());
      *value = *buffer;
      return Status::OK();
    case EntryKind::kValue:
    case EntryKind::kLargeValue: {
      const ValueQuery query = QueryFor(db_, family, options, key, entry);
      const bool pins = options.pin_mapped_values && keep != nullptr;
      if (pins) {
        CAMBIUM_TRY(const bool is_pinned, BorrowValue(SegmentsOf(view), query, value, keep));
        if (is_pinned) return Status::OK();
      }
      return ReadAndNote(SegmentsOf(view), query, pins, buffer, value);
    }
    default: return Status::NotFound();
  }
}

Status Reader::FindEntry(const View& view, const Family& family, SequenceNumber sequence, Slice key, PageRef* keep,
                         Entry* entry) const {
  const FamilyView* const layers = view.Find(family.id);
  if (layers == nullptr) return NotInView(family);
  if (View::FindInMemory(*layers, key, sequence, entry)) {
    db_.meter.Tick(MEMTABLE_HIT);
    return Status::OK();
  }
  db_.meter.Tick(MEMTABLE_MISS);
  FoundIn where{};
  const Result<bool> found = layers->layers->Find(key, keep, entry, &where);
  if (found.ok() && *found) db_.meter.Tick(TickerOf(where));
  if (!found.ok() && !MutantIs(Mutant::kLookupErrorIsNotFound)) return found.status();
  if (!found.ok() || !*found) *entry = Entry::Tombstone();
  return Status::OK();
}

void Reader::FindEntries(const View& view, const Family& family, SequenceNumber sequence,
                         std::span<Lookup> lookups) const {
  const FamilyView* const layers = view.Find(family.id);
  if (layers == nullptr) {
    for (Lookup& lookup : lookups) lookup.Finish(NotInView(family));
    return;
  }
  for (Lookup& lookup : lookups) lookup.Finish(View::FindInMemory(*layers, lookup.key, sequence, &lookup.entry));
  if (db_.meter.is_on()) {
    const auto hits = static_cast<std::uint64_t>(std::ranges::count_if(lookups, &Lookup::is_found));
    db_.meter.Tick(MEMTABLE_HIT, hits);
    db_.meter.Tick(MEMTABLE_MISS, lookups.size() - hits);
  }
  layers->layers->FindTogether(lookups);
  for (Lookup& lookup : lookups) {
    if (lookup.found_in != FoundIn::kNowhere) db_.meter.Tick(TickerOf(lookup.found_in));
    HideLookupError(&lookup.status);
    if (lookup.status.ok() && !lookup.is_found) lookup.entry = Entry::Tombstone();
  }
}

Status Reader::GetFrom(const View& view, const Family& family, SequenceNumber sequence, const ReadOptions& options,
                       Slice key, std::string* buffer, Slice* value, std::shared_ptr<Segment>* keep) const {
  PageRef page;
  Entry entry;
  CAMBIUM_RETURN_IF_ERROR(FindEntry(view, family, sequence, key, &page, &entry));
  return ReadEntry(view, family, options, key, entry, buffer, value, keep);
}

Status Reader::Get(const ReadOptions& options, const Family& family, Slice key, std::string* buffer, Slice* value,
                   std::shared_ptr<Segment>* keep) const {
  const PassingReads passing(!options.fill_cache);
  SequenceNumber sequence = 0;
  if (options.snapshot != nullptr || options.durable_only) {
    CAMBIUM_TRY(const std::shared_ptr<const View> view, head_.PinViewFor(options, &sequence));
    return GetFrom(*view, family, sequence, options, key, buffer, value, keep);
  }
  Entry entry;
  const bool pins = options.pin_mapped_values && keep != nullptr;
  std::shared_ptr<const View> held;
  {
    const EpochGuard guard;
    const View* const view = head_.CurrentView(&sequence);
    PinViewOfThread(commits_);
    PageRef page;
    CAMBIUM_RETURN_IF_ERROR(FindEntry(*view, family, sequence, key, &page, &entry));
    if (!entry.HasAddress()) return ReadEntry(*view, family, options, key, entry, buffer, value, keep);
    CAMBIUM_TRY(const bool is_read, ReadInMemory(SegmentsOf(*view), QueryFor(db_, family, options, key, entry), pins,
                                                 false, buffer, value, keep));
    if (is_read) return Status::OK();
    // The value has to be read from the device. In an epoch, the waiting read would keep all databases of the process
    // from freeing memory. A view that is held by count keeps only its own files and memtables.
    held = view->shared_from_this();
  }
  return ReadAndNote(SegmentsOf(*held), QueryFor(db_, family, options, key, entry), pins, buffer, value);
}

Status Reader::GetInto(const ReadOptions& options, const Family& family, Slice key, std::span<char> out,
                       std::size_t* size) const {
  const PassingReads passing(!options.fill_cache);
  *size = 0;
  std::string buffer;
  Slice value;
  const auto take = [&] {
    if (value.size() <= out.size()) std::ranges::copy(value, out.begin());
    *size = value.size();
  };
  Entry entry;
  // Finds the entry, and reads its value if it is in memory.
  const auto read_in_memory = [&](const View& view, SequenceNumber sequence) -> Result<bool> {
    PageRef page;
    CAMBIUM_RETURN_IF_ERROR(FindEntry(view, family, sequence, key, &page, &entry));
    if (entry.kind == EntryKind::kInline) {
      value = entry.inline_value;
      take();
      return true;
    }
    if (!entry.HasAddress()) return Status::NotFound();
    const ValueQuery query = QueryFor(db_, family, options, key, entry);
    CAMBIUM_TRY(const bool is_copied, CopyCachedValue(SegmentsOf(view), query, out, size));
    if (is_copied) return true;
    if (family.equal_by == nullptr && IsSurelyLonger(entry, key, out.size())) return false;
    CAMBIUM_TRY(const bool is_read, ReadCachedValue(SegmentsOf(view), query, &buffer, &value));
    if (is_read) take();
    return is_read;
  };
  SequenceNumber sequence = 0;
  std::shared_ptr<const View> held;
  if (options.snapshot != nullptr || options.durable_only) {
    CAMBIUM_TRY(held, head_.PinViewFor(options, &sequence));
    CAMBIUM_TRY(const bool is_read, read_in_memory(*held, sequence));
    if (is_read) return Status::OK();
  } else {
    const EpochGuard guard;
    const View* const view = head_.CurrentView(&sequence);
    CAMBIUM_TRY(const bool is_read, read_in_memory(*view, sequence));
    if (is_read) return Status::OK();
    held = view->shared_from_this();  // as in Get
  }
  const ValueQuery query = QueryFor(db_, family, options, key, entry);
  if (family.equal_by == nullptr && IsSurelyLonger(entry, key, out.size())) {
    CAMBIUM_TRY(const std::optional<std::size_t> stored, ReadValueSize(SegmentsOf(*held), query));
    if (stored.has_value() && *stored > out.size()) {  // else the address in the index is wrong
      *size = *stored;
      return Status::OK();
    }
  }
  CAMBIUM_RETURN_IF_ERROR(ReadValue(SegmentsOf(*held), query, &buffer, &value));
  take();
  return Status::OK();
}

Status Reader::Begin(const ReadOptions& options, const Family& family, Slice key, const ReadAtOnce& at_once,
                     std::string* buffer, Slice* value, std::shared_ptr<Segment>* keep, UnreadValue* unread) const {
  const PassingReads passing(!options.fill_cache);
  SequenceNumber sequence = 0;
  if (options.snapshot != nullptr || options.durable_only) {
    CAMBIUM_TRY(const std::shared_ptr<const View> view, head_.PinViewFor(options, &sequence));
    return BeginIn(*view, sequence, options, family, key, at_once, buffer, value, keep, unread);
  }
  const EpochGuard guard;
  const View* const view = head_.CurrentView(&sequence);
  return BeginIn(*view, sequence, options, family, key, at_once, buffer, value, keep, unread);
}

Status Reader::BeginIn(const View& view, SequenceNumber sequence, const ReadOptions& options, const Family& family,
                       Slice key, const ReadAtOnce& at_once, std::string* buffer, Slice* value,
                       std::shared_ptr<Segment>* keep, UnreadValue* unread) const {
  const PassingReads passing(!options.fill_cache);
  PageRef page;
  Entry entry;
  CAMBIUM_RETURN_IF_ERROR(FindEntry(view, family, sequence, key, &page, &entry));
  if (!entry.HasAddress()) return ReadEntry(view, family, options, key, entry, buffer, value, keep);
  const ValueQuery query = QueryFor(db_, family, options, key, entry);
  if (entry.address.size() <= at_once.bytes_max) {
    const bool pins = options.pin_mapped_values && keep != nullptr;
    CAMBIUM_TRY(const bool is_read,
                ReadInMemory(SegmentsOf(view), query, pins, at_once.only_mapped, buffer, value, keep));
    if (is_read) return Status::OK();
  }
  *unread = {view.shared_from_this(), query};
  return Status::OK();
}

// The keys of one MultiGet, and the state of their lookups.
struct Reader::Many {
  const ReadOptions& options;
  std::span<const Family* const> families;
  const Slice* keys;
  PinnableSlice* values;
  Status* statuses;
  ValuePins* pins;  // null: all values are copied
  std::shared_ptr<const View> view;
  SequenceNumber sequence = 0;
  std::vector<std::size_t> order;  // indexes of keys with a family, sorted by family and key
  std::vector<Lookup> lookups;     // in this order
};

// A value that has to be read from the device.
struct Reader::Waiting {
  std::size_t index = 0;  // of the key
  ValueReads::Item item;
};

void Reader::MultiGet(const ReadOptions& options, std::span<const Family* const> families, const Slice* keys,
                      PinnableSlice* values, Status* statuses, ValuePins* pins) const {
  const PassingReads passing(!options.fill_cache);
  if (!options.pin_mapped_values) pins = nullptr;
  Many many{options, families, keys, values, statuses, pins, nullptr, 0, {}, {}};
  many.order.reserve(families.size());
  for (std::size_t i = 0; i < families.size(); ++i) {
    if (families[i] != nullptr) many.order.push_back(i);
  }
  if (many.order.empty()) return;
  // Neighbours in key order share pages and, after a relocation, places in the log.
  std::sort(many.order.begin(), many.order.end(), [&](std::size_t a, std::size_t b) {
    if (families[a] != families[b]) return families[a]->id < families[b]->id;
    return families[a]->options().comparator->Compare(keys[a], keys[b]) < 0;
  });
  Result<std::shared_ptr<const View>> view = head_.PinViewFor(options, &many.sequence);
  if (!view.ok()) {
    for (const std::size_t i : many.order) statuses[i] = view.status();
    return;
  }
  many.view = std::move(*view);
  many.lookups.reserve(many.order.size());
  for (const std::size_t i : many.order) many.lookups.emplace_back(keys[i], FilterHash(keys[i]));
  FindAll(&many);
  std::vector<Waiting> waiting;
  waiting.reserve(many.order.size());
  ReadCached(&many, &waiting);
  if (!waiting.empty()) ReadFromDevice(&many, &waiting);
}

void Reader::FindAll(Many* many) const {
  constexpr std::size_t kTogether = 48;  // keys for which pages of inline values are pinned at a time
  const std::vector<std::size_t>& order = many->order;
  assert(many->view != nullptr && many->lookups.size() == order.size());
  for (std::size_t first = 0, end = 0; first < order.size(); first = end) {
    const Family* const family = many->families[order[first]];
    while (end < order.size() && end - first < kTogether && many->families[order[end]] == family) ++end;
    FindEntries(*many->view, *family, many->sequence, {many->lookups.data() + first, end - first});
    for (std::size_t at = first; at < end; ++at) {
      Lookup& lookup = many->lookups[at];
      const std::size_t i = order[at];
      Status& status = many->statuses[i];
      status = lookup.status;
      if (!status.ok() || lookup.entry.HasAddress()) continue;
      Slice found;
      status = ReadEntry(*many->view, *family, many->options, many->keys[i], lookup.entry, many->values[i].GetSelf(),
                         &found, nullptr);
      if (status.ok()) many->values[i].PinSelfPart(found);
      lookup.keep.Release();
    }
  }
}

void Reader::ReadCached(Many* many, std::vector<Waiting>* waiting) const {
  const SegmentTable& segments = SegmentsOf(*many->view);
  for (std::size_t at = 0; at < many->order.size(); ++at) {
    const std::size_t i = many->order[at];
    const Lookup& lookup = many->lookups[at];
    if (db_.options.allow_mmap_reads) PrefetchValues(segments, many->lookups, at);
    Status& status = many->statuses[i];
    if (!status.ok() || !lookup.entry.HasAddress()) continue;
    const ValueQuery query = QueryFor(db_, *many->families[i], many->options, many->keys[i], lookup.entry);
    Slice found;
    std::shared_ptr<Segment> keep;
    const Result<bool> cached =
        ReadInMemory(segments, query, many->pins != nullptr, false, many->values[i].GetSelf(), &found, &keep);
    status = cached.status();
    if (cached.ok() && !*cached) {
      waiting->push_back({i, {}});
      waiting->back().item.query = query;
    } else if (status.ok() && keep != nullptr) {
      many->pins->Pin(&many->values[i], found, std::move(keep));
    } else if (status.ok()) {
      many->values[i].PinSelfPart(found);
    }
  }
}

void Reader::ReadFromDevice(Many* many, std::vector<Waiting>* waiting) const {
  // Values are read together, in groups of this size, to bound the memory of the blocks that are read.
  constexpr std::uint64_t kBytesTogether = 8u << 20;
  ValueReads reads(&read_queues_, many->options.async_io);
  for (std::size_t first = 0, end = 0; first < waiting->size(); first = end) {
    for (std::uint64_t bytes = 0; end < waiting->size() && bytes < kBytesTogether; ++end) {
      bytes += (*waiting)[end].item.query.address.size();
      reads.Add(SegmentsOf(*many->view), &(*waiting)[end].item);
    }
    reads.Submit();
    for (std::size_t at = first; at < end; ++at) {
      Waiting& each = (*waiting)[at];
      if (!each.item.is_done) reads.Await(each.item);
      many->statuses[each.index] = each.item.status;
      if (!each.item.status.ok()) continue;
      if (many->pins != nullptr) NoteVerified(SegmentsOf(*many->view), each.item.query);
      PinnableSlice& value = many->values[each.index];
      *value.GetSelf() = std::move(each.item.buffer);
      value.PinSelfPart({value.GetSelf()->data(), each.item.value.size()});
    }
  }
}

}  // namespace cambium
