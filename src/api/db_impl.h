// DbImpl: implements DB. Each call checks its arguments and passes them to the part that does the work.
//
//   DbState     the state, with its locks                                  state/db_state.h
//   Upkeep      background work                                            upkeep/upkeep.h
//   Families    column families, options, the OPTIONS file                 api/families.h
//   Reader      point reads;  DbIterator  scans                            read/reader.h, read/db_iterator.h
//   AsyncReaderImpl  many point reads at once                              read/async_reader.h
//   Writer      writes                                                     api/writer.h
//   Properties  figures                                                    api/properties.h
//   Opener      Open
//   DbInside    what transactions, copies and tools may reach                  api/db_inside.h
//
// state/lock_roles.h has the order in which locks may be taken. While a thread holds one of them, it neither waits for
// background work nor calls a listener. (Close holds close_mutex_ while it does both.)
#pragma once

#include <map>
#include <memory>
#include <new>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/db_inside.h"
#include "api/families.h"
#include "api/properties.h"
#include "api/writer.h"
#include "cambium/db.h"
#include "read/db_iterator.h"
#include "read/reader.h"
#include "read/version_reader.h"
#include "state/db_state.h"
#include "trace/tracer.h"
#include "upkeep/upkeep.h"

namespace cambium {

class DbImpl final : public DB {
 public:
  // `handles` may be null.
  static Result<std::unique_ptr<DbImpl>> OpenAt(const DBOptions& options, const std::string& path,
                                                const std::vector<ColumnFamilyDescriptor>& families, OpenAs as,
                                                std::vector<ColumnFamilyHandle*>* handles);
  ~DbImpl() override;
  // In a forked child nothing is destroyed, because a thread that the child does not have may hold a lock or wait for a
  // condition. The child's memory and descriptors are freed when it exits. The directory stays locked, because only the
  // process that took the directory lock releases it.
  static void operator delete(DbImpl* db, std::destroying_delete_t);

  using DB::CompactRange;
  using DB::Delete;
  using DB::DeleteRange;
  using DB::Flush;
  using DB::Get;
  using DB::GetApproximateSizes;
  using DB::GetIntProperty;
  using DB::GetMapProperty;
  using DB::GetOptions;
  using DB::GetInto;
  using DB::GetProperty;
  using DB::MultiGet;
  using DB::NewIterator;
  using DB::Put;
  using DB::SetOptions;
  using DB::SingleDelete;

  Status Close() override;
  [[nodiscard]] ColumnFamilyHandle* DefaultColumnFamily() const override { return default_handle_.get(); }
  Status CreateColumnFamily(const ColumnFamilyOptions& options, const std::string& name,
                            ColumnFamilyHandle** handle) override;
  Status CreateColumnFamilies(const ColumnFamilyOptions& options, const std::vector<std::string>& names,
                              std::vector<ColumnFamilyHandle*>* handles) override;
  Status DropColumnFamily(ColumnFamilyHandle* family) override;
  Status DestroyColumnFamilyHandle(ColumnFamilyHandle* family) override;
  Status Put(const WriteOptions& options, ColumnFamilyHandle* family, Slice key, Slice value) override;
  Status Delete(const WriteOptions& options, ColumnFamilyHandle* family, Slice key) override;
  Status SingleDelete(const WriteOptions& options, ColumnFamilyHandle* family, Slice key) override;
  Status DeleteRange(const WriteOptions& options, ColumnFamilyHandle* family, Slice begin, Slice end) override;
  Status Write(const WriteOptions& options, WriteBatch* batch) override;
  Status Get(const ReadOptions& options, ColumnFamilyHandle* family, Slice key, std::string* value) override;
  Status Get(const ReadOptions& options, ColumnFamilyHandle* family, Slice key, PinnableSlice* value) override;
  Status GetInto(const ReadOptions& options, ColumnFamilyHandle* family, Slice key, std::span<char> buffer,
                 std::size_t* size) override;
  void MultiGet(const ReadOptions& options, std::size_t count, ColumnFamilyHandle* const* families, const Slice* keys,
                PinnableSlice* values, Status* statuses) override;
  Status GetApproximateSizes(const SizeApproximationOptions& options, ColumnFamilyHandle* family, const Range* ranges,
                             int count, std::uint64_t* sizes) override;
  Iterator* NewIterator(const ReadOptions& options, ColumnFamilyHandle* family) override;
  Status NewIterators(const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& families,
                      std::vector<Iterator*>* iterators) override;
  Status NewAsyncReader(const AsyncReaderOptions& options, std::unique_ptr<AsyncReader>* reader) override;
  const Snapshot* GetSnapshot() override;
  void ReleaseSnapshot(const Snapshot* snapshot) override;
  Status Flush(const FlushOptions& options, ColumnFamilyHandle* family) override;
  Status SyncWAL() override;
  Status FlushWAL(bool sync) override;
  Status CompactRange(const CompactRangeOptions& options, ColumnFamilyHandle* family, const Slice* begin,
                      const Slice* end) override;
  Status WaitForCompact() override;
  Status VerifyChecksum(const ReadOptions& options) override;
  bool GetProperty(ColumnFamilyHandle* family, Slice property, std::string* value) override;
  bool GetIntProperty(ColumnFamilyHandle* family, Slice property, std::uint64_t* value) override;
  bool GetMapProperty(ColumnFamilyHandle* family, Slice property, std::map<std::string, std::string>* value) override;
  SequenceNumber GetLatestSequenceNumber() const override { return state_.head.published(); }
  const std::string& GetName() const override { return state_.context.path; }
  Status GetDbIdentity(std::string& identity) const override;
  Options GetOptions(ColumnFamilyHandle* family) const override;
  Status SetOptions(ColumnFamilyHandle* family, const std::unordered_map<std::string, std::string>& changes) override;
  Status SetDBOptions(const std::unordered_map<std::string, std::string>& changes) override;
  Status StartTrace(const TraceOptions& options, std::unique_ptr<TraceWriter>&& writer) override;
  Status StartTrace(const TraceOptions& options, const std::string& path) override;
  Status EndTrace() override;
  Status Merge(const WriteOptions& options, Slice key, Slice operand) override;
  Status IngestExternalFile(const std::vector<std::string>& files) override;
  Status Resume() override;

