#include "api/families.h"

#include <algorithm>
#include <cassert>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "api/prepared_family.h"
#include "btree/btree_index.h"
#include "lsm_fallback/lsm_index.h"
#include "manifest/features.h"
#include "options/options_check.h"
#include "recovery/open_layers.h"
#include "util/epoch.h"
#include "util/mutant.h"

namespace cambium {

Families::Families(DbState* state, Compactor* compactor)
    : db_(state->context),
      jobs_(state->jobs),
      commits_(state->commits),
      head_(state->head),
      compactor_(*compactor),
      default_family_(state->default_family) {}

Status Families::CheckOptions(const ColumnFamilyOptions& options) const {
  CAMBIUM_RETURN_IF_ERROR(CheckColumnFamilyOptions(options));
  return CheckCeiling(db_.max_space_amplification.load(std::memory_order_relaxed), options);
}

Status Families::CheckSegmentSize(const ColumnFamilyOptions& options) const {
  if (options.blob_file_size == db_.blob_file_size) return Status::OK();
  return Status::InvalidArgument("blob_file_size is " + std::to_string(options.blob_file_size) +
                                 "; all column families share one log, and the default one has " +
                                 std::to_string(db_.blob_file_size));
}

Result<std::vector<std::unique_ptr<FamilyHandle>>> Families::Create(const void* facade,
                                                                    const ColumnFamilyOptions& options,
                                                                    std::span<const std::string> names) {
  for (const std::string& name : names) CAMBIUM_RETURN_IF_ERROR(CheckFamilyName(name));
  const FamiliesLock lock(*this);
  std::vector<ColumnFamilyDescriptor> wanted;
  for (const std::string& name : names) {
    CAMBIUM_RETURN_IF_ERROR(CheckOptions(options).WithContext("column family \"" + name + "\""));
    CAMBIUM_RETURN_IF_ERROR(CheckSegmentSize(options).WithContext("column family \"" + name + "\""));
    wanted.emplace_back(name, name == kPreparedFamilyName ? OptionsOfPreparedFamily(options) : options);
  }
  std::vector<const ColumnFamilyDescriptor*> all;
  for (const ColumnFamilyDescriptor& each : wanted) all.push_back(&each);
  std::vector<std::unique_ptr<FamilyHandle>> handles;
  FamilyChanges changes;
  CAMBIUM_RETURN_IF_ERROR(Make(all, [&](const std::shared_ptr<Family>& family) {
    handles.push_back(std::make_unique<FamilyHandle>(facade, db_.database_id, family));
    changes[family->name].created_id = family->id;
  }));
  PersistFamilies(std::move(changes));
  return handles;
}

Status Families::Make(std::span<const ColumnFamilyDescriptor* const> wanted, const Prepare& prepare) {
  CAMBIUM_RETURN_IF_ERROR(CommitCreation(wanted, prepare));
  EpochCollect();
  return Status::OK();
}

Status Families::CommitCreation(std::span<const ColumnFamilyDescriptor* const> wanted, const Prepare& prepare) {
  const CommitLock lock(commits_);
  const ManifestState& state = commits_.state();
  if (wanted.size() > kMaxFamilies - state.families.size() || wanted.size() > 0xffffffffu - state.next_family_id) {
    return Status::InvalidArgument("there are " + std::to_string(state.families.size()) +
                                   " column families, and no more can be made");
  }
  Edit edit;
  edit.next_family_id = state.next_family_id;
  std::vector<std::shared_ptr<Family>> made;
  std::vector<std::shared_ptr<const Layers>> layers;
  std::unordered_set<std::string_view> names;
  for (const ColumnFamilyDescriptor* const each : wanted) {
    if (commits_.index().HasFamilyNamed(each->name)) {
      return Status::InvalidArgument("column family \"" + each->name + "\" exists");
    }
    if (!names.insert(each->name).second) {
      return Status::InvalidArgument("column family \"" + each->name + "\" is named twice");
    }
    FamilyState stored;
    stored.id = (*edit.next_family_id)++;
    stored.name = each->name;
    stored.index_type = static_cast<IndexType>(each->options.index_type);
    stored.comparator = each->options.comparator->Name();
    stored.page_size = each->options.page_size;
    made.push_back(std::make_shared<Family>(stored.id, stored.name, each->options, db_.share));
    Family& family = *made.back();
    family.index = MakeIndex(&family);
    CAMBIUM_TRY(layers.emplace_back(), OpenLayers(stored, family.options().comparator, db_.pool.get(), {}));
    FamilyEdit creation;
    creation.id = stored.id;
    creation.create = {stored.name, stored.index_type, stored.comparator, stored.page_size};
    edit.families.push_back(std::move(creation));
    if (prepare != nullptr) prepare(made.back());
  }
  jobs_.ReserveFor(made.size());
  CAMBIUM_RETURN_IF_ERROR(commits_.Commit(&edit, [&](View* view) {
    for (std::size_t i = 0; i < made.size(); ++i) AddTo(view, made[i], layers[i]);
  }));
  for (const std::shared_ptr<Family>& family : made) jobs_.Add(family);
  return Status::OK();
}

void Families::AddTo(View* view, const std::shared_ptr<Family>& family, std::shared_ptr<const Layers> layers) {
  FamilyView added{family, family->FirstTable(), {}, nullptr};
  CommitPoint::SetLayers(&added, std::move(layers));
  assert(view->Find(family->id) == nullptr && "ids are never used twice");
  view->families.Set(std::move(added));
}

void Families::Add(const std::shared_ptr<Family>& family, std::shared_ptr<const Layers> layers) {
  commits_.view().Update([&](View* view) { AddTo(view, family, std::move(layers)); });
  jobs_.Add(family);
}

// The log still holds the operations of the family; recovery skips them once the family is gone from the MANIFEST.
Status Families::Drop(Family* family) {
  if (family->id == 0) return Status::InvalidArgument("the default column family cannot be dropped");
  const FamiliesLock lock(*this);
  std::vector<NumberedFile> files;
  FamilyChanges change;
  change[family->name].was_dropped = true;
  CAMBIUM_RETURN_IF_ERROR(CommitDrop(family, &files));
  for (const NumberedFile& file : files) commits_.obsolete().MakeObsolete(file.number);
  PersistFamilies(std::move(change));
  FreeSpaceOfDropped();
  return Status::OK();
}

// While the append and the commit lock are held, no batch and no commit is under way that still uses the family.
Status Families::CommitDrop(Family* family, std::vector<NumberedFile>* files) {
  const AppendLock append(head_);
  const CommitLock commit(commits_);
  if (family->dropped.load(std::memory_order_relaxed)) {
    return Status::ColumnFamilyDropped("column family \"" + family->name + "\" was dropped before");
  }
  Edit edit;
  edit.drop_families.push_back(family->id);
  jobs_.ReserveForDrop();
  std::shared_ptr<Family> kept;
  // Until the commit has succeeded, its record may be on disk.
  family->drop_in_doubt.store(!MutantIs(Mutant::kWriteDespiteDoubtfulDrop), std::memory_order_relaxed);
  CAMBIUM_RETURN_IF_ERROR(commits_.Commit(&edit, [&](View* view) {
    const FamilyView* const found = view->Find(family->id);
    assert(found != nullptr && "it was not dropped before");
    kept = found->family;
    found->layers->AppendFiles(files);
    const FamilyView gone = *found;
    view->families.erase(family->id);
    // From here on nothing can fail.
    gone.active->LeaveToReaders(db_.reader_tables);
    for (const FrozenTable& frozen : gone.frozen) frozen.table->LeaveToReaders(db_.reader_tables);
    family->dropped.store(true, std::memory_order_release);
  }));
  family->drop_in_doubt.store(false, std::memory_order_relaxed);
  jobs_.Drop(std::move(kept));
  return Status::OK();
}

// Dropping segments frees the space. If that fails now, the family is still dropped.
void Families::FreeSpaceOfDropped() {
  try {
    Status freed = head_.AdvanceReplay();
    if (freed.ok()) freed = commits_.DropUnreferenced();
    EpochCollect();
    jobs_.ReleaseDropped();
    if (freed.severity() == Status::Severity::kFatal) {
      jobs_.SetFatal(freed);
    } else if (!freed.ok()) {
      db_.logger->Log(InfoLogLevel::kWarn, "freeing the space of a column family: " + freed.ToString());
    }
  } catch (...) {
    if (MutantIs(Mutant::kExceptionAfterChange)) throw;
  }
}

// Only this function and recovery/open_layers.cc know which indexes exist.
std::unique_ptr<Index> Families::MakeIndex(Family* family) {
  const ColumnFamilyOptions& its = family->options();
  if (its.index_type == IndexKind::kLsm) {
    LsmIndexOptions options;
    options.comparator = its.comparator;
    options.pool = db_.pool.get();
    options.page_size = static_cast<std::uint32_t>(its.page_size);
    options.filter_bits_per_key = static_cast<unsigned>(its.filter_bits_per_key);
    static_cast<void>(CodecOf(its.compression, &options.compression));  // checked before
    options.policy = CompactionPolicyOf(its);
    options.create_file = [this, family, page_size = its.page_size] {
      return commits_.MakeIndexFile(FileKind::kRun, page_size, family->compaction_files);
    };
    return std::make_unique<LsmIndex>(options);
  }
  BTreeIndexOptions options;
  options.comparator = its.comparator;
  options.pool = db_.pool.get();
  options.segments.page_size = static_cast<std::uint32_t>(its.page_size);
  options.merges.runs_max = RunsMaxBelow(its.level0_slowdown_writes_trigger);
  options.merges.sweep_ratio = static_cast<std::uint64_t>(its.sweep_ratio);
  options.filter_bits_per_key = static_cast<unsigned>(its.filter_bits_per_key);
  options.write_buffer_size = its.write_buffer_size;
  options.create_file = [this, family, page_size = its.page_size] {
    return commits_.MakeIndexFile(FileKind::kIndex, page_size, family->compaction_files);
  };
  return std::make_unique<BTreeIndex>(options);
}

}  // namespace cambium
