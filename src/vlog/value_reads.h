// ValueReads reads many values from the device at once, while its user does something else.
//
//   Add(v7) Add(v2) Add(v3)  Submit()     Await(v2)
//        by place: [v2 v3] [v7]  ──────▶  waits for its block, which has v3 too
//
// Values that lie near each other in a file are read as one block: the bytes between them cost less than another read.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "vlog/read_queues.h"
#include "vlog/value_reader.h"

namespace cambium {

// One thread at a time.
class ValueReads {
 public:
  // A block of one value counts as a small read up to this size (TakeJumpCount).
  static constexpr std::uint64_t kSmallValueMax = 64u << 10;
  // The largest gap between two values of one block. On a device with 2.3 GB/s and 60,000 reads per second, 38 KiB cost
  // as much as a read. The limit is less than half of that, because the bytes also cost memory.
  static constexpr std::uint64_t kGapMax = 16u << 10;

  // A wanted value. From Add until it is done, the item and the memory that its query borrows must not move or be
  // destroyed.
  struct Item {
    ValueQuery query;
    std::string buffer;
    Slice value;  // a part of `buffer`
    Status status;
    bool is_done = false;

   private:
    friend class ValueReads;
    ValuePlace place;
    bool is_added = false;  // and not yet submitted
  };

  // `queues`, and the segments of all added items, must outlive this object.
  ValueReads(ReadQueues* queues, bool use_io_uring) : queues_(queues), use_io_uring_(use_io_uring) {}
  ~ValueReads();
  ValueReads(const ValueReads&) = delete;
  ValueReads& operator=(const ValueReads&) = delete;

  // Adds an item to the next Submit. If its address is wrong, the item is done at once, with an error.
  void Add(const SegmentTable& segments, Item* item);
  // Starts the reads of all added items. May wait if more than ReadQueues::kDepth reads are in flight. If it throws
  // bad_alloc, no read has begun, and the items are still added.
  void Submit();
  // Returns when `item`, which was added, is done. Submits it first if needed.
  void Await(const Item& item);
  // Removes an item that was added and not submitted. Otherwise returns when the item is done: nothing more is written
  // to it.
  void Forget(Item* item);
  // As Forget, for all items.
  void ForgetAll();

  // Returns how many small reads would have been saved since the last call if the values of each Submit had been
  // contiguous.
  [[nodiscard]] std::uint64_t TakeJumpCount() { return std::exchange(jumps_, 0); }

 private:
  struct Block {
    ReadRequest request;
    std::unique_ptr<char[]> bytes;
    std::vector<Item*> items;
  };

  static std::unique_ptr<Block> MakeBlock(std::vector<Item*> items);
  void Receive();
  static void Deliver(Block* block);
  // Ends all items of the block with the error `why`. If `why` is OK, memory ran out, and the items keep the error that
  // Add set.
  static void Fail(Block* block, const Status& why);
  static Status ValueOf(const ReadRequest& request, Item* item);

  ReadQueues* const queues_;
  const bool use_io_uring_;
  std::unique_ptr<ReadQueue> queue_;  // taken by the first Submit
  std::vector<Item*> added_;
  std::vector<std::unique_ptr<Block>> blocks_;  // in flight
  std::vector<ReadRequest*> requests_;          // scratch space of one call
  std::uint64_t jumps_ = 0;
};

}  // namespace cambium
