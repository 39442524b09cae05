#include "system/memory_group.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <thread>

#include "io/control_group.h"
#include "system/kernel_file.h"

namespace cambium::bench {
namespace {

using Version = ControlGroupVersion;

std::string ReadText(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Returns whether groups can be created in `directory`; the error says why not.
Status MayMakeGroupsIn(const std::string& directory, Version version) {
  if (version == Version::kV2) {
    std::ifstream file(directory + "/cgroup.subtree_control");
    std::string controllers;
    std::getline(file, controllers);
    if (!HasWord(SplitWords(controllers, ' '), "memory")) {
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
  ControlGroup own;
  ControlGroupLack lack{};
  if (!FindOwnMemoryGroup(ReadText(root + "/proc/self/mountinfo"), ReadText(root + "/proc/self/cgroup"), version, &own,
                          &lack)) {
    return Status::NotSupported(lack == ControlGroupLack::kNotMounted
                                    ? name + " is not mounted"
                                    : name + " at " + own.mount_point + " does not show the group of this process");
  }
  while (true) {
    const std::string directory = root + own.mount_point + own.below;
    Status status = MayMakeGroupsIn(directory, version);
    if (status.ok()) *place = {.version = version, .directory = directory};
    if (status.ok() || version == Version::kV1 || !GoToParentGroup(&own.below)) return status;
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
