// Opening: from a directory to a database that serves, in the order that makes a crash at any step harmless.
//
//   lock -> MANIFEST -> identity checks -> files of the layers and the log -> replay -> adopted segments synced
//        -> a new MANIFEST with a new epoch, which seals them and forgets what was rejected -> orphans removed
//        -> missing families made -> OPTIONS written -> serve
//
// Nothing is written before the checks have passed. Every step is idempotent: until the new MANIFEST is durable the next
// opening sees what this one saw.
#include <algorithm>
#include <cassert>

#include "api/db_impl.h"
#include "api/file_logger.h"
#include "recovery/log_replay.h"
#include "recovery/open_files.h"
#include "recovery/open_layers.h"
#include "options/options_check.h"
#include "btree/btree_index.h"
#include "io/file_header.h"
#include "io/parent_path.h"
#include "lsm_fallback/lsm_index.h"
#include "manifest/file_names.h"
#include "util/destroy.h"
#include "util/fork_guard.h"
#include "util/mutant.h"

namespace cambium {
namespace {

// Beside those of max_background_jobs: for flushes, and for seals and removals, which mostly wait for the device.
constexpr int kUrgentThreads = 2;

// An opening that had to read more log segments than this flushes what it found in them.
constexpr std::ptrdiff_t kReplaySegmentsMax = 16;

// Keeps messages until there is a place for them: an opening that is refused writes nothing, its log included.
class HeldMessages final : public Logger {
 public:
  void Log(InfoLogLevel level, Slice line) override { held_.emplace_back(level, line.ToString()); }
  void PassOn(Logger* logger) const {
    for (const auto& [level, line] : held_) logger->Log(level, line);
  }

