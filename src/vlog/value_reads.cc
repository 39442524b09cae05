#include "vlog/value_reads.h"

#include <algorithm>
#include <cassert>
#include <new>
#include <utility>

namespace cambium {
namespace {

// Bytes between two values that are read with them. At 2.3 GB/s from a device that does 60,000 reads a second, bytes cost
// as much as a read once they are 38 KiB; half of that, since they cost memory too.
constexpr std::uint64_t kGapMax = 16u << 10;
// A block of several values ends near here, so that the first does not wait for the last.
constexpr std::uint64_t kBlockMax = 256u << 10;

}  // namespace

ValueReads::~ValueReads() {
  AwaitAll();
  if (queue_ != nullptr) queues_->Give(std::move(queue_), use_io_uring_);
}

void ValueReads::Add(const SegmentTable& segments, Item* item) {
  item->is_done = false;
  item->value = Slice();
  item->status = Status::Aborted("not read");  // as long as it is so: whoever hands it in may run out of memory
  Result<ValuePlace> place = LocateValue(segments, item->query);
  if (!place.ok()) {
    item->status = place.status();
    item->is_done = true;
    return;
  }
  item->place = *place;
  added_.push_back(item);
}

void ValueReads::Submit() {
  std::sort(added_.begin(), added_.end(), [](const Item* a, const Item* b) {
    const std::uint64_t of_a = a->place.segment->number();
    const std::uint64_t of_b = b->place.segment->number();
    return of_a != of_b ? of_a < of_b : a->place.offset < b->place.offset;
  });
  const std::size_t under_way = blocks_.size();
  std::vector<Item*> block;
  std::uint64_t end = 0;
  for (Item* const item : std::exchange(added_, {})) {
    const bool is_near = !block.empty() && block.front()->place.segment == item->place.segment &&
                         item->place.offset <= end + kGapMax &&
                         item->place.offset + item->place.size <= block.front()->place.offset + kBlockMax;
    if (!is_near && !block.empty()) AddBlock(std::exchange(block, {}));
    block.push_back(item);
    const std::uint64_t its_end = item->place.offset + item->place.size;
    end = block.size() == 1 ? its_end : std::max(end, its_end);
  }
  if (!block.empty()) AddBlock(std::move(block));
  if (blocks_.size() == under_way) return;

  if (queue_ == nullptr) queue_ = queues_->Take(use_io_uring_);
  requests_.clear();
  for (std::size_t i = under_way; i < blocks_.size(); ++i) requests_.push_back(&blocks_[i]->request);
  const Status handed_in = queue_->Submit(requests_);
  if (handed_in.ok()) return;
  for (std::size_t i = under_way; i < blocks_.size(); ++i) Fail(blocks_[i].get(), handed_in);
  blocks_.resize(under_way);
}

void ValueReads::AddBlock(std::vector<Item*> items) {
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
  blocks_.push_back(std::move(block));
}

void ValueReads::Await(const Item& item) {
  while (!item.is_done && !blocks_.empty()) Receive();
}

void ValueReads::AwaitAll() {
  added_.clear();
  while (!blocks_.empty()) Receive();
}

// At least one block, if one is under way.
void ValueReads::Receive() {
  assert(!blocks_.empty());
  requests_.clear();
  const Status waited = queue_ == nullptr ? Status::OK() : queue_->Wait(&requests_);
  // If nothing comes nothing is under way: who handed the blocks in ran out of memory in between.
  if (!waited.ok() || requests_.empty()) {
    queue_.reset();  // waits until nobody writes into the blocks any more
    for (const auto& block : blocks_) Fail(block.get(), waited);
    blocks_.clear();
    return;
  }
  for (ReadRequest* const request : requests_) {
    auto* const done = static_cast<Block*>(request->tag);  // the request goes with it
    Deliver(done);
    std::erase_if(blocks_, [done](const auto& block) { return block.get() == done; });
  }
}

void ValueReads::Fail(Block* block, const Status& why) {
  for (Item* const item : block->items) {
    item->is_done = true;
    try {
      if (!why.ok()) item->status = why;
    } catch (const std::bad_alloc&) {  // it stays what Add has set: an error
    }
  }
}

// A value for which there is no memory, perhaps not even for its status, stays what Add has set: an error. The others of
// this block, and of those that came with it, have their owners too.
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
  Slice value;
  CAMBIUM_RETURN_IF_ERROR(ParseValue(item->place, item->query, {request.out + from, have}, &item->buffer, &value));
  if (value.data() != item->buffer.data()) item->buffer.assign(value.data(), value.size());
  item->value = Slice(item->buffer.data(), value.size());
  return Status::OK();
}

}  // namespace cambium
