// ScanPiece: values that lie near each other in the log, for a scan that wants them one after the other.
//
//   entries  [k1][k2][k3][k4]...      the index tells the addresses of the next values
//              │   │   │   │
//   log      ..[v1][v2][v3]...[v4]..  near each other: one copy for v1 to v3, and no copy for each
//
// A piece is read if at least half of its bytes are values that come next. It has no more values than the scan is
// expected to read, and at first at most kEntriesAtFirst; each piece that was used doubles this limit. A piece that was
// not used (a merge of several layers can bring other values first) makes the scan read the next values one by one.
//
// Only bytes that are in memory are read. Each value is verified when it is its turn, so damage inside a piece is
// reported only at the damaged value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "memtable/entry_cursor.h"
#include "util/mutant.h"
#include "util/result.h"
#include "vlog/segment.h"
#include "vlog/value_reader.h"

namespace cambium {

// One thread at a time.
class ScanPiece {
 public:
  // The most values, and the most bytes, that are read together.
  static constexpr std::size_t kEntriesMax = 128;
  static constexpr std::size_t kBytesMax = 128u << 10;

  enum class Outcome : unsigned char {
    kRead,     // *value is set
    kMissing,  // the value is not in memory
    kAlone,    // nothing is known about the value; read it alone
  };

  // Reads the value at the cursor, which `query` describes. `forward`: the direction of the scan. `expected`: how many
  // values, this one included, the scan is expected to read. *value is valid until the next call.
  Result<Outcome> Read(const SegmentTable& segments, const EntryCursor& cursor, bool forward, std::size_t expected,
                       const ValueQuery& query, std::string* buffer, Slice* value);
  // Forgets the piece: the scan goes on elsewhere.
  void Clear() { has_ = used_ = count_ = 0; }

 private:
  static constexpr std::size_t kEntriesAtFirst = 16;
  // How many values are read one by one: kPause after a piece that was not used, at most kScatteredPauseMax after a
  // value with no other near it.
  static constexpr std::size_t kPause = 64;
  static constexpr std::size_t kScatteredPauseMax = 7;

  [[nodiscard]] bool Has(const ValuePlace& place) const {
    const bool is_here = place.segment == segment_ || MutantIs(Mutant::kPieceOfAnySegment);
    return is_here && place.offset >= begin_ && place.offset - begin_ <= has_ &&
           place.size <= has_ - (place.offset - begin_);
  }
  // Chooses the range to read from the values that come next. False: none lies near.
  bool Choose(const EntryCursor& cursor, bool forward, std::size_t expected, ValueAddress first);
  // Judges the piece that is given up.
  void Judge();

  const Segment* segment_ = nullptr;  // compared, not used
  std::uint64_t begin_ = 0;           // the offset in the file at which the piece begins
  std::size_t size_ = 0;              // as chosen
  std::size_t has_ = 0;               // bytes that are held; 0: no piece
  std::size_t count_ = 0;             // values for which it was read
  std::size_t used_ = 0;              // values that were read from it
  std::size_t allowed_ = kEntriesAtFirst;
  std::size_t pause_ = 0;      // values to read one by one before the next piece
  std::size_t scattered_ = 0;  // the last pause after a value without a near one
  std::unique_ptr<char[]> bytes_;
  std::size_t capacity_ = 0;
};

}  // namespace cambium
