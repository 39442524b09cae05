// Checkpoint: a copy of an open database at one moment, made of hard links where it can be.
//
//   std::unique_ptr<cambium::Checkpoint> checkpoint;
//   cambium::Status s = cambium::Checkpoint::Create(db, &checkpoint);
//   if (s.ok()) s = checkpoint->CreateCheckpoint("/data/store-monday");
//
// The copy is a database of its own: it is opened like any other, and neither feels what becomes of the other. It shares
// the bytes of files that never change again; they are given back when both have dropped them.
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
  // Of a database that DB::Open made, which must outlive it. InvalidArgument for any other DB.
  static Status Create(DB* db, Checkpoint** checkpoint);
  static Status Create(DB* db, std::unique_ptr<Checkpoint>* checkpoint);
  virtual ~Checkpoint() = default;

  // Makes `directory`, which must not exist, its parent must. It appears as a whole and durable, with everything that
  // was written before the call and perhaps some of what was written during it: a prefix, in whole batches.
  //
  // Memory tables are flushed first if the log behind them has at least log_size_for_flush bytes; 0: always. What is
  // not flushed then is replayed when the copy is opened. Files that may still change, or lie on another file system
  // than `directory`, are copied: of the log no more than was written meanwhile. *sequence_number, if it is not null, is
  // that of the newest operation in the copy.
  //
  // Any thread, beside all other calls; nobody waits for it longer than for a commit. Nothing is left after an error,
  // and what a crash leaves is called `directory`.tmp and `directory`.tmp.mark, and is removed by the next call.
  // InvalidArgument if `directory` exists, or anything of the name `directory`.tmp that no such call has made; Locked if
  // another call is making `directory`; NotSupported if the database is open for reading only.
  virtual Status CreateCheckpoint(const std::string& directory, std::uint64_t log_size_for_flush = 0,
                                  std::uint64_t* sequence_number = nullptr) = 0;
};

// The same of a database that nobody has open for writing: linked and copied as it lies there, its log included, with
// nothing replayed. Locked if it is open; Corruption if a file is missing or cut off, or if an opening would refuse the log.
// Of `options` the file system and the time to wait for the lock are used. `progress` is called now and then with how many
// bytes of files have second names or have been copied, and how many there are.
Status CheckpointOffline(const DBOptions& options, const std::string& path, const std::string& directory,
                         const std::function<void(std::uint64_t done, std::uint64_t all)>& progress = nullptr);
// What that would do; writes nothing. Its error, if it can be foreseen: that `directory` exists, or the database is open
// or damaged, or NoSpace. Not tried is who may write where, and whether the file system has hard links: where it has none, all is
// copied.
Status PlanCheckpointOffline(const DBOptions& options, const std::string& path, const std::string& directory,
                             CopyPlan* plan);

}  // namespace cambium
