// Reading: point look-ups.
#include <algorithm>

#include "api/db_impl.h"
#include "util/fault_point.h"
#include "index/lookup.h"
#include "index/passing_reads.h"
#include "util/fault_point.h"
#include "util/fork_guard.h"
#include "util/mutant.h"
#include "vlog/value_reader.h"
#include "vlog/value_reads.h"

namespace cambium {
namespace {

// A family that a view does not have was made after the snapshot, and was empty then; or it is gone.
Status NotInView(const Family& family) {
  const bool is_gone = family.dropped.load(std::memory_order_acquire);
  return is_gone ? Status::ColumnFamilyDropped("column family \"" + family.name + "\" was dropped") : Status::NotFound();
}

Tickers TickerOf(FoundIn where) {
  switch (where) {
    case FoundIn::kRun: return GET_HIT_L0;
    case FoundIn::kLevel1: return GET_HIT_L1;
    case FoundIn::kDeeperLevel: return GET_HIT_L2_AND_UP;
    default: return GET_HIT_TREE;
  }
}

// What the processor's caches are asked for while the value at `at` is copied.
void PrefetchValues(const SegmentTable& segments, std::span<const Lookup> lookups, std::size_t at) {
  const std::size_t first = at == 0 ? 1 : at + kValuesPrefetched;
  for (std::size_t i = first; i < std::min(lookups.size(), at + kValuesPrefetched + 1); ++i) {
    const bool is_value = lookups[i].status.ok() && lookups[i].entry.kind == EntryKind::kValue;
    if (is_value) PrefetchMappedValue(segments, lookups[i].entry.address);
  }
}

}  // namespace

Status DbImpl::CheckRead(const ReadOptions& options) const {
  if (ForkGeneration() != fork_generation_) return Status::NotSupported("a database cannot be used in a forked child");
  if (closed_.load(std::memory_order_acquire)) return Status::ShutdownInProgress("the database is closed");
  if (options.durable_only && options.snapshot != nullptr) {
    return Status::InvalidArgument("durable_only reads at the durable state, so it cannot read at a snapshot");
  }
  return Status::OK();
}

// Records are published after the view that can show them is installed. So if the view is still the same after the
// sequence number was read, it shows everything up to there; else look again.
const View* DbImpl::CurrentView(SequenceNumber* sequence) const {
  const View* view = view_.Peek();
  while (true) {
    *sequence = published_.load(std::memory_order_seq_cst);
    const View* again = view_.Peek();
    if (again == view || MutantIs(Mutant::kSnapshotViewOnce)) return view;
    view = again;
  }
}

std::shared_ptr<const View> DbImpl::PinView(const ReadOptions& options, SequenceNumber* sequence) const {
  if (options.snapshot != nullptr) {
    const auto* snapshot = static_cast<const SnapshotImpl*>(options.snapshot);
    *sequence = snapshot->GetSequenceNumber();
    return snapshot->view();
  }
  std::shared_ptr<const View> view = view_.Pin();
  while (true) {
    CAMBIUM_FAULT_POINT("PinView:between");
    *sequence = published_.load(std::memory_order_seq_cst);
    std::shared_ptr<const View> again = view_.Pin();
    if (again == view || MutantIs(Mutant::kSnapshotViewOnce)) break;
    view = std::move(again);
  }
  if (options.durable_only && log_ != nullptr && !MutantIs(Mutant::kDurableOnlyIgnored)) {
    *sequence = std::min(*sequence, log_->durable_sequence());
  }
  return view;
}

const SegmentTable& DbImpl::SegmentsOf(const View& view) const {
  return MutantIs(Mutant::kSlotOfNewestView) ? view_.Peek()->segments : view.segments;
}

ValueQuery DbImpl::QueryFor(const Family& family, const ReadOptions& options, Slice key, const Entry& entry) const {
  return {entry.address, family.id, key, options.verify_checksums, family.equal_by, meter_.is_on() ? &meter_ : nullptr};
}

Status DbImpl::ReadEntry(const View& view, const Family& family, const ReadOptions& options, Slice key,
                         const Entry& entry, std::string* buffer, Slice* value) const {
  switch (entry.kind) {
    case EntryKind::kInline:
      buffer->assign(entry.inline_value.data(), entry.inline_value.size());
      *value = *buffer;
      return Status::OK();
    case EntryKind::kValue:
    case EntryKind::kLargeValue:
      return ReadValue(SegmentsOf(view), QueryFor(family, options, key, entry), buffer, value);
    default: return Status::NotFound();
  }
}

Status DbImpl::FindEntry(const View& view, const Family& family, SequenceNumber sequence, Slice key, PageRef* keep,
                         Entry* entry) const {
  const FamilyView* const layers = view.Find(family.id);
  if (layers == nullptr) return NotInView(family);
  if (View::FindInMemory(*layers, key, sequence, entry)) {
    meter_.Tick(MEMTABLE_HIT);
    return Status::OK();
  }
  meter_.Tick(MEMTABLE_MISS);
  FoundIn where{};
  const Result<bool> found = layers->layers->Find(key, keep, entry, &where);
  if (found.ok() && *found) meter_.Tick(TickerOf(where));
  if (!found.ok() && !MutantIs(Mutant::kErrorReadsAsAbsence)) return found.status();
  if (!found.ok() || !*found) *entry = Entry::Tombstone();
  return Status::OK();
}

void DbImpl::FindEntries(const View& view, const Family& family, SequenceNumber sequence,
                         std::span<Lookup> lookups) const {
  const FamilyView* const layers = view.Find(family.id);
  if (layers == nullptr) {
    for (Lookup& lookup : lookups) lookup.Finish(NotInView(family));
    return;
  }
  for (Lookup& lookup : lookups) lookup.Finish(View::FindInMemory(*layers, lookup.key, sequence, &lookup.entry));
  if (meter_.is_on()) {
    const auto hits = static_cast<std::uint64_t>(std::ranges::count_if(lookups, &Lookup::is_found));
    meter_.Tick(MEMTABLE_HIT, hits);
    meter_.Tick(MEMTABLE_MISS, lookups.size() - hits);
  }
  layers->layers->FindTogether(lookups);
  for (Lookup& lookup : lookups) {
    if (lookup.found_in != FoundIn::kNowhere) meter_.Tick(TickerOf(lookup.found_in));
    if (MutantIs(Mutant::kErrorReadsAsAbsence)) lookup.status = Status::OK();
    if (lookup.status.ok() && !lookup.is_found) lookup.entry = Entry::Tombstone();
  }
}

Status DbImpl::GetFrom(const View& view, const Family& family, SequenceNumber sequence, const ReadOptions& options,
                       Slice key, std::string* buffer, Slice* value) const {
  PageRef keep;
  Entry entry;
  CAMBIUM_RETURN_IF_ERROR(FindEntry(view, family, sequence, key, &keep, &entry));
  return ReadEntry(view, family, options, key, entry, buffer, value);
}

Status DbImpl::GetNow(const ReadOptions& options, ColumnFamilyHandle* handle, Slice key, std::string* buffer,
                      Slice* value) const {
  CAMBIUM_RETURN_IF_ERROR(CheckRead(options));
  CAMBIUM_TRY(const Family* const family, FamilyOf(handle));
  const PassingReads passing(!options.fill_cache);
  SequenceNumber sequence = 0;
  if (options.snapshot != nullptr || options.durable_only) {
    const std::shared_ptr<const View> view = PinView(options, &sequence);
    return GetFrom(*view, *family, sequence, options, key, buffer, value);
  }
  Entry entry;
  std::shared_ptr<const View> held;
  {
    const EpochGuard guard;
    const View* const view = CurrentView(&sequence);
    if (MutantIs(Mutant::kThreadPinsView)) {
      static thread_local std::shared_ptr<const View> kept;
      kept = view_.Pin();
    }
    PageRef keep;
    CAMBIUM_RETURN_IF_ERROR(FindEntry(*view, *family, sequence, key, &keep, &entry));
    if (!entry.HasAddress()) return ReadEntry(*view, *family, options, key, entry, buffer, value);
    CAMBIUM_TRY(const bool is_read,
                ReadCachedValue(SegmentsOf(*view), QueryFor(*family, options, key, entry), buffer, value));
    if (is_read) return Status::OK();
    // The device has to be asked. An epoch keeps the memory of all databases of the process from being given back; a
    // view that is held by count keeps only what it needs.
    held = view->shared_from_this();
  }
  return ReadValue(SegmentsOf(*held), QueryFor(*family, options, key, entry), buffer, value);
}

void DbImpl::CountGet(const Status& status, Slice value) const {
  meter_.Tick(NUMBER_KEYS_READ);
  if (!status.ok()) return;
  meter_.Tick(BYTES_READ, value.size());
  meter_.Measure(BYTES_PER_READ, value.size());
}

Status DbImpl::Get(const ReadOptions& options, ColumnFamilyHandle* family, Slice key, std::string* value) {
  const Stopwatch watch(&meter_, DB_GET);
  const SampledCall sampled(&foreground_, CallKind::kRead);
  TracedCall traced(&traces_, kTraceFilterGet);
  Slice found;
  const Status s = GetNow(options, family, key, value, &found);
  if (traced.is_on()) [[unlikely]] TraceGet(&traced, family, key, s, found);
  if (meter_.is_on()) CountGet(s, found);
  if (s.ok()) {
    value->erase(0, static_cast<std::size_t>(found.empty() ? 0 : found.data() - value->data()));
    value->resize(found.size());
  } else if (!s.IsNotFound()) {
    value->clear();  // nobody shall take damaged bytes for a value
  }
  return s;
}

Status DbImpl::Get(const ReadOptions& options, ColumnFamilyHandle* family, Slice key, PinnableSlice* value) {
  const Stopwatch watch(&meter_, DB_GET);
  const SampledCall sampled(&foreground_, CallKind::kRead);
  TracedCall traced(&traces_, kTraceFilterGet);
  value->Reset();
  Slice found;
  const Status s = GetNow(options, family, key, value->GetSelf(), &found);
  if (traced.is_on()) [[unlikely]] TraceGet(&traced, family, key, s, found);
  if (meter_.is_on()) CountGet(s, found);
  if (s.ok()) value->PinSelfPart(found);
  return s;
}

void DbImpl::MultiGet(const ReadOptions& options, std::size_t count, ColumnFamilyHandle* const* handles,
                      const Slice* keys, PinnableSlice* values, Status* statuses) {
  const Stopwatch watch(&meter_, DB_MULTIGET);
  TracedCall traced(&traces_, kTraceFilterMultiGet);
  MultiGetNow(options, count, handles, keys, values, statuses);
  if (traced.is_on()) TraceMultiGet(&traced, {handles, count}, keys, values, statuses);
  if (!meter_.is_on()) return;
  std::uint64_t found = 0;
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (!statuses[i].ok()) continue;
    ++found;
    bytes += values[i].size();
  }
  meter_.Tick(NUMBER_MULTIGET_CALLS);
  meter_.Tick(NUMBER_MULTIGET_KEYS_READ, count);
  meter_.Tick(NUMBER_MULTIGET_KEYS_FOUND, found);
  meter_.Tick(NUMBER_MULTIGET_BYTES_READ, bytes);
  meter_.Measure(BYTES_PER_MULTIGET, bytes);
}

