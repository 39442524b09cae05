// AsyncReader: many reads in flight from one thread. A thread that waits for each value before it asks for the next
// uses a small part of a device's speed; with 64 reads in flight, one or two threads use nearly all of it.
//
//   std::unique_ptr<cambium::AsyncReader> reader;
//   cambium::Status s = db->NewAsyncReader({}, &reader);
//   if (s.ok()) s = reader->Get({}, "oak", [](const cambium::Status& read, cambium::Slice value) { ... });
//   while (reader->in_flight() > 0) reader->Poll();       // calls the callbacks of reads that have ended
//
// or in a coroutine, which a Poll of the same thread resumes:
//
//   cambium::PinnableSlice value;
//   cambium::Status s = co_await reader->Get({}, "oak", &value);
//
// A read is looked up at once, and its value is read later:
//
//   Get ─▶ look-up in memtables and index: at once ─▶ inline, mapped or absent: it has ended; Poll calls the callback
//                                                 └▶ in the log: waits for Submit or Poll
//   Submit, Poll ─▶ hand all waiting reads to the system in one call
//   Poll ─▶ takes what the system has read, verifies it as DB::Get does, calls the callbacks
//
// An index page that is not in the page cache of the database is read at once, and the call waits for it.
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <utility>

#include "cambium/column_family.h"
#include "cambium/options.h"
#include "cambium/pinnable_slice.h"
#include "cambium/slice.h"
#include "cambium/status.h"

namespace cambium {

struct AsyncReaderOptions {
  // The most keys whose reads have begun and whose callbacks have not been called. 1 to 4,096.
  std::size_t depth = 64;
  // A read waits in the reader if its value would raise a sum above this limit. The sum counts the values that are
  // being read, that wait for their callback, and whose callback runs. A value that is in memory when its read begins
  // counts with its size, another one with its stored size. A value larger than the limit is read alone. A MultiGet
  // holds all its values until its callback has returned, also if they are larger together; then they are read one by
  // one.
  std::uint64_t bytes_max = 64u << 20;
  // If false, or if the system refuses io_uring, up to 32 threads read; all databases of the process share them.
  bool use_io_uring = true;
};

class AsyncGet;

// Made by DB::NewAsyncReader. One thread at a time: each thread that reads has a reader of its own. Destroy it before
// the database is closed: until then Close returns Aborted. A reader holds a ring of io_uring, which is a descriptor.
//
// State: a read sees everything written before it began, or its snapshot, as DB::Get does. Later writes, deletes and
// log GC do not change what it sees. ReadOptions apply as to DB::Get; async_io has no effect.
//
// Statistics are those of DB::Get and DB::MultiGet; times end when the callback is called. In a trace, each key, also of
// a MultiGet, is a Get (kTraceFilterGet).
//
// Fork: in a forked child no read begins or ends, no callback is called, and in_flight() is 0.
class AsyncReader {
 public:
  // Called once for each read that has begun, by Poll or by the destructor. `value` is empty unless `status` is OK. The
  // callback may move it; otherwise its memory serves later reads. A callback, or a coroutine that Poll resumes, may
  // begin reads, but must not destroy the reader. If it throws, Poll throws; the other reads are not affected. If the
  // unhandled_exception of a coroutine's promise throws, and the coroutine is destroyed later, clang destroys variables
  // that were alive at its last co_await a second time (LLVM issue 61900).
  using Callback = std::function<void(const Status& status, PinnableSlice&& value)>;
  // The same for the keys of one MultiGet, in their order.
  using ManyCallback = std::function<void(std::span<const Status> statuses, std::span<PinnableSlice> values)>;
  static constexpr std::uint64_t kForever = std::numeric_limits<std::uint64_t>::max();

  AsyncReader() = default;
  AsyncReader(const AsyncReader&) = delete;
  AsyncReader& operator=(const AsyncReader&) = delete;
  // Waits for the reads that the system works on, then calls the callback, or resumes the coroutine, of every read. A
  // read that had ended before has its own result, any other one Aborted. Get then returns ShutdownInProgress. During
  // `reader.reset()` the pointer is null already, so a callback that uses the reader needs another one. A callback that
  // throws here ends the program.
  virtual ~AsyncReader() = default;

  // Begins a read. If the result is OK, the callback will be called with the result of the read. Otherwise no read has
  // begun and it will not be called. Busy: there is no room; Poll first. The key is copied.
  virtual Status Get(const ReadOptions& options, ColumnFamilyHandle* family, Slice key, Callback callback) = 0;
  Status Get(const ReadOptions& options, Slice key, Callback callback) {
    return Get(options, DefaultColumnFamily(), key, std::move(callback));
  }
  // Begins to read all keys, of any families, at one state; the callback is called when all have ended. Each key counts
  // as a read in flight, except those without a family; a call with no key to read counts as one. InvalidArgument if
  // `count` is more than `depth`. Neighbours in the log are not read together.
  virtual Status MultiGet(const ReadOptions& options, std::size_t count, ColumnFamilyHandle* const* families,
                          const Slice* keys, ManyCallback callback) = 0;

