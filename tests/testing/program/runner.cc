#include "testing/program/runner.h"

#include <algorithm>
#include <utility>

#include "testing/test_comparators.h"

namespace cambium::testing {
namespace {

bool IsAsync(const Operation& op) { return op.id % 2 == 1; }

// Whether the operation is likely to have changed the layers. Flushes that other operations cause change them too.
bool ChecksAccountsAfter(const Operation& op) {
  using Verb = Operation::Verb;
  return op.verb == Verb::kFlush || op.verb == Verb::kCompact || op.verb == Verb::kReopen ||
         op.verb == Verb::kBackground || op.id % 8 == 0;
}

}  // namespace

Runner::Runner(const Program& program, ProgramDatabase* database, std::shared_ptr<Timeline> timeline, Policy policy)
    : program_(program), database_(database), timeline_(std::move(timeline)), policy_(std::move(policy)) {}

Runner::~Runner() { ReleaseAll(); }

void Runner::ReleaseAll() {
  for (auto& held : iterators_) held.reset();
  for (auto& held : snapshots_) {
    if (held.has_value() && database_->get() != nullptr) database_->get()->ReleaseSnapshot(held->snapshot);
    held.reset();
  }
}

std::string Runner::Run(const Operation& op) {
  std::string wrong;
  try {
    wrong = RunUnguarded(op);
    if (wrong.empty()) wrong = database_->CheckListeners(!policy_.faults);
    if (wrong.empty()) wrong = database_->CheckInvariants();
    if (wrong.empty() && !policy_.faults && ChecksAccountsAfter(op)) wrong = database_->CheckAccounts();
  } catch (const Stuck&) {
    for (auto& held : iterators_) {
      if (held.has_value()) static_cast<void>(held->iterator.release());
      held.reset();
    }
    for (auto& held : snapshots_) held.reset();
    database_->Abandon();
    wrong = "the call waits, but no task is left that could wake it";
  }
  return wrong.empty() ? "" : "operation " + op.ToString() + "\n  " + wrong;
}

std::string Runner::RunUnguarded(const Operation& op) {
  database_->MovePages(op.id);
  switch (op.verb) {
    case Operation::Verb::kWrite: return Write(op);
    case Operation::Verb::kSyncWal: return Sync();
    case Operation::Verb::kFlush: {
      const std::size_t commits = timeline_->commit_count();
      FlushOptions options;
      options.wait = op.flag;
      const Status status = database_->get()->Flush(options);
      if (status.ok() && op.flag) timeline_->AcknowledgeSync(commits);
      return JudgeWrite(status, "Flush");
    }
    case Operation::Verb::kCompact: {
      const std::size_t commits = timeline_->commit_count();
      const Slice lower = op.lower.has_value() ? Slice(*op.lower) : Slice();
      const Slice upper = op.upper.has_value() ? Slice(*op.upper) : Slice();
      CompactRangeOptions options;
      options.blob_garbage_collection_policy = static_cast<BlobGarbageCollectionPolicy>(op.slot % 3);
      if (op.slot == 0) options.blob_garbage_collection_age_cutoff = 1;
      options.cluster_values = op.id % 4 == 3;
      const Status status = database_->get()->CompactRange(options, op.lower.has_value() ? &lower : nullptr,
                                                           op.upper.has_value() ? &upper : nullptr);
      if (status.ok()) timeline_->AcknowledgeSync(commits);
      if (status.IsIncomplete() && options.cluster_values && program_.config.max_space_amplification != 0) return "";
      if (status.ok() && database_->has_filter()) timeline_->Filtered(op.lower, op.upper);
      return JudgeWrite(status, "CompactRange");
    }
    case Operation::Verb::kGet: return Get(op);
    case Operation::Verb::kMultiGet: return MultiGet(op);
    case Operation::Verb::kIterate: return Iterate(op);
    case Operation::Verb::kTakeSnapshot: {
      auto& held = snapshots_[op.slot % kSnapshotSlots];
      if (held.has_value()) return "";
      const Snapshot* snapshot = database_->get()->GetSnapshot();
      if (snapshot == nullptr) return "GetSnapshot returns null";
      held.emplace(HeldSnapshot{snapshot, timeline_->tip()});
      bool is_known = false;
      if (std::string wrong = NarrowAt(snapshot, &held->state, &is_known); !wrong.empty()) return wrong;
      if (snapshot->GetSequenceNumber() != timeline_->sequence()) {
        return "the snapshot is at " + std::to_string(snapshot->GetSequenceNumber()) + ", but the last write at " +
               std::to_string(timeline_->sequence());
      }
      return "";
    }
    case Operation::Verb::kReleaseSnapshot: {
      auto& held = snapshots_[op.slot % kSnapshotSlots];
      if (held.has_value()) database_->get()->ReleaseSnapshot(held->snapshot);
      held.reset();
      return "";
    }
    case Operation::Verb::kReadDurable: return ReadDurable();
    case Operation::Verb::kReopen: return Reopen(op);
    case Operation::Verb::kBackground: database_->RunBackground(op.count); return "";
  }
  return "no such operation";
}

bool Runner::MayFailToRead(const Status& status) const {
  if (!policy_.faults) return false;
  return status.IsIOError() || (status.IsCorruption() && policy_.unsynced_is_gone && policy_.unsynced_is_gone());
}

// Judges the status of a writing call. Errors are allowed only if calls may fail, and must be fatal if later writes
// fail too.
std::string Runner::JudgeWrite(const Status& status, const char* what) {
  const bool is_fatal = status.severity() == Status::Severity::kFatal;
  if (status.ok()) {
    if (fatal_) return std::string(what) + " returns OK after a fatal error";
    if (policy_.sync_has_failed && policy_.sync_has_failed()) return std::string(what) + " returns OK after a failed sync";
    return "";
  }
  if (!policy_.faults) return std::string(what) + ": " + status.ToString();
  if (fatal_ && !is_fatal) return std::string(what) + " after a fatal error is not fatal: " + status.ToString();
  if (!is_fatal && policy_.sync_has_failed && policy_.sync_has_failed()) {
    return std::string(what) + " after a failed sync is not fatal: " + status.ToString();
  }
  if (!status.IsIOError()) return std::string(what) + " on a failing device returns " + status.ToString();
  fatal_ = is_fatal;
  return "";
}

std::string Runner::Write(const Operation& op) {
  WriteOptions options;
  options.sync = op.durability == Durability::kSync;
  options.disableWAL = op.durability == Durability::kDisableWal;
  DB* const db = database_->get();
  const SequenceNumber before = db->GetLatestSequenceNumber();
  if (before != timeline_->sequence()) return "sequence number " + std::to_string(before) + " before the write";
  timeline_->Issue(op);
  Status status;
  if (op.mutations.size() == 1) {
    const Mutation& mutation = op.mutations.front();
    if (mutation.is_range) {
      status = db->DeleteRange(options, mutation.key, mutation.range_end);
    } else if (mutation.is_delete) {
      status = op.id % 2 == 0 ? db->Delete(options, mutation.key) : db->SingleDelete(options, mutation.key);
    } else {
      status = db->Put(options, mutation.key, MakeValue(op.SpecOf(0)));
    }
  } else {
    WriteBatch batch;
    for (std::size_t i = 0; i < op.mutations.size(); ++i) {
      const Mutation& mutation = op.mutations[i];
      const Status added = mutation.is_range    ? batch.DeleteRange(mutation.key, mutation.range_end)
                           : mutation.is_delete ? batch.Delete(mutation.key)
                                                : batch.Put(mutation.key, MakeValue(op.SpecOf(i)));
      if (!added.ok()) return "WriteBatch: " + added.ToString();
    }
    status = db->Write(options, &batch);
  }
  const SequenceNumber after = db->GetLatestSequenceNumber();
  if (after == before + op.mutations.size()) {
    timeline_->Commit();
    if (!status.ok() && !options.sync) return "the batch is visible but was not acknowledged: " + status.ToString();
    if (!status.ok() && status.severity() != Status::Severity::kFatal) {
      return "the batch is visible and its sync failed, but the error is not fatal: " + status.ToString();
    }
    if (status.ok()) timeline_->Acknowledge();
    if (status.ok() && options.sync) {
      timeline_->AcknowledgeSync(timeline_->commit_count());
      if (check_synced_) {
        if (std::string wrong = check_synced_(); !wrong.empty()) return wrong;
      }
    }
  } else if (after == before) {
    timeline_->Fail();
    if (status.ok()) return "Write returns OK, but the batch has no sequence number";
  } else {
    return "the batch of " + std::to_string(op.mutations.size()) + " took the sequence number from " +
           std::to_string(before) + " to " + std::to_string(after);
  }
  return JudgeWrite(status, "Write");
}

std::string Runner::Sync() {
  const std::size_t commits = timeline_->commit_count();
  const Status status = database_->get()->SyncWAL();
  if (status.ok()) {
    timeline_->AcknowledgeSync(commits);
    if (check_synced_) {
      if (std::string wrong = check_synced_(); !wrong.empty()) return wrong;
    }
  }
  return JudgeWrite(status, "SyncWAL");
}

const ModelState& Runner::StateOf(const Operation& op, ReadOptions* options) const {
  const auto& held = snapshots_[op.slot % kSnapshotSlots];
  if (!op.at_snapshot || !held.has_value()) return timeline_->tip();
  options->snapshot = held->snapshot;
  return held->state;
}

std::string Runner::ExpectValue(const ModelState& state, const std::string& key, const Status& status,
                                const std::string& value) {
  if (!status.ok() && !status.IsNotFound()) {
    if (MayFailToRead(status)) return "";
    return Quote(key) + ": " + status.ToString();
  }
  const auto found = state.map().find(key);
  if (found == state.map().end()) {
    return status.IsNotFound() ? "" : Quote(key) + " should not exist, but reads as " + DescribeValue(value);
  }
  const std::string expected = state.ValueOf(found->second);
  const bool differs = status.IsNotFound() || value != expected;
  if (differs && state.Allows(found->second, status.IsNotFound() ? std::nullopt : std::optional(value))) {
    timeline_->Filtered(key, key);  // from now on it must be filtered
    return "";
  }
  if (status.IsNotFound()) return Quote(key) + " is not found; it should be " + DescribeValue(expected);
  if (value != expected) {
    return Quote(key) + " reads as " + DescribeValue(value) + "; it should be " + DescribeValue(expected);
  }
  return "";
}

namespace {
// Reads with GetInto, until the buffer, which has `room` bytes at first, is large enough.
Status GetInto(DB* db, const ReadOptions& options, const std::string& key, std::size_t room, std::string* value) {
  value->assign(room, '#');
  std::size_t size = 0;
  Status status;
  while ((status = db->GetInto(options, key, *value, &size)).ok() && size > value->size()) value->assign(size, '#');
  value->resize(size);
  return status;
}
}  // namespace

std::string Runner::Get(const Operation& op) {
  ReadOptions options;
  options.async_io = IsAsync(op);
  const ModelState& state = StateOf(op, &options);
  for (const std::string& key : op.keys) {
    std::string value;
    Status status;
    if (op.id / 2 % 3 == 0) {
      status = database_->get()->Get(options, key, &value);
    } else if (op.id / 2 % 3 == 1) {
      status = GetInto(database_->get(), options, key, static_cast<std::size_t>(op.id) % 7 * 500, &value);
    } else {
      PinnableSlice pinned;
      status = database_->get()->Get(options, key, &pinned);
      value = pinned.ToString();
    }
    if (std::string wrong = ExpectValue(state, key, status, value); !wrong.empty()) return wrong;
  }
  return "";
}

std::string Runner::MultiGet(const Operation& op) {
  ReadOptions options;
  options.async_io = IsAsync(op);
  const ModelState& state = StateOf(op, &options);
  const std::vector<Slice> keys(op.keys.begin(), op.keys.end());
  std::vector<std::string> values;
  const std::vector<Status> statuses = database_->get()->MultiGet(options, keys, &values);
  if (statuses.size() != keys.size() || values.size() != keys.size()) return "MultiGet returns a wrong number of results";
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (std::string wrong = ExpectValue(state, op.keys[i], statuses[i], values[i]); !wrong.empty()) return wrong;
  }
  return "";
}

