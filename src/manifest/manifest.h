// The MANIFEST: the one commit point. A file MANIFEST-NNNNNN of chained, checksummed records, each an Edit; the first
// one is a snapshot of the whole state. manifest_record.h draws the bytes, manifest_reader.h says which file rules.
//
//   Create   new file: header and snapshot in one write, sync, directory sync   it rules; older files are removed
//   Commit   one write at the end, sync                                         the edit is committed
//            or, where the file may not go on, a new file as in Create, whose snapshot has the edit in it
//
// Nothing is ever appended to a file once a higher numbered one may hold bytes, nor to one whose append or sync failed,
// nor to one that an earlier opening wrote: opening for writing starts a new one. So no record is ever written behind
// bytes that are not known to be durable, and no file is ever elected that somebody went on without.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "cambium/file_system.h"
#include "io/file_header.h"
#include "manifest/edit.h"
#include "manifest/manifest_reader.h"
#include "manifest/state.h"
#include "util/meter.h"
#include "util/result.h"

namespace cambium {

// A file rolls when it is larger than this plus twice its snapshot: rolls then write at most about half as much as
// edits do, and reading takes at most a few times as long as reading a snapshot.
inline constexpr std::uint64_t kManifestRollBytes = 4u << 20;

// The one writer of a directory. Any thread may call Commit; commits are serialised inside.
class Manifest {
 public:
  // Starts file `number` with a snapshot of `state`, which must pass Check. Once this returns, the file rules, and the
  // older ones are removed (one that cannot be removed, or comes back after a crash, loses the election).
  //
  // `number` is drawn from the counter of file numbers and higher than that of any MANIFEST in the directory, else
  // InvalidArgument. Of `identity`, file_id, created_seconds and optional_features are taken: what else a header says
  // is known here. Files that come later get ids drawn out of this one. `directory` must exist, and its own name be
  // durable.
  //
  // What `meter` refers to must outlive it. After an error the older files are all there. Fatal if a sync failed.
  static Result<std::unique_ptr<Manifest>> Create(FileSystem& fs, const std::string& directory,
                                                  const FileHeader& identity, std::uint64_t number,
                                                  const ManifestState& state,
                                                  std::uint64_t roll_bytes = kManifestRollBytes,
                                                  const Meter& meter = Meter());

  // Commits the edit: OK means that it is durable, and applied to state(). On failure state() is as before, and:
  //  - Corruption, InvalidArgument: the edit does not fit the state, or no record. Nothing was written.
  //  - a failed write: this file is dead, and the next Commit rolls. Until one has succeeded nothing that the failed
  //    edit named, and nothing it dropped, may be deleted: it may have reached the disk.
  //  - a failed sync, of the file or of the directory: Fatal. This and every later Commit fail with the first error.
  //
  // `next_number` is what a roll calls its file, drawn as for Create; used only if WillRoll().
  Status Commit(const Edit& edit, std::uint64_t next_number);

  // Between commits by the same thread, or under the caller's commit mutex. Its next_file_number is above the number of
  // this file, whatever the state given to Create said.
  [[nodiscard]] const ManifestState& state() const;
  [[nodiscard]] std::uint64_t number() const;
  [[nodiscard]] std::uint64_t file_size() const;
  // Bytes that Create would write.
  [[nodiscard]] static std::uint64_t SizeOfNew(const ManifestState& state, std::uint64_t number);
  // The next commit starts a new file, which is as short as the state: on a full disk, what this one has grown to is needed.
  void RollSoon();
  // True if the next Commit will roll (dead file, or past its size).
  [[nodiscard]] bool WillRoll() const;

  ~Manifest();
  Manifest(const Manifest&) = delete;
  Manifest& operator=(const Manifest&) = delete;

 private:
  struct Rep;
  explicit Manifest(std::unique_ptr<Rep> rep);
  std::unique_ptr<Rep> rep_;
};

}  // namespace cambium
