// How a queue reads by itself, where nobody else can.
#pragma once

#include "cambium/file_system.h"

namespace cambium {

// Before the request is handed in, to whomever: as long as its status is this, who serves it may run out of memory.
inline void BeginRead(ReadRequest* request) {
  request->read = 0;
  request->status = Status::Aborted("not read");
}

// By File::Read. A request that has begun; lets no exception out, since nobody but its owner could make use of one.
inline void ServeRead(ReadRequest* request) noexcept {
  try {
    request->status = request->file->Read(request->offset, request->size, request->out, &request->read);
  } catch (...) {
    request->read = 0;
  }
}

}  // namespace cambium