  // Returns what a coroutine awaits: `Status s = co_await reader->Get(options, family, key, &value);`. Without room,
  // the coroutine waits for it, and the read begins later. Key, snapshot, family handle and value must live until the
  // co_await ends. The value is empty unless the status is OK. A coroutine that is suspended may be destroyed.
  //
  // If there is room, a value in memory is read without suspending the coroutine. So a coroutine that reads only such
  // values in a loop does not yield, and the Poll that has resumed it goes on as long as the loop.
  [[nodiscard]] inline AsyncGet Get(const ReadOptions& options, ColumnFamilyHandle* family, Slice key,
                                    PinnableSlice* value);
  [[nodiscard]] inline AsyncGet Get(const ReadOptions& options, Slice key, PinnableSlice* value);

  // Hands the reads that have begun to the system. Poll does this too; a program that calls Get and then does other
  // work calls Submit in between.
  virtual void Submit() = 0;
  // Calls the callbacks of reads that have ended, and resumes their coroutines. Waits until at least `least` reads have
  // ended (a MultiGet counts as one), or `timeout_micros` have passed, or none is in flight. Returns how many reads
  // have ended. If `least` is 0, it does not wait. If a callback or a resumed coroutine calls it, it does nothing and
  // returns 0. The timeout has no effect if the file system's read queue has no timed wait.
  virtual std::size_t Poll(std::size_t least = 1, std::uint64_t timeout_micros = kForever) = 0;

  // Keys of reads that have begun and have not ended, and coroutines that wait for room.
  [[nodiscard]] virtual std::size_t in_flight() const = 0;
  [[nodiscard]] virtual std::size_t depth() const = 0;
  // False if a Get with a callback would return Busy.
  [[nodiscard]] bool HasRoom() const { return in_flight() < depth(); }

  // Sets *fd to an eventfd that is readable when Poll has something to do, for programs with an event loop: call Submit
  // before waiting for it, and Poll(0) when it is readable. Sometimes it is readable although Poll finds nothing to do.
  // It belongs to the reader: neither read nor close it.
  // NotSupported if the file system's read queue cannot signal.
  virtual Status EventFd(int* fd) = 0;

 protected:
  friend class AsyncGet;
  [[nodiscard]] virtual ColumnFamilyHandle* DefaultColumnFamily() const = 0;
  // Begins the read of *get. True: it has ended already. False: get->waiting_ will be resumed.
  virtual bool Begin(AsyncGet* get) = 0;
  // *get is destroyed before its read has ended.
  virtual void Forget(AsyncGet* get) = 0;
};

// A read that a coroutine awaits, once. Lives in the frame of the coroutine.
class [[nodiscard]] AsyncGet {
 public:
  AsyncGet(AsyncReader* reader, const ReadOptions& options, ColumnFamilyHandle* family, Slice key, PinnableSlice* value)
      : reader_(reader), options_(options), family_(family), key_(key), value_(value) {}
  ~AsyncGet() {
    if (is_pending_) reader_->Forget(this);
  }
  AsyncGet(const AsyncGet&) = delete;
  AsyncGet& operator=(const AsyncGet&) = delete;

  [[nodiscard]] bool await_ready() { return reader_->Begin(this); }
  void await_suspend(std::coroutine_handle<> waiting) noexcept { waiting_ = waiting; }
  [[nodiscard]] Status await_resume() { return std::move(status_); }

 private:
  friend class AsyncReaderImpl;

  AsyncReader* const reader_;
  const ReadOptions options_;
  ColumnFamilyHandle* const family_;
  const Slice key_;
  PinnableSlice* const value_;
  Status status_;
  std::coroutine_handle<> waiting_;
  bool is_pending_ = false;   // Begin has returned false, and the read has not ended
  void* read_ = nullptr;      // the reader's; null while it waits for room
  AsyncGet* next_ = nullptr;  // the next read that waits for room
};

AsyncGet AsyncReader::Get(const ReadOptions& options, ColumnFamilyHandle* family, Slice key, PinnableSlice* value) {
  return {this, options, family, key, value};
}
AsyncGet AsyncReader::Get(const ReadOptions& options, Slice key, PinnableSlice* value) {
  return {this, options, DefaultColumnFamily(), key, value};
}

}  // namespace cambium