std::string Runner::Iterate(const Operation& op) {
  auto& slot = iterators_[op.slot % kIteratorSlots];
  if (op.fresh || !slot.has_value()) {
    slot.reset();
    HeldIterator& held = slot.emplace(HeldIterator{});
    held.keys_only = op.flag;
    ReadOptions options;
    ModelState state = StateOf(op, &options);
    const Snapshot* now = nullptr;
    if (filter() != nullptr && options.snapshot == nullptr) options.snapshot = now = database_->get()->GetSnapshot();
    bool is_known = true;
    if (filter() != nullptr) {
      if (std::string wrong = NarrowAt(options.snapshot, &state, &is_known); !wrong.empty()) return wrong;
    }
    if (op.lower.has_value()) {
      held.lower = *op.lower;
      held.lower_slice = held.lower;
      options.iterate_lower_bound = &held.lower_slice;
    }
    if (op.upper.has_value()) {
      held.upper = *op.upper;
      held.upper_slice = held.upper;
      options.iterate_upper_bound = &held.upper_slice;
    }
    const Comparator* const comparator = program_.config.comparator;
    for (const auto& [key, cell] : state.map()) {
      if (op.lower.has_value() && comparator->Compare(key, *op.lower) < 0) continue;
      if (op.upper.has_value() && comparator->Compare(key, *op.upper) >= 0) continue;
      held.cells.push_back(cell);
    }
    options.allow_unprepared_value = op.id % 3 == 0;
    options.async_io = IsAsync(op);
    held.iterator.reset(database_->get()->NewIterator(options));
    if (now != nullptr) database_->get()->ReleaseSnapshot(now);
    if (held.iterator->Valid()) return "a new iterator is valid";
    if (!is_known) {  // it is not known what the iterator should show
      slot.reset();
      return "";
    }
    held.state.emplace(std::move(state));
  }
  for (std::size_t i = 0; i < op.steps.size(); ++i) {
    if (std::string wrong = Step(&*slot, op.steps[i]); !wrong.empty()) {
      return "step " + std::to_string(i) + ": " + wrong;
    }
  }
  return "";
}

