// A file of kind kLargeValue: header, one record at kLargeRecordOffset, nothing else.
#pragma once

#include "cambium/file_system.h"
#include "cambium/slice.h"
#include "io/file_header.h"
#include "vlog/record_format.h"

namespace cambium {

// Writes all of it, and syncs nothing. `record` says what `key` and `stored` are, body checksum included.
Status WriteLargeValueFile(File* file, const FileHeader& header, const RecordHeader& record, Slice key, Slice stored);

}  // namespace cambium
