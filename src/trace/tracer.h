// Tracer writes a running trace. TraceSwitch says whether a trace runs; every operation asks it. TracedCall records one
// operation, and TracedScan one scan of an iterator.
//
//   operation ─▶ TraceSwitch::is_on: one relaxed load ─▶ no trace: nothing else to do
//        │ yes
//        └─▶ Take: filter and sampling ─▶ the operation ─▶ Tracer::Add: buffer ─▶ the caller that fills it writes it
//
// Tracing never makes an operation fail: the first error ends the trace, and EndTrace returns it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <string>

#include "cambium/clock.h"
#include "cambium/random.h"
#include "cambium/trace.h"
#include "trace/trace_format.h"
#include "util/fork_guard.h"
#include "util/mutex.h"

namespace cambium {

// A Tracer records operations in one trace. Any thread may call it.
class Tracer {
 public:
  // `clock` must outlive the Tracer.
  Tracer(const TraceOptions& options, std::unique_ptr<TraceWriter> writer, Clock* clock);

  // Writes the header.
  Status Begin(std::uint64_t id);
  // Returns whether to record an operation of this kind, and counts it for the sampling.
  [[nodiscard]] bool Takes(TraceFilterType kind);
  [[nodiscard]] const TraceOptions& options() const { return options_; }
  [[nodiscard]] std::uint64_t NowMicros() const { return clock_->NowMicros() - begun_micros_; }
  [[nodiscard]] std::uint64_t NextScan() { return scans_.fetch_add(1, std::memory_order_relaxed) + 1; }
  // Appends a record to the buffer, and writes out a buffer that is full: I/O with the mutex held. If the write fails,
  // memory runs out, or the file has no room for the record, recording stops.
  void Add(TraceType type, Slice body) noexcept;
  void FailForMemory() noexcept;
  [[nodiscard]] bool has_stopped() const { return has_stopped_.load(std::memory_order_relaxed); }
  // Writes the buffer and, if there was no error, an end record; then closes the writer. Returns the first error.
  Status End();

 private:
  void Append(TraceType type, Slice body) CAMBIUM_REQUIRES(mutex_);
  void Stop(Status why) CAMBIUM_REQUIRES(mutex_);
  Status WriteOut() CAMBIUM_REQUIRES(mutex_);

  const TraceOptions options_;
  Clock* const clock_;
  const std::uint64_t begun_micros_;
  std::atomic<std::uint64_t> seen_{0};  // operations that passed the filter
  std::atomic<std::uint64_t> scans_{0};
  std::atomic<bool> has_stopped_{false};  // written under mutex_

  Mutex mutex_;  // a leaf
  std::unique_ptr<TraceWriter> writer_ CAMBIUM_GUARDED_BY(mutex_);
  std::uint64_t seed_ CAMBIUM_GUARDED_BY(mutex_) = 0;
  std::uint64_t size_ CAMBIUM_GUARDED_BY(mutex_) = 0;  // of the file and the buffer
  std::uint64_t records_ CAMBIUM_GUARDED_BY(mutex_) = 0;
  std::uint64_t left_out_ CAMBIUM_GUARDED_BY(mutex_) = 0;
  bool is_full_ CAMBIUM_GUARDED_BY(mutex_) = false;
  std::string buffer_ CAMBIUM_GUARDED_BY(mutex_);
  Status first_error_ CAMBIUM_GUARDED_BY(mutex_);
  // Made in advance: when memory has run out, no Status can be made.
  Status out_of_memory_ CAMBIUM_GUARDED_BY(mutex_) = Status::OutOfMemory("for the trace");
};

// A TraceSwitch starts and ends the traces of a database, one at a time.
class TraceSwitch {
 public:
  [[nodiscard]] bool is_on() const { return is_on_.load(std::memory_order_relaxed); }
  // Returns the tracer if it is to record an operation of this kind, else null. In a forked child, returns null without
  // locking: the mutex may be held by a thread that the child does not have.
  [[nodiscard]] std::shared_ptr<Tracer> Take(TraceFilterType kind);
  using MakeWriter = std::function<Status(std::unique_ptr<TraceWriter>* writer)>;
  // Starts a trace. Busy if a trace is running, InvalidArgument if an option is not legal; then `make` is not called.
  Status Start(const TraceOptions& options, const MakeWriter& make, Clock* clock, RandomSource* random);
  // Ends the trace and returns its first error. NotFound if no trace is running.
  Status End();

 private:
  std::atomic<bool> is_on_{false};  // written under mutex_
  const std::uint64_t fork_generation_ = ForkGeneration();
  Mutex mutex_;  // a leaf, except that a tracer's mutex may be taken under it
  std::shared_ptr<Tracer> tracer_ CAMBIUM_GUARDED_BY(mutex_);  // null: no trace is running
};

// A TracedCall is an operation in progress. Without a trace it costs one load and holds a null pointer.
class TracedCall {
 public:
  TracedCall(TraceSwitch* traces, TraceFilterType kind) {
    if (traces->is_on()) [[unlikely]] Begin(traces, kind);
  }
  // Whether the call is to be recorded. Only then may the caller use the functions below: first one that describes the
  // call, then Record once the call has succeeded.
  [[nodiscard]] bool is_on() const { return call_ != nullptr; }
  // Encodes the record. `fill` receives it with its type and time set.
  template <typename Fill>
  void Describe(TraceType type, Fill fill) noexcept {
    try {
      TraceRecord record;
      record.type = type;
      record.time_micros = call_->begun_micros;
      fill(&record);
      call_->body = EncodeTraceBody(record, call_->tracer->options().include_values);
      call_->type = type;
    } catch (const std::bad_alloc&) {
      call_->tracer->FailForMemory();
      call_.reset();
    }
  }
  void DescribeWrite(bool sync, const TraceOp& op) noexcept;
  void Record() noexcept {
    call_->tracer->Add(call_->type, call_->body);
    call_.reset();
  }
  // Whether the caller must record this write at its place in the order of the log.
  [[nodiscard]] bool keeps_order() const { return is_on() && call_->tracer->options().preserve_write_order; }

 private:
  struct Call {
    std::shared_ptr<Tracer> tracer;
    std::uint64_t begun_micros = 0;
    TraceType type{};
    std::string body;
  };
  void Begin(TraceSwitch* traces, TraceFilterType kind) noexcept;

  std::unique_ptr<Call> call_;  // null: not to be recorded, or already recorded
};

// A TracedScan is one scan: from a seek until the iterator is repositioned or destroyed. Its destructor records the end
// of the scan and the number of moves. One thread at a time.
class TracedScan {
 public:
  // Records the seek. Returns null if the scan is not to be recorded. SeekToFirst and SeekToLast ignore `key`.
  static std::unique_ptr<TracedScan> Begin(TraceSwitch* traces, TraceType type, std::uint32_t family,
                                           Slice key) noexcept;
  TracedScan(std::shared_ptr<Tracer> tracer, std::uint64_t number) : tracer_(std::move(tracer)), number_(number) {}
  TracedScan(const TracedScan&) = delete;
  TracedScan& operator=(const TracedScan&) = delete;
  ~TracedScan();

  void CountMove() { ++moves_; }

 private:
  const std::shared_ptr<Tracer> tracer_;
  const std::uint64_t number_;
  std::uint64_t moves_ = 0;
};

}  // namespace cambium