std::string Runner::Step(HeldIterator* held, const IteratorStep& step) {
  const Comparator* const comparator = program_.config.comparator;
  Iterator* const it = held->iterator.get();
  const auto& cells = held->cells;
  const auto first_from = [&](const std::string& target, bool includes_equal) {
    const auto first = std::find_if(cells.begin(), cells.end(), [&](const ModelState::Cell& cell) {
      const int order = comparator->Compare(cell.key, target);
      return order > 0 || (order == 0 && includes_equal);
    });
    return static_cast<std::size_t>(first - cells.begin());
  };
  const auto at = [&](std::size_t place) {
    return place < cells.size() ? std::optional<std::size_t>(place) : std::nullopt;
  };
  using Kind = IteratorStep::Kind;
  if (step.kind == Kind::kNext || step.kind == Kind::kPrev) {
    if (!held->place.has_value() || held->broken) {
      const Status before = it->status();
      step.kind == Kind::kNext ? it->Next() : it->Prev();
      if (it->Valid()) return "a move has made an iterator valid";
      return it->status() == before ? "" : "a move has changed " + before.ToString() + " to " + it->status().ToString();
    }
    if (step.kind == Kind::kNext) {
      it->Next();
      held->place = at(*held->place + 1);
    } else {
      it->Prev();
      held->place = *held->place == 0 ? std::nullopt : at(*held->place - 1);
    }
    return CompareIterator(held);
  }
  held->broken = false;
  switch (step.kind) {
    case Kind::kSeek:
      it->Seek(step.target);
      held->place = at(first_from(step.target, true));
      break;
    case Kind::kSeekForPrev: {
      it->SeekForPrev(step.target);
      const std::size_t end = first_from(step.target, false);
      held->place = end == 0 ? std::nullopt : at(end - 1);
      break;
    }
    case Kind::kFirst:
      it->SeekToFirst();
      held->place = at(0);
      break;
    default:
      it->SeekToLast();
      held->place = cells.empty() ? std::nullopt : at(cells.size() - 1);
      break;
  }
  return CompareIterator(held);
}

