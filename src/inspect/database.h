// InspectedDatabase: a database that nobody has open for writing, as its files have it, to be looked at in parts. What
// is damaged is noted, and missing here; the rest can be read.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "recovery/log_replay.h"
#include "cambium/file_system.h"
#include "cambium/options.h"
#include "index/index.h"
#include "index/page_pool.h"
#include "inspect/problems.h"
#include "manifest/manifest_reader.h"
#include "memtable/memtable.h"
#include "vlog/segment.h"

namespace cambium {

// What is in the log and in no layer yet: behind the replay position, and not flushed by its family.
struct PendingBytes {
  std::uint64_t operations = 0;
  std::uint64_t bytes = 0;  // of their records
};

// One thread.
class InspectedDatabase {
 public:
  struct Family {
    const FamilyState* state = nullptr;
    const Comparator* comparator = nullptr;
    std::shared_ptr<const Layers> layers;  // null: a file of them is damaged, or they were not opened
    std::unique_ptr<MemTable> tail;  // what an opening would replay, with addresses for all values; null: not read
  };

  // Takes the lock, shared, and reads the MANIFEST. InvalidArgument if there is no database; Corruption, NotSupported,
  // Locked and IOError as an opening would say.
  static Result<std::unique_ptr<InspectedDatabase>> Open(std::shared_ptr<FileSystem> fs, const std::string& path,
                                                         std::uint64_t lock_wait_micros = 0);

  // The files of the log, the layers, and the tail of the log: what of it counts, wal_recovery_mode of the newest OPTIONS
  // file says, or its default without one. InvalidArgument if a family has an order that is not the library's own.
  // Damage is a problem; an I/O error is returned.
  Status OpenFiles();

  [[nodiscard]] FileSystem& fs() const { return *fs_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const ManifestRead& manifest() const { return manifest_; }
  [[nodiscard]] const ManifestState& state() const { return manifest_.state; }
  [[nodiscard]] const SegmentTable& segments() const { return segments_; }
  [[nodiscard]] const std::map<std::uint32_t, Family>& families() const { return families_; }
  // Null if it was dropped.
  [[nodiscard]] const Family* FindFamily(std::uint32_t id) const;
  [[nodiscard]] PagePool& pool() { return *pool_; }
  [[nodiscard]] Problems& problems() { return problems_; }

  // ---- Once OpenFiles has read the tail ----
  [[nodiscard]] WALRecoveryMode recovery_mode() const { return recovery_mode_; }
  [[nodiscard]] bool has_tail() const { return has_tail_; }  // false: an opening would fail on it
  [[nodiscard]] const ReplayResult& replayed() const { return replayed_; }
  [[nodiscard]] const std::map<std::uint64_t, PendingBytes>& pending() const { return pending_; }  // by segment
  // Where the log of a segment ends: its seal, or where recovery would end it.
  [[nodiscard]] std::uint64_t LogEndOf(const SegmentInfo& info) const;

 private:
  InspectedDatabase(std::shared_ptr<FileSystem> fs, std::string path) : fs_(std::move(fs)), path_(std::move(path)) {}
  Status OpenSegments();
  Status OpenFamily(const FamilyState& state);
  Status ReadTail();
  Status AddToTail(const std::vector<ReplayedOp>& batch);

  const std::shared_ptr<FileSystem> fs_;
  const std::string path_;
  std::unique_ptr<FileLock> lock_;
  ManifestRead manifest_;
  std::unique_ptr<PagePool> pool_ = std::make_unique<PagePool>(64u << 20);
  SegmentTable segments_;
  std::map<std::uint32_t, Family> families_;
  WALRecoveryMode recovery_mode_ = DBOptions().wal_recovery_mode;
  ReplayResult replayed_;
  bool has_tail_ = false;
  std::map<std::uint64_t, PendingBytes> pending_;
  Problems problems_;
};

}  // namespace cambium
