// DescribeBatch: the record of a traced Write.
#pragma once

#include "cambium/write_batch.h"
#include "trace/tracer.h"

namespace cambium {

// `call` must be on. Does not fail if the batch is malformed: the Write itself reports that.
void DescribeBatch(bool sync, const WriteBatch& batch, TracedCall* call) noexcept;

}  // namespace cambium
