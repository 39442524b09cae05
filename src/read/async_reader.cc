#include "read/async_reader.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "io/uring_read_queue.h"
#include "util/destroy.h"
#include "util/fork_guard.h"
#include "util/mutant.h"
#include "util/null_argument.h"

namespace cambium {
namespace {

// A free slot keeps its memory for the next value, up to this many bytes.
constexpr std::size_t kBytesKept = 64u << 10;

// The result of a read that has not ended yet. It remains the result if memory runs out, or the reader is destroyed.
Status NotRead() { return Status::Aborted("not read: memory ran out, or the reader was destroyed"); }

}  // namespace

void AsyncReaderImpl::List::Push(Read* read) {
  read->next = nullptr;
  (first == nullptr ? first : last->next) = read;
  last = read;
}

AsyncReaderImpl::Read* AsyncReaderImpl::List::Pop() {
  assert(first != nullptr);
  Read* const read = first;
  first = std::exchange(read->next, nullptr);
  return read;
}

// Takes a free slot, and frees it again unless the read enters.
class AsyncReaderImpl::Claim {
 public:
  explicit Claim(AsyncReaderImpl* reader) : reader_(*reader) {
    assert(!reader_.free_.empty());
    read_ = reader_.free_.back();
    reader_.free_.pop_back();
  }
  Claim(Claim&& other) noexcept : reader_(other.reader_), read_(std::exchange(other.read_, nullptr)) {}
  ~Claim() {
    if (read_ != nullptr) reader_.Free(read_);
  }
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;
  Claim& operator=(Claim&&) = delete;

  Read* operator->() const { return read_; }
  [[nodiscard]] Read* get() const { return read_; }
  void Enter() noexcept { reader_.Enter(std::exchange(read_, nullptr)); }

 private:
  AsyncReaderImpl& reader_;
  Read* read_;
};

class AsyncReaderImpl::PollScope {
 public:
  explicit PollScope(AsyncReaderImpl* reader) : reader_(*reader) { reader_.is_polling_ = true; }
  // Runs also after an exception of a callback. The program may next wait for the descriptor, so reads that the
  // callbacks have begun must be submitted.
  ~PollScope() {
    reader_.is_polling_ = false;
    if (reader_.IsForkedChild()) return;
    reader_.Submit();
    if (reader_.HasWork()) reader_.event_.Signal();
  }
  PollScope(const PollScope&) = delete;
  PollScope& operator=(const PollScope&) = delete;

