// WritePreparer turns operations into records, in the caller's thread and without a lock. It checks the sizes of keys
// and values, refuses puts on a full disk, and writes large values to their files.
#pragma once

#include "api/large_values.h"
#include "api/prepared_write.h"
#include "cambium/options.h"
#include "state/db_state.h"
#include "upkeep/upkeep.h"

namespace cambium {

// InvalidArgument if the key or the value is too large for the family.
Status CheckSizes(const Family& family, Slice key, Slice value);

// Any thread.
class WritePreparer {
 public:
  // All arguments outlive the preparer.
  WritePreparer(DbState* state, Upkeep* upkeep, LargeValues* large_values)
      : db_(state->context),
        space_keeper_(upkeep->space_keeper),
        disk_keeper_(upkeep->disk_keeper),
        large_values_(*large_values) {}

  // How the records of the family's values are made, by its options in force.
  [[nodiscard]] PreparedBatch::Rules RulesOf(const Family& family) const;
  // Adds a put to the batch. Writes a large value to its file first, and waits before if the database is at the ceiling
  // or the disk nearly full. If a later operation of the batch fails, or an exception passes, the caller drops the
  // files (LargeValues::Drop).
  Status AddPut(const WriteOptions& options, const Family& family, Slice key, Slice value, PreparedWrite* write)
      CAMBIUM_EXCLUDES_ROLES;

 private:
  DbContext& db_;
  SpaceKeeper& space_keeper_;
  DiskKeeper& disk_keeper_;
  LargeValues& large_values_;
};

}  // namespace cambium
