// cambium import DIR SOURCE: a database of entries from elsewhere.
#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include "cambium/convenience.h"
#include "database.h"
#include "entry_source.h"
#include "key_text.h"
#include "output.h"
#include "progress.h"

namespace cambium::tool {
namespace {

struct Flags : DatabaseFlags {
  std::string source;
  std::string format = "jsonl";
  std::string options;
  bool add = false;
  bool dry_run = false;
};

struct Counts {
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;
};

constexpr std::size_t kBatchBytes = 4u << 20;

Status Exists(const Flags& flags) {
  return Status::InvalidArgument(flags.directory + ": exists; --add adds to a database");
}

std::string ParentOf(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  return slash == std::string::npos ? "." : path.substr(0, std::max<std::size_t>(slash, 1));
}

// Entries as they come, in batches. Families that do not exist are made.
Status Copy(EntrySource* source, DB* db, const ColumnFamilyOptions& options,
            std::map<std::string, ColumnFamilyHandle*>* families, Counts* counts) {
  Progress progress;
  WriteBatch batch;
  ImportedEntry entry;
  while (true) {
    bool has_one = false;
    Status s = source->Next(&entry, &has_one);
    if (!s.ok()) return s;
    if (!has_one || batch.GetDataSize() >= kBatchBytes) {
      s = db->Write({}, &batch);
      if (!s.ok()) return s;
      batch.Clear();
    }
    if (!has_one) return db->SyncWAL();
    ColumnFamilyHandle*& family = (*families)[entry.family];
    if (family == nullptr) s = db->CreateColumnFamily(options, entry.family, &family);
    if (s.ok()) s = batch.Put(family, entry.key, entry.value);
    if (!s.ok()) return s;
    ++counts->entries;
    counts->bytes += entry.key.size() + entry.value.size();
    progress.Show(counts->bytes, 0);
  }
}

Status Fill(EntrySource* source, const std::string& directory, const Flags& flags, Counts* counts) {
  DBOptions options;
  std::vector<ColumnFamilyDescriptor> families = {{kDefaultColumnFamilyName, {}}};
  Options all;
  all.info_log = NullLogger();
  Status s = GetOptionsFromString(all, flags.options, &all);
  if (!s.ok()) return s;
  all.create_if_missing = !flags.add;
  all.error_if_exists = !flags.add;
  options = all;
  families.front().options = all;
  if (flags.add) s = OptionsOf(directory, &options, &families);
  if (!s.ok()) return s;
  std::vector<ColumnFamilyHandle*> handles;
  std::unique_ptr<DB> db;
  s = DB::Open(options, directory, families, &handles, &db);
  if (!s.ok()) return s;
  std::map<std::string, ColumnFamilyHandle*> by_name;
  for (ColumnFamilyHandle* const handle : handles) by_name[handle->GetName()] = handle;
  s = Copy(source, db.get(), all, &by_name, counts);
  for (const auto& [name, handle] : by_name) delete handle;
  const Status closed = db->Close();
  return s.ok() ? closed : s;
}

// That the entries can be put, and how many they are.
Status Count(EntrySource* source, Counts* counts) {
  Progress progress;
  WriteBatch batch;
  ImportedEntry entry;
  while (true) {
    bool has_one = false;
    Status s = source->Next(&entry, &has_one);
    if (!s.ok() || !has_one) return s;
    s = batch.Put(entry.key, entry.value);
    if (!s.ok()) return s;
    batch.Clear();
    ++counts->entries;
    counts->bytes += entry.key.size() + entry.value.size();
    progress.Show(counts->bytes, 0);
  }
}

// Everything but the writing: the source is read to its end, and the directory is looked at as an import would.
Status Plan(EntrySource* source, const Flags& flags, Counts* counts, std::uint64_t* free) {
  FileSystem& fs = *FileSystem::Default();
  Options all;
  Status s = GetOptionsFromString(all, flags.options, &all);
  if (!s.ok()) return s;
  std::string place = flags.directory;
  if (flags.add) {
    Database database;
    s = database.OpenToRead(flags.directory);
    if (s.ok()) s = database.Close();
    std::unique_ptr<FileLock> lock;  // to see whether somebody reads it; in what is no database it would make a file
    if (s.ok()) s = fs.Lock(flags.directory, LockMode::kExclusive, 0, &lock);
  } else {
    FileInfo info;
    if (fs.GetInfo(flags.directory, &info).ok()) return Exists(flags);
    place = ParentOf(flags.directory);
    s = fs.GetInfo(place, &info);
  }
  if (s.ok()) s = Count(source, counts);
  if (s.ok()) s = fs.FreeSpace(place, free);
  if (!s.ok()) return s;
  const bool is_smaller =
      all.compression != CompressionType::kNoCompression || all.blob_compression_type != CompressionType::kNoCompression;
  if (counts->bytes <= *free || is_smaller || flags.add) return s;
  return Status::NoSpace(place + ": no space for " + std::to_string(counts->bytes) + " bytes, " + std::to_string(*free) +
                         " are free");
}

int SayPlanned(const Flags& flags, const Counts& counts, std::uint64_t free) {
  if (flags.json) {
    return Say(nlohmann::ordered_json{
        {"dry_run", true}, {"entries", counts.entries}, {"bytes", counts.bytes}, {"free_bytes", free}});
  }
  return Say("would write " + std::to_string(counts.entries) + " entries, " + Bytes(counts.bytes) + " bytes\n" +
             Bytes(free) + " bytes are free there\n");
}

// A new database gets its name when it is whole.
Status ImportNew(EntrySource* source, const Flags& flags, Counts* counts) {
  FileSystem& fs = *FileSystem::Default();
  FileInfo info;
  if (fs.GetInfo(flags.directory, &info).ok()) return Exists(flags);
  const std::string partial = flags.directory + ".importing";
  Options options;
  options.info_log = NullLogger();
  Status s = DestroyDB(partial, options);  // what a kill has left
  if (s.ok()) s = Fill(source, partial, flags, counts);
  if (s.ok()) s = fs.Rename(partial, flags.directory);
  if (s.ok()) return fs.SyncDirectory(ParentOf(flags.directory));
  static_cast<void>(DestroyDB(partial, options));
  return s;
}

int Import(const Flags& flags) {
  using Opens = Status (*)(const std::string&, std::unique_ptr<EntrySource>*);
  static const std::map<std::string, Opens> kFormats = {
      {"jsonl", OpenJsonl}, {"folder", OpenFolder}, {"rocksdb", OpenRocksDb}, {"lmdb", OpenLmdb}};
  std::unique_ptr<EntrySource> source;
  Counts counts;
  Status s = kFormats.at(flags.format)(flags.source, &source);
  if (flags.dry_run) {
    std::uint64_t free = 0;
    if (s.ok()) s = Plan(source.get(), flags, &counts, &free);
    return s.ok() ? SayPlanned(flags, counts, free) : int{Fail(s, flags.json)};
  }
  if (s.ok()) s = flags.add ? Fill(source.get(), flags.directory, flags, &counts) : ImportNew(source.get(), flags, &counts);
  if (!s.ok()) return Fail(s, flags.json);
  if (flags.json) return Say(nlohmann::ordered_json{{"entries", counts.entries}, {"bytes", counts.bytes}});
  return Say(flags.directory + ": " + std::to_string(counts.entries) + " entries, " + Bytes(counts.bytes) + " bytes\n");
}

}  // namespace

void AddImport(CLI::App* app, int* exit_code) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command = app->add_subcommand("import", "Makes a database of what another store, or a file, has.");
  command->add_option("DIR", flags->directory, "the database's directory, which must not exist")->required();
  command->add_option("SOURCE", flags->source, "what is imported; - is stdin, for jsonl")->required();
  command->add_option("--format", flags->format, "jsonl (default), folder, rocksdb or lmdb")
      ->check(CLI::IsMember({"jsonl", "folder", "rocksdb", "lmdb"}));
  command->add_option("--options", flags->options, "options of the new database, as \"name=value;name=value\"");
  command->add_flag("--add", flags->add, "into a database that exists; what comes takes the place of what is there");
  command->add_flag("--dry-run", flags->dry_run, "read all of SOURCE, say what would be written, or why not, and write nothing");
  AddJson(command, flags.get());
  command->footer(
      "Example: cambium import DIR /data/rocks --format rocksdb --options index_type=kLsm\n"
      "folder: each file is an entry, its path the key. rocksdb and lmdb: through the library of that name, if it is\n"
      "installed; named databases become column families. A new database appears when it is whole.");
  command->callback([flags, exit_code] { *exit_code = Import(*flags); });
}

}  // namespace cambium::tool
