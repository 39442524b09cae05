// VerifyDB: everything that can be checked without writing. It opens files as a read does, so that whatever a read would
// stumble over is found here.
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "api/log_replay.h"
#include "api/open_files.h"
#include "api/options_check.h"
#include "api/options_file.h"
#include "cambium/db.h"
#include "index/page_pool.h"
#include "index/run.h"
#include "index/tree_check.h"
#include "manifest/file_names.h"
#include "manifest/manifest_reader.h"
#include "manifest/state_check.h"
#include "vlog/segment_footer.h"
#include "vlog/segment_scanner.h"
#include "vlog/value_reader.h"

namespace cambium {
namespace {

class Verifier {
 public:
  Verifier(const DBOptions& options, const std::string& path, const std::vector<ColumnFamilyDescriptor>& families,
           const VerifyOptions& verify, VerifyReport* report)
      : options_(FillInDefaults(options)),
        fs_(*options_.file_system),
        path_(path),
        wanted_(families),
        verify_(verify),
        report_(report) {}

  Status Run() {
    FileInfo info;
    CAMBIUM_RETURN_IF_ERROR(fs_.GetInfo(path_, &info));
    std::unique_ptr<FileLock> lock;
    CAMBIUM_RETURN_IF_ERROR(fs_.Lock(path_, LockMode::kShared, options_.lock_wait_micros, &lock));
    Result<ManifestRead> read = ReadManifest(fs_, path_);
    if (!read.ok()) {
      if (read.status().IsNotSupported()) return read.status();  // a later format: nothing here can judge it
      if (read.status().IsNotFound()) return Status::InvalidArgument(path_ + ": holds no database");
      return Found(read.status());
    }
    state_ = std::move(read->state);
    report_->bytes_read += read->valid_length;
    if (state_.families.empty()) return Found(Status::Corruption(path_ + ": the MANIFEST names no column family"));
    CAMBIUM_RETURN_IF_ERROR(CheckDefaultFamily(path_, state_));
    for (const auto& [id, family] : state_.families) CAMBIUM_RETURN_IF_ERROR(FindComparator(family));
    CAMBIUM_RETURN_IF_ERROR(Found(state_.Check()));
    CAMBIUM_RETURN_IF_ERROR(OpenSegments());
    for (const auto& [id, each] : state_.families) CAMBIUM_RETURN_IF_ERROR(CheckFamily(each));
    CAMBIUM_RETURN_IF_ERROR(CheckSegments());
    CAMBIUM_RETURN_IF_ERROR(Found(CheckStrayLogs(fs_, path_, state_)));
    CAMBIUM_RETURN_IF_ERROR(CheckTail());
    return CheckOrphans();
  }

 private:
  // Of addresses and keys of values that are checked in one go. In the order of keys a disk would be asked for each page
  // on its own, and a check of headers take longer than one that reads the whole log first.
  static constexpr std::size_t kValuesTogetherBytes = 64u << 20;

  // A family that nobody named is checked all the same if its order is one of the library's own.
  Status FindComparator(const FamilyState& family) {
    const auto named = std::ranges::find(wanted_, family.name, &ColumnFamilyDescriptor::name);
    const Comparator* comparator =
        named != wanted_.end() ? named->options.comparator : BuiltInComparator(family.comparator);
    if (comparator == nullptr || family.comparator != comparator->Name()) {
      return Status::InvalidArgument(path_ + ": keys of column family \"" + family.name + "\" are ordered by comparator \"" +
                                     family.comparator + "\", which is needed to verify them");
    }
    comparators_[family.id] = comparator;
    return Status::OK();
  }

  // Damage is reported and the check goes on; what keeps it from being made ends it.
  Status Found(const Status& s) {
    if (s.ok()) return s;
    if (!s.IsCorruption() && !s.IsNotSupported()) return s;
    report_->problems.push_back(std::string(s.message()));
    return Status::OK();
  }
  void Problem(std::string what) { report_->problems.push_back(std::move(what)); }

