#include "trace/tracer.h"

#include <new>

#include "trace/trace_format.h"
#include "util/coding.h"
#include "util/result.h"

namespace cambium {
namespace {

// A full buffer has at least this size and is written to the file.
constexpr std::size_t kBufferBytes = 64u << 10;
constexpr std::uint64_t kFileSizeMin = 4u << 10;

}  // namespace

Tracer::Tracer(const TraceOptions& options, std::unique_ptr<TraceWriter> writer, Clock* clock)
    : options_(options), clock_(clock), begun_micros_(clock->NowMicros()), writer_(std::move(writer)) {}

Status Tracer::Begin(std::uint64_t id) {
  TraceHeader header;
  header.wall_seconds = clock_->WallSeconds();
  header.sampling_frequency = options_.sampling_frequency;
  header.filter = options_.filter;
  header.preserve_write_order = options_.preserve_write_order;
  header.include_values = options_.include_values;
  const std::string bytes = EncodeTraceHeader(header, id);
  const MutexLock lock(mutex_);
  seed_ = DecodeFixed<std::uint64_t>(bytes.data() + bytes.size() - 8);
  size_ = bytes.size();
  return writer_->Write(bytes);
}

bool Tracer::Takes(TraceFilterType kind) {
  if (has_stopped() || (options_.filter & kind) != 0) return false;
  return (seen_.fetch_add(1, std::memory_order_relaxed) + 1) % options_.sampling_frequency == 0;
}

void Tracer::Add(TraceType type, Slice body) noexcept {
  const MutexLock lock(mutex_);
  if (has_stopped()) return;
  try {
    Append(type, body);
  } catch (const std::bad_alloc&) {
    Stop(std::move(out_of_memory_));
  }
}

void Tracer::FailForMemory() noexcept {
  const MutexLock lock(mutex_);
  if (!has_stopped()) Stop(std::move(out_of_memory_));
}

void Tracer::Append(TraceType type, Slice body) {
  if (body.size() > kTraceBodyMax) {
    ++left_out_;
    return;
  }
  const std::uint64_t size = kTraceRecordHeaderSize + body.size();
  if (size_ + size + kTraceEndMax > options_.max_trace_file_size) {
    is_full_ = true;
    has_stopped_.store(true, std::memory_order_relaxed);
    return;
  }
  AppendTraceRecord(&buffer_, seed_, size_, type, body);
  size_ += size;
  ++records_;
  if (buffer_.size() < kBufferBytes) return;
  if (Status s = WriteOut(); !s.ok()) Stop(std::move(s));
}

void Tracer::Stop(Status why) {
  if (first_error_.ok()) first_error_ = std::move(why);
  has_stopped_.store(true, std::memory_order_relaxed);
  buffer_.clear();
}

Status Tracer::WriteOut() {
  Status s = writer_->Write(buffer_);
  buffer_.clear();
  return s;
}

Status Tracer::End() {
  const MutexLock lock(mutex_);
  if (first_error_.ok()) {
    TraceRecord end;
    end.type = kTraceEnd;
    end.time_micros = NowMicros();
    end.records = records_;
    end.left_out = left_out_;
    end.is_full = is_full_;
    AppendTraceRecord(&buffer_, seed_, size_, kTraceEnd, EncodeTraceBody(end, false));
    if (Status s = WriteOut(); !s.ok()) Stop(std::move(s));
  }
  has_stopped_.store(true, std::memory_order_relaxed);
  Status closed = writer_->Close();
  return first_error_.ok() ? closed : first_error_;
}

std::shared_ptr<Tracer> TraceSwitch::Take(TraceFilterType kind) {
  if (ForkGeneration() != fork_generation_) return nullptr;
  const MutexLock lock(mutex_);
  if (tracer_ == nullptr || !tracer_->Takes(kind)) {
    if (tracer_ != nullptr && tracer_->has_stopped()) is_on_.store(false, std::memory_order_relaxed);
    return nullptr;
  }
  return tracer_;
}

Status TraceSwitch::Start(const TraceOptions& options, const MakeWriter& make, Clock* clock, RandomSource* random) {
  if (options.sampling_frequency == 0) return Status::InvalidArgument("sampling_frequency is 0; legal is 1 or more");
  if (options.max_trace_file_size < kFileSizeMin) {
    return Status::InvalidArgument("max_trace_file_size is " + std::to_string(options.max_trace_file_size) +
                                   "; legal is 4096 or more");
  }
  constexpr std::uint64_t kKnown = kTraceFilterGet | kTraceFilterWrite | kTraceFilterIteratorSeek |
                                   kTraceFilterIteratorSeekForPrev | kTraceFilterMultiGet;
  if ((options.filter & ~kKnown) != 0) {
    return Status::InvalidArgument("filter is " + std::to_string(options.filter) + ", which has unknown bits");
  }
  const MutexLock lock(mutex_);
  if (tracer_ != nullptr) return Status::Busy("a trace is running");
  std::unique_ptr<TraceWriter> writer;
  CAMBIUM_RETURN_IF_ERROR(make(&writer));
  if (writer == nullptr) return Status::InvalidArgument("a trace needs a writer");
  std::uint64_t id = 0;
  random->Fill(reinterpret_cast<char*>(&id), sizeof(id));
  auto tracer = std::make_shared<Tracer>(options, std::move(writer), clock);
  CAMBIUM_RETURN_IF_ERROR(tracer->Begin(id));
  tracer_ = std::move(tracer);
  is_on_.store(true, std::memory_order_relaxed);
  return Status::OK();
}

Status TraceSwitch::End() {
  std::shared_ptr<Tracer> tracer;
  {
    const MutexLock lock(mutex_);
    if (tracer_ == nullptr) return Status::NotFound("no trace is running");
    is_on_.store(false, std::memory_order_relaxed);
    tracer.swap(tracer_);
  }
  return tracer->End();
}

void TracedCall::Begin(TraceSwitch* traces, TraceFilterType kind) noexcept {
  std::shared_ptr<Tracer> tracer = traces->Take(kind);
  if (tracer == nullptr) return;
  try {
    call_ = std::make_unique<Call>();
    call_->begun_micros = tracer->NowMicros();
    call_->tracer = std::move(tracer);
  } catch (const std::bad_alloc&) {
    tracer->FailForMemory();
  }
}

void TracedCall::DescribeWrite(bool sync, const TraceOp& op) noexcept {
  Describe(kTraceWrite, [&](TraceRecord* record) {
    record->sync = sync;
    record->ops.push_back(op);
  });
}

std::unique_ptr<TracedScan> TracedScan::Begin(TraceSwitch* traces, TraceType type, std::uint32_t family,
                                              Slice key) noexcept {
  const bool is_forward = type == kTraceIteratorSeek || type == kTraceIteratorSeekToFirst;
  const std::shared_ptr<Tracer> tracer =
      traces->Take(is_forward ? kTraceFilterIteratorSeek : kTraceFilterIteratorSeekForPrev);
  if (tracer == nullptr) return nullptr;
  try {
    TraceRecord record;
    record.type = type;
    record.time_micros = tracer->NowMicros();
    record.scan = tracer->NextScan();
    TraceOp& op = record.ops.emplace_back();
    op.type = TraceOpType::kSeek;
    op.family = family;
    op.key = key;
    auto scan = std::make_unique<TracedScan>(tracer, record.scan);
    tracer->Add(type, EncodeTraceBody(record, false));
    return scan;
  } catch (const std::bad_alloc&) {
    tracer->FailForMemory();
    return nullptr;
  }
}

TracedScan::~TracedScan() {
  if (tracer_->has_stopped()) return;
  try {
    TraceRecord record;
    record.type = kTraceIteratorDone;
    record.time_micros = tracer_->NowMicros();
    record.scan = number_;
    record.moves = moves_;
    tracer_->Add(kTraceIteratorDone, EncodeTraceBody(record, false));
  } catch (const std::bad_alloc&) {
    tracer_->FailForMemory();
  }
}

}  // namespace cambium