  // Functions for the folders above that DB does not have.
  [[nodiscard]] DbInside& inside() { return inside_; }
  // As VersionReader::Get, counted and traced as Get.
  Status GetWithVersion(const ReadOptions& options, ColumnFamilyHandle* family, Slice key, std::string* value,
                        SequenceNumber* version);

 private:
  DbImpl(const DBOptions& options, const std::string& path, std::vector<ColumnFamilyDescriptor> families, OpenAs as);

  Status Open();
  // Ends background work and the log, and releases everything. Returns the first error.
  Status Shut() CAMBIUM_REQUIRES(close_mutex_);
  // Releases everything that a closed database holds. If memory runs out on the way, the destructor continues.
  void Release() CAMBIUM_REQUIRES(close_mutex_);
  Result<Family*> FamilyOf(ColumnFamilyHandle* handle) const { return cambium::FamilyOf(this, handle); }
  // Return the family of a call that reads, or writes; or the error with which the call must fail.
  Result<Family*> ForReading(ColumnFamilyHandle* handle) const;
  Result<Family*> ForWriting(const WriteOptions& options, ColumnFamilyHandle* handle) const;
  Status DeleteAs(TraceOpType type, const WriteOptions& options, ColumnFamilyHandle* handle, Slice key);
  // Counts and traces a read of one key. `read` reads it in its family: Status(const Family&, std::size_t* value_size).
  template <typename Read>
  Status GetTraced(const ReadOptions& options, ColumnFamilyHandle* handle, Slice key, Read&& read);
  // Flushes the family and compacts these keys of it.
  Status CompactKeys(Family* family, const Slice* begin, const Slice* end);

  const std::vector<ColumnFamilyDescriptor> wanted_;  // the families that were named to Open
  std::unique_ptr<FileLock> lock_;
  DbState state_;
  Upkeep upkeep_{&state_};
  TraceSwitch traces_;
  Families families_{&state_, &upkeep_.compactor};
  Reader reader_{&state_};
  VersionReader version_reader_{&state_};
  Writer writer_{&state_, &upkeep_, &traces_};
  Properties properties_{&state_, &upkeep_};
  DbInside inside_{&state_, &upkeep_, &families_, &writer_};
  const IteratorSource iterator_source_{&state_, &traces_, &upkeep_.clusterer};
  std::unique_ptr<FamilyHandle> default_handle_;
  bool is_open_ = false;  // Open has succeeded
  // Taken by Close and the destructor before all other locks. Of several calls of Close at once, one closes the
  // database, and the others wait for it.
  Mutex close_mutex_;
  // The state of a closed database: its families until all are released, and whether everything is released.
  std::vector<std::shared_ptr<Family>> closing_families_ CAMBIUM_GUARDED_BY(close_mutex_);
  bool is_released_ CAMBIUM_GUARDED_BY(close_mutex_) = false;
};

}  // namespace cambium