void DbImpl::MultiGetNow(const ReadOptions& options, std::size_t count, ColumnFamilyHandle* const* handles,
                         const Slice* keys, PinnableSlice* values, Status* statuses) {
  const PassingReads passing(!options.fill_cache);
  std::vector<const Family*> families(count);
  std::vector<std::size_t> order;
  order.reserve(count);
  const Status allowed = CheckRead(options);
  for (std::size_t i = 0; i < count; ++i) {
    values[i].Reset();
    const Result<Family*> family = FamilyOf(handles[i]);
    statuses[i] = !allowed.ok() ? allowed : family.ok() ? Status::OK() : family.status();
    if (!statuses[i].ok()) continue;
    families[i] = *family;
    order.push_back(i);
  }
  if (order.empty()) return;
  // Neighbours in key order share pages and, after a relocation, places in the log.
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (families[a] != families[b]) return families[a]->id < families[b]->id;
    return families[a]->options().comparator->Compare(keys[a], keys[b]) < 0;
  });
  SequenceNumber sequence = 0;
  const std::shared_ptr<const View> view = PinView(options, &sequence);
  std::vector<Lookup> lookups;
  lookups.reserve(order.size());
  for (const std::size_t i : order) lookups.emplace_back(keys[i], FilterHash(keys[i]));
  // So many at a time that pages of inline values are pinned for.
  constexpr std::size_t kTogether = 128;
  for (std::size_t first = 0, end = 0; first < order.size(); first = end) {
    const Family* const family = families[order[first]];
    while (end < order.size() && end - first < kTogether && families[order[end]] == family) ++end;
    FindEntries(*view, *family, sequence, {lookups.data() + first, end - first});
    for (std::size_t at = first; at < end; ++at) {
      Lookup& lookup = lookups[at];
      const std::size_t i = order[at];
      statuses[i] = lookup.status;
      if (!statuses[i].ok() || lookup.entry.HasAddress()) continue;
      Slice found;
      statuses[i] = ReadEntry(*view, *family, options, keys[i], lookup.entry, values[i].GetSelf(), &found);
      if (statuses[i].ok()) values[i].PinSelfPart(found);
      lookup.keep.Release();
    }
  }
  struct Waiting {
    std::size_t index;
    ValueReads::Item item;
  };
  std::vector<Waiting> waiting;  // for the device
  waiting.reserve(order.size());
  for (std::size_t at = 0; at < order.size(); ++at) {
    const std::size_t i = order[at];
    const Lookup& lookup = lookups[at];
    if (options_.allow_mmap_reads) PrefetchValues(SegmentsOf(*view), lookups, at);
    if (!statuses[i].ok() || !lookup.entry.HasAddress()) continue;
    const ValueQuery query = QueryFor(*families[i], options, keys[i], lookup.entry);
    Slice found;
    const Result<bool> cached = ReadCachedValue(SegmentsOf(*view), query, values[i].GetSelf(), &found);
    statuses[i] = cached.status();
    if (cached.ok() && !*cached) {
      waiting.push_back({i, {}});
      waiting.back().item.query = query;
    } else if (statuses[i].ok()) {
      values[i].PinSelfPart(found);
    }
  }
  if (waiting.empty()) return;
  // Read together, but not so much of it that the blocks take more memory than the values.
  constexpr std::uint64_t kBytesTogether = 8u << 20;
  ValueReads reads(&read_queues_, options.async_io);
  for (std::size_t first = 0, end = 0; first < waiting.size(); first = end) {
    for (std::uint64_t bytes = 0; end < waiting.size() && bytes < kBytesTogether; ++end) {
      bytes += waiting[end].item.query.address.size();
      reads.Add(SegmentsOf(*view), &waiting[end].item);
    }
    reads.Submit();
    for (std::size_t at = first; at < end; ++at) {
      Waiting& each = waiting[at];
      if (!each.item.is_done) reads.Await(each.item);
      statuses[each.index] = each.item.status;
      if (!each.item.status.ok()) continue;
      *values[each.index].GetSelf() = std::move(each.item.buffer);
      values[each.index].PinSelfPart({values[each.index].GetSelf()->data(), each.item.value.size()});
    }
  }
}

