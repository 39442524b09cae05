// PreparedBatch: the log records of a batch, encoded before the append lock is taken. Under the lock, Bind fills in
// sequence numbers, the durable lag and the header checksums, which bind each record to its place.
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
    Slice key;                 // borrows the caller's memory, which must live until the batch is applied
    Slice value;               // the caller's value, uncompressed; for a range delete, its end
    std::uint64_t offset = 0;  // of the record within the batch
    bool separated = false;    // the index will hold the record's address, not the value
    ValueAddress address;      // of a separated value: set by Bind; for kPutLarge by the caller
  };

  // Which values are separated, and how separated values are stored.
  struct Rules {
    std::uint64_t separate_from = 512;  // bytes; an empty value is always inline
    Codec codec = Codec::kNone;
    std::uint32_t write_time = 0;
    const Meter* meter = nullptr;  // measures compression time, unless null
  };

  explicit PreparedBatch(const Rules& rules) : rules_(rules) {}

  // Applies `rules` to the operations added after this call; families may have different rules.
  void UseRules(const Rules& rules) { rules_ = rules; }
  void Put(std::uint32_t family, Slice key, Slice value);
  void Delete(std::uint32_t family, Slice key);
  // Deletes [begin, end). The caller has checked that begin < end in the family's order.
  void DeleteRange(std::uint32_t family, Slice begin, Slice end);
  // Puts a value whose bytes are already in a durable file of their own.
  void PutLarge(std::uint32_t family, Slice key, const LargeValueRef& ref, ValueAddress address);

  [[nodiscard]] const std::vector<Op>& ops() const { return ops_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }  // bytes of all records
  [[nodiscard]] std::uint64_t large_bytes() const { return large_bytes_; }  // of the files that PutLarge has named
  [[nodiscard]] bool empty() const { return ops_.empty(); }
  // The arguments of MemTable::Reserve: range deletes; bytes of all keys, inline values and ends of ranges.
  [[nodiscard]] std::size_t range_count() const { return range_count_; }
  [[nodiscard]] std::size_t memtable_bytes() const { return memtable_bytes_; }

  // Gives the batch its place: sequence numbers from `first`, and the first record at `offset` of the segment with this
  // seed and slot. `durable` is the highest sequence number known durable.
  void Bind(SequenceNumber first, SequenceNumber durable, std::uint64_t file_seed, Slot slot, std::uint64_t offset);
  // The bytes to write, in order. Valid until the batch changes.
  [[nodiscard]] const std::vector<Slice>& pieces() const { return pieces_; }

 private:
  // Values of this size or more are written from the caller's memory. Copying a smaller one is cheaper than another
  // element in the vectored write.
  static constexpr std::size_t kBorrowFrom = 2048;

  void Append(RecordHeader header, Slice key, Slice value, Slice stored, bool stored_is_callers, bool separated);

  Rules rules_;
  std::vector<Op> ops_;
  std::string buffer_;  // headers, keys, small and compressed values, padding
  // A range of buffer_, or of the caller's memory if `borrowed` is not null.
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
  std::uint64_t large_bytes_ = 0;
  std::size_t memtable_bytes_ = 0;
  std::size_t range_count_ = 0;
};

}  // namespace cambium
