// Verifies the layers of a family: every page of its runs and its tree, and the accounts that follow from the entries.
#include <algorithm>
#include <cassert>

#include "verify/verifier.h"
#include "index/tree_check.h"
#include "index/tree_cursor.h"

namespace cambium {
namespace {

// Returns all runs of a family, newest first: no run hides entries of one before it.
std::vector<RunInfo> NewestFirst(const FamilyState& family) {
  std::vector<RunInfo> runs = family.runs;
  std::vector<const LevelRun*> levels;
  for (const auto& [number, run] : family.level_runs) levels.push_back(&run);
  std::ranges::sort(levels, [](const LevelRun* a, const LevelRun* b) {
    return a->level != b->level ? a->level < b->level : a->tier > b->tier;
  });
  for (const LevelRun* const run : levels) runs.push_back(run->info);
  return runs;
}

// Returns the sweep's cursor if it applies to the run, else null. Entries of the run below the cursor are in the tree
// now: they are hidden, and no longer in the accounts. Null also if the cursor is empty, that is, before every key.
const std::string* CursorOf(const FamilyState& family, std::uint64_t run) {
  if (!family.sweep.has_value() || family.sweep->cursor.empty()) return nullptr;
  const bool is_swept = std::ranges::find(family.sweep->runs, run) != family.sweep->runs.end();
  return is_swept ? &family.sweep->cursor : nullptr;
}

}  // namespace

Status Verifier::CheckFamily(const FamilyState& family) {
  assert(values_.empty() && values_keys_.empty() && "the family before has ended with CheckValues");
  accounts_.clear();
  bool whole = true;  // every layer was walked to its end; only then are the sums compared
  bool is_tree_unread = false;
  FileSet tree_files;
  for (const auto& [number, info] : family.index_segments) {
    CAMBIUM_TRY(const auto file, OpenPages(FileKind::kIndex, number, info.file_id, info.length, &is_tree_unread));
    if (file != nullptr) tree_files = tree_files.With(file);
  }
  newer_.clear();
  for (const RunInfo& info : NewestFirst(family)) {
    bool unread = false;
    CAMBIUM_TRY(const auto file, OpenPages(FileKind::kRun, info.number, info.file_id, info.file_size, &unread));
    if (file == nullptr) {
      whole = false;
      continue;
    }
    // Read footer and filter, as Open does.
    const auto run = Run::Open(file->shared_file(), info, comparators_.at(family.id), &pool_);
    if (!run.ok()) CAMBIUM_RETURN_IF_ERROR(Found(run.status()));
    const std::string* const cursor = CursorOf(family, info.number);
    const FileSet files(file);
    const TreeOfPages tree{.root = info.root, .files = files, .run = run.ok() ? run->get() : nullptr, .cursor = cursor};
    CAMBIUM_RETURN_IF_ERROR(CheckTreeOfPages(family, tree, &whole));
    if (run.ok()) newer_.push_back({*run, cursor});
  }
  std::map<std::uint64_t, std::uint64_t> live_units;
  const TreeOfPages tree{.root = family.root, .files = tree_files, .live_units = &live_units};
  if (is_tree_unread) {
    whole = false;  // pages in the unreadable file would all be reported as damage
  } else {
    CAMBIUM_RETURN_IF_ERROR(CheckTreeOfPages(family, tree, &whole));
  }
  CAMBIUM_RETURN_IF_ERROR(CheckValues(family));
  if (!whole) return Status::OK();
  for (const auto& [number, info] : family.index_segments) {
    if (live_units[number] == info.live_units) continue;
    Problem(FilePath(path_, FileKind::kIndex, number) + ": the MANIFEST counts " + std::to_string(info.live_units) +
            " live page units, and the tree reaches " + std::to_string(live_units[number]));
  }
  return CheckAccounts(family);
}

Status Verifier::CheckTreeOfPages(const FamilyState& family, const TreeOfPages& tree, bool* whole) {
  const Comparator& order = *comparators_.at(family.id);
  TreeCheckCallbacks callbacks;
  callbacks.on_entry = [&](Slice key, const Entry& entry) {
    ++report_->entries;
    if (tree.cursor != nullptr && order.Compare(key, *tree.cursor) < 0) return Status::OK();
    if (tree.run != nullptr) CAMBIUM_RETURN_IF_ERROR(CheckInRun(order, *tree.run, key));
    return CheckEntry(family, key, entry);
  };
  callbacks.on_page = [&](const PageView& page) {
    if (tree.live_units != nullptr) (*tree.live_units)[FileNumberOf(page.id())] += UnitsOf(page.id());
    if (verify_.progress) verify_.progress(std::min(report_->bytes_read, work_), work_);
    return Status::OK();
  };
  // If a sweep has merged a part of the run, damage is judged after the walk.
  const bool may_be_dead = tree.cursor != nullptr && tree.run != nullptr;
  std::vector<Status> damage;
  std::uint64_t damage_count = 0;
  callbacks.on_damage = [&](const Status& s) {
    *whole = false;
    if (!may_be_dead || !s.IsCorruption()) return Found(s);
    ++damage_count;
    if (damage.size() < VerifyReport::kListedMax) damage.push_back(s);
    return Status::OK();
  };
  TreeCheckStats stats;
  const Status checked = CheckTree(tree.root, tree.files, &order, callbacks, &stats);
  report_->pages += stats.leaves + stats.branches;
  CountRead(stats.page_bytes);
  if (!checked.ok()) CAMBIUM_RETURN_IF_ERROR(callbacks.on_damage(checked));
  return damage.empty() ? Status::OK() : JudgeDamage(family, tree, damage, damage_count);
}

Status Verifier::JudgeDamage(const FamilyState& family, const TreeOfPages& tree, const std::vector<Status>& damage,
                             std::uint64_t count) {
  const Status still_read = ReadFromCursor(family, tree);
  assert(!damage.empty() && count >= damage.size());
  const std::uint64_t not_kept = count - damage.size();
  if (still_read.ok()) {
    for (const Status& each : damage) CAMBIUM_RETURN_IF_ERROR(FoundDead(each));
    report_->dead_damage_count += not_kept;
    return Status::OK();
  }
  // At least some of the damage makes reads fail, but we do not know which part. So report all of it as problems.
  const auto is_same = [&](const Status& each) { return each.message() == still_read.message(); };
  if (std::ranges::none_of(damage, is_same)) CAMBIUM_RETURN_IF_ERROR(Found(still_read));
  for (const Status& each : damage) CAMBIUM_RETURN_IF_ERROR(Found(each));
  report_->problem_count += not_kept;
  return Status::OK();
}

// Reads and the sweep need the pages from the cursor on, and the branches above them. These are whole if a TreeCursor
// can walk there as reads and the sweep do. A backward scan also reads the last key before the cursor, so step back
// once.
Status Verifier::ReadFromCursor(const FamilyState& family, const TreeOfPages& tree) {
  assert(tree.run != nullptr && tree.cursor != nullptr && "only a run that is swept has a cursor");
  TreeCursor cursor(tree.root, tree.run->files(), &pool_, comparators_.at(family.id));
  Slice key;
  for (cursor.Seek(*tree.cursor); cursor.Valid() && cursor.Advance(true, &key);) {
  }
  CAMBIUM_RETURN_IF_ERROR(cursor.status());
  cursor.Seek(*tree.cursor);
  if (cursor.Valid()) {
    cursor.Prev();
  } else {
    cursor.SeekToLast();
  }
  CAMBIUM_RETURN_IF_ERROR(cursor.status());
  for (cursor.Seek(*tree.cursor); cursor.Valid(); cursor.Next()) {
    CAMBIUM_RETURN_IF_ERROR(CheckEntry(family, cursor.key(), cursor.entry()));
  }
  return cursor.status();
}

Status Verifier::CheckInRun(const Comparator& order, const cambium::Run& run, Slice key) {
  const RunInfo& info = run.info();
  if (info.number == wrong_run_) return Status::OK();
  const char* wrong = nullptr;
  const int at_largest = order.Compare(key, info.largest_key);
  if (order.Compare(key, info.smallest_key) < 0 || at_largest > 0 || (at_largest == 0 && info.largest_is_open)) {
    wrong = "is outside the key range that the MANIFEST has for this run";
  } else if (!run.MayContain(key)) {
    wrong = "is missing from the run's filter";
  }
  if (wrong == nullptr) return Status::OK();
  wrong_run_ = info.number;
  return Found(Status::Corruption(FilePath(path_, FileKind::kRun, info.number) + ": key " +
                                  key.ToString(true).substr(0, 64) + " " + wrong));
}

Status Verifier::CheckAccounts(const FamilyState& family) {
  for (const auto& [slot, account] : accounts_) {
    report_->live_references += static_cast<std::uint64_t>(account.references);
    report_->live_bytes += static_cast<std::uint64_t>(account.bytes);
    const auto recorded = family.accounts.find(slot);
    if (recorded == family.accounts.end() || recorded->second != account) ReportAccount(family, slot, account);
  }
  for (const auto& [slot, account] : family.accounts) {
    if (!accounts_.contains(slot)) ReportAccount(family, slot, {});
  }
  return Status::OK();
}

void Verifier::ReportAccount(const FamilyState& family, Slot slot, const Account& counted) {
  const auto recorded = family.accounts.find(slot);
  const Account account = recorded == family.accounts.end() ? Account{} : recorded->second;
  Problem("account of slot " + std::to_string(static_cast<std::uint32_t>(slot)) + " in family " + family.name +
          ": the MANIFEST says " + std::to_string(account.references) + " references and " +
          std::to_string(account.bytes) + " bytes, the layers hold " + std::to_string(counted.references) + " and " +
          std::to_string(counted.bytes));
}

}  // namespace cambium
