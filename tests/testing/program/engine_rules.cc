#include "testing/program/engine_rules.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "io/file_header.h"
#include "manifest/file_names.h"
#include "manifest/manifest_reader.h"

namespace cambium::testing {
namespace {

struct NamedBytes {
  FileKind kind;
  std::uint64_t number;
  std::uint64_t length;  // bytes that must be durable
  bool sealed;           // the bytes must never change
};

std::vector<NamedBytes> FilesOf(const ManifestState& state) {
  std::vector<NamedBytes> files;
  for (const auto& [number, segment] : state.segments) {
    const FileKind kind = FileKindOf(segment.kind);
    if (segment.sealed) {
      files.push_back({kind, number, std::max<std::uint64_t>(segment.sealed_length, kFileHeaderSize), true});
    } else {
      files.push_back({kind, number, kFileHeaderSize, false});
    }
    if (!segment.sealed && number == state.replay.segment) files.back().length = state.replay.offset;
  }
  for (const auto& [id, family] : state.families) {
    for (const RunInfo& run : family.runs) files.push_back({FileKind::kRun, run.number, run.file_size, true});
    for (const auto& [number, segment] : family.index_segments) {
      files.push_back({FileKind::kIndex, number, segment.length, true});
    }
  }
  return files;
}

std::string BaseName(std::string_view path) {
  const auto slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

}  // namespace

bool IsFailedSync(const SimOp& op) {
  const bool is_sync = op.kind == SimOpKind::kSync || op.kind == SimOpKind::kSyncDirectory;
  return is_sync && op.phase == SimPhase::kAfter && !op.status->ok() && !op.path.ends_with(".dbtmp");
}

EngineRules::EngineRules(std::shared_ptr<SimFileSystem> fs, std::string directory)
    : fs_(std::move(fs)), directory_(std::move(directory)) {
  OnOpen();
  hook_ = fs_->AddHook([this](const SimOp& op) { See(op); });
}

EngineRules::~EngineRules() { fs_->RemoveHook(hook_); }

void EngineRules::OnOpen() {
  sync_failed_ = false;
  if (checker_ != nullptr && violation_.empty() && !checker_->violations().empty()) {
    violation_ = checker_->violations().front();
  }
  checker_ = std::make_unique<OrderChecker>(fs_.get());
  checker_->ForbidUnlink([this](const std::string& path) { return DurableManifestNames(path); });
}

std::string EngineRules::violation() const {
  if (!violation_.empty()) return violation_;
  const std::vector<std::string> violations = checker_->violations();
  return violations.empty() ? "" : violations.front();
}

void EngineRules::Report(const SimOp& op, const std::string& what) {
  if (!violation_.empty()) return;
  violation_ = "operation " + std::to_string(op.index) + ": " + SimOpName(op.kind) + " " + std::string(op.path) + ": " + what;
}

void EngineRules::See(const SimOp& op) {
  if (IsFailedSync(op)) {
    sync_failed_ever_ = true;
    if (!op.status->IsNoSpace()) sync_failed_ = true;
  }
  if (op.kind == SimOpKind::kUnlink && op.phase == SimPhase::kBefore && sync_failed_) {
    Report(op, "a file is deleted although a sync has failed");
  }
  if (op.kind == SimOpKind::kWrite && op.phase == SimPhase::kAfter && op.status->ok() &&
      BaseName(op.path).starts_with("MANIFEST-")) {
    CheckManifest(op);
  }
}

void EngineRules::CheckManifest(const SimOp& op) {
  SimFileSystem copy(fs_->Snapshot());
  const Result<ManifestRead> read = ReadManifest(copy, directory_);
  if (!read.ok()) return;
  for (const NamedBytes& file : FilesOf(read->state)) {
    const std::string path = FilePath(directory_, file.kind, file.number);
    if (!SurvivesEveryCut(path, file.length)) {
      Report(op, "names " + path + ", of which " + std::to_string(file.length) + " bytes are not durable yet");
    }
    if (file.sealed && fs_->probe().InodeOf(path) != 0) checker_->Seal(path, file.length);
  }
}

bool EngineRules::SurvivesEveryCut(const std::string& path, std::uint64_t length) const {
  if (fs_->probe().IsFullyDurable(path, length)) return true;
  // An unsynced hole may survive or not: either way no live byte changes.
  if (fs_->probe().IsNameDurable(path) && fs_->probe().HasOnlyHolesUnsynced(path) &&
      fs_->probe().DurableSize(path) >= length)
    return true;
  if (!sync_failed_ever_) return false;
  // If a failed sync dropped a page, IsFullyDurable counts all of the page as not durable, but some of its bytes may
  // have been durable before. So compare the two extreme cuts.
  Prng prng(0);
  std::string bytes[2];
  for (const SimDamage damage : {SimDamage::kAllLost, SimDamage::kAllKept}) {
    const SimFileSystem cut(fs_->DrawCrash(prng, DamageMix::Only(damage)));
    std::string& prefix = bytes[damage == SimDamage::kAllLost ? 0 : 1];
    if (!cut.probe().ReadContents(path, &prefix).ok() || prefix.size() < length) return false;
    prefix.resize(length);
  }
  return bytes[0] == bytes[1];
}

bool EngineRules::DurableManifestNames(const std::string& path) const {
  const std::optional<NumberedFile> file = ParseFileName(BaseName(path));
  if (!file.has_value()) return false;
  Prng prng(0);
  SimFileSystem copy(fs_->DrawCrash(prng, DamageMix::Only(SimDamage::kAllLost)));
  const Result<ManifestRead> read = ReadManifest(copy, directory_);
  if (!read.ok()) return false;
  if (file->kind == FileKind::kManifest) return file->number == read->number;
  const std::vector<NamedBytes> files = FilesOf(read->state);
  return std::any_of(files.begin(), files.end(), [&](const NamedBytes& named) { return named.number == file->number; });
}

std::string EngineRules::CheckSynced() const {
  for (const SimProbe::NamedFile& file : fs_->probe().ListFiles()) {
    if (file.path.ends_with(".log") && fs_->probe().HasUnsyncedData(file.path) &&
        !fs_->probe().HasOnlyHolesUnsynced(file.path)) {
      return "a sync was acknowledged while " + file.path + " has unsynced bytes";
    }
  }
  return "";
}

}  // namespace cambium::testing
