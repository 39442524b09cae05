#include "new_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "io/parent_path.h"

namespace cambium::tool {
namespace {

constexpr int kLinksMax = 40;  // the limit of Linux
constexpr int kNamesMax = 1000;

}  // namespace

Status NewFile::Error() const { return Status::IOError(path_ + ": " + std::strerror(errno)); }

NewFile::~NewFile() {
  if (as_ == As::kTemporary && !temporary_.empty()) ::unlink(temporary_.c_str());
}

// Resolves symbolic links. The last link may lead to a name that does not exist.
Status NewFile::FindTarget() {
  target_ = path_;
  for (int links = 0; links <= kLinksMax; ++links) {
    std::error_code error;
    const std::filesystem::path to = std::filesystem::read_symlink(target_, error);
    if (error == std::errc::invalid_argument || error == std::errc::no_such_file_or_directory) return Status::OK();
    if (error) return Status::IOError(path_ + ": " + error.message());
    target_ = (std::filesystem::path(target_).parent_path() / to).string();
  }
  errno = ELOOP;
  return Error();
}

Status NewFile::TakeOver(int descriptor) {
  file_.reset(::fdopen(descriptor, "wb"));
  if (file_ != nullptr) return Status::OK();
  const Status s = Error();
  ::close(descriptor);
  return s;
}

Status NewFile::Open() {
  if (path_ == "-") {
    file_.reset(stdout);
    return Status::OK();
  }
  exists_ = ::stat(path_.c_str(), &before_) == 0;
  if (exists_ && !S_ISREG(before_.st_mode)) {
    const int descriptor = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    return descriptor >= 0 ? TakeOver(descriptor) : Error();
  }
  if (!exists_ && errno != ENOENT) return Error();
  const Status found = FindTarget();
  return found.ok() ? OpenTemporary() : found;
}

std::string NewFile::NextTemporary() {
  return target_ + "." + std::to_string(::getpid()) + "." + std::to_string(names_tried_++) + ".tmp";
}

Status NewFile::OpenTemporary() {
  constexpr mode_t kMode = 0666;
  int descriptor = ::open(ParentOf(target_).c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, kMode);
  if (descriptor >= 0) {
    as_ = As::kWithoutName;
  } else if (errno == EOPNOTSUPP || errno == EISDIR) {
    do {
      temporary_ = NextTemporary();
      descriptor = ::open(temporary_.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, kMode);
    } while (descriptor < 0 && errno == EEXIST && names_tried_ < kNamesMax);
    if (descriptor < 0) {
      temporary_.clear();
      return Error();
    }
    as_ = As::kTemporary;
  } else {
    return Error();
  }
  if (exists_) {
    // Without permission to change the owner, this user owns the new file. It gets the old file's mode all the same, so
    // that others can still read it.
    if (::fchown(descriptor, before_.st_uid, before_.st_gid) != 0) errno = 0;
    if (::fchmod(descriptor, before_.st_mode & 0777) != 0) {
      const Status s = Error();
      ::close(descriptor);
      return s;
    }
  }
  return TakeOver(descriptor);
}

Status NewFile::Write(const std::string& text) {
  return std::fwrite(text.data(), 1, text.size(), file_.get()) == text.size() ? Status::OK() : Error();
}

// linkat cannot replace a name, so the file gets an unused name, and is renamed.
Status NewFile::Name() {
  if (as_ == As::kWithoutName) {
    const std::string of_descriptor = "/proc/self/fd/" + std::to_string(::fileno(file_.get()));
    std::string name;
    int linked = 0;
    do {
      name = NextTemporary();
      linked = ::linkat(AT_FDCWD, of_descriptor.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW);
    } while (linked != 0 && errno == EEXIST && names_tried_ < kNamesMax);
    if (linked != 0) return Error();
    as_ = As::kTemporary;
    temporary_ = name;
  }
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) return Error();
  temporary_.clear();
  const int directory = ::open(ParentOf(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return Error();
  const Status synced = ::fsync(directory) == 0 ? Status::OK() : Error();
  ::close(directory);
  return synced;
}

Status NewFile::Finish() {
  if (std::fflush(file_.get()) != 0) return Error();
  if (file_.get() == stdout) return Status::OK();
  // A pipe cannot be synced.
  const bool is_synced = ::fsync(::fileno(file_.get())) == 0 || (as_ == As::kStream && errno == EINVAL);
  if (!is_synced) return Error();
  return as_ == As::kStream ? Status::OK() : Name();
}

}  // namespace cambium::tool
