#include "rocksdb_names/hints_file.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include "options/options_file.h"
#include "rocksdb_names/hints.h"
#include "util/result.h"

namespace rocksdb::inline on_cambium {
namespace {

constexpr std::string_view kTablePrefix = "block_based_table.";

std::string PathIn(const std::string& directory) { return directory + "/ROCKSDB_OPTIONS"; }

Status RemoveIfThere(cambium::FileSystem& fs, const std::string& path) {
  Status removed = fs.Unlink(path);
  return removed.IsPathNotFound() ? Status::OK() : removed;
}

// Each family has a section, even an empty one, because the form of the file requires one of the default family.
cambium::OptionsFileText TextOf(const DBOptions& options, const std::map<std::string, ColumnFamilyOptions>& families) {
  cambium::OptionsFileText text;
  text.version = cambium::kWholeOptionsFileVersion;
  for (auto& [name, value] : SetHints(options)) text.db[name] = std::move(value);
  for (const auto& [family, its] : families) {
    cambium::OptionTexts hints;
    for (auto& [name, value] : SetHints(its)) hints[name] = std::move(value);
    if (its.table_factory != nullptr) {
      for (auto& [name, value] : SetHints(*its.table_factory->GetOptions<BlockBasedTableOptions>())) {
        hints[std::string(kTablePrefix) + name] = std::move(value);
      }
    }
    text.families.emplace_back(family, std::move(hints));
  }
  return text;
}

// Ignores a hint of a later version: it has no meaning here.
Status SetIfKnown(Status set) { return set.IsNotFound() ? Status::OK() : set; }

Status SetFamilyHints(const cambium::OptionTexts& hints, ColumnFamilyOptions* options) {
  for (const auto& [name, value] : hints) {
    if (name.starts_with(kTablePrefix)) {
      const std::string_view its_name = std::string_view(name).substr(kTablePrefix.size());
      CAMBIUM_RETURN_IF_ERROR(
          SetIfKnown(SetHint(options->table_factory->GetOptions<BlockBasedTableOptions>(), its_name, value)));
    } else {
      CAMBIUM_RETURN_IF_ERROR(SetIfKnown(SetHint(options, name, value)));
    }
  }
  return Status::OK();
}

}  // namespace

cambium::FileSystem& FilesOf(const cambium::DBOptions& options) {
  return options.file_system != nullptr ? *options.file_system : *cambium::FileSystem::Default();
}

Status WriteHintsFile(cambium::FileSystem& fs, const std::string& directory, const DBOptions& options,
                      const std::map<std::string, ColumnFamilyOptions>& families) {
  const cambium::OptionsFileText text = TextOf(options, families);
  const bool has_hints =
      !text.db.empty() || std::ranges::any_of(text.families, [](const auto& each) { return !each.second.empty(); });
  if (!has_hints) return RemoveHintsFile(fs, directory);
  const std::string path = PathIn(directory);
  const std::string unfinished = path + ".new";
  CAMBIUM_RETURN_IF_ERROR(RemoveIfThere(fs, unfinished));
  {
    std::unique_ptr<cambium::File> file;
    CAMBIUM_RETURN_IF_ERROR(fs.Open(unfinished, cambium::OpenMode::kCreateNew, {}, &file));
    CAMBIUM_RETURN_IF_ERROR(file->Write(0, cambium::EncodeOptionsText(text)));
    CAMBIUM_RETURN_IF_ERROR(file->Sync());
  }
  CAMBIUM_RETURN_IF_ERROR(fs.Rename(unfinished, path));
  return fs.SyncDirectory(directory);
}

Status ReadHintsFile(cambium::FileSystem& fs, const std::string& directory, DBOptions* options,
                     std::vector<ColumnFamilyDescriptor>* families) {
  cambium::FileInfo info;
  const Status found = fs.GetInfo(PathIn(directory), &info);
  if (found.IsPathNotFound()) return Status::OK();
  CAMBIUM_RETURN_IF_ERROR(found);
  CAMBIUM_TRY(const cambium::OptionsFileText text, cambium::ReadOptionsFile(fs, PathIn(directory)));
  for (const auto& [name, value] : text.db) CAMBIUM_RETURN_IF_ERROR(SetIfKnown(SetHint(options, name, value)));
  for (const auto& [family, hints] : text.families) {
    const auto its = std::ranges::find(*families, family, &ColumnFamilyDescriptor::name);
    if (its != families->end()) CAMBIUM_RETURN_IF_ERROR(SetFamilyHints(hints, &its->options));
  }
  return Status::OK();
}

Status RemoveHintsFile(cambium::FileSystem& fs, const std::string& directory) {
  CAMBIUM_RETURN_IF_ERROR(RemoveIfThere(fs, PathIn(directory) + ".new"));
  return RemoveIfThere(fs, PathIn(directory));
}

}  // namespace rocksdb::inline on_cambium
