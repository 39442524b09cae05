// RepairDB: a new database from what survives of a damaged one.
//
//   cambium::RepairReport report;
//   cambium::Status s = cambium::RepairDB("/data/store", "/data/store-salvaged", {}, {}, {}, &report);
//   if (s.ok() && !report.IsClean()) ...  // what was lost, and what is in doubt
//
// The damaged directory is only read. docs/TOOL.md says what is recovered, docs/LIMITS.md what cannot be.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cambium/column_family.h"
#include "cambium/options.h"
#include "cambium/status.h"
#include "cambium/types.h"

namespace cambium {

// Something that existed and is missing or unreadable.
struct RepairLoss {
  std::string family;                // empty: unknown
  std::optional<std::string> key;    // if one entry was lost
  std::optional<std::string> begin;  // otherwise: entries of [begin, end), as far as the bounds are known
  std::optional<std::string> end;
  std::uint64_t entries = 0;  // number of entries, tombstones included; 0: unknown
  std::string what;           // file, offset and reason
};

// An undamaged value whose key may have had a newer entry that was lost. So the value may be outdated, or a delete or a
// compaction filter may have removed the key.
struct RepairUnproven {
  std::string family;
  std::string key;
  SequenceNumber sequence = 0;  // of its write; 0: unknown
  std::uint64_t value_bytes = 0;
  std::string where;        // file and offset
  bool is_written = false;  // in the new database: with include_unproven
};

struct RepairOptions {
  // Also write unproven values: of each key the one with the largest sequence number.
  bool include_unproven = false;
  // Set this if a compaction filter was used in any family. It is not needed for a family whose options here have a
  // filter. The log still has the values that a filter removed, and only the layers show that they were removed. So if
  // this is set, and layers are lost, values that only the log has are unproven.
  bool is_filtered = false;
  // Leave nothing: the new database is made with keys alone, and removed again.
  bool dry_run = false;

  // Called for each finding, in the calling thread; their number is not bounded. May be empty.
  std::function<void(const RepairLoss&)> on_lost;
  std::function<void(const RepairUnproven&)> on_unproven;
  // Called now and then with the bytes read, and an estimate of their total. Damaged parts may be read twice.
  std::function<void(std::uint64_t done, std::uint64_t all)> progress;
};

struct RepairedFamily {
  std::string name;
  std::uint64_t entries = 0;      // in the new database
  std::uint64_t value_bytes = 0;  // bytes of values written to it, including values replaced later
};

struct RepairReport {
  std::vector<RepairedFamily> families;
  std::uint64_t lost = 0;      // calls of on_lost
  std::uint64_t unproven = 0;  // calls of on_unproven
  bool has_manifest = false;   // the MANIFEST said which files count, and in which order
  std::uint64_t mended = 0;    // damaged places of the MANIFEST that checksums allowed to restore
  // Set if the log is damaged after this operation, and not everything after it could be read: the new
  // database may hold values that the unread part replaced. Values known to be outdated count as lost or unproven.
  std::optional<SequenceNumber> newest_known;
  std::vector<std::string> notes;

  // True if everything that was committed is in the new database.
  [[nodiscard]] bool IsClean() const { return has_manifest && lost == 0 && unproven == 0; }
};

// Creates the database `out`, which must not exist and must not be inside `path`; its parent must exist. It appears as
// a whole or not at all. A crash may leave `out`.tmp, which the next call removes. `path` is never changed.
//
// `families` gives options of families of the new database. Families that are not named get default options, and keep
// the index, page size and key order they had; a family with an order of the caller's own must be named. If there is no
// MANIFEST, only the numbers of families are known: a family is called "salvaged-<number>", and is in byte order unless
// `families` has that name with another comparator. The order of keys decides which keys a range delete covers. So
// without a MANIFEST, in a family that is not named, the default one included, everything older than the last range
// delete is unproven. From `options` everything but the listeners applies to the new database. If
// max_space_amplification is lower than Open allows with the options of a family, the new database has no ceiling.
//
// OK if the new database was created, whatever was lost: see *report. InvalidArgument if `path` holds no database,
// `out` exists, or a comparator is missing; Locked if `path` is open for writing; NotSupported if it has a later
// format; NoSpace or another IOError if `out` cannot be written. A file of `path`, or a part of one, that the device
// cannot read is a loss, not an error. If the system denies this process a file, a descriptor or memory, that is an
// error, for which Status::IsDenied is true: the file may be whole.
//
// Memory: that of the new database with these options, plus two keys for each gap in the index, the filters of damaged
// runs, the range deletes in the log, two keys for each leaf below a lost branch of a tree, the footer of a segment,
// and the value of one entry.
Status RepairDB(const std::string& path, const std::string& out, const DBOptions& options,
                const std::vector<ColumnFamilyDescriptor>& families, const RepairOptions& repair, RepairReport* report);

// As in LevelDB: replaces the database by what survives of it. Unproven values are not written. The new database is
// made as `path`.repaired; then `path` is renamed to `path`.damaged, which must not exist and is the caller's to
// remove, and `path`.repaired to `path`. If a call ends between these two renames, the next call finishes it. If
// nothing is damaged (VerifyDB finds no problem, everything that was committed is there, and the MANIFEST needed no
// mending), nothing is renamed and the result is OK.
//
// Locked if the database is open anywhere, also for reading. If any part of it cannot be read, the result is IOError
// and nothing is changed: a later call may succeed, and a new database should not be made on a failing device. The
// overload above salvages from such a device.
Status RepairDB(const std::string& path, const Options& options);

}  // namespace cambium
