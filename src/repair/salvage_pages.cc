#include "repair/salvage_pages.h"

#include <algorithm>

#include "index/run.h"
#include "vlog/value_reader.h"

namespace cambium {
namespace {

constexpr std::uint64_t kKeysAsked = 64;

class PageFiles {
 public:
  explicit PageFiles(Salvage* salvage) : salvage_(*salvage) {}

  Status Run() {
    for (const FoundFile& found : salvage_.files) {
      if (found.name.kind == FileKind::kRun || found.name.kind == FileKind::kIndex) {
        CAMBIUM_RETURN_IF_ERROR(Take(found));
      }
    }
    // Large values are taken in the order of their numbers, so the newest of each key counts. A large value replaces
    // what is noted for its key, unless a log record is noted for it.
    for (const FoundFile& found : salvage_.files) {
      if (found.name.kind == FileKind::kLargeValue) CAMBIUM_RETURN_IF_ERROR(TakeLarge(found));
    }
    return Status::OK();
  }

 private:
  // Takes a large value. Its record names family and key; the checksum of the value is checked when it is read.
  Status TakeLarge(const FoundFile& found) {
    const auto slot = salvage_.slots.find(found.name.number);
    if (slot == salvage_.slots.end()) return Status::OK();  // of another database, or unreadable: reported already
    const std::shared_ptr<Segment>& segment = salvage_.segments.Find(slot->second);
    char bytes[kRecordHeaderSize];
    std::size_t have = 0;
    Status read = segment->file().Read(kLargeRecordOffset, sizeof(bytes), bytes, &have);
    RecordHeader header;
    if (read.ok() && (have < sizeof(bytes) || DecodeRecordHeader(bytes, segment->seed(), kLargeRecordOffset, &header) !=
                                                  HeaderCheck::kValid)) {
      read = Status::Corruption(found.path + ":" + std::to_string(kLargeRecordOffset) +
                                ": record header checksum mismatch");
    }
    std::string key(read.ok() ? header.key_size : 0, '\0');
    if (read.ok()) {
      read = segment->file().Read(kLargeRecordOffset + kRecordHeaderSize, key.size(), key.data(), &have);
      if (read.ok() && have < key.size()) read = Status::Corruption(found.path + ": is cut off");
    }
    if (!read.ok()) {
      salvage_.ReportLost({"", {}, {}, {}, 0, read.ToString()});
      return Status::OK();
    }
    if (!salvage_.families.contains(header.family)) {
      const bool is_dropped = salvage_.has_state && header.family < salvage_.state.next_family_id;
      if (is_dropped) return Status::OK();
      salvage_.ReportLost({"", key, {}, {}, 1, found.path + ": a large value of column family " +
                                                 std::to_string(header.family) + ", of which nothing else was found"});
      return Status::OK();
    }
    CAMBIUM_TRY(std::optional<Note> note, salvage_.out->FindNote(header.family, key));
    if (note.has_value() && note->record_sequence != 0) return Status::OK();  // the log says more
    note.emplace();
    note->verdict = Note::Verdict::kInDoubt;
    note->address = ValueAddress::OwnFile(slot->second, header.RecordSize());
    return salvage_.out->SetNote(header.family, key, *note);
  }

  Status Take(const FoundFile& found) {
    salvage_.Advance(found.size);
    Status why;
    FileHeader expected = found.header;
    const std::shared_ptr<const IndexFile> file = OpenPages(found, expected, salvage_.state.epoch, &why);
    if (file == nullptr) {
      salvage_.ReportLost({"", {}, {}, {}, 0, why.ToString()});
      return Status::OK();
    }
    if (file->header().database_id != salvage_.state.database_id) {
      salvage_.ReportLost({"", {}, {}, {}, 0, found.path + ":0: belongs to another database"});
      return Status::OK();
    }
    CAMBIUM_TRY(const std::optional<std::uint32_t> family, FamilyOf(*file, found));
    if (!family.has_value()) return Status::OK();
    // After its pages, a run has a filter and a footer, which are not pages. If the footer is damaged, nothing says
    // where they begin. So non-pages in runs are not reported.
    before_.reset();
    // Keys ascend within the whole file only if it is one run, which has a footer. Each sweep that a file holds, and
    // each private run of a snapshot's file, begins again with its first key.
    const bool is_one_run =
        found.name.kind == FileKind::kRun && Run::ReadFooter(file->shared_file(), file->number()).ok();
    return ScanLeaves(
        *file, found.size,
        [&](const PageView& leaf) {
          if (!is_one_run) before_.reset();
          return TakeLeaf(*family, leaf);
        },
        [&](std::uint64_t offset) {
          if (found.name.kind != FileKind::kIndex) return;
          salvage_.ReportLost(salvage_.families.at(*family), KeySpan(), 0,
                            found.path + ":" + std::to_string(offset) + ": is not an index page");
        },
        nullptr);
  }

