// Every record of the log that is whole, wherever it stands: what it says of keys in doubt, and what it proves.
//
// Only where something is lost. Of each key in doubt the record with the largest number is noted; then each note is
// decided:
//
//   the record, and the rest of its batch, and every operation behind it was seen   proven: it is the newest of its key
//   it is a delete, or a range delete with a larger number covers the key           the key stays away
//   otherwise                                                                       unproven
#pragma once

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
    std::optional<SegmentLink> link;
    SequenceNumber last = ~SequenceNumber{0};  // what has a larger number was rejected, and its number given again
  };
  struct RangeDelete {
    SequenceNumber sequence = 0;
    std::string begin;
    std::string end;
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
  Status ReadSegment(const Source& source, bool is_log);
  Status TakeRecord(const Source& source, const ScannedRecord& record, bool is_log);
  Status TakeKey(const Source& source, const ScannedRecord& record);
  [[nodiscard]] ValueAddress AddressOf(const Source& source, const ScannedRecord& record) const;
  // No layer can have absorbed it, and the tail ended before it.
  [[nodiscard]] bool IsBeyond(const SalvagedFamily& family, SequenceNumber sequence) const;
  Result<bool> IsOfInterest(std::uint32_t id, Slice key, SequenceNumber sequence,
                            const std::optional<Note>& note) const;
  Status EnsureFamily(std::uint32_t id);

  Status ApplyRangesBeyond();
  Status DecideOne(std::uint32_t id, Slice key, const Note& note);
  [[nodiscard]] bool IsProven(const Candidate& candidate) const;
  [[nodiscard]] bool IsDeletedBehind(std::uint32_t id, Slice key, SequenceNumber sequence) const;

  Salvage& salvage_;
  SequenceCover cover_;
  SequenceNumber last_ = 0;          // the largest number that anything speaks of
  SequenceNumber newest_ = 0;        // of a record that is whole
  SequenceNumber newest_begin_ = 0;  // of its batch
  bool newest_is_last_ = true;       // it ends its batch
  std::map<std::uint32_t, std::vector<RangeDelete>> ranges_;
};

}  // namespace cambium
