#include "backup/backup_record.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <string_view>

#include "options/option_table.h"
#include "util/checksum.h"
#include "util/coding.h"
#include "util/sealed_text.h"

namespace cambium {
namespace {

constexpr std::string_view kPreamble =
    "# A backup of a Cambium database: the files it consists of, their bytes, checksums, and names in files/. The last\n"
    "# line is a checksum of the others.\n";
constexpr std::string_view kRecordSuffix = ".backup";

template <typename Number>
bool ParseDecimal(Slice text, Number* number) {
  const auto [end, error] = std::from_chars(text.begin(), text.end(), *number);
  return error == std::errc() && end == text.end() && text == Slice(std::to_string(*number));
}

std::vector<Slice> Words(Slice line) {
  std::vector<Slice> words;
  const std::string_view text = line.ToStringView();
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    words.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

bool MayBePunched(FileKind kind) { return kind == FileKind::kLog || kind == FileKind::kRelocation; }

// Parses "128,300160". Returns false unless the offsets ascend and are below `length`.
bool ParseOffsets(Slice text, std::uint64_t length, std::vector<std::uint64_t>* offsets) {
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.ToStringView().find(',', at), text.size());
    std::uint64_t offset = 0;
    if (!ParseDecimal(text.substr(at, end - at), &offset) || offset >= length) return false;
    if (!offsets->empty() && offset <= offsets->back()) return false;
    offsets->push_back(offset);
    at = end + 1;
  }
  return true;
}

// Returns the words of a file's holes, each after a space; "" if it has none.
std::string HolesText(const BackupFile& file) {
  if (file.punched.empty() && file.cut == 0) return "";
  std::string offsets;
  for (const std::uint64_t offset : file.punched) offsets += (offsets.empty() ? "" : ",") + std::to_string(offset);
  return " " + (offsets.empty() ? "-" : offsets) + (file.cut == 0 ? "" : " " + std::to_string(file.cut));
}

// The version of a record without cuts, which older programs read.
constexpr std::uint64_t kVersionWithoutCuts = 3;

std::uint64_t VersionOf(const BackupRecord& record) {
  const bool has_cut = std::ranges::any_of(record.files, [](const BackupFile& file) { return file.cut != 0; });
  return has_cut ? kBackupRecordVersion : kVersionWithoutCuts;
}

// Reads the lines of a record, which have a fixed order.
class RecordReader {
 public:
  RecordReader(BackupID id, BackupRecord* record) : id_(id), record_(record) {}

  // Takes the next line. Returns what is wrong with it, or "".
  std::string Take(Slice name, Slice value) {
    constexpr std::string_view kNames[] = {"backup_file_version", "backup",   "created",
                                           "sequence",            "metadata", "checked"};
    const std::size_t names = std::size(kNames) - (version_ < 3 ? 1 : 0);
    if (next_ > 0 && next_ == names) return name == Slice("file") ? TakeFile(value) : "expected file=";
    if (name != Slice(kNames[next_])) return "expected " + std::string(kNames[next_]) + "=";
    switch (next_++) {
      case 0: return ParseDecimal(value, &version_) && version_ > 0 ? "" : "not a version";
      case 1: return ParseDecimal(value, &record_->id) && record_->id == id_ ? "" : "the number of another backup";
      case 2: return ParseDecimal(value, &record_->created_seconds) ? "" : "not a number";
      case 3: return ParseDecimal(value, &record_->sequence) ? "" : "not a number";
      case 4: return UnescapeText(value, &record_->metadata) ? "" : "a broken escape";
      default:
        record_->is_checked = value == Slice("1");
        return record_->is_checked || value == Slice("0") ? "" : "not 0 or 1";
    }
  }
  [[nodiscard]] std::uint64_t version() const { return version_; }
  [[nodiscard]] bool IsWhole() const { return manifests_ == 1; }

