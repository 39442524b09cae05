// A file of kind kLargeValue holds the file header and one record, at kLargeRecordOffset.
#pragma once

#include "cambium/file_system.h"
#include "cambium/slice.h"
#include "io/file_header.h"
#include "vlog/record_format.h"

namespace cambium {

// Writes the whole file without a sync. `record` must describe `key` and `stored`, body checksum included.
Status WriteLargeValueFile(File* file, const FileHeader& header, const RecordHeader& record, Slice key, Slice stored);

}  // namespace cambium