std::string Runner::CompareIterator(HeldIterator* held) {
  Iterator* const it = held->iterator.get();
  const auto broken = [&]() -> std::string {
    held->broken = true;
    if (MayFailToRead(it->status())) return "";
    return "the iterator ended: " + it->status().ToString();
  };
  if (!it->Valid() && !it->status().ok()) return broken();
  if (it->Valid() != held->place.has_value()) {
    return it->Valid() ? "the iterator is at " + Quote(it->key()) + ", which is after the end"
                       : "the iterator has ended; it should be at " + Quote(held->cells[*held->place].key);
  }
  if (!it->Valid()) return "";
  const ModelState::Cell& cell = held->cells[*held->place];
  if (CanonicalKey(program_.config.comparator, it->key()) != CanonicalKey(program_.config.comparator, cell.key)) {
    return "the iterator is at " + Quote(it->key()) + "; it should be at " + Quote(cell.key);
  }
  if (held->keys_only) return "";
  if (!it->PrepareValue()) return broken();
  const std::string value = it->value().ToString();
  if (!it->Valid()) return broken();
  const std::string expected = held->state->ValueOf(cell);
  if (value != expected) {
    return Quote(cell.key) + " shows " + DescribeValue(value) + "; it should be " + DescribeValue(expected);
  }
  return "";
}

