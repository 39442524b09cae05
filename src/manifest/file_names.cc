#include "manifest/file_names.h"

#include <algorithm>
#include <cassert>
#include <charconv>

namespace cambium {
namespace {

constexpr std::size_t kMinDigits = 6;

// The part of a name before or after the number.
struct Affix {
  FileKind kind;
  std::string_view text;
};
constexpr Affix kPrefixes[] = {{FileKind::kManifest, "MANIFEST-"}, {FileKind::kOptions, "OPTIONS-"}};
constexpr Affix kSuffixes[] = {{FileKind::kLog, ".log"}, {FileKind::kLargeValue, ".val"}, {FileKind::kRun, ".run"},
                               {FileKind::kIndex, ".idx"}, {FileKind::kRelocation, ".gc"}, {FileKind::kReserve, ".rsv"},
                               {FileKind::kTemporary, ".dbtmp"}};

// Accepts exactly the digits that FileName writes. from_chars accepts no sign and no space for an unsigned number.
std::optional<std::uint64_t> ParseNumber(std::string_view digits) {
  if (digits.size() < kMinDigits || (digits.size() > kMinDigits && digits[0] == '0')) return std::nullopt;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  if (number == 0 || number > kFileNumberMax) return std::nullopt;
  return number;
}

}  // namespace

std::string FileName(FileKind kind, std::uint64_t number) {
  assert(number != 0 && number <= kFileNumberMax);
  std::string digits = std::to_string(number);
  if (digits.size() < kMinDigits) digits.insert(0, kMinDigits - digits.size(), '0');
  if (const auto prefix = std::ranges::find(kPrefixes, kind, &Affix::kind); prefix != std::end(kPrefixes)) {
    return std::string(prefix->text) + digits;
  }
  const auto suffix = std::ranges::find(kSuffixes, kind, &Affix::kind);
  assert(suffix != std::end(kSuffixes));
  return digits.append(suffix->text);
}

std::string FilePath(const std::string& directory, FileKind kind, std::uint64_t number) {
  return directory + "/" + FileName(kind, number);
}

FileKind FileKindOf(SegmentKind kind) {
  switch (kind) {
    case SegmentKind::kLog: return FileKind::kLog;
    case SegmentKind::kRelocation: return FileKind::kRelocation;
    case SegmentKind::kLargeValue: return FileKind::kLargeValue;
  }
  return FileKind::kLog;
}

std::optional<NumberedFile> ParseFileName(std::string_view name) {
  FileKind kind = FileKind::kManifest;
  const auto prefix =
      std::ranges::find_if(kPrefixes, [name](const Affix& candidate) { return name.starts_with(candidate.text); });
  if (prefix != std::end(kPrefixes)) {
    kind = prefix->kind;
    name.remove_prefix(prefix->text.size());
  } else {
    const auto suffix =
        std::ranges::find_if(kSuffixes, [name](const Affix& candidate) { return name.ends_with(candidate.text); });
    if (suffix == std::end(kSuffixes)) return std::nullopt;
    kind = suffix->kind;
    name.remove_suffix(suffix->text.size());
  }
  const std::optional<std::uint64_t> number = ParseNumber(name);
  if (!number.has_value()) return std::nullopt;
  return NumberedFile{kind, *number};
}

Result<std::vector<NumberedFile>> ListNumberedFiles(FileSystem& fs, const std::string& directory) {
  std::vector<std::string> names;
  CAMBIUM_RETURN_IF_ERROR(fs.List(directory, &names));
  std::vector<NumberedFile> files;
  for (const std::string& name : names) {
    if (const std::optional<NumberedFile> file = ParseFileName(name); file.has_value()) files.push_back(*file);
  }
  std::ranges::sort(files);
  return files;
}

std::uint64_t LargestNumber(const std::vector<NumberedFile>& files) {
  std::uint64_t largest = 0;
  for (const NumberedFile& file : files) largest = std::max(largest, file.number);
  return largest;
}

}  // namespace cambium