  Status OpenSegments() {
    for (const auto& [number, info] : state_.segments) {
      Result<std::shared_ptr<Segment>> segment = OpenSegment(fs_, path_, state_, info, false, nullptr);
      ++report_->files;
      if (!segment.ok()) {
        CAMBIUM_RETURN_IF_ERROR(Found(segment.status()));
        continue;
      }
      segments_ = segments_.With(info.slot, *segment);
    }
    return Status::OK();
  }

  Status CheckFamily(const FamilyState& family) {
    accounts_.clear();
    bool whole = true;  // every layer could be walked to its end, so that the sums mean something
    FileSet tree_files;
    for (const auto& [number, info] : family.index_segments) {
      CAMBIUM_TRY(const auto file, OpenPages(FileKind::kIndex, number, info.file_id, info.length));
      if (file != nullptr) tree_files = tree_files.With(file);
    }
    newer_.clear();
    for (const RunInfo& info : NewestFirst(family)) {
      CAMBIUM_TRY(const auto file, OpenPages(FileKind::kRun, info.number, info.file_id, info.file_size));
      if (file == nullptr) {
        whole = false;
        continue;
      }
      // Footer and filter, as an opening reads them.
      const auto run = Run::Open(file->shared_file(), info, comparators_.at(family.id), &pool_);
      if (!run.ok()) CAMBIUM_RETURN_IF_ERROR(Found(run.status()));
      // The part of a run that a sweep has carried into the tree is hidden, and no longer in the accounts.
      const bool swept = family.sweep.has_value() &&
                         std::find(family.sweep->runs.begin(), family.sweep->runs.end(), info.number) !=
                             family.sweep->runs.end();
      const std::string* cursor = swept ? &family.sweep->cursor : nullptr;
      CAMBIUM_RETURN_IF_ERROR(
          CheckOneTree(family, info.root, FileSet(file), run.ok() ? run->get() : nullptr, cursor, nullptr, &whole));
      if (run.ok()) newer_.push_back(*run);
    }
    std::map<std::uint64_t, std::uint64_t> live_units;
    CAMBIUM_RETURN_IF_ERROR(CheckOneTree(family, family.root, tree_files, nullptr, nullptr, &live_units, &whole));
    CAMBIUM_RETURN_IF_ERROR(CheckValues(family));
    if (!whole) return Status::OK();

    for (const auto& [slot, account] : accounts_) {
      report_->live_references += static_cast<std::uint64_t>(account.references);
      report_->live_bytes += static_cast<std::uint64_t>(account.bytes);
      const auto recorded = family.accounts.find(slot);
      if (recorded == family.accounts.end() || recorded->second != account) ReportAccount(family, slot, account);
    }
    for (const auto& [slot, account] : family.accounts) {
      if (!accounts_.contains(slot)) ReportAccount(family, slot, {});
    }
    for (const auto& [number, info] : family.index_segments) {
      if (live_units[number] != info.live_units) {
        Problem(FilePath(path_, FileKind::kIndex, number) + ": the MANIFEST counts " + std::to_string(info.live_units) +
                " live page units, and the tree reaches " + std::to_string(live_units[number]));
      }
    }
    return Status::OK();
  }

  // All runs, in an order in which none hides what one before it says.
  static std::vector<RunInfo> NewestFirst(const FamilyState& family) {
    std::vector<RunInfo> runs = family.runs;
    std::vector<const LevelRun*> levels;
    for (const auto& [number, run] : family.level_runs) levels.push_back(&run);
    std::ranges::sort(levels, [](const LevelRun* a, const LevelRun* b) {
      return a->level != b->level ? a->level < b->level : a->tier > b->tier;
    });
    for (const LevelRun* const run : levels) runs.push_back(run->info);
    return runs;
  }

  // What points to a value that log GC has moved or punched is never read: something newer must speak of the key.
  Status CheckHidden(const FamilyState& family, Slice key, Slot slot, const char* why) {
    for (const auto& run : newer_) {
      PageRef keep;
      Entry entry;
      CAMBIUM_TRY(const bool found, run->Find(key, &keep, &entry));
      if (found) return Status::OK();
    }
    return Status::Corruption("key " + key.ToString(true).substr(0, 64) + " of family " + family.name +
                              ": the newest entry points to slot " + std::to_string(static_cast<std::uint32_t>(slot)) +
                              ", " + why);
  }

