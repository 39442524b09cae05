// A Verifier does the work of VerifyDB. It opens and reads files as Open, reads, scans and log GC do, so that it finds
// everything that would make one of these fail.
//
//   problem      makes an open, a read, a scan, a compaction or a step of log GC fail
//   dead damage  changed bytes that none of these needs: a record that no index entry refers to or that a newer entry
//                hides, the footer of a segment whose records can be walked instead, an OPTIONS file
//
// Whether a record is hidden is decided by the durable layers alone, as in log GC: an entry that is only in the log's
// unflushed tail may be lost in a power cut.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "options/options_check.h"
#include "cambium/db.h"
#include "index/page_pool.h"
#include "index/run.h"
#include "manifest/file_names.h"
#include "manifest/state.h"
#include "recovery/log_replay.h"
#include "vlog/segment.h"
#include "vlog/value_reader.h"

namespace cambium {

// Verifies one directory once, in one thread.
class Verifier {
 public:
  Verifier(const DBOptions& options, const std::string& path, const std::vector<ColumnFamilyDescriptor>& families,
           const VerifyOptions& verify, VerifyReport* report);
  // Locks the directory and verifies it.
  Status Run();
  // Verifies the directory; the caller holds its lock.
  Status RunLocked();

 private:
  // Memory for addresses and keys of values that are checked together, in the order of the log. In the order of keys,
  // each header would cost a disk read of its own, and a check of headers would take longer than reading the whole log.
  static constexpr std::size_t kValuesTogetherBytes = 64u << 20;

  // ---- verify.cc ----
  // Finds the comparator of a family: the caller's, or one of the library's own. InvalidArgument if neither has the
  // name.
  Status FindComparator(const FamilyState& family);
  // Adds Corruption and NotSupported to the problems and an I/O error to the unreadable places, and returns OK, so that
  // the check continues. Returns any other error, which ends the check.
  Status Found(const Status& s);
  // Like Found, but adds Corruption and NotSupported to the damage of dead data.
  Status FoundDead(const Status& s);
  void Problem(std::string what);
  void DeadDamage(std::string what);
  void Note(std::string what);
  void MeasureWork();
  void CountRead(std::uint64_t bytes);

  // ---- verify_files.cc ----
  Status OpenSegments();
  // Opens a run or an index segment. Returns null and adds a line to the report if the file is damaged or unreadable;
  // sets *unread if it is unreadable.
  Result<std::shared_ptr<const IndexFile>> OpenPages(FileKind kind, std::uint64_t number, const Id128& file_id,
                                                     std::uint64_t length, bool* unread);
  Status CheckOtherFiles();
  // Whether the MANIFEST names the file, or need not name a file of its kind.
  [[nodiscard]] bool IsNamed(const NumberedFile& file) const;

  // ---- verify_layers.cc ----
  Status CheckFamily(const FamilyState& family);
  // The pages of a run or of the family's tree. A sweep has moved the entries below `cursor` into the tree; null: none.
  struct TreeOfPages {
    const TreeRoot& root;
    const FileSet& files;
    const cambium::Run* run = nullptr;
    const std::string* cursor = nullptr;
    std::map<std::uint64_t, std::uint64_t>* live_units = nullptr;  // receives the counts; null: not counted
  };
  // Clears *whole if not every entry could be checked.
  Status CheckTreeOfPages(const FamilyState& family, const TreeOfPages& tree, bool* whole);
  // Reports damage in the pages of a run that a sweep has partly merged: dead if reads from the cursor on do not need
  // the damaged pages. `damage` has the first findings; there are `count` in all.
  Status JudgeDamage(const FamilyState& family, const TreeOfPages& tree, const std::vector<Status>& damage,
                     std::uint64_t count);
  // Reads the run from the cursor on, as reads and the sweep do. Returns the first error.
  [[nodiscard]] Status ReadFromCursor(const FamilyState& family, const TreeOfPages& tree);
  // Checks that the run's key range and filter, which lookups use first, contain the key. Reports one problem per run.
  Status CheckInRun(const Comparator& order, const cambium::Run& run, Slice key);
  // Compares the MANIFEST's accounts with those counted in the layers.
  Status CheckAccounts(const FamilyState& family);
  void ReportAccount(const FamilyState& family, Slot slot, const Account& counted);

