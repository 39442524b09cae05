#include "manifest/manifest_reader.h"

#include <algorithm>

#include "manifest/apply_edit.h"
#include "manifest/edit.h"
#include "manifest/file_names.h"
#include "manifest/manifest_record.h"
#include "manifest/record_mend.h"
#include "util/coding.h"

namespace cambium {
namespace {

// The valid part of a MANIFEST file. If it is not `whole` (has no snapshot), `flaw` says why.
struct FileRead {
  ManifestRead read;
  bool whole = false;
  Status flaw;
  std::vector<std::string> mended;  // places
};

class FileReader {
 public:
  // `number`: the number in the file's name; 0: any number is right.
  FileReader(const File& file, std::uint64_t number, std::uint64_t size, const OnManifestRecord& on_record)
      : file_(file), number_(number), size_(size), on_record_(on_record) {}

  // For salvage: makes Run stop at damage instead of failing; `flaw` says why.
  void BeTolerant() { is_tolerant_ = true; }

  // After an error `read()` has what was read before it.
  Status Run() {
    CAMBIUM_TRY(const bool has_header, ReadHeader());
    if (!has_header) return Status::OK();
    bool more = true;
    while (more) {
      Result<bool> read = ReadRecord();
      CAMBIUM_RETURN_IF_ERROR(Tolerate(read.status()));
      more = read.ok() && *read;
      out_.read.valid_length = offset_;
    }
    CAMBIUM_RETURN_IF_ERROR(Tolerate(ProbeAfterEnd()));
    if (out_.whole) return Tolerate(CheckOutcome());
    out_.flaw = Status::Corruption(Where() + ": no whole snapshot");
    return Status::OK();
  }
  [[nodiscard]] FileRead& read() { return out_; }

 private:
  [[nodiscard]] std::string Where() const { return file_.path() + ":" + std::to_string(offset_); }

  // Never tolerates a later version, because its meaning is unknown.
  Status Tolerate(const Status& s) {
    if (s.ok() || !is_tolerant_ || s.IsNotSupported()) return s;
    if (out_.flaw.ok()) out_.flaw = s;
    return Status::OK();
  }

  // Reads `n` bytes, or fewer at the end of the file.
  Status ReadAt(std::uint64_t offset, std::size_t n, std::string* out) const {
    out->resize(n);
    std::size_t read = 0;
    CAMBIUM_RETURN_IF_ERROR(file_.Read(offset, n, out->data(), &read));
    out->resize(read);
    return Status::OK();
  }

  // False if the header is invalid, as after a crash during the file's creation, unless the reader is tolerant and
  // mends or guesses it. Corruption if the header belongs to another file, because this one was copied or renamed.
  Result<bool> ReadHeader() {
    std::string bytes;
    CAMBIUM_RETURN_IF_ERROR(ReadAt(0, kFileHeaderSize, &bytes));
    Result<FileHeader> header = DecodeFileHeader(bytes, file_.path());
    if (!header.ok() && header.status().IsCorruption() && is_tolerant_ && MendFileHeader(&bytes)) {
      header = DecodeFileHeader(bytes, file_.path());
      out_.mended.push_back(Where());
    }
    if (!header.ok() && header.status().IsCorruption()) {
      out_.flaw = header.status();
      if (!is_tolerant_ || !GuessFileHeader(bytes, &out_.read.header)) return false;
      // If the guess is wrong, no record validates.
      out_.read.header.kind = FileKind::kManifest;
      out_.read.header.number = number_;
    } else {
      CAMBIUM_TRY(out_.read.header, std::move(header));
    }
    if (number_ == 0) number_ = out_.read.header.number;
    if (out_.read.header.kind != FileKind::kManifest || out_.read.header.number != number_) {
      return Status::Corruption(file_.path() + ":0: the header of another file (kind " +
                                std::to_string(static_cast<std::uint32_t>(out_.read.header.kind)) + ", number " +
                                std::to_string(out_.read.header.number) + ")");
    }
    out_.read.number = number_;
    seed_ = out_.read.header.Seed();
    previous_ = DecodeFixed<std::uint64_t>(bytes.data() + kFileHeaderSize - 8);
    offset_ = kFileHeaderSize;
    return true;
  }

