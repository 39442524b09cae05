#include "api/db_impl.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "options/options_check.h"
#include "read/async_reader.h"
#include "read/empty_iterator.h"
#include "upkeep/compact/filter_call.h"
#include "upkeep/compact/filter_job.h"
#include "util/destroy.h"
#include "util/fork_guard.h"
#include "util/mutant.h"
#include "util/null_argument.h"

namespace cambium {

DbInside* DbInside::Of(DB* db) {
  auto* const impl = db == nullptr ? nullptr : dynamic_cast<DbImpl*>(db->GetRootDB());
  return impl == nullptr ? nullptr : &impl->inside();
}

Result<Family*> DbImpl::ForReading(ColumnFamilyHandle* handle) const {
  CAMBIUM_RETURN_IF_ERROR(reader_.Check({}));
  return FamilyOf(handle);
}

Result<Family*> DbImpl::ForWriting(const WriteOptions& options, ColumnFamilyHandle* handle) const {
  CAMBIUM_RETURN_IF_ERROR(writer_.Check(options));
  return FamilyOf(handle);
}

// ---- Column families and options ----

Status DbImpl::CreateColumnFamily(const ColumnFamilyOptions& options, const std::string& name,
                                  ColumnFamilyHandle** handle) {
  const Delivery delivery(&state_.context.events);
  if (handle == nullptr) return NullArgument("CreateColumnFamily", "handle");
  *handle = nullptr;
  CAMBIUM_RETURN_IF_ERROR(writer_.Check({}));
  CAMBIUM_TRY(std::vector<std::unique_ptr<FamilyHandle>> made, families_.Create(this, options, {&name, 1}));
  *handle = made.front().release();
  return Status::OK();
}

Status DbImpl::CreateColumnFamilies(const ColumnFamilyOptions& options, const std::vector<std::string>& names,
                                    std::vector<ColumnFamilyHandle*>* handles) {
  const Delivery delivery(&state_.context.events);
  if (handles == nullptr) return NullArgument("CreateColumnFamilies", "handles");
  handles->clear();
  CAMBIUM_RETURN_IF_ERROR(writer_.Check({}));
  if (names.empty()) return Status::OK();
  handles->reserve(names.size());
  CAMBIUM_TRY(std::vector<std::unique_ptr<FamilyHandle>> made, families_.Create(this, options, names));
  for (std::unique_ptr<FamilyHandle>& handle : made) handles->push_back(handle.release());
  return Status::OK();
}

Status DbImpl::DropColumnFamily(ColumnFamilyHandle* handle) {
  const Delivery delivery(&state_.context.events);
  CAMBIUM_TRY(Family* const family, ForWriting({}, handle));
  return families_.Drop(family);
}

Status DbImpl::DestroyColumnFamilyHandle(ColumnFamilyHandle* handle) {
  CAMBIUM_RETURN_IF_ERROR(state_.context.CheckProcess());
  CAMBIUM_RETURN_IF_ERROR(FamilyOf(handle).status());
  if (handle == default_handle_.get()) {
    return Status::InvalidArgument("the handle of DefaultColumnFamily() belongs to the database");
  }
  delete handle;
  state_.jobs.ReleaseDropped();
  return Status::OK();
}

Options DbImpl::GetOptions(ColumnFamilyHandle* handle) const {
  if (!state_.context.CheckProcess().ok()) return {state_.context.options, {}};
  const Result<Family*> family = FamilyOf(handle);
  Options options{families_.DbOptions(), family.ok() ? (*family)->options() : state_.default_family->options()};
  options.info_log = state_.context.logger;
  return options;
}

Status DbImpl::SetOptions(ColumnFamilyHandle* handle, const std::unordered_map<std::string, std::string>& changes) {
  const Delivery delivery(&state_.context.events);
  CAMBIUM_TRY(Family* const family, ForWriting({}, handle));
  return families_.SetOptions(family, changes);
}

Status DbImpl::SetDBOptions(const std::unordered_map<std::string, std::string>& changes) {
  const Delivery delivery(&state_.context.events);
  CAMBIUM_RETURN_IF_ERROR(writer_.Check({}));
  return families_.SetDbOptions(changes);
}

// ---- Writing ----

Status DbImpl::Put(const WriteOptions& options, ColumnFamilyHandle* handle, Slice key, Slice value) {
  const Delivery delivery(&state_.context.events);
  const Stopwatch watch(&state_.context.meter, DB_WRITE);
  CAMBIUM_TRY(Family* const family, ForWriting(options, handle));
  return writer_.Put(options, family, key, value);
}

Status DbImpl::Delete(const WriteOptions& options, ColumnFamilyHandle* handle, Slice key) {
  return DeleteAs(TraceOpType::kDelete, options, handle, key);
}

Status DbImpl::SingleDelete(const WriteOptions& options, ColumnFamilyHandle* handle, Slice key) {
  return DeleteAs(TraceOpType::kSingleDelete, options, handle, key);
}

Status DbImpl::DeleteAs(TraceOpType type, const WriteOptions& options, ColumnFamilyHandle* handle, Slice key) {
  const Delivery delivery(&state_.context.events);
  const Stopwatch watch(&state_.context.meter, DB_WRITE);
  CAMBIUM_TRY(Family* const family, ForWriting(options, handle));
  return writer_.Delete(type, options, family, key);
}

Status DbImpl::DeleteRange(const WriteOptions& options, ColumnFamilyHandle* handle, Slice begin, Slice end) {
  CAMBIUM_TRY(const Family* const family, ForWriting(options, handle));
  if (family->dropped.load(std::memory_order_acquire)) return DroppedStatus(*family);
  WriteBatch batch;
  CAMBIUM_RETURN_IF_ERROR(batch.DeleteRange(handle, begin, end));
  return Write(options, &batch);
}

Status DbImpl::Write(const WriteOptions& options, WriteBatch* batch) {
  if (batch == nullptr) return NullArgument("Write", "batch");
  const Delivery delivery(&state_.context.events);
  const Stopwatch watch(&state_.context.meter, DB_WRITE);
  CAMBIUM_RETURN_IF_ERROR(writer_.Check(options));
  return writer_.Write(options, batch);
}

Status DbImpl::SyncWAL() {
  const Delivery delivery(&state_.context.events);
  return writer_.Sync();
}

Status DbImpl::FlushWAL(bool sync) { return sync ? SyncWAL() : writer_.Check({}); }

// ---- Reading ----

namespace {

void TraceGet(TracedCall* traced, const ColumnFamilyHandle* family, Slice key, const Status& status,
              std::size_t value_size) noexcept {
  if (!status.ok() && !status.IsNotFound()) return;
  traced->Describe(kTraceGet, [&](TraceRecord* record) {
    TraceOp& op = record->ops.emplace_back();
    op.family = family->GetID();
    op.key = key;
    op.found = status.ok();
    op.value_size = value_size;
  });
  if (traced->is_on()) traced->Record();
}

void TraceMultiGet(TracedCall* traced, std::span<ColumnFamilyHandle* const> families, const Slice* keys,
                           const PinnableSlice* values, const Status* statuses) noexcept {
  traced->Describe(kTraceMultiGet, [&](TraceRecord* record) {
    for (std::size_t i = 0; i < families.size(); ++i) {
      if (!statuses[i].ok() && !statuses[i].IsNotFound()) continue;
      TraceOp& op = record->ops.emplace_back();
      op.family = families[i]->GetID();
      op.key = keys[i];
      op.found = statuses[i].ok();
      op.value_size = op.found ? values[i].size() : 0;
    }
  });
  if (traced->is_on()) traced->Record();
}

// Moves the bytes of `from`, which may be a part of its own memory, to `to`.
void MoveTo(std::string* to, PinnableSlice* from) {
  const Slice bytes = *from;
  std::string* const self = from->GetSelf();
  const std::less_equal<> is_not_after;  // also orders pointers into different objects
  const bool is_own = is_not_after(self->data(), bytes.data()) &&
                      is_not_after(bytes.data() + bytes.size(), self->data() + self->size());
  if (is_own) {
    self->erase(0, static_cast<std::size_t>(bytes.data() - self->data()));
    self->resize(bytes.size());
  } else {
    self->assign(bytes.data(), bytes.size());
  }
  to->swap(*self);
}

}  // namespace

template <typename Read>
Status DbImpl::GetTraced(const ReadOptions& options, ColumnFamilyHandle* handle, Slice key, Read&& read) {
  const Meter& meter = state_.context.meter;
  const Stopwatch watch(&meter, DB_GET);
  const SampledCall sampled(&upkeep_.pace.foreground(), CallKind::kRead);
  TracedCall traced(&traces_, kTraceFilterGet);
  std::size_t value_size = 0;
  Status s = [&] {
    CAMBIUM_RETURN_IF_ERROR(reader_.Check(options));
    CAMBIUM_TRY(const Family* const family, FamilyOf(handle));
    return read(*family, &value_size);
  }();
  if (traced.is_on()) [[unlikely]] TraceGet(&traced, handle, key, s, value_size);
  if (meter.is_on()) {
    meter.Tick(NUMBER_KEYS_READ);
    if (s.ok()) meter.Tick(BYTES_READ, value_size);
    if (s.ok()) meter.Measure(BYTES_PER_READ, value_size);
  }
  return s;
}

namespace {

// Ends a read into *value: leaves only the bytes of `found`, which are a part of it. After an error, damaged bytes are
// not returned as a value.
void LeaveOnlyValue(const Status& read, Slice found, std::string* value) {
  if (read.ok()) {
    value->erase(0, static_cast<std::size_t>(found.empty() ? 0 : found.data() - value->data()));
    value->resize(found.size());
  } else if (!read.IsNotFound()) {
    value->clear();
  }
}

}  // namespace

Status DbImpl::Get(const ReadOptions& options, ColumnFamilyHandle* family, Slice key, std::string* value) {
  if (value == nullptr) [[unlikely]] return NullArgument("Get", "value");
  Slice found;
  Status s = GetTraced(options, family, key, [&](const Family& its, std::size_t* size) {  // not const: it is moved
    Status read = reader_.Get(options, its, key, value, &found, nullptr);
    *size = found.size();
    return read;
  });
  LeaveOnlyValue(s, found, value);
  return s;
}

Status DbImpl::GetWithVersion(const ReadOptions& options, ColumnFamilyHandle* family, Slice key, std::string* value,
                              SequenceNumber* version) {
  if (value == nullptr) [[unlikely]] return NullArgument("GetWithVersion", "value");
  if (version == nullptr) [[unlikely]] return NullArgument("GetWithVersion", "version");
  *version = 0;
  const Delivery delivery(&state_.context.events);
  Slice found;
  Status s = GetTraced(options, family, key, [&](const Family& its, std::size_t* size) {
    Status read = version_reader_.Get(options, its, key, value, &found, version);
    *size = found.size();
    return read;
  });
  LeaveOnlyValue(s, found, value);
  return s;
}

Status DbInside::GetWithVersion(const ReadOptions& options, ColumnFamilyHandle* family, Slice key, std::string* value,
                                SequenceNumber* version) {
  ColumnFamilyHandle* const its = family == nullptr ? db().DefaultColumnFamily() : family;
  return static_cast<DbImpl&>(db()).GetWithVersion(options, its, key, value, version);
}

Status DbImpl::Get(const ReadOptions& options, ColumnFamilyHandle* family, Slice key, PinnableSlice* value) {
  if (value == nullptr) [[unlikely]] return NullArgument("Get", "value");
  value->Reset();
  Slice found;
  std::shared_ptr<Segment> keep;
  Status s = GetTraced(options, family, key, [&](const Family& its, std::size_t* size) {  // likewise
    Status read = reader_.Get(options, its, key, value->GetSelf(), &found, &keep);
    *size = found.size();
    return read;
  });
  if (keep != nullptr) {
    state_.value_pins.Pin(value, found, std::move(keep));
  } else if (s.ok()) {
    value->PinSelfPart(found);
  }
  return s;
}

Status DbImpl::GetInto(const ReadOptions& options, ColumnFamilyHandle* family, Slice key, std::span<char> buffer,
                       std::size_t* size) {
  if (size == nullptr) [[unlikely]] return NullArgument("GetInto", "size");
  *size = 0;
  return GetTraced(options, family, key, [&](const Family& its, std::size_t* value_size) {
    Status read = reader_.GetInto(options, its, key, buffer, size);
    *value_size = *size;
    return read;
  });
}

void DbImpl::MultiGet(const ReadOptions& options, std::size_t count, ColumnFamilyHandle* const* handles,
                      const Slice* keys, PinnableSlice* values, Status* statuses) {
  if (handles == nullptr || keys == nullptr || values == nullptr) [[unlikely]] {
    std::fill_n(statuses, count, NullArgument("MultiGet", "an array"));
    return;
  }
  const Meter& meter = state_.context.meter;
  const Stopwatch watch(&meter, DB_MULTIGET);
  TracedCall traced(&traces_, kTraceFilterMultiGet);
  const Status allowed = reader_.Check(options);
  std::vector<const Family*> families(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i].Reset();
    const Result<Family*> family = FamilyOf(handles[i]);
    statuses[i] = !allowed.ok() ? allowed : family.ok() ? Status::OK() : family.status();
    if (statuses[i].ok()) families[i] = *family;
  }
  reader_.MultiGet(options, families, keys, values, statuses, &state_.value_pins);
  if (traced.is_on()) TraceMultiGet(&traced, {handles, count}, keys, values, statuses);
  if (!meter.is_on()) return;
  std::uint64_t found = 0;
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (!statuses[i].ok()) continue;
    ++found;
    bytes += values[i].size();
  }
  meter.Tick(NUMBER_MULTIGET_CALLS);
  meter.Tick(NUMBER_MULTIGET_KEYS_READ, count);
  meter.Tick(NUMBER_MULTIGET_KEYS_FOUND, found);
  meter.Tick(NUMBER_MULTIGET_BYTES_READ, bytes);
  meter.Measure(BYTES_PER_MULTIGET, bytes);
}

