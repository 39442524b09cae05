// Checkpoint: a copy of an open database at one moment, made of hard links where possible.
//
//   std::unique_ptr<cambium::Checkpoint> checkpoint;
//   cambium::Status s = cambium::Checkpoint::Create(db, &checkpoint);
//   if (s.ok()) s = checkpoint->CreateCheckpoint("/data/store-monday");
//
// The copy is an independent database: it is opened like any other, and later changes of one do not affect the other.
// Both share the bytes of files that never change again; the space is freed when both have dropped them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "cambium/copy_plan.h"
#include "cambium/db.h"
#include "cambium/status.h"

namespace cambium {

class Checkpoint {
 public:
  // For a database that DB::Open made; it must outlive the checkpoint object. InvalidArgument for any other DB.
  static Status Create(DB* db, Checkpoint** checkpoint);
  static Status Create(DB* db, std::unique_ptr<Checkpoint>* checkpoint);
  virtual ~Checkpoint() = default;

  // Creates `directory` with mode 0700. It must not exist; its parent must. It appears as a whole and durable, or not at
  // all. It contains everything that was written before the call, and perhaps some of the writes during it: a prefix,
  // in whole batches.
  //
  // If the log that recovery would replay has at least log_size_for_flush bytes (0: always), memtables are flushed
  // first. Operations that are not flushed are replayed when the copy is opened. Files that may still change are
  // copied; of the log, that is at most 1 MiB and what is written during the call. If `directory` is on another file
  // system, all files are copied. Sets *sequence_number, unless null, to that of the newest operation in the copy.
  //
  // Any thread may call it, concurrently with all other calls; it delays none of them longer than a commit takes. An
  // error leaves nothing, except that `directory` remains if only the sync of its parent has failed. A crash may leave
  // `directory`.tmp and `directory`.tmp.mark, which the next call removes. InvalidArgument if `directory` exists, is
  // empty or lies in the directory of the database, or if a `directory`.tmp exists that no such call has made; Locked
  // if another call is making `directory`; NotSupported if the database is open for reading only.
  virtual Status CreateCheckpoint(const std::string& directory, std::uint64_t log_size_for_flush = 0,
                                  std::uint64_t* sequence_number = nullptr) = 0;
};

// Makes a checkpoint of a database that no process has open for writing: its files are linked and copied, the log
// included, and nothing is replayed. Locked if it is open; Corruption if a file is missing or too short, or if Open
// would reject the log or the MANIFEST. From `options` only the file system and lock_wait_micros are used. `progress`
// is called now and then with the bytes of the files linked or copied so far, and of all files.
Status CheckpointOffline(const DBOptions& options, const std::string& path, const std::string& directory,
                         const std::function<void(std::uint64_t done, std::uint64_t all)>& progress = nullptr);
// Sets *plan to what CheckpointOffline would do; writes nothing. Returns the errors that can be foreseen: `directory`
// exists, the database is open or damaged, NoSpace. It tests neither permissions nor whether the file system supports
// hard links; without hard links, CheckpointOffline copies everything.
Status PlanCheckpointOffline(const DBOptions& options, const std::string& path, const std::string& directory,
                             CopyPlan* plan);

}  // namespace cambium
