#include <filesystem>
#include <optional>
#include <system_error>

#include "entry_source.h"
#include "value_file.h"

namespace cambium::tool {
namespace {

namespace fs = std::filesystem;

class FolderSource final : public EntrySource {
 public:
  FolderSource(fs::path root, fs::recursive_directory_iterator first) : root_(std::move(root)), next_(std::move(first)) {}

  // An error ends the import: otherwise entries would be missing without a notice.
  Status Next(ImportedEntry* entry, bool* has_one) override {
    *has_one = false;
    while (!*has_one && next_ != fs::recursive_directory_iterator()) {
      const fs::path path = next_->path();
      std::error_code error;
      const bool is_link = next_->is_symlink(error);
      const bool is_file = !error && !is_link && next_->is_regular_file(error);
      if (error) return Error(path, error);
      if (is_file) {
        entry->key = path.lexically_relative(root_).string();
        if (const Status read = ReadValueFile(path.string(), &entry->value); !read.ok()) return read;
        done_ += entry->value.size();
        *has_one = true;
      }
      next_.increment(error);  // into `path`, if that is a directory; after an error this is the end
      if (error) return Error(path, error);
    }
    return Status::OK();
  }

  [[nodiscard]] double Part() const override {
    if (!all_.has_value()) all_ = CountBytes();
    return *all_ == 0 ? 0 : static_cast<double>(done_) / static_cast<double>(*all_);
  }

 private:
  static Status Error(const fs::path& path, const std::error_code& error) {
    return Status::IOError(path.string() + ": " + error.message());
  }

  // Ignores errors: they end the import itself.
  [[nodiscard]] std::uint64_t CountBytes() const {
    std::uint64_t bytes = 0;
    std::error_code error;
    fs::recursive_directory_iterator next(root_, error);
    for (; !error && next != fs::recursive_directory_iterator(); next.increment(error)) {
      std::error_code unknown;
      if (next->is_symlink(unknown) || !next->is_regular_file(unknown)) continue;
      const std::uint64_t size = next->file_size(unknown);
      if (!unknown) bytes += size;
    }
    return bytes;
  }

  const fs::path root_;
  std::uint64_t done_ = 0;
  mutable std::optional<std::uint64_t> all_;
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
