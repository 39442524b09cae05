#include "manifest/apply_edit.h"

#include <algorithm>
#include <cassert>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "cambium/comparator.h"
#include "manifest/file_names.h"
#include "manifest/state_check.h"
#include "util/mutant.h"

namespace cambium {
namespace {

Status Misfit(const std::string& what) { return Status::Corruption("edit does not fit the state: " + what); }

// Only in a mutant: the order of layers is that of their file numbers.
void OrderLayersByNumber(std::vector<RunInfo>* layers) {
  if (MutantIs(Mutant::kLayersByNumber)) std::ranges::sort(*layers, std::greater<>(), &RunInfo::number);
}

// Sets *value to `wanted`, if the edit has it. Returns an error if that decreases *value.
template <typename T>
Status Raise(const std::optional<T>& wanted, const char* what, T* value) {
  if (!wanted.has_value()) return Status::OK();
  if (*wanted < *value) return Misfit(std::string(what) + " decreases");
  *value = *wanted;
  return Status::OK();
}

// Only in a mutant: copies all files of a family.
void CopyFiles(FamilyState* family) {
  if (!MutantIs(Mutant::kEditCopiesFamily)) return;
  family->runs = std::vector<RunInfo>(family->runs.begin(), family->runs.end());
  LevelRuns level_runs;
  for (const auto& run : family->level_runs) level_runs.Set(run);
  family->level_runs = std::move(level_runs);
}

// Moves all nodes of `from`, which replace those of `to` with the same keys. Allocates nothing.
template <typename Map>
void MoveNodes(Map* from, Map* to) {
  while (!from->empty()) {
    auto moved = to->insert(from->extract(from->begin()));
    if (!moved.inserted) moved.position->second = std::move(moved.node.mapped());
  }
}

// Erases an entry that StageEdit has found there.
template <typename Container>
void EraseKnown(const typename Container::key_type& key, Container* from) {
  [[maybe_unused]] const std::size_t erased = from->erase(key);
  assert(erased == 1);
}

std::uint64_t SizeOf(const LevelRun& run) { return run.info.disk_bytes(); }
std::uint64_t SizeOf(const IndexSegmentInfo& segment) { return segment.length; }

std::uint64_t BytesOf(const SharedVector<RunInfo>& runs) {
  std::uint64_t bytes = 0;
  for (const RunInfo& run : runs) bytes += run.disk_bytes();
  return bytes;
}

// The changes of a family's files of one kind, by number. They are made all at once, so that the table copies each of
// its nodes once.
template <typename File>
class FileChanges {
 public:
  using Table = SharedTable<std::pair<std::uint64_t, File>>;
  explicit FileChanges(const Table& before) : before_(before) {}

  // Returns the file as changed so far; null if there is none.
  [[nodiscard]] const File* Find(std::uint64_t number) const {
    if (const auto changed = changes_.find(number); changed != changes_.end()) {
      return changed->second.has_value() ? &*changed->second : nullptr;
    }
    const auto known = before_.find(number);
    return known == before_.end() ? nullptr : &known->second;
  }
  void Set(std::uint64_t number, File file) { changes_.insert_or_assign(number, std::move(file)); }
  void Remove(std::uint64_t number) { changes_.insert_or_assign(number, std::nullopt); }
  // The files that the edit adds or changes, and those that it removes, which have no value.
  [[nodiscard]] const std::map<std::uint64_t, std::optional<File>>& all() const { return changes_; }
  // Returns the bytes by which the changes make the files larger, modulo 2^64.
  [[nodiscard]] std::uint64_t AddedBytes() const {
    std::uint64_t added = 0;
    for (const auto& [number, file] : changes_) {
      if (const auto known = before_.find(number); known != before_.end()) added -= SizeOf(known->second);
      if (file.has_value()) added += SizeOf(*file);
    }
    return added;
  }
  // Returns the table with the changes.
  [[nodiscard]] Table Made() const {
    std::vector<typename Table::Change> changes;
    changes.reserve(changes_.size());
    for (const auto& [number, file] : changes_) {
      std::optional<std::pair<std::uint64_t, File>> row;
      if (file.has_value()) row.emplace(number, *file);
      changes.push_back({number, std::move(row)});
    }
    Table made = before_;
    made.Apply(std::move(changes));
    return made;
  }