  // Applies the record at offset_ and moves past it. False, with nothing changed, if there is no valid record.
  Result<bool> ReadRecord() {
    std::string bytes;
    CAMBIUM_RETURN_IF_ERROR(ReadAt(offset_, kManifestRecordHeaderSize, &bytes));
    const std::optional<ManifestRecordHeader> header = ParseManifestRecordHeader(bytes, seed_, offset_);
    if (!header.has_value()) return TakeMended();
    // Bounds the size by the file first, so that a forged size cannot make this allocate more than the file has.
    const std::uint64_t room = size_ - std::min(size_, offset_ + kManifestRecordHeaderSize);
    if (header->size > room || AlignUp(header->size, kManifestRecordAlignment) > room) return TakeMended();
    if (header->size > kManifestPayloadMax) return Status::Corruption(Where() + ": record too large");
    std::string payload;
    CAMBIUM_RETURN_IF_ERROR(
        ReadAt(offset_ + kManifestRecordHeaderSize, AlignUp(header->size, kManifestRecordAlignment), &payload));
    if (payload.size() < header->size || !ManifestPayloadIsWhole(*header, payload, seed_, offset_)) return TakeMended();
    return Take(*header, payload);
  }

  Result<bool> Take(const ManifestRecordHeader& header, Slice padded) {
    const std::uint64_t size = kManifestRecordHeaderSize + padded.size();
    CAMBIUM_RETURN_IF_ERROR(Apply(header, size, padded.substr(0, header.size)));
    previous_ = header.checksum;
    offset_ += size;
    ++out_.read.record_count;
    return true;
  }

  Result<bool> TakeMended() {
    if (!is_tolerant_ || offset_ >= size_) return false;
    std::string bytes;
    CAMBIUM_RETURN_IF_ERROR(ReadAt(offset_, kManifestRecordHeaderSize, &bytes));
    const std::optional<ManifestRecordHeader> header = MendManifestHeader(bytes, seed_, offset_, &mend_bytes_left_);
    if (!header.has_value()) return TakeWithoutHeader();
    const std::uint64_t room = size_ - std::min(size_, offset_ + kManifestRecordHeaderSize);
    if (header->size > std::min(room, kManifestPayloadMax)) return false;
    const std::uint64_t padded_size = AlignUp(header->size, kManifestRecordAlignment);
    CAMBIUM_RETURN_IF_ERROR(ReadAt(offset_ + kManifestRecordHeaderSize, padded_size, &bytes));
    if (bytes.size() < padded_size || !MendManifestPayload(*header, seed_, offset_, &bytes, &mend_bytes_left_)) {
      return false;
    }
    return TakeAsMended(*header, bytes);
  }

  // Recovers a record whose header is lost, from its payload and the next record.
  Result<bool> TakeWithoutHeader() {
    CAMBIUM_TRY(const std::optional<NextHeader> next, FindNextHeader());
    if (!next.has_value() || next->offset - offset_ < kManifestRecordHeaderSize) return false;
    const std::uint64_t padded_size = next->offset - offset_ - kManifestRecordHeaderSize;
    if (padded_size > kManifestPayloadMax) return false;
    std::string padded;
    CAMBIUM_RETURN_IF_ERROR(ReadAt(offset_ + kManifestRecordHeaderSize, padded_size, &padded));
    const std::optional<ManifestRecordHeader> header = HeaderOfManifestPayload(
        padded, seed_, offset_, out_.whole ? ManifestRecordType::kEdit : ManifestRecordType::kSnapshot, previous_,
        next->header.previous, &mend_bytes_left_);
    return header.has_value() ? TakeAsMended(*header, padded) : Result<bool>(false);
  }

  Result<bool> TakeAsMended(const ManifestRecordHeader& header, Slice padded) {
    const std::string where = Where();
    CAMBIUM_TRY(const bool taken, Take(header, padded));
    out_.mended.push_back(where);
    return taken;
  }