  // Null, and a problem in the report, if the file is damaged.
  Result<std::shared_ptr<const IndexFile>> OpenPages(FileKind kind, std::uint64_t number, const Id128& file_id,
                                                     std::uint64_t length) {
    ++report_->files;
    const auto open = [&]() -> Result<std::shared_ptr<const IndexFile>> {
      CAMBIUM_TRY(std::shared_ptr<File> file, OpenLayerFile(fs_, path_, state_, kind, number));
      CAMBIUM_TRY(std::shared_ptr<const IndexFile> pages, IndexFile::Open(std::move(file), kind, number, nullptr));
      FileInfo info;
      CAMBIUM_RETURN_IF_ERROR(pages->file().GetInfo(&info));
      if (pages->header().file_id != file_id) return Status::Corruption(pages->path() + ":0: is another file");
      if (info.size < length) return Status::Corruption(pages->path() + ":" + std::to_string(info.size) + ": is cut off");
      return pages;
    };
    Result<std::shared_ptr<const IndexFile>> opened = open();
    if (opened.ok()) return opened;
    CAMBIUM_RETURN_IF_ERROR(Found(opened.status()));
    return std::shared_ptr<const IndexFile>();
  }

  void ReportAccount(const FamilyState& family, Slot slot, const Account& counted) {
    const auto recorded = family.accounts.find(slot);
    const Account account = recorded == family.accounts.end() ? Account{} : recorded->second;
    Problem("account of slot " + std::to_string(static_cast<std::uint32_t>(slot)) + " in family " + family.name +
            ": the MANIFEST says " + std::to_string(account.references) + " references and " +
            std::to_string(account.bytes) + " bytes, the layers hold " + std::to_string(counted.references) + " and " +
            std::to_string(counted.bytes));
  }

  // `run`: the run that the tree is of, if it is one.
  Status CheckOneTree(const FamilyState& family, const TreeRoot& root, const FileSet& files, const cambium::Run* run,
                      const std::string* hidden_below, std::map<std::uint64_t, std::uint64_t>* live_units,
                      bool* whole) {
    TreeCheckCallbacks callbacks;
    callbacks.on_entry = [&](Slice key, const Entry& entry) {
      ++report_->entries;
      if (run != nullptr) CAMBIUM_RETURN_IF_ERROR(CheckInRun(*comparators_.at(family.id), *run, key));
      if (hidden_below != nullptr && comparators_.at(family.id)->Compare(key, *hidden_below) < 0) return Status::OK();
      return CheckEntry(family, key, entry);
    };
    callbacks.on_page = [&](const PageView& page) {
      if (live_units != nullptr) (*live_units)[FileNumberOf(page.id())] += UnitsOf(page.id());
      return Status::OK();
    };
    TreeCheckStats stats;
    const Status checked = CheckTree(root, files, comparators_.at(family.id), callbacks, &stats);
    report_->pages += stats.leaves + stats.branches;
    report_->bytes_read += stats.page_bytes;
    if (!checked.ok()) *whole = false;
    return Found(checked);
  }

  // What look-ups go by before they ask the run. One problem of a run is enough.
  Status CheckInRun(const Comparator& order, const cambium::Run& run, Slice key) {
    const RunInfo& info = run.info();
    if (info.number == wrong_run_) return Status::OK();
    const char* wrong = nullptr;
    const int at_largest = order.Compare(key, info.largest_key);
    if (order.Compare(key, info.smallest_key) < 0 || at_largest > 0 || (at_largest == 0 && info.largest_is_open)) {
      wrong = "is outside of the keys that the MANIFEST says it has";
    } else if (!run.MayContain(key)) {
      wrong = "is missing in its filter";
    }
    if (wrong == nullptr) return Status::OK();
    wrong_run_ = info.number;
    return Found(Status::Corruption(FilePath(path_, FileKind::kRun, info.number) + ": key " +
                                    key.ToString(true).substr(0, 64) + " " + wrong));
  }

