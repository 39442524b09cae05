#include "api/memory_promise.h"

#include <algorithm>
#include <string>

#include "memtable/write_budget.h"

namespace cambium {

std::uint64_t MemoryPromise(const DbContext& db, const View& view) {
  std::uint64_t filters = 0;
  std::uint64_t memtables = 0;
  for (const FamilyView& each : view.families) {
    const ColumnFamilyOptions& its = each.family->options();
    filters += each.layers->shape().memory_bytes;
    memtables += its.write_buffer_size * static_cast<std::uint64_t>(its.max_write_buffer_number);
  }
  const std::uint64_t budget = db.budget == nullptr ? 0 : db.budget->limit();
  // A budget holds filters too. If there are many, a compaction may double them, and memtables still get an eighth.
  const std::uint64_t written = budget == 0 ? memtables + filters : std::max(budget, 2 * filters + budget / 8);
  return db.pool->capacity_bytes() + written;
}

std::optional<MemoryLimit> MemoryLimitOf(const DbContext& db) {
  return db.options.file_system == FileSystem::Default() ? FindMemoryLimit("") : std::nullopt;
}

void WarnOfMemoryLimit(const DbContext& db, const View& view) {
  const std::optional<MemoryLimit> limit = MemoryLimitOf(db);
  if (!limit.has_value()) return;  // before all families are looked at: there may be thousands
  const std::uint64_t promise = MemoryPromise(db, view);
  if (limit->bytes >= promise) return;
  db.logger->Log(InfoLogLevel::kWarn,
                 "the system may kill this process for its memory: " + limit->file + " allows " +
                     std::to_string(limit->bytes) + " bytes, and page_cache_size, memtables and filters may take " +
                     std::to_string(promise) + "; lower page_cache_size, or set db_write_buffer_size");
}

}  // namespace cambium
