#include "api/prepared_write.h"

namespace cambium {

void CountWritten(const Meter meter, const PreparedWrite& write) {
  std::uint64_t separated = 0;
  for (const PreparedBatch::Op& op : write.batch.ops()) {
    if (op.separated && op.header.op == RecordOp::kPut) separated += op.header.RecordSize();
  }
  meter.Tick(WRITE_WITH_WAL);
  meter.Tick(NUMBER_KEYS_WRITTEN, write.batch.ops().size());
  meter.Tick(BYTES_WRITTEN, write.user_bytes);
  meter.Measure(BYTES_PER_WRITE, write.user_bytes);
  meter.Tick(WAL_FILE_BYTES, write.batch.size());
  meter.Tick(BLOB_DB_BLOB_FILE_BYTES_WRITTEN, separated);
}

}  // namespace cambium
