#include "state/events.h"

#include <algorithm>
#include <cassert>
#include <new>
#include <utility>

#include "util/mutant.h"

namespace cambium {
namespace {

// Returns an address that identifies the calling thread among all running threads.
const void* ThisThread() {
  thread_local constinit char here = 0;
  return &here;
}

}  // namespace

void Events::Queue(Call call, std::uint64_t created) noexcept {
  try {
    const MutexLock lock(mutex_);
    if (state_.load(std::memory_order_relaxed) == State::kForgotten) return;
    queue_.push_back({ThisThread(), std::move(call), created});
    waiting_.fetch_add(1, std::memory_order_relaxed);
  } catch (const std::bad_alloc&) {
  }
}

void Events::Add(Call call) noexcept {
  if (is_on()) Queue(std::move(call), 0);
}

// FileCreation calls the next four functions only if there are listeners.
void Events::Started(const TableFileCreationBriefInfo& file) noexcept {
  try {
    {
      const MutexLock lock(mutex_);
      untold_[file.file_number] = nullptr;
    }
    Queue([file](EventListener* listener) { listener->OnTableFileCreationStarted(file); }, 0);
  } catch (const std::bad_alloc&) {
  }
}

void Events::Started(const BlobFileCreationBriefInfo& file) noexcept {
  try {
    {
      const MutexLock lock(mutex_);
      untold_[file.file_number] = nullptr;
    }
    Queue([file](EventListener* listener) { listener->OnBlobFileCreationStarted(file); }, 0);
  } catch (const std::bad_alloc&) {
  }
}

void Events::Created(const TableFileCreationInfo& file) noexcept {
  try {
    Queue([file](EventListener* listener) { listener->OnTableFileCreated(file); }, file.file_number);
  } catch (const std::bad_alloc&) {
  }
}

void Events::Created(const BlobFileCreationInfo& file) noexcept {
  try {
    Queue([file](EventListener* listener) { listener->OnBlobFileCreated(file); }, file.file_number);
  } catch (const std::bad_alloc&) {
  }
}

void Events::Deleted(const std::string& directory, const NumberedFile& file) noexcept {
  if (!is_on()) return;
  try {
    const std::string path = FilePath(directory, file.kind, file.number);
    Call call;
    switch (file.kind) {
      case FileKind::kRun:
      case FileKind::kIndex:
        call = [info = TableFileDeletionInfo{db_name_, path, file.number}](EventListener* listener) {
          listener->OnTableFileDeleted(info);
        };
        break;
      case FileKind::kLog:
      case FileKind::kRelocation:
      case FileKind::kLargeValue:
        call = [info = BlobFileDeletionInfo{db_name_, path, file.number}](EventListener* listener) {
          listener->OnBlobFileDeleted(info);
        };
        break;
      default: return;
    }
    {
      const MutexLock lock(mutex_);
      if (const auto untold = untold_.find(file.number); untold != untold_.end()) {
        untold->second = std::move(call);
        return;
      }
    }
    Queue(std::move(call), 0);
  } catch (const std::bad_alloc&) {
  }
}

void Events::Stalls(const std::string& cf_name, std::uint32_t cf_id, WriteStallCause cause,
                    WriteStallCondition now) noexcept {
  if (!is_on()) return;
  try {
    WriteStallInfo info;
    info.db_name = db_name_;
    info.cf_name = cf_name;
    info.cf_id = cf_id;
    info.cause = cause;
    const MutexLock lock(mutex_);
    WriteStallCondition& known = stalls_.try_emplace({cf_id, cause}, WriteStallCondition::kNormal).first->second;
    info.condition.cur = now;
    info.condition.prev = known;
    if (info.condition.cur == info.condition.prev) return;
    info.change = stall_changes_ + 1;
    queue_.push_back({ThisThread(), [info](EventListener* listener) { listener->OnStallConditionsChanged(info); }, 0});
    waiting_.fetch_add(1, std::memory_order_relaxed);
    ++stall_changes_;
    known = now;
  } catch (const std::bad_alloc&) {
  }
}

void Events::Tell(const Event& event) {
  for (const auto& listener : listeners_) event.call(listener.get());
  if (event.created == 0) return;
  Call deleted;
  {
    const MutexLock lock(mutex_);
    const auto untold = untold_.find(event.created);
    if (untold == untold_.end()) return;
    deleted = std::move(untold->second);
    untold_.erase(untold);
  }
  if (deleted == nullptr) return;
  for (const auto& listener : listeners_) deleted(listener.get());
}

void Events::Deliver() {
  if (state_.load(std::memory_order_relaxed) == State::kHeld && !MutantIs(Mutant::kEventsDuringOpen)) return;
  const void* const me = ThisThread();
  while (waiting_.load(std::memory_order_relaxed) != 0) {
    if (ForkGeneration() != fork_generation_) return;  // the mutex may be held for ever
    Event next;
    {
      const MutexLock lock(mutex_);
      const auto mine = std::ranges::find(queue_, me, &Event::thread);
      if (mine == queue_.end()) return;
      next = std::move(*mine);
      queue_.erase(mine);
      waiting_.fetch_sub(1, std::memory_order_relaxed);
    }
    Tell(next);
  }
}

void Events::Forget() {
  const MutexLock lock(mutex_);
  state_.store(State::kForgotten);
  queue_.clear();
  untold_.clear();
  waiting_.store(0, std::memory_order_relaxed);
}

void Events::DeliverAll() {
  while (waiting_.load(std::memory_order_relaxed) != 0) {
    Event next;
    {
      const MutexLock lock(mutex_);
      assert(!queue_.empty() && "no other thread delivers");
      next = std::move(queue_.front());
      queue_.pop_front();
      waiting_.fetch_sub(1, std::memory_order_relaxed);
    }
    Tell(next);
  }
}

}  // namespace cambium
