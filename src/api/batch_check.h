// Checks a batch that is to be written later, as Writer::Write will check it then. Only the state of the database can
// make that write fail afterwards: space, errors of the device, dropped families.
#pragma once

#include <cstdint>

#include "cambium/write_batch.h"
#include "state/commit_point.h"

namespace cambium {

// InvalidArgument if a key or value is too long for its family, a family does not exist, or the records would have more
// than `log_bytes_max` bytes, or a range delete ends before it begins. Values count as not compressed.
Status CheckBatch(const CommitPoint& commits, const WriteBatch& batch, std::uint64_t log_bytes_max);

}  // namespace cambium
