// Opening and closing.
#include <algorithm>
#include <utility>

#include "cambium/repair.h"
#include "rocksdb_names/db_rep.h"
#include "rocksdb_names/hints_file.h"
#include "rocksdb_names/listener.h"
#include "rocksdb_names/opening.h"
#include "rocksdb_names/to_cambium.h"
#include "util/result.h"

namespace rocksdb::inline on_cambium {
namespace {

// One of the functions of cambium::DB that open a database.
using OpensDatabase = Status(const cambium::DBOptions&, const std::string&,
                             const std::vector<cambium::ColumnFamilyDescriptor>&, std::vector<ColumnFamilyHandle*>*,
                             std::unique_ptr<cambium::DB>*);

Status CheckLogFiles(bool error_if_wal_file_exists) {
  if (!error_if_wal_file_exists) return Status::OK();
  return Status::NotSupported("error_if_wal_file_exists is not in this version: the log always exists");
}

}  // namespace

DB::DB() : above_(nullptr), rep_(std::make_shared<Rep>()) {}
DB::DB(DB* above, cambium::DB* below) : above_(above), rep_(above->rep_), db_(below) {}

DB::~DB() {
  if (above_ != nullptr) return;
  LeaveCaches();
  rep_->db.reset();
}

Status DB::OpenAs(std::unique_ptr<DB> opened, Opening opening, const DBOptions& options, const std::string& path,
                  const std::vector<ColumnFamilyDescriptor>& families, std::vector<ColumnFamilyHandle*>* handles,
                  std::unique_ptr<DB>* db) {
  if (handles == nullptr || db == nullptr) return Status::InvalidArgument("a pointer for a result is null");
  std::vector<std::string>& hints = opening.hints;
  cambium::DBOptions whole;
  CAMBIUM_RETURN_IF_ERROR(ToCambium(options, path, &whole, &hints));
  std::vector<cambium::ColumnFamilyDescriptor> its_families;
  {
    Rep& rep = *opened->rep_;
    const cambium::MutexLock lock(rep.mutex);
    for (const ColumnFamilyDescriptor& each : families) {
      its_families.emplace_back(each.name, cambium::ColumnFamilyOptions());
      CAMBIUM_RETURN_IF_ERROR(ToCambium(each.options, path, &its_families.back().options, &hints));
      AddCache(each.options, &rep.caches);
      rep.families[each.name] = each.options;
    }
    rep.path = path;
    rep.is_read_only = opening.is_read_only;
    rep.options = options;
    if (!rep.caches.empty()) whole.page_cache_size = PageCacheSize(rep.caches);
  }
  whole.listeners.clear();
  for (const std::shared_ptr<EventListener>& each : options.listeners) {
    whole.listeners.push_back(std::make_shared<ListenerOnCambium>(each, opened.get()));
  }
  CAMBIUM_RETURN_IF_ERROR(opening.make(whole, path, its_families, handles, &opened->rep_->db));
  opened->db_.store(opened->rep_->db.get(), std::memory_order_relaxed);
  opened->UseCaches();
  opened->Tell(hints);
  opened->SaveHints();
  *db = std::move(opened);
  return Status::OK();
}

Status DB::Open(const DBOptions& options, const std::string& path, const std::vector<ColumnFamilyDescriptor>& families,
                std::vector<ColumnFamilyHandle*>* handles, std::unique_ptr<DB>* db) {
  const auto make = static_cast<OpensDatabase*>(&cambium::DB::Open);
  return OpenAs(std::unique_ptr<DB>(new DB), {make, false, {}}, options, path, families, handles, db);
}
Status DB::Open(const DBOptions& options, const std::string& path, const std::vector<ColumnFamilyDescriptor>& families,
                std::vector<ColumnFamilyHandle*>* handles, DB** db) {
  return Released([&](std::unique_ptr<DB>* opened) { return Open(options, path, families, handles, opened); }, db);
}
Status DB::Open(const Options& options, const std::string& path, std::unique_ptr<DB>* db) {
  return WithoutHandle(
      [&](std::vector<ColumnFamilyHandle*>* handles, std::unique_ptr<DB>* opened) {
        return Open(options, path, OnlyDefault(options), handles, opened);
      },
      db);
}
Status DB::Open(const Options& options, const std::string& path, DB** db) {
  return Released([&](std::unique_ptr<DB>* opened) { return Open(options, path, opened); }, db);
}

Status DB::OpenForReadOnly(const DBOptions& options, const std::string& path,
                           const std::vector<ColumnFamilyDescriptor>& families,
                           std::vector<ColumnFamilyHandle*>* handles, std::unique_ptr<DB>* db,
                           bool error_if_wal_file_exists) {
  CAMBIUM_RETURN_IF_ERROR(CheckLogFiles(error_if_wal_file_exists));
  const auto make = static_cast<OpensDatabase*>(&cambium::DB::OpenForReadOnly);
  return OpenAs(std::unique_ptr<DB>(new DB), {make, true, {}}, options, path, families, handles, db);
}
Status DB::OpenForReadOnly(const Options& options, const std::string& path, std::unique_ptr<DB>* db,
                           bool error_if_wal_file_exists) {
  return WithoutHandle(
      [&](std::vector<ColumnFamilyHandle*>* handles, std::unique_ptr<DB>* opened) {
        return OpenForReadOnly(options, path, OnlyDefault(options), handles, opened, error_if_wal_file_exists);
      },
      db);
}
Status DB::OpenForReadOnly(const Options& options, const std::string& path, DB** db, bool error_if_wal_file_exists) {
  return Released(
      [&](std::unique_ptr<DB>* opened) { return OpenForReadOnly(options, path, opened, error_if_wal_file_exists); }, db);
}

Status DB::ListColumnFamilies(const DBOptions& options, const std::string& path, std::vector<std::string>* names) {
  return cambium::DB::ListColumnFamilies(options.Same(), path, names);
}

// A cache calls the databases that use it, and no call may run during Close: so the caches forget this one first.
Status DB::Close() {
  if (above_ != nullptr) return above_->Close();
  LeaveCaches();
  Status closed = OnCambium()->Close();
  if (closed.IsAborted()) UseCaches();  // still open
  return closed;
}

Status DestroyDB(const std::string& path, const Options& options) {
  std::vector<std::string> ignored;
  cambium::Options whole;
  CAMBIUM_RETURN_IF_ERROR(ToCambium(static_cast<const DBOptions&>(options), path, &whole, &ignored));
  CAMBIUM_RETURN_IF_ERROR(cambium::DestroyDB(path, whole));  // first: an open database keeps its file of hints
  CAMBIUM_RETURN_IF_ERROR(RemoveHintsFile(FilesOf(whole), path));
  // With that file, Cambium could not remove the directory. If it has other files, it is kept.
  static_cast<void>(FilesOf(whole).RemoveDirectory(path));
  return Status::OK();
}
Status DestroyDB(const std::string& path, const Options& options,
                 const std::vector<ColumnFamilyDescriptor>& /*families*/) {
  return DestroyDB(path, options);  // all families are removed
}

Status RepairDB(const std::string& path, const Options& options) {
  std::vector<std::string> ignored;
  cambium::Options whole;
  CAMBIUM_RETURN_IF_ERROR(ToCambium(static_cast<const DBOptions&>(options), path, &whole, &ignored));
  CAMBIUM_RETURN_IF_ERROR(ToCambium(static_cast<const ColumnFamilyOptions&>(options), path, &whole, &ignored));
  return cambium::RepairDB(path, whole);
}

}  // namespace rocksdb::inline on_cambium