 private:
  const Table& before_;
  std::map<std::uint64_t, std::optional<File>> changes_;
};

class Stager {
 public:
  Stager(const Edit& edit, const ManifestState& state, const StateIndex& index)
      : edit_(edit), state_(state), index_(index) {}

  Result<StagedEdit> Run() && {
    CAMBIUM_RETURN_IF_ERROR(StageGlobals());
    CAMBIUM_RETURN_IF_ERROR(StageDroppedFamilies());
    for (const Slot slot : edit_.shadow_slots) {
      if (!shadowed_.insert(slot).second || state_.shadowed_slots.contains(slot)) {
        return Misfit(Name(slot) + " is shadowed twice");
      }
    }
    for (const SegmentInfo& segment : edit_.set_segments) CAMBIUM_RETURN_IF_ERROR(SetSegment(segment));
    for (const FamilyEdit& family : edit_.families) CAMBIUM_RETURN_IF_ERROR(StageFamily(family));
    for (const std::uint64_t number : edit_.drop_segments) CAMBIUM_RETURN_IF_ERROR(DropSegment(number));
    CAMBIUM_RETURN_IF_ERROR(CheckSlots());
    CAMBIUM_RETURN_IF_ERROR(StageShadows());
    CAMBIUM_RETURN_IF_ERROR(CheckReplay(staged_.globals.replay, staged_.globals.next_file_number,
                                        FindSegment(staged_.globals.replay.segment)));
    NoteSegments();
    return std::move(staged_);
  }

 private:
  Status StageGlobals() {
    ManifestState& globals = staged_.globals;
    globals.database_id = state_.database_id;
    globals.epoch = state_.epoch;
    globals.next_file_number = state_.next_file_number;
    globals.last_sequence = state_.last_sequence;
    globals.durable_sequence = state_.durable_sequence;
    globals.replay = state_.replay;
    globals.replay_sequence = state_.replay_sequence;
    globals.clean_shutdown = state_.clean_shutdown;
    globals.next_family_id = state_.next_family_id;
    CAMBIUM_RETURN_IF_ERROR(Raise(edit_.next_family_id, "the counter of family ids", &globals.next_family_id));
    if (edit_.database_id.has_value()) {
      if (state_.database_id != Id128{} && state_.database_id != *edit_.database_id) {
        return Misfit("it belongs to another database");
      }
      globals.database_id = *edit_.database_id;
    }
    CAMBIUM_RETURN_IF_ERROR(Raise(edit_.epoch, "the epoch", &globals.epoch));
    CAMBIUM_RETURN_IF_ERROR(Raise(edit_.next_file_number, "the counter of file numbers", &globals.next_file_number));
    CAMBIUM_RETURN_IF_ERROR(Raise(edit_.last_sequence, "the last sequence number", &globals.last_sequence));
    CAMBIUM_RETURN_IF_ERROR(Raise(edit_.durable_sequence, "the durable sequence number", &globals.durable_sequence));
    CAMBIUM_RETURN_IF_ERROR(Raise(edit_.replay, "the replay position", &globals.replay));
    CAMBIUM_RETURN_IF_ERROR(Raise(edit_.replay_sequence, "the replay position", &globals.replay_sequence));
    if (edit_.clean_shutdown.has_value()) globals.clean_shutdown = *edit_.clean_shutdown;
    if (globals.next_file_number == 0 || globals.next_file_number > kFileNumberMax) {
      return Misfit("the counter of file numbers is out of range");
    }
    if (globals.last_sequence > kMaxSequenceNumber || globals.durable_sequence > kMaxSequenceNumber ||
        globals.replay_sequence > kMaxSequenceNumber) {
      return Misfit("a sequence number is out of range");
    }
    return Status::OK();
  }

