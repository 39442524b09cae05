#include "database.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <tuple>
#include <utility>

#include "cambium/convenience.h"
#include "index/page_format.h"
#include "io/lock_file_name.h"

namespace cambium::tool {

void AddDirectory(CLI::App* command, DatabaseFlags* flags) {
  command->add_option("DIR", flags->directory, "the database's directory")->required();
}
void AddFamily(CLI::App* command, DatabaseFlags* flags) {
  command->add_option("--column-family", flags->family, "the column family (default: default)");
}
void AddHex(CLI::App* command, DatabaseFlags* flags) {
  command->add_flag("--hex", flags->hex, "keys and values are hexadecimal digits instead of text with \\xNN");
}
void AddJson(CLI::App* command, DatabaseFlags* flags) {
  command->add_flag("--json", flags->json, "print JSON instead of text");
}
void AddDefaultOptions(CLI::App* command, DatabaseFlags* flags) {
  command->add_flag("--default-options", flags->default_options,
                    "if the OPTIONS file is damaged, use the defaults and record them");
}

namespace {

// Whether the database opens with these families.
Status Try(const std::string& directory, const std::vector<ColumnFamilyDescriptor>& families) {
  DBOptions options;
  options.info_log = NullLogger();
  std::vector<ColumnFamilyHandle*> handles;
  std::unique_ptr<DB> db;
  const Status opened = DB::OpenForReadOnly(options, directory, families, &handles, &db);
  for (ColumnFamilyHandle* const handle : handles) delete handle;
  return opened;
}

// Without an OPTIONS file: tries each index and comparator until the database opens. A wrong guess is InvalidArgument.
Status GuessFamily(const std::string& directory, const std::string& name,
                   std::vector<ColumnFamilyDescriptor>* families) {
  Status last;
  for (const IndexKind kind : {kBTree, kLsm}) {
    for (const Comparator* const comparator : {BytewiseComparator(), ReverseBytewiseComparator()}) {
      families->emplace_back(name, ColumnFamilyOptions());
      families->back().options.index_type = kind;
      families->back().options.comparator = comparator;
      last = Try(directory, *families);
      if (!last.IsInvalidArgument()) return last;
      families->pop_back();
    }
  }
  return last;
}

Status GuessFamilies(const std::string& directory, std::vector<ColumnFamilyDescriptor>* families) {
  std::vector<std::string> names;
  Status s = DB::ListColumnFamilies({}, directory, &names);  // the default family first
  for (std::size_t i = 0; s.ok() && i < names.size(); ++i) s = GuessFamily(directory, names[i], families);
  return s;
}

Status LoadOptions(const std::string& directory, DBOptions* options, std::vector<ColumnFamilyDescriptor>* families) {
  ConfigOptions config;
  config.ignore_unknown_options = true;
  return LoadLatestOptions(config, directory, options, families);
}

// Checks that no process has the database open, not even for reading. Creates no lock file: if there is none, readers
// lock the directory alone.
Status CheckIsUnused(const std::string& path) {
  FileSystem& fs = *FileSystem::Default();
  FileInfo info;
  const Status found = fs.GetInfo(path + "/" + kLockFileName, &info);
  if (found.ok()) {
    std::unique_ptr<FileLock> lock;
    return fs.Lock(path, LockMode::kExclusive, 0, &lock);
  }
  if (!found.IsPathNotFound()) return found;
  const int directory = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return Status::IOError(path + ": " + std::strerror(errno));
  const bool is_locked = ::flock(directory, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(directory);
  return is_locked ? Status::Locked("lock " + path + ": held by another process") : Status::OK();
}

}  // namespace

bool Compresses(const ColumnFamilyOptions& family) {
  return family.compression != CompressionType::kNoCompression ||
         family.blob_compression_type != CompressionType::kNoCompression;
}

Status CheckSpaceFor(const std::string& directory, std::uint64_t files, std::uint64_t bytes) {
  constexpr std::uint64_t kBlock = 4096;
  std::uint64_t free = 0;
  const Status s = FileSystem::Default()->FreeSpace(directory, &free);
  // Less than a block may fit into a block that is already in use.
  if (!s.ok() || (files + bytes / kBlock) * kBlock <= free) return s;
  return Status::NoSpace(directory + ": no space for " + std::to_string(bytes) + " bytes, " + std::to_string(free) +
                         " are free");
}

Status OptionsOf(const std::string& directory, DBOptions* options, std::vector<ColumnFamilyDescriptor>* families) {
  Status s = LoadOptions(directory, options, families);
  if (s.IsDenied()) return s;  // the file may be whole
  if (s.IsNotFound() || s.IsCorruption() || s.IsIOError()) {
    *options = {};
    families->clear();
    s = GuessFamilies(directory, families);
  }
  options->error_if_exists = options->create_if_missing = false;
  options->info_log = NullLogger();
  return s;
}

Status OptionsToWriteWith(const DatabaseFlags& flags, DBOptions* options,
                          std::vector<ColumnFamilyDescriptor>* families) {
  const Status known = LoadOptions(flags.directory, options, families);
  if (known.IsCorruption() && !flags.default_options) {
    return Status::Corruption(std::string(known.message()) + "; --default-options uses the defaults and records them");
  }
  return OptionsOf(flags.directory, options, families);
}

Status CheckSizes(const ColumnFamilyOptions& family, Slice key, Slice value) {
  const std::size_t key_size_max = MaxKeySizeFor(static_cast<std::uint32_t>(family.page_size));
  for (const auto& [what, size, most] : {std::tuple{"key", key.size(), key_size_max}, {"value", value.size(), kMaxValueBytes}}) {
    if (size <= most) continue;
    return Status::InvalidArgument(std::string(what) + " of " + std::to_string(size) + " bytes; at most " + std::to_string(most));
  }
  return Status::OK();
}

Database::~Database() {
  for (ColumnFamilyHandle* const handle : handles_) delete handle;
}

Status Database::OpenToRead(const std::string& directory) {
  DBOptions options;
  std::vector<ColumnFamilyDescriptor> families;
  const Status known = OptionsOf(directory, &options, &families);
  return known.ok() ? DB::OpenForReadOnly(options, directory, families, &handles_, &db_) : known;
}

Status Database::OpenToWrite(const DatabaseFlags& flags, std::shared_ptr<EventListener> listener) {
  DBOptions options;
  std::vector<ColumnFamilyDescriptor> families;
  const Status known = OptionsToWriteWith(flags, &options, &families);
  if (!known.ok()) return known;
  if (listener != nullptr) options.listeners.push_back(std::move(listener));
  return DB::Open(options, flags.directory, families, &handles_, &db_);
}

Status Database::OpenAsIfToWrite(const DatabaseFlags& flags, std::uint64_t bytes) {
  DBOptions options;
  std::vector<ColumnFamilyDescriptor> families;
  Status s = OptionsToWriteWith(flags, &options, &families);
  if (s.ok()) s = CheckIsUnused(flags.directory);
  if (s.ok()) s = DB::OpenForReadOnly(options, flags.directory, families, &handles_, &db_);
  if (!s.ok()) return s;
  const bool is_smaller = std::ranges::any_of(families, [](const auto& each) { return Compresses(each.options); });
  return CheckSpaceFor(flags.directory, kFilesOfOpen, is_smaller ? 0 : bytes);
}

Status Database::Has(ColumnFamilyHandle* family, Slice key, bool* has) const {
  ReadOptions options;
  options.allow_unprepared_value = true;
  const std::unique_ptr<Iterator> it(db_->NewIterator(options, family));
  it->Seek(key);
  *has = it->Valid() && family->GetComparator()->Compare(it->key(), key) == 0;
  return it->status();
}

Status Database::Find(const std::string& family, ColumnFamilyHandle** handle) const {
  for (ColumnFamilyHandle* const each : handles_) {
    if (each->GetName() == family) {
      *handle = each;
      return Status::OK();
    }
  }
  return Status::InvalidArgument(db_->GetName() + ": there is no column family \"" + family + "\"");
}

Status Database::Close() {
  for (ColumnFamilyHandle* const handle : handles_) delete handle;
  handles_.clear();
  const Status closed = db_ == nullptr ? Status::OK() : db_->Close();
  db_.reset();
  return closed;
}

}  // namespace cambium::tool
