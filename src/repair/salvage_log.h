// Every record of the log that is whole, wherever it stands: what it says of keys in doubt, and what it proves.
//
// Only where something is lost. Of each key in doubt the record with the largest number is noted; then each note is
// decided:
//
//   the record, and the rest of its batch, and every operation behind it was seen   proven: it is the newest of its key
//   it is a delete, or a range delete with a larger number covers the key           the key stays away
//   otherwise                                                                       unproven
//
// Where nobody can tell how far the log went, nothing is proven; nor, in a family of which nobody knows the order, what is
// older than a range delete. What is behind the tail is newer than what tail and
// layers have of the key: whatever becomes of it, the older value goes. A batch counts when its end was seen, or when
// something stands behind it: else it was never committed.
#pragma once

#include "repair/range_numbers.h"
#include "repair/salvage.h"
#include "repair/sequence_cover.h"
#include "vlog/segment_scanner.h"

namespace cambium {

class LogSalvage {
 public:
  explicit LogSalvage(Salvage* salvage) : salvage_(*salvage) {}

  // Reads all segments. Without a MANIFEST it makes the families of which it finds records.
  Status Read();
  // Writes what is proven, or wanted all the same, and tells of the rest.
  Status Decide();

 private:
  struct Source {
    std::shared_ptr<Segment> segment;
    std::uint64_t size = 0;  // of the file, or of what is sealed of it
    bool is_end_known = false;
    bool is_empty = false;    // made ahead of the log
    bool has_footer = false;  // without a MANIFEST: so it was sealed, and another one came behind it
    std::optional<SegmentLink> link;
    SequenceNumber last = ~SequenceNumber{0};  // what has a larger number was rejected, and its number given again
  };
  // A record of a batch whose end has not been seen yet.
  struct Pending {
    RecordHeader header;
    std::string key;
    std::string range_end;
    ValueAddress address;
  };
  // What a note comes to: a value to be read.
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
  // What is no record. False: nothing stands behind it.
  Result<bool> TakeDamage(const Source& source, bool is_log, SegmentScanner* scanner);
  Status TakeRecord(const Source& source, const ScannedRecord& record);
  Status TakeMoved(const Source& source, const ScannedRecord& record);
  Status TakePending();
  // Something of another batch stands behind it.
  Status TakePendingBefore(const RecordHeader& header);
  // Of a batch that was committed.
  Status TakeCommitted(const RecordHeader& header, Slice key, Slice range_end, ValueAddress address);
  Status TakeKey(const RecordHeader& header, Slice key, ValueAddress address);
  Status TakeDamagedKey(const Source& source, const RecordHeader& header, std::uint64_t offset);
  [[nodiscard]] ValueAddress AddressOf(const Source& source, const ScannedRecord& record) const;
  // No layer can have absorbed it, and the tail ended before it.
  [[nodiscard]] bool IsBeyond(const SalvagedFamily& family, SequenceNumber sequence) const;
  Result<bool> IsOfInterest(std::uint32_t id, Slice key, SequenceNumber sequence,
                            const std::optional<Note>& note) const;
  // False: it was dropped, or cannot be one.
  Result<bool> EnsureFamily(std::uint32_t id);

  Status ApplyRangesBeyond();
  Status DecideOne(std::uint32_t id, Slice key, const Note& note);
  // Of the candidate, which *is_written says.
  Status DecideCandidate(std::uint32_t id, Slice key, const Note& note, const Candidate& candidate, bool* is_written);
  Status DecideDamaged(std::uint32_t id, Slice key, const Note& note, bool is_told);
  void TellUnproven(const SalvagedFamily& family, Slice key, SequenceNumber sequence, std::uint64_t size,
                    const std::string& where);
  [[nodiscard]] bool IsProven(std::uint32_t id, const Candidate& candidate) const;
  [[nodiscard]] bool IsDeletedBehind(std::uint32_t id, Slice key, SequenceNumber sequence) const;

  Salvage& salvage_;
  SequenceCover cover_;
  SequenceNumber last_ = 0;        // the largest number that anything speaks of
  std::string end_unknown_;        // why nobody can tell where the log ends; empty: somebody can
  std::vector<Pending> pending_;   // of one batch
  std::map<std::uint32_t, RangeNumbers> ranges_;
  std::map<std::uint32_t, SequenceNumber> newest_range_;  // of each family that has any
};

}  // namespace cambium
