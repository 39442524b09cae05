// Reads through RocksDB's C interface; the functions it calls are declared here.
#include <algorithm>
#include <cstdlib>
#include <vector>

#include "entry_source.h"
#include "shared_library.h"

namespace cambium::tool {
namespace {

struct RocksDbApi {
  SharedLibrary library;
  void* (*options_create)();
  void (*options_destroy)(void*);
  char** (*list_column_families)(const void* options, const char* name, std::size_t* count, char** error);
  void (*list_column_families_destroy)(char**, std::size_t);
  void* (*open)(const void* options, const char* name, int count, const char* const* names, const void* const* options_of,
                void** handles, unsigned char error_if_wal_file_exists, char** error);
  void (*close)(void*);
  int (*property_int)(void* db, void* family, const char* name, std::uint64_t* value);
  void (*handle_destroy)(void*);
  void* (*readoptions_create)();
  void (*readoptions_destroy)(void*);
  void* (*create_iterator)(void* db, const void* options, void* family);
  void (*iter_destroy)(void*);
  unsigned char (*iter_valid)(const void*);
  void (*iter_seek_to_first)(void*);
  void (*iter_next)(void*);
  const char* (*iter_key)(const void*, std::size_t*);
  const char* (*iter_value)(const void*, std::size_t*);
  void (*iter_get_error)(const void*, char**);

  Status Load() {
    Status s = library.Load({"librocksdb.so", "librocksdb.so.10", "librocksdb.so.9", "librocksdb.so.8", "librocksdb.so.7",
                             "librocksdb.so.7.8"});
    const auto find = [&](const char* name, auto** function) {
      if (s.ok()) s = library.Find((std::string("rocksdb_") + name).c_str(), function);
    };
    find("options_create", &options_create);
    find("options_destroy", &options_destroy);
    find("list_column_families", &list_column_families);
    find("list_column_families_destroy", &list_column_families_destroy);
    find("open_for_read_only_column_families", &open);
    find("close", &close);
    find("property_int_cf", &property_int);
    find("column_family_handle_destroy", &handle_destroy);
    find("readoptions_create", &readoptions_create);
    find("readoptions_destroy", &readoptions_destroy);
    find("create_iterator_cf", &create_iterator);
    find("iter_destroy", &iter_destroy);
    find("iter_valid", &iter_valid);
    find("iter_seek_to_first", &iter_seek_to_first);
    find("iter_next", &iter_next);
    find("iter_key", &iter_key);
    find("iter_value", &iter_value);
    find("iter_get_error", &iter_get_error);
    return s;
  }
};

class RocksDbSource final : public EntrySource {
 public:
  explicit RocksDbSource(std::string path) : path_(std::move(path)) {}
  ~RocksDbSource() override {
    if (iterator_ != nullptr) api_.iter_destroy(iterator_);
    for (void* const handle : handles_) api_.handle_destroy(handle);
    if (db_ != nullptr) api_.close(db_);
    if (read_ != nullptr) api_.readoptions_destroy(read_);
    if (options_ != nullptr) api_.options_destroy(options_);
  }

  Status Open() {
    if (const Status loaded = api_.Load(); !loaded.ok()) return loaded;
    options_ = api_.options_create();
    read_ = api_.readoptions_create();
    char* error = nullptr;
    std::size_t count = 0;
    char** const names = api_.list_column_families(options_, path_.c_str(), &count, &error);
    if (error != nullptr) return Take(error);
    names_.assign(names, names + count);
    const std::vector<const void*> options_of(count, options_);
    handles_.resize(count);
    db_ = api_.open(options_, path_.c_str(), static_cast<int>(count), names, options_of.data(), handles_.data(), 0, &error);
    api_.list_column_families_destroy(names, count);
    if (error != nullptr) {
      handles_.clear();
      return Take(error);
    }
    for (void* const handle : handles_) {
      std::uint64_t keys = 0;
      if (api_.property_int(db_, handle, "rocksdb.estimate-num-keys", &keys) == 0) all_ += keys;
    }
    return Status::OK();
  }

  Status Next(ImportedEntry* entry, bool* has_one) override {
    while (true) {
      if (iterator_ == nullptr && family_ == handles_.size()) {
        *has_one = false;
        return Status::OK();
      }
      if (iterator_ == nullptr) {
        iterator_ = api_.create_iterator(db_, read_, handles_[family_]);
        api_.iter_seek_to_first(iterator_);
      }
      if (api_.iter_valid(iterator_) != 0) break;
      char* error = nullptr;
      api_.iter_get_error(iterator_, &error);
      if (error != nullptr) return Take(error);
      api_.iter_destroy(iterator_);
      iterator_ = nullptr;
      ++family_;
    }
    std::size_t size = 0;
    const char* bytes = api_.iter_key(iterator_, &size);
    entry->key.assign(bytes, size);
    bytes = api_.iter_value(iterator_, &size);
    entry->value.assign(bytes, size);
    entry->family = names_[family_];
    ++done_;
    api_.iter_next(iterator_);
    *has_one = true;
    return Status::OK();
  }

  [[nodiscard]] double Part() const override {
    return all_ == 0 ? 0 : std::min(1.0, static_cast<double>(done_) / static_cast<double>(all_));
  }

 private:
  Status Take(char* error) const {
    const std::string text = error;
    std::free(error);
    return Status::IOError(path_ + ": RocksDB: " + text);
  }

  const std::string path_;
  RocksDbApi api_{};
  void* options_ = nullptr;
  void* read_ = nullptr;
  void* db_ = nullptr;
  std::vector<std::string> names_;
  std::vector<void*> handles_;
  std::size_t family_ = 0;
  std::uint64_t done_ = 0;
  std::uint64_t all_ = 0;  // by RocksDB's estimate
  void* iterator_ = nullptr;
};

}  // namespace

Status OpenRocksDb(const std::string& path, std::unique_ptr<EntrySource>* source) {
  auto opened = std::make_unique<RocksDbSource>(path);
  const Status s = opened->Open();
  if (s.ok()) *source = std::move(opened);
  return s;
}

}  // namespace cambium::tool
