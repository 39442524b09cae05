// PosixError: turns an errno into a Status. This is the one place that decides which codes callers can tell apart.
#pragma once

#include <cerrno>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

#include "cambium/status.h"

namespace cambium {

// Returns, for example, "read /db/000007.log:8192: Input/output error". The code is NoSpace for a full disk or quota,
// PathNotFound for a missing name, NotSupported if the file system does not have the operation, Denied if the process
// lacks permission, descriptors or memory, and else IOError. Only the last one may be the device's fault.
inline Status PosixError(std::string_view operation, std::string_view where, int error) {
  std::string message(operation);
  message.append(" ").append(where).append(": ").append(std::generic_category().message(error));
  switch (error) {
    case ENOSPC:
    case EDQUOT: return Status::NoSpace(message);
    case ENOENT: return Status::PathNotFound(message);
    case EOPNOTSUPP:
    case ENOSYS: return Status::NotSupported(message);
    case EACCES:
    case EPERM:
    case EMFILE:
    case ENFILE:
    case ENOMEM: return Status::Denied(message);
    default: return Status::IOError(message);
  }
}
inline Status PosixError(std::string_view operation, const std::string& path, std::uint64_t offset, int error) {
  return PosixError(operation, path + ":" + std::to_string(offset), error);
}

}  // namespace cambium
