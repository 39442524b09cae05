// SegmentScanner: reads the records of a segment one after the other, from the device rather than the page cache if
// asked, with the next chunk already under way.
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

// Key and value borrow from the scanner until its next call.
struct ScannedRecord {
  RecordHeader header;
  Slice key;
  Slice stored_value;
  std::uint64_t offset = 0;
  [[nodiscard]] std::uint64_t end() const { return offset + header.RecordSize(); }
};

enum class ScanResult : std::uint8_t {
  kRecord,
  kEnd,      // exactly at the end of what was to be read
  kInvalid,  // what stands here is no record: reason() says why, header_valid() whether the header at least is
};

// One thread at a time.
class SegmentScanner {
 public:
  // Reads [start, limit) of `file`; a limit beyond the end of the file means its end. `file` should have been opened
  // with FileOptions::direct if the page cache is not to be believed. `queue` may be null: then reads are synchronous;
  // several scanners may share one, in one thread, if each lives as long as one that was made later.
  SegmentScanner(const File& file, std::uint64_t file_seed, std::uint64_t start, std::uint64_t limit, ReadQueue* queue);
  ~SegmentScanner();

  // Offsets of records, ascending, whose values may be holes: of these only header and key are looked at, and
  // `stored_value` is whatever stands there. Must outlive the scanner.
  void SetHoles(std::span<const std::uint64_t> holes) { holes_ = holes; }

  // An IOError is the caller's: it says nothing of the log.
  Result<ScanResult> Next(ScannedRecord* record);

  // Of the last Next.
  [[nodiscard]] std::uint64_t offset() const { return offset_; }
  [[nodiscard]] const std::string& reason() const { return reason_; }
  [[nodiscard]] bool header_valid() const { return header_valid_; }
  [[nodiscard]] const RecordHeader& header() const { return header_; }

  // After kInvalid: is there nothing but zeros from there to the limit? Space that the file was given ahead of the log.
  Result<bool> OnlyZerosAhead();

  // After kInvalid, for whoever repairs: goes on behind the damage, at the next place where a record may begin whose header
  // validates; Next tells whether it is whole. False: there is none. What is passed over is [offset() before, offset()).
  // Images of records inside values are not taken for records, because their headers do not know the file's seed.
  Result<bool> SkipDamage();

  // After kInvalid: the highest durable sequence number that any valid header behind this place proves, 0 if none.
  // Looks at every aligned offset up to the limit; validates headers only.
  Result<SequenceNumber> ProbeForWitness();

 private:
  class Window;

  // Makes bytes [offset, offset + n) readable at *bytes, as far as the limit allows (*have of them).
  Status View(std::uint64_t offset, std::size_t n, const char** bytes, std::size_t* have);
  ScanResult Invalid(std::string reason, bool header_valid);
  // The next aligned offset from `at` on where a valid header stands; limit_ if there is none.
  Result<std::uint64_t> FindHeader(std::uint64_t at, RecordHeader* header);

  std::unique_ptr<Window> window_;
  const std::uint64_t seed_;
  std::uint64_t offset_;
  std::uint64_t limit_;
  std::span<const std::uint64_t> holes_;
  std::string reason_;
  bool header_valid_ = false;
  RecordHeader header_;
};

}  // namespace cambium