  // Checks the number of a new file, and marks it as taken.
  Status Claim(std::uint64_t number, const char* what) {
    const std::string name = what + (" " + std::to_string(number));
    if (number == 0 || number >= staged_.globals.next_file_number) return Misfit(name + " has a number not yet drawn");
    const bool is_taken = index_.HasFile(number) || !claimed_.insert(number).second;
    return is_taken ? Misfit(name + " has the number of another file") : Status::OK();
  }

  static bool HasRun(const FamilyState& family, std::uint64_t number) {
    return std::ranges::any_of(family.runs, [number](const RunInfo& run) { return run.number == number; });
  }

  // ---- Segments ----

  Status SetSegment(const SegmentInfo& segment) {
    const std::string name = "segment " + std::to_string(segment.number);
    CAMBIUM_RETURN_IF_ERROR(CheckSegment(segment));
    if (staged_.segments.contains(segment.number)) return Misfit(name + " is set twice");
    const auto old = state_.segments.find(segment.number);
    if (old == state_.segments.end()) {
      CAMBIUM_RETURN_IF_ERROR(Claim(segment.number, "segment"));
      if (segment.epoch > staged_.globals.epoch) return Misfit(name + " is of a later epoch");
    } else {
      CAMBIUM_RETURN_IF_ERROR(CheckChange(old->second, segment, name));
    }
    staged_.segments.emplace(segment.number, segment);
    return Status::OK();
  }

  // A sealed segment may still get its footer, which is written later.
  static Status CheckChange(const SegmentInfo& old, const SegmentInfo& now, const std::string& name) {
    if (old.slot != now.slot || old.kind != now.kind || old.file_id != now.file_id || old.epoch != now.epoch ||
        old.generation != now.generation) {
      return Misfit(name + " changes its identity");
    }
    if (!old.sealed) return Status::OK();
    if (!now.sealed || old.sealed_length != now.sealed_length || old.last_sequence != now.last_sequence ||
        now.file_size < old.file_size || now.has_footer < old.has_footer) {
      return Misfit(name + " changes after it was sealed");
    }
    if (now.cut < old.cut) return Misfit(name + " moves its cut back");
    // The cut covers the punched records before it.
    const auto kept = std::ranges::lower_bound(old.punched, now.cut);
    if (!std::ranges::includes(now.punched.begin(), now.punched.end(), kept, old.punched.end())) {
      return Misfit(name + " loses a punched record");
    }
    return Status::OK();
  }

  // Returns the segment as it is after the edit, ignoring drops; null if unknown.
  [[nodiscard]] const SegmentInfo* FindSegment(std::uint64_t number) const {
    if (const auto set = staged_.segments.find(number); set != staged_.segments.end()) return &set->second;
    const auto known = state_.segments.find(number);
    return known == state_.segments.end() ? nullptr : &known->second;
  }

  // Needs all families staged: accounts must be those after the edit.
  Status DropSegment(std::uint64_t number) {
    const std::string name = "segment " + std::to_string(number);
    const SegmentInfo* segment = FindSegment(number);
    if (segment == nullptr) return Misfit(name + " is dropped but unknown");
    if (!dropped_.insert(number).second) return Misfit(name + " is dropped twice");
    if (!segment->sealed && segment->kind != SegmentKind::kLargeValue) {
      return Misfit(name + " is dropped but not sealed");
    }
    const LogPosition end{number, segment->sealed_length};
    if (segment->kind == SegmentKind::kLog && staged_.globals.replay < end) {
      return Misfit(name + " is dropped while its log is needed");
    }
    if (!shadowed_.contains(segment->slot) && IsReferredTo(segment->slot)) {
      return Misfit(name + " is dropped while layers refer to it");
    }
    staged_.dropped_segments.push_back(number);
    return Status::OK();
  }

  static std::string Name(Slot slot) { return "slot " + std::to_string(static_cast<std::uint32_t>(slot)); }

