// The end of a database: Close, and what the destructor does where nobody called it.
#include "api/db_impl.h"
#include "util/destroy.h"
#include "util/fork_guard.h"
#include "util/mutant.h"

namespace cambium {

Status DbImpl::Close() {
  if (closed_.load(std::memory_order_acquire)) return Status::OK();
  if (ForkGeneration() != fork_generation_) return Status::NotSupported("a database cannot be used in a forked child");
  if (snapshots_.size() != 0 || iterator_count_.load() != 0) {
    return Status::Aborted(std::to_string(snapshots_.size()) + " snapshots and " +
                           std::to_string(iterator_count_.load()) + " iterators are still in use");
  }
  return Shut();
}

Status DbImpl::Shut() {
  Status first;
  if (const Status traced = traces_.End(); !traced.ok() && !traced.IsNotFound() && logger_ != nullptr) {
    logger_->Log(InfoLogLevel::kError, "ending the trace: " + traced.ToString());
  }
  if (!read_only_ && log_ != nullptr) {
    {
      const std::lock_guard lock(tick_target_->mutex);
      tick_target_->db = nullptr;
    }
    {
      const std::lock_guard lock(background_mutex_);
      closing_ = true;
    }
    {
      std::unique_lock lock(background_mutex_);
      while (!IsIdle()) {
        lock.unlock();
        const bool ran = executor_->RunOneInstead();
        lock.lock();
        if (!ran && !IsIdle()) background_changed_.wait(lock);
      }
    }
    first = Health();
    if (first.ok()) log_->TrimTail();
    if (first.ok() && !MutantIs(Mutant::kCloseWithoutSync)) {
      first = log_->Sync();
      if (!first.ok()) SetFatal(first);
    }
    if (first.ok()) {
      const std::lock_guard lock(commit_mutex_);
      Edit edit;
      edit.clean_shutdown = true;
      // The batch whose write failed may have landed whole, and was not committed.
      if (const SegmentEnd cut = log_->failed_end(); cut.segment != nullptr) edit.set_segments.push_back(SealedAt(cut));
      first = CommitEdit(&edit);
    }
  }
  closed_.store(true, std::memory_order_release);
  LetGo();
  return MutantIs(Mutant::kCloseHidesError) ? Status::OK() : first;
}

void DbImpl::LetGo() {
  if (has_let_go_) return;
  if (const std::shared_ptr<const View> view = view_.Pin(); view != nullptr && closing_families_.empty()) {
    std::vector<std::shared_ptr<Family>> families;
    for (const FamilyView& each : view->families) families.push_back(each.family);
    families.insert(families.end(), dropped_families_.begin(), dropped_families_.end());
    closing_families_ = std::move(families);
  }
  families_.clear();
  dropped_families_.clear();
  TakeSpare().reset();
  full_disk_.file.reset();
  unsealed_.clear();
  log_.reset();
  view_.Install(nullptr);
  EpochDrain();
  for (const auto& family : closing_families_) {
    family->index.reset();  // with the file that it writes to, which goes if the family was dropped
    family->active.reset();
  }
  closing_families_.clear();
  if (manifest_ != nullptr && Health().ok()) static_cast<void>(RemoveObsolete());
  events_.DeliverAll();
  manifest_.reset();
  lock_.reset();
  has_let_go_ = true;
}

DbImpl::~DbImpl() {
  if (closed_.load(std::memory_order_acquire)) {
    LetGo();
    return;
  }
  const Status closed = Shut();
  if (!closed.ok() && logger_ != nullptr) logger_->Log(InfoLogLevel::kError, "closing: " + closed.ToString());
}

void DbImpl::operator delete(DbImpl* db, std::destroying_delete_t) {
  if (ForkGeneration() != db->fork_generation_) return;
  DestroyAndFree(db);
}

}  // namespace cambium
