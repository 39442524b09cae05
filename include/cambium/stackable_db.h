// StackableDB: a DB that passes each call to another one. A derived class overrides the calls that it changes.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "cambium/db.h"

namespace cambium {

class StackableDB : public DB {
 public:
  // Owns the database below.
  explicit StackableDB(std::unique_ptr<DB> db) : owned_(std::move(db)), db_(owned_.get()) {}
  // Uses a database that must outlive this one.
  explicit StackableDB(DB* db) : db_(db) {}

  // The database below.
  [[nodiscard]] DB* GetBaseDB() const { return db_; }
  // Gives the database below to the caller, who must then destroy this object and use it for nothing else.
  [[nodiscard]] std::unique_ptr<DB> ReleaseBaseDB() { return std::move(owned_); }
  [[nodiscard]] DB* GetRootDB() override { return db_->GetRootDB(); }

  using DB::CompactRange;
  using DB::Delete;
  using DB::DeleteRange;
  using DB::Flush;
  using DB::Get;
  using DB::GetApproximateSizes;
  using DB::GetIntProperty;
  using DB::GetInto;
  using DB::GetMapProperty;
  using DB::GetOptions;
  using DB::GetProperty;
  using DB::MultiGet;
  using DB::NewIterator;
  using DB::Put;
  using DB::SetOptions;
  using DB::SingleDelete;

  Status Close() override { return db_->Close(); }
  [[nodiscard]] ColumnFamilyHandle* DefaultColumnFamily() const override { return db_->DefaultColumnFamily(); }
  Status CreateColumnFamily(const ColumnFamilyOptions& options, const std::string& name,
                            ColumnFamilyHandle** handle) override {
    return db_->CreateColumnFamily(options, name, handle);
  }
  Status CreateColumnFamilies(const ColumnFamilyOptions& options, const std::vector<std::string>& names,
                              std::vector<ColumnFamilyHandle*>* handles) override {
    return db_->CreateColumnFamilies(options, names, handles);
  }
  Status DropColumnFamily(ColumnFamilyHandle* family) override { return db_->DropColumnFamily(family); }
  Status DestroyColumnFamilyHandle(ColumnFamilyHandle* family) override {
    return db_->DestroyColumnFamilyHandle(family);
  }
  Status Put(const WriteOptions& options, ColumnFamilyHandle* family, Slice key, Slice value) override {
    return db_->Put(options, family, key, value);
  }
  Status Delete(const WriteOptions& options, ColumnFamilyHandle* family, Slice key) override {
    return db_->Delete(options, family, key);
  }
  Status SingleDelete(const WriteOptions& options, ColumnFamilyHandle* family, Slice key) override {
    return db_->SingleDelete(options, family, key);
  }
  Status DeleteRange(const WriteOptions& options, ColumnFamilyHandle* family, Slice begin, Slice end) override {
    return db_->DeleteRange(options, family, begin, end);
  }
  Status Write(const WriteOptions& options, WriteBatch* batch) override { return db_->Write(options, batch); }
  Status Get(const ReadOptions& options, ColumnFamilyHandle* family, Slice key, std::string* value) override {
    return db_->Get(options, family, key, value);
  }
  Status Get(const ReadOptions& options, ColumnFamilyHandle* family, Slice key, PinnableSlice* value) override {
    return db_->Get(options, family, key, value);
  }
  Status GetInto(const ReadOptions& options, ColumnFamilyHandle* family, Slice key, std::span<char> buffer,
                 std::size_t* size) override {
    return db_->GetInto(options, family, key, buffer, size);
  }
  void MultiGet(const ReadOptions& options, std::size_t count, ColumnFamilyHandle* const* families, const Slice* keys,
                PinnableSlice* values, Status* statuses) override {
    db_->MultiGet(options, count, families, keys, values, statuses);
  }
  Iterator* NewIterator(const ReadOptions& options, ColumnFamilyHandle* family) override {
    return db_->NewIterator(options, family);
  }
  Status NewIterators(const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& families,
                      std::vector<Iterator*>* iterators) override {
    return db_->NewIterators(options, families, iterators);
  }
  Status NewAsyncReader(const AsyncReaderOptions& options, std::unique_ptr<AsyncReader>* reader) override {
    return db_->NewAsyncReader(options, reader);
  }
  const Snapshot* GetSnapshot() override { return db_->GetSnapshot(); }
  void ReleaseSnapshot(const Snapshot* snapshot) override { db_->ReleaseSnapshot(snapshot); }
  Status Flush(const FlushOptions& options, ColumnFamilyHandle* family) override { return db_->Flush(options, family); }
  Status SyncWAL() override { return db_->SyncWAL(); }
  Status FlushWAL(bool sync) override { return db_->FlushWAL(sync); }
  Status CompactRange(const CompactRangeOptions& options, ColumnFamilyHandle* family, const Slice* begin,
                      const Slice* end) override {
    return db_->CompactRange(options, family, begin, end);
  }
  Status WaitForCompact() override { return db_->WaitForCompact(); }
  Status VerifyChecksum(const ReadOptions& options) override { return db_->VerifyChecksum(options); }
  bool GetProperty(ColumnFamilyHandle* family, Slice property, std::string* value) override {
    return db_->GetProperty(family, property, value);
  }
  bool GetIntProperty(ColumnFamilyHandle* family, Slice property, std::uint64_t* value) override {
    return db_->GetIntProperty(family, property, value);
  }
  bool GetMapProperty(ColumnFamilyHandle* family, Slice property, std::map<std::string, std::string>* value) override {
    return db_->GetMapProperty(family, property, value);
  }
  Status GetApproximateSizes(const SizeApproximationOptions& options, ColumnFamilyHandle* family, const Range* ranges,
                             int count, std::uint64_t* sizes) override {
    return db_->GetApproximateSizes(options, family, ranges, count, sizes);
  }
  SequenceNumber GetLatestSequenceNumber() const override { return db_->GetLatestSequenceNumber(); }
  [[nodiscard]] const std::string& GetName() const override { return db_->GetName(); }
  Status GetDbIdentity(std::string& identity) const override { return db_->GetDbIdentity(identity); }
  [[nodiscard]] Options GetOptions(ColumnFamilyHandle* family) const override { return db_->GetOptions(family); }
  Status SetOptions(ColumnFamilyHandle* family, const std::unordered_map<std::string, std::string>& changes) override {
    return db_->SetOptions(family, changes);
  }
  Status SetDBOptions(const std::unordered_map<std::string, std::string>& changes) override {
    return db_->SetDBOptions(changes);
  }
  Status StartTrace(const TraceOptions& options, std::unique_ptr<TraceWriter>&& writer) override {
    return db_->StartTrace(options, std::move(writer));
  }
  Status StartTrace(const TraceOptions& options, const std::string& path) override {
    return db_->StartTrace(options, path);
  }
  Status EndTrace() override { return db_->EndTrace(); }
  Status Resume() override { return db_->Resume(); }
  Status Merge(const WriteOptions& options, Slice key, Slice operand) override {
    return db_->Merge(options, key, operand);
  }
  Status IngestExternalFile(const std::vector<std::string>& files) override { return db_->IngestExternalFile(files); }

 private:
  std::unique_ptr<DB> owned_;  // null: not owned

 protected:
  DB* const db_;
};

}  // namespace cambium
