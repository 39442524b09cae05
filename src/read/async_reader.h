// AsyncReaderImpl: implements AsyncReader. A read has a slot:
//
//              ┌ inline, mapped, absent, wrong ───────────────────────────┐
//   free ─▶ Begin ─▶ held (bytes_max) ─▶ unsent ─▶ in the queue ─▶ ended ─┴▶ its callback, or its coroutine ─▶ free
//
// A coroutine that finds no free slot waits in a list of its own, without a slot.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "cambium/async.h"
#include "io/event_descriptor.h"
#include "read/reader.h"
#include "state/db_state.h"
#include "trace/tracer.h"
#include "util/mutant.h"

namespace cambium {

// The parts of a database that its asynchronous readers use.
struct AsyncSource {
  const void* database = nullptr;  // the handles of its families name this database
  ColumnFamilyHandle* default_family = nullptr;
  DbState* state = nullptr;
  const Reader* reader = nullptr;
  TraceSwitch* traces = nullptr;
};

class AsyncReaderImpl final : public AsyncReader {
 public:
  static constexpr std::size_t kDepthMax = 4096;

  // The objects that `source` points to outlive the reader.
  static Result<std::unique_ptr<AsyncReaderImpl>> Make(const AsyncSource& source, const AsyncReaderOptions& options);
  ~AsyncReaderImpl() override;
  // In a forked child nothing is destroyed, as with the database.
  static void operator delete(AsyncReaderImpl* reader, std::destroying_delete_t);

  using AsyncReader::Get;
  Status Get(const ReadOptions& options, ColumnFamilyHandle* family, Slice key, Callback callback) override;
  Status MultiGet(const ReadOptions& options, std::size_t count, ColumnFamilyHandle* const* families, const Slice* keys,
                  ManyCallback callback) override;
  void Submit() override;
  std::size_t Poll(std::size_t least, std::uint64_t timeout_micros) override;
  [[nodiscard]] std::size_t in_flight() const override;
  [[nodiscard]] std::size_t depth() const override { return options_.depth; }
  Status EventFd(int* fd) override;

 private:
  // The keys of a MultiGet.
  struct Group {
    ManyCallback callback;
    std::vector<Status> statuses;
    std::vector<PinnableSlice> values;
    std::size_t left = 0;            // reads that have not ended
    std::uint64_t bytes = 0;         // counted in bytes_grouped_
    std::uint64_t begun_micros = 0;  // 0: not measured
  };
  // A slot. Its address does not change.
  struct Read {
    std::string key;
    UnreadValue unread;  // until the value is read; keeps its file
    ValuePlace place;
    ReadRequest request;
    PinnableSlice value;  // the value is read into its memory
    Status status;
    std::uint64_t bytes = 0;  // counted in bytes_used_
    bool is_sent = false;     // it is in the queue
    std::uint32_t family = 0;
    std::uint64_t begun_micros = 0;  // 0: not measured
    std::optional<TracedCall> traced;
    // Who waits for it: one of these. None: a coroutine that was destroyed.
    Callback callback;
    AsyncGet* get = nullptr;
    std::shared_ptr<Group> group;
    std::size_t index = 0;  // in the group
    Read* next = nullptr;
  };
  // First in, first out; of reads, by their `next`.
  struct List {
    Read* first = nullptr;
    Read* last = nullptr;
    [[nodiscard]] bool empty() const { return first == nullptr; }
    void Push(Read* read);
    Read* Pop();
  };
  class Claim;      // takes a free slot, and gives it back unless a read has begun
  class PollScope;  // one Poll

  AsyncReaderImpl(const AsyncSource& source, const AsyncReaderOptions& options);

  [[nodiscard]] ColumnFamilyHandle* DefaultColumnFamily() const override { return source_.default_family; }
  bool Begin(AsyncGet* get) override;
  void Forget(AsyncGet* get) override;