  // Returns the references after the edit, from all families.
  [[nodiscard]] std::int64_t ReferencesTo(Slot slot) const {
    const auto change = staged_.index.accounts.by_slot().find(slot);
    const std::int64_t added = change == staged_.index.accounts.by_slot().end() ? 0 : change->second.references;
    return index_.TotalOf(slot).references + added;
  }
  [[nodiscard]] bool IsReferredTo(Slot slot) const { return ReferencesTo(slot) > 0; }

  // Stages the slots that this edit shadows, because their segments are dropped while layers refer to them; and frees
  // shadowed slots without references.
  Status StageShadows() {
    for (const Slot slot : shadowed_) {
      if (!IsReferredTo(slot)) return Misfit(Name(slot) + " is shadowed but has no references");
      staged_.shadowed_slots.insert(slot);
      staged_.index.shadowed.push_back(slot);
    }
    for (const Slot slot : shadowed_) StopCounting(slot);
    for (const Slot slot : emptied_accounts_) {
      if (state_.shadowed_slots.contains(slot) && !IsReferredTo(slot)) staged_.freed_slots.push_back(slot);
    }
    staged_.index.freed = staged_.freed_slots;
    return Status::OK();
  }

  // Subtracts the references into a slot that becomes shadowed from the families' sums. Most are from families of the
  // edit.
  void StopCounting(Slot slot) {
    std::int64_t left = ReferencesTo(slot);
    const auto stop = [&](std::uint32_t id, const FamilyState& family) {
      const auto account = family.accounts.find(slot);
      if (account == family.accounts.end()) return;
      staged_.index.family_sums[id].Add(Account{-account->second.references, -account->second.bytes});
      left -= account->second.references;
    };
    for (const auto& [id, family] : staged_.families) stop(id, family);
    for (const auto& [id, family] : state_.families) {
      if (left == 0) return;
      if (!staged_.families.contains(id) && !dropped_families_.contains(id)) stop(id, family);
    }
  }

  // Checks that each new segment has a slot of its own, and that each new account belongs to a segment that is not
  // dropped. (Older accounts were checked when they were new, and keep their segment alive, or their slot shadowed.)
  Status CheckSlots() const {
    std::set<Slot> taken;  // by segments of the edit
    for (const auto& [number, segment] : staged_.segments) {
      if (dropped_.contains(number)) continue;
      const bool is_shadowed = shadowed_.contains(segment.slot) || state_.shadowed_slots.contains(segment.slot);
      const std::uint64_t owner = KeptOwnerOf(segment.slot);
      if (is_shadowed || (owner != 0 && owner != number) || !taken.insert(segment.slot).second) {
        return Misfit("segment " + std::to_string(number) + " shares its slot");
      }
    }
    for (const Slot slot : shadowed_) {
      if (KeptOwnerOf(slot) != 0) return Misfit(Name(slot) + " is shadowed and has a segment");
    }
    for (const Slot slot : new_accounts_) {
      if (taken.contains(slot) || shadowed_.contains(slot) || KeptOwnerOf(slot) != 0) continue;
      return Misfit("an account has no segment");
    }
    return Status::OK();
  }

  // The number of the segment that has the slot before the edit, and that the edit does not drop; 0: none.
  [[nodiscard]] std::uint64_t KeptOwnerOf(Slot slot) const {
    const std::uint64_t owner = index_.SegmentOf(slot);
    return dropped_.contains(owner) ? 0 : owner;
  }

  static std::uint64_t SealedBytes(const SegmentInfo& segment) { return segment.sealed ? segment.file_size : 0; }

  void NoteSegments() {
    for (const auto& [number, segment] : staged_.segments) {
      const auto known = state_.segments.find(number);
      if (!dropped_.contains(number)) staged_.index.sealed_bytes += SealedBytes(segment);
      if (known == state_.segments.end()) {
        if (!dropped_.contains(number)) staged_.index.new_segments.push_back(segment);
      } else {
        if (!dropped_.contains(number)) staged_.index.sealed_bytes -= SealedBytes(known->second);
        if (!known->second.sealed && segment.sealed) staged_.index.sealed.push_back(number);
      }
    }
    for (const std::uint64_t number : dropped_) {
      claimed_.erase(number);
      const auto known = state_.segments.find(number);
      if (known == state_.segments.end()) continue;
      staged_.index.dropped_segments.push_back(known->second);
      staged_.index.sealed_bytes -= SealedBytes(known->second);
    }
    staged_.index.new_files.assign(claimed_.begin(), claimed_.end());
  }

