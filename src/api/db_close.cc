// Closing a database: by Close, or by the destructor if Close was not called.
#include <cassert>
#include <utility>

#include "api/db_impl.h"
#include "util/destroy.h"
#include "util/epoch.h"
#include "util/fork_guard.h"
#include "util/mutant.h"

namespace cambium {

Status DbImpl::Close() {
  CAMBIUM_RETURN_IF_ERROR(state_.context.CheckProcess());
  const MutexLock lock(close_mutex_);
  if (state_.context.closed.load(std::memory_order_acquire)) {
    Release();  // which may have run out of memory before
    return Status::OK();
  }
  CAMBIUM_RETURN_IF_ERROR(state_.context.CheckUsable());
  const std::size_t snapshots = state_.snapshots.size();
  const int iterators = state_.iterator_count.load();
  const int readers = MutantIs(Mutant::kCloseUnderAsyncReader) ? 0 : state_.async_reader_count.load();
  const std::uint64_t pins = MutantIs(Mutant::kCloseUnderPinnedValue) ? 0 : state_.value_pins.count();
  const int transactions = state_.transaction_count.load();
  if (snapshots != 0 || iterators != 0 || readers != 0 || pins != 0 || transactions != 0) {
    return Status::Aborted(std::to_string(snapshots) + " snapshots, " + std::to_string(iterators) + " iterators, " +
                           std::to_string(readers) + " asynchronous readers, " + std::to_string(transactions) +
                           " transactions and " + std::to_string(pins) +
                           " values pinned in mappings are still in use");
  }
  try {
    return Shut();
  } catch (...) {  // there is no memory: the database remains open, and Close may be called again
    if (!state_.context.closed.load(std::memory_order_acquire)) state_.jobs.GoOn();
    throw;
  }
}

Status DbImpl::Shut() {
  Status first;
  const std::shared_ptr<Logger>& logger = state_.context.logger;
  if (const Status traced = traces_.End(); !traced.ok() && !traced.IsNotFound() && logger != nullptr) {
    logger->Log(InfoLogLevel::kError, "ending the trace: " + traced.ToString());
  }
  if (CommitLog* const log = state_.head.log(); !state_.context.read_only && log != nullptr) {
    upkeep_.StopTicking();
    state_.jobs.Close();
    first = state_.jobs.Health();
    if (first.ok()) log->TrimTail();
    if (first.ok() && !MutantIs(Mutant::kCloseWithoutSync)) {
      first = log->Sync();
      if (!first.ok()) state_.jobs.SetFatal(first);
    }
    // If Open has failed, the log may not be replayed to its end. Then no clean shutdown is recorded: the next Open
    // must find the same as after a crash.
    if (first.ok() && is_open_) {
      const CommitLock lock(state_.commits);
      Edit edit;
      edit.clean_shutdown = true;
      // A batch whose write failed was not published, but the file may contain all of it: the seal excludes it.
      if (const SegmentEnd cut = log->failed_end(); cut.segment != nullptr) {
        edit.set_segments.push_back(state_.head.SealedAt(cut));
      }
      first = state_.commits.Commit(&edit);
    }
  }
  state_.context.closed.store(true, std::memory_order_release);
  Release();
  return MutantIs(Mutant::kCloseHidesError) ? Status::OK() : first;
}

void DbImpl::Release() {
  if (is_released_) return;
  if (const std::shared_ptr<const View> view = state_.commits.view().Pin();
      view != nullptr && closing_families_.empty()) {
    std::vector<std::shared_ptr<Family>> families = state_.jobs.Dropped();
    for (const FamilyView& each : view->families) families.push_back(each.family);
    closing_families_ = std::move(families);
  }
  state_.jobs.ReleaseFamilies();
  upkeep_.disk_keeper.ReleaseFile();
  upkeep_.sealer.Close();
  state_.head.Stop();
  state_.commits.view().Install(nullptr);
  EpochDrain();
  for (const auto& family : closing_families_) {
    family->index.reset();  // closes the file that it appends to, and removes it if the family was dropped
    const AppendLock lock(state_.head);
    family->active.reset();
  }
  closing_families_.clear();
  state_.commits.Close();
  state_.context.events.DeliverAll();
  lock_.reset();
  is_released_ = true;
}

DbImpl::~DbImpl() {
  const MutexLock lock(close_mutex_);
  if (state_.context.closed.load(std::memory_order_acquire)) {
    Release();
    return;
  }
  assert(state_.value_pins.count() == 0 && "values are released before their database");
  const Status closed = Shut();
  const std::shared_ptr<Logger>& logger = state_.context.logger;
  if (!closed.ok() && logger != nullptr) logger->Log(InfoLogLevel::kError, "closing: " + closed.ToString());
}

void DbImpl::operator delete(DbImpl* db, std::destroying_delete_t) {
  if (ForkGeneration() != db->state_.context.fork_generation) return;
  DestroyAndFree(db);
}

}  // namespace cambium
