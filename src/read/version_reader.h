// VersionReader: point reads that return the version of a value, and compare it.
//
// The version of a value is the sequence number of its write:
//
//   in a memtable                           its number there
//   separated, in the log                   the number of its record
//   inline, with a version in its page      that
//   inline, without one, in a family that keeps versions since operation F     F: it was not written since
//
// A value that was written at or before F and has no version may be another one than an older snapshot shows. So a read
// at an operation before F does not return F.
#pragma once

#include <memory>
#include <string>

#include "read/reader.h"
#include "state/version_switch.h"

namespace cambium {

// Any thread.
class VersionReader {
 public:
  explicit VersionReader(DbState* state)
      : db_(state->context), head_(state->head), versions_(&state->context, &state->commits) {}

  // As Reader::Get, without pinned values; *value is a part of *buffer. Sets *version; to 0 if the key does not exist.
  // If it does, the family keeps versions from now on. TryAgain if the version is not known, because the read is as of
  // a state before the family kept versions. NotSupported for a large value.
  Status Get(const ReadOptions& options, const Family& family, Slice key, std::string* buffer, Slice* value,
             SequenceNumber* version) const;
  // Whether the key's value in the newest state has this version. 0: whether the key does not exist. TryAgain if that
  // is not known: the version is older than those that the family keeps.
  Result<bool> HasVersion(const Family& family, Slice key, SequenceNumber version) const;

 private:
  struct Found;

  // Finds the entry of the key. Reads no value.
  Status FindOnce(const ReadOptions& options, const Family& family, Slice key, Found* found) const;
  Status Find(const ReadOptions& options, const Family& family, Slice key, Found* found) const;

  const DbContext& db_;
  const WriteHead& head_;
  const VersionSwitch versions_;
};

}  // namespace cambium
