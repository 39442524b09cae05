#include "system/environment.h"

#include <sys/utsname.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <thread>

#include "cambium_bench_commit.h"

namespace cambium::bench {
namespace {

// Returns the text after the colon in the first line of `file` that begins with `name`, or "unknown".
std::string Lookup(const char* file, const std::string& name) {
  std::ifstream lines(file);
  std::string line;
  while (std::getline(lines, line)) {
    const std::size_t colon = line.find(':');
    if (line.rfind(name, 0) != 0 || colon == std::string::npos) continue;
    const std::size_t value = line.find_first_not_of(" \t", colon + 1);
    return value == std::string::npos ? "unknown" : line.substr(value);
  }
  return "unknown";
}

// Describes the mount that `directory` is on: the one with the longest path above it.
std::string FileSystemOf(const std::string& directory) {
  std::error_code error;
  const std::string path = std::filesystem::weakly_canonical(directory, error).string() + "/";
  std::ifstream mounts("/proc/self/mounts");
  std::string line;
  std::string best;
  std::string found = "unknown";
  while (std::getline(mounts, line)) {
    std::istringstream words(line);
    std::string device;
    std::string point;
    std::string type;
    words >> device >> point >> type;
    const std::string prefix = point == "/" ? point : point + "/";
    if (path.rfind(prefix, 0) == 0 && prefix.size() >= best.size()) {
      best = prefix;
      found = type + " on " + device + ", mounted at " + point;
    }
  }
  return found;
}

}  // namespace

std::uint64_t MemoryBytes() { return std::strtoull(Lookup("/proc/meminfo", "MemTotal").c_str(), nullptr, 10) << 10; }

Environment DescribeEnvironment(const std::string& directory) {
  Environment e;
  e.commit = CAMBIUM_BENCH_COMMIT;
  e.build = std::string("g++ ") + __VERSION__ + ", " + CAMBIUM_BENCH_BUILD_TYPE;
#ifndef NDEBUG
  e.build += ", with asserts";
#endif
  e.cpu = std::to_string(std::thread::hardware_concurrency()) + " x " + Lookup("/proc/cpuinfo", "model name");
  utsname name{};
  if (uname(&name) == 0) e.kernel = std::string(name.sysname) + " " + name.release + " " + name.machine;
  e.memory = std::to_string(MemoryBytes() >> 20) + " MiB";
  e.file_system = FileSystemOf(directory);
  return e;
}

}  // namespace cambium::bench