 private:
  std::vector<std::pair<InfoLogLevel, std::string>> held_;
};

}  // namespace

namespace {

template <typename Handle>
Status OpenInto(const DBOptions& options, const std::string& path, const std::vector<ColumnFamilyDescriptor>& families,
                OpenAs as, std::vector<ColumnFamilyHandle*>* handles, Handle* db) {
  *db = Handle{};
  if (handles != nullptr) handles->clear();
  CAMBIUM_TRY(std::unique_ptr<DbImpl> opened, DbImpl::OpenAt(options, path, families, as, handles));
  if constexpr (std::is_pointer_v<Handle>) {
    *db = opened.release();
  } else {
    *db = std::move(opened);
  }
  return Status::OK();
}

std::vector<ColumnFamilyDescriptor> OnlyDefault(const ColumnFamilyOptions& options) {
  return {ColumnFamilyDescriptor(kDefaultColumnFamilyName, options)};
}

}  // namespace

Status DB::Open(const Options& options, const std::string& path, std::unique_ptr<DB>* db) {
  return OpenInto(options, path, OnlyDefault(options), OpenAs::kWriter, nullptr, db);
}
Status DB::Open(const Options& options, const std::string& path, DB** db) {
  return OpenInto(options, path, OnlyDefault(options), OpenAs::kWriter, nullptr, db);
}
Status DB::Open(const DBOptions& options, const std::string& path, const std::vector<ColumnFamilyDescriptor>& families,
                std::vector<ColumnFamilyHandle*>* handles, std::unique_ptr<DB>* db) {
  return OpenInto(options, path, families, OpenAs::kWriter, handles, db);
}
Status DB::Open(const DBOptions& options, const std::string& path, const std::vector<ColumnFamilyDescriptor>& families,
                std::vector<ColumnFamilyHandle*>* handles, DB** db) {
  return OpenInto(options, path, families, OpenAs::kWriter, handles, db);
}
Status DB::OpenForReadOnly(const Options& options, const std::string& path, std::unique_ptr<DB>* db) {
  return OpenInto(options, path, OnlyDefault(options), OpenAs::kReader, nullptr, db);
}
Status DB::OpenForReadOnly(const DBOptions& options, const std::string& path,
                           const std::vector<ColumnFamilyDescriptor>& families,
                           std::vector<ColumnFamilyHandle*>* handles, std::unique_ptr<DB>* db) {
  return OpenInto(options, path, families, OpenAs::kReader, handles, db);
}

namespace {

const ColumnFamilyDescriptor* FindDescriptor(const std::vector<ColumnFamilyDescriptor>& families,
                                             const std::string& name) {
  const auto found = std::ranges::find(families, name, &ColumnFamilyDescriptor::name);
  return found == families.end() ? nullptr : &*found;
}

Status CheckDescriptors(const std::vector<ColumnFamilyDescriptor>& families) {
  std::set<std::string> names;
  for (const ColumnFamilyDescriptor& family : families) {
    CAMBIUM_RETURN_IF_ERROR(CheckFamilyName(family.name));
    if (!names.insert(family.name).second) {
      return Status::InvalidArgument("column family \"" + family.name + "\" is named twice");
    }
    CAMBIUM_RETURN_IF_ERROR(
        CheckColumnFamilyOptions(family.options).WithContext("column family \"" + family.name + "\""));
  }
  if (!names.contains(kDefaultColumnFamilyName)) {
    return Status::InvalidArgument("column family \"" + kDefaultColumnFamilyName + "\" is not named");
  }
  const std::uint64_t blob_file_size = FindDescriptor(families, kDefaultColumnFamilyName)->options.blob_file_size;
  for (const ColumnFamilyDescriptor& family : families) {
    if (family.options.blob_file_size == blob_file_size) continue;
    return Status::InvalidArgument("column family \"" + family.name + "\": blob_file_size is " +
                                   std::to_string(family.options.blob_file_size) +
                                   "; the log is one for all column families, and the default one has " +
                                   std::to_string(blob_file_size));
  }
  return Status::OK();
}

const char* NameOf(IndexType type) { return type == IndexType::kLsm ? "kLsm" : "kBTree"; }

}  // namespace

DbImpl::DbImpl(const DBOptions& options, std::string path, std::vector<ColumnFamilyDescriptor> families, OpenAs as)
    : options_(FillInDefaults(options)),
      meter_(options_.statistics.get(), options_.clock.get()),
      wanted_(std::move(families)),
      path_(std::move(path)),
      read_only_(as == OpenAs::kReader),
      is_offline_(as == OpenAs::kOffline),
      fork_generation_(ForkGeneration()),
      blob_file_size_(FindDescriptor(wanted_, kDefaultColumnFamilyName)->options.blob_file_size),
      fs_(options_.file_system),
      executor_(options_.executor),
      logger_(options_.info_log),
      events_(read_only_ ? std::vector<std::shared_ptr<EventListener>>() : options_.listeners, path_),
      foreground_(options_.clock.get()),
      pool_(std::make_unique<PagePool>(options_.page_cache_size, meter_)),
      obsolete_([this] { Schedule(Job::kRemove); }),
      punched_([this] { Schedule(Job::kRemove); }),
      max_total_wal_size_(options_.max_total_wal_size),
      max_space_amplification_(options_.max_space_amplification),
      min_punch_size_(options_.min_punch_size),
      read_queues_(fs_.get()) {}

Result<std::unique_ptr<DbImpl>> DbImpl::OpenAt(const DBOptions& options, const std::string& path,
                                               const std::vector<ColumnFamilyDescriptor>& families, OpenAs as,
                                               std::vector<ColumnFamilyHandle*>* handles) {
  CAMBIUM_RETURN_IF_ERROR(CheckDbOptions(options));
  CAMBIUM_RETURN_IF_ERROR(CheckDescriptors(families));
  std::unique_ptr<DbImpl> db =
      AllocateAndMake<DbImpl>([&](void* at) { return ::new (at) DbImpl(options, path, families, as); });
  CAMBIUM_RETURN_IF_ERROR(db->Start());
  if (handles == nullptr) return db;
  const std::shared_ptr<const View> view = db->view_.Pin();
  std::vector<std::unique_ptr<FamilyHandle>> made;
  for (const ColumnFamilyDescriptor& wanted : families) {
    const auto found = std::ranges::find(view->families, wanted.name, [](const FamilyView& f) { return f.family->name; });
    made.push_back(std::make_unique<FamilyHandle>(db.get(), found->family));
  }
  handles->reserve(handles->size() + made.size());
  for (std::unique_ptr<FamilyHandle>& handle : made) handles->push_back(handle.release());
  return db;
}

FileHeader DbImpl::HeaderFor(FileKind kind, std::uint64_t number, std::uint64_t page_size) const {
  FileHeader header;
  header.kind = kind;
  header.database_id = database_id_;
  options_.random_source->Fill(reinterpret_cast<char*>(header.file_id.data()), header.file_id.size());
  header.number = number;
  header.epoch = epoch_;
  header.created_seconds = options_.clock->WallSeconds();
  header.page_size = page_size;
  return header;
}

Status DbImpl::Start() {
  const Delivery delivery(&events_);
  FileInfo info;
  const Status found = fs_->GetInfo(path_, &info);
  const bool may_create = options_.create_if_missing && !read_only_;
  if (found.IsPathNotFound()) {
    if (!may_create) return Status::InvalidArgument(path_ + ": does not exist (create_if_missing is off)");
    CAMBIUM_RETURN_IF_ERROR(fs_->CreateDirectory(path_));
    const Status named = SyncParent();
    if (!named.ok()) {
      // Nobody can make a name durable whose sync has failed: the next opening must make a new one.
      static_cast<void>(fs_->RemoveDirectory(path_));
      return named;
    }
  } else if (!found.ok()) {
    return found;
  } else if (!info.is_directory) {
    return Status::InvalidArgument(path_ + ": is not a directory");
  }
  if (!MutantIs(Mutant::kNoExclusiveLock)) {
    CAMBIUM_RETURN_IF_ERROR(fs_->Lock(path_, read_only_ ? LockMode::kShared : LockMode::kExclusive,
                                      options_.lock_wait_micros, &lock_));
  }

  CAMBIUM_TRY(const std::vector<NumberedFile> files, ListNumberedFiles(*fs_, path_));
  if (MutantIs(Mutant::kWriteBeforeVersionCheck)) static_cast<void>(NewFileLogger(fs_, options_.clock, path_));
  Result<ManifestRead> read = ReadManifest(*fs_, path_);
  const bool none = !read.ok() && read.status().IsNotFound();
  if (none && !files.empty() && !MutantIs(Mutant::kCreateOverRemains)) {
    return Status::Corruption(path_ + ": there are files of a database but no MANIFEST");
  }
  bool half_born = false;
  if (!read.ok() && read.status().IsCorruption() && !MutantIs(Mutant::kRefuseHalfBorn)) {
    CAMBIUM_TRY(half_born, IsHalfBorn(*fs_, path_));
  }
  if (none || half_born) {
    if (!may_create) return Status::InvalidArgument(path_ + ": holds no database (create_if_missing is off)");
    // Whoever made the directory, or was killed while making it, may not have made its name durable.
    if (found.ok()) CAMBIUM_RETURN_IF_ERROR(SyncParent());
    ManifestState state;
    options_.random_source->Fill(reinterpret_cast<char*>(state.database_id.data()), state.database_id.size());
    const ColumnFamilyOptions& options = FindDescriptor(wanted_, kDefaultColumnFamilyName)->options;
    FamilyState family;
    family.name = kDefaultColumnFamilyName;
    family.index_type = static_cast<IndexType>(options.index_type);
    family.comparator = options.comparator->Name();
    family.page_size = options.page_size;
    state.families[0] = family;
    CAMBIUM_RETURN_IF_ERROR(CheckWanted(state));
    return Recover(std::move(state), LargestNumber(files));
  }
  if (!read.ok()) return std::move(read).status();
  if (!read_only_ && read->header.optional_features != 0) {
    return Status::NotSupported(path_ + ": was written with optional features " +
                                std::to_string(read->header.optional_features) +
                                " that this version does not know; it can be opened for reading only");
  }
  if (options_.error_if_exists) {
    return Status::InvalidArgument(path_ + ": a database exists (error_if_exists is on)");
  }
  CAMBIUM_RETURN_IF_ERROR(CheckIdentity(read->state));
  const std::uint64_t largest = MutantIs(Mutant::kReuseFileNumbers) ? read->number : LargestNumber(files);
  return Recover(std::move(read->state), largest);
}

Status DbImpl::SyncParent() const {
  return MutantIs(Mutant::kSkipParentSync) ? Status::OK() : fs_->SyncDirectory(ParentOf(path_));
}

Status DbImpl::CheckIdentity(const ManifestState& state) const {
  CAMBIUM_RETURN_IF_ERROR(CheckDefaultFamily(path_, state));
  for (const auto& [id, family] : state.families) {
    const ColumnFamilyDescriptor* const wanted = FindDescriptor(wanted_, family.name);
    if (wanted == nullptr) continue;
    const std::string where = path_ + (id == 0 ? "" : ": column family \"" + family.name + "\"");
    if (family.comparator != wanted->options.comparator->Name()) {
      return Status::InvalidArgument(where + ": keys are ordered by comparator \"" + family.comparator +
                                     "\", and the options give \"" + wanted->options.comparator->Name() + "\"");
    }
    if (family.index_type != static_cast<IndexType>(wanted->options.index_type)) {
      return Status::InvalidArgument(where + ": index_type is " + NameOf(family.index_type) +
                                     ", and the options give " +
                                     NameOf(static_cast<IndexType>(wanted->options.index_type)));
    }
  }
  return CheckWanted(state);
}

// That the families which were named are those that exist.
Status DbImpl::CheckWanted(const ManifestState& state) const {
  std::string unnamed;
  std::set<std::string> names;
  for (const auto& [id, family] : state.families) {
    names.insert(family.name);
    if (FindDescriptor(wanted_, family.name) == nullptr) unnamed += (unnamed.empty() ? "\"" : ", \"") + family.name + "\"";
  }
  // A writer flushes every family, so it needs to know the options of each.
  if (!unnamed.empty() && !read_only_) {
    return Status::InvalidArgument(path_ + ": column families that exist and are not named: " + unnamed);
  }
  for (const ColumnFamilyDescriptor& wanted : wanted_) {
    if (names.contains(wanted.name) || (options_.create_missing_column_families && !read_only_)) continue;
    return Status::InvalidArgument(path_ + ": there is no column family \"" + wanted.name +
                                   "\" (create_missing_column_families is off)");
  }
  return Status::OK();
}

// The only place, with open_layers.cc, that knows which back-ends there are.
std::unique_ptr<Index> DbImpl::MakeIndex(Family* family) {
  const ColumnFamilyOptions& its = family->options();
  if (its.index_type == IndexKind::kLsm) {
    LsmIndexOptions options;
    options.comparator = its.comparator;
    options.pool = pool_.get();
    options.page_size = static_cast<std::uint32_t>(its.page_size);
    options.filter_bits_per_key = static_cast<unsigned>(its.filter_bits_per_key);
    static_cast<void>(CodecOf(its.compression, &options.compression));  // checked before
    options.policy = CompactionPolicyOf(its);
    options.create_file = [this, family, page_size = its.page_size] {
      return MakeIndexFile(FileKind::kRun, page_size, family->merge_files);
    };
    return std::make_unique<LsmIndex>(options);
  }
  BTreeIndexOptions options;
  options.comparator = its.comparator;
  options.pool = pool_.get();
  options.segments.page_size = static_cast<std::uint32_t>(its.page_size);
  options.merges.sweep_ratio = static_cast<std::uint64_t>(its.sweep_ratio);
  options.filter_bits_per_key = static_cast<unsigned>(its.filter_bits_per_key);
  options.write_buffer_size = its.write_buffer_size;
  options.create_file = [this, family, page_size = its.page_size] {
    return MakeIndexFile(FileKind::kIndex, page_size, family->merge_files);
  };
  return std::make_unique<BTreeIndex>(options);
}

// Opens the runs and the tree or levels of a family that was named to Open, and shows it in the view.
Status DbImpl::OpenFamily(const ManifestState& state, const FamilyState& stored) {
  const ColumnFamilyDescriptor* const wanted = FindDescriptor(wanted_, stored.name);
  if (wanted == nullptr) return Status::OK();  // of no interest to a reader
  ColumnFamilyOptions options = wanted->options;
  options.page_size = stored.page_size;
  auto family = std::make_shared<Family>(stored.id, stored.name, options);
  family->index = MakeIndex(family.get());
  const auto open_file = [&](FileKind kind, std::uint64_t number) -> Result<std::shared_ptr<File>> {
    CAMBIUM_TRY(std::unique_ptr<File> file, OpenLayerFile(*fs_, path_, state, kind, number));
    return obsolete_.Track(number, std::move(file), true);
  };
  CAMBIUM_TRY(std::shared_ptr<const Layers> layers, OpenLayers(stored, options.comparator, pool_.get(), open_file));
  AddFamily(family, std::move(layers));
  if (stored.id == 0) default_handle_ = std::make_unique<FamilyHandle>(this, std::move(family));
  return Status::OK();
}

Status DbImpl::OpenSegments(const ManifestState& state) {
  SegmentTable table;
  for (const auto& [number, info] : state.segments) {
    FileInfo found;
    if (MutantIs(Mutant::kIgnoreMissingSegment) && info.kind == SegmentKind::kLog &&
        !fs_->GetInfo(FilePath(path_, FileKind::kLog, number), &found).ok()) {
      continue;
    }
    CAMBIUM_TRY(std::shared_ptr<Segment> segment,
                OpenSegment(*fs_, path_, state, info, !read_only_,
                            [this](const std::string& gone) { obsolete_.Add(gone); }));
    if (options_.allow_mmap_reads && info.kind != SegmentKind::kLargeValue) {
      // Nothing is appended to what another opening began. A footer, or space that was taken ahead, is no value's place.
      CAMBIUM_RETURN_IF_ERROR(segment->file().GetInfo(&found));
      const std::uint64_t end = info.sealed ? std::min(info.sealed_length, found.size) : found.size;
      segment->AllowMap(end);
      segment->map()->Complete(end);
    }
    table = table.With(info.slot, std::move(segment));
  }
  view_.Update([&](View* view) { view->segments = std::move(table); });
  return Status::OK();
}

// Fills the memory tables with what the log has beyond the durable layers.
Status DbImpl::Replay(const ManifestState& state, ReplayResult* result, Logger* logger) {
  const std::shared_ptr<const View> view = view_.Pin();
  ReplayRequest request;
  request.fs = fs_.get();
  request.directory = path_;
  request.state = &state;
  request.mode = options_.wal_recovery_mode;
  request.logger = logger;
  for (const FamilyView& each : view->families) request.inline_below[each.family->id] = each.family->in_force().separate_from;
  std::map<std::uint32_t, WriteTarget> batch;
  CAMBIUM_TRY(*result, ReplayLog(request, [&](const std::vector<ReplayedOp>& ops) {
    batch.clear();
    for (const ReplayedOp& op : ops) {
      const auto stored = state.families.find(op.family);
      if (stored == state.families.end() && op.family >= state.next_family_id) {
        return Status::Corruption(path_ + ": the log has an operation of column family " + std::to_string(op.family) +
                                  ", which was never made");
      }
      if (stored == state.families.end()) continue;  // dropped since
      const FamilyView* const found = view->Find(op.family);
      if (found == nullptr) continue;  // not named by a reader
      if (op.sequence <= stored->second.flushed_sequence && !MutantIs(Mutant::kReplayFlushed)) continue;
      WriteTarget& target = batch[op.family];
      target.family = found->family.get();
      ++(op.is_range ? target.ranges : target.operations);
      target.bytes += op.key.size() + op.entry.inline_value.size() + op.range_end.size();
      // Right checksums, and nothing this library writes.
      if (op.is_range && target.family->options().comparator->Compare(op.key, op.range_end) >= 0) {
        return Status::Corruption(path_ + ": operation " + std::to_string(op.sequence) +
                                  " of the log is a range delete that ends where it begins, or before");
      }
    }
    for (const auto& [id, target] : batch) {
      LogTable& table = *target.family->active;
      CAMBIUM_RETURN_IF_ERROR(table.Reserve(target.operations, target.bytes, target.ranges));
      if (!table.started()) table.StartAt({ops.front().batch_begin, ops.front().sequence - 1}, logged_bytes_);
    }
    for (const ReplayedOp& op : ops) {
      logged_bytes_ += op.log_bytes;
      const auto target = batch.find(op.family);
      if (target == batch.end()) continue;
      if (op.sequence <= state.families.at(op.family).flushed_sequence && !MutantIs(Mutant::kReplayFlushed)) continue;
      LogTable& table = *target->second.family->active;
      if (!op.is_range) {
        table.Add(op.sequence, op.key, op.entry);
      } else if (!MutantIs(Mutant::kReplayWithoutRanges)) {
        table.AddRange(op.sequence, op.key, op.range_end);
      }
    }
    return Status::OK();
  }));
  SequenceNumber last = result->last_sequence;
  for (const auto& [id, family] : state.families) last = std::max(last, family.flushed_sequence);
  published_.store(last);
  log_end_ = result->end;
  return Status::OK();
}

Status DbImpl::Recover(ManifestState state, std::uint64_t largest_number) {
  database_id_ = state.database_id;
  if (executor_ == nullptr) executor_ = Executor::NewThreadPool(options_.max_background_jobs, kUrgentThreads);

  for (const auto& [id, family] : state.families) CAMBIUM_RETURN_IF_ERROR(OpenFamily(state, family));
  CAMBIUM_RETURN_IF_ERROR(OpenSegments(state));
  CAMBIUM_RETURN_IF_ERROR(CheckStrayLogs(*fs_, path_, state));
  HeldMessages messages;
  ReplayResult replayed;
  CAMBIUM_RETURN_IF_ERROR(Replay(state, &replayed, &messages));
  if (logger_ == nullptr) logger_ = read_only_ ? NullLogger() : NewFileLogger(fs_, options_.clock, path_, options_.statistics);
  messages.PassOn(logger_.get());
  if (!replayed.torn.empty()) logger_->Log(InfoLogLevel::kInfo, "the log ends early: " + replayed.torn);
  const std::shared_ptr<const View> view = view_.Pin();
  for (const ReplayedSegment& adopted : replayed.adopted) {
    const std::shared_ptr<Segment>& segment = view->segments.Find(state.segments.at(adopted.number).slot);
    if (segment->map() != nullptr) segment->map()->Complete(adopted.length);
  }

  // A footer lists what was separated when it was written. Today's options may have separated other values of what was
  // replayed, so its footers are not to be believed; such a segment is read record by record.
  for (auto& [number, info] : state.segments) {
    if (info.kind == SegmentKind::kLog && state.replay < LogPosition{number, info.sealed_length}) info.has_footer = false;
  }
  // What was adopted must be as durable as what comes after it will be.
  SegmentEnd predecessor;
  for (const ReplayedSegment& adopted : replayed.adopted) {
    SegmentInfo& info = state.segments.at(adopted.number);
    const std::shared_ptr<Segment>& segment = view->segments.Find(info.slot);
    if (!read_only_ && !info.sealed && !MutantIs(Mutant::kSkipAdoptSync)) {
      const Status synced = segment->file().SyncData();
      if (!synced.ok()) return synced.WithContext("syncing the recovered log").Fatal();
    }
    if (!MutantIs(Mutant::kSkipNeutralise)) {
      info.sealed = true;
      info.has_footer = false;
      info.sealed_length = info.file_size = adopted.length;
      info.last_sequence = adopted.last_sequence;
    }
  }
  std::set<std::uint64_t> rejected;
  if (!MutantIs(Mutant::kSkipNeutralise)) rejected.insert(replayed.rejected.begin(), replayed.rejected.end());
  for (const auto& [number, info] : state.segments) {
    if (info.kind == SegmentKind::kLog && info.sealed && info.sealed_length > kFileHeaderSize &&
        !rejected.contains(number)) {
      predecessor = {view->segments.Find(info.slot), info.sealed_length, info.last_sequence};
    }
  }
  predecessor.last_sequence = published_.load();
  for (const auto& [number, info] : state.segments) {
    if (info.kind != SegmentKind::kLargeValue) continue;
    if (const auto referred = replayed.large_values.find(number); referred != replayed.large_values.end()) {
      large_committed_[number] = {referred->second, published_.load()};
    } else if (state.TotalAccount(info.slot).references == 0) {
      rejected.insert(number);  // its batch was never committed
    }
  }
  if (read_only_) {
    for (const std::uint64_t number : rejected) state.segments.erase(number);
    seen_ = std::make_unique<const ManifestState>(std::move(state));
    return Status::OK();
  }
  for (const std::uint64_t number : rejected) {
    const Slot slot = state.segments.at(number).slot;
    view_.Update([&](View* v) { v->segments = v->segments.Without(slot); });
    state.segments.erase(number);
  }

  // The new MANIFEST is the moment at which all of this becomes true.
  state.epoch += 1;
  epoch_ = state.epoch;
  state.last_sequence = std::max(state.last_sequence, published_.load());
  state.durable_sequence = published_.load();
  state.clean_shutdown = false;
  const std::uint64_t manifest_number = std::max(state.next_file_number, largest_number + 1);
  next_file_number_ = manifest_number + 1;
  state.next_file_number = next_file_number_;
  CAMBIUM_RETURN_IF_ERROR(state.Check());
  CAMBIUM_TRY(const std::vector<NumberedFile> files, ListNumberedFiles(*fs_, path_));
  AdoptReserve(files);
  const bool had_reserve = full_disk_.number != 0;
  MakeRoomForManifest(state);
  CAMBIUM_TRY(manifest_, Manifest::Create(*fs_, path_, HeaderFor(FileKind::kManifest, manifest_number),
                                          manifest_number, state, kManifestRollBytes, meter_));
  SegmentSource* const source = this;  // the base is private
  log_ = std::make_unique<CommitLog>(source, blob_file_size_, predecessor, published_.load(), &published_, meter_);
  CAMBIUM_RETURN_IF_ERROR(RemoveOrphans());
  // Space that could not be given back now is given back later: no reason not to serve.
  const Status dropped = DropUnreferenced();
  if (dropped.severity() == Status::Severity::kFatal) return dropped;
  if (!dropped.ok()) logger_->Log(InfoLogLevel::kWarn, "dropping segments: " + dropped.ToString());
  logger_->Log(InfoLogLevel::kInfo, "opened at sequence number " + std::to_string(published_.load()) + ", epoch " +
                                        std::to_string(epoch_) + ", after reading " +
                                        std::to_string(replayed.bytes_read) + " bytes of log");
  CAMBIUM_RETURN_IF_ERROR(CreateMissing());
  CAMBIUM_RETURN_IF_ERROR(PersistAtOpen());
  // Each opening that writes leaves a segment, and each that follows reads them all again until a flush.
  const auto to_replay = std::count_if(state.segments.begin(), state.segments.end(), [&](const auto& segment) {
    return segment.second.kind == SegmentKind::kLog && segment.first >= state.replay.segment;
  });
  const std::shared_ptr<const View> opened = view_.Pin();
  for (const FamilyView& each : opened->families) {
    Family* const family = each.family.get();
    if (to_replay > kReplaySegmentsMax && !each.active->empty() && !MutantIs(Mutant::kKeepTinySegments)) {
      const std::lock_guard lock(append_mutex_);
      Freeze(family, FlushReason::kRecovery);
    }
    if (CompactionIsDue(*family)) Schedule(Job::kCompact, each.family);
  }
  BeginSpace();
  if (had_reserve && full_disk_.number == 0) {
    OnNoSpace();
  } else if (ReserveIsDue()) {
    Schedule(Job::kReserve);
  }
  ResumePunching();
  return Status::OK();
}

Status DbImpl::CreateMissing() {
  for (const ColumnFamilyDescriptor& wanted : wanted_) {
    const std::shared_ptr<const View> view = view_.Pin();
    if (std::ranges::any_of(view->families, [&](const FamilyView& f) { return f.family->name == wanted.name; })) continue;
    const std::lock_guard lock(families_mutex_);
    CAMBIUM_RETURN_IF_ERROR(MakeFamily(wanted.options, wanted.name).status());
  }
  return Status::OK();
}

// Files of ours that the new MANIFEST does not name are what crashes left. Others are not ours to remove.
Status DbImpl::RemoveOrphans() {
  CAMBIUM_TRY(const std::vector<NumberedFile> files, ListNumberedFiles(*fs_, path_));
  const ManifestState& state = manifest_->state();
  for (const NumberedFile& file : files) {
    bool named = false;
    switch (file.kind) {
      case FileKind::kManifest: named = file.number >= manifest_->number(); break;
      case FileKind::kLog:
      case FileKind::kRelocation:
      case FileKind::kLargeValue: named = state.segments.contains(file.number); break;
      case FileKind::kIndex:
      case FileKind::kRun:
        named = std::ranges::any_of(state.families, [&](const auto& each) { return HasFile(each.second, file.number); });
        break;
      case FileKind::kOptions: named = true; break;  // whoever writes a new one removes the old ones
      case FileKind::kTemporary: break;
      case FileKind::kReserve: named = file.number == full_disk_.number; break;
    }
    if (named || MutantIs(Mutant::kKeepStrays)) continue;
    const Status removed = Unlink(file.kind, file.number);
    if (!removed.ok() && !removed.IsPathNotFound()) {
      logger_->Log(InfoLogLevel::kWarn, "could not remove an orphan: " + removed.ToString());
    }
  }
  return Status::OK();
}

}  // namespace cambium
