// The memory that the options of an open database promise to stay within, and the limit that the system sets.
#pragma once

#include <cstdint>
#include <optional>

#include "io/memory_limit.h"
#include "state/db_context.h"
#include "state/view.h"

namespace cambium {

// An upper bound of the bytes of page cache, memtables and filters, with the filters as they are now. Without a budget,
// each family counts with all its memtables, as if all of them were written to at once.
[[nodiscard]] std::uint64_t MemoryPromise(const DbContext& db, const View& view);
// The lowest limit of the process's control groups. Nothing if there is none, or if the database has a file system of
// its own: tests with a simulated one behave alike in every group.
[[nodiscard]] std::optional<MemoryLimit> MemoryLimitOf(const DbContext& db);
// Warns in LOG if the limit is lower than the promise.
void WarnOfMemoryLimit(const DbContext& db, const View& view);

}  // namespace cambium
