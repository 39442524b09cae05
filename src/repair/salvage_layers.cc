#include "repair/salvage_layers.h"

#include <algorithm>
#include <cassert>
#include <functional>
#include <iterator>
#include <set>
#include <tuple>

#include "index/run.h"
#include "repair/orphan_leaves.h"

namespace cambium {
namespace {

// Runs with disjoint key ranges: one run of the stack, or those of a tier.
struct Group {
  std::vector<RunInfo> runs;
  std::optional<std::string> first_visible;  // a sweep has moved the entries below this key into the tree
};

std::vector<Group> NewestFirst(const FamilyState& state) {
  std::vector<Group> groups;
  for (const RunInfo& run : state.runs) {
    groups.push_back({{run}, std::nullopt});
    if (state.sweep.has_value() && !state.sweep->cursor.empty() &&
        std::ranges::find(state.sweep->runs, run.number) != state.sweep->runs.end()) {
      groups.back().first_visible = state.sweep->cursor;
    }
  }
  std::vector<const LevelRun*> placed;
  for (const auto& [number, run] : state.level_runs) placed.push_back(&run);
  const auto place = [](const LevelRun* run) { return std::tuple(run->level, ~run->tier); };
  std::ranges::sort(placed, {}, place);
  for (std::size_t i = 0; i < placed.size(); ++i) {
    if (i == 0 || place(placed[i]) != place(placed[i - 1])) groups.emplace_back();
    groups.back().runs.push_back(placed[i]->info);
  }
  return groups;
}

class FamilyLayers {
 public:
  FamilyLayers(Salvage* salvage, std::uint32_t id)
      : salvage_(*salvage), id_(id), state_(salvage->state.families.at(id)), family_(salvage->families.at(id)) {}

  Status Run() {
    const std::vector<Group> groups = NewestFirst(state_);
    const bool has_tree = state_.root.height > 0;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      is_last_ = i + 1 == groups.size() && !has_tree;
      CAMBIUM_RETURN_IF_ERROR(TakeGroup(groups[i]));
    }
    is_last_ = true;
    return TakeTree();
  }

 private:
  using KeyRange = std::pair<std::optional<std::string>, std::optional<std::string>>;  // both included

  Status TakeGroup(const Group& group) {
    assert(!group.runs.empty());
    std::vector<SalvagedFamily::Ranges> ranges;
    lost_.clear();
    for (const RunInfo& run : group.runs) CAMBIUM_RETURN_IF_ERROR(TakeRun(group, run, &ranges));
    ++depth_;
    for (SalvagedFamily::Ranges& each : ranges) {
      each.depth = depth_;
      family_.ranges.push_back(std::move(each));
    }
    for (SalvagedFamily::Gaps& each : lost_) {
      each.depth = depth_;
      family_.gaps.push_back(std::move(each));
    }
    return Status::OK();
  }

  // Loses a whole run. Its key range in the MANIFEST bounds the loss.
  void LoseRun(const Group& group, const RunInfo& run, std::uint64_t entries, const std::string& why) {
    lost_.emplace_back(family_.order);
    LoseKeys(group, {run.smallest_key, run.largest_key}, entries, why);
  }

  // Reports a lost key range and adds a gap. Returns true, and does neither, if the tree has all its entries.
  bool LoseKeys(const Group& group, KeyRange range, std::uint64_t entries, const std::string& why) {
    const auto& visible = group.first_visible;
    if (visible.has_value() && range.second.has_value() && Compare(*range.second, *visible) < 0) {
      salvage_.report->notes.push_back(why + "; a sweep has moved its entries into the tree");
      return true;
    }
    salvage_.ReportLost(family_, {range.first, range.second}, entries, why);
    AddGap(group, std::move(range));
    return false;
  }

  // Adds a gap to the last element of lost_.
  void AddGap(const Group& group, KeyRange range) {
    assert(!lost_.empty());
    const auto& visible = group.first_visible;
    if (visible.has_value() && (!range.first.has_value() || Compare(*range.first, *visible) < 0)) range.first = visible;
    lost_.back().keys.Add(range.first, range.second);
  }

