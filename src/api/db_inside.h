// DbInside: functions of an open database that DB does not have, for the folders above: transactions, checkpoints and
// backups, the offline compaction, the tool. So DbImpl has only the functions of DB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "api/capturer.h"
#include "api/offline.h"
#include "api/writer.h"
#include "cambium/db.h"
#include "read/change_finder.h"
#include "read/version_reader.h"
#include "state/check_invariants.h"
#include "state/db_state.h"
#include "upkeep/upkeep.h"

namespace cambium {

// Any thread. Belongs to its DbImpl.
class DbInside {
 public:
  DbInside(DbState* state, Upkeep* upkeep, Families* families, Writer* writer)
      : state_(*state), upkeep_(*upkeep), writer_(*writer), capturer_(state, upkeep, families),
        offline_(state, upkeep, families) {}
  DbInside(const DbInside&) = delete;
  DbInside& operator=(const DbInside&) = delete;

  // Returns the DbInside of the DbImpl below all StackableDB wrappers, or null if there is no DbImpl. (In db_impl.cc.)
  static DbInside* Of(DB* db);
  // The database itself.
  [[nodiscard]] DB& db() const { return *state_.context.facade; }

  // ---- For transactions ----

  // As Write, if the condition holds when the batch is appended. The condition is not asked about an empty batch.
  Status WriteIf(const WriteOptions& options, WriteBatch* batch, const WriteCondition& condition);
  // Whether the key was written after `since`: see read/change_finder.h.
  using Asks = ChangeFinder::Asks;
  [[nodiscard]] Status CheckUnchanged(const Family& family, Slice key, SequenceNumber since, Asks asks,
                                      const Snapshot* then = nullptr) const {
    return changes_.CheckKey(family, key, since, asks, then);
  }
  // As DB::Get, and sets *version: see read/version_reader.h. A null handle stands for the default family. (In
  // db_impl.cc.)
  Status GetWithVersion(const ReadOptions& options, ColumnFamilyHandle* family, Slice key, std::string* value,
                        SequenceNumber* version);
  [[nodiscard]] Result<bool> HasVersion(const Family& family, Slice key, SequenceNumber version) const {
    return version_reader_.HasVersion(family, key, version);
  }
  // Whether a key of the interval was written after `since`: see read/change_finder.h.
  [[nodiscard]] Status CheckIntervalUnchanged(const Family& family, const KeyInterval& interval,
                                              SequenceNumber since) const {
    return changes_.CheckInterval(family, interval, since);
  }
  // Watches these keys as long as it exists: see state/range_watches.h.
  class WatchScope {
   public:
    WatchScope(DbInside* inside, WatchedKeys keys);
    ~WatchScope();
    WatchScope(const WatchScope&) = delete;
    WatchScope& operator=(const WatchScope&) = delete;
    [[nodiscard]] bool is_hit() const CAMBIUM_REQUIRES(append_lock) { return watch_.is_hit(); }

   private:
    WriteHead& head_;
    RangeWatches::Watch watch_;
  };
  // OK if a write of the batch, together with the delete of a key of `key_size` bytes, could only fail by the state of
  // the database: see api/batch_check.h.
  [[nodiscard]] Status CheckForLater(const WriteBatch& batch, std::size_t key_size) const;
  [[nodiscard]] WriteHistory* history() const { return &state_.context.history; }
  // The family of a handle; a null handle stands for the default family.
  [[nodiscard]] Result<std::shared_ptr<Family>> SharedFamilyOf(ColumnFamilyHandle* handle) const;
  // Makes a handle of the family that has the id, or the name; null if there is none.
  [[nodiscard]] std::unique_ptr<ColumnFamilyHandle> NewHandle(std::uint32_t id) const;
  [[nodiscard]] std::unique_ptr<ColumnFamilyHandle> NewHandle(std::string_view name) const;
  [[nodiscard]] Clock* GetClock() const { return state_.context.options.clock.get(); }
  // OK if the database is open for writing, even if a fatal error has ended all writing until it is opened again.
  [[nodiscard]] Status CheckOpenForWriting() const {
    CAMBIUM_RETURN_IF_ERROR(CheckUsable());
    return state_.context.read_only ? Status::NotSupported("the database is open for reading only") : Status::OK();
  }
  // OK unless the database is closed, or this is a forked child.
  [[nodiscard]] Status CheckUsable() const { return state_.context.CheckUsable(); }
  [[nodiscard]] bool IsOfThisProcess() const { return state_.context.CheckProcess().ok(); }
  [[nodiscard]] const Id128& database_id() const { return state_.context.database_id; }
  // Close returns Aborted while transactions exist.
  void CountTransaction(int change) { state_.transaction_count.fetch_add(change); }
  // Prepared transactions, and the bytes of their records, for the property `space`.
  void CountPrepared(std::int64_t count, std::int64_t bytes) {
    state_.prepared_count.fetch_add(count);
    state_.prepared_bytes.fetch_add(bytes);
  }

  // ---- For copies and tools ----

  // Captures the database as it is now, for checkpoints and backups. The result's pin must be released before the
  // database is closed.
  Result<Capture> CaptureNow(std::uint64_t log_size_for_flush);
  [[nodiscard]] OfflineAccess& offline() { return offline_; }
  [[nodiscard]] const std::shared_ptr<FileSystem>& file_system() const { return state_.context.fs; }
  // For the tool: runs the log GC of a CompactRange of all keys, without its compactions, even if log GC is switched
  // off. Also schedules the log GC that is due anyway. `all`: as with kForce, otherwise as with kUseDefault. If the
  // cutoff is outside [0, 1], the option's cutoff applies.
  Status CollectOnce(bool all, double cutoff);

  // ---- For tests ----

  // Corruption if an invariant of the state does not hold. See state/check_invariants.h.
  [[nodiscard]] Status CheckInvariants() const;
  [[nodiscard]] const CommitPoint& commits() const { return state_.commits; }
  [[nodiscard]] Status CheckAccounts() const { return cambium::CheckAccounts(state_); }
  // How many segments have been visited for the figures of log GC and of the ceiling since Open.
  [[nodiscard]] std::uint64_t SegmentVisits() const;
  // The bytes of the memtables that only readers keep.
  [[nodiscard]] std::size_t BytesOfReaderTables() const { return state_.context.reader_tables->load(); }

 private:
  DbState& state_;
  Upkeep& upkeep_;
  Writer& writer_;
  const ChangeFinder changes_{&state_};
  const VersionReader version_reader_{&state_};
  Capturer capturer_;
  OfflineAccess offline_;
};

}  // namespace cambium
