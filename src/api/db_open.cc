// Opening: from a directory to a database that serves, in the order that makes a crash at any step harmless.
//
//   lock -> MANIFEST -> identity checks -> files of the layers and the log -> replay -> adopted segments synced
//        -> a new MANIFEST with a new epoch, which seals them and forgets what was rejected -> orphans removed -> serve
//
// Nothing is written before the checks have passed. Every step is idempotent: until the new MANIFEST is durable the next
// opening sees what this one saw.
#include <algorithm>
#include <cassert>

#include "api/db_impl.h"
#include "api/file_logger.h"
#include "api/log_replay.h"
#include "api/open_files.h"
#include "api/options_check.h"
#include "btree/btree_index.h"
#include "io/file_header.h"
#include "manifest/file_names.h"
#include "util/fork_guard.h"
#include "util/mutant.h"

namespace cambium {
namespace {

std::string ParentOf(const std::string& path) {
  std::string trimmed = path;
  while (trimmed.size() > 1 && trimmed.back() == '/') trimmed.pop_back();
  const std::size_t slash = trimmed.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : trimmed.substr(0, slash);
}

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

Status DB::Open(const Options& options, const std::string& path, std::unique_ptr<DB>* db) {
  db->reset();
  CAMBIUM_TRY(std::unique_ptr<DbImpl> opened, DbImpl::OpenAt(options, path, false));
  *db = std::move(opened);
  return Status::OK();
}

Status DB::Open(const Options& options, const std::string& path, DB** db) {
  *db = nullptr;
  std::unique_ptr<DB> opened;
  const Status s = Open(options, path, &opened);
  if (s.ok()) *db = opened.release();
  return s;
}

Status DB::OpenForReadOnly(const Options& options, const std::string& path, std::unique_ptr<DB>* db) {
  db->reset();
  CAMBIUM_TRY(std::unique_ptr<DbImpl> opened, DbImpl::OpenAt(options, path, true));
  *db = std::move(opened);
  return Status::OK();
}

DbImpl::DbImpl(const Options& options, std::string path, bool read_only)
    : options_(FillInDefaults(options)),
      path_(std::move(path)),
      read_only_(read_only),
      fork_generation_(ForkGeneration()),
      fs_(options_.file_system),
      executor_(options_.executor),
      logger_(options_.info_log),
      pool_(std::make_unique<PagePool>(options_.page_cache_size)),
      obsolete_([this] { Schedule(Job::kRemove); }) {}

Result<std::unique_ptr<DbImpl>> DbImpl::OpenAt(const Options& options, const std::string& path, bool read_only) {
  CAMBIUM_RETURN_IF_ERROR(CheckOptions(options));
  auto db = std::unique_ptr<DbImpl>(new DbImpl(options, path, read_only));
  CAMBIUM_RETURN_IF_ERROR(db->Start());
  return db;
}

FileHeader DbImpl::HeaderFor(FileKind kind, std::uint64_t number) const {
  FileHeader header;
  header.kind = kind;
  header.database_id = database_id_;
  options_.random_source->Fill(reinterpret_cast<char*>(header.file_id.data()), header.file_id.size());
  header.number = number;
  header.epoch = epoch_;
  header.created_seconds = options_.clock->WallSeconds();
  header.page_size = kind == FileKind::kRun || kind == FileKind::kIndex ? page_size_ : 0;
  return header;
}

Status DbImpl::Start() {
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
    FamilyState family;
    family.name = "default";
    family.index_type = IndexType::kBTree;
    family.comparator = options_.comparator->Name();
    family.page_size = options_.page_size;
    state.families[0] = family;
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
  CAMBIUM_RETURN_IF_ERROR(CheckUnderstood(path_, state));
  const FamilyState& family = state.families.at(0);
  if (family.comparator != options_.comparator->Name()) {
    return Status::InvalidArgument(path_ + ": keys are ordered by comparator \"" + family.comparator +
                                   "\", and the options give \"" + options_.comparator->Name() + "\"");
  }
  return Status::OK();
}

// Opens the runs and the tree, and makes the Index: the only place that knows which back-end a family has.
Status DbImpl::OpenLayers(const ManifestState& state) {
  const FamilyState& family = state.families.at(0);
  BTreeIndexOptions options;
  options.comparator = options_.comparator;
  options.pool = pool_.get();
  options.segments.page_size = static_cast<std::uint32_t>(page_size_);
  options.merges.sweep_ratio = static_cast<std::uint64_t>(options_.sweep_ratio);
  options.create_file = [this] { return MakeIndexFile(FileKind::kIndex); };
  index_ = std::make_unique<BTreeIndex>(options);

  CAMBIUM_TRY(std::shared_ptr<const Layers> layers,
              TreeLayers::Open(family, options_.comparator, pool_.get(),
                               [&](FileKind kind, std::uint64_t number) -> Result<std::shared_ptr<File>> {
                                 CAMBIUM_TRY(std::unique_ptr<File> file, OpenLayerFile(*fs_, path_, state, kind, number));
                                 return obsolete_.Track(number, std::move(file), true);
                               }));
  view_.Update([&](View* view) { view->families.push_back({family.id, active_, {}, layers}); });
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
    table = table.With(info.slot, std::move(segment));
  }
  view_.Update([&](View* view) { view->segments = std::move(table); });
  return Status::OK();
}

Status DbImpl::Recover(ManifestState state, std::uint64_t largest_number) {
  const FamilyState& family = state.families.at(0);
  page_size_ = family.page_size;
  options_.page_size = page_size_;
  database_id_ = state.database_id;
  separate_from_ = SeparateFrom(options_, page_size_);
  if (!options_.comparator->EqualMeansSameBytes()) equal_by_ = options_.comparator;
  if (!CodecOf(options_.blob_compression_type, &codec_)) return Status::NotSupported("blob_compression_type");
  if (executor_ == nullptr) executor_ = Executor::NewThreadPool(options_.max_background_jobs);

  active_ = std::make_shared<MemTable>(options_.comparator);
  CAMBIUM_RETURN_IF_ERROR(OpenLayers(state));
  CAMBIUM_RETURN_IF_ERROR(OpenSegments(state));
  CAMBIUM_RETURN_IF_ERROR(CheckStrayLogs(*fs_, path_, state));

  ReplayRequest request;
  request.fs = fs_.get();
  request.directory = path_;
  request.state = &state;
  request.mode = options_.wal_recovery_mode;
  HeldMessages messages;
  request.logger = &messages;
  request.inline_below = separate_from_;
  const SequenceNumber flushed = MutantIs(Mutant::kReplayFlushed) ? 0 : family.flushed_sequence;
  CAMBIUM_TRY(const ReplayResult replayed, ReplayLog(request, [&](const std::vector<ReplayedOp>& ops) {
                std::size_t bytes = 0;
                for (const ReplayedOp& op : ops) bytes += op.key.size() + op.entry.inline_value.size();
                CAMBIUM_RETURN_IF_ERROR(active_->Reserve(ops.size(), bytes));
                for (const ReplayedOp& op : ops) {
                  if (op.family != 0) {
                    return Status::Corruption(path_ + ": the log has an operation of column family " +
                                              std::to_string(op.family) + ", which does not exist");
                  }
                  if (op.sequence <= flushed) continue;
                  active_->Add(op.sequence, op.key, op.entry);
                  active_log_bytes_ += op.log_bytes;
                }
                return Status::OK();
              }));
  if (logger_ == nullptr) logger_ = read_only_ ? NullLogger() : NewFileLogger(fs_, options_.clock, path_);
  messages.PassOn(logger_.get());
  if (!replayed.torn.empty()) logger_->Log(InfoLogLevel::kInfo, "the log ends early: " + replayed.torn);
  published_.store(std::max(replayed.last_sequence, family.flushed_sequence));
  log_end_ = replayed.end;
  if (read_only_) return Status::OK();

  // What was adopted must be as durable as what comes after it will be.
  const std::shared_ptr<const View> view = view_.Pin();
  SegmentEnd predecessor;
  for (const ReplayedSegment& adopted : replayed.adopted) {
    SegmentInfo& info = state.segments.at(adopted.number);
    const std::shared_ptr<Segment>& segment = view->segments.Find(info.slot);
    if (!info.sealed && !MutantIs(Mutant::kSkipAdoptSync)) {
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
  const std::set<std::uint64_t> referred(replayed.large_values.begin(), replayed.large_values.end());
  for (const auto& [number, info] : state.segments) {
    if (info.kind != SegmentKind::kLargeValue) continue;
    if (referred.contains(number)) {
      large_committed_[number] = published_.load();
    } else if (state.TotalAccount(info.slot).references == 0) {
      rejected.insert(number);  // its batch was never committed
    }
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
  CAMBIUM_TRY(manifest_, Manifest::Create(*fs_, path_, HeaderFor(FileKind::kManifest, manifest_number),
                                          manifest_number, state));
  SegmentSource* const source = this;  // the base is private
  log_ = std::make_unique<CommitLog>(source, options_.blob_file_size, predecessor, published_.load(), &published_);
  CAMBIUM_RETURN_IF_ERROR(RemoveOrphans());
  // Space that could not be given back now is given back later: no reason not to serve.
  const Status dropped = DropUnreferenced();
  if (dropped.severity() == Status::Severity::kFatal) return dropped;
  if (!dropped.ok()) logger_->Log(InfoLogLevel::kWarn, "dropping segments: " + dropped.ToString());
  logger_->Log(InfoLogLevel::kInfo, "opened at sequence number " + std::to_string(published_.load()) + ", epoch " +
                                        std::to_string(epoch_) + ", after reading " +
                                        std::to_string(replayed.bytes_read) + " bytes of log");
  // Each opening that writes leaves a segment, and each that follows reads them all again until a flush.
  const auto to_replay = std::count_if(state.segments.begin(), state.segments.end(), [&](const auto& segment) {
    return segment.second.kind == SegmentKind::kLog && segment.first >= state.replay.segment;
  });
  if (to_replay > kReplaySegmentsMax && !active_->empty() && !MutantIs(Mutant::kKeepTinySegments)) {
    const std::lock_guard lock(append_mutex_);
    Freeze();
  }
  if (MergeIsDue()) Schedule(Job::kMerge);
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
      case FileKind::kLargeValue: named = state.segments.contains(file.number); break;
      case FileKind::kIndex: named = state.families.at(0).index_segments.contains(file.number); break;
      case FileKind::kRun:
        named = std::any_of(state.families.at(0).runs.begin(), state.families.at(0).runs.end(),
                            [&](const RunInfo& run) { return run.number == file.number; });
        break;
    }
    if (named) continue;
    const std::string path = FilePath(path_, file.kind, file.number);
    const Status removed = fs_->Unlink(path);
    if (!removed.ok() && !removed.IsPathNotFound()) {
      logger_->Log(InfoLogLevel::kWarn, "could not remove an orphan: " + removed.ToString());
    }
  }
  return Status::OK();
}

}  // namespace cambium