  [[nodiscard]] bool HasHole(ValueAddress address) const {
    if (address.kind() == EntryKind::kLargeValue) return false;
    const std::shared_ptr<Segment>& segment = segments_.Find(address.slot());
    return segment != nullptr && segment->HasHole(address.offset());
  }

  Status CheckEntry(const FamilyState& family, Slice key, const Entry& entry) {
    if (!entry.HasAddress()) return Status::OK();
    Account& account = accounts_[entry.address.slot()];
    ++account.references;
    account.bytes += static_cast<std::int64_t>(entry.address.size());
    if (state_.shadowed_slots.contains(entry.address.slot())) {
      return Found(CheckHidden(family, key, entry.address.slot(), "whose segment log GC has removed"));
    }
    if (HasHole(entry.address)) {
      CAMBIUM_RETURN_IF_ERROR(Found(CheckHidden(family, key, entry.address.slot(), "to a value that log GC has punched")));
    }
    values_.push_back({entry.address, values_keys_.size(), key.size()});
    values_keys_.append(key.data(), key.size());
    return values_keys_.size() + values_.size() * sizeof(values_[0]) < kValuesTogetherBytes ? Status::OK()
                                                                                            : CheckValues(family);
  }

  // Those that entries of the family were found to have, in the order in which they lie.
  Status CheckValues(const FamilyState& family) {
    const Comparator* comparator = comparators_.at(family.id);
    const Comparator* equal_by = comparator->EqualMeansSameBytes() ? nullptr : comparator;
    std::ranges::sort(values_, {}, [](const ValueOfEntry& value) {
      return std::pair(value.address.slot(), value.address.offset());
    });
    for (const ValueOfEntry& value : values_) {
      const Slice key(values_keys_.data() + value.key_at, value.key_size);
      const ValueQuery query = {value.address, family.id, key, true, equal_by};
      Status s;
      if (verify_.deep && !HasHole(value.address)) {
        Slice read;
        s = ReadValue(segments_, query, &buffer_, &read);
        report_->bytes_read += read.size();
      } else {
        s = CheckRecord(segments_, query);
      }
      if (s.IsCorruption()) s = s.WithContext("key " + key.ToString(true).substr(0, 64));
      CAMBIUM_RETURN_IF_ERROR(Found(s));
    }
    values_.clear();
    values_keys_.clear();
    return Status::OK();
  }

  // Segments of the log before the tail: footers of those that are sealed, and with `deep` every record. What lies behind
  // the replay position is the tail's.
  Status CheckSegments() {
    for (const auto& [number, info] : state_.segments) {
      const std::shared_ptr<Segment>& segment = segments_.Find(info.slot);
      if (segment == nullptr || info.kind == SegmentKind::kLargeValue) continue;
      if (!info.sealed && number != state_.replay.segment) continue;
      const std::uint64_t end = info.sealed ? info.sealed_length : state_.replay.offset;
      std::map<std::uint64_t, std::uint64_t> listed;  // offset -> size
      if (info.has_footer) {
        CAMBIUM_RETURN_IF_ERROR(Found(ReadSegmentFooter(segment->file(), segment->seed(), kFileHeaderSize,
                                                        info.sealed_length, info.file_size,
                                                        [&](const FooterEntry& entry) {
                                                          if (verify_.deep) listed[entry.offset] = entry.size;
                                                          return Status::OK();
                                                        })));
        report_->bytes_read += info.file_size - info.sealed_length;
      }
      if (!verify_.deep) continue;
      SegmentScanner scanner(segment->file(), segment->seed(), kFileHeaderSize, end, nullptr);
      scanner.SetHoles(info.punched);
      while (true) {
        ScannedRecord record;
        CAMBIUM_TRY(const ScanResult found, scanner.Next(&record));
        if (found == ScanResult::kInvalid || (found == ScanResult::kEnd && scanner.offset() != end)) {
          Problem(segment->path() + ":" + std::to_string(scanner.offset()) + ": " +
                  (found == ScanResult::kEnd ? "the log ends early" : scanner.reason()));
          break;
        }
        if (found == ScanResult::kEnd) {
          if (!listed.empty()) Problem(segment->path() + ": the footer lists records that are not there");
          break;
        }
        ++report_->records;
        report_->bytes_read += record.header.RecordSize();
        const auto entry = listed.find(record.offset);
        if (entry != listed.end() && entry->second == record.header.RecordSize()) listed.erase(entry);
      }
    }
    return Status::OK();
  }

