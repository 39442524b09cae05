#include "system/memory_group.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>
#include <thread>
#include <vector>

#include "system/kernel_file.h"

namespace cambium::bench {
namespace {

using Version = MemoryGroupPlace::Version;

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; std::getline(stream, word, separator);) words.push_back(word);
  return words;
}

bool Holds(const std::vector<std::string>& words, const std::string& word) {
  for (const std::string& w : words) {
    if (w == word) return true;
  }
  return false;
}

// A mounted hierarchy of groups.
struct Mount {
  std::string root;  // the group of the hierarchy that is mounted at `point`
  std::string point;
};

// Parses a line of mountinfo, "36 31 0:33 ROOT POINT rw,relatime ... - TYPE SOURCE OPTIONS". Nothing if it is no such
// mount.
std::optional<Mount> ParseMount(const std::string& line, Version version) {
  const std::vector<std::string> words = Split(line, ' ');
  std::size_t dash = 6;
  while (dash < words.size() && words[dash] != "-") ++dash;
  if (dash + 3 >= words.size()) return std::nullopt;
  const bool has_memory = version == Version::kV2 || Holds(Split(words[dash + 3], ','), "memory");
  if (words[dash + 1] != (version == Version::kV1 ? "cgroup" : "cgroup2") || !has_memory) return std::nullopt;
  return Mount{.root = words[3], .point = words[4]};
}

// Returns the group of this process from a line of /proc/self/cgroup: "NUMBER:CONTROLLERS:GROUP", or "0::GROUP" with
// version 2.
std::optional<std::string> ParseOwnGroup(const std::string& line, Version version) {
  const std::size_t first = line.find(':');
  const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
  if (second == std::string::npos) return std::nullopt;
  const std::string controllers = line.substr(first + 1, second - first - 1);
  const bool is_it = version == Version::kV1 ? Holds(Split(controllers, ','), "memory")
                                             : controllers.empty() && line.substr(0, first) == "0";
  return is_it ? std::optional(line.substr(second + 1)) : std::nullopt;
}

// Returns the result of the first line that `parse` accepts.
template <typename Parse>
auto FirstOf(const std::string& file, Version version, Parse parse) -> decltype(parse(file, version)) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    if (auto parsed = parse(line, version); parsed.has_value()) return parsed;
  }
  return std::nullopt;
}

// Returns the path of a group below its mount: "" for the root of the mount, nothing if the mount does not show the
// group.
std::optional<std::string> Below(const std::string& mount_root, const std::string& group) {
  const std::string root = mount_root == "/" ? "" : mount_root;
  if (group.rfind(root, 0) != 0) return std::nullopt;
  const std::string rest = group.substr(root.size());
  if (rest.empty() || rest == "/") return std::string();
  if (rest[0] != '/' || rest.rfind("/..", 0) == 0) return std::nullopt;
  return rest;
}

// Returns whether groups can be created in `directory`; the error says why not.
Status MayMakeGroupsIn(const std::string& directory, Version version) {
  if (version == Version::kV2) {
    std::ifstream file(directory + "/cgroup.subtree_control");
    std::string controllers;
    std::getline(file, controllers);
    if (!Holds(Split(controllers, ' '), "memory")) {
      return Status::NotSupported(directory + " does not hand the memory controller down");
    }
  }
  for (const std::string& path : {directory, directory + "/cgroup.procs"}) {
    if (access(path.c_str(), W_OK) != 0) return Status::NotSupported(path + ": " + std::strerror(errno));
  }
  return {};
}

Status FindPlace(const std::string& root, Version version, MemoryGroupPlace* place) {
  const std::string name = version == Version::kV1 ? "cgroup v1 with its memory controller" : "cgroup v2";
  const auto mount = FirstOf(root + "/proc/self/mountinfo", version, ParseMount);
  if (!mount.has_value()) return Status::NotSupported(name + " is not mounted");
  const auto own = FirstOf(root + "/proc/self/cgroup", version, ParseOwnGroup);
  std::optional<std::string> below = own.has_value() ? Below(mount->root, *own) : std::nullopt;
  if (!below.has_value()) {
    return Status::NotSupported(name + " at " + mount->point + " does not show the group of this process");
  }
  while (true) {
    const std::string directory = root + mount->point + *below;
    Status status = MayMakeGroupsIn(directory, version);
    if (status.ok()) *place = {.version = version, .directory = directory};
    if (status.ok() || version == Version::kV1 || below->empty()) return status;
    below->erase(below->rfind('/'));
  }
}

}  // namespace

Status FindMemoryGroupPlace(const std::string& root, MemoryGroupPlace* place) {
  const std::string prefix = root == "/" ? "" : root;
  const Status v1 = FindPlace(prefix, Version::kV1, place);
  if (v1.ok()) return v1;
  const Status v2 = FindPlace(prefix, Version::kV2, place);
  return v2.ok() ? v2 : Status::NotSupported(std::string(v1.message()) + "; " + std::string(v2.message()));
}

MemoryGroup::~MemoryGroup() {
  if (directory_.empty()) return;
  // The kernel may take a moment to notice that a process has ended.
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    if (rmdir(directory_.c_str()) == 0) return;
    if (errno != EBUSY) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  std::fprintf(stderr, "cambium_bench: cannot remove %s: %s\n", directory_.c_str(), std::strerror(errno));
}

Status MemoryGroup::Make(const MemoryGroupPlace& place, const std::string& name, std::uint64_t bytes_max) {
  const std::string directory = place.directory + "/" + name;
  if (mkdir(directory.c_str(), 0755) != 0) return Status::IOError("mkdir " + directory + ": " + std::strerror(errno));
  directory_ = directory;
  const bool v1 = place.version == Version::kV1;
  const std::string limit = std::to_string(bytes_max);
  Status status = WriteKernelFile(directory + (v1 ? "/memory.limit_in_bytes" : "/memory.max"), limit);
  if (!status.ok()) return status;
  // Version 1 counts swap together with memory. The file does not exist if swap is not accounted.
  status = v1 ? WriteKernelFile(directory + "/memory.memsw.limit_in_bytes", limit)
              : WriteKernelFile(directory + "/memory.swap.max", "0");
  return status.IsNotFound() ? Status() : status;
}

Status MemoryGroup::Enter() const {
  return WriteKernelFile(directory_ + "/cgroup.procs", std::to_string(getpid()));
}

}  // namespace cambium::bench
