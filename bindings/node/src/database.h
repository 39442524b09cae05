// A database as one environment has it, with its iterators, transactions and snapshots.
#pragma once

#include <memory>
#include <unordered_set>

#include "closable.h"
#include "core.h"
#include "napi.h"
#include "options.h"
#include "work.h"

namespace cambium_node {

class Database;

// A state of the database. Calls and iterators that read it share it; it is released with the last of them, or when the
// database is closed.
class Snapshot {
 public:
  static constexpr std::uint32_t kKind = 0x736e6170;
  explicit Snapshot(std::shared_ptr<Database> database);
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;
  ~Snapshot();
  [[nodiscard]] const cambium_snapshot_t* get() const { return snapshot_; }
  [[nodiscard]] const std::shared_ptr<Database>& database() const { return database_; }
  void Release() noexcept;

 private:
  std::shared_ptr<Database> database_;
  const cambium_snapshot_t* snapshot_;
};

// The native part of a snapshot's JavaScript object. After close it refers to no snapshot.
struct SnapshotRef {
  static constexpr std::uint32_t kKind = 0x73726566;
  std::shared_ptr<Database> database;
  std::shared_ptr<Snapshot> snapshot;
};

// The native part of a family's JavaScript object.
struct FamilyRef {
  static constexpr std::uint32_t kKind = 0x66616d69;
  std::shared_ptr<Database> database;
  std::shared_ptr<Family> family;
};

class Iterator;
class Overlay;

// The kind of a call, for databases with JavaScript functions, which can answer only while their thread is free.
enum class Work : unsigned char {
  kRead,   // may compare keys
  kWrite,  // may also wait for background work, which may ask a compaction filter
};

// Used by the thread of its environment; Core is what other threads use.
class Database final : public Closable {
 public:
  static constexpr std::uint32_t kKind = 0x64617461;
  Database(napi_env env, std::shared_ptr<Core> core);

  [[nodiscard]] Core& core() const { return *core_; }
  [[nodiscard]] const std::shared_ptr<Core>& shared_core() const { return core_; }
  [[nodiscard]] cambium_t* db() const { return core_->db(); }
  // Throws if the database is closed, or if the call might wait for the thread that makes it.
  void CheckSync(Work work) const;

  // Options of synchronous calls.
  [[nodiscard]] cambium_readoptions_t* read_options() const { return read_options_.get(); }
  [[nodiscard]] const cambium_writeoptions_t* write_options(std::uint32_t flags) const {
    return write_options_[flags % kAllWriteFlags].get();
  }
  [[nodiscard]] cambium_options_t* statistics() const { return statistics_; }
  [[nodiscard]] Family& default_family() const { return *default_family_; }

  std::unordered_set<Iterator*> iterators;
  std::unordered_set<Overlay*> overlays;
  std::unordered_set<Snapshot*> snapshots;

  // The last JavaScript object that refers to the database is gone.
  void Unreference() { CloseUnreferenced(); }

 protected:
  void CloseChildren() noexcept override;
  [[nodiscard]] bool MayStayOpen() const override { return core_->has_comparator(); }
  void CloseBlocking(Error* error) override;

 private:
  std::shared_ptr<Core> core_;
  std::shared_ptr<Family> default_family_;
  ReadOptions read_options_;
  WriteOptions write_options_[kAllWriteFlags];
  cambium_options_t* statistics_;  // null if there are none
};

// The native part of a database's JavaScript object. It closes the database when the object is collected.
struct DatabaseRef {
  static constexpr std::uint32_t kKind = 0x64626f62;
  explicit DatabaseRef(std::shared_ptr<Database> its) : database(std::move(its)) {}
  DatabaseRef(const DatabaseRef&) = delete;
  DatabaseRef& operator=(const DatabaseRef&) = delete;
  ~DatabaseRef() {
    if (!IsForked()) database->Unreference();
  }
  std::shared_ptr<Database> database;
};

// Arguments of calls.
inline const std::shared_ptr<Database>& DatabaseAt(const Args& args, std::size_t i) {
  return args.Get<DatabaseRef>(i)->database;
}
// The family at i; undefined: the default one. Throws if the family belongs to another database.
std::shared_ptr<Family> FamilyAt(const Args& args, std::size_t i, const Database& database);
std::shared_ptr<Family> ToFamily(napi_env env, napi_value value, const Database& database);
// The snapshot at i; undefined: null. Throws if it is closed or belongs to another database.
std::shared_ptr<Snapshot> SnapshotAt(const Args& args, std::size_t i, const Database& database);

// A call of `database`, see Perform.
napi_value PerformOn(napi_env env, bool is_sync, const char* name, const std::shared_ptr<Database>& database, Work work,
                     Run run, Finish finish = &FinishUndefined, std::function<void()> done = nullptr);

void ExportDatabase(napi_env env, napi_value exports);
void ExportFamilies(napi_env env, napi_value exports);
void ExportReads(napi_env env, napi_value exports);
void ExportWrites(napi_env env, napi_value exports);
void ExportConditionalWrites(napi_env env, napi_value exports);
void ExportIterators(napi_env env, napi_value exports);
void ExportOverlays(napi_env env, napi_value exports);
void ExportSnapshots(napi_env env, napi_value exports);
void ExportUpkeep(napi_env env, napi_value exports);
void ExportProperties(napi_env env, napi_value exports);
void ExportBackups(napi_env env, napi_value exports);
void ExportOffline(napi_env env, napi_value exports);

}  // namespace cambium_node