  Result<std::optional<std::uint32_t>> FamilyOf(const IndexFile& file, const FoundFile& found) {
    for (const auto& [id, state] : salvage_.state.families) {
      const bool is_its_run = std::ranges::any_of(state.runs, [&](const RunInfo& run) {
        return run.number == found.name.number && run.file_id == file.header().file_id;
      });
      const auto level = state.level_runs.find(found.name.number);
      const auto segment = state.index_segments.find(found.name.number);
      if (is_its_run || (level != state.level_runs.end() && level->second.info.file_id == file.header().file_id) ||
          (segment != state.index_segments.end() && segment->second.file_id == file.header().file_id)) {
        return std::optional<std::uint32_t>(id);
      }
    }
    if (salvage_.families.size() == 1) return std::optional<std::uint32_t>(salvage_.families.begin()->first);
    std::map<std::uint32_t, std::uint64_t> known;
    std::uint64_t asked = 0;
    std::uint64_t entries = 0;
    CAMBIUM_RETURN_IF_ERROR(ScanLeaves(
        file, found.size,
        [&](const PageView& leaf) {
          std::string scratch;
          entries += leaf.count();
          for (std::uint32_t i = 0; i < leaf.count() && asked < kKeysAsked; ++i, ++asked) {
            for (const auto& [id, family] : salvage_.families) {
              CAMBIUM_TRY(const std::optional<Note> note, salvage_.out->FindNote(id, leaf.key(i, &scratch)));
              if (note.has_value() && note->record_sequence != 0) ++known[id];
            }
          }
          return Status::OK();
        },
        nullptr, nullptr));
    const auto most = std::ranges::max_element(known, {}, [](const auto& each) { return each.second; });
    const bool is_sure = most != known.end() && std::ranges::count_if(known, [&](const auto& each) {
                                                  return each.second == most->second;
                                                }) == 1;
    if (is_sure) return std::optional<std::uint32_t>(most->first);
    if (entries > 0) {
      salvage_.ReportLost({"", {}, {}, {}, entries, found.path + ": index pages of an unknown family"});
    }
    return std::optional<std::uint32_t>();
  }

  Status TakeLeaf(std::uint32_t id, const PageView& leaf) {
    SalvagedFamily& family = salvage_.families.at(id);
    std::string scratch;
    for (std::uint32_t i = 0; i < leaf.count(); ++i) {
      const Slice key = leaf.key(i, &scratch);
      if (before_.has_value() && family.order->Compare(*before_, key) >= 0) family.is_order_wrong = true;
      before_ = key.ToString();
      const Entry entry = leaf.entry(i);
      if (entry.kind == EntryKind::kTombstone) continue;  // a tombstone of unknown age says nothing
      CAMBIUM_TRY(std::optional<Note> note, salvage_.out->FindNote(id, key));
      // In a tree's file, a later page is newer. Between files, the order is unknown.
      const bool is_known = note.has_value() && (note->record_sequence != 0 ||
                                                 (note->verdict == Note::Verdict::kInDoubt && entry.HasAddress()) ||
                                                 (note->verdict == Note::Verdict::kLost && entry.HasAddress()));
      if (is_known) continue;
      note.emplace();
      note->verdict = entry.HasAddress() ? Note::Verdict::kLost : Note::Verdict::kInDoubt;
      note->inline_value = entry.inline_value.ToString();
      CAMBIUM_RETURN_IF_ERROR(salvage_.out->SetNote(id, key, *note));
    }
    return Status::OK();
  }

  Salvage& salvage_;
  std::optional<std::string> before_;  // the previous key of the leaf, or of the run
};

}  // namespace

Status SalvagePages(Salvage* salvage) { return PageFiles(salvage).Run(); }

}  // namespace cambium