  // ---- Families ----

  // The references of a dropped family are dropped with it, so that the same edit may drop segments that only it used.
  Status StageDroppedFamilies() {
    for (const std::uint64_t number : edit_.drop_families) {
      const auto id = static_cast<std::uint32_t>(number);
      const std::string name = "family " + std::to_string(number);
      if (number != id || !state_.families.contains(id)) return Misfit(name + " is dropped but unknown");
      if (id == 0) return Misfit("the default family is dropped");
      if (!dropped_families_.insert(id).second) return Misfit(name + " is dropped twice");
      NoteDropped(state_.families.at(id));
    }
    staged_.dropped_families.assign(dropped_families_.begin(), dropped_families_.end());
    return Status::OK();
  }

  void NoteDropped(const FamilyState& family) {
    IndexChange& change = staged_.index;
    for (const auto& [slot, account] : family.accounts) {
      emptied_accounts_.insert(slot);
      change.accounts.Add(slot, {-account.references, -account.bytes});
    }
    for (const RunInfo& run : family.runs) change.gone_files.push_back(run.number);
    for (const auto& [number, run] : family.level_runs) change.gone_files.push_back(number);
    for (const auto& [number, segment] : family.index_segments) change.gone_files.push_back(number);
    change.gone_names.push_back(family.name);
    change.gone_families.push_back(family.id);
  }

  // The new state of a family shares with the old one all that the edit does not change.
  Status StageFamily(const FamilyEdit& edit) {
    if (dropped_families_.contains(edit.id)) return Misfit(Name(edit) + " is edited and dropped");
    if (staged_.families.contains(edit.id)) return Misfit(Name(edit) + " is edited twice");
    const auto known = state_.families.find(edit.id);
    if ((known == state_.families.end()) != edit.create.has_value()) {
      return Misfit(Name(edit) + (edit.create.has_value() ? " is created again" : " is unknown"));
    }
    FamilyState& family = staged_.families[edit.id];
    if (edit.create.has_value()) {
      CAMBIUM_RETURN_IF_ERROR(Create(edit, &family));
    } else {
      family = known->second;
      CopyFiles(&family);
    }
    CAMBIUM_RETURN_IF_ERROR(Raise(edit.flushed_sequence, "a flushed sequence number", &family.flushed_sequence));
    if (edit.versions_since.has_value()) {
      if (family.versions_since.has_value()) return Misfit(Name(edit) + " begins to keep versions twice");
      family.versions_since = edit.versions_since;
    }
    FileChanges<LevelRun> level_runs(family.level_runs);
    FileChanges<IndexSegmentInfo> index_segments(family.index_segments);
    CAMBIUM_RETURN_IF_ERROR(StageRuns(edit, &family, &level_runs));
    CAMBIUM_RETURN_IF_ERROR(StageSweep(edit, &family));
    CAMBIUM_RETURN_IF_ERROR(StageIndexSegments(edit, &index_segments));
    staged_.index.family_sums[edit.id].base_bytes += level_runs.AddedBytes() + index_segments.AddedBytes();
    if (!level_runs.all().empty()) family.level_runs = level_runs.Made();
    if (!index_segments.all().empty()) family.index_segments = index_segments.Made();
    if (edit.root.has_value()) family.root = *edit.root;
    CAMBIUM_RETURN_IF_ERROR(StageAccounts(edit, &family));
    CAMBIUM_RETURN_IF_ERROR(CheckFamilyWithoutFiles(family));
    return CheckFiles(edit, family, level_runs, index_segments);
  }

