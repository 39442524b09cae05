#include "backup/damage_judge.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "index/index_file.h"
#include "index/page_format.h"
#include "util/mutant.h"

namespace cambium {
namespace {

using OnEntry = std::function<Status(const Entry&)>;

// Visits all entries of a tree. Does not need the order of its keys.
Status VisitEntries(const TreeRoot& root, const FileSet& files, const OnEntry& on_entry,
                    const std::function<Status()>& go_on) {
  if (root.height == 0) return Status::OK();
  if (root.height > kMaxTreeHeight) return Status::Corruption("tree of " + std::to_string(root.height) + " levels");
  struct Due {
    PagePointer page;
    unsigned level;
  };
  std::vector<Due> due = {{root.page, root.height - 1}};
  std::vector<char> bytes;
  while (!due.empty()) {
    const Due next = due.back();
    due.pop_back();
    CAMBIUM_RETURN_IF_ERROR(go_on());
    CAMBIUM_TRY(const IndexFile* file, files.FileOf(next.page.id));
    CAMBIUM_RETURN_IF_ERROR(file->ReadAndExpandPage(next.page.id, &bytes));
    const std::uint64_t offset = file->OffsetOf(next.page.id);
    CAMBIUM_TRY(const PageView page, PageView::Parse({bytes.data(), bytes.size()}, file->path(), offset));
    if (page.checksum() != next.page.checksum || page.level() != next.level) {
      return Status::Corruption("not the page that its parent expects")
          .WithContext(PagePlaceName(file->path(), offset));
    }
    for (std::uint32_t i = 0; i < page.count(); ++i) {
      if (page.is_leaf()) {
        CAMBIUM_RETURN_IF_ERROR(on_entry(page.entry(i)));
      } else {
        due.push_back({page.child_pointer(i), next.level - 1});
      }
    }
  }
  return Status::OK();
}

class Judge {
 public:
  Judge(FileSystem& fs, const ManifestState& state, const PathOf& path_of, const std::function<Status()>& go_on)
      : fs_(fs), state_(state), path_of_(path_of), go_on_(go_on) {}

  Status Run(const std::vector<FileDamage>& damage) {
    const FileDamage* page = nullptr;  // the first damaged page
    bool needs_walk = false;
    for (const FileDamage& each : damage) {
      if (each.part == DamagedPart::kNeeded || IsReplayed(each) || IsFooterMissed(each, damage)) return Counts(each);
      if (each.part == DamagedPart::kPages && page == nullptr) page = &each;
      if (each.part == DamagedPart::kRecords) records_[state_.segments.at(each.file.number).slot].push_back(&each);
      needs_walk = needs_walk || each.part != DamagedPart::kFooter;
    }
    if (!needs_walk) return Status::OK();
    const Status walked = Walk();
    // A damaged page that the layers reach ends the walk.
    return walked.IsCorruption() && counting_ == nullptr && page != nullptr ? Counts(*page) : walked;
  }

 private:
  static Status Counts(const FileDamage& damage) { return Status::Corruption(damage.what); }

  // Whether recovery would read it.
  [[nodiscard]] bool IsReplayed(const FileDamage& damage) const {
    return damage.part == DamagedPart::kRecords && damage.file.kind == FileKind::kLog &&
           LogPosition{damage.file.number, damage.end} > state_.replay;
  }

  // Log GC walks the records of a segment that has no whole footer. Then it needs each of them, dead ones too.
  [[nodiscard]] bool IsFooterMissed(const FileDamage& damage, const std::vector<FileDamage>& all) const {
    return damage.part == DamagedPart::kFooter && std::ranges::any_of(all, [&](const FileDamage& each) {
             return each.file == damage.file && each.part == DamagedPart::kRecords;
           });
  }

  Status TakeEntry(const Entry& entry) {
    if (entry.kind != EntryKind::kValue || MutantIs(Mutant::kBackupTakesDamageForDead)) return Status::OK();
    const auto records = records_.find(entry.address.slot());
    if (records == records_.end()) return Status::OK();
    const auto hit = std::ranges::find_if(records->second, [&](const FileDamage* each) {
      return entry.address.offset() >= each->offset && entry.address.offset() < each->end;
    });
    if (hit == records->second.end()) return Status::OK();
    counting_ = *hit;
    return Counts(**hit);
  }

  Status Walk() {
    for (const auto& [id, family] : state_.families) {
      FileSet segments;
      for (const auto& [number, info] : family.index_segments) {
        CAMBIUM_TRY(const auto file, OpenPages({FileKind::kIndex, number}));
        segments = segments.With(file);
      }
      CAMBIUM_RETURN_IF_ERROR(Visit(family.root, segments));
      for (const RunInfo& run : family.runs) CAMBIUM_RETURN_IF_ERROR(VisitRun(run));
      for (const auto& [number, run] : family.level_runs) CAMBIUM_RETURN_IF_ERROR(VisitRun(run.info));
    }
    return Status::OK();
  }
  Status VisitRun(const RunInfo& run) {
    CAMBIUM_TRY(const auto file, OpenPages({FileKind::kRun, run.number}));
    return Visit(run.root, FileSet().With(file));
  }
  Status Visit(const TreeRoot& root, const FileSet& files) {
    return VisitEntries(
        root, files, [this](const Entry& entry) { return TakeEntry(entry); }, go_on_);
  }
  Result<std::shared_ptr<const IndexFile>> OpenPages(const NumberedFile& name) {
    std::unique_ptr<File> file;
    CAMBIUM_RETURN_IF_ERROR(fs_.Open(path_of_(name), OpenMode::kReadOnly, {}, &file));
    return IndexFile::Open(std::move(file), name.kind, name.number, nullptr);
  }

  FileSystem& fs_;
  const ManifestState& state_;
  const PathOf& path_of_;
  const std::function<Status()>& go_on_;
  std::map<Slot, std::vector<const FileDamage*>> records_;  // damaged, by their segment
  const FileDamage* counting_ = nullptr;                    // records that an entry refers to
};

}  // namespace

Status JudgeDamage(FileSystem& fs, const ManifestState& state, const PathOf& path_of,
                   const std::vector<FileDamage>& damage, const std::function<void(const std::string&)>& on_dead,
                   const std::function<Status()>& go_on) {
  CAMBIUM_RETURN_IF_ERROR(Judge(fs, state, path_of, go_on).Run(damage));
  for (const FileDamage& each : damage) {
    if (on_dead) on_dead(each.what);
  }
  return Status::OK();
}

}  // namespace cambium
