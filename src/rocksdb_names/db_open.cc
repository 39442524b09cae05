// Opening and closing.
#include <algorithm>
#include <utility>

#include "cambium/repair.h"
#include "rocksdb_names/db_rep.h"
#include "rocksdb_names/hints_file.h"
#include "rocksdb_names/listener.h"
#include "rocksdb_names/to_cambium.h"
#include "util/result.h"

namespace rocksdb::inline on_cambium {
namespace {

std::vector<ColumnFamilyDescriptor> OnlyDefault(const ColumnFamilyOptions& options) {
  return {ColumnFamilyDescriptor(kDefaultColumnFamilyName, options)};
}

// Opens the default family alone, by `make`, and gives its handle back.
template <typename Make>
Status WithoutHandle(const Make& make, std::unique_ptr<DB>* db) {
  std::vector<ColumnFamilyHandle*> handles;
  CAMBIUM_RETURN_IF_ERROR(make(&handles, db));
  for (ColumnFamilyHandle* const each : handles) CAMBIUM_RETURN_IF_ERROR((*db)->DestroyColumnFamilyHandle(each));
  return Status::OK();
}

// For calls that return a plain pointer.
template <typename Make>
Status Released(const Make& make, DB** db) {
  if (db == nullptr) return Status::InvalidArgument("the pointer for the database is null");
  std::unique_ptr<DB> opened;
  CAMBIUM_RETURN_IF_ERROR(make(&opened));
  *db = opened.release();
  return Status::OK();
}

Status CheckLogFiles(bool error_if_wal_file_exists) {
  if (!error_if_wal_file_exists) return Status::OK();
  return Status::NotSupported("error_if_wal_file_exists is not in this version: the log always exists");
}

}  // namespace

DB::DB() : rep_(std::make_unique<Rep>()) {}

DB::~DB() {
  LeaveCaches();
  rep_->db.reset();
}

Status DB::OpenWith(Opens make, bool is_read_only, const DBOptions& options, const std::string& path,
                    const std::vector<ColumnFamilyDescriptor>& families, std::vector<ColumnFamilyHandle*>* handles,
                    std::unique_ptr<DB>* db) {
  if (handles == nullptr || db == nullptr) return Status::InvalidArgument("a pointer for a result is null");
  std::vector<std::string> hints;
  cambium::DBOptions whole;
  CAMBIUM_RETURN_IF_ERROR(ToCambium(options, path, &whole, &hints));
  std::unique_ptr<DB> opened(new DB);
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
    rep.is_read_only = is_read_only;
    rep.options = options;
    if (!rep.caches.empty()) whole.page_cache_size = PageCacheSize(rep.caches);
  }
  whole.listeners.clear();
  for (const std::shared_ptr<EventListener>& each : options.listeners) {
    whole.listeners.push_back(std::make_shared<ListenerOnCambium>(each, opened.get()));
  }
  CAMBIUM_RETURN_IF_ERROR(make(whole, path, its_families, handles, &opened->rep_->db));
  opened->db_.store(opened->rep_->db.get(), std::memory_order_relaxed);
  opened->UseCaches();
  opened->Tell(hints);
  opened->SaveHints();
  *db = std::move(opened);
  return Status::OK();
}

Status DB::Open(const DBOptions& options, const std::string& path, const std::vector<ColumnFamilyDescriptor>& families,
                std::vector<ColumnFamilyHandle*>* handles, std::unique_ptr<DB>* db) {
  return OpenWith(&cambium::DB::Open, false, options, path, families, handles, db);
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
  return OpenWith(&cambium::DB::OpenForReadOnly, true, options, path, families, handles, db);
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
