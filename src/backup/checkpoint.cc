#include "cambium/checkpoint.h"

#include <memory>
#include <utility>

#include "api/db_inside.h"
#include "backup/clone.h"
#include "io/at_directory.h"
#include "options/options_check.h"
#include "util/null_argument.h"

namespace cambium {
namespace {

class CheckpointImpl final : public Checkpoint {
 public:
  explicit CheckpointImpl(DbInside* inside) : inside_(*inside) {}

  Status CreateCheckpoint(const std::string& directory, std::uint64_t log_size_for_flush,
                          std::uint64_t* sequence_number) override {
    CAMBIUM_TRY(const Capture capture, inside_.CaptureNow(log_size_for_flush));
    CAMBIUM_RETURN_IF_ERROR(WriteClone(inside_.file_system(), inside_.db().GetName(), capture, directory));
    if (sequence_number != nullptr) *sequence_number = capture.state.durable_sequence;
    return Status::OK();
  }

 private:
  DbInside& inside_;
};

}  // namespace

Status Checkpoint::Create(DB* db, std::unique_ptr<Checkpoint>* checkpoint) {
  if (checkpoint == nullptr) return NullArgument("Checkpoint::Create", "checkpoint");
  checkpoint->reset();
  DbInside* const inside = DbInside::Of(db);
  if (inside == nullptr) return Status::InvalidArgument("a checkpoint needs a database that DB::Open opened");
  *checkpoint = std::make_unique<CheckpointImpl>(inside);
  return Status::OK();
}

Status Checkpoint::Create(DB* db, Checkpoint** checkpoint) {
  if (checkpoint == nullptr) return NullArgument("Checkpoint::Create", "checkpoint");
  std::unique_ptr<Checkpoint> made;
  const Status created = Create(db, &made);
  *checkpoint = made.release();
  return created;
}

namespace {

// Locks a database that no process has open for writing, captures it, and calls `then` with the capture.
template <typename Then>
Status WithClosed(const DBOptions& options, const std::string& path, Then&& then) {
  CAMBIUM_RETURN_IF_ERROR(CheckDbOptions(options));
  const DBOptions filled = FillInDefaults(options);
  FileInfo info;
  CAMBIUM_RETURN_IF_ERROR(filled.file_system->GetInfo(path, &info));
  CAMBIUM_TRY(const std::shared_ptr<FileSystem> fs, AtDirectory(filled.file_system, path));
  std::unique_ptr<FileLock> lock;
  CAMBIUM_RETURN_IF_ERROR(fs->Lock(path, LockMode::kShared, filled.lock_wait_micros, &lock));
  CAMBIUM_TRY(const Capture capture, CaptureClosed(*fs, path, *filled.random_source));
  return then(fs, capture);
}

}  // namespace

Status CheckpointOffline(const DBOptions& options, const std::string& path, const std::string& directory,
                         const std::function<void(std::uint64_t done, std::uint64_t all)>& progress) {
  return WithClosed(options, path, [&](const std::shared_ptr<FileSystem>& fs, const Capture& capture) {
    return WriteClone(fs, path, capture, directory, progress);
  });
}

Status PlanCheckpointOffline(const DBOptions& options, const std::string& path, const std::string& directory,
                             CopyPlan* plan) {
  return WithClosed(options, path, [&](const std::shared_ptr<FileSystem>& fs, const Capture& capture) {
    return PlanClone(*fs, path, capture, directory, plan);
  });
}

}  // namespace cambium
