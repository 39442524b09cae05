// Mounts and loop devices that nobody has to clean up: mounts are made in a namespace of this process, loop devices
// clear themselves, so both go with the process, however it ends.
#pragma once

#include <cstdint>
#include <string>

namespace cambium::testing {

// From now on mounts of this process and its children are seen by them alone. "" or why that cannot be had. As root, or
// where a user may have a namespace of his own.
[[nodiscard]] std::string EnterPrivateMounts();

class Mount {
 public:
  // Makes the directory. `data` as for mount(2). Look at error().
  Mount(const std::string& source, const std::string& target, const std::string& type, const std::string& data = {});
  ~Mount();
  Mount(const Mount&) = delete;
  Mount& operator=(const Mount&) = delete;

  [[nodiscard]] const std::string& error() const { return error_; }  // "" if it is mounted
  // Waits until nobody uses it any more. "" or the error.
  [[nodiscard]] std::string Unmount();
  // With other `data`, such as another size.
  [[nodiscard]] std::string Remount(const std::string& data);

 private:
  const std::string source_;
  const std::string target_;
  const std::string type_;
  std::string error_;
  bool mounted_ = false;
};

// A block device over a file.
class LoopDevice {
 public:
  explicit LoopDevice(const std::string& file);
  ~LoopDevice();
  LoopDevice(const LoopDevice&) = delete;
  LoopDevice& operator=(const LoopDevice&) = delete;

  [[nodiscard]] const std::string& error() const { return error_; }  // "" if it is there
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  int device_ = -1;
  std::string path_;
  std::string error_;
};

// A sparse file with an empty ext4 in it. "" or why not.
[[nodiscard]] std::string MakeExt4(const std::string& file, std::uint64_t bytes, bool with_journal = true);

}  // namespace cambium::testing
