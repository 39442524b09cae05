// Mounts and loop devices that need no cleanup. Mounts are in a namespace of this process, and loop devices clear
// themselves, so both end with the process, however it ends.
#pragma once

#include <cstdint>
#include <string>

namespace cambium::testing {

// Makes later mounts of this process visible to itself and its children only. Returns "", or why that is not possible.
// Needs root, or a system on which users may create namespaces.
[[nodiscard]] std::string EnterPrivateMounts();

class Mount {
 public:
  // Creates the directory and mounts. `data` is as for mount(2). Check error() afterwards.
  Mount(const std::string& source, const std::string& target, const std::string& type, const std::string& data = {});
  ~Mount();
  Mount(const Mount&) = delete;
  Mount& operator=(const Mount&) = delete;

  [[nodiscard]] const std::string& error() const { return error_; }  // "" if it is mounted
  // Waits until it is not in use, and unmounts it. Returns "" or the error.
  [[nodiscard]] std::string Unmount();
  // Remounts with other `data`, such as another size. Returns "" or the error.
  [[nodiscard]] std::string Remount(const std::string& data);

 private:
  const std::string source_;
  const std::string target_;
  const std::string type_;
  std::string error_;
  bool mounted_ = false;
};

// A block device backed by a file.
class LoopDevice {
 public:
  explicit LoopDevice(const std::string& file);
  ~LoopDevice();
  LoopDevice(const LoopDevice&) = delete;
  LoopDevice& operator=(const LoopDevice&) = delete;

  [[nodiscard]] const std::string& error() const { return error_; }  // "" if it is set up
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  int device_ = -1;
  std::string path_;
  std::string error_;
};

// Makes a sparse file that contains an empty ext4. Returns "" or the error.
[[nodiscard]] std::string MakeExt4(const std::string& file, std::uint64_t bytes, bool with_journal = true);

}  // namespace cambium::testing