  [[nodiscard]] Status Check(const ReadOptions& options) const;
  // Looks the key up in the view, or if it is null, in the view of `options`. If it sets read->unread, the value has to
  // be read. If it throws, the read has not begun.
  void LookUp(Read* read, const ReadOptions& options, const Family& family, Slice key, const View* view,
              SequenceNumber sequence);
  // The read is in flight. Puts it in the list for its next step.
  void Enter(Read* read) noexcept;
  // Moves held reads that fit to the unsent ones.
  void Release() noexcept;
  // Prepares the request of a read with an unread value: it is unsent then. After an error it has ended.
  void Prepare(Read* read) noexcept;
  Status MakeRequest(Read* read);
  // Begins the read of *get, which takes a slot. True: it has ended already.
  bool BeginNow(AsyncGet* get);
  // Begins reads of the coroutines that wait for a slot when it is called, as far as there are slots. Resumes those
  // whose reads have ended already, and returns how many.
  std::size_t BeginWaiting();
  AsyncGet* PopWaiting();
  // Delivers the reads that have ended by now. Returns how many.
  std::size_t DeliverEnded();
  // True if another round of a Poll would find work, without waiting for the queue.
  [[nodiscard]] bool HasWork() const { return !ended_.empty() || (first_waiting_ != nullptr && HasSlot()); }
  // A child must not touch what its parent waits for.
  [[nodiscard]] bool IsForkedChild() const;
  // Takes finished reads from the queue. Waits up to `micros` if there is none.
  void Receive(std::uint64_t micros);
  // Ends a read with the error `why`, or if that is OK, with the error that LookUp has set (NotRead).
  void Fail(Read* read, const Status& why) noexcept;
  // The queue has failed: all its reads fail.
  void LoseQueue(const Status& why) noexcept;
  // The queue has delivered the read's request.
  void Finish(Read* read) noexcept;
  Status ValueOf(Read* read) const;
  void End(Read* read) noexcept;
  // Counts and traces the read, whose result is known.
  void Record(Read* read) const noexcept;
  // Calls the callback of a read that has ended, and frees its slot. False if no callback was due.
  bool Deliver(Read* read);
  bool DeliverToGroup(Read* read);
  // Ends the read that *get waits for; does not resume the coroutine.
  static void HandOver(Read* read, AsyncGet* get) noexcept;
  void Free(Read* read) noexcept;
  [[nodiscard]] bool HasSlot() const { return in_flight_ < options_.depth; }
  // How many more bytes of values bytes_max allows.
  [[nodiscard]] std::uint64_t BytesLeft() const noexcept {
    const std::uint64_t used = bytes_used_ + bytes_grouped_;
    return used < options_.bytes_max ? options_.bytes_max - used : 0;
  }
  // A held read fits at the latest when no other read can end before it. So the values of one MultiGet may be more than
  // bytes_max.
  [[nodiscard]] bool Fits(std::uint64_t bytes) const noexcept {
    return bytes_used_ == 0 || bytes <= BytesLeft() || MutantIs(Mutant::kAsyncReaderIgnoresBytes);
  }
  // Sets how many bytes of bytes_used_ are the read's.
  void Charge(Read* read, std::uint64_t bytes) noexcept {
    bytes_used_ += bytes - read->bytes;
    read->bytes = bytes;
  }

  const AsyncSource source_;
  const DbContext& db_;
  const AsyncReaderOptions options_;
  // io_uring returns a value that is in the page cache as fast as a call that reads only from the cache would. Threads
  // do not, so without io_uring such a call comes first.
  const bool has_ring_;
  EventDescriptor event_;             // outlives the queue, which signals it
  std::unique_ptr<ReadQueue> queue_;  // null: to be made
  std::vector<std::unique_ptr<Read>> slots_;
  std::vector<Read*> free_;
  std::size_t in_flight_ = 0;
  std::uint64_t bytes_used_ = 0;     // by values of reads that are not held, until their callbacks have returned
  std::uint64_t bytes_grouped_ = 0;  // by values that wait for others of their MultiGet, and during its callback
  List held_;                        // wait until bytes_max allows them
  std::vector<ReadRequest*> unsent_;
  std::size_t sent_ = 0;  // reads in the queue
  List ended_;
  AsyncGet* first_waiting_ = nullptr;  // coroutines that wait for a slot
  AsyncGet* last_waiting_ = nullptr;
  std::size_t waiting_count_ = 0;
  std::vector<ReadRequest*> done_;  // scratch space of Receive
  bool is_polling_ = false;
  bool is_ending_ = false;  // in the destructor
};

}  // namespace cambium