void DB::MultiGet(const ReadOptions& options, ColumnFamilyHandle* family, std::size_t count, const Slice* keys,
                  PinnableSlice* values, Status* statuses) {
  const std::vector<ColumnFamilyHandle*> families(count, family);
  MultiGet(options, count, families.data(), keys, values, statuses);
}

std::vector<Status> DB::MultiGet(const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& families,
                                 const std::vector<Slice>& keys, std::vector<std::string>* values) {
  if (values == nullptr) return std::vector<Status>(keys.size(), NullArgument("MultiGet", "values"));
  if (families.size() != keys.size()) {
    values->clear();
    return std::vector<Status>(keys.size(), Status::InvalidArgument("MultiGet takes a column family for each key"));
  }
  std::vector<Status> statuses(keys.size());
  std::vector<PinnableSlice> found(keys.size());
  // The strings of the caller lend their memory, and get it back with the values. For a large value, taking new memory
  // page by page would cost several times as much as copying the value.
  values->resize(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) found[i].GetSelf()->swap((*values)[i]);
  ReadOptions copying = options;
  copying.pin_mapped_values = false;
  MultiGet(copying, keys.size(), families.data(), keys.data(), found.data(), statuses.data());
  for (std::size_t i = 0; i < keys.size(); ++i) MoveTo(&(*values)[i], &found[i]);
  return statuses;
}

