// The record of a backup lists the files of the database, and the names under which they are stored.
//
//   # A backup of a Cambium database ...
//   backup_file_version=4
//   backup=7
//   created=1790000000
//   sequence=12345
//   metadata=nightly
//   checked=1                                                  contents of files were checked; 0: they were not
//   file=000012.log 4194304 0123456789abcdef <32 digits>-4194304.log      name, bytes, XXH3 of them, stored as
//   file=000013.log 4194304 0123456789abcdef <32 digits>-4194304-<16 digits>.log 128,300160      punched at these offsets
//   file=000014.log 4194304 0123456789abcdef <32 digits>-4194304-<16 digits>.log - 81920         cut at this offset
//   file=...
//   checksum=0123456789abcdef
//
// A record of version 1 does not say which values were punched, and one of version 1 or 2 has no line `checked`:
// whether its files were checked is unknown. Only version 4 has cuts; a record without one is written as version 3,
// which older programs read. If a file has a cut and no punched values, '-' stands for the offsets. Lines end in '\n';
// empty lines and lines that begin with '#' are ignored. Metadata is escaped (EscapeText). The file NNNNNN.backup is
// written under another name, synced and renamed, so a file with the final name is complete.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cambium/backup_engine.h"
#include "io/file_header.h"
#include "manifest/file_names.h"
#include "util/result.h"

namespace cambium {

inline constexpr std::uint64_t kBackupRecordVersion = 4;
inline constexpr std::uint64_t kBackupRecordSizeMax = 1u << 30;  // read limit
inline constexpr std::size_t kBackupMetadataMax = 64u << 10;

struct BackupFile {
  NumberedFile name;           // in the database
  std::uint64_t length = 0;
  std::uint64_t checksum = 0;  // Checksum64 of all bytes, seed 0
  std::string stored = {};     // name in files/
  // Ascending offsets of records in the stored file whose values may be holes, as in SegmentInfo.
  std::vector<std::uint64_t> punched = {};
  std::uint64_t cut = 0;       // all before this offset of the stored file may be holes, as in SegmentInfo
  bool knows_punched = true;   // false: a segment in a record of version 1, which has no `punched`
};

struct BackupRecord {
  BackupID id = 0;
  std::int64_t created_seconds = 0;
  std::uint64_t sequence = 0;
  std::string metadata;
  bool is_checked = false;  // the contents of all its files were compared with the checksums in them
  std::vector<BackupFile> files;
};

[[nodiscard]] std::string EncodeBackupRecord(const BackupRecord& record);
// Decodes the record of backup `id`; `path` is for messages. Corruption, with the offset, if the record is cut, has an
// illegal line or is another backup's; NotSupported if it is of a later version.
Result<BackupRecord> DecodeBackupRecord(Slice bytes, BackupID id, const std::string& path);

// Convert between 7 and "000007.backup". ParseBackupRecordName returns 0 for any other name.
[[nodiscard]] std::string BackupRecordName(BackupID id);
[[nodiscard]] BackupID ParseBackupRecordName(const std::string& name);

// Returns the stored name of a final file, the same in all backups: "<id in hex>-<length>.log". For a segment with
// holes it is "<id in hex>-<length>-<XXH3 of their offsets, and of the cut>.log", since holes change the bytes.
[[nodiscard]] std::string StoredName(const Id128& file_id, std::uint64_t length, FileKind kind,
                                     const std::vector<std::uint64_t>& punched, std::uint64_t cut);
// Whether StoredName returns `stored` for this file and some holes.
[[nodiscard]] bool IsStoredNameOf(Slice stored, const Id128& file_id, std::uint64_t length, FileKind kind);
// Returns the stored name of a file that belongs to one backup: "000007-000012.log".
[[nodiscard]] std::string UnsharedName(BackupID id, const NumberedFile& name);
// Whether one of the functions above makes this name. Files in files/ with other names are not the engine's.
[[nodiscard]] bool IsStoredName(const std::string& name);

}  // namespace cambium