  Status Apply(const ManifestRecordHeader& header, std::uint64_t size, Slice payload) {
    if (header.reserved != 0 || (header.type != static_cast<std::uint32_t>(ManifestRecordType::kSnapshot) &&
                                 header.type != static_cast<std::uint32_t>(ManifestRecordType::kEdit))) {
      return Status::NotSupported(Where() + ": record of type " + std::to_string(header.type) +
                                  ", which this library does not know");
    }
    const bool is_first_of_guessed = !out_.whole && !out_.flaw.ok();
    if (header.previous != previous_ && !is_first_of_guessed) {
      return Status::Corruption(Where() + ": record does not follow the one before it");
    }
    const bool is_snapshot = header.type == static_cast<std::uint32_t>(ManifestRecordType::kSnapshot);
    if (is_snapshot == out_.whole) return Status::Corruption(Where() + ": the snapshot is not the first record");
    Result<Edit> edit = DecodeEdit(payload);
    if (!edit.ok()) return edit.status().WithContext(Where());
    if (on_record_) on_record_({offset_, size, is_snapshot, &*edit});
    if (is_snapshot != edit->database_id.has_value() ||
        (is_snapshot && *edit->database_id != out_.read.header.database_id)) {
      return Status::Corruption(Where() + ": record of another database");
    }
    CAMBIUM_RETURN_IF_ERROR(ApplyEdit(*edit, &out_.read.state, &index_).WithContext(Where()));
    out_.whole = true;
    return Status::OK();
  }

  struct NextHeader {
    std::uint64_t offset = 0;
    ManifestRecordHeader header;
  };
  Status ProbeAfterEnd() const {
    CAMBIUM_TRY(const std::optional<NextHeader> next, FindNextHeader());
    if (!next.has_value()) return Status::OK();
    return Status::Corruption(Where() + ": damaged record, followed by a valid one at offset " +
                              std::to_string(next->offset));
  }

  // Looks for a valid header after offset_, where valid records ended. The next one is at most a record's length away.
  Result<std::optional<NextHeader>> FindNextHeader() const {
    constexpr std::size_t kChunk = 64 * 1024;
    const std::uint64_t end = std::min(size_, offset_ + 2 * kManifestPayloadMax);
    std::string bytes;
    for (std::uint64_t chunk = offset_ + kManifestRecordAlignment; chunk < end; chunk += kChunk) {
      CAMBIUM_RETURN_IF_ERROR(ReadAt(chunk, kChunk + kManifestRecordHeaderSize, &bytes));
      for (std::size_t i = 0; i < kChunk && i + kManifestRecordHeaderSize <= bytes.size();
           i += kManifestRecordAlignment) {
        const std::optional<ManifestRecordHeader> header =
            ParseManifestRecordHeader(Slice(bytes).substr(i, kManifestRecordHeaderSize), seed_, chunk + i);
        if (header.has_value()) return std::optional(NextHeader{chunk + i, *header});
      }
    }
    return std::optional<NextHeader>();
  }

  // ApplyEdit has checked every edit. This checks, once, the rules that ApplyEdit does not check.
  [[nodiscard]] Status CheckOutcome() const {
    CAMBIUM_RETURN_IF_ERROR(out_.read.state.Check().WithContext(file_.path()));
    if (number_ < out_.read.state.next_file_number) return Status::OK();
    return Status::Corruption(file_.path() + ": the counter of file numbers is not above the file's own number");
  }