  Status TakeRun(const Group& group, const RunInfo& run, std::vector<SalvagedFamily::Ranges>* ranges) {
    const std::string path = FilePath(salvage_.path, FileKind::kRun, run.number);
    Status why;
    const std::shared_ptr<const IndexFile> pages =
        Open(FileKind::kRun, run.number, run.file_id, state_.PageSizeOf(run), &why);
    if (pages == nullptr) {
      LoseRun(group, run, run.root.entry_count, why.ToString());
      return Status::OK();
    }
    if (run.range_delete_count > 0) {
      Result<std::shared_ptr<const RangeDeletes>> read = ReadRanges(*pages, run);
      if (read.ok()) {
        ranges->push_back({*read, group.first_visible, 0});
      } else {
        LoseRun(group, run, 0,
                read.status().ToString() + ", " + std::to_string(run.range_delete_count) + " range deletes");
      }
    }
    std::uint64_t entries = 0;
    std::optional<std::string> before = run.smallest_key;
    std::optional<std::uint64_t> hole;
    std::vector<std::pair<KeyRange, std::uint64_t>> holes;
    std::string scratch;
    // Leaves are in key order, so keys lost between two leaves are between them in key order too.
    CAMBIUM_RETURN_IF_ERROR(ScanLeaves(
        *pages, run.file_size,
        [&](const PageView& leaf) {
          if (leaf.count() == 0) return Status::OK();
          if (hole.has_value()) holes.push_back({{before, leaf.key(0, &scratch).ToString()}, *hole});
          hole.reset();
          entries += leaf.count();
          before = leaf.key(leaf.count() - 1, &scratch).ToString();
          return TakeLeaf(leaf, group.first_visible);
        },
        [&](std::uint64_t offset) {
          if (!hole.has_value()) hole = offset;
        },
        nullptr));
    salvage_.Advance(run.file_size);
    if (entries == run.root.entry_count) return Status::OK();  // only branches or non-pages are damaged
    if (hole.has_value()) holes.push_back({{before, run.largest_key}, *hole});
    if (holes.empty()) holes.push_back({{run.smallest_key, run.largest_key}, 0});
    lost_.emplace_back(family_.order);
    if (family_.order->EqualMeansSameBytes()) {
      Result<std::shared_ptr<const Filter>> filter = cambium::Run::ReadItsFilter(*pages, run.file_size);
      if (filter.ok()) lost_.back().filter = *filter;
    }
    std::uint64_t missing = run.root.entry_count - std::min(entries, run.root.entry_count);
    for (auto& [range, offset] : holes) {
      const bool is_carried = LoseKeys(group, std::move(range), missing,
                                       path + ":" + std::to_string(offset) + ": index pages are damaged");
      if (!is_carried) missing = 0;
    }
    return Status::OK();
  }

  Result<std::shared_ptr<const RangeDeletes>> ReadRanges(const IndexFile& pages, const RunInfo& run) const {
    Result<std::shared_ptr<const RangeDeletes>> read =
        cambium::Run::ReadRangeDeletes(pages, run.file_size, family_.order);
    if (read.ok() && *read == nullptr) return Status::Corruption(pages.path() + ": has no range deletes");
    return read;
  }

  // ---- The tree ----

  struct LostPage {
    KeySpan span;
    unsigned level = 0;
    ChildRef ref;
    std::string why;
  };

  Status TakeTree() {
    FileSet files;
    bool is_all_live = true;  // no page of the files was replaced, so every whole page counts
    for (const auto& [number, info] : state_.index_segments) {
      Status why;
      const std::shared_ptr<const IndexFile> pages =
          Open(FileKind::kIndex, number, info.file_id, state_.page_size, &why);
      if (pages != nullptr) files = files.With(pages);
      is_all_live = is_all_live && pages != nullptr && info.live_units == info.length / pages->page_size() - 1;
      if (pages == nullptr) salvage_.report->notes.push_back(why.ToString());
      salvage_.Advance(info.length);
    }
    std::vector<LostPage> lost;
    LeafVisitor visitor;
    visitor.on_leaf = [&](const PageView& leaf) { return TakeLeaf(leaf, std::nullopt); };
    visitor.on_lost = [&](const KeySpan& span, unsigned level, const ChildRef& ref, const Status& why) {
      lost.push_back({span, level, ref, why.ToString()});
      return Status::OK();
    };
    CAMBIUM_RETURN_IF_ERROR(WalkTree(state_.root, files, visitor));
    if (lost.empty()) return Status::OK();
    if (!is_all_live) CAMBIUM_RETURN_IF_ERROR(TakeKnownOrphans(files, &lost));
    if (lost.empty()) return Status::OK();

    std::uint64_t missing = 0;
    for (const LostPage& page : lost) missing += page.ref.entry_count;
    std::uint64_t found = 0;
    for (const auto& file : files.files()) {
      const std::uint64_t length = state_.index_segments.find(file->number())->second.length;
      const auto take = [&](const PageView& leaf) { return TakeOrphans(leaf, lost, is_all_live, &found); };
      CAMBIUM_RETURN_IF_ERROR(ScanLeaves(*file, length, take, nullptr, nullptr));
    }
    if (is_all_live && found == missing) {
      for (const LostPage& page : lost) salvage_.report->notes.push_back(page.why + "; all leaves below it were found");
      return Status::OK();
    }
    family_.gaps.emplace_back(family_.order);
    family_.gaps.back().depth = depth_ + 1;
    for (const LostPage& page : lost) {
      family_.gaps.back().keys.Add(page.span.from, page.span.to);
      salvage_.ReportLost(family_, page.span, page.ref.entry_count, page.why);
    }
    return Status::OK();
  }

