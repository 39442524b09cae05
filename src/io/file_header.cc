#include "io/file_header.h"

#include <algorithm>

#include "util/checksum.h"
#include "util/coding.h"
#include "util/mutant.h"
#include "util/one_byte.h"

namespace cambium {
namespace {

constexpr char kMagic[8] = {'C', 'A', 'M', 'B', 'I', 'U', 'M', '1'};

void PutId(std::string* out, const Id128& id) { out->append(reinterpret_cast<const char*>(id.data()), id.size()); }
Id128 GetId(const char* in) {
  Id128 id;
  std::memcpy(id.data(), in, id.size());
  return id;
}

FileHeader FieldsOf(const char* in) {
  FileHeader header;
  header.kind = static_cast<FileKind>(DecodeFixed<std::uint32_t>(in + 12));
  header.required_features = DecodeFixed<std::uint32_t>(in + 16);
  header.optional_features = DecodeFixed<std::uint32_t>(in + 20);
  header.database_id = GetId(in + 24);
  header.file_id = GetId(in + 40);
  header.number = DecodeFixed<std::uint64_t>(in + 56);
  header.epoch = DecodeFixed<std::uint64_t>(in + 64);
  header.created_seconds = DecodeFixed<std::uint64_t>(in + 72);
  header.page_size = DecodeFixed<std::uint64_t>(in + 80);
  return header;
}

}  // namespace

std::uint64_t FileHeader::Seed() const {
  std::string bytes;
  if (!MutantIs(Mutant::kSeedWithoutFileId)) {
    PutId(&bytes, file_id);
    PutFixed<std::uint64_t>(&bytes, number);
    PutFixed<std::uint64_t>(&bytes, epoch);
  }
  PutFixed<std::uint32_t>(&bytes, static_cast<std::uint32_t>(kind));
  return Checksum64(bytes, 0);
}

std::string EncodeFileHeader(const FileHeader& header) {
  std::string out;
  out.reserve(kFileHeaderSize);
  out.append(kMagic, sizeof(kMagic));
  PutFixed<std::uint32_t>(&out, kFormatVersion);
  PutFixed<std::uint32_t>(&out, static_cast<std::uint32_t>(header.kind));
  PutFixed<std::uint32_t>(&out, header.required_features);
  PutFixed<std::uint32_t>(&out, header.optional_features);
  PutId(&out, header.database_id);
  PutId(&out, header.file_id);
  PutFixed<std::uint64_t>(&out, header.number);
  PutFixed<std::uint64_t>(&out, header.epoch);
  PutFixed<std::uint64_t>(&out, header.created_seconds);
  PutFixed<std::uint64_t>(&out, header.page_size);
  out.resize(kFileHeaderSize - 8);
  PutFixed<std::uint64_t>(&out, Checksum64(out, 0));
  return out;
}

bool GuessFileHeader(Slice bytes, FileHeader* header) {
  // One intact half of the magic is enough: bytes that were never a header have neither half.
  constexpr std::size_t kHalf = sizeof(kMagic) / 2;
  if (bytes.size() < kFileHeaderSize || (std::memcmp(bytes.data(), kMagic, kHalf) != 0 &&
                                         std::memcmp(bytes.data() + kHalf, kMagic + kHalf, kHalf) != 0)) {
    return false;
  }
  *header = FieldsOf(bytes.data());
  return true;
}

bool MendFileHeader(std::string* bytes) {
  if (bytes->size() != kFileHeaderSize) return false;
  std::uint64_t no_bound = ~std::uint64_t{0};
  return MendOneByte(bytes, &no_bound, [&] {
    return std::memcmp(bytes->data(), kMagic, sizeof(kMagic)) == 0 &&
           DecodeFixed<std::uint64_t>(bytes->data() + 120) == Checksum64(Slice(*bytes).substr(0, 120), 0);
  });
}

Result<FileHeader> DecodeFileHeader(Slice bytes, const std::string& name) {
  if (bytes.size() < kFileHeaderSize) {
    return Status::Corruption(name + ": file header is cut off at " + std::to_string(bytes.size()) + " of " +
                              std::to_string(kFileHeaderSize) + " bytes");
  }
  const char* in = bytes.data();
  if (std::memcmp(in, kMagic, sizeof(kMagic)) != 0) {
    return Status::Corruption(name + ":0: not a file of this store (bad magic)");
  }
  if (!ChecksumMatches(DecodeFixed<std::uint64_t>(in + 120), Checksum64(bytes.substr(0, 120), 0))) {
    return Status::Corruption(name + ":0: file header checksum mismatch");
  }
  const auto version = DecodeFixed<std::uint32_t>(in + 8);
  if (version != kFormatVersion) {
    return Status::NotSupported(name + ": format version " + std::to_string(version) + "; this library knows version " +
                                std::to_string(kFormatVersion));
  }
  const FileHeader header = FieldsOf(in);
  const std::uint32_t unknown = header.required_features & ~KnownRequiredFeatures(header.kind);
  if (unknown != 0) {
    return Status::NotSupported(name + ": needs features " + std::to_string(unknown) +
                                " that this library does not know");
  }
  return header;
}

Result<FileHeader> ReadFileHeader(const File& file, FileKind kind, std::uint64_t number) {
  char bytes[kFileHeaderSize];
  std::size_t read = 0;
  CAMBIUM_RETURN_IF_ERROR(file.Read(0, sizeof(bytes), bytes, &read));
  CAMBIUM_TRY(FileHeader header, DecodeFileHeader({bytes, read}, file.path()));
  if (header.kind != kind || header.number != number) {
    return Status::Corruption(file.path() + ":0: header says kind " +
                              std::to_string(static_cast<std::uint32_t>(header.kind)) + ", number " +
                              std::to_string(header.number) + "; expected kind " +
                              std::to_string(static_cast<std::uint32_t>(kind)) + ", number " + std::to_string(number));
  }
  return header;
}

}  // namespace cambium
