// cambium export DIR FILE: all entries, as JSON lines or as files.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>

#include "database.h"
#include "jsonl.h"
#include "key_text.h"
#include "output.h"
#include "progress.h"

namespace cambium::tool {
namespace {

struct Flags : DatabaseFlags {
  std::string file;
  bool one_family = false;
};

// A new file beside the one that is meant, whose name it gets when it is whole.
class NewFile {
 public:
  explicit NewFile(const std::string& path)
      : path_(path), partial_(path + ".tmp"), file_(path == "-" ? stdout : std::fopen(partial_.c_str(), "wb")) {}
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile() {
    if (file_ == nullptr || file_ == stdout) return;
    std::fclose(file_);
    std::remove(partial_.c_str());
  }
  Status Write(const std::string& text) {
    const bool is_out = file_ != nullptr && std::fwrite(text.data(), 1, text.size(), file_) == text.size();
    return is_out ? Status::OK() : Error();
  }
  Status Finish() {
    if (std::fflush(file_) != 0) return Error();
    if (file_ == stdout) return Status::OK();
    FileSystem& fs = *FileSystem::Default();
    std::unique_ptr<File> synced;
    Status s = fs.Open(partial_, OpenMode::kReadWrite, {}, &synced);
    if (s.ok()) s = synced->Sync();
    if (s.ok()) s = fs.Rename(partial_, path_);
    if (!s.ok()) return s;
    std::fclose(std::exchange(file_, nullptr));
    return Status::OK();
  }

 private:
  Status Error() const { return Status::IOError(path_ + ": " + std::strerror(errno)); }
  const std::string path_;
  const std::string partial_;
  std::FILE* file_;
};

Status ExportFamily(DB* db, ColumnFamilyHandle* family, NewFile* out, Progress* progress, std::uint64_t* entries,
                    std::uint64_t* bytes) {
  ReadOptions options;
  options.allow_unprepared_value = true;
  const std::unique_ptr<Iterator> it(db->NewIterator(options, family));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    if (!it->PrepareValue()) break;
    const nlohmann::ordered_json json{
        {"family", Escape(family->GetName())}, {"key", Escape(it->key())}, {"value", Escape(it->value())}};
    if (const Status s = out->Write(json.dump() + "\n"); !s.ok()) return s;
    ++*entries;
    *bytes += it->key().size() + it->value().size();
    progress->Show(*bytes, 0);
  }
  return it->status();
}

int Export(const Flags& flags) {
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;
  Database database;
  Status s = database.OpenToRead(flags.directory);
  ColumnFamilyHandle* only = nullptr;
  if (s.ok() && flags.one_family) s = database.Find(flags.family, &only);
  if (!s.ok()) return Fail(s, flags.json);
  {
    NewFile out(flags.file);
    Progress progress;
    s = out.Write(nlohmann::ordered_json{{kExportName, kExportVersion}}.dump() + "\n");
    for (ColumnFamilyHandle* const family : database.handles()) {
      if (s.ok() && (only == nullptr || only == family)) {
        s = ExportFamily(database.db(), family, &out, &progress, &entries, &bytes);
      }
    }
    if (s.ok()) s = out.Write(nlohmann::ordered_json{{"end", true}, {"entries", entries}}.dump() + "\n");
    if (s.ok()) s = out.Finish();
  }
  if (!s.ok()) return Fail(s, flags.json && flags.file != "-");
  if (flags.file == "-") return kClean;
  if (flags.json) return Say(nlohmann::ordered_json{{"entries", entries}, {"bytes", bytes}});
  return Say(flags.file + ": " + std::to_string(entries) + " entries, " + Bytes(bytes) + " bytes\n");
}

}  // namespace

void AddExport(CLI::App* app, int* exit_code) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command = app->add_subcommand("export", "Writes all entries into a file, one JSON object a line.");
  AddDirectory(command, flags.get());
  command->add_option("FILE", flags->file, "the file; - is stdout")->required();
  CLI::Option* const family = command->add_option("--column-family", flags->family, "only of this family");
  AddJson(command, flags.get());
  command->footer("Example: cambium export DIR - | gzip > entries.gz\nThe file appears when it is whole.");
  command->callback([flags, family, exit_code] {
    flags->one_family = family->count() > 0;
    *exit_code = Export(*flags);
  });
}

}  // namespace cambium::tool
