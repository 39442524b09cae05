// A Salvage is the state that the parts of a repair share: what is known of the damaged database, the new database, and
// the report.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cambium/repair.h"
#include "index/filter.h"
#include "manifest/state.h"
#include "memtable/range_deletes.h"
#include "repair/found_files.h"
#include "repair/key_gaps.h"
#include "repair/leaf_scan.h"
#include "repair/new_database.h"
#include "vlog/segment.h"

namespace cambium {

// A family, with the range deletes and gaps of its layers.
struct SalvagedFamily {
  explicit SalvagedFamily(std::string its_name, const Comparator* its_order)
      : name(std::move(its_name)), order(its_order) {}

  // Range deletes of a layer; they do not apply below `from`.
  struct Ranges {
    std::shared_ptr<const RangeDeletes> ranges;
    std::optional<std::string> from;
    std::size_t depth = 0;  // of the layer: 0 is the log's tail, 1 the newest durable layer
  };
  // Keys for which a damaged layer may have had entries; with a filter, only those that the filter may contain.
  struct Gaps {
    explicit Gaps(const Comparator* order) : keys(order) {}
    KeyGaps keys;
    std::shared_ptr<const Filter> filter;
    std::size_t depth = 0;
  };
  // Whether a range delete of a layer read so far covers the key, and so deletes it from older layers.
  [[nodiscard]] bool IsDeleted(Slice key) const;
  // Whether a range delete of a layer covers the key, and no lost entry can have written the key again: no gap of that
  // layer or of a newer one contains it. The range deletes of a layer apply to older layers only.
  [[nodiscard]] bool IsDeletedForSure(Slice key) const;
  // Whether a gap of a layer read so far contains the key.
  [[nodiscard]] bool IsInDoubt(Slice key) const;

  std::string name;
  const Comparator* order;
  SequenceNumber flushed_sequence = 0;  // the layers have all operations up to this one
  std::vector<Ranges> ranges;           // of the layers read so far, newest first
  std::vector<Gaps> gaps;               // of the same layers
  bool has_lost_values = false;
  bool is_filtered = false;  // a compaction filter may have removed entries that the log still has
  // Without a MANIFEST, the order is a guess unless the caller names it. Pages and ranges that were sorted by another
  // order may look right in the guessed order, so it is unknown which keys a range delete covers.
  bool is_order_guessed = false;
  bool is_order_wrong = false;  // keys or range deletes contradict the order
  [[nodiscard]] bool HasOrder() const { return !is_order_guessed && !is_order_wrong; }
};

// Whether an error ends the salvage, instead of being a loss. Bytes of a later version may mean anything, and files
// that the system denies to this process may be whole.
[[nodiscard]] inline bool EndsSalvage(const Status& s) { return s.IsNotSupported() || s.IsDenied(); }

class Salvage {
 public:
  Salvage(FileSystem& its_fs, std::string its_path, const RepairOptions& options, RepairReport* its_report)
      : fs(its_fs), path(std::move(its_path)), how(options), report(its_report) {}

  // Returns the options of a family of the new database: those that the caller names, or the defaults with the index of
  // the default family.
  [[nodiscard]] ColumnFamilyOptions OptionsOf(const std::string& name) const;
  [[nodiscard]] bool IsNamed(const std::string& name) const;

  [[nodiscard]] bool IsFiltered(const ColumnFamilyOptions& options) const {
    return how.is_filtered || options.compaction_filter != nullptr || options.compaction_filter_factory != nullptr;
  }

  // Report a loss: any, of one key, or of all keys of a span.
  void ReportLost(const RepairLoss& loss);
  void ReportLost(const SalvagedFamily& family, Slice key, const std::string& what);
  void ReportLost(const SalvagedFamily& family, const KeySpan& span, std::uint64_t entries, const std::string& what);
  // Reports progress.
  void Advance(std::uint64_t bytes);

  // Reads the value at an address. *sequence is that of its record, 0 for a large value. Any error for which
  // EndsSalvage is false means that the value is lost.
  Status ReadAt(std::uint32_t family, Slice key, ValueAddress address, Slice* value, SequenceNumber* sequence);
  [[nodiscard]] std::string PlaceOf(ValueAddress address) const;

  FileSystem& fs;
  const std::string path;
  const RepairOptions& how;
  RepairReport* const report;
  std::vector<ColumnFamilyDescriptor> wanted;

  std::vector<FoundFile> files;
  ManifestState state;                  // as far as it is known
  bool has_state = false;               // `state` is one of this database, perhaps an old one
  bool has_manifest = false;            // `state` is the last one: it says which files count and in which order
  SegmentTable segments;                // segments that can be read; without a MANIFEST, a salvage assigns their slots
  std::map<std::uint64_t, Slot> slots;  // slots of these segments, by number

  std::map<std::uint32_t, SalvagedFamily> families;
  NewDatabase* out = nullptr;

  // The log's tail, see salvage_tail.h.
  SequenceNumber tail_end = 0;   // the last operation of the tail
  bool is_tail_damaged = false;  // the log went on after it

  std::uint64_t bytes_all = 0;
  std::string buffer;

 private:
  std::uint64_t bytes_done_ = 0;
  std::uint64_t bytes_reported_ = 0;
};

}  // namespace cambium
