// Tracer: a trace that is running. TraceSwitch: whether there is one, which every operation asks. TracedScan: what an
// iterator tells of its scan.
//
//   operation ─▶ TraceSwitch::is_on: one relaxed load ─▶ no trace: that was all
//        │ yes
//        └─▶ Take: filter and sampling ─▶ the operation ─▶ Tracer::Add: buffer ─▶ whoever fills it writes it out
//
// Nothing here fails an operation: the first error ends the trace, and is EndTrace's.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <string>

#include "trace/trace_format.h"
#include "cambium/clock.h"
#include "cambium/random.h"
#include "cambium/trace.h"
#include "cambium/write_batch.h"
#include "util/fork_guard.h"

namespace cambium {

// Any thread.
class Tracer {
 public:
  // `clock` must outlive it.
  Tracer(const TraceOptions& options, std::unique_ptr<TraceWriter> writer, Clock* clock);

  // Writes the header.
  Status Begin(std::uint64_t id);
  // Whether an operation of this kind is to be recorded; counts it for the sampling.
  [[nodiscard]] bool Takes(TraceFilterType kind);
  [[nodiscard]] const TraceOptions& options() const { return options_; }
  [[nodiscard]] std::uint64_t NowMicros() const { return clock_->NowMicros() - begun_micros_; }
  [[nodiscard]] std::uint64_t NextScan() { return scans_.fetch_add(1, std::memory_order_relaxed) + 1; }
  // Writes out what is buffered if it is much: I/O, with the mutex held. After an error, without memory or without room
  // for the record in the file nothing is recorded any more.
  void Add(TraceType type, Slice body) noexcept;
  void FailForMemory() noexcept;
  [[nodiscard]] bool has_stopped() const { return has_stopped_.load(std::memory_order_relaxed); }
  // The end record, if there was no error, and what is still buffered. The first error.
  Status End();

 private:
  // mutex_ held, all three
  void Append(TraceType type, Slice body);
  void Stop(Status why);
  Status WriteOut();

  const TraceOptions options_;
  Clock* const clock_;
  const std::uint64_t begun_micros_;
  std::atomic<std::uint64_t> seen_{0};   // by the sampling
  std::atomic<std::uint64_t> scans_{0};
  std::atomic<bool> has_stopped_{false};  // written under mutex_

  std::mutex mutex_;                     // guards what follows; a leaf
  std::unique_ptr<TraceWriter> writer_;
  std::uint64_t seed_ = 0;
  std::uint64_t size_ = 0;  // of the file, with what is buffered
  std::uint64_t records_ = 0;
  std::uint64_t left_out_ = 0;
  bool is_full_ = false;
  std::string buffer_;
  Status first_error_;
};

class TraceSwitch {
 public:
  [[nodiscard]] bool is_on() const { return is_on_.load(std::memory_order_relaxed); }
  // The tracer, if an operation of this kind is to be recorded; else null. Null in a forked child: there the mutex may be
  // held by a thread that is not there.
  [[nodiscard]] std::shared_ptr<Tracer> Take(TraceFilterType kind);
  using MakeWriter = std::function<Status(std::unique_ptr<TraceWriter>* writer)>;
  // Busy if a trace is running, InvalidArgument for options that are not legal; nothing is made then.
  Status Start(const TraceOptions& options, const MakeWriter& make, Clock* clock, RandomSource* random);
  // NotFound without a trace.
  Status End();

 private:
  std::atomic<bool> is_on_{false};  // written under mutex_
  const std::uint64_t fork_generation_ = ForkGeneration();
  std::mutex mutex_;                // a leaf; before a tracer's
  std::shared_ptr<Tracer> tracer_;  // mutex_; null: none
};

// A call that is being made. Where no trace runs it is one load, and a null pointer.
class TracedCall {
 public:
  TracedCall(TraceSwitch* traces, TraceFilterType kind) {
    if (traces->is_on()) [[unlikely]] Begin(traces, kind);
  }
  // Whether it is to be recorded. Only then the others are called: first what the call is, then that it has succeeded.
  [[nodiscard]] bool is_on() const { return call_ != nullptr; }
  // `fill` is given the record, with its time.
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
  void DescribeWrite(bool sync, const WriteBatch& batch) noexcept;
  void DescribeWrite(bool sync, const TraceOp& op) noexcept;
  void Record() noexcept {
    call_->tracer->Add(call_->type, call_->body);
    call_.reset();
  }
  // Of a write whose record comes at the place that the write has in the log.
  [[nodiscard]] bool keeps_order() const { return is_on() && call_->tracer->options().preserve_write_order; }

 private:
  struct Call {
    std::shared_ptr<Tracer> tracer;
    std::uint64_t begun_micros = 0;
    TraceType type{};
    std::string body;
  };
  void Begin(TraceSwitch* traces, TraceFilterType kind) noexcept;

  std::unique_ptr<Call> call_;  // null: the call is not recorded, or has been
};

// One scan, from a seek until the iterator is moved elsewhere or goes. One thread at a time.
class TracedScan {
 public:
  // Null if it is not to be recorded. `key` is not for SeekToFirst and SeekToLast.
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
