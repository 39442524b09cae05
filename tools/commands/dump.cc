// cambium dump DIR or FILE: prints the content of files, record by record and page by page.
#include <algorithm>
#include <memory>
#include <set>
#include <vector>

#include "options/options_file.h"
#include "backup/backup_record.h"
#include "database.h"
#include "dump_files.h"
#include "index/tree_check.h"
#include "inspect/database.h"
#include "key_text.h"
#include "manifest/file_names.h"
#include "output.h"
#include "value_file.h"

namespace cambium::tool {
namespace {

struct DumpFlags : DatabaseFlags {
  std::string from;
  std::string to;
  std::string prefix;
  std::vector<std::string> what;
  std::vector<std::uint64_t> files;
  bool no_entries = false;
  bool reverse_order = false;
};
struct DumpGiven {
  bool from = false;
  bool to = false;
  bool prefix = false;
};

// The pages that trees reach: one bit per unit.
class LivePages {
 public:
  void Add(PageId id) {
    std::vector<bool>& units = units_[FileNumberOf(id)];
    units.resize(std::max<std::size_t>(units.size(), UnitOffsetOf(id) + 1));
    units[UnitOffsetOf(id)] = true;
  }
  [[nodiscard]] bool Has(PageId id) const {
    const auto file = units_.find(FileNumberOf(id));
    return file != units_.end() && UnitOffsetOf(id) < file->second.size() && file->second[UnitOffsetOf(id)];
  }

 private:
  std::map<std::uint64_t, std::vector<bool>> units_;
};

class DirectoryDump {
 public:
  DirectoryDump(const DumpFlags& flags, const DumpChoice& choice, InspectedDatabase* database, Stream* out,
                Problems* problems)
      : flags_(flags), database_(database), out_(out), dumper_(choice, database, out, problems) {}

  Status Run() {
    ReportDatabaseProblems();
    if (Wants("manifest", database_->manifest().number)) {
      if (const Status s = dumper_.DumpManifest(PathOf(FileKind::kManifest, database_->manifest().number)); !s.ok())
        return s;
    }
    for (const auto& [number, info] : database_->state().segments) {
      if (!Wants("log", number) || out_->is_closed()) continue;
      if (const Status s = dumper_.DumpSegment(info); !s.ok()) return s;
      ReportDatabaseProblems();
    }
    for (const auto& [id, family] : database_->families()) {
      if (const Status s = DumpRuns(family); !s.ok()) return s;
      if (const Status s = DumpTree(family); !s.ok()) return s;
    }
    ReportDatabaseProblems();
    return Status::OK();
  }

 private:
  // Prints damage found at Open or by lookups, each problem once.
  void ReportDatabaseProblems() {
    for (const std::string& problem : database_->problems().lines()) {
      if (reported_.insert(problem).second) dumper_.Report(problem);
    }
  }
  [[nodiscard]] bool Wants(const char* what, std::uint64_t number) const {
    const bool is_kind = flags_.what.empty() || std::ranges::find(flags_.what, what) != flags_.what.end();
    return is_kind && (flags_.files.empty() || std::ranges::find(flags_.files, number) != flags_.files.end());
  }
  [[nodiscard]] std::string PathOf(FileKind kind, std::uint64_t number) const {
    return FilePath(database_->path(), kind, number);
  }

  Status DumpRuns(const InspectedDatabase::Family& family) {
    std::vector<std::uint64_t> numbers;
    for (const RunInfo& run : family.state->runs) numbers.push_back(run.number);
    for (const auto& [number, run] : family.state->level_runs) numbers.push_back(number);
    for (const std::uint64_t number : numbers) {
      if (!Wants("runs", number) || out_->is_closed()) continue;
      if (const Status s = Damaged(dumper_.DumpRun(PathOf(FileKind::kRun, number), *family.comparator)); !s.ok())
        return s;
    }
    return Status::OK();
  }