  // Checks the files that the edit changes. The others were checked when they were new.
  static Status CheckFiles(const FamilyEdit& edit, const FamilyState& family, const FileChanges<LevelRun>& level_runs,
                           const FileChanges<IndexSegmentInfo>& index_segments) {
    for (const RunInfo& run : edit.add_runs) CAMBIUM_RETURN_IF_ERROR(CheckRun(family, run));
    for (const auto& [number, run] : level_runs.all()) {
      if (run.has_value()) CAMBIUM_RETURN_IF_ERROR(CheckLevelRun(family, number, *run));
    }
    for (const auto& [number, segment] : index_segments.all()) {
      if (segment.has_value()) CAMBIUM_RETURN_IF_ERROR(CheckIndexSegment(family, number, *segment));
    }
    return Status::OK();
  }

  static std::string Name(const FamilyEdit& edit) { return "family " + std::to_string(edit.id); }

  Status Create(const FamilyEdit& edit, FamilyState* family) {
    const std::string& name = edit.create->name;
    const bool is_gone = std::ranges::find(staged_.index.gone_names, name) != staged_.index.gone_names.end();
    if ((index_.HasFamilyNamed(name) && !is_gone) || !created_names_.insert(name).second) {
      return Misfit(Name(edit) + " has the name of another");
    }
    staged_.index.new_names.push_back(name);
    if (state_.families.size() + staged_.families.size() >= kMaxFamilies) return Misfit("too many families");
    if (edit.id >= staged_.globals.next_family_id) return Misfit(Name(edit) + " has an id not yet drawn");
    // The log may still have operations of an earlier family with this id. Only an edit that is a snapshot of the state
    // (it has a database id) may have such ids.
    if (edit.id != 0 && edit.id < state_.next_family_id && !edit_.database_id.has_value()) {
      return Misfit(Name(edit) + " has the id of an earlier family");
    }
    family->id = edit.id;
    family->name = edit.create->name;
    family->index_type = edit.create->index_type;
    family->comparator = edit.create->comparator;
    family->page_size = edit.create->page_size;
    return Status::OK();
  }

  // Each known or added run ends up in the stack or in a level, or is dropped.
  Status StageRuns(const FamilyEdit& edit, FamilyState* family, FileChanges<LevelRun>* level_runs) {
    if (!edit.layers.has_value() && edit.place_runs.empty() && edit.drop_level_runs.empty()) {
      return edit.add_runs.empty() ? Status::OK() : Misfit(Name(edit) + " adds runs without a place for them");
    }
    std::map<std::uint64_t, const RunInfo*> unplaced;  // added runs and, if the stack changes, those of the stack
    std::set<std::uint64_t> added;
    if (edit.layers.has_value()) {
      for (const RunInfo& run : family->runs) unplaced.emplace(run.number, &run);
    }
    for (const RunInfo& run : edit.add_runs) {
      CAMBIUM_RETURN_IF_ERROR(Claim(run.number, "run"));
      unplaced.emplace(run.number, &run);
      added.insert(run.number);
    }
    std::vector<RunInfo> stack;
    if (edit.layers.has_value()) {
      stack.reserve(unplaced.size());
      for (const std::uint64_t number : *edit.layers) {
        const auto run = unplaced.find(number);
        if (run == unplaced.end()) {
          return Misfit(Name(edit) + ": layer " + std::to_string(number) + " is an unknown run, or listed twice");
        }
        stack.push_back(*run->second);
        unplaced.erase(run);
        added.erase(number);
      }
    }
    CAMBIUM_RETURN_IF_ERROR(PlaceRuns(edit, &unplaced, &added, level_runs));
    if (!added.empty()) return Misfit(Name(edit) + " adds a run and does not place it");
    if (!edit.layers.has_value()) return Status::OK();
    if (!KeepsOrder(family->runs, stack)) {
      return Misfit(Name(edit) + ": runs change their order");
    }
    for (const auto& [number, run] : unplaced) staged_.index.gone_files.push_back(number);
    OrderLayersByNumber(&stack);
    staged_.index.family_sums[edit.id].run_bytes -= BytesOf(family->runs);
    family->runs = std::move(stack);
    staged_.index.family_sums[edit.id].run_bytes += BytesOf(family->runs);
    return Status::OK();
  }

