#include "index/index_file.h"

#include <algorithm>
#include <cassert>
#include <memory>

#include "index/compressed_page.h"
#include "index/page_pool.h"
#include "index/read_bytes.h"

namespace cambium {

IndexFile::IndexFile(std::shared_ptr<File> file, const FileHeader& header, PagePool* pool, std::uint64_t expected_size)
    : file_(std::move(file)),
      header_(header),
      seed_(header.Seed()),
      page_size_(static_cast<std::uint32_t>(header.page_size)),
      pool_(pool),
      map_(pool != nullptr && pool->maps_files() ? std::make_unique<SegmentMap>(*file_, expected_size) : nullptr) {
  assert(IsLegalPageSize(header.page_size));
}

IndexFile::~IndexFile() {
  if (pool_ != nullptr) pool_->Forget(*this);
}

Result<std::shared_ptr<const IndexFile>> IndexFile::Open(std::shared_ptr<File> file, FileKind kind,
                                                         std::uint64_t number, PagePool* pool) {
  char bytes[kFileHeaderSize];
  std::size_t read = 0;
  CAMBIUM_RETURN_IF_ERROR(ReadBytes(*file, 0, kFileHeaderSize, bytes, &read));
  CAMBIUM_TRY(const FileHeader header, DecodeFileHeader({bytes, read}, file->path()));
  if (header.kind != kind || header.number != number) {
    return Status::Corruption(file->path() + ":0: header says kind " +
                              std::to_string(static_cast<std::uint32_t>(header.kind)) + ", number " +
                              std::to_string(header.number) + "; expected kind " +
                              std::to_string(static_cast<std::uint32_t>(kind)) + ", number " + std::to_string(number));
  }
  if (number > kPageFileNumberMax) {
    return Status::Corruption(file->path() + ":0: number " + std::to_string(number) + " does not fit page ids");
  }
  if (!IsLegalPageSize(header.page_size)) {
    return Status::Corruption(file->path() + ":0: page size of " + std::to_string(header.page_size) + " bytes");
  }
  return std::make_shared<const IndexFile>(std::move(file), header, pool);
}

Status IndexFile::ReadPage(PageId id, char* out) const {
  assert(FileNumberOf(id) == number());
  if (UnitOffsetOf(id) == 0) {
    return Status::Corruption("lies in the file header").WithContext(PagePlaceName(path(), 0));
  }
  // If the copy is damaged, the file is read, so that the error is the same with and without a mapping.
  const MappedRegion* const map = MapOf(id);
  const bool is_copied = map != nullptr && map->CopyOut(OffsetOf(id), PageBytes(id), out).ok();
  if (is_copied && VerifyPage({out, PageBytes(id)}, id, page_size_, seed_, path()).ok()) return Status::OK();
  std::size_t read = 0;
  CAMBIUM_RETURN_IF_ERROR(ReadBytes(*file_, OffsetOf(id), PageBytes(id), out, &read));
  return VerifyPage({out, read}, id, page_size_, seed_, path());
}

Status IndexFile::ReadAndExpandPage(PageId id, std::vector<char>* out) const {
  std::vector<char> stored(PageBytes(id));
  CAMBIUM_RETURN_IF_ERROR(ReadPage(id, stored.data()));
  const Slice bytes(stored.data(), stored.size());
  if (!CompressedPage::Is(bytes)) {
    *out = std::move(stored);
    return Status::OK();
  }
  CAMBIUM_TRY(const CompressedPage page, CompressedPage::Parse(bytes, page_size_, path(), OffsetOf(id)));
  out->resize(page.raw_size());
  return page.Expand(out->data(), path(), OffsetOf(id));
}

const IndexFile* FileSet::Find(std::uint64_t number) const {
  if (files_ == nullptr) return nullptr;
  const auto it = std::lower_bound(files_->begin(), files_->end(), number,
                                   [](const auto& file, std::uint64_t n) { return file->number() < n; });
  return it != files_->end() && (*it)->number() == number ? it->get() : nullptr;
}

Result<const IndexFile*> FileSet::FileOf(PageId id) const {
  if (const IndexFile* file = Find(FileNumberOf(id)); file != nullptr) return file;
  return Status::Corruption("index page in file " + std::to_string(FileNumberOf(id)) + ", unit " +
                            std::to_string(UnitOffsetOf(id)) + ": no such file in this view");
}

FileSet FileSet::With(std::shared_ptr<const IndexFile> file) const {
  auto files = std::make_shared<Files>(this->files());
  const auto it = std::lower_bound(files->begin(), files->end(), file->number(),
                                   [](const auto& f, std::uint64_t n) { return f->number() < n; });
  if (it != files->end() && (*it)->number() == file->number()) {
    *it = std::move(file);
  } else {
    files->insert(it, std::move(file));
  }
  FileSet result;
  result.files_ = std::move(files);
  return result;
}

FileSet FileSet::Without(std::uint64_t number) const {
  auto files = std::make_shared<Files>(this->files());
  std::erase_if(*files, [&](const auto& file) { return file->number() == number; });
  FileSet result;
  result.files_ = std::move(files);
  return result;
}

const std::vector<std::shared_ptr<const IndexFile>>& FileSet::files() const {
  static const Files none;
  return files_ == nullptr ? none : *files_;
}

}  // namespace cambium
