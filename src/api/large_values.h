// LargeValues: values with a file of their own. The file is written, synced and named in the MANIFEST before the record
// that refers to it is appended; if the batch fails, the file is dropped.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "io/new_file_guard.h"
#include "state/db_state.h"
#include "upkeep/space/disk_keeper.h"
#include "vlog/prepared_batch.h"
#include "vlog/record_format.h"
#include "vlog/value_address.h"

namespace cambium {

// Any thread.
class LargeValues {
 public:
  LargeValues(DbState* state, DiskKeeper* disk_keeper)
      : db_(state->context),
        jobs_(state->jobs),
        commits_(state->commits),
        head_(state->head),
        space_(state->space),
        disk_keeper_(*disk_keeper) {}

  // Writes the value to a file of its own, which is durable and named when this returns. `may_wait`: the call may wait
  // for room on a disk that is nearly full. Otherwise it returns Incomplete if jobs can make the room.
  // *number is set before the file is named, so that the caller knows the file even if an exception passes.
  Status Write(const Family& family, Slice key, Slice value, bool may_wait, std::uint64_t* number, LargeValueRef* ref,
               ValueAddress* address) CAMBIUM_EXCLUDES_ROLES;
  // Called when the batch that refers to these files is appended. `last`: the batch's last sequence number.
  void Appended(const std::vector<std::uint64_t>& numbers, SequenceNumber last) CAMBIUM_EXCLUDES_ROLES;
  // Called when the batch that was to refer to these files could not be prepared: drops them, or lets a later job drop
  // them.
  void Drop(const std::vector<std::uint64_t>& numbers) CAMBIUM_EXCLUDES_ROLES { DropFiles(numbers, 0); }
  // The same after a failed write of the batch. Fatal if a sync fails meanwhile, otherwise OK.
  Status DropAfterWrite(const std::vector<std::uint64_t>& numbers) CAMBIUM_EXCLUDES_ROLES;

 private:
  struct NewFile {
    explicit NewFile(const DbContext& db, std::uint64_t number)
        : guard(db.fs.get(), db.PathOf(FileKind::kLargeValue, number)),
          header(db.HeaderFor(FileKind::kLargeValue, number)) {}
    NewFileGuard guard;
    FileHeader header;
    std::unique_ptr<File> file;
    RecordHeader record;
  };
  // Compresses the value if that makes it smaller, and fills in the header of its record. *stored may borrow from
  // *buffer.
  void Encode(const Family& family, Slice key, Slice value, RecordHeader* record, std::string* buffer,
              Slice* stored) const;
  Status Fill(NewFile* made, Slice key, Slice stored);
  Status Name(NewFile* made, const Family& family, LargeValueRef* ref, ValueAddress* address);
  // `failed_in`: as for CommitPoint::LargeValuesFailed.
  void DropFiles(const std::vector<std::uint64_t>& numbers, std::uint64_t failed_in);
  // Removes the file and reports that. If it cannot be removed it is an orphan, which the next Open removes.
  Status GiveUp(NewFile* made, const Status& why);

  DbContext& db_;
  Jobs& jobs_;
  CommitPoint& commits_;
  WriteHead& head_;
  SpaceControl& space_;
  DiskKeeper& disk_keeper_;
};

}  // namespace cambium