// durable_only must show the state after some prefix of the commits. From now on a power cut must not lose that prefix.
std::string Runner::ReadDurable() {
  ReadOptions options;
  options.durable_only = true;
  Contents contents;
  if (database_->sim() == nullptr) {
    // A flush may sync at any moment.
    ReadAtOnce(database_->get(), options, program_.config.comparator, &contents, filter());
  } else if (std::string wrong = ReadAll(database_->get(), options, program_.config.comparator, program_.universe,
                                         &contents, filter());
             !wrong.empty()) {
    return wrong;
  }
  if (!contents.status.ok()) {
    return MayFailToRead(contents.status) ? "" : "durable_only: " + contents.status.ToString();
  }
  // Several prefixes may give the same state. Only the shortest of them is proven to be durable.
  for (std::size_t k = timeline_->synced_count(); k <= timeline_->commit_count(); ++k) {
    if (timeline_->StateAt(k).hash() != contents.hash) continue;
    timeline_->AcknowledgeSync(k);
    return "";
  }
  return "durable_only shows a state that never existed, or one older than an acknowledged sync";
}

// Reads all contents. With a filter, reads at a snapshot: compactions may filter values meanwhile.
std::string Runner::ReadNow(Contents* contents) {
  ReadOptions options;
  if (filter() != nullptr) options.snapshot = database_->get()->GetSnapshot();
  std::string wrong =
      ReadAll(database_->get(), options, program_.config.comparator, program_.universe, contents, filter());
  if (options.snapshot != nullptr) database_->get()->ReleaseSnapshot(options.snapshot);
  return wrong;
}

