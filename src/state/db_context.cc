#include "state/db_context.h"

#include <cassert>
#include <new>

#include "memtable/write_budget.h"
#include "util/mutant.h"

namespace cambium {

DbContext::DbContext(const DBOptions& its_options, std::string its_path, OpenAs as, std::uint64_t its_blob_file_size)
    : options(its_options),
      meter(options.statistics.get(), options.clock.get()),
      path(std::move(its_path)),
      read_only(as == OpenAs::kReader),
      is_offline(as == OpenAs::kOffline),
      fork_generation(ForkGeneration()),
      fs(options.file_system),
      executor(options.executor),
      logger(options.info_log),
      events(read_only ? std::vector<std::shared_ptr<EventListener>>() : options.listeners, path),
      budget(WriteBudget::Of(options.write_buffer_manager, options.db_write_buffer_size)),
      share(budget == nullptr ? nullptr : std::make_shared<BudgetShare>(budget)),
      pool(std::make_unique<PagePool>(options.page_cache_size, meter, budget)),
      blob_file_size(its_blob_file_size),
      max_total_wal_size(options.max_total_wal_size),
      max_space_amplification(options.max_space_amplification),
      min_space_limit(options.min_space_limit),
      min_punch_size(options.min_punch_size) {
  if (options.allow_mmap_reads) pool->MapFiles();
}

FileHeader DbContext::HeaderFor(FileKind kind, std::uint64_t number, std::uint64_t page_size) const {
  assert(number != 0);
  FileHeader header;
  header.kind = kind;
  header.database_id = database_id;
  options.random_source->Fill(reinterpret_cast<char*>(header.file_id.data()), header.file_id.size());
  header.number = number;
  header.epoch = epoch;
  header.created_seconds = options.clock->WallSeconds();
  header.page_size = page_size;
  return header;
}

Status DbContext::Unlink(FileKind kind, std::uint64_t number) {
  const Status removed = fs->Unlink(PathOf(kind, number));
  if (removed.ok()) events.Deleted(path, {kind, number});
  return removed;
}

// The kernel reports a failed write-back only once. If memory ran out for its message, the exception would replace that
// report, and a caller that survives it would continue. So a fatal Status is made before the sync.
Status DbContext::SyncDirectory() const {
  if (MutantIs(Mutant::kSkipDirectorySync)) return Status::OK();
  Status lost = Status::IOError("memory ran out while " + path + " was synced; the result is unknown").Fatal();
  try {
    Status named = fs->SyncDirectory(path);
    if (named.ok() || named.IsBusy()) return named;
    return named.Fatal();
  } catch (const std::bad_alloc&) {
    return lost;
  }
}

Status DbContext::SyncValues(File* file) const {
  const Stopwatch watch(&meter, BLOB_DB_BLOB_FILE_SYNC_MICROS);
  meter.Tick(BLOB_DB_BLOB_FILE_SYNCED);
  return file->SyncData();
}

BlobFileCreation DbContext::BeginBlobFile(const FileHeader& header, BlobFileCreationReason reason) {
  BlobFileCreationInfo info;
  if (events.is_on()) {
    info.db_name = events.db_name();
    info.file_path = PathOf(header.kind, header.number);
    info.file_number = header.number;
    info.reason = reason;
  }
  return {&events, std::move(info)};
}

}  // namespace cambium
