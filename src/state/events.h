// Events: what the listeners of a database will be told, kept until the thread that did it holds no lock.
//
//   locks held:  Add(e1) ... FileCreated(...)      no lock held:  Deliver() ──▶ listeners, in order
//
// Each thread delivers what it has added. Of one file Deleted must come after Created, although another thread may
// remove it before the first has told of it: then the one that tells of the creation tells of the removal too.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cambium/listener.h"
#include "manifest/file_names.h"
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

  // Any lock may be held. Lost if there is no memory for it.
  void Add(Call call) noexcept;
  void Started(const TableFileCreationBriefInfo& file) noexcept;
  void Started(const BlobFileCreationBriefInfo& file) noexcept;
  void Created(const TableFileCreationInfo& file) noexcept;
  void Created(const BlobFileCreationInfo& file) noexcept;
  void Deleted(const std::string& directory, const NumberedFile& file) noexcept;
  // What writes meet: told if it is not what it was. `cf_name` is empty for the whole database.
  void Stalls(const std::string& cf_name, std::uint32_t cf_id, WriteStallCause cause, WriteStallCondition now) noexcept;

  // Tells what this thread has added. No lock may be held.
  void Deliver();
  // The same of all threads; nobody else adds or delivers any more.
  void DeliverAll();

 private:
  struct Event {
    const void* thread = nullptr;
    Call call;
    std::uint64_t created = 0;  // the file whose creation it tells of; 0: none
  };
  void Queue(Call call, std::uint64_t created) noexcept;
  void Tell(const Event& event);

  const std::vector<std::shared_ptr<EventListener>> listeners_;
  const std::string db_name_;
  std::atomic<int> next_job_id_{1};
  std::atomic<std::size_t> waiting_{0};  // size of queue_, for those who have nothing in it

  Mutex mutex_;  // a leaf; no listener is called under it
  std::deque<Event> queue_ CAMBIUM_GUARDED_BY(mutex_);
  // Files whose creation was begun and has not been told of, with what is to be told when it was, if anything.
  std::map<std::uint64_t, Call> untold_ CAMBIUM_GUARDED_BY(mutex_);
  struct StallKey {
    std::uint32_t cf_id;
    WriteStallCause cause;
    friend auto operator<=>(const StallKey&, const StallKey&) = default;
  };
  std::map<StallKey, WriteStallCondition> stalls_ CAMBIUM_GUARDED_BY(mutex_);  // those that are not normal
  std::uint64_t stall_changes_ CAMBIUM_GUARDED_BY(mutex_) = 0;
};

// Delivers when it goes: the first local of a function that holds no lock when it is called, nor when it ends.
class Delivery {
 public:
  explicit Delivery(Events* events) : events_(events) {}
  ~Delivery() { events_->Deliver(); }
  Delivery(const Delivery&) = delete;
  Delivery& operator=(const Delivery&) = delete;

 private:
  Events* const events_;
};

// One file that is being made, until Done says how that ended; if nobody says, it was given up.
template <typename Info>
class FileCreation {
 public:
  // The file is there.
  FileCreation(Events* events, Info info) : events_(events), info_(std::move(info)) {
    if (events_->is_on()) events_->Started(info_);
  }
  FileCreation(FileCreation&& other) noexcept
      : events_(std::exchange(other.events_, nullptr)), info_(std::move(other.info_)) {}
  FileCreation& operator=(FileCreation&&) = delete;
  ~FileCreation() { Done(Status::Aborted("given up"), 0); }

  void Done(const Status& status, std::uint64_t file_size) noexcept {
    Events* const events = std::exchange(events_, nullptr);
    if (events == nullptr || !events->is_on()) return;
    info_.status = status;
    info_.file_size = file_size;
    events->Created(info_);
  }
  [[nodiscard]] const Info& info() const { return info_; }

 private:
  Events* events_;  // null: it is known how it ended
  Info info_;
};
using TableFileCreation = FileCreation<TableFileCreationInfo>;
using BlobFileCreation = FileCreation<BlobFileCreationInfo>;

}  // namespace cambium
