// An InspectedDatabase reads the parts of a database that no process has open for writing. Damage is noted in
// problems(), and damaged parts are missing; the rest can be read.
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

// Operations of the log that no layer has yet: after the replay position, and not flushed by their family.
struct PendingBytes {
  std::uint64_t operations = 0;
  std::uint64_t bytes = 0;  // size of their records
};

// One thread at a time.
class InspectedDatabase {
 public:
  struct Family {
    const FamilyState* state = nullptr;
    const Comparator* comparator = nullptr;
    std::shared_ptr<const Layers> layers;  // null: one of their files is damaged, or they were not opened
    std::unique_ptr<MemTable> tail;  // operations that recovery would replay; all values have addresses; null: not read
  };

  // Takes a shared lock and reads the MANIFEST. InvalidArgument if there is no database; otherwise the errors of
  // DB::Open: Corruption, NotSupported, Locked and IOError.
  static Result<std::unique_ptr<InspectedDatabase>> Open(std::shared_ptr<FileSystem> fs, const std::string& path,
                                                         std::uint64_t lock_wait_micros = 0);

  // Opens the segments and layers, and reads the tail of the log with the wal_recovery_mode of the newest OPTIONS file,
  // or the default without one. InvalidArgument if a family has a comparator that is not the library's own. Notes
  // damage as problems; returns I/O errors.
  Status OpenFiles();

  [[nodiscard]] FileSystem& fs() const { return *fs_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const ManifestRead& manifest() const { return manifest_; }
  [[nodiscard]] const ManifestState& state() const { return manifest_.state; }
  [[nodiscard]] const SegmentTable& segments() const { return segments_; }
  [[nodiscard]] const std::map<std::uint32_t, Family>& families() const { return families_; }
  // Returns null if the family was dropped.
  [[nodiscard]] const Family* FindFamily(std::uint32_t id) const;
  [[nodiscard]] PagePool& pool() { return *pool_; }
  [[nodiscard]] Problems& problems() { return problems_; }

  // ---- Once OpenFiles has read the tail ----
  [[nodiscard]] WALRecoveryMode recovery_mode() const { return recovery_mode_; }
  [[nodiscard]] bool has_tail() const { return has_tail_; }  // false: recovery would fail on it
  [[nodiscard]] const ReplayResult& replayed() const { return replayed_; }
  [[nodiscard]] const std::map<std::uint64_t, PendingBytes>& pending() const { return pending_; }  // by segment
  // Returns the end of the log in a segment: its sealed length, or the end that recovery would find.
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
