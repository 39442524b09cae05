// AsyncReader: many reads in flight from one thread. A thread that waits for each value before it asks for the next uses
// a small part of what a device can do; with 64 reads in flight, one or two threads use nearly all of it.
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
// What a read does when it begins, and what later:
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
  // A read waits in the reader while the values of other reads take more than this: values that are being read, and
  // those that wait for their callback. A larger value is read alone.
  std::uint64_t bytes_max = 64u << 20;
  // False, or if the system refuses io_uring: threads read, up to 32, which all databases of the process share.
  bool use_io_uring = true;
};

class AsyncGet;

// Made by DB::NewAsyncReader. One thread at a time: each thread that reads has a reader of its own. Destroy it before
// the database is closed: until then Close returns Aborted. A reader holds a ring of io_uring, which is a descriptor.
//
// State: a read sees everything written before it began, or its snapshot, as DB::Get does. Later writes, deletes and log
// GC do not change what it sees. ReadOptions apply as to DB::Get; async_io has no effect.
class AsyncReader {
 public:
  // Called once for each read that has begun, by Poll or by the destructor. `value` is empty unless `status` is OK. The
  // callback may move it; otherwise its memory serves later reads. It may begin reads, but must not destroy the reader.
  // If it throws, Poll throws; the other reads are not affected.
  using Callback = std::function<void(const Status& status, PinnableSlice&& value)>;
  // The same for the keys of one MultiGet, in their order.
  using ManyCallback = std::function<void(std::span<const Status> statuses, std::span<PinnableSlice> values)>;
  static constexpr std::uint64_t kForever = std::numeric_limits<std::uint64_t>::max();

  AsyncReader() = default;
  AsyncReader(const AsyncReader&) = delete;
  AsyncReader& operator=(const AsyncReader&) = delete;
  // Waits for the reads that the system works on, then calls the callback, or resumes the coroutine, of every read: with
  // Aborted unless it had ended before. A callback that throws here ends the program.
  virtual ~AsyncReader() = default;

  // Begins a read. If the result is OK, the callback will be called with the result of the read. Otherwise no read has
  // begun and it will not be called. Busy: `depth` reads are in flight; Poll first. The key is copied.
  virtual Status Get(const ReadOptions& options, ColumnFamilyHandle* family, Slice key, Callback callback) = 0;
  Status Get(const ReadOptions& options, Slice key, Callback callback) {
    return Get(options, DefaultColumnFamily(), key, std::move(callback));
  }
  // Begins to read all keys, of any families, at one state; the callback is called when all have ended. Counts as
  // `count` reads in flight. InvalidArgument if that is more than `depth`. Values are read one by one, also if they are
  // neighbours.
  virtual Status MultiGet(const ReadOptions& options, std::size_t count, ColumnFamilyHandle* const* families,
                          const Slice* keys, ManyCallback callback) = 0;

  // Returns what a coroutine awaits: `Status s = co_await reader->Get(options, family, key, &value);`. A value in memory
  // is read without suspending the coroutine. Without room, the coroutine waits for it, and the read begins later. Key,
  // snapshot and value must live until the co_await ends. A coroutine that is suspended may be destroyed.
  [[nodiscard]] inline AsyncGet Get(const ReadOptions& options, ColumnFamilyHandle* family, Slice key,
                                    PinnableSlice* value);
  [[nodiscard]] inline AsyncGet Get(const ReadOptions& options, Slice key, PinnableSlice* value);

  // Hands the reads that have begun to the system. Poll does this too; a program that calls Get and then does other work
  // calls Submit in between.
  virtual void Submit() = 0;
  // Calls the callbacks of reads that have ended, and resumes their coroutines. Waits until it has ended at least `least`
  // reads (a MultiGet counts as one), or `timeout_micros` have passed, or none is in flight. Returns how many it has
  // ended. With least = 0 it does not wait. Inside a callback it does nothing.
  virtual std::size_t Poll(std::size_t least = 1, std::uint64_t timeout_micros = kForever) = 0;

  // Keys of reads that have begun and have not ended. Coroutines that wait for room are not counted.
  [[nodiscard]] virtual std::size_t in_flight() const = 0;
  [[nodiscard]] virtual std::size_t depth() const = 0;
  [[nodiscard]] bool HasRoom() const { return in_flight() < depth(); }

  // Sets *fd to an eventfd that is readable when Poll has something to do, for programs with an event loop: call Submit
  // before waiting for it, and Poll(0) when it is readable. It belongs to the reader: neither read nor close it.
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
  bool is_pending_ = false;     // Begin has returned false, and the read has not ended
  void* read_ = nullptr;        // the reader's; null while it waits for room
  AsyncGet* next_ = nullptr;    // of those that wait for room
};

AsyncGet AsyncReader::Get(const ReadOptions& options, ColumnFamilyHandle* family, Slice key, PinnableSlice* value) {
  return {this, options, family, key, value};
}
AsyncGet AsyncReader::Get(const ReadOptions& options, Slice key, PinnableSlice* value) {
  return {this, options, DefaultColumnFamily(), key, value};
}

}  // namespace cambium
