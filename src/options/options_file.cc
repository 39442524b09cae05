#include "options/options_file.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "options/options_check.h"
#include "io/at_directory.h"
#include "io/new_file_guard.h"
#include "io/whole_file.h"
#include "manifest/file_names.h"
#include "util/mutant.h"
#include "util/sealed_text.h"

namespace cambium {
namespace {

constexpr std::string_view kPreamble =
    "# The options of a Cambium database, as they were in force when this file was written. DB::Open does not read\n"
    "# it; LoadLatestOptions does, and refuses it once it was edited: the last line is a checksum.\n";
constexpr std::string_view kAdditionPreamble =
    "# Column families that were created or dropped since another OPTIONS file of this database was written.\n"
    "# LoadLatestOptions reads both.\n";
constexpr std::string_view kVersionSection = "Version";
constexpr std::string_view kDbSection = "DBOptions";
constexpr std::string_view kFamilySection = "CFOptions";
constexpr std::string_view kDroppedSection = "DroppedCFOptions";
constexpr std::string_view kAddsToName = "adds_to";
constexpr std::string_view kVersionName = "options_file_version";
constexpr std::string_view kKeptName = "values_moved_as_they_were";

std::string TextOf(KeptForm kept) { return kept.codec && kept.size ? "codec,size" : kept.codec ? "codec" : "size"; }

// An unknown word counts as both words: then the caller relies on neither codec nor place.
KeptForm KeptOf(const std::string& text) {
  for (const KeptForm kept : {KeptForm{true, false}, KeptForm{false, true}}) {
    if (text == TextOf(kept)) return kept;
  }
  return {true, true};
}

template <typename Struct>
void AppendSection(const std::string& title, const Struct& options, std::string* out) {
  out->append("\n[").append(title).append("]\n");
  for (const OptionField<Struct>& field : OptionFields<Struct>()) {
    if (std::holds_alternative<NoText>(field.member)) continue;
    out->append("  ").append(field.name).append("=").append(FormatOption(field, options)).append("\n");
  }
}

// The title of a section of a family.
std::string TitleOf(std::string_view section, const std::string& family) {
  return std::string(section) + " \"" + EscapeText(family) + "\"";
}

// The beginning of a file, with its section Version.
std::string Beginning(std::string_view preamble, std::uint64_t version) {
  std::string out(preamble);
  out.append("\n[").append(kVersionSection).append("]\n  ");
  return out.append(kVersionName).append("=").append(std::to_string(version)).append("\n");
}

void AppendTexts(const std::string& title, const OptionTexts& texts, std::string* out) {
  out->append("\n[").append(title).append("]\n");
  for (const auto& [name, value] : texts) out->append("  ").append(name).append("=").append(value).append("\n");
}

Result<std::uint64_t> NumberOf(const std::string& digits) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) return Status::Corruption("not a number");
  return number;
}

Status DamageAt(const std::string& path, std::size_t offset, const std::string& what) {
  return Status::Corruption(path + ":" + std::to_string(offset) + ": " + what);
}

// Sections sorts the lines of a file into an OptionsFileText.
class Sections {
 public:
  explicit Sections(OptionsFileText* out) : out_(out) {}

  // Begins a section; `title` is without its brackets. Each function of this class returns a message that says what is
  // wrong, or "".
  std::string Open(Slice title) {
    Slice kind = title;
    Slice argument;
    if (const std::size_t space = title.ToStringView().find(' '); space != std::string_view::npos) {
      kind = title.substr(0, space);
      argument = Trimmed(title.substr(space, title.size() - space));
    }
    current_ = nullptr;
    const bool has_argument = !argument.empty();
    if (kind == Slice(kFamilySection)) return OpenFamily(argument);
    if (kind == Slice(kDroppedSection)) return OpenDropped(argument);
    if (!has_argument && kind == Slice(kDbSection)) {
      current_ = &out_->db;
    } else if (!has_argument && kind == Slice(kVersionSection)) {
      current_ = &version_;
    } else {
      out_->unknown_sections.push_back(title.ToString());
      current_ = &unknown_;
      unknown_.clear();
      return "";
    }
    bool& seen = current_ == &version_ ? has_version_ : has_db_;
    return std::exchange(seen, true) ? "a second section of this kind" : "";
  }
  std::string Add(Slice name, Slice value) {
    if (current_ == nullptr) return "a line before the first section";
    return current_->emplace(name.ToString(), value.ToString()).second ? "" : "this name was given before";
  }
  std::string Finish() {
    const auto version = version_.find(std::string(kVersionName));
    if (version == version_.end()) return "there is no " + std::string(kVersionName);
    const Result<std::uint64_t> number = NumberOf(version->second);
    if (!number.ok()) return std::string(kVersionName) + " is not a number";
    out_->version = *number;
    if (const auto adds_to = version_.find(std::string(kAddsToName)); adds_to != version_.end()) {
      const Result<std::uint64_t> base = NumberOf(adds_to->second);
      if (!base.ok() || *base == 0) return std::string(kAddsToName) + " is not the number of a file";
      out_->adds_to = *base;
      return has_db_ ? "an addition has no section " + std::string(kDbSection) : "";
    }
    if (!out_->dropped.empty()) return "only an addition has a section " + std::string(kDroppedSection);
    if (const auto kept = version_.find(std::string(kKeptName)); kept != version_.end()) out_->kept = KeptOf(kept->second);
    if (!has_db_) return "there is no section " + std::string(kDbSection);
    for (const auto& [name, texts] : out_->families) {
      if (name == kDefaultColumnFamilyName) return "";
    }
    return "there is no section of column family \"" + kDefaultColumnFamilyName + "\"";
  }

