// SegmentScanner: reads the records of a segment in order, with the next chunks already in flight. If the file was
// opened with FileOptions::direct, it reads from the device instead of the page cache.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "cambium/file_system.h"
#include "util/result.h"
#include "vlog/record_format.h"
#include "vlog/value_address.h"

namespace cambium {

// Key and value borrow the scanner's memory until its next call.
struct ScannedRecord {
  RecordHeader header;
  Slice key;
  Slice stored_value;
  std::uint64_t offset = 0;
  [[nodiscard]] std::uint64_t end() const { return offset + header.RecordSize(); }
};

enum class ScanResult : std::uint8_t {
  kRecord,
  kEnd,      // exactly at the end of the range
  kInvalid,  // no valid record here: reason() says why, header_valid() whether at least its header is valid
};

// One thread at a time.
class SegmentScanner {
 public:
  // Reads [start, limit) of `file`, at most to the end of the file. If the page cache must not be trusted, open `file`
  // with FileOptions::direct. If `queue` is null, reads are synchronous. Several scanners of one thread may share a
  // queue if each outlives those made after it.
  SegmentScanner(const File& file, std::uint64_t file_seed, std::uint64_t start, std::uint64_t limit, ReadQueue* queue);
  ~SegmentScanner();

  // Sets the offsets, ascending, of records whose values may be holes: their body is not checked, and `stored_value`
  // may be zeros. `holes` must outlive the scanner.
  void SetHoles(std::span<const std::uint64_t> holes) { holes_ = holes; }

  // From now on Next only checks values of more than 1 MiB, piece by piece: their `stored_value` is empty.
  void LeaveOutLongValues() { leaves_out_long_values_ = true; }

  // Reads the next record. After kInvalid or an error it stays at the same place. An IOError says nothing about the
  // log. NotSupported if the record has an operation that this version does not know.
  Result<ScanResult> Next(ScannedRecord* record);

  // After Next. offset() is where the next call continues.
  [[nodiscard]] std::uint64_t offset() const { return offset_; }
  [[nodiscard]] const std::string& reason() const { return reason_; }
  [[nodiscard]] bool header_valid() const { return header_valid_; }
  [[nodiscard]] const RecordHeader& header() const { return header_; }

  // After kInvalid: true if only zeros follow up to the limit, as in space that was allocated ahead of the log.
  Result<bool> OnlyZerosAhead();

  // After kInvalid, for salvage: moves offset() to the next aligned offset after the damage with a valid header. Next
  // then says whether that record is whole. False if there is none, and offset() is the limit. Images of records inside
  // values are not mistaken for records, because their checksums lack the file's seed.
  Result<bool> SkipDamage();

  // After kInvalid: returns the highest sequence number that a valid header, here or later, proves to be durable; 0 if
  // there is no such header. Tries every aligned offset up to the limit, and validates headers only.
  Result<SequenceNumber> ProbeForWitness();

 private:
  class Window;

  // Makes bytes [offset, offset + n) readable at *bytes. *have is their number, less than n at the limit or the file's
  // end.
  Status View(std::uint64_t offset, std::size_t n, const char** bytes, std::size_t* have);
  ScanResult Invalid(std::string reason, bool header_valid);
  // Next for a record whose value is left out.
  Result<ScanResult> NextInPieces(ScannedRecord* record);
  // Returns the first aligned offset >= `at` with a valid header; limit_ if there is none.
  Result<std::uint64_t> FindHeader(std::uint64_t at, RecordHeader* header);

  std::unique_ptr<Window> window_;
  const std::uint64_t seed_;
  std::uint64_t offset_;
  std::uint64_t limit_;
  std::span<const std::uint64_t> holes_;
  bool leaves_out_long_values_ = false;
  std::string long_key_;
  std::string reason_;
  bool header_valid_ = false;
  RecordHeader header_;
};

}  // namespace cambium
