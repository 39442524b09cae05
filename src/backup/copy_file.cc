#include "backup/copy_file.h"

#include <algorithm>
#include <memory>

namespace cambium {
namespace {

constexpr std::size_t kPieceBytes = 1u << 20;
constexpr std::size_t kBlockBytes = 4096;

bool IsZero(Slice bytes) {
  return std::all_of(bytes.data(), bytes.data() + bytes.size(), [](char byte) { return byte == 0; });
}

// Writes a piece without its blocks of zeros. `at` is a multiple of the block size.
Status WriteSparse(File* file, std::uint64_t at, Slice piece) {
  for (std::size_t i = 0; i < piece.size();) {
    std::size_t end = i;
    while (end < piece.size() && !IsZero(piece.substr(end, std::min(kBlockBytes, piece.size() - end)))) {
      end = std::min(end + kBlockBytes, piece.size());
    }
    if (end > i) CAMBIUM_RETURN_IF_ERROR(file->Write(at + i, piece.substr(i, end - i)));
    i = std::min(end + kBlockBytes, piece.size());
  }
  return Status::OK();
}

Status CopyInto(const File& from, File* to, const CopyRequest& request, const std::function<Status(Slice)>& see) {
  const Status copied = ReadPieces(from, 0, request.length, [&](std::uint64_t at, Slice piece) {
    if (see != nullptr) CAMBIUM_RETURN_IF_ERROR(see(piece));
    return request.keeps_holes ? WriteSparse(to, at, piece) : to->Write(at, piece);
  });
  CAMBIUM_RETURN_IF_ERROR(copied);
  if (request.keeps_holes) CAMBIUM_RETURN_IF_ERROR(to->Truncate(request.length));  // it may end with a hole
  return to->Sync();
}

}  // namespace

Status ReadPieces(const File& from, std::uint64_t offset, std::uint64_t length,
                  const std::function<Status(std::uint64_t at, Slice piece)>& take) {
  std::string buffer(std::min<std::uint64_t>(kPieceBytes, length), '\0');
  const std::uint64_t end = offset + length;
  for (std::uint64_t at = offset; at < end;) {
    const std::size_t wanted = std::min<std::uint64_t>(buffer.size(), end - at);
    std::size_t read = 0;
    CAMBIUM_RETURN_IF_ERROR(from.Read(at, wanted, buffer.data(), &read));
    if (read < wanted) {
      return Status::Corruption(from.path() + ":" + std::to_string(at + read) + ": the file ends here; expected " +
                                std::to_string(end) + " bytes");
    }
    CAMBIUM_RETURN_IF_ERROR(take(at, Slice(buffer.data(), read)));
    at += read;
  }
  return Status::OK();
}

Status ReadThrough(FileSystem& fs, const std::string& path, std::uint64_t length,
                   const std::function<Status(Slice)>& see) {
  std::unique_ptr<File> file;
  CAMBIUM_RETURN_IF_ERROR(fs.Open(path, OpenMode::kReadOnly, {}, &file));
  return ReadPieces(*file, 0, length, [&see](std::uint64_t, Slice piece) { return see(piece); });
}

Status CopyFile(FileSystem& fs, const CopyRequest& request, const std::function<Status(Slice)>& see) {
  std::unique_ptr<File> from;
  FileSystem& fs_of_from = request.fs_of_from != nullptr ? *request.fs_of_from : fs;
  CAMBIUM_RETURN_IF_ERROR(fs_of_from.Open(request.from, OpenMode::kReadOnly, {}, &from));
  std::unique_ptr<File> to;
  CAMBIUM_RETURN_IF_ERROR(fs.Open(request.to, OpenMode::kCreateNew, {}, &to));
  const Status copied = CopyInto(*from, to.get(), request, see);
  if (copied.ok()) return copied;
  to.reset();
  static_cast<void>(fs.Unlink(request.to));
  return copied;
}

}  // namespace cambium