  // Takes the leaves below lost branches if they can be told from replaced ones (orphan_leaves.h), and removes these
  // branches from *lost. With a compaction filter it takes none: a sweep that failed may have left other leaves, with
  // filtered entries.
  Status TakeKnownOrphans(const FileSet& files, std::vector<LostPage>* lost) {
    const auto is_branch = [](const LostPage& page) { return page.level > 0; };
    if (family_.is_filtered || std::ranges::none_of(*lost, is_branch)) return Status::OK();
    std::vector<LostPage> branches;
    std::ranges::copy_if(*lost, std::back_inserter(branches), is_branch);
    std::vector<OrphanLeaves::Branch> sought;
    for (const LostPage& page : branches) sought.push_back({page.span, page.ref.entry_count, page.ref.value_bytes});
    OrphanLeaves orphans(family_.order, std::move(sought));
    const auto add = [&](const PageView& leaf) {
      orphans.Add(leaf);
      return Status::OK();
    };
    for (const auto& [number, info] : state_.index_segments) {
      const IndexFile* const file = files.Find(number);
      if (file == nullptr) return Status::OK();
      std::uint64_t units = 0;
      std::set<PageId> missed;  // the lost pages of this file that ScanLeaves does not find whole
      for (const LostPage& page : *lost) {
        if (FileNumberOf(page.ref.page.id) == number) missed.insert(page.ref.page.id);
      }
      CAMBIUM_RETURN_IF_ERROR(ScanLeaves(*file, info.length, add, nullptr, [&](PageId page) {
        units += UnitsOf(page);
        missed.erase(page);
      }));
      for (const PageId page : missed) units += UnitsOf(page);
      if (units != info.length / file->page_size() - 1) return Status::OK();  // pages other than the lost are damaged
    }
    orphans.Choose();
    for (const auto& file : files.files()) {
      const std::uint64_t length = state_.index_segments.find(file->number())->second.length;
      const auto take = [&](const PageView& leaf) {
        return orphans.IsLive(leaf.id()) ? TakeLeaf(leaf, std::nullopt) : Status::OK();
      };
      CAMBIUM_RETURN_IF_ERROR(ScanLeaves(*file, length, take, nullptr, nullptr));
    }
    for (std::size_t i = 0; i < branches.size(); ++i) {
      if (!orphans.IsKnown(i)) continue;
      salvage_.report->notes.push_back(branches[i].why + "; all leaves below it were found");
      std::erase_if(*lost, [&](const LostPage& page) { return page.ref == branches[i].ref; });
    }
    return Status::OK();
  }

  // Takes the entries of a leaf that are below a lost page. Unless `is_live`, the leaf may have been replaced.
  Status TakeOrphans(const PageView& leaf, const std::vector<LostPage>& lost, bool is_live, std::uint64_t* found) {
    std::string scratch;
    for (std::uint32_t i = 0; i < leaf.count(); ++i) {
      const Slice key = leaf.key(i, &scratch);
      // WalkTree reports lost pages in key order, so their spans are sorted and disjoint.
      const auto next = std::ranges::partition_point(lost, [&](const LostPage& page) {
        return !page.span.from.has_value() || Compare(*page.span.from, key) <= 0;
      });
      if (next == lost.begin()) continue;
      const std::optional<std::string>& to = std::prev(next)->span.to;
      if (to.has_value() && Compare(key, *to) >= 0) continue;
      ++*found;
      CAMBIUM_RETURN_IF_ERROR(is_live ? TakeEntry(key, leaf.entry(i)) : TakeOrphan(key, leaf.entry(i)));
    }
    return Status::OK();
  }

