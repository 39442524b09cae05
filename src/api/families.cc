#include "api/families.h"

#include <algorithm>
#include <utility>

#include "btree/btree_index.h"
#include "lsm_fallback/lsm_index.h"
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
  if (options.blob_file_size == db_.blob_file_size) return Status::OK();
  return Status::InvalidArgument("blob_file_size is " + std::to_string(options.blob_file_size) +
                                 "; all column families share one log, and the default one has " +
                                 std::to_string(db_.blob_file_size));
}

Result<std::shared_ptr<Family>> Families::Create(const ColumnFamilyOptions& options, const std::string& name) {
  CAMBIUM_RETURN_IF_ERROR(CheckFamilyName(name));
  const FamiliesLock lock(*this);
  CAMBIUM_RETURN_IF_ERROR(CheckOptions(options).WithContext("column family \"" + name + "\""));
  CAMBIUM_TRY(std::shared_ptr<Family> family, Make(options, name));
  PersistFamilies();
  return family;
}

Result<std::shared_ptr<Family>> Families::Make(const ColumnFamilyOptions& options, const std::string& name) {
  std::shared_ptr<Family> family;
  CAMBIUM_RETURN_IF_ERROR(CommitCreation(options, name, &family));
  EpochCollect();
  return family;
}

Status Families::CommitCreation(const ColumnFamilyOptions& options, const std::string& name,
                                std::shared_ptr<Family>* family) {
  const CommitLock lock(commits_);
  const ManifestState& state = commits_.state();
  for (const auto& [id, other] : state.families) {
    if (other.name == name) return Status::InvalidArgument("column family \"" + name + "\" exists");
  }
  if (state.families.size() >= kMaxFamilies || state.next_family_id == 0xffffffffu) {
    return Status::InvalidArgument("there are " + std::to_string(state.families.size()) +
                                   " column families, and no more can be made");
  }
  FamilyState made;
  made.id = state.next_family_id;
  made.name = name;
  made.index_type = static_cast<IndexType>(options.index_type);
  made.comparator = options.comparator->Name();
  made.page_size = options.page_size;

  *family = std::make_shared<Family>(made.id, name, options, db_.budget);
  (*family)->index = MakeIndex(family->get());
  CAMBIUM_TRY(std::shared_ptr<const Layers> layers,
              OpenLayers(made, (*family)->options().comparator, db_.pool.get(), {}));

  Edit edit;
  edit.next_family_id = made.id + 1;
  FamilyEdit creation;
  creation.id = made.id;
  creation.create = {made.name, made.index_type, made.comparator, made.page_size};
  edit.families.push_back(std::move(creation));
  CAMBIUM_RETURN_IF_ERROR(commits_.Commit(&edit));
  Add(*family, std::move(layers));
  return Status::OK();
}

void Families::Add(const std::shared_ptr<Family>& family, std::shared_ptr<const Layers> layers) {
  commits_.view().Update([&](View* view) {
    FamilyView added{family, family->FirstTable(), {}, nullptr};
    CommitPoint::SetLayers(&added, std::move(layers));
    view->families.Set(std::move(added));
  });
  jobs_.Add(family);
}

// The log still holds the operations of the family; recovery skips them once the family is gone from the MANIFEST.
Status Families::Drop(Family* family) {
  if (family->id == 0) return Status::InvalidArgument("the default column family cannot be dropped");
  const FamiliesLock lock(*this);
  std::vector<NumberedFile> files;
  CAMBIUM_RETURN_IF_ERROR(CommitDrop(family, &files));
  for (const NumberedFile& file : files) commits_.obsolete().MakeObsolete(file.number);
  PersistFamilies();
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
  if (const Status committed = commits_.Commit(&edit); !committed.ok()) {
    family->drop_in_doubt.store(!MutantIs(Mutant::kWriteDespiteDoubtfulDrop), std::memory_order_relaxed);
    return committed;
  }
  family->dropped.store(true, std::memory_order_release);
  std::shared_ptr<Family> kept;
  commits_.view().Update([&](View* view) {
    const FamilyView* const found = view->Find(family->id);
    kept = found->family;
    found->active->charge().Flushed();  // nothing will flush it; it is freed with its last reader
    for (const FrozenTable& frozen : found->frozen) frozen.table->charge().Flushed();
    found->layers->AppendFiles(files);
    view->families.erase(family->id);
  });
  jobs_.Drop(std::move(kept));
  return Status::OK();
}

// Dropping segments frees the space. If that fails now, the family is still dropped.
void Families::FreeSpaceOfDropped() {
  Status freed = head_.AdvanceReplay();
  if (freed.ok()) freed = commits_.DropUnreferenced();
  EpochCollect();
  jobs_.ReleaseDropped();
  if (freed.severity() == Status::Severity::kFatal) {
    jobs_.SetFatal(freed);
  } else if (!freed.ok()) {
    db_.logger->Log(InfoLogLevel::kWarn, "freeing the space of a column family: " + freed.ToString());
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
