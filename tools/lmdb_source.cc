// Reads through LMDB's interface; the functions it calls are declared here. The main database becomes the default
// family, a named database the family of its name.
#include <vector>

#include "entry_source.h"
#include "shared_library.h"

namespace cambium::tool {
namespace {

struct Val {  // MDB_val
  std::size_t size;
  void* data;
};
struct Stat {  // MDB_stat
  unsigned page_size;
  unsigned depth;
  std::size_t branch_pages;
  std::size_t leaf_pages;
  std::size_t overflow_pages;
  std::size_t entries;
};
constexpr unsigned kReadOnly = 0x20000;   // MDB_RDONLY
constexpr unsigned kNoSubdir = 0x4000;    // MDB_NOSUBDIR
constexpr unsigned kDupSort = 0x04;       // MDB_DUPSORT
constexpr int kFirst = 0;                 // MDB_FIRST
constexpr int kNext = 8;                  // MDB_NEXT
constexpr int kNotFound = -30798;         // MDB_NOTFOUND
constexpr int kIncompatible = -30784;     // MDB_INCOMPATIBLE: the record is not a database
constexpr unsigned kDatabasesMax = 10'000;

struct LmdbApi {
  SharedLibrary library;
  int (*env_create)(void**);
  int (*env_set_maxdbs)(void*, unsigned);
  int (*env_open)(void*, const char*, unsigned, unsigned mode);
  void (*env_close)(void*);
  int (*txn_begin)(void* env, void* parent, unsigned flags, void** txn);
  void (*txn_abort)(void*);
  int (*dbi_open)(void* txn, const char* name, unsigned flags, unsigned* dbi);
  int (*dbi_flags)(void* txn, unsigned dbi, unsigned* flags);
  int (*stat)(void* txn, unsigned dbi, Stat* stat);
  int (*cursor_open)(void* txn, unsigned dbi, void** cursor);
  int (*cursor_get)(void* cursor, Val* key, Val* value, int op);
  void (*cursor_close)(void*);
  char* (*strerror)(int);

  Status Load() {
    Status s = library.Load({"liblmdb.so.0", "liblmdb.so"});
    const auto find = [&](const char* name, auto** function) {
      if (s.ok()) s = library.Find((std::string("mdb_") + name).c_str(), function);
    };
    find("env_create", &env_create);
    find("env_set_maxdbs", &env_set_maxdbs);
    find("env_open", &env_open);
    find("env_close", &env_close);
    find("txn_begin", &txn_begin);
    find("txn_abort", &txn_abort);
    find("dbi_open", &dbi_open);
    find("dbi_flags", &dbi_flags);
    find("stat", &stat);
    find("cursor_open", &cursor_open);
    find("cursor_get", &cursor_get);
    find("cursor_close", &cursor_close);
    find("strerror", &strerror);
    return s;
  }
};

class LmdbSource final : public EntrySource {
 public:
  explicit LmdbSource(std::string path) : path_(std::move(path)) {}
  ~LmdbSource() override {
    if (cursor_ != nullptr) api_.cursor_close(cursor_);
    if (txn_ != nullptr) api_.txn_abort(txn_);
    if (env_ != nullptr) api_.env_close(env_);
  }

  Status Open(bool is_directory) {
    Status s = api_.Load();
    if (s.ok()) s = Check(api_.env_create(&env_));
    if (s.ok()) s = Check(api_.env_set_maxdbs(env_, kDatabasesMax));
    if (s.ok()) s = Check(api_.env_open(env_, path_.c_str(), kReadOnly | (is_directory ? 0 : kNoSubdir), 0600));
    if (s.ok()) s = Check(api_.txn_begin(env_, nullptr, kReadOnly, &txn_));
    return s.ok() ? AddDatabase(nullptr) : s;
  }

  Status Next(ImportedEntry* entry, bool* has_one) override {
    while (true) {
      if (at_ == databases_.size()) {
        *has_one = false;
        return Status::OK();
      }
      const bool is_first = cursor_ == nullptr;
      if (is_first) {
        if (const Status s = Check(api_.cursor_open(txn_, databases_[at_].dbi, &cursor_)); !s.ok()) return s;
      }
      Val key{};
      Val value{};
      const int got = api_.cursor_get(cursor_, &key, &value, is_first ? kFirst : kNext);
      if (got == kNotFound) {
        api_.cursor_close(cursor_);
        cursor_ = nullptr;
        ++at_;
        continue;
      }
      if (const Status s = Check(got); !s.ok()) return s;
      entry->family = databases_[at_].name;
      entry->key.assign(static_cast<const char*>(key.data), key.size);
      // An entry of the main database that names another database is not data.
      bool is_database = false;
      if (at_ == 0) {
        if (const Status s = AddIfDatabase(entry->key, &is_database); !s.ok()) return s;
      }
      if (is_database) continue;
      entry->value.assign(static_cast<const char*>(value.data), value.size);
      ++done_;
      *has_one = true;
      return Status::OK();
    }
  }

  // Uses the counts of entries: of the main database and of the named databases found so far.
  [[nodiscard]] double Part() const override {
    return all_ == 0 ? 0 : static_cast<double>(done_) / static_cast<double>(all_);
  }

 private:
  struct Database {
    std::string name;
    unsigned dbi;
  };
  Status Check(int result) const {
    return result == 0 ? Status::OK() : Status::IOError(path_ + ": LMDB: " + api_.strerror(result));
  }
  Status AddDatabase(const char* name) {
    unsigned dbi = 0;
    unsigned flags = 0;
    Status s = Check(api_.dbi_open(txn_, name, 0, &dbi));
    if (s.ok()) s = Check(api_.dbi_flags(txn_, dbi, &flags));
    if (!s.ok()) return s;
    if ((flags & kDupSort) != 0) {
      return Status::NotSupported(path_ + ": database \"" + (name == nullptr ? "" : name) + "\" has several values per key");
    }
    Stat stat{};
    if (s = Check(api_.stat(txn_, dbi, &stat)); !s.ok()) return s;
    all_ += stat.entries;
    databases_.push_back({name == nullptr ? kDefaultColumnFamilyName : name, dbi});
    return Status::OK();
  }
  Status AddIfDatabase(const std::string& name, bool* is_database) {
    *is_database = false;
    if (name.find('\0') != std::string::npos) return Status::OK();
    unsigned dbi = 0;
    const int opened = api_.dbi_open(txn_, name.c_str(), 0, &dbi);
    if (opened == kIncompatible || opened == kNotFound) return Status::OK();
    if (const Status s = Check(opened); !s.ok()) return s;
    *is_database = true;
    // The family of that name holds the main database.
    if (name == kDefaultColumnFamilyName) {
      return Status::NotSupported(path_ + ": a named database is called \"" + name + "\", like the family of the main database");
    }
    return AddDatabase(name.c_str());
  }

  const std::string path_;
  LmdbApi api_{};
  void* env_ = nullptr;
  void* txn_ = nullptr;
  void* cursor_ = nullptr;
  std::vector<Database> databases_;
  std::size_t at_ = 0;
  std::uint64_t done_ = 0;
  std::uint64_t all_ = 0;
};

}  // namespace

Status OpenLmdb(const std::string& path, std::unique_ptr<EntrySource>* source) {
  FileInfo info;
  if (const Status s = FileSystem::Default()->GetInfo(path, &info); !s.ok()) return s;
  auto opened = std::make_unique<LmdbSource>(path);
  const Status s = opened->Open(!info.is_regular);
  if (s.ok()) *source = std::move(opened);
  return s;
}

}  // namespace cambium::tool
