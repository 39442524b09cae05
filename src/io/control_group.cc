#include "io/control_group.h"

#include <algorithm>

namespace cambium {
namespace {

using Version = ControlGroupVersion;

// A mounted hierarchy of groups.
struct Mount {
  std::string root;  // the group of the hierarchy that is mounted at `point`
  std::string point;
};

// Undoes what the kernel does to a path in mountinfo: a space, a tab, a line end and a backslash are "\\040" and so on.
std::string Unescape(std::string_view escaped) {
  std::string path;
  const auto is_octal = [](char c) { return c >= '0' && c <= '7'; };
  for (std::size_t i = 0; i < escaped.size(); ++i) {
    const std::string_view digits = escaped.substr(i + 1, 3);
    if (escaped[i] == '\\' && digits.size() == 3 && digits[0] <= '3' && std::ranges::all_of(digits, is_octal)) {
      path += static_cast<char>((digits[0] - '0') * 64 + (digits[1] - '0') * 8 + (digits[2] - '0'));
      i += 3;
    } else {
      path += escaped[i];
    }
  }
  return path;
}

// Parses a line of mountinfo, "36 31 0:33 ROOT POINT rw,relatime ... - TYPE SOURCE OPTIONS". Returns nothing if the
// line is no mount of this version that has the memory controller.
std::optional<Mount> ParseMount(std::string_view line, Version version) {
  const std::vector<std::string> words = SplitWords(line, ' ');
  std::size_t dash = 6;
  while (dash < words.size() && words[dash] != "-") ++dash;
  if (dash + 3 >= words.size()) return std::nullopt;
  const bool has_memory = version == Version::kV2 || HasWord(SplitWords(words[dash + 3], ','), "memory");
  if (words[dash + 1] != (version == Version::kV1 ? "cgroup" : "cgroup2") || !has_memory) return std::nullopt;
  return Mount{Unescape(words[3]), Unescape(words[4])};
}

// Returns the group of this process from a line of /proc/self/cgroup: "NUMBER:CONTROLLERS:GROUP", or "0::GROUP" with
// version 2.
std::optional<std::string> ParseOwnGroup(std::string_view line, Version version) {
  const std::size_t first = line.find(':');
  const std::size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  const std::string_view controllers = line.substr(first + 1, second - first - 1);
  const bool is_it = version == Version::kV1 ? HasWord(SplitWords(controllers, ','), "memory")
                                             : controllers.empty() && line.substr(0, first) == "0";
  return is_it ? std::optional(std::string(line.substr(second + 1))) : std::nullopt;
}

// Returns the result of the first line that `parse` accepts.
template <typename Parse>
auto FirstOf(std::string_view text, Version version, Parse parse) -> decltype(parse(text, version)) {
  for (const std::string& line : SplitWords(text, '\n')) {
    if (auto parsed = parse(line, version); parsed.has_value()) return parsed;
  }
  return std::nullopt;
}

// Returns the path of a group below its mount, or nothing if the mount does not show the group.
std::optional<std::string> Below(const std::string& mount_root, const std::string& group) {
  const std::string root = mount_root == "/" ? "" : mount_root;
  if (!group.starts_with(root)) return std::nullopt;
  const std::string rest = group.substr(root.size());
  if (rest.empty() || rest == "/") return std::string();
  // "/../a": the group is outside of the namespace whose groups the kernel shows.
  if (rest[0] != '/' || rest == "/.." || rest.starts_with("/../")) return std::nullopt;
  return rest;
}

}  // namespace

std::vector<std::string> SplitWords(std::string_view text, char separator) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

bool HasWord(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool FindOwnMemoryGroup(std::string_view mountinfo, std::string_view cgroup, ControlGroupVersion version,
                        ControlGroup* group, ControlGroupLack* lack) {
  *lack = ControlGroupLack::kNotMounted;
  const std::optional<std::string> own = FirstOf(cgroup, version, ParseOwnGroup);
  // A hierarchy may be mounted at several places, which show different parts of it. The one that shows most is taken:
  // it has the limits of all groups above.
  std::size_t shortest_root = 0;
  for (const std::string& line : SplitWords(mountinfo, '\n')) {
    const std::optional<Mount> mount = ParseMount(line, version);
    if (!mount.has_value()) continue;
    if (*lack == ControlGroupLack::kNotMounted) {
      *lack = ControlGroupLack::kNotShown;
      group->mount_point = mount->point;
    }
    const std::optional<std::string> below = own.has_value() ? Below(mount->root, *own) : std::nullopt;
    if (!below.has_value() || (*lack == ControlGroupLack::kNone && mount->root.size() >= shortest_root)) continue;
    *lack = ControlGroupLack::kNone;
    *group = {mount->point, *below};
    shortest_root = mount->root.size();
  }
  return *lack == ControlGroupLack::kNone;
}

bool GoToParentGroup(std::string* below) {
  if (below->empty()) return false;
  below->erase(below->rfind('/'));
  return true;
}

}  // namespace cambium
