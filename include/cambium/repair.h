// RepairDB: a new database from what survives of a damaged one.
//
//   cambium::RepairReport report;
//   cambium::Status s = cambium::RepairDB("/data/store", "/data/store-salvaged", {}, {}, {}, &report);
//   if (s.ok() && !report.IsClean()) ...  // what was lost, and what is in doubt
//
// The damaged directory is only read. docs/TOOL.md says what comes back, docs/LIMITS.md what cannot.
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

// Something that was there and is not, or cannot be read.
struct RepairLoss {
  std::string family;                // empty: not known
  std::optional<std::string> key;    // of one entry
  std::optional<std::string> begin;  // else: of those in [begin, end), as far as there are bounds
  std::optional<std::string> end;
  std::uint64_t entries = 0;  // how many, tombstones included; 0: not known
  std::string what;           // file, offset and reason
};

// A value that is whole, of a key of which something newer may have been lost: it may be an old value, or of a key that
// was deleted, or that a compaction filter has removed.
struct RepairUnproven {
  std::string family;
  std::string key;
  SequenceNumber sequence = 0;  // of its write; 0: not known
  std::uint64_t value_bytes = 0;
  std::string where;        // file and offset
  bool is_written = false;  // with include_unproven
};

struct RepairOptions {
  // Values that are in doubt are written too: of each key the one with the largest sequence number.
  bool include_unproven = false;
  // A compaction filter has run, in any family; of a family whose options have one it is known. What it has removed the log
  // still has, and nothing else tells: so what the log alone says of what was in lost layers is unproven then.
  bool is_filtered = false;
  // Nothing is left behind: the new database, with keys alone, is made and removed again.
  bool dry_run = false;

  // Called as things are found, in the thread of the call; there is no bound on how many. May be empty.
  std::function<void(const RepairLoss&)> on_lost;
  std::function<void(const RepairUnproven&)> on_unproven;
  // Now and then: bytes that were read, of about how many. What is damaged may be read twice.
  std::function<void(std::uint64_t done, std::uint64_t all)> progress;
};

struct RepairedFamily {
  std::string name;
  std::uint64_t entries = 0;      // of the new database
  std::uint64_t value_bytes = 0;  // that were written to it, values that were replaced later among them
};

struct RepairReport {
  std::vector<RepairedFamily> families;
  std::uint64_t lost = 0;      // calls of on_lost
  std::uint64_t unproven = 0;  // calls of on_unproven
  bool has_manifest = false;   // it said which files count, and in which order
  std::uint64_t mended = 0;    // places of the MANIFEST that are damaged, and of which checksums tell what stood there
  // Set if the log is damaged behind this operation, and not everything behind it could be read: values may be older than
  // what it said of their keys. Those that are known to be are among the lost and the unproven.
  std::optional<SequenceNumber> newest_known;
  std::vector<std::string> notes;

  // Everything that was committed is in the new database.
  [[nodiscard]] bool IsClean() const { return has_manifest && lost == 0 && unproven == 0; }
};

// Makes the database `out`, which must not exist and must not lie in `path`; its parent must. It appears as a whole or
// not at all; what a crash leaves is called `out`.tmp, and the next call removes it. `path` is never changed.
//
// `families`: options of families of the new database. Those that are not named have the defaults, and the index, page
// size and order that they had; an order of the caller's own has to be named. A family of which only the number is
// known, since there is no MANIFEST, is called "salvaged-<number>", and is in byte order unless it is named so. What
// range deletes deleted is told by the right order alone: without a MANIFEST, in a family that is not named, the default one
// too, what is older than the last range delete is unproven. Of `options` all but the listeners counts for the new database.
//
// OK if the new database is there, whatever was lost: see *report. InvalidArgument if `path` holds no database, `out`
// exists, or a comparator is missing; Locked if it is open for writing; NotSupported if it is of a later format;
// NoSpace and other IOErrors if `out` cannot be written. That a file of `path`, or a part of
// it, cannot be read is a loss, and no error.
//
// Memory: that of the new database with these options, beside two keys for each gap in the index, the filters of
// damaged runs, the range deletes that the log holds, two keys for each leaf below a lost branch of a tree, the footer of
// a segment, and the value of one entry.
Status RepairDB(const std::string& path, const std::string& out, const DBOptions& options,
                const std::vector<ColumnFamilyDescriptor>& families, const RepairOptions& repair, RepairReport* report);

// As LevelDB's: the database is replaced by what survives of it. What is in doubt is not written. It is made as
// `path`.repaired; then `path` becomes `path`.damaged, which must not exist and is the caller's to remove, and
// `path`.repaired becomes `path`. A call that ends between these two is finished by the next one. Nothing is renamed,
// and the answer is OK, if nothing was damaged: VerifyDB finds no problem, everything that was committed is there, and
// nothing of the MANIFEST had to be mended.
//
// Locked if anybody has it open, for reading too. IOError, and nothing is changed, if anything of it cannot be read: that
// may pass, and a device that is failing is no place for a new database. The form above salvages from it.
Status RepairDB(const std::string& path, const Options& options);

}  // namespace cambium
