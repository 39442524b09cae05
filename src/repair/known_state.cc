#include "repair/known_state.h"

#include <algorithm>
#include <map>

#include "manifest/manifest_reader.h"
#include "repair/leaf_scan.h"
#include "repair/log_evidence.h"

namespace cambium {
namespace {

bool IsIndexFile(FileKind kind) {
  return kind == FileKind::kRun || kind == FileKind::kIndex || kind == FileKind::kRelocation ||
         kind == FileKind::kLargeValue;
}

// Returns the database id that most files with whole headers have.
std::optional<Id128> MostCommonDatabase(const std::vector<FoundFile>& files) {
  std::map<Id128, int> count;
  for (const FoundFile& file : files) {
    if (file.flaw.ok()) ++count[file.header.database_id];
  }
  const auto most = std::ranges::max_element(count, {}, [](const auto& each) { return each.second; });
  return most == count.end() ? std::optional<Id128>() : std::optional<Id128>(most->first);
}

std::vector<NumberedFile> NamedFiles(const ManifestState& state) {
  std::vector<NumberedFile> named;
  for (const auto& [number, info] : state.segments) named.push_back({FileKindOf(info.kind), number});
  for (const auto& [id, family] : state.families) {
    for (const RunInfo& run : family.runs) named.push_back({FileKind::kRun, run.number});
    for (const auto& [number, run] : family.level_runs) named.push_back({FileKind::kRun, number});
    for (const auto& [number, info] : family.index_segments) named.push_back({FileKind::kIndex, number});
  }
  return named;
}

// Whether a file of a tree has pages after its committed length.
bool HasUncommittedPages(Salvage* salvage) {
  for (const auto& [id, family] : salvage->state.families) {
    for (const auto& [number, info] : family.index_segments) {
      const FoundFile* const found = FindFile(&salvage->files, FileKind::kIndex, number);
      if (found == nullptr || !found->flaw.ok() || found->header.file_id != info.file_id) continue;
      Status why;
      const std::shared_ptr<const IndexFile> pages = OpenPages(*found, found->header, 0, &why);
      if (pages != nullptr && found->size > info.length && HasPageAt(*pages, info.length)) return true;
    }
  }
  return false;
}

// Returns whether the state counts as the last one, by the rules of ReadKnownState. If the log refers to something that
// the state does not know, sets *lacking to the place and to what is unknown; else to "".
Result<bool> IsLastState(Salvage* salvage, const Status& flaw, std::string* lacking) {
  const ManifestState& state = salvage->state;
  CAMBIUM_TRY(*lacking, FindUnknownToManifest(*salvage));
  if (!lacking->empty()) return false;
  std::uint64_t newest = 0;
  bool is_missing = false;
  for (const NumberedFile& named : NamedFiles(state)) {
    newest = std::max(newest, named.number);
    is_missing = is_missing || FindFile(&salvage->files, named.kind, named.number) == nullptr;
  }
  // A stray is an index file that the state does not name. If its number is smaller than that of a file that the state
  // names, a crash has left it: the state is newer than the stray, and would name it if it had been committed. Pages
  // after the committed length of a file are strays too.
  bool has_strays = HasUncommittedPages(salvage);
  for (const FoundFile& file : salvage->files) {
    has_strays = has_strays || (IsIndexFile(file.name.kind) && file.flaw.ok() && file.name.number > newest &&
                                file.header.database_id == state.database_id);
  }
  const bool is_damaged = !flaw.ok();
  return !(has_strays && (is_damaged || is_missing)) && !(is_damaged && is_missing);
}

}  // namespace

Status ReadKnownState(Salvage* salvage) {
  CAMBIUM_TRY(const std::vector<NumberedFile> all, ListNumberedFiles(salvage->fs, salvage->path));
  CAMBIUM_TRY(salvage->files, FindFiles(salvage->fs, salvage->path));
  CAMBIUM_TRY(ManifestRemains remains, ReadManifestRemains(salvage->fs, salvage->path));
  if (!remains.has_state && salvage->files.empty()) {
    return Status::InvalidArgument(salvage->path + ": holds no database" +
                                   (all.empty() ? "" : ", or one that was never written to"));
  }
  const std::optional<Id128> common = MostCommonDatabase(salvage->files);
  const bool is_ours = std::ranges::any_of(salvage->files, [&](const FoundFile& file) {
    return file.flaw.ok() && file.header.database_id == remains.state.database_id;
  });
  if (remains.has_state && common.has_value() && !is_ours) {
    remains.has_state = false;
    remains.mended.clear();
    remains.flaw = Status::Corruption(salvage->path + ": the MANIFEST belongs to another database");
  }
  for (const std::string& place : remains.mended) {
    ++salvage->report->mended;
    salvage->report->notes.push_back(place + ": damaged, and restored by checksums");
  }
  salvage->has_state = remains.has_state && remains.state.families.contains(0);
  if (salvage->has_state) {
    salvage->state = std::move(remains.state);
    std::string lacking;
    CAMBIUM_TRY(salvage->has_manifest, IsLastState(salvage, remains.flaw, &lacking));
    if (!salvage->has_manifest && remains.flaw.ok()) {
      remains.flaw = Status::Corruption(salvage->path + ": the MANIFEST has lost its end" +
                                        (lacking.empty() ? "" : ": it does not know what is at " + lacking));
    }
  } else {
    salvage->state = ManifestState();
    if (common.has_value()) salvage->state.database_id = *common;
    for (const FoundFile& file : salvage->files) {
      if (file.flaw.ok()) salvage->state.epoch = std::max(salvage->state.epoch, file.header.epoch);
    }
  }
  if (!remains.flaw.ok() && salvage->has_manifest) {
    // Edits after the flaw are lost, even if no file shows it.
    salvage->ReportLost({"", {}, {}, {}, 0, remains.flaw.ToString()});
  } else if (!remains.flaw.ok()) {
    salvage->report->notes.push_back(remains.flaw.ToString());
  }
  salvage->report->has_manifest = salvage->has_manifest;
  for (const FoundFile& file : salvage->files) salvage->bytes_all += file.size;
  return Status::OK();
}

void OpenSegments(Salvage* salvage) {
  // Assign slots: without a MANIFEST to all segments, otherwise to large values that the MANIFEST does not name,
  // because the log may refer to them.
  std::uint32_t next_slot = 0;
  if (salvage->has_manifest) {
    for (const auto& [number, info] : salvage->state.segments) {
      next_slot = std::max(next_slot, static_cast<std::uint32_t>(info.slot) + 1);
    }
    for (const Slot slot : salvage->state.shadowed_slots) {
      next_slot = std::max(next_slot, static_cast<std::uint32_t>(slot) + 1);
    }
  }
  for (const FoundFile& found : salvage->files) {
    const FileKind kind = found.name.kind;
    if (found.file == nullptr || kind == FileKind::kRun || kind == FileKind::kIndex) continue;
    const auto named = salvage->state.segments.find(found.name.number);
    const SegmentInfo* const info =
        named != salvage->state.segments.end() && FileKindOf(named->second.kind) == kind ? &named->second : nullptr;
    if (info == nullptr && salvage->has_manifest && kind != FileKind::kLargeValue) continue;
    FileHeader header = found.header;
    if (!found.flaw.ok()) {
      header.database_id = salvage->state.database_id;
      if (info != nullptr) {
        header.file_id = info->file_id;
        header.epoch = info->epoch;
      }
    }
    const bool has_slot = salvage->has_manifest && info != nullptr;
    const bool is_another =
        header.database_id != salvage->state.database_id || (has_slot && header.file_id != info->file_id);
    const bool lacks_slot = !has_slot && next_slot >= kSlotCountMax;
    if (is_another || lacks_slot) {
      // With a MANIFEST, only a large value that it does not name is left out: it cannot be live.
      const std::string why = is_another ? "belongs to another database" : "there are too many segments";
      if (!salvage->has_manifest) salvage->ReportLost({"", {}, {}, {}, 0, found.path + ":0: " + why});
      continue;
    }
    const Slot slot = has_slot ? info->slot : static_cast<Slot>(next_slot++);
    std::unique_ptr<File> file;
    const Status opened = salvage->fs.Open(found.path, OpenMode::kReadOnly, {}, &file);
    if (!opened.ok()) continue;  // FindFiles could open it a moment ago; RepairDB returns a Denied
    auto segment = std::make_shared<Segment>(found.name.number, slot, found.path, std::move(file), header, nullptr);
    if (info != nullptr) segment->SetHoles(info->punched, info->cut);
    salvage->segments = salvage->segments.With(slot, std::move(segment));
    salvage->slots[found.name.number] = slot;
  }
}

}  // namespace cambium
