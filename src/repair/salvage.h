// Salvage: what the parts of a repair share. What is known of the damaged database, the new one, and what is told about
// it.
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

// A family, and what its layers could not say.
struct SalvagedFamily {
  explicit SalvagedFamily(std::string its_name, const Comparator* its_order)
      : name(std::move(its_name)), order(its_order) {}

  // Range deletes of a layer; below `from` it has none.
  struct Ranges {
    std::shared_ptr<const RangeDeletes> ranges;
    std::optional<std::string> from;
    std::size_t depth = 0;  // of the layer: 0 is the log's tail, 1 the newest one
  };
  // What a damaged layer may have said something about; with a filter, only of keys that it may contain.
  struct Gaps {
    explicit Gaps(const Comparator* order) : keys(order) {}
    KeyGaps keys;
    std::shared_ptr<const Filter> filter;
    std::size_t depth = 0;
  };
  // By a range of a layer that was read so far: whatever older layers say.
  [[nodiscard]] bool IsDeleted(Slice key) const;
  // The same, and nothing that may have written it anew is missing: a gap of that layer or of a newer one. The ranges of a
  // layer delete from older ones only.
  [[nodiscard]] bool IsDeletedForSure(Slice key) const;
  [[nodiscard]] bool IsInDoubt(Slice key) const;

  std::string name;
  const Comparator* order;
  SequenceNumber flushed_sequence = 0;  // what is at or below it is in the layers
  std::vector<Ranges> ranges;           // of the layers that were read so far, newest first
  std::vector<Gaps> gaps;               // of the same layers
  bool has_lost_values = false;
  bool is_filtered = false;  // a compaction filter may have removed what the log still has
  // Without a MANIFEST the order is a guess, unless the caller names it, and pages and ranges of many other orders look right
  // in it. What its range deletes cover nobody knows then.
  bool is_order_guessed = false;
  bool is_order_wrong = false;  // keys or range deletes were found that are not in it
  [[nodiscard]] bool HasOrder() const { return !is_order_guessed && !is_order_wrong; }
};

class Salvage {
 public:
  Salvage(FileSystem& its_fs, std::string its_path, const RepairOptions& options, RepairReport* its_report)
      : fs(its_fs), path(std::move(its_path)), how(options), report(its_report) {}

  // Of a family of the new database: what the caller has named, else the defaults, with the index of the default
  // family.
  [[nodiscard]] ColumnFamilyOptions OptionsOf(const std::string& name) const;
  [[nodiscard]] bool IsNamed(const std::string& name) const;

  [[nodiscard]] bool IsFiltered(const ColumnFamilyOptions& options) const {
    return how.is_filtered || options.compaction_filter != nullptr || options.compaction_filter_factory != nullptr;
  }

  void TellLost(const RepairLoss& loss);
  // Of one key.
  void TellLost(const SalvagedFamily& family, Slice key, const std::string& what);
  // Of all keys of a span.
  void TellLost(const SalvagedFamily& family, const KeySpan& span, std::uint64_t entries, const std::string& what);
  void Advance(std::uint64_t bytes);

  // The value that an address leads to; *sequence is that of its record, 0 for a value with a file of its own. Any
  // error but NotSupported means that it is lost.
  Status ReadAt(std::uint32_t family, Slice key, ValueAddress address, Slice* value, SequenceNumber* sequence);
  [[nodiscard]] std::string PlaceOf(ValueAddress address) const;

  FileSystem& fs;
  const std::string path;
  const RepairOptions& how;
  RepairReport* const report;
  std::vector<ColumnFamilyDescriptor> wanted;

  std::vector<FoundFile> files;
  ManifestState state;                  // as far as it is known
  bool has_state = false;               // a state of this database, perhaps an old one
  bool has_manifest = false;            // the state of the end: it says which files count, and how layers lie
  SegmentTable segments;                // all that can be read; without a MANIFEST their slots are made up
  std::map<std::uint64_t, Slot> slots;  // of these, by number

  std::map<std::uint32_t, SalvagedFamily> families;
  NewDatabase* out = nullptr;

  // The log's tail, see salvage_tail.h.
  SequenceNumber tail_end = 0;   // of the last operation of whole batches without a gap
  bool is_tail_damaged = false;  // there was more

  std::uint64_t bytes_all = 0;
  std::string buffer;

 private:
  std::uint64_t bytes_done_ = 0;
  std::uint64_t bytes_told_ = 0;
};

}  // namespace cambium