  const File& file_;
  std::uint64_t number_;
  const std::uint64_t size_;
  const OnManifestRecord& on_record_;
  bool is_tolerant_ = false;
  std::uint64_t mend_bytes_left_ = kMendBytesMax;
  FileRead out_;
  StateIndex index_;  // of out_.read.state
  std::uint64_t seed_ = 0;
  std::uint64_t offset_ = 0;
  std::uint64_t previous_ = 0;
};

Status ReadFile(FileSystem& fs, const std::string& path, std::uint64_t number, const OnManifestRecord& on_record,
                bool is_tolerant, FileRead* read) {
  std::unique_ptr<File> file;
  CAMBIUM_RETURN_IF_ERROR(fs.Open(path, OpenMode::kReadOnly, FileOptions(), &file));
  FileInfo info;
  CAMBIUM_RETURN_IF_ERROR(file->GetInfo(&info));
  if (!info.is_regular) return Status::Corruption(file->path() + ": not a regular file");
  FileReader reader(*file, number, info.size, on_record);
  if (is_tolerant) reader.BeTolerant();
  const Status s = reader.Run();
  *read = std::move(reader.read());
  return s;
}

Result<FileRead> ReadFile(FileSystem& fs, const std::string& directory, std::uint64_t number,
                          bool is_tolerant = false) {
  FileRead read;
  CAMBIUM_RETURN_IF_ERROR(
      ReadFile(fs, FilePath(directory, FileKind::kManifest, number), number, {}, is_tolerant, &read));
  return read;
}

// Returns the numbers of the MANIFESTs, highest first.
std::vector<std::uint64_t> ManifestNumbers(const std::vector<NumberedFile>& files) {
  std::vector<std::uint64_t> numbers;
  for (auto file = files.rbegin(); file != files.rend(); ++file) {
    if (file->kind == FileKind::kManifest) numbers.push_back(file->number);
  }
  return numbers;
}

}  // namespace

Result<ManifestRead> ReadManifest(FileSystem& fs, const std::string& directory) {
  CAMBIUM_TRY(const std::vector<NumberedFile> files, ListNumberedFiles(fs, directory));
  const std::vector<std::uint64_t> numbers = ManifestNumbers(files);
  if (numbers.empty()) return Status::NotFound(directory + ": no MANIFEST");
  Status flaw;
  for (const std::uint64_t number : numbers) {
    CAMBIUM_TRY(FileRead file, ReadFile(fs, directory, number));
    if (file.whole) return std::move(file.read);
    if (flaw.ok()) flaw = file.flaw;
  }
  return flaw.WithContext("no MANIFEST with a whole snapshot; the latest");
}

Status ReadManifestFile(FileSystem& fs, const std::string& path, const OnManifestRecord& on_record, ManifestRead* read) {
  FileRead file;
  const Status s = ReadFile(fs, path, 0, on_record, false, &file);
  *read = std::move(file.read);
  return s.ok() && !file.whole ? file.flaw : s;
}

Result<ManifestRemains> ReadManifestRemains(FileSystem& fs, const std::string& directory) {
  CAMBIUM_TRY(const std::vector<NumberedFile> files, ListNumberedFiles(fs, directory));
  ManifestRemains remains;
  remains.flaw = Status::NotFound(directory + ": no MANIFEST");
  bool is_first = true;
  for (const std::uint64_t number : ManifestNumbers(files)) {
    Result<FileRead> file = ReadFile(fs, directory, number, true);
    if (!file.ok() && file.status().IsNotSupported()) return std::move(file).status();
    const Status flaw = file.ok() ? file->flaw : file.status();
    if (is_first) remains.flaw = flaw;
    is_first = false;
    if (!file.ok() || !file->whole) continue;
    remains.has_state = true;
    remains.state = std::move(file->read.state);
    remains.header = file->read.header;
    // Higher numbered files without a snapshot are ignored, as in ReadManifest: a crash leaves them.
    remains.flaw = flaw;
    remains.mended = std::move(file->mended);
    break;
  }
  return remains;
}

Result<bool> IsHalfCreated(FileSystem& fs, const std::string& directory) {
  CAMBIUM_TRY(const std::vector<NumberedFile> files, ListNumberedFiles(fs, directory));
  const std::vector<std::uint64_t> numbers = ManifestNumbers(files);
  if (numbers.empty() || numbers.size() != files.size()) return false;
  for (const std::uint64_t number : numbers) {
    Result<FileRead> file = ReadFile(fs, directory, number);
    if (!file.ok() && file.status().IsCorruption()) return false;
    CAMBIUM_TRY(const FileRead read, std::move(file));
    if (read.whole) return false;
  }
  return true;
}

}  // namespace cambium
