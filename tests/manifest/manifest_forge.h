// ManifestForge: builds MANIFEST files record by record. Checksums are right even if the records are not.
#pragma once

#include <string>

#include "io/file_header.h"
#include "manifest/manifest_record.h"
#include "util/checksum.h"
#include "util/coding.h"

namespace cambium::testing {

class ManifestForge {
 public:
  explicit ManifestForge(const FileHeader& header) : seed_(header.Seed()), bytes_(EncodeFileHeader(header)) {
    previous_ = DecodeFixed<std::uint64_t>(bytes_.data() + kFileHeaderSize - 8);
  }
  void Append(ManifestRecordType type, Slice payload) {
    last_ = bytes_.size();
    previous_ = AppendManifestRecord(type, payload, seed_, bytes_.size(), previous_, &bytes_);
  }
  // Overwrites 4 bytes of the last record's header, and corrects its checksum.
  void PatchHeader(std::size_t offset, std::uint32_t value) {
    char* header = bytes_.data() + last_;
    EncodeFixed<std::uint32_t>(header + offset, value);
    previous_ = Checksum64({header + 8, kManifestRecordHeaderSize - 8}, SeedAt(seed_, last_));
    EncodeFixed<std::uint64_t>(header, previous_);
  }
  void set_previous(std::uint64_t previous) { previous_ = previous; }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  const std::uint64_t seed_;
  std::string bytes_;
  std::uint64_t previous_ = 0;
  std::size_t last_ = 0;
};

}  // namespace cambium::testing
