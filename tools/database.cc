#include "database.h"

#include <utility>

#include "cambium/convenience.h"

namespace cambium::tool {

void AddDirectory(CLI::App* command, DatabaseFlags* flags) {
  command->add_option("DIR", flags->directory, "the database's directory")->required();
}
void AddFamily(CLI::App* command, DatabaseFlags* flags) {
  command->add_option("--column-family", flags->family, "of which family (default: default)");
}
void AddHex(CLI::App* command, DatabaseFlags* flags) {
  command->add_flag("--hex", flags->hex, "keys and values are hexadecimal digits, not text with \\xNN");
}
void AddJson(CLI::App* command, DatabaseFlags* flags) {
  command->add_flag("--json", flags->json, "print JSON instead of text");
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

// Without an OPTIONS file: what a family is, is tried out. What it is not is InvalidArgument.
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
  Status s = DB::ListColumnFamilies({}, directory, &names);  // the default one first
  for (std::size_t i = 0; s.ok() && i < names.size(); ++i) s = GuessFamily(directory, names[i], families);
  return s;
}

}  // namespace

Status OptionsOf(const std::string& directory, DBOptions* options, std::vector<ColumnFamilyDescriptor>* families) {
  ConfigOptions config;
  config.ignore_unknown_options = true;
  Status s = LoadLatestOptions(config, directory, options, families);
  if (s.IsNotFound() || s.IsCorruption() || s.IsIOError()) {
    *options = {};
    families->clear();
    s = GuessFamilies(directory, families);
  }
  options->error_if_exists = options->create_if_missing = false;
  options->info_log = NullLogger();
  return s;
}

Database::~Database() {
  for (ColumnFamilyHandle* const handle : handles_) delete handle;
}

Status Database::Open(const std::string& directory, bool to_write, std::shared_ptr<EventListener> listener) {
  DBOptions options;
  std::vector<ColumnFamilyDescriptor> families;
  const Status known = OptionsOf(directory, &options, &families);
  if (!known.ok()) return known;
  if (listener != nullptr) options.listeners.push_back(std::move(listener));
  return to_write ? DB::Open(options, directory, families, &handles_, &db_)
                  : DB::OpenForReadOnly(options, directory, families, &handles_, &db_);
}
Status Database::OpenToRead(const std::string& directory) { return Open(directory, false, nullptr); }
Status Database::OpenToWrite(const std::string& directory, std::shared_ptr<EventListener> listener) {
  return Open(directory, true, std::move(listener));
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