 private:
  static bool IsName(Slice argument, std::string* name) {
    return argument.size() >= 2 && argument.starts_with("\"") && argument.ends_with("\"") &&
           UnescapeText(argument.substr(1, argument.size() - 2), name) && CheckFamilyName(*name).ok();
  }
  std::string OpenDropped(Slice argument) {
    std::string name;
    if (!IsName(argument, &name)) return "not the name of a column family";
    out_->dropped.push_back(std::move(name));
    current_ = &unknown_;  // the section has no lines yet; a later version may give it some
    unknown_.clear();
    return "";
  }
  std::string OpenFamily(Slice argument) {
    std::string name;
    if (!IsName(argument, &name)) return "not the name of a column family";
    if (!names_.insert(name).second) return "a second section of this column family";
    current_ = &out_->families.emplace_back(std::move(name), OptionTexts()).second;
    return "";
  }

  OptionsFileText* const out_;
  OptionTexts* current_ = nullptr;  // the section of the next lines; null before the first
  OptionTexts version_;
  OptionTexts unknown_;
  std::set<std::string> names_;
  bool has_version_ = false;
  bool has_db_ = false;
};

// Reads file `number` and those that it adds to, the newest first.
Result<std::vector<OptionsFileText>> ReadChain(FileSystem& fs, const std::string& directory, NewestOptions* newest) {
  std::vector<OptionsFileText> chain;
  for (std::uint64_t number = newest->number; number != 0; number = chain.back().adds_to) {
    const std::string path = FilePath(directory, FileKind::kOptions, number);
    Result<OptionsFileText> text = ReadOptionsFile(fs, path);
    if (text.status().IsPathNotFound() && !chain.empty()) {
      return Status::Corruption(newest->path + ": adds to " + path + ", which does not exist");
    }
    CAMBIUM_RETURN_IF_ERROR(text.status());
    if (text->adds_to >= number) return Status::Corruption(path + ": adds to file " + std::to_string(text->adds_to));
    chain.push_back(std::move(*text));
    newest->base = number;
  }
  return chain;
}

// Applies the additions of a chain, which has the newest file first, to its whole file.
OptionsFileText Whole(std::vector<OptionsFileText> chain) {
  // A family has the options of the newest file with a section of it, unless a newer one says that it was dropped.
  std::unordered_map<std::string_view, std::size_t> decided;  // by name: an index in chain; its size: dropped
  for (std::size_t i = 0; i < chain.size(); ++i) {
    for (const auto& [name, texts] : chain[i].families) decided.emplace(name, i);
    for (const std::string& name : chain[i].dropped) decided.emplace(name, chain.size());
  }
  std::vector<std::pair<std::string, OptionTexts>> families;
  for (std::size_t i = chain.size(); i-- > 0;) {
    for (auto& [name, texts] : chain[i].families) {
      if (decided.at(name) == i) families.emplace_back(name, std::move(texts));
    }
  }
  OptionsFileText whole = std::move(chain.back());
  whole.families = std::move(families);
  chain.pop_back();
  for (OptionsFileText& addition : chain) {
    whole.version = std::max(whole.version, addition.version);
    for (std::string& section : addition.unknown_sections) whole.unknown_sections.push_back(std::move(section));
  }
  return whole;
}

// `texts` may have more options, those of a later version.
bool HasAllOf(const OptionTexts& texts, const OptionTexts& ours) {
  return std::ranges::all_of(ours, [&](const auto& each) {
    if (each.first == "create_if_missing" || each.first == "error_if_exists") return true;
    const auto found = texts.find(each.first);
    return found != texts.end() && found->second == each.second;
  });
}

}  // namespace

