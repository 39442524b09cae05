// The ways to open a database, and to list its column families without opening it.
#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "api/db_impl.h"
#include "api/opener.h"
#include "io/at_directory.h"
#include "manifest/manifest_reader.h"
#include "options/options_check.h"
#include "util/destroy.h"
#include "util/null_argument.h"
#include "util/without_fatal.h"

namespace cambium {
namespace {

template <typename Handle>
Status OpenInto(const DBOptions& options, const std::string& path, const std::vector<ColumnFamilyDescriptor>& families,
                OpenAs as, std::vector<ColumnFamilyHandle*>* handles, Handle* db) {
  if (db == nullptr) return NullArgument("Open", "db");
  *db = Handle{};
  if (handles != nullptr) handles->clear();
  CAMBIUM_TRY(std::unique_ptr<DbImpl> opened, DbImpl::OpenAt(options, path, families, as, handles));
  if constexpr (std::is_pointer_v<Handle>) {
    *db = opened.release();
  } else {
    *db = std::move(opened);
  }
  return Status::OK();
}

std::vector<ColumnFamilyDescriptor> OnlyDefault(const ColumnFamilyOptions& options) {
  return {ColumnFamilyDescriptor(kDefaultColumnFamilyName, options)};
}

}  // namespace

Status DB::Open(const Options& options, const std::string& path, std::unique_ptr<DB>* db) {
  return OpenInto(options, path, OnlyDefault(options), OpenAs::kWriter, nullptr, db);
}
Status DB::Open(const Options& options, const std::string& path, DB** db) {
  return OpenInto(options, path, OnlyDefault(options), OpenAs::kWriter, nullptr, db);
}
Status DB::Open(const DBOptions& options, const std::string& path, const std::vector<ColumnFamilyDescriptor>& families,
                std::vector<ColumnFamilyHandle*>* handles, std::unique_ptr<DB>* db) {
  return OpenInto(options, path, families, OpenAs::kWriter, handles, db);
}
Status DB::Open(const DBOptions& options, const std::string& path, const std::vector<ColumnFamilyDescriptor>& families,
                std::vector<ColumnFamilyHandle*>* handles, DB** db) {
  return OpenInto(options, path, families, OpenAs::kWriter, handles, db);
}
Status DB::OpenForReadOnly(const Options& options, const std::string& path, std::unique_ptr<DB>* db) {
  return OpenInto(options, path, OnlyDefault(options), OpenAs::kReader, nullptr, db);
}
Status DB::OpenForReadOnly(const DBOptions& options, const std::string& path,
                           const std::vector<ColumnFamilyDescriptor>& families,
                           std::vector<ColumnFamilyHandle*>* handles, std::unique_ptr<DB>* db) {
  return OpenInto(options, path, families, OpenAs::kReader, handles, db);
}

Result<std::unique_ptr<DbImpl>> DbImpl::OpenAt(const DBOptions& options, const std::string& path,
                                               const std::vector<ColumnFamilyDescriptor>& families, OpenAs as,
                                               std::vector<ColumnFamilyHandle*>* handles) {
  CAMBIUM_RETURN_IF_ERROR(CheckDbOptions(options));
  CAMBIUM_RETURN_IF_ERROR(CheckDescriptors(families));
  for (const ColumnFamilyDescriptor& family : families) {
    if (as != OpenAs::kWriter) break;  // only a writer has a ceiling that starts work
    CAMBIUM_RETURN_IF_ERROR(CheckCeiling(options.max_space_amplification, family.options)
                                .WithContext("column family \"" + family.name + "\""));
  }
  std::unique_ptr<DbImpl> db =
      AllocateAndMake<DbImpl>([&](void* at) { return ::new (at) DbImpl(options, path, families, as); });
  CAMBIUM_RETURN_IF_ERROR(WithoutFatal(db->Open()));  // after a failed Open nothing is open: not fatal
  if (handles == nullptr) return db;
  const std::shared_ptr<const View> view = db->state_.commits.view().Pin();
  std::unordered_map<std::string_view, std::shared_ptr<Family>> by_name;
  for (const FamilyView& each : view->families) by_name.emplace(each.family->name, each.family);
  std::vector<std::unique_ptr<FamilyHandle>> made;
  for (const ColumnFamilyDescriptor& wanted : families) {
    const std::shared_ptr<Family>& family = by_name.at(wanted.name);
    made.push_back(std::make_unique<FamilyHandle>(db.get(), db->state_.context.database_id, family));
  }
  handles->reserve(handles->size() + made.size());
  for (std::unique_ptr<FamilyHandle>& handle : made) handles->push_back(handle.release());
  return db;
}

DbImpl::DbImpl(const DBOptions& options, const std::string& path, std::vector<ColumnFamilyDescriptor> families, OpenAs as)
    : wanted_(std::move(families)),
      state_(FillInDefaults(options), path, as, DefaultDescriptor(wanted_).options.blob_file_size) {
  state_.context.facade = this;
}

Status DbImpl::Open() {
  const Delivery delivery(&state_.context.events);
  Opener opener(&state_, &upkeep_, &families_, wanted_);
  Events::HeldByOpen held(&state_.context.events);  // until Release, also if an exception passes
  CAMBIUM_RETURN_IF_ERROR(opener.Open(&lock_));
  default_handle_ = std::make_unique<FamilyHandle>(this, state_.context.database_id, state_.default_family);
  held.Release();
  is_open_ = true;
  if (!state_.context.read_only) opener.StartJobs();
  return Status::OK();
}

Status DB::DropColumnFamilies(const std::vector<ColumnFamilyHandle*>& families) {
  for (ColumnFamilyHandle* const family : families) CAMBIUM_RETURN_IF_ERROR(DropColumnFamily(family));
  return Status::OK();
}

Status DB::ListColumnFamilies(const DBOptions& options, const std::string& path, std::vector<std::string>* names) {
  if (names == nullptr) return NullArgument("ListColumnFamilies", "names");
  names->clear();
  const std::shared_ptr<FileSystem> base = options.file_system != nullptr ? options.file_system : FileSystem::Default();
  const Result<std::shared_ptr<FileSystem>> opened = AtDirectory(base, path);
  if (opened.status().IsPathNotFound()) return Status::InvalidArgument(path + ": holds no database");
  CAMBIUM_TRY(const std::shared_ptr<FileSystem> fs, opened);
  // A process that has the database open may start a new MANIFEST and remove the one that is being read.
  constexpr int kTries = 8;
  Result<ManifestRead> read = ReadManifest(*fs, path);
  for (int i = 1; i < kTries && !read.ok() && !read.status().IsNotSupported(); ++i) read = ReadManifest(*fs, path);
  if (!read.ok() && (read.status().IsNotFound() || read.status().IsPathNotFound())) {
    return Status::InvalidArgument(path + ": holds no database");
  }
  CAMBIUM_RETURN_IF_ERROR(read.status());
  for (const auto& [id, family] : read->state.families) names->push_back(family.name);
  return Status::OK();
}

}  // namespace cambium