 private:
  std::string TakeFile(Slice value) {
    const std::vector<Slice> words = Words(value);
    if (words.size() != 4 && (words.size() != 5 || version_ == 1) && (words.size() != 6 || version_ < 4)) {
      return "expected a name, a length, a checksum and a stored name";
    }
    const std::optional<NumberedFile> name = ParseFileName(words[0].ToStringView());
    if (!name.has_value() || !names_.insert(*name).second) return "not the name of a file, or given before";
    BackupFile file;
    file.name = *name;
    if (!ParseDecimal(words[1], &file.length) || file.length > kLengthsMax - lengths_) return "not a length";
    if (!ParseHex(words[2], &file.checksum)) return "not a checksum";
    if (!IsStoredName(words[3].ToString())) return "not the name of a stored file";
    file.stored = words[3].ToString();
    file.knows_punched = version_ > 1 || !MayBePunched(name->kind);
    const bool has_cut = words.size() == 6;
    const bool has_offsets = words.size() == 5 || (has_cut && words[4] != Slice("-"));
    if (words.size() > 4 && !MayBePunched(name->kind)) return "holes in a file that never has any";
    if (has_offsets && !ParseOffsets(words[4], file.length, &file.punched)) return "not the offsets of punched values";
    if (has_cut && (!ParseDecimal(words[5], &file.cut) || file.cut == 0 || file.cut >= file.length)) return "not a cut";
    if (has_cut && has_offsets && file.punched.front() < file.cut) return "a punched value before the cut";
    lengths_ += file.length;
    manifests_ += name->kind == FileKind::kManifest ? 1 : 0;
    record_->files.push_back(std::move(file));
    return "";
  }

  static constexpr std::uint64_t kLengthsMax = std::uint64_t{1} << 62;
  const BackupID id_;
  BackupRecord* const record_;
  std::size_t next_ = 0;
  std::uint64_t version_ = 0;
  std::uint64_t lengths_ = 0;
  int manifests_ = 0;
  std::set<NumberedFile> names_;
};

}  // namespace

std::string EncodeBackupRecord(const BackupRecord& record) {
  std::string text(kPreamble);
  text += "backup_file_version=" + std::to_string(VersionOf(record)) + "\n";
  text += "backup=" + std::to_string(record.id) + "\n";
  text += "created=" + std::to_string(record.created_seconds) + "\n";
  text += "sequence=" + std::to_string(record.sequence) + "\n";
  text += "metadata=" + EscapeText(record.metadata) + "\n";
  text += std::string("checked=") + (record.is_checked ? "1" : "0") + "\n";
  for (const BackupFile& file : record.files) {
    text += "file=" + FileName(file.name.kind, file.name.number) + " " + std::to_string(file.length) + " " +
            HexOf(file.checksum) + " " + file.stored + HolesText(file) + "\n";
  }
  return SealText(std::move(text));
}

Result<BackupRecord> DecodeBackupRecord(Slice bytes, BackupID id, const std::string& path) {
  const auto damage = [&path](std::size_t at, const std::string& what) {
    return Status::Corruption(path + ":" + std::to_string(at) + ": " + what);
  };
  const std::optional<Slice> body = UnsealText(bytes);
  if (!body.has_value()) return damage(bytes.size(), "the checksum at the end does not match the file");
  BackupRecord record;
  RecordReader reader(id, &record);
  for (std::size_t at = 0; at < body->size();) {
    const std::size_t end = std::min(body->ToStringView().find('\n', at), body->size());
    const Slice line = body->substr(at, end - at);
    if (!line.empty() && !line.starts_with("#")) {
      const std::size_t equals = line.ToStringView().find('=');
      const bool has_name = equals != std::string_view::npos;
      const std::string wrong =
          has_name ? reader.Take(line.substr(0, equals), line.substr(equals + 1, line.size() - equals - 1))
                   : "not name=value";
      if (reader.version() > kBackupRecordVersion) {
        return Status::NotSupported(path + ": backup_file_version is " + std::to_string(reader.version()) +
                                    "; this version knows up to " + std::to_string(kBackupRecordVersion));
      }
      if (!wrong.empty()) return damage(at, Quoted(line) + ": " + wrong);
    }
    at = end + 1;
  }
  if (!reader.IsWhole()) return damage(body->size(), "the record does not have exactly one MANIFEST");
  return record;
}

