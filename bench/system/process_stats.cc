#include "system/process_stats.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <filesystem>
#include <fstream>
#include <system_error>

namespace cambium::bench {
namespace {

double Seconds(const timeval& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6; }

}  // namespace

ProcessStats ReadProcessStats() {
  ProcessStats stats;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  stats.user_cpu_s = Seconds(usage.ru_utime);
  stats.sys_cpu_s = Seconds(usage.ru_stime);
  std::ifstream io("/proc/self/io");
  std::string name;
  std::uint64_t value = 0;
  while (io >> name >> value) {
    if (name == "read_bytes:") stats.read_bytes = value;
    if (name == "write_bytes:") stats.write_bytes = value;
    if (name == "cancelled_write_bytes:") stats.cancelled_write_bytes = value;
  }
  return stats;
}

ProcessStats operator-(const ProcessStats& a, const ProcessStats& b) {
  return {.user_cpu_s = a.user_cpu_s - b.user_cpu_s,
          .sys_cpu_s = a.sys_cpu_s - b.sys_cpu_s,
          .read_bytes = a.read_bytes - b.read_bytes,
          .write_bytes = a.write_bytes - b.write_bytes,
          .cancelled_write_bytes = a.cancelled_write_bytes - b.cancelled_write_bytes};
}

std::optional<DeviceStats> ReadDeviceStats(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return std::nullopt;
  std::ifstream stats("/sys/dev/block/" + std::to_string(major(info.st_dev)) + ":" +
                      std::to_string(minor(info.st_dev)) + "/stat");
  // Linux, Documentation/block/stat.rst: I/Os, merged I/Os, sectors of 512 bytes, milliseconds; for reads, then writes.
  std::uint64_t reads = 0, reads_merged = 0, sectors_read = 0, read_ms = 0;
  std::uint64_t writes = 0, writes_merged = 0, sectors_written = 0;
  if (!(stats >> reads >> reads_merged >> sectors_read >> read_ms >> writes >> writes_merged >> sectors_written)) {
    return std::nullopt;
  }
  return DeviceStats{.reads = reads, .read_bytes = sectors_read * 512, .writes = writes, .write_bytes = sectors_written * 512};
}

DeviceStats operator-(const DeviceStats& a, const DeviceStats& b) {
  return {.reads = a.reads - b.reads,
          .read_bytes = a.read_bytes - b.read_bytes,
          .writes = a.writes - b.writes,
          .write_bytes = a.write_bytes - b.write_bytes};
}

std::uint64_t PeakRssBytes() {
  std::ifstream status("/proc/self/status");
  std::string line;
  while (std::getline(status, line)) {
    if (line.rfind("VmHWM:", 0) == 0) return std::stoull(line.substr(6)) << 10;
  }
  return 0;
}

void ForgetPeakRss() {
  std::ofstream refs("/proc/self/clear_refs");
  refs << "5";
}

std::uint64_t DiskBytes(const std::string& path) {
  std::uint64_t bytes = 0;
  std::error_code error;
  std::filesystem::recursive_directory_iterator files(path, error);
  for (; !error && files != std::filesystem::recursive_directory_iterator(); files.increment(error)) {
    struct stat info {};
    if (lstat(files->path().c_str(), &info) == 0 && S_ISREG(info.st_mode)) {
      bytes += static_cast<std::uint64_t>(info.st_blocks) * 512;
    }
  }
  return bytes;
}

}  // namespace cambium::bench
