// The MANIFEST: the one commit point. A file MANIFEST-NNNNNN of chained, checksummed records, each an Edit; the first
// one is a snapshot of the whole state.
//
//   FileHeader (128 bytes), then records:
//   offset  size  field
//        0     8  checksum   XXH3 of everything after it in the record, seeded with file seed, offset and the checksum
//                            of the record before it
//        8     8  size       of the payload, in bytes
//       16     4  type       1 snapshot, 2 edit, 3 end of snapshot is durable (the file rules from here on)
//       20     4  reserved   0
//       24     -  payload    EncodeEdit
//
// The highest numbered MANIFEST with a whole snapshot rules. A new one is complete and durable, directory too, before
// the old one goes. Nothing is ever appended to a file once a higher numbered one exists, nor to one whose append or
// sync failed, nor to one that an earlier opening wrote: opening for writing starts a new one.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "cambium/file_system.h"
#include "manifest/edit.h"
#include "manifest/state.h"
#include "util/result.h"

namespace cambium {

[[nodiscard]] std::string ManifestFileName(std::uint64_t number);                        // "MANIFEST-000001"
[[nodiscard]] bool ParseManifestFileName(const std::string& name, std::uint64_t* number);

// How reading the MANIFESTs of a directory ended.
struct ManifestRead {
  ManifestState state;
  std::uint64_t number = 0;        // of the file that rules
  std::uint64_t valid_length = 0;  // bytes of it that validate; a torn record may stand behind
  std::uint64_t record_count = 0;
};

// Finds and reads the ruling MANIFEST of a directory. NotFound if there is no MANIFEST at all; Corruption (naming file
// and offset) if there is one but none with a whole snapshot, or if a record within the ruling one is damaged and a
// valid one stands behind it; NotSupported if it is of a later format. Writes nothing.
Result<ManifestRead> ReadManifest(FileSystem& fs, const std::string& directory);

// The one writer. Any thread may call; commits are serialised inside.
class Manifest {
 public:
  // Starts file `number` with a snapshot of `state`: written, synced, directory synced. After that it rules; older
  // files are removed (a failure to remove is harmless: they lose the election).
  static Result<std::unique_ptr<Manifest>> Create(FileSystem& fs, const std::string& directory,
                                                  const FileHeader& identity, std::uint64_t number,
                                                  const ManifestState& state);

  // Appends the edit, syncs, then applies it to state(). On failure state() is as before:
  //  - a failed write: this file is dead. The next Commit first rolls to a new file (`next_number`, drawn by the
  //    caller from the counter of file numbers). Until a roll has succeeded nothing that the failed edit named, and
  //    nothing it dropped, may be deleted: it may have reached the disk.
  //  - a failed sync: Fatal; every later Commit fails with the first error.
  Status Commit(const Edit& edit, std::uint64_t next_number);

  // Between commits by the same thread, or under the caller's commit mutex.
  [[nodiscard]] const ManifestState& state() const;
  [[nodiscard]] std::uint64_t number() const;
  [[nodiscard]] std::uint64_t file_size() const;
  // True if the next Commit will roll (dead file, or larger than the limit, 4 MiB plus twice the snapshot's size).
  [[nodiscard]] bool WillRoll() const;

  ~Manifest();

 private:
  struct Rep;
  explicit Manifest(std::unique_ptr<Rep> rep);
  std::unique_ptr<Rep> rep_;
};

}  // namespace cambium
