// Column families, and the caches of their options.
#include <algorithm>
#include <cassert>
#include <utility>

#include "rocksdb_names/db_rep.h"
#include "rocksdb_names/to_cambium.h"
#include "util/result.h"

namespace rocksdb::inline on_cambium {

void AddCache(const ColumnFamilyOptions& options, std::vector<std::shared_ptr<Cache>>* caches) {
  if (options.table_factory == nullptr) return;
  const std::shared_ptr<Cache>& its =
      std::as_const(*options.table_factory).GetOptions<BlockBasedTableOptions>()->block_cache;
  if (its != nullptr && std::ranges::find(*caches, its) == caches->end()) caches->push_back(its);
}

std::size_t PageCacheSize(const std::vector<std::shared_ptr<Cache>>& caches) {
  constexpr std::size_t kLeast = 64u << 10;
  constexpr std::size_t kMost = std::size_t{1} << 50;
  std::size_t bytes = 0;
  for (const std::shared_ptr<Cache>& each : caches) bytes += std::min(each->GetCapacity(), kMost);
  return std::clamp(bytes, kLeast, kMost);
}

void DB::UseCaches() {
  std::vector<std::shared_ptr<Cache>> caches;
  {
    const cambium::MutexLock lock(rep_->mutex);
    caches = rep_->caches;
  }
  for (const std::shared_ptr<Cache>& each : caches) each->Add(this);
}

void DB::LeaveCaches() {
  std::vector<std::shared_ptr<Cache>> caches;
  {
    const cambium::MutexLock lock(rep_->mutex);
    caches = rep_->caches;
  }
  for (const std::shared_ptr<Cache>& each : caches) each->Remove(this);
}

void DB::SetPageCacheSize() {
  std::size_t bytes = 0;
  {
    const cambium::MutexLock lock(rep_->mutex);
    bytes = PageCacheSize(rep_->caches);
  }
  // An error means that the size is in force but not in the OPTIONS file. This function has no way to report it.
  static_cast<void>(OnCambium()->SetDBOptions({{"page_cache_size", std::to_string(bytes)}}));
}

void DB::AddFamily(const std::string& name, const ColumnFamilyOptions& options, const std::vector<std::string>& hints) {
  std::vector<std::shared_ptr<Cache>> added;
  {
    const cambium::MutexLock lock(rep_->mutex);
    rep_->families[name] = options;
    const std::size_t before = rep_->caches.size();
    AddCache(options, &rep_->caches);
    added.assign(rep_->caches.begin() + static_cast<std::ptrdiff_t>(before), rep_->caches.end());
  }
  for (const std::shared_ptr<Cache>& each : added) each->Add(this);
  if (!added.empty()) SetPageCacheSize();
  Tell(hints);
}

Status DB::CreateColumnFamily(const ColumnFamilyOptions& options, const std::string& name,
                              ColumnFamilyHandle** handle) {
  std::vector<std::string> hints;
  cambium::ColumnFamilyOptions its;
  CAMBIUM_RETURN_IF_ERROR(ToCambium(options, rep_->path, &its, &hints));
  CAMBIUM_RETURN_IF_ERROR(OnCambium()->CreateColumnFamily(its, name, handle));
  AddFamily(name, options, hints);
  SaveHints();
  return Status::OK();
}

Status DB::CreateColumnFamilies(const ColumnFamilyOptions& options, const std::vector<std::string>& names,
                                std::vector<ColumnFamilyHandle*>* handles) {
  std::vector<std::string> hints;
  cambium::ColumnFamilyOptions its;
  CAMBIUM_RETURN_IF_ERROR(ToCambium(options, rep_->path, &its, &hints));
  CAMBIUM_RETURN_IF_ERROR(OnCambium()->CreateColumnFamilies(its, names, handles));
  for (const std::string& each : names) AddFamily(each, options, std::exchange(hints, {}));
  SaveHints();
  return Status::OK();
}

Status DB::CreateColumnFamilies(const std::vector<ColumnFamilyDescriptor>& families,
                                std::vector<ColumnFamilyHandle*>* handles) {
  if (handles == nullptr) return Status::InvalidArgument("the pointer for the handles is null");
  handles->clear();
  for (const ColumnFamilyDescriptor& each : families) {
    ColumnFamilyHandle* handle = nullptr;
    CAMBIUM_RETURN_IF_ERROR(CreateColumnFamily(each.options, each.name, &handle));
    handles->push_back(handle);
  }
  return Status::OK();
}

Status DB::DropColumnFamily(ColumnFamilyHandle* family) {
  CAMBIUM_RETURN_IF_ERROR(OnCambium()->DropColumnFamily(family));
  {
    const cambium::MutexLock lock(rep_->mutex);
    rep_->families.erase(family->GetName());
  }
  SaveHints();
  return Status::OK();
}

Status DB::DropColumnFamilies(const std::vector<ColumnFamilyHandle*>& families) {
  for (ColumnFamilyHandle* const each : families) CAMBIUM_RETURN_IF_ERROR(DropColumnFamily(each));
  return Status::OK();
}

}  // namespace rocksdb::inline on_cambium
