// cambium import DIR SOURCE: makes a database from entries of another source.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <system_error>
#include <vector>

#include "options/options_check.h"
#include "backup/whole_directory.h"
#include "cambium/convenience.h"
#include "database.h"
#include "entry_source.h"
#include "interrupt.h"
#include "io/parent_path.h"
#include "key_text.h"
#include "output.h"
#include "progress.h"

namespace cambium::tool {
namespace {

struct ImportFlags : DatabaseFlags {
  std::string source;
  std::string format = "jsonl";
  std::string options;
  bool add = false;
  bool dry_run = false;
};

struct ImportCounts {
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;
};

constexpr std::size_t kBatchBytes = 4u << 20;

// A new database must not replace anything.
Status CheckIsNew(const ImportFlags& flags) {
  FileInfo info;
  const Status found = FileSystem::Default()->GetInfo(flags.directory, &info);
  if (found.ok()) return Status::InvalidArgument(flags.directory + ": exists; --add adds to a database");
  return found.IsPathNotFound() ? Status::OK() : found;
}

// Shows the fraction of the source that has been read, if the source knows it; otherwise the bytes counted here.
void Show(Progress* progress, const EntrySource& source, const ImportCounts& counts) {
  if (!progress->is_due()) return;
  const double part = source.Part();
  progress->Show(counts.bytes, part > 0 ? static_cast<std::uint64_t>(static_cast<double>(counts.bytes) / part) : 0);
}

// An import reads one entry ahead, because the first may name the order of the default family of a new database.
struct NextEntry {
  ImportedEntry entry;
  bool has_one = false;
  Status Read(EntrySource* source) {
    return Interrupts::HasCome() ? Status::Incomplete("interrupted") : source->Next(&entry, &has_one);
  }
};

// Finds the order of a family that begins in the source: the one that --options names, else the one that the source
// names.
Status OrderOf(const ImportedEntry& begin, const ColumnFamilyOptions& made, const Comparator** order) {
  for (const Comparator* const each : {made.comparator, BytewiseComparator(), ReverseBytewiseComparator()}) {
    *order = each;
    if (each == made.comparator && each != BytewiseComparator()) return Status::OK();
    if (begin.comparator == each->Name()) return Status::OK();
  }
  return Status::NotSupported("column family \"" + begin.family + "\" has the order " + begin.comparator +
                              ", which this tool does not have");
}

// If the source begins with the default family, gives its order to the default family of the new database.
Status SetDefaultOrder(const NextEntry& first, const ColumnFamilyOptions& made, ColumnFamilyOptions* of_default) {
  const bool begins = first.has_one && !first.entry.comparator.empty() && first.entry.family == kDefaultColumnFamilyName;
  return begins ? OrderOf(first.entry, made, &of_default->comparator) : Status::OK();
}

Status CheckOrder(const ImportedEntry& begin, const Comparator* has, const Comparator* wanted) {
  if (std::strcmp(has->Name(), wanted->Name()) == 0) return Status::OK();
  return Status::InvalidArgument("column family \"" + begin.family + "\" has the order " + has->Name() +
                                 " in the database, and " + wanted->Name() + " in the source");
}

// Creates the family if it does not exist. If it does, it must have the same order.
Status Begin(const ImportedEntry& begin, const ColumnFamilyOptions& made, DB* db, ColumnFamilyHandle** family) {
  ColumnFamilyOptions options = made;
  if (const Status s = OrderOf(begin, made, &options.comparator); !s.ok()) return s;
  if (*family != nullptr) return CheckOrder(begin, (*family)->GetComparator(), options.comparator);
  return db->CreateColumnFamily(options, begin.family, family);
}

// Copies all entries in batches. Families that do not exist are created.
Status Copy(EntrySource* source, NextEntry* next, DB* db, const ColumnFamilyOptions& options,
            std::map<std::string, ColumnFamilyHandle*>* families, ImportCounts* counts) {
  Progress progress;
  WriteBatch batch;
  const ImportedEntry& entry = next->entry;
  while (true) {
    const bool has_one = next->has_one;
    Status s;
    if (!has_one || batch.GetDataSize() >= kBatchBytes) {
      s = db->Write({}, &batch);
      if (!s.ok()) return s;
      batch.Clear();
    }
    if (!has_one) return db->SyncWAL();
    ColumnFamilyHandle*& family = (*families)[entry.family];
    if (!entry.comparator.empty()) {
      s = Begin(entry, options, db, &family);
    } else {
      if (family == nullptr) s = db->CreateColumnFamily(options, entry.family, &family);
      if (s.ok()) s = batch.Put(family, entry.key, entry.value);
      ++counts->entries;
      counts->bytes += entry.key.size() + entry.value.size();
      Show(&progress, *source, *counts);
    }
    if (s.ok()) s = next->Read(source);
    if (!s.ok()) return s;
  }
}

// `made`: the options of a new database and of new families.
Status Fill(EntrySource* source, const std::string& directory, const ImportFlags& flags, const Options& made,
            ImportCounts* counts) {
  DBOptions options = made;
  std::vector<ColumnFamilyDescriptor> families = {{kDefaultColumnFamilyName, made}};
  options.create_if_missing = true;
  NextEntry next;
  Status s = next.Read(source);
  if (s.ok() && flags.add) s = OptionsToWriteWith(flags, &options, &families);
  if (s.ok() && !flags.add) s = SetDefaultOrder(next, made, &families.front().options);
  if (!s.ok()) return s;
  std::vector<ColumnFamilyHandle*> handles;
  std::unique_ptr<DB> db;
  s = DB::Open(options, directory, families, &handles, &db);
  if (!s.ok()) return s;
  std::map<std::string, ColumnFamilyHandle*> by_name;
  for (ColumnFamilyHandle* const handle : handles) by_name[handle->GetName()] = handle;
  ColumnFamilyOptions of_new = made;
  if (!CheckCeiling(options.max_space_amplification, of_new).ok()) of_new.min_blob_size = 0;
  s = Copy(source, &next, db.get(), of_new, &by_name, counts);
  for (const auto& [name, handle] : by_name) delete handle;
  const Status closed = db->Close();
  return s.ok() ? closed : s;
}

// Options of the families written to, by name.
using FamilyOptions = std::map<std::string, ColumnFamilyOptions>;

// Checks that each entry can be put, and counts them. `families` is empty for a new database.
Status Count(EntrySource* source, const ColumnFamilyOptions& made, FamilyOptions* families, ImportCounts* counts) {
  Progress progress;
  NextEntry next;
  const ImportedEntry& entry = next.entry;
  Status s = next.Read(source);
  if (s.ok() && families->empty()) {
    (*families)[kDefaultColumnFamilyName] = made;
    s = SetDefaultOrder(next, made, &families->at(kDefaultColumnFamilyName));
  }
  while (s.ok() && next.has_one) {
    const bool begins = !entry.comparator.empty();
    ColumnFamilyOptions options = made;
    if (begins) s = OrderOf(entry, made, &options.comparator);
    const auto [family, is_new] = families->try_emplace(entry.family, options);
    if (s.ok() && is_new) s = CheckFamilyName(entry.family);
    if (s.ok() && begins) s = CheckOrder(entry, family->second.comparator, options.comparator);
    if (s.ok() && !begins) s = CheckSizes(family->second, entry.key, entry.value);
    if (s.ok() && !begins) {
      ++counts->entries;
      counts->bytes += entry.key.size() + entry.value.size();
      Show(&progress, *source, *counts);
    }
    if (s.ok()) s = next.Read(source);
  }
  return s;
}

// Does everything that an import does except the writing: reads the source to its end, and checks the directory.
Status Plan(EntrySource* source, const ImportFlags& flags, const Options& made, ImportCounts* counts,
            std::uint64_t* free) {
  FileSystem& fs = *FileSystem::Default();
  std::string place = flags.directory;
  FamilyOptions families;
  Status s;
  if (flags.add) {
    Database database;
    s = database.OpenAsIfToWrite(flags, 0);
    for (ColumnFamilyHandle* const family : database.handles()) {
      families[family->GetName()] = database.db()->GetOptions(family);
    }
    const Status closed = database.Close();
    if (s.ok()) s = closed;
  } else {
    place = ParentOf(flags.directory);
    s = CheckIsNew(flags);
    if (s.ok()) s = CheckWholeDirectory(*FileSystem::Default(), flags.directory);
    // Fails without permission, and on a read-only file system.
    if (s.ok() && ::access(place.c_str(), W_OK | X_OK) != 0) {
      s = Status::IOError(place + ": " + std::strerror(errno));
    }
  }
  if (s.ok()) s = Count(source, made, &families, counts);
  if (s.ok()) s = fs.FreeSpace(place, free);
  if (!s.ok()) return s;
  const bool is_smaller = std::ranges::any_of(families, [](const auto& each) { return Compresses(each.second); });
  const std::uint64_t of_log = flags.add || counts->entries == 0 ? 0 : 1;
  return CheckSpaceFor(place, kFilesOfOpen + of_log, is_smaller ? 0 : counts->bytes);
}

int PrintPlan(const ImportFlags& flags, const ImportCounts& counts, std::uint64_t free) {
  if (flags.json) {
    return Say(nlohmann::ordered_json{
        {"dry_run", true}, {"entries", counts.entries}, {"bytes", counts.bytes}, {"free_bytes", free}});
  }
  return Say("would write " + std::to_string(counts.entries) + " entries, " + Bytes(counts.bytes) + " bytes\n" +
             Bytes(free) + " bytes are free there\n");
}

// A new database gets its name once it is complete. The remains of a killed import are removed in any case.
Status ImportNew(EntrySource* source, const ImportFlags& flags, const Options& made, ImportCounts* counts) {
  const Status s = MakeWholeDirectory(FileSystem::Default(), flags.directory, true,
                                      [&](const std::shared_ptr<FileSystem>& fs, const std::string& partial) {
                                        Options there = made;
                                        there.file_system = fs;
                                        return Fill(source, partial, flags, there, counts);
                                      });
  const Status is_new = s.IsInvalidArgument() ? CheckIsNew(flags) : Status::OK();
  return is_new.ok() ? s : is_new;
}

int Import(const ImportFlags& flags) {
  using Opens = Status (*)(const std::string&, std::unique_ptr<EntrySource>*);
  static const std::map<std::string, Opens> kFormats = {
      {"jsonl", OpenJsonl}, {"folder", OpenFolder}, {"rocksdb", OpenRocksDb}, {"lmdb", OpenLmdb}};
  std::unique_ptr<EntrySource> source;
  ImportCounts counts;
  Options made;
  made.info_log = NullLogger();
  Status s = GetOptionsFromString(made, flags.options, &made);
  // jsonl, the default, does not read directories.
  std::error_code error;
  if (s.ok() && flags.format == "jsonl" && std::filesystem::is_directory(flags.source, error)) {
    s = Status::InvalidArgument(flags.source + ": is a directory; set --format to folder, rocksdb or lmdb");
  }
  if (s.ok()) s = kFormats.at(flags.format)(flags.source, &source);
  if (flags.dry_run) {
    std::uint64_t free = 0;
    if (s.ok()) s = Plan(source.get(), flags, made, &counts, &free);
    return s.ok() ? PrintPlan(flags, counts, free) : int{Fail(s, flags.json)};
  }
  if (s.ok()) {
    const Interrupts interrupts;
    s = flags.add ? Fill(source.get(), flags.directory, flags, made, &counts)
                  : ImportNew(source.get(), flags, made, &counts);
    Interrupts::ThrowIfEnded(s, flags.add ? "a part of the entries was added" : flags.directory + " was not created");
  }
  if (!s.ok()) return Fail(s, flags.json);
  if (flags.json) return Say(nlohmann::ordered_json{{"entries", counts.entries}, {"bytes", counts.bytes}});
  return Say(flags.directory + ": " + std::to_string(counts.entries) + " entries, " + Bytes(counts.bytes) + " bytes\n");
}

}  // namespace

void AddImport(CLI::App* app, int* exit_code) {
  auto flags = std::make_shared<ImportFlags>();
  CLI::App* command = app->add_subcommand("import", "Makes a database from another store or a file.");
  command->add_option("DIR", flags->directory, "the database's directory, which must not exist")->required();
  command->add_option("SOURCE", flags->source, "the file or directory to import; - is stdin, for jsonl")->required();
  command->add_option("--format", flags->format, "jsonl (default), folder, rocksdb or lmdb")
      ->check(CLI::IsMember({"jsonl", "folder", "rocksdb", "lmdb"}));
  command->add_option("--options", flags->options, "options of the new database, as \"name=value;name=value\"");
  command->add_flag("--add", flags->add, "add to an existing database; entries replace those of the same key");
  command->add_flag("--dry-run", flags->dry_run, "read SOURCE; print what would be written, or the error; write nothing");
  AddDefaultOptions(command, flags.get());
  AddJson(command, flags.get());
  command->footer(
      "Example: cambium import DIR /data/rocks --format rocksdb --options index_type=kLsm\n"
      "folder: each file is an entry, with its path as key. rocksdb and lmdb: read through that library, if it is\n"
      "installed; named databases become column families. A new database appears once it is complete.");
  command->callback([flags, exit_code] { *exit_code = Import(*flags); });
}

}  // namespace cambium::tool
