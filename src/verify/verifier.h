// Verifier: what VerifyDB does. It opens and reads files as an opening, a read and log GC do, so that whatever one of
// these would stumble over is found here.
//
//   problems     an opening, a read, a scan, a merge or a step of log GC fails on it
//   dead damage  bytes that are not what was written, and that none of these needs: records that no index entry leads
//   to
//                or whose key something newer speaks of, the footer of a segment whose records can be walked instead,
//                an OPTIONS file
//
// Which of both a record belongs to is asked of the durable layers alone, as log GC asks them: what hides an entry in
// the part of the log that is not flushed may be lost with the power.
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
#include "vlog/segment.h"
#include "vlog/value_reader.h"

namespace cambium {

// One directory, once. One thread.
class Verifier {
 public:
  Verifier(const DBOptions& options, const std::string& path, const std::vector<ColumnFamilyDescriptor>& families,
           const VerifyOptions& verify, VerifyReport* report);
  Status Run();
  // The same for who holds a lock of the directory.
  Status RunLocked();

 private:
  // Of addresses and keys of values that are checked in one go. In the order of keys a disk would be asked for each
  // page on its own, and a check of headers take longer than one that reads the whole log first.
  static constexpr std::size_t kValuesTogetherBytes = 64u << 20;

  // ---- verify.cc ----
  // A family that nobody named is checked all the same if its order is one of the library's own.
  Status FindComparator(const FamilyState& family);
  // Damage is reported and the check goes on, and so it does beside what the system would not read. Any other error ends
  // it.
  Status Found(const Status& s);
  Status FoundDead(const Status& s);
  void Problem(std::string what);
  void DeadDamage(std::string what);
  void Note(std::string what);
  void MeasureWork();
  void CountRead(std::uint64_t bytes);

  // ---- verify_files.cc ----
  Status OpenSegments();
  // Null, and a line in the report, if the file is damaged; *unread is then set if the system would not read it.
  Result<std::shared_ptr<const IndexFile>> OpenPages(FileKind kind, std::uint64_t number, const Id128& file_id,
                                                     std::uint64_t length, bool* unread);
  Status CheckOtherFiles();
  // Whether the MANIFEST names it, or it is one that nobody has to name.
  [[nodiscard]] bool IsNamed(const NumberedFile& file) const;

  // ---- verify_layers.cc ----
  Status CheckFamily(const FamilyState& family);
  // A tree of pages: of a run, or the family's. What it says of keys below `cursor` a sweep has carried on; null:
  // nothing.
  struct TreeOfPages {
    const TreeRoot& root;
    const FileSet& files;
    const cambium::Run* run = nullptr;
    const std::string* cursor = nullptr;
    std::map<std::uint64_t, std::uint64_t>* live_units = nullptr;  // counted; null: nobody wants to know
  };
  // *whole is left as it is if every entry could be looked at.
  Status CheckTreeOfPages(const FamilyState& family, const TreeOfPages& tree, bool* whole);
  // `damage` was met in pages, some of which nobody may read any more. `count`: how much there was.
  Status JudgeDamage(const FamilyState& family, const TreeOfPages& tree, const std::vector<Status>& damage,
                     std::uint64_t count);
  [[nodiscard]] Status ReadFromCursor(const FamilyState& family, const TreeOfPages& tree);
  Status CheckInRun(const Comparator& order, const cambium::Run& run, Slice key);
  Status CheckAccounts(const FamilyState& family);
  void ReportAccount(const FamilyState& family, Slot slot, const Account& counted);

  // ---- verify_values.cc ----
  Status CheckEntry(const FamilyState& family, Slice key, const Entry& entry);
  // Those that entries of the family were found to have, in the order in which they lie.
  Status CheckValues(const FamilyState& family);
  // Header and key; with `deep` the value too.
  Status CheckValue(const ValueQuery& query);
  [[nodiscard]] bool HasHole(ValueAddress address) const;
  // Whether one of the first `newer` layers that were looked at speaks of the key, so that nobody gets to older ones.
  Result<bool> IsHidden(const FamilyState& family, Slice key, std::size_t newer);
  // What points to a value that log GC has moved or punched is never read: something newer must speak of the key.
  Status CheckHidden(const FamilyState& family, Slice key, Slot slot, const char* why);

  // ---- verify_log.cc ----
  Status CheckSegments();
  Status CheckSegment(const SegmentInfo& info, const Segment& segment);
  Status WalkSegment(const SegmentInfo& info, const Segment& segment, std::map<std::uint64_t, std::uint64_t> listed,
                     const Status& footer);
  // Otherwise the segment goes as a whole, and nobody collects it.
  [[nodiscard]] bool IsReferredTo(Slot slot) const;
  // The part of the log that an opening replays.
  Status CheckTail();

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
  std::set<Slot> unread_slots_;  // of segments that the system would not read: nothing is known of their values
  std::uint64_t work_ = 0;  // bytes to be read, about

  // Of the family at hand.
  std::map<Slot, Account> accounts_;  // counted
  struct ValueOfEntry {
    ValueAddress address;
    std::size_t key_at;  // of values_keys_
    std::size_t key_size;
    std::size_t newer;  // so many layers of newer_ are newer than the entry
  };
  std::vector<ValueOfEntry> values_;  // to be checked together
  std::string values_keys_;
  struct NewerRun {
    std::shared_ptr<const cambium::Run> run;
    const std::string* cursor;  // what it says of keys below is not asked any more; null: it is
  };
  std::vector<NewerRun> newer_;  // those that were looked at, newest first

  // Records that were reported already: a walk through their segment meets them again. So many at most: beyond, one that
  // several entries lead to, or that the walk meets too, is counted more than once.
  static constexpr std::size_t kReportedMax = 100'000;
  std::set<std::pair<Slot, std::uint64_t>> reported_;
  std::pair<Slot, std::uint64_t> last_reported_ = {};
  Status first_unread_;  // OK: all could be read
  std::uint64_t wrong_run_ = 0;  // the last one that was found wrong; no run is 0
  std::string buffer_;
};

}  // namespace cambium
