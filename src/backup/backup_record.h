// The record of a backup: which files the database consists of, and under which names they are stored.
//
//   # A backup of a Cambium database ...
//   backup_file_version=2
//   backup=7
//   created=1790000000
//   sequence=12345
//   metadata=nightly
//   file=000012.log 4194304 0123456789abcdef <32 digits>-4194304.log      name, bytes, XXH3 of them, stored as
//   file=000013.log 4194304 0123456789abcdef <32 digits>-4194304-<16 digits>.log 128,300160      punched at these offsets
//   file=...
//   checksum=0123456789abcdef
//
// A record of version 1 does not say which values were punched. Lines end in '\n'; those that begin with '#', and empty ones, mean nothing. Metadata is escaped (EscapeText). The file
// NNNNNN.backup is written under another name, synced and renamed, so there is never half of one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cambium/backup_engine.h"
#include "io/file_header.h"
#include "manifest/file_names.h"
#include "util/result.h"

namespace cambium {

inline constexpr std::uint64_t kBackupRecordVersion = 2;
inline constexpr std::uint64_t kBackupRecordSizeMax = 1u << 30;  // of one that is read
inline constexpr std::size_t kBackupMetadataMax = 64u << 10;

struct BackupFile {
  NumberedFile name;           // in the database
  std::uint64_t length = 0;
  std::uint64_t checksum = 0;  // Checksum64 of all bytes, seed 0
  std::string stored = {};     // in the directory of files
  // Offsets, ascending, of records in the stored file whose values may be holes: as SegmentInfo has it.
  std::vector<std::uint64_t> punched = {};
  bool knows_punched = true;   // false: it is a segment, and the record of a version that did not say
};

struct BackupRecord {
  BackupID id = 0;
  std::int64_t created_seconds = 0;
  std::uint64_t sequence = 0;
  std::string metadata;
  std::vector<BackupFile> files;
};

[[nodiscard]] std::string EncodeBackupRecord(const BackupRecord& record);
// `path` is for messages. Corruption, with the offset, unless it is whole, every line is legal, and it is the record of
// backup `id`; NotSupported for one of a later version.
Result<BackupRecord> DecodeBackupRecord(Slice bytes, BackupID id, const std::string& path);

// "000007.backup", and back; 0 for a name that is none.
[[nodiscard]] std::string BackupRecordName(BackupID id);
[[nodiscard]] BackupID ParseBackupRecordName(const std::string& name);

// What bytes that never change are stored as, the same in all backups: "<id in hex>-<length>.log". Of a segment with
// punched values "<id in hex>-<length>-<XXH3 of their offsets>.log", because those are the bytes that do change.
[[nodiscard]] std::string StoredName(const Id128& file_id, std::uint64_t length, FileKind kind,
                                     const std::vector<std::uint64_t>& punched);
// Whether `stored` is such a name of that file, whatever was punched in it.
[[nodiscard]] bool IsStoredNameOf(Slice stored, const Id128& file_id, std::uint64_t length, FileKind kind);
// "000007-000012.log": of one backup.
[[nodiscard]] std::string StoredNameOfOne(BackupID id, const NumberedFile& name);
// Whether one of these functions makes it: nothing else in the directory of files is ours.
[[nodiscard]] bool IsStoredName(const std::string& name);

}  // namespace cambium
