#include "engines/rocksdb11_ledger.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace cambium::bench {
namespace {

// Returns 0 if there is no such file.
std::uint64_t SizeOf(const std::filesystem::path& path) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  return error ? 0 : size;
}

}  // namespace

std::uint64_t RocksDb11Ledger::Kind::Sum() const {
  std::uint64_t sum = earlier;
  for (const auto& [name, file] : files) sum += file.size - file.start;
  return sum;
}

rocksdb11::Listener* RocksDb11Ledger::NewListener() {
  return library_.eventlistener_create_(
      this, [](void*) {}, &OnFlushBegin, &OnFlushEnd, [](void*, rocksdb11::Db*, const rocksdb11::CompactionInfo*) {},
      &OnCompactionEnd, [](void*, const void*) {}, [](void*, const void*) {}, [](void*, rocksdb11::Db*, const void*) {},
      [](void*, std::uint32_t, void*) {}, [](void*, const void*) {}, [](void*, const void*) {});
}

void RocksDb11Ledger::BeforeOpen() { LookAtFiles(/*is_start=*/true); }

// Names may return after the database was destroyed, so they count for one open only.
void RocksDb11Ledger::BeforeClose() {
  LookAtFiles(/*is_start=*/false);
  const std::lock_guard lock(mutex_);
  is_open_ = false;
  for (Kind* const kind : {&logs_, &manifests_}) *kind = {.files = {}, .earlier = kind->Sum()};
}

WriteLedger RocksDb11Ledger::Read() {
  LookAtFiles(/*is_start=*/false);
  const std::lock_guard lock(mutex_);
  return {.log = logs_.Sum() + DirectBytes(),
          .values = direct_ ? 0 : values_.load(),
          .flush = flush_.load(),
          .merge = merge_.load(),
          .gc = gc_.load(),
          .manifest = manifests_.Sum()};
}

void RocksDb11Ledger::OnFlushBegin(void* state, rocksdb11::Db* /*db*/, const rocksdb11::FlushInfo* /*info*/) {
  static_cast<RocksDb11Ledger*>(state)->LookAtFiles(/*is_start=*/false);
}

void RocksDb11Ledger::OnFlushEnd(void* state, rocksdb11::Db* /*db*/, const rocksdb11::FlushInfo* info) {
  auto* const ledger = static_cast<RocksDb11Ledger*>(state);
  const RocksDb11Library& library = ledger->library_;
  std::size_t size = 0;
  const char* const path = library.flushjobinfo_file_path_(info, &size);
  ledger->flush_ += SizeOf(std::string(path, size));
  for (std::size_t i = 0; i < library.flushjobinfo_blob_file_addition_infos_count_(info); ++i) {
    ledger->values_ += ledger->BytesOf(library.flushjobinfo_blob_file_addition_info_at_(info, i));
  }
}

void RocksDb11Ledger::OnCompactionEnd(void* state, rocksdb11::Db* /*db*/, const rocksdb11::CompactionInfo* info) {
  auto* const ledger = static_cast<RocksDb11Ledger*>(state);
  const RocksDb11Library& library = ledger->library_;
  ledger->merge_ += library.compactionjobinfo_total_output_bytes_(info);
  ledger->merge_read_ += library.compactionjobinfo_total_input_bytes_(info);
  for (std::size_t i = 0; i < library.compactionjobinfo_blob_file_addition_infos_count_(info); ++i) {
    ledger->gc_ += ledger->BytesOf(library.compactionjobinfo_blob_file_addition_info_at_(info, i));
  }
}

void RocksDb11Ledger::LookAtFiles(bool is_start) {
  const std::lock_guard lock(mutex_);
  if (is_start) is_open_ = true;
  if (!is_open_) return;
  std::error_code error;
  for (std::filesystem::directory_iterator file(path_, error), end; !error && file != end; file.increment(error)) {
    const std::string name = file->path().filename().string();
    Kind* const kind = name.ends_with(".log")           ? &logs_
                       : name.starts_with("MANIFEST-") ? &manifests_
                                                       : nullptr;
    if (kind == nullptr) continue;
    const std::uint64_t size = SizeOf(file->path());
    Growth& growth = kind->files[name];
    if (is_start) growth.start = size;
    growth.size = std::max(growth.size, size);
  }
}

// `info` has the bytes of the values; the file has a header and a footer as well.
std::uint64_t RocksDb11Ledger::BytesOf(const rocksdb11::BlobFileInfo* info) const {
  std::size_t size = 0;
  const char* const path = library_.blob_file_addition_info_blob_file_path_(info, &size);
  const std::uint64_t bytes = SizeOf(std::string(path, size));
  return bytes == 0 ? library_.blob_file_addition_info_total_blob_bytes_(info) : bytes;
}

}  // namespace cambium::bench
