// What the system counts about this process and its files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace cambium::bench {

// Totals of all threads of this process since it began.
struct ProcessStats {
  double user_cpu_s = 0;
  double sys_cpu_s = 0;
  // From /proc/self/io; 0 where that cannot be read. Writes count when a page of the page cache becomes dirty, reads
  // when they go to the device. Bytes that were counted as written, and whose file was deleted before they were, are
  // the cancelled ones.
  std::uint64_t read_bytes = 0;
  std::uint64_t write_bytes = 0;
  std::uint64_t cancelled_write_bytes = 0;
};
ProcessStats ReadProcessStats();
ProcessStats operator-(const ProcessStats& a, const ProcessStats& b);

// What the block device has done on which `path` lies, for whoever asked; nothing where the system does not say
// (/sys/dev/block/MAJOR:MINOR/stat), as of file systems without one.
struct DeviceStats {
  std::uint64_t reads = 0;  // I/Os that were completed
  std::uint64_t read_bytes = 0;
  std::uint64_t writes = 0;
  std::uint64_t write_bytes = 0;
};
std::optional<DeviceStats> ReadDeviceStats(const std::string& path);
DeviceStats operator-(const DeviceStats& a, const DeviceStats& b);

// The largest resident set since the process began, or since ForgetPeakRss (where the system lets us).
std::uint64_t PeakRssBytes();
void ForgetPeakRss();

// Blocks that the files below `path` occupy, in bytes.
std::uint64_t DiskBytes(const std::string& path);

}  // namespace cambium::bench