std::string Runner::NarrowAt(const Snapshot* snapshot, ModelState* state, bool* is_known) {
  *is_known = false;
  if (filter() == nullptr) return "";
  ReadOptions options;
  options.snapshot = snapshot;
  Contents contents;
  std::string wrong =
      ReadAll(database_->get(), options, program_.config.comparator, program_.universe, &contents, filter());
  if (!wrong.empty()) return wrong;
  if (!contents.status.ok()) return MayFailToRead(contents.status) ? "" : contents.status.ToString();
  if (wrong = state->NarrowTo(contents.values); !wrong.empty()) return "at a snapshot, " + wrong;
  *is_known = true;
  return "";
}

std::string Runner::CheckAll() {
  Contents contents;
  std::string wrong = ReadNow(&contents);
  if (!wrong.empty()) return wrong;
  if (!contents.status.ok()) {
    return MayFailToRead(contents.status) ? "" : "reading: " + contents.status.ToString();
  }
  Timeline::Match match;
  const Timeline::Bound bound = timeline_->BoundOfCommits(timeline_->commit_count());
  timeline_->Find(bound, false, contents.hash, database_->get()->GetLatestSequenceNumber(), contents.values, &match,
                  &wrong);
  return wrong;
}

std::string Runner::CheckRecovered(const Timeline::Bound& bound, bool power_cut) {
  Contents contents;
  std::string wrong = ReadNow(&contents);
  if (wrong.empty() && contents.status.IsIOError() && policy_.faults && policy_.lift_faults) {
    policy_.lift_faults();
    wrong = ReadNow(&contents);
  }
  if (!wrong.empty()) return "after recovery, " + wrong;
  if (!contents.status.ok()) return "reading after recovery: " + contents.status.ToString();
  Timeline::Match match;
  if (!timeline_->Find(bound, power_cut, contents.hash, database_->get()->GetLatestSequenceNumber(), contents.values,
                       &match, &wrong)) {
    return wrong;
  }
  timeline_ = std::make_shared<Timeline>(timeline_->After(match));
  fatal_ = false;
  return policy_.verify && database_->sim() != nullptr ? database_->Verify() : "";
}

std::string Runner::Reopen(const Operation& op) {
  const bool holds = std::any_of(snapshots_.begin(), snapshots_.end(), [](const auto& s) { return s.has_value(); }) ||
                     std::any_of(iterators_.begin(), iterators_.end(), [](const auto& i) { return i.has_value(); });
  if (holds && op.flag) {
    const Status refused = database_->Close();
    if (!refused.IsAborted()) return "Close with a live snapshot or iterator returns " + refused.ToString();
  }
  ReleaseAll();
  const auto sync_failed = [&] { return policy_.sync_has_failed && policy_.sync_has_failed(); };
  bool closed_well = false;
  if (op.flag) {
    const Status closed = database_->Close();
    closed_well = closed.ok();
    if (!closed.ok() && !policy_.faults) return "Close: " + closed.ToString();
    if (closed_well) timeline_->AcknowledgeSync(timeline_->commit_count());
    if (closed.ok() && (fatal_ || sync_failed())) return "Close returns OK after a fatal error";
  } else {
    database_->Drop();
  }
  if (policy_.verify && !policy_.faults) {
    if (std::string wrong = database_->Verify(); !wrong.empty()) return "closed: " + wrong;
  }
  const bool cache_is_doubted = fatal_ || (policy_.cache_is_doubted && policy_.cache_is_doubted());
  Timeline::Bound bound = timeline_->bound();
  if (closed_well) bound = timeline_->BoundOfCommits(timeline_->commit_count());
  Status opened = database_->Open();
  if (!opened.ok() && policy_.faults) {
    if (!opened.IsIOError()) return "Open on a failing device: " + opened.ToString();
    if (policy_.lift_faults) policy_.lift_faults();
    opened = database_->Open();
  }
  if (!opened.ok()) return "Open: " + opened.ToString();
  // After a failed sync the page cache may have dropped unsynced data, or recovery does not trust it: only synced data
  // must survive.
  return CheckRecovered(bound, cache_is_doubted);
}

}  // namespace cambium::testing
