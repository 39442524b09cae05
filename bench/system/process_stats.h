// What the kernel counts about this process, its block device and its files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace cambium::bench {

// Totals of all threads of this process since it began.
struct ProcessStats {
  double user_cpu_s = 0;
  double sys_cpu_s = 0;
  // From /proc/self/io; 0 if it cannot be read. Writes count when a page of the page cache becomes dirty, reads when
  // they go to the device. Cancelled bytes were counted as written, but their file was deleted before the write-back.
  std::uint64_t read_bytes = 0;
  std::uint64_t write_bytes = 0;
  std::uint64_t cancelled_write_bytes = 0;
};
ProcessStats ReadProcessStats();
ProcessStats operator-(const ProcessStats& a, const ProcessStats& b);

// Totals of the block device that `path` is on, for all processes (/sys/dev/block/MAJOR:MINOR/stat).
struct DeviceStats {
  std::uint64_t reads = 0;  // completed I/Os
  std::uint64_t read_bytes = 0;
  std::uint64_t writes = 0;
  std::uint64_t write_bytes = 0;
};
// Nothing if the kernel keeps none, as for file systems without a block device.
std::optional<DeviceStats> ReadDeviceStats(const std::string& path);
DeviceStats operator-(const DeviceStats& a, const DeviceStats& b);

// Returns the largest resident set since the process began, or since ForgetPeakRss() if the kernel allows that.
std::uint64_t PeakRssBytes();
void ForgetPeakRss();

// Returns the blocks that the files below `path` occupy, in bytes.
std::uint64_t DiskBytes(const std::string& path);

}  // namespace cambium::bench