  // Takes an entry that may have been replaced: notes it unless there is a better note. Pages are visited in the order
  // in which they were written.
  Status TakeOrphan(Slice key, const Entry& entry) {
    CAMBIUM_TRY(const std::optional<Note> known, salvage_.out->FindNote(id_, key));
    if (known.has_value() && known->verdict != Note::Verdict::kOrphan) return Status::OK();
    if (entry.kind == EntryKind::kTombstone || family_.IsDeleted(key)) return Status::OK();
    Note note;
    if (!MakeDoubt(key, entry, &note).ok()) return Status::OK();  // log GC may have removed its segment
    note.verdict = Note::Verdict::kOrphan;
    if (known.has_value() && note.sequence < known->sequence) return Status::OK();
    return salvage_.out->SetNote(id_, key, note);
  }

  // ---- Entries ----

  Status TakeLeaf(const PageView& leaf, const std::optional<std::string>& first_visible) {
    std::string scratch;
    for (std::uint32_t i = 0; i < leaf.count(); ++i) {
      const Slice key = leaf.key(i, &scratch);
      if (first_visible.has_value() && Compare(key, *first_visible) < 0) continue;
      CAMBIUM_RETURN_IF_ERROR(TakeEntry(key, leaf.entry(i)));
    }
    return Status::OK();
  }

  Status TakeEntry(Slice key, const Entry& entry) {
    CAMBIUM_TRY(const std::optional<Note> known, salvage_.out->FindNote(id_, key));
    if (known.has_value() || family_.IsDeleted(key)) return Status::OK();  // a newer layer decides
    Note note;
    const bool is_in_doubt = family_.IsInDoubt(key);
    if (entry.kind == EntryKind::kTombstone) {
      note.verdict = is_in_doubt ? Note::Verdict::kDeletedInDoubt : Note::Verdict::kDeleted;
      return salvage_.out->SetNote(id_, key, note);
    }
    Slice value = entry.inline_value;
    SequenceNumber sequence = 0;
    if (entry.HasAddress()) {
      const Status read = salvage_.ReadAt(id_, key, entry.address, &value, &sequence);
      if (EndsSalvage(read)) return read;
      if (!read.ok()) {
        note.verdict = Note::Verdict::kLost;
        family_.has_lost_values = true;
        salvage_.ReportLost(family_, key, read.ToString());
        return salvage_.out->SetNote(id_, key, note);
      }
    }
    if (is_in_doubt) {
      note.verdict = Note::Verdict::kInDoubt;
      note.sequence = sequence;
      if (entry.HasAddress()) {
        note.address = entry.address;
      } else {
        note.inline_value = value.ToString();
      }
    } else {
      CAMBIUM_RETURN_IF_ERROR(salvage_.out->Put(id_, key, value));
      if (is_last_) return Status::OK();  // no older layer needs the note, and most keys are in this layer
      note.verdict = Note::Verdict::kValue;
    }
    return salvage_.out->SetNote(id_, key, note);
  }

  Status MakeDoubt(Slice key, const Entry& entry, Note* note) {
    if (!entry.HasAddress()) {
      note->inline_value = entry.inline_value.ToString();
      return Status::OK();
    }
    Slice value;
    note->address = entry.address;
    return salvage_.ReadAt(id_, key, entry.address, &value, &note->sequence);
  }

  std::shared_ptr<const IndexFile> Open(FileKind kind, std::uint64_t number, const Id128& file_id,
                                        std::uint64_t page_size, Status* why) {
    const FoundFile* const found = FindFile(&salvage_.files, kind, number);
    if (found == nullptr) {
      *why = Status::Corruption(FilePath(salvage_.path, kind, number) + ": is missing");
      return nullptr;
    }
    FileHeader expected;
    expected.kind = kind;
    expected.number = number;
    expected.database_id = salvage_.state.database_id;
    expected.file_id = file_id;
    expected.page_size = page_size;
    std::shared_ptr<const IndexFile> pages = OpenPages(*found, expected, salvage_.state.epoch, why);
    if (pages != nullptr && pages->header().file_id == file_id && pages->page_size() == page_size) return pages;
    if (why->ok()) *why = Status::Corruption(found->path + ":0: is another file than the committed one");
    return nullptr;
  }

  [[nodiscard]] int Compare(Slice a, Slice b) const { return family_.order->Compare(a, b); }

  Salvage& salvage_;
  const std::uint32_t id_;
  const FamilyState& state_;
  SalvagedFamily& family_;
  std::vector<SalvagedFamily::Gaps> lost_;  // gaps of the current group
  std::size_t depth_ = 0;                   // of the last group read
  bool is_last_ = false;                    // the current layer is the oldest
};

}  // namespace

Status SalvageLayers(Salvage* salvage) {
  for (const auto& [id, state] : salvage->state.families) CAMBIUM_RETURN_IF_ERROR(FamilyLayers(salvage, id).Run());
  return Status::OK();
}

}  // namespace cambium
