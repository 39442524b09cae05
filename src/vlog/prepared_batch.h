// PreparedBatch: the log records of a batch, encoded before the append lock is taken. Only sequence numbers, the
// durable lag and the header checksums, which bind a record to its place, are filled in under the lock.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cambium/slice.h"
#include "cambium/status.h"
#include "util/meter.h"
#include "vlog/entry.h"
#include "vlog/record_format.h"

namespace cambium {

class PreparedBatch {
 public:
  struct Op {
    RecordHeader header;
    Slice key;           // the caller's memory, which must live until the batch is committed
    Slice value;         // the caller's value, uncompressed; of a range delete its end
    std::uint64_t offset = 0;      // of the record within the batch
    bool separated = false;        // the index will hold the record's address, not the value
    ValueAddress address;          // set by Bind for separated ones; by the caller for kPutLarge
  };

  // Where small values end, and how large ones are stored.
  struct Rules {
    std::uint64_t separate_from = 512;  // bytes; an empty value never
    Codec codec = Codec::kNone;
    std::uint32_t write_time = 0;
    const Meter* meter = nullptr;  // for the time that compression takes; null: nobody wants to know
  };

  explicit PreparedBatch(const Rules& rules) : rules_(rules) {}

  // For the operations from here on: those of another family, mostly.
  void UseRules(const Rules& rules) { rules_ = rules; }
  void Put(std::uint32_t family, Slice key, Slice value);
  void Delete(std::uint32_t family, Slice key);
  // Of [begin, end), which is not empty in the family's order: the caller has seen to that.
  void DeleteRange(std::uint32_t family, Slice begin, Slice end);
  // A value whose bytes are in a durable file of their own.
  void PutLarge(std::uint32_t family, Slice key, const LargeValueRef& ref, ValueAddress address);

  [[nodiscard]] const std::vector<Op>& ops() const { return ops_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }  // bytes of all records
  [[nodiscard]] bool empty() const { return ops_.empty(); }
  // What MemTable::Reserve needs: range deletes, and the bytes of all keys, small values and ends of ranges.
  [[nodiscard]] std::size_t range_count() const { return range_count_; }
  [[nodiscard]] std::size_t memtable_bytes() const { return memtable_bytes_; }

  // Gives the batch its place: sequence numbers from `first`, `durable` the highest number known durable, the first
  // record at `offset` of the segment with this seed and slot.
  void Bind(SequenceNumber first, SequenceNumber durable, std::uint64_t file_seed, Slot slot, std::uint64_t offset);
  // The bytes to write, in order. Valid until the batch changes.
  [[nodiscard]] const std::vector<Slice>& pieces() const { return pieces_; }

 private:
  // Values from here on are written from the caller's memory; a copy of less costs less than another vector element.
  static constexpr std::size_t kBorrowFrom = 2048;

  void Append(RecordHeader header, Slice key, Slice value, Slice stored, bool stored_is_callers, bool separated);

  Rules rules_;
  std::vector<Op> ops_;
  std::string buffer_;  // headers, keys, small and compressed values, padding
  // A piece is a range of buffer_ (data() null: offset in size_t) or the caller's memory.
  struct Piece {
    const char* borrowed = nullptr;
    std::size_t start = 0;  // in buffer_
    std::size_t size = 0;
  };
  std::vector<Piece> layout_;
  std::vector<std::size_t> header_at_;  // of each op, in buffer_
  std::vector<Slice> pieces_;
  std::string compressed_;
  std::uint64_t size_ = 0;
  std::size_t memtable_bytes_ = 0;
  std::size_t range_count_ = 0;
};

}  // namespace cambium