 private:
  AsyncReaderImpl& reader_;
};

// ---- Making and destroying ----

Result<std::unique_ptr<AsyncReaderImpl>> AsyncReaderImpl::Make(const AsyncSource& source,
                                                               const AsyncReaderOptions& options) {
  if (options.depth < 1 || options.depth > kDepthMax) {
    return Status::InvalidArgument("depth is " + std::to_string(options.depth) + "; legal are 1 to " +
                                   std::to_string(kDepthMax));
  }
  return AllocateAndMake<AsyncReaderImpl>([&](void* at) { return ::new (at) AsyncReaderImpl(source, options); });
}

// Takes all memory that later steps of a read need, besides its key and its value.
AsyncReaderImpl::AsyncReaderImpl(const AsyncSource& source, const AsyncReaderOptions& options)
    : source_(source),
      db_(source.state->context),
      options_(options),
      has_ring_(options.use_io_uring && IoUringWorks()) {
  const std::size_t slots = options.depth + 1;  // while a callback runs, its slot is not free
  slots_.reserve(slots);
  free_.reserve(slots);
  unsent_.reserve(slots);
  done_.reserve(slots);
  for (std::size_t i = 0; i < slots; ++i) {
    slots_.push_back(std::make_unique<Read>());
    free_.push_back(slots_.back().get());
  }
  // Last: if memory runs out above, the reader is not constructed.
  source_.state->async_reader_count.fetch_add(1);
}

AsyncReaderImpl::~AsyncReaderImpl() {
  assert(!is_polling_ && "a callback must not destroy its reader");
  is_ending_ = is_polling_ = true;
  queue_.reset();  // waits until nothing is written into the slots any more
  LoseQueue(Status::OK());
  for (ReadRequest* const request : unsent_) Fail(static_cast<Read*>(request->tag), Status::OK());
  unsent_.clear();
  while (!held_.empty()) Fail(held_.Pop(), Status::OK());
  while (!ended_.empty()) Deliver(ended_.Pop());
  while (first_waiting_ != nullptr) PopWaiting()->waiting_.resume();
  assert(in_flight_ == 0 && bytes_used_ == 0 && bytes_grouped_ == 0 && free_.size() == slots_.size());
  [[maybe_unused]] const int before = source_.state->async_reader_count.fetch_sub(1);
  assert(before > 0);
}

void AsyncReaderImpl::operator delete(AsyncReaderImpl* reader, std::destroying_delete_t) {
  if (reader->IsForkedChild()) return;
  DestroyAndFree(reader);
}

bool AsyncReaderImpl::IsForkedChild() const { return ForkGeneration() != db_.fork_generation; }

std::size_t AsyncReaderImpl::in_flight() const {
  if (IsForkedChild()) return 0;
  return in_flight_ + (MutantIs(Mutant::kAsyncReaderForgetsWaiting) ? 0 : waiting_count_);
}

// ---- Beginning ----

Status AsyncReaderImpl::Check(const ReadOptions& options) const {
  CAMBIUM_RETURN_IF_ERROR(source_.reader->Check(options));
  if (is_ending_) return Status::ShutdownInProgress("the reader is being destroyed");
  return Status::OK();
}

Status AsyncReaderImpl::Get(const ReadOptions& options, ColumnFamilyHandle* handle, Slice key, Callback callback) {
  if (callback == nullptr) return NullArgument("Get", "callback");
  CAMBIUM_RETURN_IF_ERROR(Check(options));
  CAMBIUM_TRY(const Family* const family, FamilyOf(source_.database, handle));
  if (!HasRoom()) return Status::Busy(std::to_string(in_flight()) + " reads are in flight");
  Claim read(this);
  LookUp(read.get(), options, *family, key, nullptr, 0);
  read->callback = std::move(callback);
  read.Enter();
  return Status::OK();
}

Status AsyncReaderImpl::MultiGet(const ReadOptions& options, std::size_t count, ColumnFamilyHandle* const* handles,
                                 const Slice* keys, ManyCallback callback) {
  if (callback == nullptr) return NullArgument("MultiGet", "callback");
  if (count > 0 && (handles == nullptr || keys == nullptr)) return NullArgument("MultiGet", "an array");
  CAMBIUM_RETURN_IF_ERROR(Check(options));
  if (count > options_.depth) {
    return Status::InvalidArgument("MultiGet of " + std::to_string(count) + " keys; the depth of the reader is " +
                                   std::to_string(options_.depth));
  }
  // Without keys, the callback still needs a slot.
  if (in_flight() + std::max<std::size_t>(count, 1) > options_.depth) {
    return Status::Busy(std::to_string(in_flight()) + " reads are in flight");
  }
  SequenceNumber sequence = 0;
  CAMBIUM_TRY(const std::shared_ptr<const View> view, source_.reader->PinViewFor(options, &sequence));
  auto group = std::make_shared<Group>();
  if (db_.meter.is_on()) group->begun_micros = db_.NowMicros();
  group->statuses.resize(count);
  group->values.resize(count);
  std::vector<Claim> reads;
  reads.reserve(std::max<std::size_t>(count, 1));
  for (std::size_t i = 0; i < count; ++i) {
    const Result<Family*> family = FamilyOf(source_.database, handles[i]);
    group->statuses[i] = family.status();
    if (!family.ok()) continue;
    Read* const read = reads.emplace_back(this).get();
    read->index = i;
    LookUp(read, options, **family, keys[i], view.get(), sequence);
  }
  if (reads.empty()) reads.emplace_back(this)->index = count;  // carries the callback
  group->callback = std::move(callback);
  group->left = reads.size();
  for (Claim& read : reads) {
    read->group = group;
    read.Enter();
  }
  return Status::OK();
}

bool AsyncReaderImpl::Begin(AsyncGet* get) {
  if (get->value_ == nullptr) {
    get->status_ = NullArgument("Get", "value");
    return true;
  }
  get->value_->Reset();
  get->status_ = Check(get->options_);
  if (get->status_.ok()) get->status_ = FamilyOf(source_.database, get->family_).status();
  if (!get->status_.ok()) return true;
  if (first_waiting_ == nullptr && HasSlot()) return BeginNow(get);
  get->status_ = NotRead();
  get->is_pending_ = true;
  (first_waiting_ == nullptr ? first_waiting_ : last_waiting_->next_) = get;
  last_waiting_ = get;
  ++waiting_count_;
  return false;
}

bool AsyncReaderImpl::BeginNow(AsyncGet* get) {
  get->status_ = NotRead();
  const Result<Family*> family = FamilyOf(source_.database, get->family_);
  if (!family.ok()) {
    get->status_ = family.status();
    return true;
  }
  Claim read(this);
  LookUp(read.get(), get->options_, **family, get->key_, nullptr, 0);
  if (read->unread.view == nullptr) {
    Record(read.get());
    HandOver(read.get(), get);
    return true;
  }
  read->get = get;
  get->read_ = read.get();
  get->is_pending_ = true;
  read.Enter();
  return false;
}

AsyncGet* AsyncReaderImpl::PopWaiting() {
  AsyncGet* const get = first_waiting_;
  first_waiting_ = std::exchange(get->next_, nullptr);
  --waiting_count_;
  get->is_pending_ = false;
  return get;
}

// A coroutine that it resumes may wait again, and then has to wait for the next round: see DeliverEnded.
std::size_t AsyncReaderImpl::BeginWaiting() {
  std::size_t ended = 0;
  for (std::size_t left = waiting_count_; left > 0 && first_waiting_ != nullptr && HasSlot(); --left) {
    if (IsForkedChild()) break;
    AsyncGet* const get = PopWaiting();
    bool has_ended = true;
    try {
      has_ended = BeginNow(get);
    } catch (const std::bad_alloc&) {  // the status is that of a read without memory
    }
    if (!has_ended) continue;
    ++ended;
    get->waiting_.resume();
  }
  return ended;
}

void AsyncReaderImpl::Forget(AsyncGet* get) {
  get->is_pending_ = false;
  if (get->read_ != nullptr) {
    static_cast<Read*>(get->read_)->get = nullptr;
    return;
  }
  AsyncGet* before = nullptr;
  for (AsyncGet* at = first_waiting_; at != get; at = at->next_) before = at;
  (before == nullptr ? first_waiting_ : before->next_) = get->next_;
  if (last_waiting_ == get) last_waiting_ = before;
  --waiting_count_;
}

void AsyncReaderImpl::LookUp(Read* read, const ReadOptions& options, const Family& family, Slice key, const View* view,
                             SequenceNumber sequence) {
  read->key.assign(key.data(), key.size());
  read->family = family.id;
  if (db_.meter.is_on()) read->begun_micros = db_.NowMicros();
  if (source_.traces->is_on()) [[unlikely]] read->traced.emplace(source_.traces, kTraceFilterGet);
  const ReadAtOnce at_once{held_.empty() ? BytesLeft() : 0, has_ring_};
  std::string* const buffer = read->value.GetSelf();
  Slice found;
  std::shared_ptr<Segment> keep;
  read->status = view == nullptr
                     ? source_.reader->Begin(options, family, key, at_once, buffer, &found, &keep, &read->unread)
                     : source_.reader->BeginIn(*view, sequence, options, family, key, at_once, buffer, &found, &keep,
                                               &read->unread);
  if (read->unread.view != nullptr) {
    read->unread.query.key = read->key;
    read->status = NotRead();
    // Charged at once: the next keys of a MultiGet must count it, and the attempt to read it may have taken its memory.
    const std::uint64_t bytes = read->unread.query.address.size();
    if (bytes <= at_once.bytes_max) Charge(read, bytes);
  } else if (read->status.ok()) {
    if (keep != nullptr) {
      source_.state->value_pins.Pin(&read->value, found, std::move(keep));
    } else {
      read->value.PinSelfPart(found);
    }
    Charge(read, found.size());
  }
}

void AsyncReaderImpl::Enter(Read* read) noexcept {
  ++in_flight_;
  if (read->unread.view == nullptr) return End(read);
  if (read->bytes > 0) return Prepare(read);
  held_.Push(read);
  Release();
}

void AsyncReaderImpl::Release() noexcept {
  while (!held_.empty() && Fits(held_.first->unread.query.address.size())) Prepare(held_.Pop());
}

void AsyncReaderImpl::Prepare(Read* read) noexcept {
  try {
    const Status made = MakeRequest(read);
    if (!made.ok()) Fail(read, made);
  } catch (const std::bad_alloc&) {
    Fail(read, Status::OK());
  }
}

Status AsyncReaderImpl::MakeRequest(Read* read) {
  CAMBIUM_TRY(read->place, LocateValue(source_.reader->SegmentsOf(*read->unread.view), read->unread.query));
  Charge(read, read->place.size);
  std::string* const buffer = read->value.GetSelf();
  if (buffer->size() < read->place.size) buffer->resize(read->place.size);
  read->request.file = &read->place.segment->file();
  read->request.offset = read->place.offset;
  read->request.size = read->place.size;
  read->request.out = buffer->data();
  read->request.tag = read;
  unsent_.push_back(&read->request);
  return Status::OK();
}

// ---- Reading ----

void AsyncReaderImpl::Submit() {
  if (unsent_.empty() || IsForkedChild()) return;
  Status sent;
  bool has_memory = true;
  try {
    if (sent_ == 0 && queue_ != nullptr && queue_->IsSpent()) queue_.reset();
    if (queue_ == nullptr) {
      std::unique_ptr<ReadQueue> made = db_.fs->NewReadQueue(options_.depth, options_.use_io_uring);
      if (event_.get() >= 0) sent = made->SignalTo(event_.get());
      if (sent.ok()) queue_ = std::move(made);
    }
    if (sent.ok()) sent = queue_->Submit(unsent_);
  } catch (const std::bad_alloc&) {
    has_memory = false;
  }
  for (ReadRequest* const request : unsent_) {
    auto* const read = static_cast<Read*>(request->tag);
    if (has_memory && sent.ok()) {
      read->is_sent = true;
      ++sent_;
    } else {
      Fail(read, sent);
    }
  }
  unsent_.clear();
}

void AsyncReaderImpl::Receive(std::uint64_t micros) {
  if (sent_ == 0) return;
  done_.clear();
  Status waited;
  bool is_lost = false;
  try {
    waited = micros == kForever ? queue_->Wait(&done_) : queue_->WaitFor(micros, &done_);
    is_lost = micros == kForever && done_.empty();
  } catch (const std::bad_alloc&) {
    is_lost = true;
  }
  if (is_lost || !waited.ok()) {
    queue_.reset();  // waits until nothing is written into the slots any more
    return LoseQueue(waited);
  }
  for (ReadRequest* const request : done_) Finish(static_cast<Read*>(request->tag));
}

void AsyncReaderImpl::LoseQueue(const Status& why) noexcept {
  for (const std::unique_ptr<Read>& read : slots_) {
    if (!read->is_sent) continue;
    read->is_sent = false;
    --sent_;
    Fail(read.get(), why);
  }
  assert(sent_ == 0);
}

void AsyncReaderImpl::Fail(Read* read, const Status& why) noexcept {
  try {
    if (!why.ok()) read->status = why;
  } catch (const std::bad_alloc&) {  // the error that is set remains
  }
  End(read);
}

void AsyncReaderImpl::Finish(Read* read) noexcept {
  read->is_sent = false;
  --sent_;
  try {
    read->status = ValueOf(read);
  } catch (const std::bad_alloc&) {
    read->value.Reset();
  }
  End(read);
}

Status AsyncReaderImpl::ValueOf(Read* read) const {
  const ReadRequest& request = read->request;
  CAMBIUM_RETURN_IF_ERROR(request.status);
  CountRead(read->unread.query, VALUE_READ_FROM_DEVICE, request.read);
  Slice value;
  CAMBIUM_RETURN_IF_ERROR(
      ParseValue(read->place, read->unread.query, {request.out, request.read}, read->value.GetSelf(), &value));
  read->value.PinSelfPart(value);
  return Status::OK();
}

void AsyncReaderImpl::End(Read* read) noexcept {
  read->unread = {};
  if (ended_.empty() && !is_polling_) event_.Signal();
  ended_.Push(read);
}

// ---- Delivering ----

std::size_t AsyncReaderImpl::Poll(std::size_t least, std::uint64_t timeout_micros) {
  if (is_polling_ || IsForkedChild()) return 0;
  const PollScope scope(this);
  event_.Clear();  // before looking: what ends from now on makes it readable again
  const bool is_bounded = timeout_micros != kForever;
  const std::uint64_t begun = is_bounded ? db_.NowMicros() : 0;
  Submit();
  Receive(0);
  std::size_t count = 0;
  while (true) {
    count += DeliverEnded();
    count += BeginWaiting();
    Submit();
    if (count >= least || in_flight() == 0) return count;
    std::uint64_t rest = kForever;
    if (is_bounded) {
      const std::uint64_t passed = db_.NowMicros() - begun;
      if (passed >= timeout_micros) return count;
      rest = timeout_micros - passed;
    }
    // Callbacks may begin reads that end at once, round after round. The queue is asked in each round even so.
    Receive(HasWork() ? 0 : rest);
  }
}

// Reads that the callbacks begin, and that end at once, have to wait for the next round: otherwise a Poll could go on
// without end.
std::size_t AsyncReaderImpl::DeliverEnded() {
  std::size_t count = 0;
  const Read* const last = ended_.empty() ? nullptr : ended_.last;
  const Read* read = nullptr;
  while (read != last && !IsForkedChild()) {  // a callback may fork
    Read* const next = ended_.Pop();
    read = next;
    if (Deliver(next)) ++count;
  }
  return count;
}

bool AsyncReaderImpl::Deliver(Read* read) {
  Record(read);
  --in_flight_;
  struct Freeing {
    ~Freeing() {
      reader.Free(slot);
      reader.Release();
    }
    AsyncReaderImpl& reader;
    Read* const slot;
  } const freeing{*this, read};
  if (read->group != nullptr) return DeliverToGroup(read);
  if (read->get != nullptr) {
    AsyncGet* const get = read->get;
    HandOver(read, get);
    get->waiting_.resume();
    return true;
  }
  if (read->callback == nullptr || (is_ending_ && MutantIs(Mutant::kAsyncReaderDropsCallbacks))) return false;
  read->callback(read->status, std::move(read->value));
  return true;
}

bool AsyncReaderImpl::DeliverToGroup(Read* read) {
  const std::shared_ptr<Group> group = std::move(read->group);
  if (read->index < group->values.size()) {
    group->statuses[read->index] = std::move(read->status);
    if (group->statuses[read->index].ok()) {
      group->values[read->index] = std::move(read->value);
      group->bytes += read->bytes;
      bytes_grouped_ += read->bytes;
      Charge(read, 0);
    }
  }
  if (--group->left > 0) return false;
  struct Freeing {
    ~Freeing() { sum -= bytes; }
    std::uint64_t& sum;
    const std::uint64_t bytes;
  } const freeing{bytes_grouped_, group->bytes};
  if (const Meter& meter = db_.meter; meter.is_on()) {
    std::uint64_t found = 0;
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < group->values.size(); ++i) {
      found += group->statuses[i].ok() ? 1 : 0;
      bytes += group->values[i].size();
    }
    meter.MeasureMicros(DB_MULTIGET, db_.NowMicros() - group->begun_micros);
    meter.Tick(NUMBER_MULTIGET_CALLS);
    meter.Tick(NUMBER_MULTIGET_KEYS_READ, group->values.size());
    meter.Tick(NUMBER_MULTIGET_KEYS_FOUND, found);
    meter.Tick(NUMBER_MULTIGET_BYTES_READ, bytes);
    meter.Measure(BYTES_PER_MULTIGET, bytes);
  }
  group->callback(group->statuses, group->values);
  return true;
}