  Status DumpTree(const InspectedDatabase::Family& family) {
    const FamilyState& state = *family.state;
    if (std::ranges::none_of(state.index_segments, [&](const auto& each) { return Wants("pages", each.first); })) {
      return Status::OK();
    }
    LivePages live;
    if (const Status s = FindLive(family, &live); !s.ok()) return s;
    for (const auto& [number, info] : state.index_segments) {
      if (!Wants("pages", number) || out_->is_closed()) continue;
      const Status s = Damaged(dumper_.DumpIndexSegment(PathOf(FileKind::kIndex, number), *family.comparator,
                                                        info.length, [&live](PageId id) { return live.Has(id); }));
      if (!s.ok()) return s;
    }
    return Status::OK();
  }

  // Damage in pages on the way is reported page by page later.
  Status FindLive(const InspectedDatabase::Family& family, LivePages* live) {
    FileSet files;
    for (const auto& [number, info] : family.state->index_segments) {
      std::unique_ptr<File> file;
      const Status s = database_->fs().Open(PathOf(FileKind::kIndex, number), OpenMode::kReadOnly, {}, &file);
      if (s.IsDenied()) return s;  // otherwise its live pages would be called dead
      if (!s.ok()) continue;
      Result<std::shared_ptr<const IndexFile>> pages =
          IndexFile::Open(std::move(file), FileKind::kIndex, number, nullptr);
      if (pages.ok()) files = files.With(*pages);
    }
    TreeCheckCallbacks callbacks;
    callbacks.on_page = [live](const PageView& page) {
      live->Add(page.id());
      return Status::OK();
    };
    callbacks.on_damage = [](const Status& damage) { return damage.IsDenied() ? damage : Status::OK(); };
    TreeCheckStats stats;
    const Status s = CheckTree(family.state->root, files, family.comparator, callbacks, &stats);
    return s.IsCorruption() ? Status::OK() : s;
  }

  // A file that cannot be opened because it is damaged is reported like any other damage.
  Status Damaged(const Status& s) {
    if (!s.IsCorruption() && !s.IsPathNotFound()) return s;
    dumper_.Report(std::string(s.message()));
    return Status::OK();
  }

