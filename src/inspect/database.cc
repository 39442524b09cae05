#include "inspect/database.h"

#include <algorithm>
#include <utility>

#include "io/at_directory.h"
#include "io/pooled_file_system.h"
#include "recovery/open_files.h"
#include "recovery/open_layers.h"
#include "cambium/convenience.h"
#include "manifest/state_check.h"

namespace cambium {

Result<std::unique_ptr<InspectedDatabase>> InspectedDatabase::Open(std::shared_ptr<FileSystem> fs,
                                                                   const std::string& path,
                                                                   std::uint64_t lock_wait_micros) {
  FileInfo info;
  CAMBIUM_RETURN_IF_ERROR(fs->GetInfo(path, &info));
  CAMBIUM_TRY(std::shared_ptr<FileSystem> opened, AtDirectory(fs, path));
  opened = PoolFiles(opened, DBOptions().max_open_files);
  auto database = std::unique_ptr<InspectedDatabase>(new InspectedDatabase(std::move(opened), path));
  CAMBIUM_RETURN_IF_ERROR(database->fs_->Lock(path, LockMode::kShared, lock_wait_micros, &database->lock_));
  Result<ManifestRead> read = ReadManifest(*database->fs_, path);
  if (!read.ok() && read.status().IsNotFound()) return Status::InvalidArgument(path + ": holds no database");
  CAMBIUM_TRY(database->manifest_, std::move(read));
  CAMBIUM_RETURN_IF_ERROR(CheckDefaultFamily(path, database->state()));
  return database;
}

Status InspectedDatabase::OpenFiles() {
  for (const auto& [id, family] : state().families) {
    const Comparator* const comparator = BuiltInComparator(family.comparator);
    if (comparator == nullptr) {
      return Status::InvalidArgument(path_ + ": keys of column family \"" + family.name +
                                     "\" are ordered by comparator \"" + family.comparator +
                                     "\", which is not the library's own");
    }
    families_[id] = {&family, comparator, nullptr, std::make_unique<MemTable>(comparator)};
  }
  CAMBIUM_RETURN_IF_ERROR(OpenSegments());
  for (const auto& [id, family] : state().families) CAMBIUM_RETURN_IF_ERROR(OpenFamily(family));
  return ReadTail();
}

const InspectedDatabase::Family* InspectedDatabase::FindFamily(std::uint32_t id) const {
  const auto found = families_.find(id);
  return found == families_.end() ? nullptr : &found->second;
}

Status InspectedDatabase::OpenSegments() {
  for (const auto& [number, info] : state().segments) {
    Result<std::shared_ptr<Segment>> segment = OpenSegment(*fs_, path_, state(), info, false, nullptr);
    CAMBIUM_RETURN_IF_ERROR(problems_.Note(segment.status()));
    if (segment.ok()) segments_ = segments_.With(info.slot, *segment);
  }
  return Status::OK();
}

Status InspectedDatabase::OpenFamily(const FamilyState& family) {
  const auto open_file = [&](FileKind kind, std::uint64_t number) -> Result<std::shared_ptr<File>> {
    CAMBIUM_TRY(std::unique_ptr<File> file, OpenLayerFile(*fs_, path_, state(), kind, number));
    return std::shared_ptr<File>(std::move(file));
  };
  Family& its = families_.at(family.id);
  Result<std::shared_ptr<const Layers>> layers = OpenLayers(family, its.comparator, pool_.get(), open_file);
  if (layers.ok()) its.layers = *layers;
  return problems_.Note(layers.status());
}

Status InspectedDatabase::ReadTail() {
  ConfigOptions config;
  config.ignore_unknown_options = true;
  config.file_system = fs_;
  DBOptions options;
  std::vector<ColumnFamilyDescriptor> families;
  const Status known = LoadLatestOptions(config, path_, &options, &families);
  if (known.IsDenied()) return known;
  if (known.ok()) recovery_mode_ = options.wal_recovery_mode;
  ReplayRequest request;
  request.mode = recovery_mode_;
  request.fs = fs_.get();
  request.directory = path_;
  request.state = &state();
  Result<ReplayResult> replayed =
      ReplayLog(request, [this](const std::vector<ReplayedOp>& batch) { return AddToTail(batch); });
  has_tail_ = replayed.ok();
  if (replayed.ok()) replayed_ = *std::move(replayed);
  return has_tail_ ? Status::OK() : problems_.Note(replayed.status());
}

Status InspectedDatabase::AddToTail(const std::vector<ReplayedOp>& batch) {
  for (const ReplayedOp& op : batch) {
    const auto family = families_.find(op.family);
    if (family == families_.end() || op.sequence <= family->second.state->flushed_sequence) continue;
    PendingBytes& pending = pending_[op.batch_begin.segment];  // a batch never crosses a segment
    ++pending.operations;
    pending.bytes += op.log_bytes;
    MemTable& table = *family->second.tail;
    const std::size_t bytes = op.key.size() + op.range_end.size();
    CAMBIUM_RETURN_IF_ERROR(table.Reserve(op.is_range ? 0 : 1, bytes, op.is_range ? 1 : 0));
    if (!op.is_range) {
      table.Add(op.sequence, op.key, op.entry);
    } else if (family->second.comparator->Compare(op.key, op.range_end) < 0) {
      table.AddRange(op.sequence, op.key, op.range_end);
    }
  }
  return Status::OK();
}

std::uint64_t InspectedDatabase::LogEndOf(const SegmentInfo& info) const {
  if (info.kind == SegmentKind::kLog) {
    for (const ReplayedSegment& adopted : replayed_.adopted) {
      if (adopted.number == info.number) return adopted.length;
    }
  }
  if (info.sealed) return info.sealed_length;
  return info.number == state().replay.segment ? std::max<std::uint64_t>(state().replay.offset, kFileHeaderSize)
                                               : kFileHeaderSize;
}

}  // namespace cambium