std::vector<Status> DB::MultiGet(const ReadOptions& options, const std::vector<Slice>& keys,
                                 std::vector<std::string>* values) {
  return MultiGet(options, std::vector<ColumnFamilyHandle*>(keys.size(), DefaultColumnFamily()), keys, values);
}

Status DbImpl::GetApproximateSizes(const SizeApproximationOptions& options, ColumnFamilyHandle* handle,
                                   const Range* ranges, int count, std::uint64_t* sizes) {
  if (!options.include_files && !options.include_memtables) {
    return Status::InvalidArgument("GetApproximateSizes: include_files and include_memtables are both off");
  }
  if (count < 0) return Status::InvalidArgument("GetApproximateSizes: the count is " + std::to_string(count));
  if (count > 0 && (ranges == nullptr || sizes == nullptr)) return NullArgument("GetApproximateSizes", "an array");
  CAMBIUM_TRY(const Family* const family, ForReading(handle));
  SequenceNumber sequence = 0;
  const std::shared_ptr<const View> view = state_.head.PinView(&sequence);
  const FamilyView* const found = view->Find(family->id);
  if (found == nullptr) return DroppedStatus(*family);
  const Comparator& order = *family->options().comparator;
  for (int i = 0; i < count; ++i) {
    sizes[i] = 0;
    const auto [start, limit] = ranges[i];
    if (order.Compare(start, limit) >= 0) continue;
    if (options.include_files) {
      CAMBIUM_TRY(sizes[i], found->layers->ApproximateSize(start, limit));
    }
    if (!options.include_memtables) continue;
    sizes[i] += found->active->ApproximateSize(start, limit);
    for (const FrozenTable& frozen : found->frozen) sizes[i] += frozen.table->ApproximateSize(start, limit);
  }
  return Status::OK();
}

