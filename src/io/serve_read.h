// How a read queue serves a request itself, without io_uring.
#pragma once

#include "cambium/file_system.h"

namespace cambium {

// Marks a request as not read, before it is submitted. If serving it runs out of memory, it keeps this status.
inline void BeginRead(ReadRequest* request) {
  request->read = 0;
  request->status = Status::Aborted("not read");
}

// Serves a request with File::Read, after BeginRead. Lets no exception out: the thread that serves the request need not
// be the request's owner.
inline void ServeRead(ReadRequest* request) noexcept {
  try {
    request->status = request->file->Read(request->offset, request->size, request->out, &request->read);
  } catch (...) {
    request->read = 0;
  }
}

}  // namespace cambium
