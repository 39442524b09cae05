// WithoutFatal: removes the severity Fatal from a Status.
#pragma once

#include "cambium/status.h"

namespace cambium {

// Returns the status without the severity Fatal. For calls after which there is nothing to reopen: a failed sync of a
// copy ends the copy, not the database.
[[nodiscard]] inline Status WithoutFatal(const Status& status) {
  if (status.severity() != Status::Severity::kFatal) return status;
  switch (status.code()) {
    case Status::Code::kBusy:
      return Status::Busy(status.message());
    case Status::Code::kIOError:
      break;
    default:
      return Status::IOError(status.message());
  }
  if (status.IsNoSpace()) return Status::NoSpace(status.message());
  if (status.IsDenied()) return Status::Denied(status.message());
  return Status::IOError(status.message());
}

}  // namespace cambium
