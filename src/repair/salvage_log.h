// A LogSalvage reads all whole records of the log, also those after damage, to decide keys in doubt. It runs only if
// something is lost. For each key in doubt it notes the record with the largest sequence number, then decides each
// note:
//
//   the record, the rest of its batch, and every later operation were read    proven: it is the newest of its key
//   it is a delete, or a range delete with a larger number covers the key     the key is not written
//   otherwise                                                                 unproven
//
// If the end of the log is unknown, nothing is proven. If the order of a family is unknown, nothing older than one of
// its range deletes is proven. A record after the tail is newer than the entries of its key in the tail and the layers:
// the older value is removed, even if the record's value is not written. A batch counts if its last record was read, or
// if something valid follows it; otherwise it counts as never completed.
#pragma once

#include "repair/range_numbers.h"
#include "repair/salvage.h"
#include "repair/sequence_cover.h"
#include "vlog/segment_scanner.h"

namespace cambium {

class LogSalvage {
 public:
  explicit LogSalvage(Salvage* salvage) : salvage_(*salvage) {}

  // Reads all segments. Without a MANIFEST, creates the families of the records that it finds.
  Status Read();
  // Writes proven values, and unproven ones if include_unproven; reports unproven and lost ones.
  Status Decide();

 private:
  struct Source {
    std::shared_ptr<Segment> segment;
    std::uint64_t size = 0;  // of the file, or its sealed length
    bool is_end_known = false;
    bool is_empty = false;    // a spare segment
    bool has_footer = false;  // without a MANIFEST: it was sealed, so another segment followed
    std::optional<SegmentLink> link;
    // Recovery has rejected the segment's operations with larger sequence numbers, which were then used again.
    SequenceNumber last = ~SequenceNumber{0};
  };
  // A record of a batch whose last record was not read yet.
  struct Pending {
    RecordHeader header;
    std::string key;
    std::string range_end;
    ValueAddress address;
  };
  // The value that a note leads to.
  struct Candidate {
    SequenceNumber sequence = 0;
    SequenceNumber batch_begin = 0;
    ValueAddress address;  // word 0: inline
    bool is_record = false;
  };

  void FindSources(std::vector<Source>* logs, std::vector<Source>* moved) const;
  static void ReadLinks(std::vector<Source>* logs);
  void FindEnd(const std::vector<Source>& logs);
  Status ReadSegment(const Source& source, bool is_log);
  // Skips bytes that are not a record. Returns false if nothing valid follows.
  Result<bool> TakeDamage(const Source& source, bool is_log, SegmentScanner* scanner);
  Status TakeRecord(const Source& source, const ScannedRecord& record);
  Status TakeMoved(const Source& source, const ScannedRecord& record);
  Status TakePending();
  // Takes the pending batch as complete if `header` is of another batch, which follows it.
  Status TakePendingBefore(const RecordHeader& header);
  // Takes a record of a complete batch.
  Status TakeCommitted(const RecordHeader& header, Slice key, Slice range_end, ValueAddress address);
  Status TakeKey(const RecordHeader& header, Slice key, ValueAddress address);
  Status TakeDamagedKey(const Source& source, const RecordHeader& header, std::uint64_t offset);
  [[nodiscard]] ValueAddress AddressOf(const Source& source, const ScannedRecord& record) const;
  // Whether the operation is after the tail, and not flushed.
  [[nodiscard]] bool IsBeyond(const SalvagedFamily& family, SequenceNumber sequence) const;
  Result<bool> IsOfInterest(std::uint32_t id, Slice key, SequenceNumber sequence,
                            const std::optional<Note>& note) const;
  // Creates the family if necessary. Returns false if it was dropped, or if the id is not legal.
  Result<bool> EnsureFamily(std::uint32_t id);

  Status ApplyRangesBeyond();
  Status DecideOne(std::uint32_t id, Slice key, const Note& note);
  // Decides a candidate; *is_written says whether its value was written.
  Status DecideCandidate(std::uint32_t id, Slice key, const Note& note, const Candidate& candidate, bool* is_written);
  Status DecideDamaged(std::uint32_t id, Slice key, const Note& note, bool is_reported);
  void ReportUnproven(const SalvagedFamily& family, Slice key, SequenceNumber sequence, std::uint64_t size,
                    const std::string& where);
  [[nodiscard]] bool IsProven(std::uint32_t id, const Candidate& candidate) const;
  // Whether a range delete after the operation covers the key.
  [[nodiscard]] bool IsDeletedLater(std::uint32_t id, Slice key, SequenceNumber sequence) const;

  Salvage& salvage_;
  SequenceCover cover_;
  SequenceNumber last_ = 0;       // the largest number found anywhere
  std::string end_unknown_;       // why the end of the log is unknown; empty: it is known
  std::vector<Pending> pending_;  // of one batch
  std::map<std::uint32_t, RangeNumbers> ranges_;
  std::map<std::uint32_t, SequenceNumber> newest_range_;  // by family
};

}  // namespace cambium