bool HasAllOptionsOf(const OptionsFileText& text, const OptionsFileText& ours) {
  if (text.kept != ours.kept || !HasAllOf(text.db, ours.db) || text.families.size() != ours.families.size()) return false;
  std::unordered_map<std::string_view, const OptionTexts*> by_name;
  for (const auto& [name, texts] : text.families) by_name.emplace(name, &texts);
  return std::ranges::all_of(ours.families, [&](const auto& family) {
    const auto found = by_name.find(family.first);
    return found != by_name.end() && HasAllOf(*found->second, family.second);
  });
}

std::string EncodeOptionsFile(const DBOptions& options, const std::vector<ColumnFamilyDescriptor>& families,
                              KeptForm kept) {
  std::string out = Beginning(kPreamble, kWholeOptionsFileVersion);
  if (kept.any()) out.append("  ").append(kKeptName).append("=").append(TextOf(kept)).append("\n");
  AppendSection(std::string(kDbSection), options, &out);
  for (const ColumnFamilyDescriptor& family : families) {
    AppendSection(TitleOf(kFamilySection, family.name), family.options, &out);
  }
  out.append("\n");
  return SealText(std::move(out));
}

std::string EncodeOptionsAddition(std::uint64_t adds_to, const std::vector<ColumnFamilyDescriptor>& families,
                                  const std::vector<std::string>& dropped) {
  std::string out = Beginning(kAdditionPreamble, kOptionsFileVersion);
  out.append("  ").append(kAddsToName).append("=").append(std::to_string(adds_to)).append("\n");
  for (const std::string& name : dropped) out.append("\n[").append(TitleOf(kDroppedSection, name)).append("]\n");
  for (const ColumnFamilyDescriptor& family : families) {
    AppendSection(TitleOf(kFamilySection, family.name), family.options, &out);
  }
  out.append("\n");
  return SealText(std::move(out));
}

std::string EncodeOptionsText(const OptionsFileText& text) {
  std::string out = Beginning(kPreamble, kWholeOptionsFileVersion);
  if (text.kept.any()) out.append("  ").append(kKeptName).append("=").append(TextOf(text.kept)).append("\n");
  AppendTexts(std::string(kDbSection), text.db, &out);
  for (const auto& [name, texts] : text.families) AppendTexts(TitleOf(kFamilySection, name), texts, &out);
  out.append("\n");
  return SealText(std::move(out));
}

Result<OptionsFileText> DecodeOptionsFile(Slice bytes, const std::string& path) {
  const std::optional<Slice> unsealed = UnsealText(bytes);
  if (!unsealed.has_value()) return DamageAt(path, bytes.size(), "the checksum at the end does not match the file");
  const Slice body = *unsealed;
  OptionsFileText text;
  Sections sections(&text);
  for (std::size_t at = 0; at < body.size();) {
    const std::size_t newline = body.ToStringView().find('\n', at);
    const std::size_t end = newline == std::string_view::npos ? body.size() : newline;
    const Slice line = Trimmed(body.substr(at, end - at));
    std::string wrong;
    if (line.starts_with("[")) {
      wrong = line.ends_with("]") ? sections.Open(line.substr(1, line.size() - 2)) : "no ']'";
    } else if (!line.empty() && !line.starts_with("#")) {
      const std::size_t equals = line.ToStringView().find('=');
      wrong = equals == std::string_view::npos
                  ? "not name=value"
                  : sections.Add(Trimmed(line.substr(0, equals)),
                                 Trimmed(line.substr(equals + 1, line.size() - equals - 1)));
    }
    if (!wrong.empty()) return DamageAt(path, at, Quoted(line) + ": " + wrong);
    at = end + 1;
  }
  const std::string missing = sections.Finish();
  if (!missing.empty()) return DamageAt(path, body.size(), missing);
  return text;
}

Result<OptionsFileText> ReadOptionsFile(FileSystem& fs, const std::string& path) {
  CAMBIUM_TRY(const std::string bytes, ReadWholeFile(fs, path, kOptionsFileSizeMax));
  return DecodeOptionsFile(bytes, path);
}