Status DbImpl::NewAsyncReader(const AsyncReaderOptions& options, std::unique_ptr<AsyncReader>* reader) {
  if (reader == nullptr) return NullArgument("NewAsyncReader", "reader");
  reader->reset();
  CAMBIUM_RETURN_IF_ERROR(reader_.Check({}));
  CAMBIUM_TRY(*reader,
              AsyncReaderImpl::Make({this, default_handle_.get(), &state_, &reader_, &traces_}, options));
  return Status::OK();
}

const Snapshot* DbImpl::GetSnapshot() {
  if (!reader_.Check({}).ok()) return nullptr;
  SequenceNumber sequence = 0;
  std::shared_ptr<const View> view = state_.head.PinView(&sequence);
  return state_.snapshots.Add(sequence, std::move(view));
}

void DbImpl::ReleaseSnapshot(const Snapshot* snapshot) {
  if (snapshot != nullptr && ForkGeneration() == state_.context.fork_generation) state_.snapshots.Release(snapshot);
}

ManagedSnapshot::ManagedSnapshot(DB* db) : db_(db), snapshot_(db->GetSnapshot()) {}
ManagedSnapshot::~ManagedSnapshot() {
  if (snapshot_ != nullptr) db_->ReleaseSnapshot(snapshot_);
}

