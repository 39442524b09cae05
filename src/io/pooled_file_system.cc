#include "io/pooled_file_system.h"

#include <algorithm>
#include <limits>

#include "io/descriptor_limit.h"
#include "io/pooled_file.h"
#include "io/pooled_read_queue.h"
#include "util/result.h"

namespace cambium {

Status PooledFileSystem::Open(const std::string& path, OpenMode mode, const FileOptions& options,
                              std::unique_ptr<File>* file) {
  if (mode == OpenMode::kCreateNew) CAMBIUM_RETURN_IF_ERROR(pool_->Health());
  Status opened = PooledFile::Open(pool_, path, mode, options, file);
  if (!opened.ok()) CAMBIUM_RETURN_IF_ERROR(pool_->Health());  // a sync by the pool may have failed just now
  return opened;
}

Status PooledFileSystem::Unlink(const std::string& path) {
  CAMBIUM_RETURN_IF_ERROR(pool_->Health());
  CAMBIUM_RETURN_IF_ERROR(pool_->LoseName(path));
  return base_->Unlink(path);
}

Status PooledFileSystem::Rename(const std::string& from, const std::string& to) {
  CAMBIUM_RETURN_IF_ERROR(pool_->Health());
  CAMBIUM_RETURN_IF_ERROR(pool_->LoseName(from));
  CAMBIUM_RETURN_IF_ERROR(pool_->LoseName(to));
  return base_->Rename(from, to);
}

Status PooledFileSystem::RenameToNew(const std::string& from, const std::string& to) {
  CAMBIUM_RETURN_IF_ERROR(pool_->Health());
  CAMBIUM_RETURN_IF_ERROR(pool_->LoseName(from));
  return base_->RenameToNew(from, to);
}

std::unique_ptr<ReadQueue> PooledFileSystem::NewReadQueue(std::size_t depth, bool use_io_uring) {
  return std::make_unique<PooledReadQueue>(base_->NewReadQueue(depth, use_io_uring));
}

std::shared_ptr<FileSystem> PoolFiles(const std::shared_ptr<FileSystem>& base, int max_open_files) {
  std::size_t max_open = std::numeric_limits<std::size_t>::max();
  if (max_open_files == 0) max_open = std::max<std::size_t>(1, RaiseDescriptorLimit() / 4 * 3);
  if (max_open_files > 0) max_open = static_cast<std::size_t>(max_open_files);
  return std::make_shared<PooledFileSystem>(base, max_open);
}

}  // namespace cambium