  Status PlaceRuns(const FamilyEdit& edit, std::map<std::uint64_t, const RunInfo*>* unplaced,
                   std::set<std::uint64_t>* added, FileChanges<LevelRun>* level_runs) {
    for (const std::uint64_t number : edit.drop_level_runs) {
      if (level_runs->Find(number) == nullptr) {
        return Misfit(Name(edit) + ": run " + std::to_string(number) + " is dropped from a level but is in none");
      }
      level_runs->Remove(number);
      staged_.index.gone_files.push_back(number);
    }
    for (const auto& [number, level, tier] : edit.place_runs) {
      const std::string name = Name(edit) + ": run " + std::to_string(number);
      if (const LevelRun* const known = level_runs->Find(number); known != nullptr) {
        if (level < known->level) return Misfit(name + " moves up");
        level_runs->Set(number, {known->info, level, tier});
        continue;
      }
      const auto run = unplaced->find(number);
      if (run == unplaced->end()) return Misfit(name + " is placed in a level but unknown");
      level_runs->Set(number, {*run->second, level, tier});
      unplaced->erase(run);
      added->erase(number);
    }
    return Status::OK();
  }

  // True if the runs of `before` that are still in `after` have kept their order.
  static bool KeepsOrder(const std::vector<RunInfo>& before, const std::vector<RunInfo>& after) {
    std::map<std::uint64_t, std::size_t> place;
    for (std::size_t i = 0; i < before.size(); ++i) place.emplace(before[i].number, i);
    std::size_t least = 0;
    for (const RunInfo& run : after) {
      const auto old = place.find(run.number);
      if (old == place.end()) continue;
      if (old->second < least) return false;
      least = old->second;
    }
    return true;
  }

  static Status StageSweep(const FamilyEdit& edit, FamilyState* family) {
    const auto remains = [family](std::uint64_t number) { return HasRun(*family, number); };
    if (edit.end_sweep) {
      if (!family->sweep.has_value()) return Misfit(Name(edit) + " ends a sweep that has not begun");
      if (std::ranges::any_of(family->sweep->runs, remains)) {
        return Misfit(Name(edit) + ": runs remain after their sweep");
      }
      family->sweep.reset();
    }
    if (edit.sweep.has_value()) {
      if (family->sweep.has_value()) CAMBIUM_RETURN_IF_ERROR(CheckProgress(edit, *family));
      family->sweep = edit.sweep;
    }
    return Status::OK();  // CheckFamily checks that its runs are the oldest
  }

  static Status CheckProgress(const FamilyEdit& edit, const FamilyState& family) {
    const SweepState& before = *family.sweep;
    const SweepState& after = *edit.sweep;
    if (before.runs != after.runs) return Misfit(Name(edit) + ": a sweep changes its runs");
    const Comparator* comparator = BuiltInComparator(family.comparator);
    // An empty cursor is before every key, even in an order in which the empty key is not the first.
    const bool back = before.cursor.empty()  ? false
                      : after.cursor.empty() ? true
                                             : comparator != nullptr &&
                                                   comparator->Compare(after.cursor, before.cursor) < 0;
    return back ? Misfit(Name(edit) + ": the cursor of a sweep moves back") : Status::OK();
  }

  Status StageIndexSegments(const FamilyEdit& edit, FileChanges<IndexSegmentInfo>* index_segments) {
    for (const IndexSegmentInfo& segment : edit.set_index_segments) {
      const IndexSegmentInfo* const known = index_segments->Find(segment.number);
      if (known == nullptr) {
        CAMBIUM_RETURN_IF_ERROR(Claim(segment.number, "index segment"));
      } else if (known->file_id != segment.file_id || segment.length < known->length) {
        return Misfit("index segment " + std::to_string(segment.number) + " shrinks or changes its identity");
      }
      index_segments->Set(segment.number, segment);
    }
    for (const std::uint64_t number : edit.drop_index_segments) {
      if (index_segments->Find(number) == nullptr) {
        return Misfit("index segment " + std::to_string(number) + " is dropped but unknown");
      }
      index_segments->Remove(number);
      claimed_.erase(number);
      staged_.index.gone_files.push_back(number);
    }
    return Status::OK();
  }

