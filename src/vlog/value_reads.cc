#include "vlog/value_reads.h"

#include <algorithm>
#include <cassert>
#include <new>
#include <utility>

namespace cambium {
namespace {

// The most bytes of a block with several values, so that the first does not wait long for the last.
constexpr std::uint64_t kBlockMax = 256u << 10;

}  // namespace

ValueReads::~ValueReads() {
  ForgetAll();
  if (queue_ != nullptr) queues_->Give(std::move(queue_), use_io_uring_);
}

void ValueReads::Add(const SegmentTable& segments, Item* item) {
  assert(!item->is_added);
  item->is_done = false;
  item->value = Slice();
  item->status = Status::Aborted("not read");  // the final status if memory runs out later
  Result<ValuePlace> place = LocateValue(segments, item->query);
  if (!place.ok()) {
    item->status = place.status();
    item->is_done = true;
    return;
  }
  item->place = *place;
  added_.push_back(item);
  item->is_added = true;
}

// Allocates all memory before the queue gets the first request.
void ValueReads::Submit() {
  if (added_.empty()) return;
  std::sort(added_.begin(), added_.end(), [](const Item* a, const Item* b) {
    const std::uint64_t of_a = a->place.segment->number();
    const std::uint64_t of_b = b->place.segment->number();
    return of_a != of_b ? of_a < of_b : a->place.offset < b->place.offset;
  });
  std::vector<std::unique_ptr<Block>> blocks;
  std::vector<Item*> together;
  std::uint64_t end = 0;
  for (Item* const item : added_) {
    const bool is_near = !together.empty() && together.front()->place.segment == item->place.segment &&
                         item->place.offset <= end + kGapMax &&
                         item->place.offset + item->place.size <= together.front()->place.offset + kBlockMax;
    if (!is_near && !together.empty()) blocks.push_back(MakeBlock(std::exchange(together, {})));
    together.push_back(item);
    const std::uint64_t item_end = item->place.offset + item->place.size;
    end = together.size() == 1 ? item_end : std::max(end, item_end);
  }
  blocks.push_back(MakeBlock(std::move(together)));
  const auto is_small = [](const std::unique_ptr<Block>& block) {
    return block->items.size() > 1 || block->request.size <= kSmallValueMax;
  };
  const auto small = static_cast<std::uint64_t>(std::ranges::count_if(blocks, is_small));
  jumps_ += small == 0 ? 0 : small - 1;
  blocks_.reserve(blocks_.size() + blocks.size());
  requests_.clear();
  requests_.reserve(blocks_.capacity());  // as many may come back at once
  for (const auto& block : blocks) {
    requests_.push_back(&block->request);
    // If the caller first tried ReadCachedValue for the first value, the kernel has begun to read that value's page. A
    // read of the block would wait for that page before it asks for the others. Advise asks for all pages of the block
    // at once.
    if (block->items.size() > 1) {
      const ReadRequest& read = block->request;
      static_cast<void>(read.file->Advise(read.offset, read.size, AccessHint::kWillNeed));
    }
  }
  if (queue_ == nullptr) queue_ = queues_->Take(use_io_uring_);
  const Status handed_in = queue_->Submit(requests_);
  for (Item* const item : std::exchange(added_, {})) item->is_added = false;
  for (auto& block : blocks) {
    if (handed_in.ok()) {
      blocks_.push_back(std::move(block));
    } else {
      Fail(block.get(), handed_in);
    }
  }
}

std::unique_ptr<ValueReads::Block> ValueReads::MakeBlock(std::vector<Item*> items) {
  assert(!items.empty());
  auto block = std::make_unique<Block>();
  std::uint64_t end = 0;
  for (const Item* item : items) end = std::max(end, item->place.offset + item->place.size);
  const ValuePlace& first = items.front()->place;
  block->request.file = &first.segment->file();
  block->request.offset = first.offset;
  block->request.size = end - first.offset;
  block->bytes = std::make_unique_for_overwrite<char[]>(block->request.size);
  block->request.out = block->bytes.get();
  block->request.tag = block.get();
  block->items = std::move(items);
  return block;
}

void ValueReads::Await(const Item& item) {
  if (item.is_added) Submit();
  if (item.is_done) return;
  const Stopwatch watch(item.query.meter, BLOB_DB_BLOB_FILE_READ_MICROS);
  while (!item.is_done && !blocks_.empty()) Receive();
}

void ValueReads::Forget(Item* item) {
  if (item->is_added) {
    [[maybe_unused]] const std::size_t forgotten = std::erase(added_, item);
    assert(forgotten == 1);
    item->is_added = false;
    return;
  }
  while (!item->is_done && !blocks_.empty()) Receive();
}

void ValueReads::ForgetAll() {
  for (Item* const item : std::exchange(added_, {})) item->is_added = false;
  while (!blocks_.empty()) Receive();
}

// Receives at least one block. Throws nothing: destructors wait here.
void ValueReads::Receive() {
  assert(!blocks_.empty() && queue_ != nullptr);
  requests_.clear();
  Status waited;
  try {
    waited = queue_->Wait(&requests_);
  } catch (const std::bad_alloc&) {
    requests_.clear();
  }
  if (!waited.ok() || requests_.empty()) {
    queue_.reset();  // waits until no read writes into the blocks any more
    for (const auto& block : blocks_) Fail(block.get(), waited);
    blocks_.clear();
    return;
  }
  for (ReadRequest* const request : requests_) {
    auto* const done = static_cast<Block*>(request->tag);  // which owns the request
    Deliver(done);
    std::erase_if(blocks_, [done](const auto& block) { return block.get() == done; });
  }
}

void ValueReads::Fail(Block* block, const Status& why) {
  for (Item* const item : block->items) {
    item->is_done = true;
    try {
      if (!why.ok()) item->status = why;
    } catch (const std::bad_alloc&) {  // keeps the error that Add set
    }
  }
}

// If memory runs out for a value, or for its status, the item keeps the error that Add set. The loop continues, because
// other users may wait for the block's other items.
void ValueReads::Deliver(Block* block) {
  for (Item* const item : block->items) {
    item->is_done = true;
    try {
      item->status = ValueOf(block->request, item);
    } catch (const std::bad_alloc&) {
      item->value = Slice();
    }
  }
}

Status ValueReads::ValueOf(const ReadRequest& request, Item* item) {
  CAMBIUM_RETURN_IF_ERROR(request.status);
  const std::uint64_t from = item->place.offset - request.offset;
  const std::size_t have = from >= request.read ? 0 : std::min<std::size_t>(request.read - from, item->place.size);
  CountRead(item->query, VALUE_READ_FROM_DEVICE, have);
  Slice value;
  CAMBIUM_RETURN_IF_ERROR(ParseValue(item->place, item->query, {request.out + from, have}, &item->buffer, &value));
  if (value.data() != item->buffer.data()) item->buffer.assign(value.data(), value.size());
  item->value = Slice(item->buffer.data(), value.size());
  return Status::OK();
}

}  // namespace cambium