  // ---- verify_values.cc ----
  // If the entry has an address: counts the reference, and adds the value to values_, unless its record is gone or its
  // segment could not be opened. Calls CheckValues once values_ is large.
  Status CheckEntry(const FamilyState& family, Slice key, const Entry& entry);
  // Of an entry without an address.
  Status CheckVersion(const FamilyState& family, Slice key, const Entry& entry);
  // Checks the collected values in the order of the log, and clears values_.
  Status CheckValues(const FamilyState& family);
  // Checks header and key of a value's record; with `deep` the value too.
  Status CheckValue(const ValueQuery& query);
  [[nodiscard]] bool HasHole(ValueAddress address) const;
  [[nodiscard]] bool IsCutOff(ValueAddress address) const;
  // Whether one of the first `newer` runs of newer_ has an entry for the key, which hides older ones.
  Result<bool> IsHidden(const FamilyState& family, Slice key, std::size_t newer);
  // If log GC has relocated, punched or cut off the value of an entry, the entry must never be read. Returns Corruption
  // unless a newer entry hides it.
  Status CheckHidden(const FamilyState& family, Slice key, Slot slot, const char* why);

  // ---- verify_log.cc ----
  Status CheckSegments();
  Status CheckSegment(const SegmentInfo& info, const Segment& segment);
  Status WalkSegment(const SegmentInfo& info, const Segment& segment, std::map<std::uint64_t, std::uint64_t> listed,
                     const Status& footer);
  // Whether an account refers to the slot. If none does, the segment is dropped as a whole, and log GC never reads it.
  [[nodiscard]] bool IsReferredTo(Slot slot) const;
  // Checks the part of the log that Open replays.
  Status CheckTail();
  bool CanBeRead(const ReplayedOp& op);

  const DBOptions options_;
  FileSystem& fs_;
  const std::string path_;
  const std::vector<ColumnFamilyDescriptor> wanted_;
  std::map<std::uint32_t, const Comparator*> comparators_;  // by family
  const VerifyOptions verify_;
  VerifyReport* const report_;
  ManifestState state_;
  std::uint64_t manifest_number_ = 0;
  PagePool pool_{1u << 20};
  SegmentTable segments_;
  std::set<Slot> unread_slots_;  // of segments that could not be opened for an I/O error; their values are not checked
  std::uint64_t work_ = 0;       // bytes to be read, an estimate

  // State of the family being checked.
  std::map<Slot, Account> accounts_;  // counted
  struct ValueOfEntry {
    ValueAddress address;
    std::size_t key_at;  // offset in values_keys_
    std::size_t key_size;
    std::size_t newer;  // number of runs in newer_ that are newer than the entry
  };
  std::vector<ValueOfEntry> values_;  // to be checked together
  std::string values_keys_;
  struct NewerRun {
    std::shared_ptr<const cambium::Run> run;
    const std::string* cursor;  // lookups skip its entries below this key; null: they use all of them
  };
  std::vector<NewerRun> newer_;  // runs checked so far, newest first

  // Records already reported: the walk through their segment reaches them again. At most kReportedMax; beyond that, a
  // record with several references, or one that the walk reaches too, is counted more than once.
  static constexpr std::size_t kReportedMax = 100'000;
  std::set<std::pair<Slot, std::uint64_t>> reported_;
  std::pair<Slot, std::uint64_t> last_reported_ = {};
  Status first_unread_;          // the first I/O error
  std::uint64_t wrong_run_ = 0;  // the last run reported by CheckInRun; 0: none
  std::string buffer_;
};

}  // namespace cambium