  Status StageAccounts(const FamilyEdit& edit, FamilyState* family) {
    std::vector<Accounts::Change> changes;
    changes.reserve(edit.accounts.by_slot().size());
    for (const auto& [slot, change] : edit.accounts.by_slot()) {
      Account account;
      const auto known = family->accounts.find(slot);
      if (known != family->accounts.end()) account = known->second;
      const bool overflow = __builtin_add_overflow(account.references, change.references, &account.references) ||
                            __builtin_add_overflow(account.bytes, change.bytes, &account.bytes);
      const std::string name = "the account of slot " + std::to_string(static_cast<std::uint32_t>(slot));
      if (overflow || account.references < 0 || account.bytes < 0) return Misfit(name + " falls below zero");
      if ((account.references == 0) != (account.bytes == 0)) {
        return Misfit(name + " has " + std::to_string(account.references) + " references and " +
                      std::to_string(account.bytes) + " bytes");
      }
      if (change.references > 0 && state_.shadowed_slots.contains(slot)) {
        return Misfit(name + " gains references although the slot is shadowed");
      }
      if (account == Account{}) {
        changes.push_back({slot, std::nullopt});
        emptied_accounts_.insert(slot);
      } else {
        CAMBIUM_RETURN_IF_ERROR(CheckAccount(*family, slot, account));
        if (known == family->accounts.end()) new_accounts_.insert(slot);
        changes.push_back({slot, std::pair(slot, account)});
      }
      staged_.index.accounts.Add(slot, change);
      if (!state_.shadowed_slots.contains(slot)) staged_.index.family_sums[edit.id].Add(change);
    }
    family->accounts.Apply(std::move(changes));
    return Status::OK();
  }

  const Edit& edit_;
  const ManifestState& state_;
  const StateIndex& index_;  // of state_
  StagedEdit staged_;
  std::set<std::uint64_t> claimed_;  // numbers of new files
  std::set<std::uint64_t> dropped_;
  std::set<std::uint32_t> dropped_families_;
  std::set<std::string> created_names_;
  std::set<Slot> new_accounts_;
  std::set<Slot> emptied_accounts_;  // slots to which a family has no more references
  std::set<Slot> shadowed_;          // by this edit
};

}  // namespace

Result<StagedEdit> StageEdit(const Edit& edit, const ManifestState& state, const StateIndex& index) {
  return Stager(edit, state, index).Run();
}

void Install(StagedEdit staged, ManifestState* state, StateIndex* index) {
  assert(staged.globals.next_file_number >= state->next_file_number && staged.globals.epoch >= state->epoch);
  assert(staged.globals.last_sequence >= state->last_sequence && staged.globals.replay >= state->replay);
  assert(staged.globals.durable_sequence >= state->durable_sequence);
  staged.globals.families = std::move(state->families);
  staged.globals.segments = std::move(state->segments);
  staged.globals.shadowed_slots = std::move(state->shadowed_slots);
  *state = std::move(staged.globals);
  MoveNodes(&staged.families, &state->families);
  MoveNodes(&staged.segments, &state->segments);
  state->shadowed_slots.merge(staged.shadowed_slots);
  assert(staged.shadowed_slots.empty() && "a slot is shadowed once");
  for (const std::uint64_t number : staged.dropped_segments) EraseKnown(number, &state->segments);
  for (const std::uint32_t id : staged.dropped_families) EraseKnown(id, &state->families);
  for (const Slot slot : staged.freed_slots) EraseKnown(slot, &state->shadowed_slots);
  index->Apply(staged.index);
}

Status ApplyEdit(const Edit& edit, ManifestState* state, StateIndex* index) {
  CAMBIUM_TRY(StagedEdit staged, StageEdit(edit, *state, *index));
  Install(std::move(staged), state, index);
  return Status::OK();
}

Status ApplyEdit(const Edit& edit, ManifestState* state) {
  StateIndex index(*state);
  return ApplyEdit(edit, state, &index);
}

}  // namespace cambium
