// Opener: opens a database, in an order that makes a crash at any step harmless.
//
//   lock -> MANIFEST -> identity checks -> files of the layers and the log -> replay -> adopted segments synced
//        -> a new MANIFEST with the epoch of this Open, which seals them and omits rejected segments -> orphans removed
//        -> the rest of the log replayed, with flushes, if the memtables could not take all -> missing families created
//        -> OPTIONS written -> serve
//
// Nothing is written before the checks have passed. Every step can be repeated: until the new MANIFEST is durable, the
// next Open sees what this one saw.
//
// opener.cc has the steps up to the checks of the MANIFEST, recover.cc those after them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "api/families.h"
#include "api/log_applier.h"
#include "cambium/column_family.h"
#include "cambium/file_system.h"
#include "manifest/manifest_reader.h"
#include "recovery/log_replay.h"
#include "state/db_state.h"
#include "upkeep/upkeep.h"

namespace cambium {

// InvalidArgument if names repeat, options are not valid, or the default family is missing.
Status CheckDescriptors(const std::vector<ColumnFamilyDescriptor>& families);
// The descriptor of the default family, which is among checked ones.
const ColumnFamilyDescriptor& DefaultDescriptor(const std::vector<ColumnFamilyDescriptor>& families);

// For one Open. Until the last step, which starts jobs, no other thread uses the database.
class Opener {
 public:
  // `wanted`: the families that were named to Open.
  Opener(DbState* state, Upkeep* upkeep, Families* families, const std::vector<ColumnFamilyDescriptor>& wanted);

  // Does all steps before the start of the jobs. *lock becomes the lock on the directory as soon as the lock is taken.
  // The lock must outlive the files, even if Open fails or throws.
  Status Open(std::unique_ptr<FileLock>* lock);
  // Called after Open, unless the database was opened for reading only. From here on listeners may be called, and may
  // use the database.
  void StartJobs();

 private:
  // ---- Directory and MANIFEST ----
  // Opens the directory; creates it first if it is missing and may be created. *is_new: it was created. From here on
  // db_.fs finds its files.
  Status EnterDirectory(bool* is_new);
  Status CreateDirectory();
  Status Lock(std::unique_ptr<FileLock>* lock);
  // Makes the directory's own name durable.
  Status SyncParent(const std::string& parent) const;
  // Reads the state from the MANIFEST, or begins that of a new database.
  Status ReadState(bool is_new, ManifestState* state, std::uint64_t* largest_number);
  Status BeginState(ManifestState* state) const;
  // The descriptor that was given to Open for this name; null if there is none.
  [[nodiscard]] const ColumnFamilyDescriptor* WantedAs(const std::string& name) const;
  // If the state has the family of prepared transactions, and it was not named to Open, it is opened all the same.
  void NamePreparedFamily(const ManifestState& state);
  Status CheckIdentity(const ManifestState& state) const;
  // Checks that the families named to Open are those that exist.
  Status CheckWanted(const ManifestState& state) const;

  // ---- Recovery ----
  Status Recover(ManifestState state, std::uint64_t largest_number);
  // Opens the runs and the tree or levels of a family that was named to Open, and shows it in the view.
  Status OpenFamily(const ManifestState& state, const FamilyState& stored);
  Status OpenSegments(const ManifestState& state, Logger* logger);
  // Reads and checks the whole log, and fills the memtables with the operations that the durable layers do not have:
  // with all of them, or with the first ones, if the memtables may not take more.
  Status Replay(const ManifestState& state, LogApplier* applier, Logger* logger);
  Result<ReplayResult> ReplayInto(const ManifestState& state, LogApplier* applier, Logger* logger) const;
  // Replays the rest of the log after the recovery is committed, and flushes memtables to make room.
  Status ReplayRest(LogApplier* applier);
  Status FlushReplayed(const std::vector<std::shared_ptr<Family>>& families, const LogPlace& end,
                       std::uint64_t logged_bytes);
  // Finds long rows of tombstones in the memtables, and adds them to the gaps of their families: otherwise the first
  // seek would pass them one by one. Called when the whole log is replayed.
  void FindGaps();
  // Syncs the unsealed segments that replay has read, and seals each segment that it has read at the end of the
  // segment's last whole batch.
  Status AdoptSegments(ManifestState* state);
  // Returns the segments and large values that the new MANIFEST must not name: segments after the end of the log, and
  // large values that no batch refers to.
  [[nodiscard]] std::set<std::uint64_t> Rejected(const ManifestState& state);
  [[nodiscard]] SegmentEnd Predecessor(const ManifestState& state, const std::set<std::uint64_t>& rejected) const;
  // Commits the recovered state.
  Status StartManifest(ManifestState* state, std::uint64_t largest_number);
  // Removes files of the database that the MANIFEST does not name: crashes leave them.
  Status RemoveOrphans();
  // Creates the families that were named to Open and do not exist, in one commit.
  Status CreateMissing();
  void CountSegmentsToReplay();

  DbState& state_;
  DbContext& db_;
  CommitPoint& commits_;
  Upkeep& upkeep_;
  Families& families_;
  const std::vector<ColumnFamilyDescriptor>& wanted_;
  ColumnFamilyDescriptor prepared_;  // its name is empty if it is not needed
  std::unordered_map<std::string_view, const ColumnFamilyDescriptor*> wanted_by_name_;
  ReplayResult replayed_;
  SequenceNumber recovered_ = 0;  // the last operation of the log and the layers
  std::ptrdiff_t segments_to_replay_ = 0;  // log segments that an Open after a crash would read
  bool had_reserve_ = false;
  bool follows_directory_ = false;  // db_.fs finds the directory also after it was renamed
};

}  // namespace cambium