  Status CheckTail() {
    ReplayRequest request;
    request.fs = &fs_;
    request.directory = path_;
    request.state = &state_;
    request.mode = options_.wal_recovery_mode;
    const auto replayed = ReplayLog(request, [&](const std::vector<ReplayedOp>& ops) {
      report_->records += ops.size();
      return Status::OK();
    });
    if (!replayed.ok()) return Found(replayed.status());
    report_->bytes_read += replayed->bytes_read;
    if (!replayed->torn.empty()) report_->notes.push_back("the log has a torn tail, as crashes leave it: " + replayed->torn);
    return Status::OK();
  }

  Status CheckOrphans() {
    std::vector<std::string> names;
    CAMBIUM_RETURN_IF_ERROR(fs_.List(path_, &names));
    std::sort(names.begin(), names.end());
    for (const std::string& name : names) {
      if (name == kLockFileName || name == kInfoLogFileName || name == std::string(kInfoLogFileName) + ".old") continue;
      const std::optional<NumberedFile> file = ParseFileName(name);
      if (!file.has_value()) {
        report_->notes.push_back(path_ + "/" + name + ": is not a file of the database");
        continue;
      }
      bool named = file->kind == FileKind::kManifest || state_.segments.contains(file->number);
      if (file->kind == FileKind::kOptions) {
        named = true;
        ++report_->files;
        // Nothing needs it, but bytes that are not what was written are worth knowing of.
        CAMBIUM_RETURN_IF_ERROR(Found(ReadOptionsFile(fs_, path_ + "/" + name).status()));
      }
      if (file->kind == FileKind::kReserve) {  // nobody reads it, and an opening looks at its header
        named = true;
        ++report_->files;
      }
      for (const auto& [id, family] : state_.families) {
        named = named || HasFile(family, file->number);
      }
      if (!named) report_->notes.push_back(path_ + "/" + name + ": orphan, which the next opening removes");
    }
    return Status::OK();
  }

  const DBOptions options_;
  FileSystem& fs_;
  const std::string path_;
  const std::vector<ColumnFamilyDescriptor> wanted_;
  std::map<std::uint32_t, const Comparator*> comparators_;  // by family
  const VerifyOptions verify_;
  VerifyReport* const report_;
  ManifestState state_;
  PagePool pool_{1u << 20};
  SegmentTable segments_;
  std::map<Slot, Account> accounts_;  // of the family at hand, counted
  struct ValueOfEntry {
    ValueAddress address;
    std::size_t key_at;  // of values_keys_
    std::size_t key_size;
  };
  std::vector<ValueOfEntry> values_;  // of the family at hand, to be checked together
  std::string values_keys_;
  std::vector<std::shared_ptr<const cambium::Run>> newer_;  // of the same family, than the layer at hand
  std::uint64_t wrong_run_ = 0;       // the last one that was found wrong; no run is 0
  std::string buffer_;
};

}  // namespace

Status VerifyDB(const std::string& path, const Options& options, const VerifyOptions& verify, VerifyReport* report) {
  return VerifyDB(path, options, {ColumnFamilyDescriptor(kDefaultColumnFamilyName, options)}, verify, report);
}

Status VerifyDB(const std::string& path, const DBOptions& options, const std::vector<ColumnFamilyDescriptor>& families,
                const VerifyOptions& verify, VerifyReport* report) {
  CAMBIUM_RETURN_IF_ERROR(CheckDbOptions(options));
  for (const ColumnFamilyDescriptor& family : families) CAMBIUM_RETURN_IF_ERROR(CheckColumnFamilyOptions(family.options));
  *report = {};
  return Verifier(options, path, families, verify, report).Run();
}

}  // namespace cambium