void DB::MultiGet(const ReadOptions& options, ColumnFamilyHandle* family, std::size_t count, const Slice* keys,
                  PinnableSlice* values, Status* statuses) {
  const std::vector<ColumnFamilyHandle*> families(count, family);
  MultiGet(options, count, families.data(), keys, values, statuses);
}

std::vector<Status> DB::MultiGet(const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& families,
                                 const std::vector<Slice>& keys, std::vector<std::string>* values) {
  values->clear();
  if (families.size() != keys.size()) {
    return std::vector<Status>(keys.size(), Status::InvalidArgument("MultiGet takes a column family for each key"));
  }
  std::vector<Status> statuses(keys.size());
  std::vector<PinnableSlice> found(keys.size());
  MultiGet(options, keys.size(), families.data(), keys.data(), found.data(), statuses.data());
  values->reserve(keys.size());
  for (const PinnableSlice& value : found) values->push_back(value.ToString());
  return statuses;
}

std::vector<Status> DB::MultiGet(const ReadOptions& options, const std::vector<Slice>& keys,
                                 std::vector<std::string>* values) {
  return MultiGet(options, std::vector<ColumnFamilyHandle*>(keys.size(), DefaultColumnFamily()), keys, values);
}

const Snapshot* DbImpl::GetSnapshot() {
  if (!CheckRead({}).ok()) return nullptr;
  SequenceNumber sequence = 0;
  std::shared_ptr<const View> view = PinView({}, &sequence);
  return snapshots_.Add(sequence, std::move(view));
}

void DbImpl::ReleaseSnapshot(const Snapshot* snapshot) {
  if (snapshot != nullptr && ForkGeneration() == fork_generation_) snapshots_.Release(snapshot);
}

}  // namespace cambium