// ---- Scans ----

namespace {

// An iterator shows operations up to this number, and later ones in a mutant.
SequenceNumber SequenceOfIterator(SequenceNumber published) {
  return MutantIs(Mutant::kIteratorReadsLatest) ? kMaxSequenceNumber : published;
}

}  // namespace

Iterator* DbImpl::NewIterator(const ReadOptions& options, ColumnFamilyHandle* family) {
  std::vector<Iterator*> made;
  const Status s = NewIterators(options, {family}, &made);
  return s.ok() ? made.front() : new EmptyIterator(s);
}

Status DbImpl::NewIterators(const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& handles,
                            std::vector<Iterator*>* iterators) {
  if (iterators == nullptr) return NullArgument("NewIterators", "iterators");
  iterators->clear();
  CAMBIUM_RETURN_IF_ERROR(reader_.Check(options));
  SequenceNumber sequence = 0;
  CAMBIUM_TRY(const std::shared_ptr<const View> view, state_.head.PinViewFor(options, &sequence));
  std::vector<std::shared_ptr<const Family>> families;  // null: created after the snapshot
  for (ColumnFamilyHandle* const handle : handles) {
    CAMBIUM_TRY(const Family* const family, FamilyOf(handle));
    const FamilyView* const found = view->Find(family->id);
    if (found == nullptr && family->dropped.load(std::memory_order_acquire)) return DroppedStatus(*family);
    families.push_back(found == nullptr ? nullptr : found->family);
  }
  std::vector<std::unique_ptr<Iterator>> made;
  for (auto& family : families) {
    if (family == nullptr) {
      made.push_back(std::make_unique<EmptyIterator>(Status::OK()));
    } else {
      made.push_back(AllocateAndMake<DbIterator>([&](void* at) {
        return ::new (at) DbIterator(&iterator_source_, std::move(family), options, view, SequenceOfIterator(sequence));
      }));
    }
  }
  iterators->reserve(made.size());
  for (std::unique_ptr<Iterator>& iterator : made) iterators->push_back(iterator.release());
  return Status::OK();
}

