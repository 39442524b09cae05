#include "process/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>

namespace cambium::testing {
namespace {

std::string Error(const std::string& what) { return what + ": " + std::strerror(errno); }

std::string TryToEnter() {
  const uid_t user = ::geteuid();
  const gid_t group = ::getegid();
  if (::unshare(user == 0 ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER) != 0) return Error("no mount namespace");
  if (user != 0) {
    std::ofstream("/proc/self/setgroups") << "deny";
    std::ofstream("/proc/self/uid_map") << "0 " << user << " 1";
    std::ofstream("/proc/self/gid_map") << "0 " << group << " 1";
  }
  if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return Error("mounts cannot be made private");
  return "";
}

}  // namespace

std::string EnterPrivateMounts() {
  static const std::string result = TryToEnter();
  return result;
}

Mount::Mount(const std::string& source, const std::string& target, const std::string& type, const std::string& data)
    : source_(source), target_(target), type_(type) {
  ::mkdir(target.c_str(), 0755);
  mounted_ = ::mount(source.c_str(), target.c_str(), type.c_str(), 0, data.c_str()) == 0;
  if (!mounted_) error_ = Error("cannot mount " + type);
}

Mount::~Mount() {
  if (mounted_) ::umount2(target_.c_str(), MNT_DETACH);
}

std::string Mount::Unmount() {
  for (int i = 0; i < 500; ++i) {
    if (::umount(target_.c_str()) == 0) {
      mounted_ = false;
      return "";
    }
    if (errno != EBUSY) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return Error("umount " + target_);
}

std::string Mount::Remount(const std::string& data) {
  if (::mount(source_.c_str(), target_.c_str(), type_.c_str(), MS_REMOUNT, data.c_str()) == 0) return "";
  return Error("remount " + target_);
}

LoopDevice::LoopDevice(const std::string& file) {
  const int control = ::open("/dev/loop-control", O_RDWR | O_CLOEXEC);
  if (control < 0) {
    error_ = Error("/dev/loop-control");
    return;
  }
  const int backing = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
  loop_config config = {};
  config.fd = static_cast<std::uint32_t>(backing);
  config.info.lo_flags = LO_FLAGS_AUTOCLEAR;
  // Another process may take the free device before we do, so try several times.
  for (int i = 0; i < 20 && device_ < 0; ++i) {
    const int number = ::ioctl(control, LOOP_CTL_GET_FREE);
    if (number < 0) {
      error_ = Error("no free loop device");
      break;
    }
    path_ = "/dev/loop" + std::to_string(number);
    const int device = ::open(path_.c_str(), O_RDWR | O_CLOEXEC);
    if (device >= 0 && ::ioctl(device, LOOP_CONFIGURE, &config) == 0) {
      device_ = device;
      error_.clear();
    } else {
      error_ = Error(path_);
      if (device >= 0) ::close(device);
    }
  }
  if (backing >= 0) ::close(backing);
  ::close(control);
}

LoopDevice::~LoopDevice() {
  if (device_ >= 0) ::close(device_);
}

std::string MakeExt4(const std::string& file, std::uint64_t bytes, bool with_journal) {
  const int made = ::open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (made < 0) return Error(file);
  const int sized = ::ftruncate(made, static_cast<off_t>(bytes));
  ::close(made);
  if (sized != 0) return Error(file);
  const std::string journal = with_journal ? "-J size=4" : "-O ^has_journal";
  const std::string command = "PATH=$PATH:/sbin:/usr/sbin mkfs.ext4 -q -F " + journal + " '" + file + "' >/dev/null 2>&1";
  return std::system(command.c_str()) == 0 ? "" : "mkfs.ext4 is not installed, or fails";
}

}  // namespace cambium::testing