Result<NewestOptions> ReadNewestOptions(FileSystem& fs, const std::string& directory) {
  CAMBIUM_TRY(const std::vector<NumberedFile> files, ListNumberedFiles(fs, directory));
  const auto found = std::ranges::find(files.rbegin(), files.rend(), FileKind::kOptions, &NumberedFile::kind);
  if (found == files.rend()) return Status::NotFound(directory + ": there is no OPTIONS file");
  NewestOptions newest;
  newest.number = found->number;
  newest.path = FilePath(directory, found->kind, found->number);
  CAMBIUM_TRY(std::vector<OptionsFileText> chain, ReadChain(fs, directory, &newest));
  newest.text = Whole(std::move(chain));
  return newest;
}

Status OptionsFromFileText(const OptionsFileText& text, const ConfigOptions& config, const std::string& path,
                           DBOptions* options, std::vector<ColumnFamilyDescriptor>* families) {
  if (text.version > kOptionsFileVersion && !config.ignore_unknown_options) {
    return Status::NotSupported(path + ": options_file_version is " + std::to_string(text.version) +
                                "; this version knows up to " + std::to_string(kOptionsFileVersion) +
                                " (ignore_unknown_options is off)");
  }
  if (!text.unknown_sections.empty() && !config.ignore_unknown_options) {
    return Status::InvalidArgument(path + ": section " + Quoted(text.unknown_sections.front()) +
                                   " is not known to this version (ignore_unknown_options is off)");
  }
  ApplyRules rules;
  rules.comparators = config.comparators;
  rules.ignore_unknown = config.ignore_unknown_options;
  DBOptions db;
  CAMBIUM_RETURN_IF_ERROR(ApplyOptionTexts(text.db, rules, &db).WithContext(path));
  CAMBIUM_RETURN_IF_ERROR(CheckDbOptions(db).WithContext(path));
  std::vector<ColumnFamilyDescriptor> all;
  for (const auto& [name, texts] : text.families) {
    const std::string where = path + ": column family \"" + EscapeText(name) + "\"";
    ColumnFamilyOptions its;
    CAMBIUM_RETURN_IF_ERROR(ApplyOptionTexts(texts, rules, &its).WithContext(where));
    CAMBIUM_RETURN_IF_ERROR(CheckColumnFamilyOptions(its).WithContext(where));
    all.emplace_back(name, its);
  }
  db.file_system = config.file_system;
  *options = std::move(db);
  *families = std::move(all);
  return Status::OK();
}

Status WriteOptionsFile(FileSystem& fs, const std::string& directory, std::uint64_t number, Slice bytes) {
  const std::string temporary = FilePath(directory, FileKind::kTemporary, number);
  NewFileGuard guard(&fs, temporary);  // if it cannot remove the file, the next Open for writing does
  std::unique_ptr<File> file;
  CAMBIUM_RETURN_IF_ERROR(guard.Create(&file));
  Status s = file->Write(0, bytes);
  if (s.ok() && !MutantIs(Mutant::kOptionsWithoutSync)) s = file->SyncData();
  file.reset();
  if (s.ok()) s = fs.Rename(temporary, FilePath(directory, FileKind::kOptions, number));
  if (s.ok()) guard.Keep();
  return s;
}

Status RemoveOldOptionsFiles(FileSystem& fs, const std::string& directory, std::uint64_t previous) {
  CAMBIUM_TRY(const std::vector<NumberedFile> files, ListNumberedFiles(fs, directory));
  bool has_newest = false;
  for (auto file = files.rbegin(); file != files.rend(); ++file) {
    const bool is_options = file->kind == FileKind::kOptions;
    const bool is_old = is_options && std::exchange(has_newest, true) && file->number != previous;
    if (!is_old && file->kind != FileKind::kTemporary) continue;
    const Status removed = fs.Unlink(FilePath(directory, file->kind, file->number));
    if (!removed.ok() && !removed.IsPathNotFound()) return removed;
  }
  return Status::OK();
}

Status LoadLatestOptions(const ConfigOptions& config, const std::string& path, DBOptions* options,
                         std::vector<ColumnFamilyDescriptor>* families) {
  const std::shared_ptr<FileSystem> base = config.file_system != nullptr ? config.file_system : FileSystem::Default();
  CAMBIUM_TRY(const std::shared_ptr<FileSystem> fs, AtDirectory(base, path));
  // A process that has the database open may write newer files and remove those that we are about to read.
  constexpr int kTries = 8;
  Result<NewestOptions> newest = ReadNewestOptions(*fs, path);
  for (int i = 1; i < kTries && !newest.ok() && !newest.status().IsNotFound(); ++i) newest = ReadNewestOptions(*fs, path);
  CAMBIUM_RETURN_IF_ERROR(newest.status());
  return OptionsFromFileText(newest->text, config, newest->path, options, families);
}

}  // namespace cambium
