// DbState: the state of an open database. Each part owns what one lock guards and explains it in its header; they stand in
// the order in which the locks may be taken, the last one first: the append mutex (WriteHead), then the commit mutex
// (CommitPoint), then leaves. Nothing waits for background work with one of them held, and no listener is called.
//
// What works on the state names the parts that it uses: a constructor takes the DbState and keeps references to these.
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
  WriteHead head{&context, &jobs, &commits, &space};
  SnapshotList snapshots;
  std::atomic<int> iterator_count{0};  // that live
  ReadQueues read_queues;
  // Set by Open. Its options are those of log GC, because the log belongs to all families.
  std::shared_ptr<Family> default_family;
};

}  // namespace cambium
