// The MANIFEST: the database's only commit point. A file MANIFEST-NNNNNN has chained, checksummed records, each an
// Edit; the first one is a snapshot of the whole state. manifest_record.h has the layout of a record, manifest_reader.h
// says which file is current.
//
//   Create   new file: header and snapshot in one write, sync, directory sync   it is current; older files are removed
//   Commit   one write at the end, sync                                         the edit is committed
//            or, if the file may not grow, a new file as in Create, whose snapshot includes the edit
//
// Each write takes its space first, so on a full disk it fails before its first byte, and the file can take later
// records. A new file whose write fails is removed.
//
// Appends to a file end for good when a higher numbered file may hold bytes, or when an append or sync of the file has
// failed. Nothing is appended to a file of an earlier Open: Open for writing starts a new file. So no record is ever
// written after bytes that are not known to be durable, and a reader never chooses a file that the writer has
// abandoned.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "cambium/file_system.h"
#include "io/file_header.h"
#include "manifest/edit.h"
#include "manifest/manifest_reader.h"
#include "manifest/state.h"
#include "manifest/state_index.h"
#include "util/meter.h"
#include "util/result.h"

namespace cambium {

// A file rolls when it is larger than this plus twice its snapshot. So rolls write at most about half as much as edits
// do, and reading takes at most a few times as long as reading a snapshot. The ceiling counts the MANIFEST, so this is
// small compared with the slack of a small database. It holds some hundred edits, so the syncs of a roll are rare.
inline constexpr std::uint64_t kManifestRollBytes = 64u << 10;

// The only writer of a directory's MANIFEST. Any thread may call Commit; commits are serialised inside.
class Manifest {
 public:
  // Starts file `number` with a snapshot of `state`, which must pass Check. When this returns, the file is current, and
  // the older ones are removed. (One that cannot be removed, or reappears after a crash, has a lower number and is
  // ignored.)
  //
  // `number` must be drawn from the counter of file numbers, and be higher than that of any MANIFEST in the directory,
  // else InvalidArgument. Of `identity`, only file_id and created_seconds are used. The ids of later files are derived
  // from its file_id. `directory` must exist, and its name must be durable.
  //
  // The objects of `meter` must outlive this one. After an error all older files remain, and the new one is removed,
  // unless a sync failed, which is fatal.
  static Result<std::unique_ptr<Manifest>> Create(FileSystem& fs, const std::string& directory,
                                                  const FileHeader& identity, std::uint64_t number,
                                                  const ManifestState& state,
                                                  std::uint64_t roll_bytes = kManifestRollBytes,
                                                  const Meter& meter = Meter());

  // Commits the edit: OK means that it is durable, and applied to state(). On failure state() is unchanged, and:
  //  - Corruption, InvalidArgument: the edit does not fit the state, or is too large for a record. Nothing was written.
  //  - no space for the edit: nothing was written. If a new file was due and has no space, this one takes the edit.
  //  - a failed write: this file is dead, and the next Commit rolls. Until one has succeeded, the caller must not
  //    delete any file that the failed edit named or dropped: the edit may have reached the disk.
  //  - a failed sync, of the file or of the directory: Fatal. This and every later Commit fail with the first error.
  //
  // `next_number` is the number of the new file if this rolls, drawn as for Create; used only if WillRoll(edit) or
  // `must_roll`. With `must_roll` the edit is committed by a new file or not at all.
  Status Commit(const Edit& edit, std::uint64_t next_number, bool must_roll = false);

  // Call it in the thread that commits, or under the caller's commit lock. The next_file_number of the result is always
  // above the number of the current file, even if that of the state given to Create was not.
  [[nodiscard]] const ManifestState& state() const;
  [[nodiscard]] const StateIndex& index() const;
  [[nodiscard]] std::uint64_t number() const;
  [[nodiscard]] std::uint64_t file_size() const;
  // Returns how many bytes Create would write.
  [[nodiscard]] static std::uint64_t SizeOfNew(const ManifestState& state, std::uint64_t number);
  // Makes the next commit start a new file, which holds only the state: on a full disk this frees the current one's
  // space.
  void RollSoon();
  // True if a Commit since the last call of NoteNothingWritten began to write. Otherwise their edits are certainly not
  // on disk if they failed.
  [[nodiscard]] bool HasWritten() const;
  void NoteNothingWritten();
  // True if a Commit of the edit will roll: the file is dead or too large, or the edit needs a new feature bit.
  [[nodiscard]] bool WillRoll(const Edit& edit) const;

  ~Manifest();
  Manifest(const Manifest&) = delete;
  Manifest& operator=(const Manifest&) = delete;

 private:
  struct Rep;
  explicit Manifest(std::unique_ptr<Rep> rep);
  std::unique_ptr<Rep> rep_;
};

}  // namespace cambium
