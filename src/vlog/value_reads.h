// ValueReads: values that are read from the device together, while whoever wants them does something else.
//
//   Add(v7) Add(v2) Add(v3)  Submit()     Await(v2)
//        by place: [v2 v3] [v7]  ──────▶  waits for its block, which has v3 too
//
// Values that lie near each other in a file are one read: what lies between costs less than a read of its own.
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
  // A value that is larger is a read of its own wherever it lies.
  static constexpr std::uint64_t kSmallValueMax = 64u << 10;
  // Bytes between two values that are read with them. At 2.3 GB/s from a device that does 60,000 reads a second, bytes cost
  // as much as a read once they are 38 KiB; half of that, since they cost memory too.
  static constexpr std::uint64_t kGapMax = 16u << 10;

  // A value that is wanted. It, and what its query borrows, stays where it is from Add until it is done.
  struct Item {
    ValueQuery query;
    std::string buffer;
    Slice value;  // of `buffer`
    Status status;
    bool is_done = false;

   private:
    friend class ValueReads;
    ValuePlace place;
    bool is_added = false;  // and not submitted yet
  };

  // Both must outlive it; so must the segments of everything that is added.
  ValueReads(ReadQueues* queues, bool use_io_uring) : queues_(queues), use_io_uring_(use_io_uring) {}
  ~ValueReads();
  ValueReads(const ValueReads&) = delete;
  ValueReads& operator=(const ValueReads&) = delete;

  // To be read with the next Submit, unless it is done at once, with an error.
  void Add(const SegmentTable& segments, Item* item);
  // Hands in what was added. May wait for room, if more than ReadQueues::kDepth reads are under way. If memory runs out
  // everything is as before.
  void Submit();
  // Returns when `item`, which was added, is done; it is submitted if it has not been yet.
  void Await(const Item& item);
  // Returns when nothing is written to `item` any more; if it was added and not submitted it is forgotten.
  void Forget(Item* item);
  // The same of all items.
  void ForgetAll();

  // How many reads of small values would have been spared, since the last call, if those of each Submit had lain side by
  // side.
  [[nodiscard]] std::uint64_t TakeJumps() { return std::exchange(jumps_, 0); }

 private:
  struct Block {
    ReadRequest request;
    std::unique_ptr<char[]> bytes;
    std::vector<Item*> items;
  };

  static std::unique_ptr<Block> MakeBlock(std::vector<Item*> items);
  void Receive();
  static void Deliver(Block* block);
  // Its values will not come. If `why` is OK there was no memory to ask for them.
  static void Fail(Block* block, const Status& why);
  static Status ValueOf(const ReadRequest& request, Item* item);

  ReadQueues* const queues_;
  const bool use_io_uring_;
  std::unique_ptr<ReadQueue> queue_;  // taken when it is needed
  std::vector<Item*> added_;
  std::vector<std::unique_ptr<Block>> blocks_;  // under way
  std::vector<ReadRequest*> requests_;  // of a call
  std::uint64_t jumps_ = 0;
};

}  // namespace cambium