std::string BackupRecordName(BackupID id) {
  const std::string digits = std::to_string(id);
  return std::string(digits.size() < 6 ? 6 - digits.size() : 0, '0') + digits + std::string(kRecordSuffix);
}

BackupID ParseBackupRecordName(const std::string& name) {
  BackupID id = 0;
  if (!name.ends_with(kRecordSuffix)) return 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size() - kRecordSuffix.size(), id);
  return error == std::errc() && BackupRecordName(id) == name ? id : 0;
}

namespace {

std::string SuffixOf(FileKind kind) {
  const std::string name = FileName(kind, 1);
  return name.substr(name.rfind('.'));
}

std::string StoredPrefix(const Id128& file_id, std::uint64_t length) {
  return Slice(reinterpret_cast<const char*>(file_id.data()), file_id.size()).ToString(true) + "-" + std::to_string(length);
}

}  // namespace

std::string StoredName(const Id128& file_id, std::uint64_t length, FileKind kind,
                       const std::vector<std::uint64_t>& punched, std::uint64_t cut) {
  std::string offsets;
  for (const std::uint64_t offset : punched) PutFixed(&offsets, offset);
  const bool has_holes = cut != 0 || !punched.empty();
  const std::string holes = has_holes ? "-" + HexOf(Checksum64(offsets, cut)) : "";  // seed 0 if there is no cut
  return StoredPrefix(file_id, length) + holes + SuffixOf(kind);
}

namespace {

// Whether a text between prefix and suffix of a stored name is legal: empty, or '-' and a hash.
bool IsHashOfHoles(std::string_view text) {
  std::uint64_t hash = 0;
  return text.empty() || (text[0] == '-' && ParseHex(text.substr(1), &hash));
}

// Whether the name is "<id in hex>-<length>.log", or the same with a hash.
bool IsSharedName(std::string_view name) {
  constexpr std::size_t kIdDigits = 2 * sizeof(Id128);
  std::string_view rest;
  for (const FileKind kind :
       {FileKind::kLog, FileKind::kLargeValue, FileKind::kRun, FileKind::kIndex, FileKind::kRelocation}) {
    const std::string suffix = SuffixOf(kind);
    if (name.ends_with(suffix)) rest = name.substr(0, name.size() - suffix.size());
  }
  if (rest.size() <= kIdDigits + 1 || rest[kIdDigits] != '-') return false;
  const std::string_view id = rest.substr(0, kIdDigits);
  if (id.find_first_not_of("0123456789abcdef") != std::string_view::npos) return false;
  const std::string_view length_and_hash = rest.substr(kIdDigits + 1);
  const std::size_t end = std::min(length_and_hash.find('-'), length_and_hash.size());
  std::uint64_t length = 0;
  return ParseDecimal(length_and_hash.substr(0, end), &length) && IsHashOfHoles(length_and_hash.substr(end));
}

}  // namespace

bool IsStoredNameOf(Slice stored, const Id128& file_id, std::uint64_t length, FileKind kind) {
  const std::string prefix = StoredPrefix(file_id, length);
  const std::string suffix = SuffixOf(kind);
  const std::string_view name = stored.ToStringView();
  if (!name.starts_with(prefix) || !name.ends_with(suffix) || name.size() < prefix.size() + suffix.size()) return false;
  return IsHashOfHoles(name.substr(prefix.size(), name.size() - prefix.size() - suffix.size()));
}

std::string UnsharedName(BackupID id, const NumberedFile& name) {
  const std::string record = BackupRecordName(id);
  return record.substr(0, record.size() - kRecordSuffix.size()) + "-" + FileName(name.kind, name.number);
}

bool IsStoredName(const std::string& name) {
  if (IsSharedName(name)) return true;
  const std::size_t dash = name.find('-');
  if (dash == std::string::npos) return false;
  const BackupID id = ParseBackupRecordName(name.substr(0, dash) + std::string(kRecordSuffix));
  return id != 0 && ParseFileName(name.substr(dash + 1)).has_value();
}

}  // namespace cambium
