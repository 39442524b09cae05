// cambium manifest DIR: prints the committed state, or the edits that led to it.
#include <memory>
#include <utility>
#include <vector>

#include "cambium/file_system.h"
#include "database.h"
#include "describe.h"
#include "draw.h"
#include "inspect/database.h"
#include "io/at_directory.h"
#include "manifest/features.h"
#include "manifest/file_names.h"
#include "output.h"

namespace cambium::tool {
namespace {

struct ManifestFlags : DatabaseFlags {
  bool edits = false;
};

// The MANIFEST of a directory, locked so that it does not change; or a MANIFEST file by itself, without a lock.
struct Which {
  std::shared_ptr<FileSystem> fs;
  std::string path;
  std::unique_ptr<FileLock> lock;
};

// Chooses the given file, or in a directory the MANIFEST that ReadManifest accepts. If it accepts none, chooses the one
// with the highest number, so that its error is shown.
Status Choose(const std::string& path, Which* which) {
  FileInfo info;
  which->fs = FileSystem::Default();
  if (const Status s = which->fs->GetInfo(path, &info); !s.ok()) return s;
  which->path = path;
  if (!info.is_directory) return Status::OK();
  CAMBIUM_TRY(which->fs, AtDirectory(which->fs, path));
  FileSystem& fs = *which->fs;
  if (const Status s = fs.Lock(path, LockMode::kShared, 0, &which->lock); !s.ok()) return s;
  const Result<std::vector<NumberedFile>> files = ListNumberedFiles(fs, path);
  if (!files.ok()) return files.status();
  std::uint64_t highest = 0;
  for (const NumberedFile& file : *files) {
    if (file.kind == FileKind::kManifest) highest = std::max(highest, file.number);
  }
  if (highest == 0) return Status::InvalidArgument(path + ": holds no database");
  const Result<ManifestRead> read = ReadManifest(fs, path);
  if (!read.ok() && !read.status().IsCorruption()) return read.status();
  which->path = FilePath(path, FileKind::kManifest, read.ok() ? read->number : highest);
  return Status::OK();
}

int Show(const ManifestFlags& flags) {
  Which which;
  if (const Status s = Choose(flags.directory, &which); !s.ok()) return Fail(s, flags.json);
  const std::shared_ptr<FileSystem>& fs = which.fs;
  nlohmann::ordered_json records = nlohmann::ordered_json::array();
  ManifestRead read;
  const Status s = ReadManifestFile(
      *fs, which.path,
      [&](const ManifestRecordSeen& record) {
        if (flags.edits) records.push_back(Describe(record, flags.hex));
      },
      &read);
  if (!s.ok() && !s.IsCorruption()) return Fail(s, flags.json);
  if (!s.ok() && read.number == 0) {
    // A file that does not begin like a database file counts as wrong usage, not as damage.
    if (which.path != flags.directory) return Fail(s, flags.json);
    return Fail(Status::InvalidArgument(std::string(s.message())), flags.json);
  }
  FileInfo info;
  if (const Status known = fs->GetInfo(which.path, &info); !known.ok()) return Fail(known, flags.json);
  nlohmann::ordered_json json;
  if (!s.ok()) json["error"] = s.ToString();
  json["manifest"] = which.path;
  json["number"] = read.number;
  json["created"] = read.header.created_seconds;
  json["features"] = nlohmann::ordered_json::array();
  if ((read.header.required_features & kFeatureVersions) != 0) json["features"].push_back("versions");
  if ((read.header.optional_features & kFeaturePreparedTransactions) != 0) {
    json["features"].push_back("prepared transactions");
  }
  if (const std::uint32_t unknown = read.header.optional_features & ~kKnownOptionalFeatures; unknown != 0) {
    json["features"].push_back("unknown: " + std::to_string(unknown));
  }
  json["records"] = read.record_count;
  json["length"] = read.valid_length;
  json["behind_the_end"] = info.size - std::min(info.size, read.valid_length);
  if (flags.edits) {
    json["edits"] = std::move(records);
  } else {
    json["state"] = Describe(read.state, flags.hex);
  }
  if (!s.ok() && !flags.json) static_cast<void>(Fail(s, false));
  const ExitCode said = flags.json ? Say(json) : Say(DrawJsonAsText(json));
  return said == kClean ? ExitCodeOf(s) : said;
}

}  // namespace

void AddManifest(CLI::App* app, int* exit_code) {
  auto flags = std::make_shared<ManifestFlags>();
  CLI::App* command = app->add_subcommand(
      "manifest", "Prints the committed state: families, layers, segments, accounts, positions. Writes nothing.");
  command->add_option("DIR", flags->directory, "the database's directory, or a MANIFEST file")->required();
  command->add_flag("--edits", flags->edits, "print the records one by one instead of the resulting state");
  AddHex(command, flags.get());
  AddJson(command, flags.get());
  command->footer(
      "Example: cambium manifest DIR --edits\n"
      "The MANIFEST alone says which files count, and the order of layers: runs, newest first, then levels or tree.\n"
      "A segment is shown with slot, kind, seal, lengths, generation and number of punched records; an account with the\n"
      "references, and their bytes, from a family's layers into a slot. If the MANIFEST is damaged, the command uses\n"
      "the records before the damage, and the exit code is 1.");
  command->callback([flags, exit_code] { *exit_code = Show(*flags); });
}

}  // namespace cambium::tool
