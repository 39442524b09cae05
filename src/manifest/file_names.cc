#include "manifest/file_names.h"

#include <algorithm>
#include <cassert>
#include <charconv>

namespace cambium {
namespace {

constexpr std::string_view kManifestPrefix = "MANIFEST-";
constexpr std::size_t kMinDigits = 6;

struct Suffix {
  FileKind kind;
  std::string_view text;
};
constexpr Suffix kSuffixes[] = {
    {FileKind::kLog, ".log"}, {FileKind::kLargeValue, ".val"}, {FileKind::kRun, ".run"}, {FileKind::kIndex, ".idx"}};

// Exactly the digits that FileName writes. from_chars takes no sign and no space for an unsigned number.
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
  for (const Suffix& suffix : kSuffixes) {
    if (suffix.kind == kind) return digits.append(suffix.text);
  }
  return std::string(kManifestPrefix) + digits;
}

std::string FilePath(const std::string& directory, FileKind kind, std::uint64_t number) {
  return directory + "/" + FileName(kind, number);
}

std::optional<NumberedFile> ParseFileName(std::string_view name) {
  FileKind kind = FileKind::kManifest;
  if (name.starts_with(kManifestPrefix)) {
    name.remove_prefix(kManifestPrefix.size());
  } else {
    const auto suffix =
        std::ranges::find_if(kSuffixes, [name](const Suffix& candidate) { return name.ends_with(candidate.text); });
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