void AsyncReaderImpl::HandOver(Read* read, AsyncGet* get) noexcept {
  get->is_pending_ = false;
  get->read_ = nullptr;
  get->status_ = std::move(read->status);
  if (get->status_.ok()) {
    *get->value_ = std::move(read->value);
  } else {
    get->value_->Reset();
  }
}

void AsyncReaderImpl::Record(Read* read) const noexcept {
  const bool is_found = read->status.ok();
  if (read->traced.has_value() && read->traced->is_on() && (is_found || read->status.IsNotFound())) [[unlikely]] {
    read->traced->Describe(kTraceGet, [&](TraceRecord* record) {
      TraceOp& op = record->ops.emplace_back();
      op.family = read->family;
      op.key = read->key;
      op.found = is_found;
      op.value_size = is_found ? read->value.size() : 0;
    });
    if (read->traced->is_on()) read->traced->Record();
  }
  const Meter& meter = db_.meter;
  if (!meter.is_on() || read->group != nullptr) return;
  meter.Tick(NUMBER_KEYS_READ);
  meter.MeasureMicros(DB_GET, db_.NowMicros() - read->begun_micros);
  if (!is_found) return;
  meter.Tick(BYTES_READ, read->value.size());
  meter.Measure(BYTES_PER_READ, read->value.size());
}

void AsyncReaderImpl::Free(Read* read) noexcept {
  read->unread = {};
  read->status = Status::OK();
  Charge(read, 0);
  read->traced.reset();
  read->get = nullptr;
  read->group.reset();
  read->value.Reset();
  if (read->value.GetSelf()->capacity() > kBytesKept) std::string().swap(*read->value.GetSelf());
  const Callback ended = std::exchange(read->callback, nullptr);  // destroyed last: it may begin a read
  free_.push_back(read);
}

Status AsyncReaderImpl::EventFd(int* fd) {
  if (fd == nullptr) return NullArgument("EventFd", "fd");
  *fd = -1;
  CAMBIUM_RETURN_IF_ERROR(Check({}));
  if (event_.get() < 0) {
    EventDescriptor made;
    CAMBIUM_RETURN_IF_ERROR(made.Make());
    if (queue_ == nullptr) queue_ = db_.fs->NewReadQueue(options_.depth, options_.use_io_uring);
    CAMBIUM_RETURN_IF_ERROR(queue_->SignalTo(made.get()));
    event_ = std::move(made);
    if (!ended_.empty()) event_.Signal();
  }
  *fd = event_.get();
  return Status::OK();
}

}  // namespace cambium