Status DbImpl::VerifyChecksum(const ReadOptions& options) {
  CAMBIUM_RETURN_IF_ERROR(reader_.Check(options));
  ReadOptions all = options;
  all.iterate_lower_bound = all.iterate_upper_bound = nullptr;
  all.allow_unprepared_value = false;
  all.verify_checksums = true;
  all.pin_mapped_values = false;  // a value in a mapping is verified only once, at its first read
  SequenceNumber sequence = 0;
  CAMBIUM_TRY(const std::shared_ptr<const View> view, state_.head.PinViewFor(all, &sequence));
  for (const FamilyView& each : view->families) {
    DbIterator it(&iterator_source_, each.family, all, view, SequenceOfIterator(sequence));
    for (it.SeekToFirst(); it.Valid(); it.Next()) {
    }
    CAMBIUM_RETURN_IF_ERROR(it.status());
  }
  return Status::OK();
}

// ---- Upkeep ----

Status DbImpl::Flush(const FlushOptions& options, ColumnFamilyHandle* handle) {
  const Delivery delivery(&state_.context.events);
  CAMBIUM_TRY(Family* const family, ForWriting({}, handle));
  return upkeep_.flusher.FlushNow(family, options.wait);
}

// Compacts in the caller's thread, step by step, in turn with the background.
Status DbImpl::CompactRange(const CompactRangeOptions& options, ColumnFamilyHandle* handle, const Slice* begin,
                            const Slice* end) {
  const Delivery delivery(&state_.context.events);
  using Policy = BlobGarbageCollectionPolicy;
  const Policy policy = options.blob_garbage_collection_policy;
  if (policy > Policy::kUseDefault) {
    return Status::InvalidArgument("blob_garbage_collection_policy is " + std::to_string(static_cast<int>(policy)) +
                                   "; BlobGarbageCollectionPolicy has kForce, kDisable and kUseDefault");
  }
  CAMBIUM_TRY(Family* const family, ForWriting({}, handle));
  const std::shared_ptr<Family> its = state_.commits.FindFamily(family->id);
  if (its == nullptr) return DroppedStatus(*family);
  FilterCall call(&state_, its);
  if (HasFilter(its->options())) CAMBIUM_RETURN_IF_ERROR(call.Begin());
  GcHold hold(policy == Policy::kDisable ? &upkeep_.gc_segments : nullptr);
  Status s = CompactKeys(family, begin, end);
  if (s.ok() && options.cluster_values) {
    const std::shared_ptr<Family> kept = state_.commits.FindFamily(family->id);
    if (kept != nullptr) s = upkeep_.manual_gc.ClusterRange(kept, begin, end);
    if (s.ok()) s = CompactKeys(family, begin, end);  // turns the old copies into garbage
  }
  if (s.ok()) s = upkeep_.manual_gc.CollectFor(options, begin == nullptr && end == nullptr);
  if (hold.Release() && s.ok()) upkeep_.collector.ScheduleIfDue();
  return s;
}

