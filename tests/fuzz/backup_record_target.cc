// The record of a backup.
#include "backup/backup_record.h"
#include "fuzz/target.h"
#include "util/checksum.h"
#include "util/result.h"
#include "util/sealed_text.h"

namespace cambium::fuzz {
namespace {

constexpr BackupID kId = 7;
constexpr const char* kBackupPath = "/backups/000007.backup";

void FuzzBackupRecord(Slice input) {
  // Decodes the input unchanged, and with a correct checksum line, which mutations seldom produce.
  for (const std::string& bytes : {input.ToString(), SealText(input.ToString() + "\n")}) {
    const Result<BackupRecord> record = DecodeBackupRecord(bytes, kId, kBackupPath);
    if (!record.ok()) {
      PromiseDamage(record.status(), kBackupPath, "reading the record of a backup");
      continue;
    }
    Promise(record->id == kId, "the record of another backup was accepted");
    for (const BackupFile& file : record->files) {
      Promise(IsStoredName(file.stored), "a file is stored under a name that is not the engine's");
      Promise(file.stored.find('/') == std::string::npos, "a file is stored outside of the folder of files");
    }
    BackupRecord known = *record;
    for (BackupFile& file : known.files) file.knows_punched = true;
    const std::string written = EncodeBackupRecord(known);
    const Result<BackupRecord> again = DecodeBackupRecord(written, kId, kBackupPath);
    Promise(again.ok(), "the record of a backup that was written cannot be read: " + again.status().ToString());
    Promise(EncodeBackupRecord(*again) == written, "the record of a backup is written as other bytes the second time");
    Promise(again->files.size() == record->files.size() && again->metadata == record->metadata &&
                again->sequence == record->sequence && again->created_seconds == record->created_seconds,
            "the record of a backup that was written says something else");
  }
}

void AddBackupRecordSeeds(const GoldenFiles& files, std::vector<std::string>* seeds) {
  BackupRecord record;
  record.id = kId;
  record.created_seconds = 1'700'000'000;
  record.sequence = 123;
  record.metadata = "nightly\n\"quoted\"";
  record.is_checked = true;
  for (const auto& [name, bytes] : files) {
    const std::optional<NumberedFile> parsed = ParseFileName(name);
    if (!parsed.has_value()) continue;
    BackupFile file;
    file.name = *parsed;
    file.length = bytes.size();
    file.checksum = Checksum64(bytes, 0);
    if (parsed->kind == FileKind::kLog) file.punched = {128, 4096};
    file.stored = parsed->kind == FileKind::kManifest || parsed->kind == FileKind::kOptions
                      ? UnsharedName(kId, *parsed)
                      : StoredName(Id128{1, 2, 3}, bytes.size(), parsed->kind, file.punched, file.cut);
    record.files.push_back(file);
  }
  seeds->push_back(EncodeBackupRecord(record));
}

}  // namespace

const Target kBackupRecordTarget = {"backup_record", false, FuzzBackupRecord, AddBackupRecordSeeds};

}  // namespace cambium::fuzz
