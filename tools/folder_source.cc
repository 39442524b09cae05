#include <filesystem>
#include <system_error>

#include "entry_source.h"
#include "value_file.h"

namespace cambium::tool {
namespace {

namespace fs = std::filesystem;

class FolderSource final : public EntrySource {
 public:
  FolderSource(fs::path root, fs::recursive_directory_iterator first) : root_(std::move(root)), next_(std::move(first)) {}

  Status Next(ImportedEntry* entry, bool* has_one) override {
    std::error_code error;
    for (; next_ != fs::recursive_directory_iterator(); next_.increment(error)) {
      if (error) return Status::IOError(root_.string() + ": " + error.message());
      if (next_->is_symlink(error) || !next_->is_regular_file(error)) continue;
      entry->key = next_->path().lexically_relative(root_).string();
      const Status read = ReadValueFile(next_->path().string(), &entry->value);
      *has_one = true;
      next_.increment(error);
      return error ? Status::IOError(root_.string() + ": " + error.message()) : read;
    }
    *has_one = false;
    return Status::OK();
  }

 private:
  const fs::path root_;
  fs::recursive_directory_iterator next_;
};

}  // namespace

Status OpenFolder(const std::string& path, std::unique_ptr<EntrySource>* source) {
  std::error_code error;
  fs::recursive_directory_iterator first(path, error);
  if (error) return Status::IOError(path + ": " + error.message());
  *source = std::make_unique<FolderSource>(path, std::move(first));
  return Status::OK();
}

}  // namespace cambium::tool