Status DbImpl::CompactKeys(Family* family, const Slice* begin, const Slice* end) {
  CAMBIUM_RETURN_IF_ERROR(writer_.Check({}));
  CAMBIUM_RETURN_IF_ERROR(upkeep_.flusher.FlushNow(family, /*wait=*/true));
  const std::shared_ptr<Family> kept = state_.commits.FindFamily(family->id);
  if (kept == nullptr) return Status::OK();  // dropped since
  return upkeep_.compactor.CompactKeys(kept, begin, end, /*rewrites=*/false);
}

Status DbImpl::WaitForCompact() {
  const Delivery delivery(&state_.context.events);
  CAMBIUM_RETURN_IF_ERROR(writer_.Check({}));
  return upkeep_.WaitForAll();
}

// ---- Figures and traces ----

bool DbImpl::GetIntProperty(ColumnFamilyHandle* handle, Slice property, std::uint64_t* value) {
  const Result<Family*> family = ForReading(handle);
  return value != nullptr && family.ok() && properties_.GetInt(**family, property, value);
}

bool DbImpl::GetMapProperty(ColumnFamilyHandle* handle, Slice property, std::map<std::string, std::string>* value) {
  const Result<Family*> family = ForReading(handle);
  return value != nullptr && family.ok() && properties_.GetMap(**family, property, value);
}

bool DbImpl::GetProperty(ColumnFamilyHandle* handle, Slice property, std::string* value) {
  const Result<Family*> family = ForReading(handle);
  return value != nullptr && family.ok() && properties_.GetText(**family, property, value);
}

Status DbImpl::StartTrace(const TraceOptions& options, std::unique_ptr<TraceWriter>&& writer) {
  CAMBIUM_RETURN_IF_ERROR(reader_.Check({}));
  const auto take = [&](std::unique_ptr<TraceWriter>* its) {
    *its = std::move(writer);
    return Status::OK();
  };
  const DBOptions& its = state_.context.options;
  return traces_.Start(options, take, its.clock.get(), its.random_source.get());
}

// The file is created only if the options are valid and no trace is running.
Status DbImpl::StartTrace(const TraceOptions& options, const std::string& path) {
  CAMBIUM_RETURN_IF_ERROR(reader_.Check({}));
  const DBOptions& its = state_.context.options;
  const auto make = [&](std::unique_ptr<TraceWriter>* writer) {
    return NewFileTraceWriter(its.file_system, path, writer);
  };
  return traces_.Start(options, make, its.clock.get(), its.random_source.get());
}

Status DbImpl::GetDbIdentity(std::string& identity) const {
  CAMBIUM_RETURN_IF_ERROR(reader_.Check({}));
  constexpr char kDigits[] = "0123456789abcdef";
  identity.clear();
  for (const unsigned char byte : state_.context.database_id) {
    identity += kDigits[byte >> 4];
    identity += kDigits[byte & 15];
  }
  return Status::OK();
}

Status DbImpl::EndTrace() {
  CAMBIUM_RETURN_IF_ERROR(reader_.Check({}));
  return traces_.End();
}

// ---- Calls that this version does not have ----

Status DbImpl::Merge(const WriteOptions&, Slice, Slice) { return Status::NotSupported("Merge is not in this version"); }

Status DbImpl::IngestExternalFile(const std::vector<std::string>&) {
  return Status::NotSupported("ingestion is not in this version");
}

Status DbImpl::Resume() {
  const Delivery delivery(&state_.context.events);
  CAMBIUM_RETURN_IF_ERROR(reader_.Check({}));
  const Status health = state_.jobs.Health();
  if (health.ok()) return upkeep_.failing_jobs.RunAgain();
  return Status::NotSupported("only a new Open ends a fatal error: " + health.ToString());
}

}  // namespace cambium