  const DumpFlags& flags_;
  InspectedDatabase* const database_;
  Stream* const out_;
  FileDumper dumper_;
  std::set<std::string> reported_;
};

// Finds out the kind of a file from its first bytes.
Status DumpFile(const DumpFlags& flags, FileDumper* dumper) {
  const std::string& path = flags.directory;
  const Comparator& order = flags.reverse_order ? *ReverseBytewiseComparator() : *BytewiseComparator();
  std::string bytes(kFileHeaderSize, '\0');
  std::unique_ptr<File> file;
  if (const Status s = FileSystem::Default()->Open(path, OpenMode::kReadOnly, {}, &file); !s.ok()) return s;
  std::size_t have = 0;
  if (const Status s = file->Read(0, bytes.size(), bytes.data(), &have); !s.ok()) return s;
  bytes.resize(have);
  const std::string name = path.substr(path.rfind('/') + 1);
  if (name.starts_with("OPTIONS-")) return dumper->DumpOptions(path);
  if (ParseBackupRecordName(name) != 0) return dumper->DumpBackupRecord(path);
  const Result<FileHeader> header = DecodeFileHeader(bytes, path);
  if (!header.ok()) {
    if (!header.status().IsCorruption() || Slice(bytes).starts_with("CAMBIUM1")) return header.status();
    return Status::InvalidArgument(path + ": is not a file of a Cambium database or backup");
  }
  if (header->kind != FileKind::kManifest) {
    if (const Status s = dumper->DumpHeader(path); !s.ok()) return s;
  }
  switch (header->kind) {
    case FileKind::kManifest:
      return dumper->DumpManifest(path);
    case FileKind::kLog:
    case FileKind::kRelocation:
      return dumper->DumpLog(path);
    case FileKind::kLargeValue:
      return dumper->DumpLargeValue(path);
    case FileKind::kRun:
      return dumper->DumpRun(path, order);
    case FileKind::kIndex:
      return dumper->DumpIndexSegment(path, order, 0, nullptr);
    default:
      return Status::OK();
  }
}

int Dump(const DumpFlags& flags, const DumpGiven& given) {
  DumpChoice choice;
  choice.hex = flags.hex;
  choice.json = flags.json;
  choice.entries = !flags.no_entries;
  const auto parse = [&](bool is_given, const std::string& text, std::optional<std::string>* bytes) {
    return !is_given || Parse(text, flags.hex, &bytes->emplace());
  };
  for (const auto& [is_given, text, bytes] : {std::tuple{given.from, &flags.from, &choice.from},
                                              {given.to, &flags.to, &choice.to},
                                              {given.prefix, &flags.prefix, &choice.prefix}}) {
    if (!parse(is_given, *text, bytes)) return FailUsage(WhyMalformed(*text, flags.hex), flags.json);
  }
  const std::shared_ptr<FileSystem> fs = FileSystem::Default();
  FileInfo info;
  if (const Status s = fs->GetInfo(flags.directory, &info); !s.ok()) return Fail(s, flags.json);
  Stream out;
  Problems problems;
  Status s;
  if (info.is_directory) {
    Result<std::unique_ptr<InspectedDatabase>> opened = InspectedDatabase::Open(fs, flags.directory);
    if (!opened.ok()) return Fail(opened.status(), flags.json);
    s = (*opened)->OpenFiles();
    if (s.ok()) s = DirectoryDump(flags, choice, opened->get(), &out, &problems).Run();
  } else {
    FileDumper dumper(choice, nullptr, &out, &problems);
    s = DumpFile(flags, &dumper);
  }
  const ExitCode end = out.End(problems.empty() ? kClean : kDamage);
  return s.ok() ? end : Fail(s, flags.json);
}

}  // namespace

void AddDump(CLI::App* app, int* exit_code) {
  auto flags = std::make_shared<DumpFlags>();
  CLI::App* command = app->add_subcommand(
      "dump",
      "Prints the content of files: log records, entries of runs, pages, the MANIFEST. Writes nothing.");
  command->add_option("DIR", flags->directory, "the database's directory, or one file of a database or backup")
      ->required();
  command->add_option("--what", flags->what, "one or more of log, runs, pages (of trees) and manifest (default: all)")
      ->delimiter(',')
      ->check(CLI::IsMember({"log", "runs", "pages", "manifest"}));
  command->add_option("--file", flags->files, "only files with these numbers")->delimiter(',');
  CLI::Option* const from = command->add_option("--from", flags->from, "only keys at or after this one");
  CLI::Option* const to = command->add_option("--to", flags->to, "only keys before this one");
  CLI::Option* const prefix = command->add_option("--prefix", flags->prefix, "only keys with this prefix");
  command->add_flag("--no-entries", flags->no_entries, "print pages without their entries");
  command->add_flag("--reverse-order", flags->reverse_order, "keys of the FILE are in reverse byte order");
  AddHex(command, flags.get());
  command->add_flag("--json", flags->json, "print one JSON object per line");
  command->footer(
      "Example: cambium dump DIR --what log --prefix user --json\n"
      "Each log record is marked, with the reason in brackets:\n"
      "live: the newest entry of its key refers to it; a read returns its value.\n"
      "pending: it is in no layer yet, and the next open would replay it. With *, a read then returns it.\n"
      "dead: neither. Values below min_blob_size are in the index once flushed, and their records are then dead.\n"
      "Also dead: deletes that the index has, records of incomplete batches, and what follows the end of the log.\n"
      "A record that only a pending record hides is dead here, but live to log GC until the flush.\n"
      "control: a record of the log itself.\n"
      "A punched record still has its header and key; its value is gone. Records in relocation segments are never\n"
      "pending. A page of a tree is live if the tree reaches it. In a single FILE nothing is marked, and holes are\n"
      "unknown. After damage the dump continues at the next valid record or page, and the exit code is 1.");
  command->callback([flags, from, to, prefix, exit_code] {
    *exit_code = Dump(*flags, {from->count() > 0, to->count() > 0, prefix->count() > 0});
  });
}

}  // namespace cambium::tool
