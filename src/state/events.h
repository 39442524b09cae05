// Events: queues calls of listeners until the thread that caused them holds no lock.
//
//   locks held:  Add(e1) ... FileCreated(...)      no lock held:  Deliver() ──▶ listeners, in order
//
// Each thread delivers the events that it has added. Listeners must see the creation of a file before its deletion. If
// another thread removes a file before its creation is delivered, the thread that delivers the creation also delivers
// the deletion, right after it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "cambium/listener.h"
#include "manifest/file_names.h"
#include "state/lock_roles.h"
#include "util/fork_guard.h"
#include "util/mutex.h"

namespace cambium {

// Any thread. Without listeners every function returns at once.
class Events {
 public:
  using Call = std::function<void(EventListener*)>;

  Events(std::vector<std::shared_ptr<EventListener>> listeners, std::string db_name)
      : listeners_(std::move(listeners)), db_name_(std::move(db_name)) {}
  ~Events() = default;
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  [[nodiscard]] bool is_on() const { return !listeners_.empty(); }
  [[nodiscard]] const std::string& db_name() const { return db_name_; }
  [[nodiscard]] int NewJobId() { return next_job_id_.fetch_add(1, std::memory_order_relaxed); }

  // Queue an event. The caller may hold any lock. If memory runs out, the event is lost.
  void Add(Call call) noexcept;
  void Started(const TableFileCreationBriefInfo& file) noexcept;
  void Started(const BlobFileCreationBriefInfo& file) noexcept;
  void Created(const TableFileCreationInfo& file) noexcept;
  void Created(const BlobFileCreationInfo& file) noexcept;
  void Deleted(const std::string& directory, const NumberedFile& file) noexcept;
  // Queues the stall condition that writes meet, if it has changed. `cf_name` is empty for the whole database.
  void Stalls(const std::string& cf_name, std::uint32_t cf_id, WriteStallCause cause, WriteStallCondition now) noexcept;

  // Calls the listeners with the events that this thread has added. The caller holds no lock, not even a leaf, because
  // a listener may call the database. Does nothing while Open holds the events.
  void Deliver() CAMBIUM_EXCLUDES_ROLES;
  // Open holds all events, because a listener may use the database, which is not ready. They are kept until it has
  // succeeded. If it fails, no listener ever hears of these events, nor of later ones.
  class HeldByOpen {
   public:
    explicit HeldByOpen(Events* events) : events_(events) { events_->state_.store(State::kHeld); }
    ~HeldByOpen() {
      if (events_->state_.load() == State::kHeld) events_->Forget();
    }
    HeldByOpen(const HeldByOpen&) = delete;
    HeldByOpen& operator=(const HeldByOpen&) = delete;
    void Release() { events_->state_.store(State::kDelivered); }

   private:
    Events* const events_;
  };
  // Calls the listeners with the events of all threads. Called when no other thread adds or delivers events any more.
  void DeliverAll();

 private:
  struct Event {
    const void* thread = nullptr;
    Call call;
    std::uint64_t created = 0;  // number of the file whose creation this event reports; 0: none
  };
  enum class State : std::uint8_t { kDelivered, kHeld, kForgotten };
  void Forget();
  void Queue(Call call, std::uint64_t created) noexcept;
  void Tell(const Event& event);

  const std::vector<std::shared_ptr<EventListener>> listeners_;
  const std::string db_name_;
  std::atomic<int> next_job_id_{1};
  std::atomic<State> state_{State::kDelivered};
  std::atomic<std::size_t> waiting_{0};  // size of queue_, read without the lock
  const std::uint64_t fork_generation_ = ForkGeneration();

  Mutex mutex_;  // a leaf; no listener is called under it
  std::deque<Event> queue_ CAMBIUM_GUARDED_BY(mutex_);
  // Files whose start of creation was reported, but not yet the end. The value is the deletion to report after the end,
  // or null.
  std::map<std::uint64_t, Call> untold_ CAMBIUM_GUARDED_BY(mutex_);
  struct StallKey {
    std::uint32_t cf_id;
    WriteStallCause cause;
    friend auto operator<=>(const StallKey&, const StallKey&) = default;
  };
  std::map<StallKey, WriteStallCondition> stalls_ CAMBIUM_GUARDED_BY(mutex_);  // the conditions last reported
  std::uint64_t stall_changes_ CAMBIUM_GUARDED_BY(mutex_) = 0;
};

// Its destructor delivers the events of this thread. Declare it as the first local variable of a function that holds no
// lock when it begins and when it ends.
class Delivery {
 public:
  explicit Delivery(Events* events) : events_(events) {}
  ~Delivery() { events_->Deliver(); }
  Delivery(const Delivery&) = delete;
  Delivery& operator=(const Delivery&) = delete;

 private:
  Events* const events_;
};

// Reports the creation of one file: its start in the constructor, its end by Done. Without Done, the creation is
// reported as given up.
template <typename Info>
class FileCreation {
 public:
  // The file exists already.
  FileCreation(Events* events, Info info) : events_(events), info_(std::move(info)) {
    if (events_->is_on()) events_->Started(info_);
  }
  FileCreation(FileCreation&& other) noexcept
      : events_(std::exchange(other.events_, nullptr)), info_(std::move(other.info_)) {}
  FileCreation& operator=(FileCreation&&) = delete;
  ~FileCreation() {
    Report([this] { Done(Status::Aborted("given up"), 0); });
  }

  void Done(const Status& status, std::uint64_t file_size) noexcept {
    Report([&] {
      info_.status = status;
      info_.file_size = file_size;
      std::exchange(events_, nullptr)->Created(info_);
    });
  }
  [[nodiscard]] const Info& info() const { return info_; }

 private:
  // Calls `report` if listeners wait for the end. If memory runs out, the event is dropped.
  template <typename F>
  void Report(F report) noexcept {
    if (events_ == nullptr || !events_->is_on()) return;
    try {
      report();
    } catch (const std::bad_alloc&) {
    }
  }

  Events* events_;  // null: the end was reported
  Info info_;
};
using TableFileCreation = FileCreation<TableFileCreationInfo>;
using BlobFileCreation = FileCreation<BlobFileCreationInfo>;

}  // namespace cambium
