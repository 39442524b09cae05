// DbState: the state of an open database. Each part owns the data that one lock guards, and explains it in its header.
// lock_roles.h has the order in which the locks are taken; the members are declared in the reverse order. While the
// append lock or the commit lock is held, nothing waits for background work, and no listener is called.
//
// A class that works on the state takes the DbState in its constructor, and keeps references to the parts that it uses.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "state/commit_point.h"
#include "state/db_context.h"
#include "state/full_disk.h"
#include "state/jobs.h"
#include "state/snapshot_list.h"
#include "state/space_control.h"
#include "state/value_pins.h"
#include "state/write_head.h"
#include "vlog/read_queues.h"

namespace cambium {

struct DbState {
  DbState(const DBOptions& options, std::string path, OpenAs as, std::uint64_t blob_file_size)
      : context(options, std::move(path), as, blob_file_size), read_queues(context.fs.get()) {}

  DbContext context;
  Jobs jobs{&context};
  SpaceControl space;
  FullDisk full_disk;
  CommitPoint commits{&context, &jobs};
  SnapshotList snapshots;
  WriteHead head{&context, &jobs, &commits, &space, &snapshots};
  std::atomic<int> iterator_count{0};      // iterators that are not deleted
  std::atomic<int> async_reader_count{0};  // asynchronous readers that are not destroyed
  std::atomic<int> transaction_count{0};   // transactions that are not deleted
  // Prepared transactions that have not ended, and the bytes of their records. 0 without a TransactionDB.
  std::atomic<std::int64_t> prepared_count{0};
  std::atomic<std::int64_t> prepared_bytes{0};
  ValuePins value_pins;
  ReadQueues read_queues;
  // Set by Open. Log GC uses its options, because the log belongs to all families.
  std::shared_ptr<Family> default_family;
};

}  // namespace cambium
